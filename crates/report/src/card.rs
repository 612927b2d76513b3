//! The summary card of a bench: a row for each series with its answer, and never a dash
//! instead of one. Plain data; `draw/card.rs` draws it.

use crate::answers::{at_all_limits, judged_of_answer, limit_words, load_of, place_of, unit};
use crate::chart::nines;
use crate::identity::{NamedSeries, named_series};
use crate::material::Material;
use crate::number::signed;
use crate::required::{LoadRequirement, for_bench, required_of, verdict_on_load};
use crate::sheet::Judgement;
use crate::sheets::{cautions, width_words};
use crate::warning_summary::Marks;
use crate::words::{series_title, verdict_word};
use stripewise_results::{
    AnswerBound, AnswerPlace, AnswerReason, AnswerRecord, Document, LatencySummary,
    RequirementVerdict, SeriesAnswer, SeriesRecord, Severity, StepRecord,
};
use stripewise_stats::LatencyStatistic;
use stripewise_units::{ByteSize, counted, format_duration, format_three_digits};

/// The name of the series of durable writes.
const LOG: &str = "log";

/// More rows are not legible in one picture.
const ROWS_MAX: usize = 10;

/// The summary of a bench.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub(crate) rows: Vec<CardRow>,
    /// What a reader must know before any of its numbers.
    pub(crate) cautions: Vec<String>,
}

/// A series of a bench.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CardRow {
    /// `Random read`.
    pub(crate) name: String,
    /// It is judged by its latency: its rate is not comparable with the others.
    pub(crate) is_log: bool,
    /// Block size and, with several benches, which one.
    pub(crate) of: String,
    pub(crate) answer: CardAnswer,
    /// Throughput over load, or the latencies of a series with one load.
    pub(crate) curve: Curve,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CardAnswer {
    CardFigures(Box<CardFigures>),
    /// Why there is no number.
    Nothing(String),
}

/// The answer of a series.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CardFigures {
    /// `at least`, `at most` or nothing.
    pub(crate) bound: &'static str,
    pub(crate) amount: f64,
    /// The same as written everywhere else.
    pub(crate) amount_words: String,
    pub(crate) unit: &'static str,
    pub(crate) interval: Option<[f64; 2]>,
    /// `862-881, 8 runs`.
    pub(crate) interval_words: String,
    /// `32 in flight (knee)`.
    pub(crate) load: String,
    /// The highest rate, and its text.
    pub(crate) ceiling: Option<(f64, String)>,
    pub(crate) latency: Option<CardLatency>,
    /// Of what was required of this load, else of the latency limit.
    pub(crate) judgement: Judgement,
    /// `ok, p99 < 5 ms`, `missed p99 < 5 ms`, `MISSED: iops>=800`, `met: p99<20ms`.
    pub(crate) verdict: String,
    /// Its results at other limits, if it misses its own.
    pub(crate) others: String,
}

/// The latency of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CardLatency {
    /// `10.4 ms`.
    pub(crate) value: String,
    /// `p99`, or `p50 durable` of a log.
    pub(crate) label: String,
    /// What the limit judges, if it is another one: `p99 6.4 ms`.
    pub(crate) judged: Option<String>,
}

/// A curve without axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve {
    /// Both from 0 to 1, right and up.
    pub(crate) points: Vec<(f64, f64)>,
    /// The answer on it.
    pub(crate) mark: Option<(f64, f64)>,
    /// Caption: `IOPS, 1 to 256 in flight`.
    pub(crate) caption: String,
}

/// The card; `None` if there is no ladder.
pub(crate) fn card(material: &Material) -> Option<Card> {
    let document = &material.document;
    let named = named_series(document);
    if named.is_empty() || named.len() > ROWS_MAX {
        return None;
    }
    let rows = named.iter().map(|named| row(named, document));
    Some(Card {
        rows: rows.collect(),
        cautions: required(document)
            .into_iter()
            .chain(warned(document))
            .collect(),
    })
}

/// Maximum number of warnings on a card.
const WARNINGS_MAX: usize = 3;

/// The worst warnings: a picture is passed on without its page.
fn warned(document: &Document) -> Vec<String> {
    let all = cautions(document, &Marks::NONE, false).into_iter();
    let all = all.filter(|caution| caution.severity != Severity::Note);
    let all: Vec<String> = all.map(|caution| caution.marked()).collect();
    let more = all.len().saturating_sub(WARNINGS_MAX);
    let mut lines: Vec<String> = all.into_iter().take(WARNINGS_MAX).collect();
    if more > 0 {
        lines.push(format!(
            "! {}",
            counted(more, "more warning", "more warnings")
        ));
    }
    lines
}

/// The requirements and their verdicts in a line: a picture is passed on without its
/// page. `Required: random-read iops>=800 MISSED, log p99<2ms met.`
fn required(document: &Document) -> Option<String> {
    let each = document.requirements.iter().map(|one| {
        let (required, word) = (&one.requirement, verdict_word(one.verdict()));
        format!("{required} {word}{}", for_bench(one, document))
    });
    let each: Vec<String> = each.collect();
    (!each.is_empty()).then(|| format!("Required: {}.", each.join(", ")))
}

fn row(named: &NamedSeries<'_>, document: &Document) -> CardRow {
    let series = named.series;
    let first = series.steps.first();
    let run = first.and_then(|step| document.runs.iter().find(|run| run.id == step.run));
    let block = run
        .and_then(|run| run.jobs.first())
        .map(|job| ByteSize(job.workload.block_size_bytes).to_string());
    let of: Vec<String> = [block, Some(named.what.clone())]
        .into_iter()
        .flatten()
        .filter(|word| !word.is_empty())
        .collect();
    let answer = match (&series.no_answer, series.answered()) {
        (Some(reason), _) => CardAnswer::Nothing(reason.clone()),
        (None, Some(answer)) => {
            let required = required_of(series, document);
            CardAnswer::CardFigures(Box::new(found(series, &answer, &required)))
        }
        (None, None) => CardAnswer::Nothing("nothing was measured".to_owned()),
    };
    CardRow {
        name: series_title(&series.name),
        is_log: series.name == LOG,
        of: of.join(" \u{b7} "),
        answer,
        curve: curve(series),
    }
}

/// The verdict on a load in words: `ok, p99 < 5 ms`, `missed p99 < 5 ms`, `MISSED: iops>=800`,
/// `met: p99<20ms`.
fn verdict_words(
    series: &SeriesRecord,
    answer: &SeriesAnswer,
    required: &[LoadRequirement<'_>],
) -> String {
    let limit = limit_words(series);
    let of_requirement = |(one, verdict): &LoadRequirement<'_>| {
        let text = one.requirement.trim_start_matches(series.name.as_str());
        format!("{}: {}", verdict_word(*verdict), text.trim_start())
    };
    let is_unmet = |one: &&LoadRequirement<'_>| one.1 != RequirementVerdict::Met;
    let unmet: Vec<String> = required
        .iter()
        .filter(is_unmet)
        .map(of_requirement)
        .collect();
    match (answer.is_within, answer.record.at) {
        _ if !unmet.is_empty() => unmet.join("; "),
        _ if !required.is_empty() => {
            let met: Vec<String> = required.iter().map(of_requirement).collect();
            met.join("; ")
        }
        (false, _) => format!("missed {limit}"),
        // Between two steps, where the line crosses the limit.
        (true, AnswerPlace::Limit) => format!("ok, at {limit}"),
        (true, _) => format!("ok, {limit}"),
    }
}

fn found(
    series: &SeriesRecord,
    answer: &SeriesAnswer,
    required: &[LoadRequirement<'_>],
) -> CardFigures {
    let record = &answer.record;
    let in_bytes = series.is_in_bytes();
    let (amount, ends) = record.rate(in_bytes);
    let runs = record.runs_words();
    let load = format!("{} in flight", load_of(record));
    let (judgement, _) = verdict_on_load(answer, required);
    CardFigures {
        bound: record.bound.map_or("", AnswerBound::words),
        amount,
        amount_words: format_three_digits(amount),
        unit: unit(series),
        interval: ends.filter(|_| record.bound.is_none()),
        interval_words: match width_words(series, record) {
            Some(width) => format!("{width}, {runs}"),
            None => runs,
        },
        load: match answer.reason {
            AnswerReason::Only | AnswerReason::Within => load,
            AnswerReason::Knee => format!("{load} (knee)"),
            AnswerReason::Highest => format!("{load} (fastest)"),
        },
        ceiling: ceiling(series, in_bytes),
        latency: latency(series, record),
        judgement,
        verdict: verdict_words(series, answer, required),
        others: match place_of(answer) {
            Some(_) => at_all_limits(series),
            None => String::new(),
        },
    }
}

fn ceiling(series: &SeriesRecord, in_bytes: bool) -> Option<(f64, String)> {
    let highest = series.highest()?;
    let of_answer = series.answered()?.record.bound;
    let value = highest.rate(in_bytes);
    let value_words = signed(highest.bound, &format_three_digits(value));
    let words = format!("ceiling {value_words} at {}", highest.in_flight);
    // What the row says as its answer already is not repeated.
    (!highest.is_answer || highest.bound != of_answer).then_some((value, words))
}

/// The statistic that the limit judges; for a log, how long a commit waits.
fn latency(series: &SeriesRecord, record: &AnswerRecord) -> Option<CardLatency> {
    let (statistic, judged) = judged_of_answer(series, record)?;
    Some(match record.latency.filter(|_| series.name == LOG) {
        Some(latency) => CardLatency {
            value: format_duration(latency.p50),
            label: "p50 durable".to_owned(),
            judged: Some(format!("{statistic} {judged}")),
        },
        None => CardLatency {
            value: judged,
            label: statistic,
            judged: None,
        },
    })
}

fn curve(series: &SeriesRecord) -> Curve {
    let in_bytes = series.is_in_bytes();
    let counting: Vec<&StepRecord> = series.steps.iter().filter(|step| step.counts()).collect();
    match &counting[..] {
        [] => Curve::default(),
        [_] => {
            let latency = series.answered().and_then(|answer| answer.record.latency);
            latency.as_ref().map(of_latencies).unwrap_or_default()
        }
        [first, .., last] => {
            let load = |step: &StepRecord| f64::from(step.in_flight().max(1)).log2();
            let most = counting
                .iter()
                .map(|step| step.rate(in_bytes))
                .fold(0.0, f64::max);
            let (low, high) = (load(first), load(last));
            let place = |load: f64, amount: f64| {
                let along = (load - low) / (high - low).max(f64::MIN_POSITIVE);
                (
                    along.clamp(0.0, 1.0),
                    (amount / most.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0),
                )
            };
            let each = counting.iter();
            let points = each.map(|step| place(load(step), step.rate(in_bytes)));
            let mark = series.answered().map(|answer| {
                let (amount, _) = answer.record.rate(in_bytes);
                place(answer.record.in_flight.max(1.0).log2(), amount)
            });
            Curve {
                points: points.collect(),
                mark,
                caption: format!(
                    "{}, {} to {} in flight",
                    unit(series),
                    first.in_flight(),
                    last.in_flight()
                ),
            }
        }
    }
}

/// The percentiles of a series with one load, from p50 on.
fn of_latencies(latency: &LatencySummary) -> Curve {
    let all = [
        (50.0, Some(latency.p50)),
        (90.0, Some(latency.p90)),
        (99.0, Some(latency.p99)),
        (99.9, latency.p999),
    ];
    let known: Vec<(f64, f64)> = all
        .into_iter()
        .filter_map(|(percent, ns)| Some((nines(percent), ns? as f64)))
        .collect();
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        return Curve::default();
    };
    let (left, width) = (first.0, (last.0 - first.0).max(f64::MIN_POSITIVE));
    let most = known.iter().map(|point| point.1).fold(1.0, f64::max);
    let points = known.iter().map(|(x, y)| ((x - left) / width, y / most));
    let end = if latency.p999.is_some() {
        "p99.9"
    } else {
        "p99"
    };
    Curve {
        points: points.collect(),
        mark: None,
        caption: format!("latency, {} to {end}", LatencyStatistic::P50),
    }
}

impl Card {
    /// All of it as text.
    pub(crate) fn description(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            let words = match &row.answer {
                CardAnswer::Nothing(reason) => reason.clone(),
                CardAnswer::CardFigures(found) => {
                    let latency = found.latency.as_ref();
                    let latency = latency.map(|one| {
                        let judged = one.judged.iter().map(|judged| format!("; {judged}"));
                        format!(
                            ", {} ({}{})",
                            one.value,
                            one.label,
                            judged.collect::<String>()
                        )
                    });
                    let others = match found.others.as_str() {
                        "" => String::new(),
                        others => format!("; {others}"),
                    };
                    let ceiling = found.ceiling.as_ref();
                    let ceiling = ceiling.map(|(_, words)| format!("; {words}"));
                    format!(
                        "{} {} ({}) with {}{}, {}{}{others}",
                        format!("{} {}", found.bound, found.amount_words).trim_start(),
                        found.unit,
                        found.interval_words,
                        found.load,
                        latency.unwrap_or_default(),
                        found.verdict,
                        ceiling.unwrap_or_default(),
                    )
                }
            };
            match row.of.as_str() {
                "" => format!("{}: {words}.", row.name),
                of => format!("{}, {of}: {words}.", row.name),
            }
        });
        let cautions = self.cautions.iter().cloned();
        cautions.chain(rows).collect::<Vec<_>>().join(" ")
    }
}
