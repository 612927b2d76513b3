//! What a reader must know to interpret a comparison: what is left out, what else
//! differs, what voids a value, and what an interval assumes.

use super::cells::{Cell, MatchedCells, copies_in};
use super::conditions::differing_conditions;
use super::judge::{IntervalMethod, JudgedRow};
use super::tools::tools;
use super::words::cell_list;
use super::{CompareOptions, Side, Sides};
use stripewise_results::{RunRecord, Severity, Status, warnings_by_code};
use stripewise_stats::SamplesMethod;
use stripewise_units::{counted, plural};

/// All notes, starting with what voids a value.
pub(super) fn notes(
    a: &Side,
    b: &Side,
    rows: &[JudgedRow<'_>],
    matched: &MatchedCells<'_>,
    options: CompareOptions,
) -> Vec<String> {
    let (used_a, used_b) = (used(rows, |row| row.a), used(rows, |row| row.b));
    let behind = options.sides.behind(a, b);
    let mut notes = Vec::new();
    for (side, used) in [(a, &used_a), (b, &used_b)] {
        notes.extend(void_warnings(side, used));
    }
    notes.extend(loads(rows, &behind));
    notes.extend(tools(&used_a, &used_b, &behind));
    if !options.of_levels {
        notes.extend(conditions(&used_a, &used_b, &behind));
    }
    notes.extend(cells(a, b, rows.len(), matched));
    for side in [a, b] {
        notes.extend(broken_off(side));
        notes.extend(copies(side));
    }
    notes.extend(order(rows, [(a, &used_a), (b, &used_b)], options.sides));
    notes.extend(believed(rows));
    notes
}

/// Copies of one result count once.
fn copies(side: &Side) -> Option<String> {
    let copies = copies_in(&side.runs).len();
    (copies > 0).then(|| {
        format!(
            "{}: {copies} of {} results {} not counted.",
            side.name,
            side.runs.len(),
            plural(
                copies,
                "is a copy of another and is",
                "are copies of others and are"
            ),
        )
    })
}

/// Two single runs are compared whatever their loads. If the loads differ, that comes
/// first, since nothing else affects throughput more.
fn loads(rows: &[JudgedRow<'_>], [behind_a, behind_b]: &[String; 2]) -> Option<String> {
    let [only] = rows else { return None };
    let (a, b) = (&only.a.key, &only.b.key);
    let differ = |a: Option<u32>, b: Option<u32>| a.zip(b).is_some_and(|(a, b)| a != b);
    (differ(a.threads, b.threads) || differ(a.outstanding, b.outstanding)).then(|| {
        format!(
            "the loads differ, which alone may explain the difference: {} {behind_a}, {} {behind_b}.",
            cell_list(&[only.a]),
            cell_list(&[only.b])
        )
    })
}

/// The distinct runs that the rows of one side are based on.
fn used<'a>(
    rows: &[JudgedRow<'a>],
    cell: impl Fn(&JudgedRow<'a>) -> &'a Cell<'a>,
) -> Vec<RunRecord> {
    let mut runs: Vec<RunRecord> = Vec::new();
    for row in rows.iter().flat_map(|judged| &cell(judged).rows) {
        if !runs.iter().any(|run| run.id == row.run.id) {
            runs.push(row.run.clone());
        }
    }
    runs
}

/// Warnings that void a value, each code once per side.
fn void_warnings(side: &Side, used: &[RunRecord]) -> Vec<String> {
    let seen = warnings_by_code(used, |warning| warning.severity == Severity::Void);
    seen.into_iter()
        .map(|(warning, count)| {
            format!(
                "{}: {count} of {} {} VOID[{}]: {}",
                side.name,
                used.len(),
                plural(used.len(), "run is", "runs are"),
                warning.code,
                warning.message
            )
        })
        .collect()
}

/// Conditions that differ.
pub(super) fn conditions(
    a: &[RunRecord],
    b: &[RunRecord],
    [behind_a, behind_b]: &[String; 2],
) -> Vec<String> {
    let differing = differing_conditions(a, b);
    differing
        .into_iter()
        .map(|condition| {
            let weight = if condition.essential {
                "the difference may be caused by the "
            } else {
                "also different: "
            };
            format!(
                "{weight}{}: {} {behind_a}, {} {behind_b}.",
                condition.name, condition.a, condition.b
            )
        })
        .collect()
}

/// How many cells are compared, and which are not, if any: the numbers of each side add up.
fn cells(a: &Side, b: &Side, compared: usize, matched: &MatchedCells<'_>) -> Option<String> {
    let shared = matched.pairs.len();
    let mut sentences = vec![format!(
        "{} compared.",
        counted(compared, "cell is", "cells are")
    )];
    if let Some(without @ 1..) = shared.checked_sub(compared) {
        sentences.push(format!(
            "{} on both sides without this value.",
            counted(without, "cell is", "cells are")
        ));
    }
    for (side, left) in [(a, &matched.left_a), (b, &matched.left_b)] {
        if !left.is_empty() {
            sentences.push(format!(
                "Only in {}: {} of {} ({}).",
                side.name,
                left.len(),
                counted(shared + left.len(), "cell", "cells"),
                cell_list(left)
            ));
        }
    }
    (sentences.len() > 1).then(|| sentences.join(" "))
}

/// Partial runs, if there are complete ones.
fn broken_off(side: &Side) -> Option<String> {
    let partial = side
        .runs
        .iter()
        .filter(|run| run.status != Status::Complete)
        .count();
    if partial == 0 {
        return None;
    }
    let what = if partial == side.runs.len() {
        "cut short; there are no others, so they are used anyway"
    } else {
        "cut short and left out"
    };
    Some(format!(
        "{}: {partial} of {} runs {} {what}.",
        side.name,
        side.runs.len(),
        plural(partial, "was", "were")
    ))
}

/// Whether one side was measured entirely before the other: then time is part of
/// the difference, and no statistics can remove it.
fn order(
    rows: &[JudgedRow<'_>],
    [(a, used_a), (b, used_b)]: [(&Side, &Vec<RunRecord>); 2],
    sides: Sides,
) -> Option<String> {
    if rows
        .iter()
        .any(|judged| judged.how == IntervalMethod::Blocks)
    {
        return None;
    }
    let times = |runs: &[RunRecord]| -> Option<(String, String)> {
        let known = runs.iter().filter(|run| !run.started_at.is_empty());
        let all: Vec<&String> = known.map(|run| &run.started_at).collect();
        Some(((*all.iter().min()?).clone(), (*all.iter().max()?).clone()))
    };
    let ((first_a, last_a), (first_b, last_b)) = (times(used_a)?, times(used_b)?);
    let (earlier, later) = if last_a < first_b {
        (&a.name, &b.name)
    } else if last_b < first_a {
        (&b.name, &a.name)
    } else {
        return None;
    };
    if sides == Sides::ThenAndNow {
        return Some(
            "Whatever else changed since the baseline was measured is part of the difference."
                .to_owned(),
        );
    }
    Some(format!(
        "All runs of {earlier} were made before those of {later}: whatever else changed in between \
         is part of the difference."
    ))
}

/// What intervals assume, if that is more than ranks.
fn believed(rows: &[JudgedRow<'_>]) -> Option<String> {
    let student = rows
        .iter()
        .any(|judged| judged.how == IntervalMethod::Samples(SamplesMethod::PooledStudent));
    student.then(|| {
        "Too few repetitions for ranks alone: intervals are Student's, and assume that both \
         sides scatter alike."
            .to_owned()
    })
}
