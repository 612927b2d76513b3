//! A replay that fell behind its schedule.

use super::code::Code;
use stripewise_results::{PunctualityRecord, ReplayRecord, Severity, Warning};
use stripewise_units::format_duration;

/// Operations of a recording were issued later than due.
pub fn late_replay(replay: &ReplayRecord) -> Option<Warning> {
    let lateness = replay.lateness.as_ref()?;
    let severity = match lateness.verdict {
        PunctualityRecord::Valid => return None,
        PunctualityRecord::Late => Severity::Warning,
        PunctualityRecord::Void => Severity::Void,
    };
    let p99 = format_duration(lateness.p99_ns);
    let message = format!(
        "one operation in a hundred left {p99} late or more, and counts of operations in small \
         bins vary {:.0} % more than in the recording",
        100.0 * lateness.dispersion_rise.max(0.0)
    );
    let hint = "use an idle machine, a lower --speed, or fewer --copies; where all operations in flight are \
                taken, the target does not carry this load";
    Some(Code::LateReplay.warning(severity, message, hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::LatenessRecord;

    #[test]
    fn a_late_replay_is_void_and_a_punctual_one_says_nothing() {
        let of = |verdict| {
            let lateness = Some(LatenessRecord {
                verdict,
                p99_ns: 2_000_000,
                ..LatenessRecord::default()
            });
            late_replay(&ReplayRecord {
                lateness,
                ..ReplayRecord::default()
            })
        };
        assert_eq!(of(PunctualityRecord::Valid), None);
        let void = of(PunctualityRecord::Void).unwrap();
        assert_eq!(
            (void.severity, &*void.code),
            (Severity::Void, "late-replay")
        );
        assert!(void.message.contains("2 ms late"), "{}", void.message);
        assert_eq!(late_replay(&ReplayRecord::default()), None);
    }
}
