//! A bench: the result of each load within the latency limit, and the ladders behind it.

use super::columns::load_columns;
use crate::answers::{judged_of_answer, limit_words, load_of, place_of, unit};
use crate::bench::{answer_line, step_row};
use crate::identity::{NamedSeries, named_series};
use crate::required::{required_of, verdict_on_load};
use crate::sheet::{Cell, Column, Judgement, SheetTable};
use crate::warning_summary::Marks;
use crate::words::series_title;
use stripewise_results::{
    AnswerBound, AnswerReason, AnswerRecord, Document, RunRecord, SeriesAnswer, SeriesRecord,
};
use stripewise_stats::Slo;
use stripewise_units::{format_bytes, format_duration, format_three_digits};

/// A row for each load and, if it misses its limit, a second one for its rate beyond it.
pub(crate) fn answers_table(document: &Document) -> SheetTable {
    let all = named_series(document);
    let mut headings = all.iter().map(|named| named.heading.as_str());
    let heading = headings.find(|heading| !heading.is_empty());
    let limits: Vec<String> = all.iter().map(|named| limit_words(named.series)).collect();
    let limit = match limits
        .first()
        .filter(|first| limits.iter().all(|one| one == *first))
    {
        Some(limit) => format!("At {limit}"),
        None => "At the limit".to_owned(),
    };
    let judged = all.first().map(|named| named.series.judged().to_string());
    let level = all.iter().find_map(|named| {
        let record = named.series.answered()?.record;
        record.half_width().map(|_| record.level)
    });
    let columns = vec![
        Column::text("Load"),
        Column::text(heading.unwrap_or("Of")),
        Column::number("Block").dropped(2),
        Column::number(&limit),
        Column::text(&format!("{:.0} %", level.unwrap_or(0.95) * 100.0)),
        Column::number(judged.as_deref().unwrap_or("p99")),
        Column::number("In flight"),
        Column::number("Ceiling").dropped(1),
        Column::text("Verdict"),
    ];
    let ceilings: Vec<Option<Ceiling>> =
        all.iter().map(|named| Ceiling::of(named.series)).collect();
    let has_ceilings = ceilings.iter().flatten().any(|one| one.is_rate());
    let note = ceiling_note(&ceilings) + verdict_note(&all, document);
    let rows = all.iter().zip(ceilings).flat_map(|(named, ceiling)| {
        // A column without any rate says nothing and is left out.
        let ceiling = ceiling.filter(|_| has_ceilings);
        let ceiling = ceiling.map_or_else(Cell::default, Ceiling::cell);
        load_rows(named, document, ceiling)
    });
    let rows: Vec<Vec<Cell>> = rows.collect();
    SheetTable::new("", columns, rows).with_note(note.trim_start())
}

/// Why a load that has nothing within the limit is `met`.
fn verdict_note(all: &[NamedSeries<'_>], document: &Document) -> &'static str {
    let is_met_beyond = |named: &NamedSeries<'_>| {
        let required = required_of(named.series, document);
        let found = named.series.answered();
        found.is_some_and(|found| {
            !found.is_within && verdict_on_load(&found, &required).0 == Judgement::Good
        })
    };
    match all.iter().any(is_met_beyond) {
        true => " Verdict: on what was required.",
        false => "",
    }
}

/// The highest rate of a ladder.
#[derive(Clone, Copy)]
enum Ceiling {
    /// There is one load only.
    OneLoad,
    /// No step was as fast as the answer.
    NotReached,
    /// It is the answer's rate.
    Answer(f64),
    /// Another one, or a bound.
    Rate(f64, Option<AnswerBound>),
}

impl Ceiling {
    /// `None` for a series without an answer.
    fn of(series: &SeriesRecord) -> Option<Ceiling> {
        let answer = series.answered()?.record;
        let Some(highest) = series.highest() else {
            return Some(match series.has_one_load() {
                true => Ceiling::OneLoad,
                false => Ceiling::NotReached,
            });
        };
        let in_bytes = series.is_in_bytes();
        let rate = highest.rate(in_bytes);
        let (of_answer, _) = answer.rate(in_bytes);
        // What differs in no digit that is shown is the same, but a bound is never what is known.
        let is_known = answer.bound.is_none() && highest.bound.is_none();
        let is_same = format_three_digits(rate) == format_three_digits(of_answer);
        Some(match is_known && is_same {
            true => Ceiling::Answer(rate),
            false => Ceiling::Rate(rate, highest.bound),
        })
    }

    fn is_rate(self) -> bool {
        matches!(self, Ceiling::Answer(_) | Ceiling::Rate(..))
    }

    fn cell(self) -> Cell {
        match self {
            Ceiling::OneLoad | Ceiling::NotReached => "-".into(),
            Ceiling::Answer(rate) => Cell::exact("same", rate),
            Ceiling::Rate(rate, bound) => Cell::bounded(&format_three_digits(rate), rate, bound),
        }
    }
}

/// What the signs in the column mean, of those that it has; empty if it has no rate.
fn ceiling_note(ceilings: &[Option<Ceiling>]) -> String {
    let has = |of: fn(&Ceiling) -> bool| ceilings.iter().flatten().any(of);
    if !has(|one| one.is_rate()) {
        return String::new();
    }
    let mut note = "Ceiling: highest rate at any latency".to_owned();
    if has(|one| matches!(one, Ceiling::Answer(_))) {
        note.push_str("; same: the answer's");
    }
    if has(|one| matches!(one, Ceiling::Rate(_, Some(AnswerBound::AtLeast)))) {
        note.push_str("; \u{2265}: more in flight may give more");
    }
    let is_one_load = has(|one| matches!(one, Ceiling::OneLoad));
    let is_not_reached = has(|one| matches!(one, Ceiling::NotReached));
    note.push_str(match (is_one_load, is_not_reached) {
        (false, false) => "",
        (true, false) => "; -: one load",
        (false, true) => "; -: no step was as fast as the answer",
        (true, true) => "; -: one load, or no step was as fast as the answer",
    });
    note + "."
}

fn load_rows(named: &NamedSeries<'_>, document: &Document, ceiling: Cell) -> Vec<Vec<Cell>> {
    let series = named.series;
    let name = series_title(&series.name).replace("Sequential", "Seq.");
    let block = block_bytes(series, &document.runs);
    let mut first = vec![
        Cell::from(name),
        Cell::from(named.what.as_str()),
        block.map_or_else(Cell::default, |bytes| {
            Cell::exact(format_bytes(bytes), bytes as f64)
        }),
    ];
    let Some(found) = series.answered() else {
        let word = match series.void_codes().is_empty() {
            true => "no answer",
            false => "VOID",
        };
        first.extend([const { "" }; 5].map(Cell::from));
        first.push(Cell::judged(word, Judgement::Bad));
        return vec![first];
    };
    let stopped = if series.partial { " (partial)" } else { "" };
    let (judgement, word) = verdict_on_load(&found, &required_of(series, document));
    let last = [ceiling, Cell::judged(format!("{word}{stopped}"), judgement)];
    if found.is_within {
        first.extend(answer_cells(series, &found.record));
        first.extend(last);
        return vec![first];
    }
    first.extend(["none", ""].map(Cell::from));
    first.extend(least_latency(series));
    first.extend(last);
    let mut beyond = vec![
        Cell::from(beyond_words(&found)),
        Cell::default(),
        Cell::default(),
    ];
    beyond.extend(answer_cells(series, &found.record));
    vec![first, beyond]
}

/// For each load, how much a cache or a burst credit absorbed before the rate of the answer.
pub(crate) fn lasting_lines(document: &Document) -> Vec<String> {
    let all = named_series(document);
    let line = |named: &NamedSeries<'_>| {
        let series = named.series;
        let found = series.sustained.as_ref()?;
        let absorbed = found.absorbed_words(series.is_in_bytes(), series.only_reads())?;
        series.no_answer.is_none().then(|| {
            let title = named.title();
            format!("{title}: {absorbed}; below is what lasts")
        })
    };
    all.iter().filter_map(line).collect()
}

/// Text on the results beyond a missed limit.
fn beyond_words(found: &SeriesAnswer) -> String {
    let place = match (found.reason, place_of(found)) {
        (AnswerReason::Highest, _) => "at the peak",
        (_, place) => place.unwrap_or("as measured"),
    };
    format!("  {place}")
}

/// The smallest load of a series that misses its limit, and its latency, as in the
/// sentence. Empty if its single step seemed to meet the limit.
fn least_latency(series: &SeriesRecord) -> [Cell; 2] {
    let limit = series.slo.parse::<Slo>().ok();
    let least = series.least_load().and_then(|(load, ns)| Some((ns?, load)));
    match least.filter(|(ns, _)| limit.is_none_or(|slo| *ns >= slo.limit_ns as f64)) {
        Some((ns, load)) => [
            Cell::exact(format_duration(ns.round() as u64), ns),
            Cell::exact(load.to_string(), f64::from(load)),
        ],
        None => [Cell::default(), Cell::default()],
    }
}

/// `48,900 IOPS ±8 %`, as in the table.
pub(crate) fn answer_words(series: &SeriesRecord, record: &AnswerRecord) -> String {
    let [rate, width, ..] = answer_cells(series, record);
    format!("{} {}", rate.text, width.text)
        .trim_end()
        .to_owned()
}

/// Rate, interval, judged latency and load of an answer.
fn answer_cells(series: &SeriesRecord, record: &AnswerRecord) -> [Cell; 4] {
    let (rate, _) = record.rate(series.is_in_bytes());
    let text = format!("{} {}", format_three_digits(rate), unit(series));
    let latency = judged_of_answer(series, record).map_or_else(Cell::default, |(name, value)| {
        // If a record lacks the judged statistic, the maximum is used instead.
        match record.latency_ns {
            0 => Cell::from(format!("{value} ({name})")),
            ns => Cell::exact(value, ns as f64),
        }
    });
    [
        Cell::bounded(&text, rate, record.bound),
        Cell::from(width_words(series, record).unwrap_or_default()),
        latency,
        Cell::exact(load_of(record).to_string(), record.in_flight),
    ]
}

/// `±8 %`: the wider side of the interval, rounded up.
pub(crate) fn width_words(series: &SeriesRecord, record: &AnswerRecord) -> Option<String> {
    record.half_width()?;
    let (rate, ends) = record.rate(series.is_in_bytes());
    let [low, high] = ends?;
    let percent = (rate - low).max(high - rate) / rate * 100.0;
    Some(match percent {
        wide if wide > 9.95 => format!("\u{b1}{:.0} %", wide.ceil()),
        narrow => format!("\u{b1}{:.1} %", (narrow * 10.0).ceil() / 10.0),
    })
}

fn block_bytes(series: &SeriesRecord, runs: &[RunRecord]) -> Option<u64> {
    let step = series.steps.first()?;
    let run = runs.iter().find(|run| run.id == step.run)?;
    Some(run.jobs.first()?.workload.block_size_bytes)
}

/// Every ladder with its answer.
pub(crate) fn ladder_tables(document: &Document, marks: &Marks<'_>) -> Vec<SheetTable> {
    let all = named_series(document);
    let table = |named: &NamedSeries<'_>| {
        let block = block_bytes(named.series, &document.runs);
        let block = block.map_or_else(String::new, |bytes| format!(", {}", format_bytes(bytes)));
        let title = format!("{}{block} ({})", named.title(), named.series.stopped);
        ladder_table(&title, named.series, &document.runs, marks)
    };
    all.iter().map(table).collect()
}

/// The steps of one series, with exact numbers.
pub(crate) fn ladder_table(
    title: &str,
    series: &SeriesRecord,
    runs: &[RunRecord],
    marks: &Marks<'_>,
) -> SheetTable {
    let rows = (0..series.steps.len()).map(|index| {
        let mut row = step_row(series, index);
        let run = runs.iter().find(|run| run.id == series.steps[index].run);
        let warned = run.map_or_else(String::new, |run| marks.of_run(run));
        if let Some(last) = row.last_mut().filter(|_| !warned.is_empty()) {
            *last = format!("{last} {warned}").trim_start().to_owned();
        }
        row
    });
    let answer = answer_line(series).unwrap_or_default();
    SheetTable::new(title, load_columns(), rows.collect()).with_note(answer)
}
