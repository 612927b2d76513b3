//! Compares the answers of two benches.
//!
//! The steps of a climb are single runs, and which one is the best is often luck;
//! the result of a bench is its answer, which has an interval. So answers are compared
//! before steps: the same series, block size and latency limit on both sides, the interval
//! of the ratio from both intervals ([`stripewise_stats::ratio`]), verdicts corrected for
//! all answers of the table (Holm).

use super::judge::is_useful;
use super::notes::conditions;
use super::{CompareOptions, Side};
use crate::experiment::Metric;
use crate::series::SeriesKind;
use crate::summary::series_of;
use stripewise_results::{
    AnswerBound, AnswerPlace, AnswerReason, AnswerRecord, ComparedAnswer, ComparisonGroup,
    ComparisonRecord, ComparisonRow, RunRecord, SeriesRecord, SideRecord, Verdict, rate_unit,
};
use stripewise_stats::Slo;
use stripewise_stats::{Estimate, difference_percent, holm, ratio};
use stripewise_units::{ByteSize, distinct};

/// An answer and its block size.
struct AnswerEntry<'a> {
    kind: SeriesKind,
    series: &'a SeriesRecord,
    answer: AnswerRecord,
    compared: ComparedAnswer,
    block_size_bytes: u64,
}

/// One answer on both sides.
struct AnswerPair<'a> {
    a: &'a AnswerEntry<'a>,
    b: &'a AnswerEntry<'a>,
    row: ComparisonRow,
}

/// Compares B's answers with A's; `None` if no series has an answer on both sides, or the
/// metric is one that answers do not have.
pub fn compare_answers(a: &Side, b: &Side, options: CompareOptions) -> Option<ComparisonRecord> {
    if options.metric.latency_name().is_some() {
        return None;
    }
    let series = [a, b].map(|side| series_of(&side.runs));
    let of_a = answered(&series[0], &a.runs);
    let of_b = answered(&series[1], &b.runs);
    let mut notes = Vec::new();
    let mut rows = Vec::new();
    for one in &of_a {
        let mut others = of_b.iter().filter(|other| other.kind == one.kind);
        let alone = of_a.iter().filter(|other| other.kind == one.kind).count() == 1;
        match (others.next(), others.next(), alone) {
            (Some(other), None, true) => match unlike([(a, one), (b, other)], options) {
                None => rows.extend(row(one, other, options)),
                Some(why) => notes.push(why),
            },
            (None, ..) => {}
            _ => notes.push(format!(
                "{}: a side has several benches of it, so it is not clear which answer is \
                 meant; compare single ones.",
                one.kind.title()
            )),
        }
    }
    if rows.is_empty() {
        return None;
    }
    correct(&mut rows, options.level);
    notes.extend(
        rows.iter()
            .flat_map(|both| bounds(both, [&a.name, &b.name])),
    );
    notes.extend(only_in([a, b], [&of_a, &of_b]));
    notes.extend(only_in([b, a], [&of_b, &of_a]));
    Some(record(a, b, &rows, notes, options))
}

/// The series of a side that have an answer.
fn answered<'a>(series: &'a [SeriesRecord], runs: &[RunRecord]) -> Vec<AnswerEntry<'a>> {
    let found = series.iter().filter_map(|series| {
        let run = runs.iter().find(|run| is_of(run, series))?;
        // Two or three runs of a log do not predict the next ones.
        let answer = series
            .answer
            .filter(|answer| answer.iops_low.is_some() || answer.bound.is_some())?;
        let found = series.answered()?;
        Some(AnswerEntry {
            kind: SeriesKind::from_name(&series.name)?,
            series,
            answer,
            compared: ComparedAnswer {
                leaves_slow_runs_out: answer.in_full.is_some(),
                bound: answer.bound,
                beyond_limit: (!found.is_within).then_some(match found.reason {
                    AnswerReason::Knee => AnswerPlace::Knee,
                    AnswerReason::Highest => AnswerPlace::Highest,
                    _ => AnswerPlace::Only,
                }),
            },
            block_size_bytes: run.jobs.first()?.workload.block_size_bytes,
        })
    });
    found.collect()
}

fn is_of(run: &RunRecord, series: &SeriesRecord) -> bool {
    run.series.as_deref() == Some(series.id.as_str())
        && run.series_part.as_deref() == Some(series.name.as_str())
}

/// `Answered in a, not in b: log.`
fn only_in([own, other]: [&Side; 2], answers: [&[AnswerEntry<'_>]; 2]) -> Option<String> {
    let [of_own, of_other] = answers;
    let has_none = |one: &&AnswerEntry<'_>| of_other.iter().all(|other| other.kind != one.kind);
    let titles = of_own.iter().filter(has_none).map(|one| one.kind.title());
    let titles = distinct(titles).join(", ").to_lowercase();
    (!titles.is_empty())
        .then(|| format!("Answered in {}, not in {}: {titles}.", own.name, other.name))
}

/// Conditions that differ between the runs of the compared series.
fn differing(a: &Side, b: &Side, rows: &[AnswerPair<'_>], options: CompareOptions) -> Vec<String> {
    let runs_of = |side: &Side, all: &[&SeriesRecord]| -> Vec<RunRecord> {
        let is_used = |run: &&RunRecord| all.iter().any(|series| is_of(run, series));
        side.runs.iter().filter(is_used).cloned().collect()
    };
    let of_a: Vec<&SeriesRecord> = rows.iter().map(|both| both.a.series).collect();
    let of_b: Vec<&SeriesRecord> = rows.iter().map(|both| both.b.series).collect();
    let behind = options.sides.behind(a, b);
    conditions(&runs_of(a, &of_a), &runs_of(b, &of_b), &behind)
}

/// Why two answers of a series answer different questions.
fn unlike(
    [(side_a, a), (side_b, b)]: [(&Side, &AnswerEntry<'_>); 2],
    options: CompareOptions,
) -> Option<String> {
    let [behind_a, behind_b] = options.sides.behind(side_a, side_b);
    let title = a.kind.title();
    if a.series.slo != b.series.slo {
        let (a, b) = (&a.series.slo, &b.series.slo);
        return Some(format!(
            "{title}: answered at {a} {behind_a} and at {b} {behind_b}, which are different questions."
        ));
    }
    (a.block_size_bytes != b.block_size_bytes).then(|| {
        let [a, b] = [a, b].map(|one| ByteSize(one.block_size_bytes));
        format!("{title}: {a} {behind_a} and {b} {behind_b}; their answers are not compared.")
    })
}

fn row<'a>(
    a: &'a AnswerEntry<'a>,
    b: &'a AnswerEntry<'a>,
    options: CompareOptions,
) -> Option<AnswerPair<'a>> {
    let metric = match (options.metric, a.kind.reported_in_bytes()) {
        (Metric::MibPerS, _) | (_, true) => Metric::MibPerS,
        _ => Metric::Iops,
    };
    let [of_a, of_b] = [a, b].map(|one| one.answer);
    let [value_a, value_b] = [of_a, of_b].map(|answer| match metric {
        Metric::MibPerS => answer.mib_per_s,
        _ => answer.iops,
    });
    let found = estimate(&of_a)
        .zip(estimate(&of_b))
        .and_then(|(a, b)| ratio(&a, &b));
    let interval = found.map(|found| found.difference_percent);
    let bounds = found.is_none().then(|| bounds_percent(&of_a, &of_b));
    let row = ComparisonRow {
        operation: if a.kind.writes() { "write" } else { "read" }.to_owned(),
        pattern: a.kind.pattern().to_owned(),
        block_size_bytes: Some(a.block_size_bytes),
        metric: metric.name().to_owned(),
        a: value_a,
        b: value_b,
        difference_percent: match bounds {
            Some([Some(least), _]) if least > 0.0 => least,
            Some([_, Some(most)]) if most < 0.0 => most,
            _ => difference_percent(value_a, value_b)?,
        },
        bounds_percent: bounds,
        estimate_percent: interval.map(|interval| interval.value),
        interval_percent: interval.map(|interval| [interval.low, interval.high]),
        p_value: found.map(|found| found.p_value),
        blocks: of_a.runs.min(of_b.runs),
        difference_percent_max: interval
            .map(|interval| interval.low.abs().max(interval.high.abs())),
        answers: Some([a.compared, b.compared]),
        ..ComparisonRow::default()
    };
    Some(AnswerPair { a, b, row })
}

/// Rate and interval; `None` for a bound.
fn estimate(answer: &AnswerRecord) -> Option<Estimate> {
    let ends = answer.iops_low.zip(answer.iops_high);
    let (low, high) = ends.filter(|_| answer.bound.is_none())?;
    Some(Estimate {
        value: answer.iops,
        low,
        high,
        level: answer.level,
    })
}

/// The range of rates consistent with an answer.
fn possible(answer: &AnswerRecord) -> [f64; 2] {
    match answer.bound {
        Some(AnswerBound::AtLeast) => [answer.iops, f64::INFINITY],
        Some(AnswerBound::AtMost) => [0.0, answer.iops],
        None => match answer.iops_low.zip(answer.iops_high) {
            Some((low, high)) => [low, high],
            None => [0.0, f64::INFINITY],
        },
    }
}

/// The least and the most that B can differ from A by; none where nothing limits it.
fn bounds_percent(a: &AnswerRecord, b: &AnswerRecord) -> [Option<f64>; 2] {
    let [a, b] = [a, b].map(possible);
    let end = |from: f64, to: f64| {
        let percent = difference_percent(from, to)?;
        (percent.is_finite() && percent > -100.0).then_some(percent)
    };
    [end(a[1], b[0]), end(a[0], b[1])]
}

/// Where a bound and an interval, or two bounds, exclude each other.
fn excluded(row: &ComparisonRow) -> Verdict {
    match (row.is_open(), row.difference_percent > 0.0) {
        (true, _) => Verdict::Undecided,
        (_, true) => Verdict::Better,
        (_, false) => Verdict::Worse,
    }
}

/// Verdicts of all answers at once. A verdict from a bound has no p-value to correct.
fn correct(rows: &mut [AnswerPair<'_>], level: f64) {
    let p_values: Vec<f64> = rows.iter().filter_map(|both| both.row.p_value).collect();
    let mut corrected = holm(&p_values).into_iter();
    for both in rows {
        let row = &mut both.row;
        let adjusted = row.p_value.and_then(|_| corrected.next());
        let estimate = row.estimate_percent.unwrap_or(0.0);
        row.verdict = match (adjusted, row.interval_percent) {
            (None, _) => excluded(row),
            (Some(p), _) if p <= 1.0 - level && estimate > 0.0 => Verdict::Better,
            (Some(p), _) if p <= 1.0 - level => Verdict::Worse,
            (_, Some(ends @ [low, high])) if low <= 0.0 && 0.0 <= high && is_useful(ends) => {
                Verdict::NoDifference
            }
            _ => Verdict::Undecided,
        };
        // A higher rate beyond the latency limit is no gain over a side that meets it.
        let beyond = [both.a, both.b].map(|one| one.compared.beyond_limit.is_some());
        let only_less = match beyond {
            [true, false] => row.verdict == Verdict::Better,
            [false, true] => row.verdict == Verdict::Worse,
            _ => true,
        };
        // Equal without the runs that were far slower is not equal.
        let leaves_out = [both.a, both.b].map(|one| one.compared.leaves_slow_runs_out);
        let is_equal = row.verdict == Verdict::NoDifference;
        if !only_less || (is_equal && leaves_out.contains(&true)) {
            row.verdict = Verdict::Undecided;
        }
    }
}

/// `at most 5.56 % more`, of which nothing follows; none where any difference is possible.
fn most_change(bounds: [Option<f64>; 2]) -> Option<String> {
    let ends = bounds.into_iter().zip(["less", "more"]);
    let ends = ends.filter_map(|(end, word)| Some(format!("at most {:.2} % {word}", end?.abs())));
    let ends: Vec<String> = ends.collect();
    (!ends.is_empty()).then(|| ends.join(" and "))
}

/// `Random read: before has at least 54,900 IOPS (a bound), so the difference has no interval.`
fn bounds(both: &AnswerPair<'_>, [name_of_a, name_of_b]: [&str; 2]) -> Option<String> {
    let words = |side: &str, one: &AnswerEntry<'_>| {
        let bytes = one.kind.reported_in_bytes();
        let why = match one.answer.bound {
            Some(AnswerBound::AtLeast | AnswerBound::AtMost) => "a bound",
            None if one.answer.iops_low.is_none() => "no interval",
            None => return None,
        };
        Some(format!(
            "{side} has {} ({why})",
            one.answer.words(bytes, rate_unit(bytes))
        ))
    };
    let sentence_text: Vec<String> = [words(name_of_a, both.a), words(name_of_b, both.b)]
        .into_iter()
        .flatten()
        .collect();
    (!sentence_text.is_empty()).then(|| {
        let title = both.a.kind.title();
        format!(
            "{title}: {}, so the difference has no interval.",
            sentence_text.join(", ")
        )
    })
}

fn record(
    a: &Side,
    b: &Side,
    rows: &[AnswerPair<'_>],
    mut notes: Vec<String>,
    options: CompareOptions,
) -> ComparisonRecord {
    let judged: Vec<ComparisonRow> = rows.iter().map(|both| both.row.clone()).collect();
    notes.extend(differing(a, b, rows, options));
    // What follows from a bound has no p-value to correct.
    let tested = judged.iter().filter(|row| row.p_value.is_some()).count();
    if tested > 1 {
        let which = match tested == judged.len() {
            true => "all answers".to_owned(),
            false => format!("the {tested} answers with intervals"),
        };
        notes.push(format!(
            "Verdicts are corrected for {which} together (Holm)."
        ));
    }
    notes.push(
        "Each answer's interval covers how the runs of its own bench differ; other changes \
         from one bench to the next are part of the difference."
            .to_owned(),
    );
    let slo = rows.first().map_or("", |both| both.a.series.slo.as_str());
    let limit = slo
        .parse()
        .map_or_else(|_| slo.to_owned(), |slo: Slo| slo.to_string());
    let side = |side: &Side, ids: Vec<&str>| {
        let mut from: Vec<String> = Vec::new();
        for id in ids {
            if !from.iter().any(|known| known == id) {
                from.push(id.to_owned());
            }
        }
        SideRecord {
            name: side.name.clone(),
            from,
        }
    };
    let ids_of_a = rows.iter().map(|both| both.a.series.id.as_str()).collect();
    let ids_of_b = rows.iter().map(|both| both.b.series.id.as_str()).collect();
    ComparisonRecord {
        title: format!("answers at {limit} of {} against {}", b.name, a.name),
        a: side(a, ids_of_a),
        b: side(b, ids_of_b),
        level: options.level,
        groups: ComparisonGroup::of_rows(&judged),
        verdict: Verdict::over_all(judged.iter().map(|row| row.verdict)),
        sentences: rows
            .iter()
            .map(|both| sentence(both, [&a.name, &b.name]))
            .collect(),
        rows: judged,
        notes,
        drift: None,
    }
}

/// `Random read: 1,000 IOPS (950-1,050) on A, 1,100 IOPS (1,040-1,160) on B: 10.0 % more
/// (2.3 to 18.3 %).`
/// Behind it what was left out of either.
fn sentence(both: &AnswerPair<'_>, [name_of_a, name_of_b]: [&str; 2]) -> String {
    let words = |one: &AnswerEntry<'_>| {
        let bytes = one.kind.reported_in_bytes();
        let amount = one.answer.words(bytes, rate_unit(bytes));
        match one.compared.beyond_limit {
            Some(AnswerPlace::Knee) => format!("{amount} at the knee, over the limit"),
            Some(_) => format!("{amount}, over the limit"),
            None => amount,
        }
    };
    let row = &both.row;
    let because = row.undecided_because().unwrap_or_default();
    let undecided = format!("undecided ({because})");
    let change = match (row.estimate_percent, row.interval_percent, row.verdict) {
        (Some(estimate), Some([low, high]), Verdict::Better) => {
            format!("{name_of_b} gives {estimate:.2} % ({low:.2} to {high:.2} %) more: better")
        }
        (Some(estimate), Some([low, high]), Verdict::Worse) => format!(
            "{name_of_b} gives {:.2} % ({:.2} to {:.2} %) less: worse",
            -estimate, -high, -low
        ),
        (_, Some([low, high]), Verdict::NoDifference) => {
            let most = (low.abs().max(high.abs()) * 10.0).ceil() / 10.0;
            format!("no difference larger than {most} % was found")
        }
        (_, Some([low, high]), _) => {
            format!("the difference is between {low:.2} and {high:.2} %: {undecided}")
        }
        (_, None, Verdict::Better) => {
            format!(
                "{name_of_b} gives at least {:.2} % more: better",
                row.percent()
            )
        }
        (_, None, Verdict::Worse) => {
            format!(
                "{name_of_b} gives at least {:.2} % less: worse",
                -row.percent()
            )
        }
        _ => match row.bounds_percent.and_then(most_change) {
            Some(most) => format!("{name_of_b} gives {most}: {undecided}"),
            None => undecided,
        },
    };
    let mut text = format!(
        "{}: {} against {}; {change}.",
        both.a.kind.title(),
        words(both.b),
        words(both.a),
    );
    for (one, name) in [(both.a, name_of_a), (both.b, name_of_b)] {
        if let Some(full) = one.answer.in_full {
            let in_bytes = one.kind.reported_in_bytes();
            let words = full.words(in_bytes, rate_unit(in_bytes));
            text.push_str(&format!(" Of {name} {words}."));
        }
    }
    text
}

#[cfg(test)]
mod tests;
