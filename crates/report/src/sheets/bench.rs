//! A bench: the result of each load within the latency limit, and the ladders behind it.

use super::columns::load_columns;
use crate::answers::{judged_of_answer, limit_words, load_of, place_of, unit};
use crate::bench::{answer_line, step_row};
use crate::identity::{NamedSeries, named_series};
use crate::number::signed;
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
        Column::number(CEILING).dropped(1),
        Column::text("Verdict"),
    ];
    let rows = all
        .iter()
        .flat_map(|named| load_rows(named, &document.runs));
    let mut rows: Vec<Vec<Cell>> = rows.collect();
    let place = columns.iter().position(|one| one.heading == CEILING);
    let note = place.map_or_else(String::new, |place| ceiling_note(&mut rows, place));
    SheetTable::new("", columns, rows).with_note(note)
}

const CEILING: &str = "Ceiling";
/// In that column: there is one load only.
const NO_CEILING: &str = "-";
/// In that column: the answer's rate is the highest.
const IS_ANSWER: &str = "same";

/// The highest rate of the ladder, with the sign of a bound.
fn ceiling(series: &SeriesRecord, answer: &AnswerRecord) -> Cell {
    let Some(highest) = series.highest() else {
        return NO_CEILING.into();
    };
    let in_bytes = series.is_in_bytes();
    let rate = highest.rate(in_bytes);
    let text = signed(highest.bound, &format_three_digits(rate));
    let of_answer = format_three_digits(answer.rate(in_bytes).0);
    // What differs in no digit that is shown is the same, but a bound is never what is known.
    match answer.bound.is_none() && text == of_answer {
        true => Cell::exact(IS_ANSWER, rate),
        false => Cell::exact(text, rate),
    }
}

/// What the signs in the column mean, of those that it has. A column without any rate says
/// nothing and is left out.
fn ceiling_note(rows: &mut [Vec<Cell>], place: usize) -> String {
    let mut cells = rows.iter_mut().filter_map(|row| row.get_mut(place));
    let has = |cells: &[Vec<Cell>], of: &dyn Fn(&Cell) -> bool| {
        cells.iter().filter_map(|row| row.get(place)).any(of)
    };
    if cells.all(|cell| cell.value.is_none()) {
        for row in rows.iter_mut() {
            if let Some(cell) = row.get_mut(place) {
                *cell = Cell::default();
            }
        }
        return String::new();
    }
    let mut note = "Ceiling: highest rate at any latency".to_owned();
    if has(rows, &|cell| cell.text == IS_ANSWER) {
        note.push_str("; same: the answer's");
    }
    if has(rows, &|cell| {
        cell.text.starts_with(AnswerBound::AtLeast.sign())
    }) {
        note.push_str("; \u{2265}: more in flight may give more");
    }
    if has(rows, &|cell| cell.text == NO_CEILING) {
        note.push_str("; -: one load");
    }
    note + "."
}

fn load_rows(named: &NamedSeries<'_>, runs: &[RunRecord]) -> Vec<Vec<Cell>> {
    let series = named.series;
    let name = series_title(&series.name).replace("Sequential", "Seq.");
    let block = block_bytes(series, runs);
    let mut first = vec![
        Cell::from(name),
        Cell::from(named.what.as_str()),
        block.map_or_else(Cell::default, |bytes| {
            Cell::exact(format_bytes(bytes), bytes as f64)
        }),
    ];
    let found = series.answered().filter(|_| series.no_answer.is_none());
    let Some(found) = found else {
        let word = match series.void_codes().is_empty() {
            true => "no answer",
            false => "VOID",
        };
        first.extend([const { "" }; 5].map(Cell::from));
        first.push(Cell::judged(word, Judgement::Bad));
        return vec![first];
    };
    let ceiling = ceiling(series, &found.record);
    let stopped = if series.partial { " (partial)" } else { "" };
    if found.is_within {
        first.extend(answer_cells(series, &found.record));
        first.extend([
            ceiling,
            Cell::judged(format!("ok{stopped}"), Judgement::Good),
        ]);
        return vec![first];
    }
    first.extend(["none", ""].map(Cell::from));
    first.extend(least_latency(series));
    first.extend([
        ceiling,
        Cell::judged(format!("missed{stopped}"), Judgement::Bad),
    ]);
    let mut beyond = vec![
        Cell::from(beyond_words(&found)),
        Cell::default(),
        Cell::default(),
    ];
    beyond.extend(answer_cells(series, &found.record));
    vec![first, beyond]
}

/// For each load that writes, how much a cache absorbed before the rate of the answer.
pub(crate) fn lasting_lines(document: &Document) -> Vec<String> {
    let all = named_series(document);
    let line = |named: &NamedSeries<'_>| {
        let series = named.series;
        let found = series.sustained.as_ref()?;
        let absorbed = found.absorbed_words(series.is_in_bytes())?;
        series.no_answer.is_none().then(|| {
            let title = named.title();
            format!("{title}: {absorbed}; the answer is what lasts")
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
    let text = signed(record.bound, &text);
    let latency = judged_of_answer(series, record).map_or_else(Cell::default, |(name, value)| {
        // If a record lacks the judged statistic, the maximum is used instead.
        match record.latency_ns {
            0 => Cell::from(format!("{value} ({name})")),
            ns => Cell::exact(value, ns as f64),
        }
    });
    [
        Cell::exact(text, rate),
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
