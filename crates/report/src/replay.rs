//! The quality of a replay as text.

use stripewise_results::{FidelityRecord, LatenessRecord, PunctualityRecord, ReplayRecord};
use stripewise_units::{format_count, format_duration};

/// Up to this score, a replay is as good as the recording.
const ALIKE_MAX: f64 = 1.5;

/// `1.0 (0.9-1.2): as like the original as its own halves`.
pub fn fidelity_text(fidelity: &FidelityRecord) -> String {
    let FidelityRecord {
        score, low, high, ..
    } = fidelity;
    let meaning = match *score <= ALIKE_MAX {
        true => "as like the original as its own halves",
        false => "less like the original than its own halves",
    };
    format!(
        "{score:.1} ({low:.1}-{high:.1}): {meaning}; worst feature: {}",
        fidelity.worst_feature
    )
}

/// A multiple of a load: `2.63`, `4,000.00`.
pub fn format_factor(factor: f64) -> String {
    let text = format!("{factor:.2}");
    let parts = text.split_once('.');
    let whole = parts.and_then(|(whole, part)| Some((whole.parse().ok()?, part)));
    match whole {
        Some((whole, part)) => format!("{}.{part}", format_count(whole)),
        None => text,
    }
}

/// The lines about it on the sheet of a run.
pub(crate) fn replay_lines(replay: &ReplayRecord) -> Vec<String> {
    let mut lines = Vec::new();
    match (&replay.fidelity, &replay.not_judged) {
        (Some(fidelity), _) => lines.push(format!("fidelity: {}", fidelity_text(fidelity))),
        (None, Some(why)) => lines.push(format!("fidelity: not judged: {why}")),
        (None, None) => {}
    }
    if let Some(lateness) = &replay.lateness {
        lines.push(format!("lateness: {}", lateness_text(lateness)));
    }
    let mut text = format!(
        "replayed: {} of {} operations that were due",
        format_count(replay.issued),
        format_count(replay.due)
    );
    let percent = |share: f64| 100.0 * share;
    if replay.held_share > 0.0 {
        let held = percent(replay.held_share);
        text.push_str(&format!("; {held:.2} % waited for one that overlaps"));
    }
    if replay.collision_share > 0.0 {
        let shared = percent(replay.collision_share);
        text.push_str(&format!(
            "; {shared:.1} % share a place with others, as the target is smaller"
        ));
    }
    if replay.idle_cut_ns > 0 {
        let idle = format_duration(replay.idle_cut_ns);
        text.push_str(&format!("; {idle} of idle time cut out"));
    }
    lines.push(text);
    lines
}

fn lateness_text(lateness: &LatenessRecord) -> String {
    let verdict = match lateness.verdict {
        PunctualityRecord::Valid => "in time",
        PunctualityRecord::Late => "late",
        PunctualityRecord::Void => "too late to be the recorded load",
    };
    format!(
        "{verdict}: p50 {}, p99 {}, max {}",
        format_duration(lateness.p50_ns),
        format_duration(lateness.p99_ns),
        format_duration(lateness.max_ns)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_factor_has_its_thousands_apart() {
        assert_eq!(format_factor(1_234.567), "1,234.57");
        assert_eq!(format_factor(0.05), "0.05");
        assert_eq!(format_factor(f64::INFINITY), "inf");
    }

    #[test]
    fn a_score_says_what_it_means() {
        let fidelity = |score| FidelityRecord {
            score,
            low: 0.9,
            high: 1.2,
            worst_feature: "gaps".to_owned(),
            features: Vec::new(),
        };
        assert_eq!(
            fidelity_text(&fidelity(1.04)),
            "1.0 (0.9-1.2): as like the original as its own halves; worst feature: gaps"
        );
        assert!(fidelity_text(&fidelity(3.0)).contains("less like"));
        let replay = ReplayRecord {
            due: 1_000,
            issued: 999,
            held_share: 0.001,
            lateness: Some(LatenessRecord::default()),
            ..ReplayRecord::default()
        };
        assert_eq!(
            replay_lines(&replay),
            [
                "lateness: in time: p50 0 ns, p99 0 ns, max 0 ns",
                "replayed: 999 of 1,000 operations that were due; 0.10 % waited for one that overlaps",
            ]
        );
    }
}
