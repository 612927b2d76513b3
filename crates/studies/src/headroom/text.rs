//! The answers as text.

use super::{
    Bound, CapNature, FACTORS, Growth, Headroom, HeadroomAnswer, KnownCap, LoadRun, Purpose,
    Question, allowed_share,
};
use crate::limits::AppliesTo;
use std::collections::BTreeMap;
use stripewise_report::{Column, Judgement, Sheet, SheetTable, fidelity_text, format_factor};
use stripewise_stats::exceedance_quiet_s;
use stripewise_units::{format_bytes, format_count, format_duration, format_iops, format_share};

/// What an interval does not cover.
const RECORDING_ALONE: &str =
    "It speaks of this recording: another hour of the same users has another answer.";

/// How long a burst credit of a cloud's volume usually lasts at least.
const CONFIRM_NS: u64 = 600_000_000_000;

/// `1.9 times (1.6-2.2) the load`, `at least 3.1 times the load`.
fn factor_text(found: &HeadroomAnswer) -> String {
    let factor = format_factor(found.factor);
    match (found.bound, found.low, found.high) {
        (Bound::AtMost, ..) if found.factor <= FACTORS[0] => {
            format!("none, the limit is exceeded even at {factor} times")
        }
        (Bound::At, Some(low), Some(high)) => {
            format!(
                "{factor} times ({}-{})",
                format_factor(low),
                format_factor(high)
            )
        }
        (Bound::AtLeast, ..) => format!("at least {factor} times"),
        _ => format!("at most {factor} times"),
    }
}

fn sentence(study: &Headroom, question: &Question) -> String {
    let facts = &study.options().facts;
    let words = question.growth.words();
    let Some(found) = &study.answer(question) else {
        return match question.search.next() {
            Some(_) if question.search.runs().is_empty() => format!("{words}: not begun"),
            Some(_) => format!("{words}: not finished, and nothing is certain yet"),
            None => match unproven_text(study, question) {
                Some(held) => format!("{words}: undecided; {held}"),
                None => format!("{words}: the runs do not say where the limit is reached"),
            },
        };
    };
    let mut text = match (question.growth, facts.waiting_users) {
        (Growth::WaitingUsers, Some(users)) => users_text(found, users),
        (Growth::MoreUsers, _) if facts.waits() => match facts.iops.zip(found.low) {
            Some((iops, low)) => format!(
                "a rate of at least {} IOPS, {} times the recorded one",
                format_iops(iops * low),
                format_factor(low)
            ),
            None => format!("{words}: {} the recorded rate", factor_text(found)),
        },
        _ => format!("{words}: {} the load", factor_text(found)),
    };
    if question.search.next().is_some() {
        return format!("{text}; that is certain so far, and not finished");
    }
    if let Some(ns) = study.held_ns(question) {
        // The rate of a load that waits, and an answer without an upper end, are the lower end.
        let is_rate = facts.waits() && question.growth == Growth::MoreUsers;
        let what = match found.bound == Bound::At && !is_rate {
            true => "the lower end held",
            false => "held",
        };
        text += &format!(", {what} for {}", format_duration(ns));
    }
    match study.limited_by(question) {
        Some("cap") => {
            let is_burst =
                (facts.cap.as_ref()).is_some_and(|cap| cap.nature == CapNature::BehindBurst);
            text += match is_burst {
                true => ", which is the known cap: more than that spends a burst",
                false => {
                    ", which is the known cap: these runs got more, by a burst or because the cap \
                     is another by now (`limits` finds it)"
                }
            };
            return text;
        }
        Some(kind) => text += &beyond_text(question, kind),
        None => {}
    }
    if found.is_short_lived {
        text += &format!(
            "; runs of {} carry more, those of {} do not: a burst credit, or rare stalls",
            format_duration(study.options().run_ns),
            format_duration(study.options().confirm_ns)
        );
    }
    if let Some(held) = unproven_text(study, question) {
        text += &format!("; {held}");
    }
    text
}

/// That the limit is of reads and writes together, and which of them exceed it more often; empty if
/// the load has only one of them.
fn beyond_text(question: &Question, kind: &str) -> String {
    if question.kinds.iter().any(|one| one.operations == 0) {
        return String::new();
    }
    let other = if kind == "reads" { "writes" } else { "reads" };
    format!(
        "; the limit is of all operations together, and {kind} exceed it more often than {other}"
    )
}

/// `4.34 times held for 10 m, too short to exclude rare stalls`.
fn unproven_text(study: &Headroom, question: &Question) -> Option<String> {
    let (factor, ns) = question.search.unproven()?;
    let load = match (question.growth, study.options().facts.waiting_users) {
        (Growth::WaitingUsers, Some(users)) => {
            let count = (factor * f64::from(users)).round() as u64;
            format!("{} users", format_count(count))
        }
        _ => format!("{} times", format_factor(factor)),
    };
    let held = format_duration(ns);
    Some(format!(
        "{load} held for {held}, too short to exclude rare stalls"
    ))
}

/// `31 users (29-33) who wait for the disk, in place of 8`.
fn users_text(found: &HeadroomAnswer, users: u32) -> String {
    let count = |factor: f64| format_count((factor * f64::from(users)).round() as u64);
    let most = count(found.factor);
    match (found.bound, found.low.map(count), found.high.map(count)) {
        (Bound::At, Some(low), Some(high)) if low == high => {
            format!("{most} users who wait for the disk, in place of {users}")
        }
        (Bound::At, Some(low), Some(high)) => {
            format!("{most} users ({low}-{high}) who wait for the disk, in place of {users}")
        }
        (Bound::AtLeast, ..) => format!("at least {most} users who wait, in place of {users}"),
        _ if found.factor * f64::from(users) < 0.5 => {
            format!("not even one user who waits, in place of {users}: the limit is exceeded")
        }
        _ => format!("at most {most} users who wait, in place of {users}"),
    }
}

/// The sheet.
pub(super) fn sheet(study: &Headroom) -> Sheet {
    let options = study.options();
    let facts = &options.facts;
    let refused = study.refused();
    let sentences: Vec<String> = (study.questions().iter())
        .map(|question| sentence(study, question))
        .collect();
    let answer = match &refused {
        Some(why) => capital(why),
        None => (sentences.iter().map(String::as_str))
            .chain(load_as_it_is(study))
            .map(capital)
            .collect::<Vec<_>>()
            .join(" "),
    };
    let mut findings = vec![("load".to_owned(), load_text(study))];
    findings.push(("limit".to_owned(), options.slo.describe()));
    findings.push(("waits for the disk".to_owned(), facts.closedness.clone()));
    if let Some(cap) = &facts.cap {
        findings.push(("known cap".to_owned(), cap_text(cap)));
    }
    if let Some(fidelity) = study.fidelity() {
        findings.push(("fidelity".to_owned(), fidelity_text(fidelity)));
    }
    Sheet {
        title: format!("Headroom of {}", facts.name),
        verdict: match (refused, study.is_carried()) {
            (Some(_), _) => Some((Judgement::Open, "No answer".to_owned())),
            (None, Some(false)) => Some((Judgement::Bad, "The load is not carried".to_owned())),
            (None, Some(true) | None) => None,
        },
        answer,
        details: details(study),
        findings,
        tables: tables(study),
        charts: super::chart::charts(study),
        ..Sheet::default()
    }
}

/// What the answers do not say of the load as it is, once there is no more to measure.
fn load_as_it_is(study: &Headroom) -> Option<&'static str> {
    if study.is_open() || study.is_below_load() {
        return None;
    }
    match study.is_carried() {
        Some(true) => None,
        Some(false) => {
            Some("the runs at the load as it is (1) and below, taken together, exceed the limit")
        }
        None => Some("whether it carries the load as it is (1) is not known"),
    }
}

fn details(study: &Headroom) -> Vec<String> {
    let facts = &study.options().facts;
    let recorded = facts.operations.map(|_| RECORDING_ALONE.to_owned());
    let mut answered = study
        .questions()
        .iter()
        .filter(|_| study.refused().is_none());
    let held = answered.find_map(|question| {
        let unseen_s = question.search.unseen_stalls_s();
        Some((study.held_ns(question)?, unseen_s))
    });
    let held = held.map(|(ns, unseen_s)| {
        let longer = match ns < CONFIRM_NS {
            true => "--confirm 10m",
            false => "a longer --confirm",
        };
        let stalls = unseen_s.map_or_else(String::new, |seconds| {
            let each = format_duration(seconds * 1_000_000_000);
            format!("; stalls rarer than one in {each} may be missing from it")
        });
        format!(
            "Held for {} at the lower end: a burst credit that lasts longer was not spent, and is \
             in the answer{stalls} ({longer} looks further).",
            format_duration(ns)
        )
    });
    let mut questions = study.questions().iter();
    let is_unproven = questions.any(|one| one.search.unproven().is_some());
    let quiet = allowed_share(&study.options().slo).map(exceedance_quiet_s);
    let stalls = quiet.filter(|_| is_unproven && study.refused().is_none());
    let stalls = stalls.map(|seconds| {
        format!(
            "Slow operations come together, and short runs may miss all of them: {} without any \
             would do, longer with some (a longer --confirm looks further).",
            format_duration(seconds.ceil() as u64 * 1_000_000_000)
        )
    });
    recorded.into_iter().chain(held).chain(stalls).collect()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|first| first.to_uppercase().collect::<String>());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// `3,000 IOPS: 4.00 times (3.97-4.03) the load (limits, series 2026...)`.
fn cap_text(cap: &KnownCap) -> String {
    let amount = match cap.unit.as_str() {
        "IOPS" => format!("{} IOPS", format_iops(cap.per_s)),
        _ => format!("{}/s", format_bytes(cap.per_s as u64)),
    };
    let of = match cap.applies_to {
        AppliesTo::Reads | AppliesTo::ReadsUntestedWrites => " of reads",
        AppliesTo::Writes => " of writes",
        AppliesTo::Both => "",
    };
    let nature = match cap.nature {
        CapNature::Undecided => ", limiter or device undecided, so no bound of the answer",
        CapNature::BehindBurst | CapNature::Limiter => "",
    };
    format!(
        "{amount}{of}{nature}: {} times ({}-{}) the load (limits, series {})",
        format_factor(cap.factor),
        format_factor(cap.low),
        format_factor(cap.high),
        cap.series
    )
}

fn load_text(study: &Headroom) -> String {
    let facts = &study.options().facts;
    let mut text = facts.name.clone();
    if let (Some(operations), Some(ns)) = (facts.operations, facts.duration_ns) {
        let (operations, length) = (format_count(operations), format_duration(ns));
        text += &format!(": {operations} operations in {length}");
    }
    if let Some(iops) = facts.iops {
        text += &format!(", {} IOPS", format_iops(iops));
    }
    text
}

/// Share beyond the limit over the factor.
fn curve(question: &Question) -> SheetTable {
    let mut levels: BTreeMap<u64, Vec<&LoadRun>> = BTreeMap::new();
    for run in question.search.after_climb() {
        let key = (run.planned.factor * 1e6) as u64;
        levels.entry(key).or_default().push(run);
    }
    let row = |runs: &Vec<&LoadRun>| {
        let sum = |of: fn(&LoadRun) -> u64| runs.iter().map(|run| of(run)).sum::<u64>();
        let (operations, beyond) = (sum(|run| run.operations), sum(|run| run.beyond));
        let share = 100.0 * beyond as f64 / operations.max(1) as f64;
        let is_confirming = runs
            .iter()
            .any(|run| run.planned.purpose == Purpose::Confirm);
        vec![
            format!("{:.3}", runs[0].planned.factor),
            runs.len().to_string(),
            format_count(operations),
            format!("{share:.2} %"),
            if is_confirming {
                "long run at the lower end"
            } else {
                ""
            }
            .to_owned(),
        ]
    };
    SheetTable::new(
        &capital(question.growth.words()).replace('.', ""),
        [
            Column::number("Factor"),
            Column::number("Runs"),
            Column::number("Operations"),
            Column::number("Beyond the limit"),
            Column::text(""),
        ],
        levels.values().map(row).collect(),
    )
}

/// A table for each question; what is the same of several is said below the first.
fn tables(study: &Headroom) -> Vec<SheetTable> {
    let mut tables: Vec<SheetTable> = Vec::new();
    for question in study.questions() {
        let note = bounds_text(study, question);
        let is_stated = tables.iter().any(|table| table.note == note);
        let note = if is_stated { String::new() } else { note };
        tables.push(curve(question).with_note(note));
    }
    tables
}

/// Which rows the ends of the answer come from; empty where a known cap is the answer.
fn bounds_text(study: &Headroom, question: &Question) -> String {
    let found = question.search.found();
    let found = found.filter(|found| study.answer(question) == Some(**found));
    let (Some(found), Some(share)) = (found, allowed_share(&study.options().slo)) else {
        return String::new();
    };
    let share = format_share(share);
    let short = question.search.of_purpose(Purpose::Fit);
    let rows: Vec<f64> = short.map(|run| run.planned.factor).collect();
    let is_row = |end: f64| rows.iter().any(|row| (end / row).ln().abs() < 1e-9);
    if found.is_short_lived {
        format!("The short runs allow more; the long runs at their lower end exceed {share}.")
    } else if question.growth == Growth::WaitingUsers {
        format!("Users are whole: the answer is how many of them hold {share}.")
    } else if [found.low, found.high].into_iter().flatten().all(is_row) {
        format!(
            "Each known end is a row: below, the largest load that holds {share}; above, the \
             smallest surely over it."
        )
    } else {
        format!(
            "The factor is where a line through the short runs near it crosses {share}, and the \
             interval is that of the line: no single row is an end of it."
        )
    }
}
