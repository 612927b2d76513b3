//! The table of runs, a row for each job, for pages and Markdown alike. What a
//! source does not say stays empty, a column in which nothing stands is left out,
//! and so is one that would say the same in every row and is told elsewhere.

use crate::identity::kind;
use crate::number::{count, rate, size};
use std::cmp::Ordering;
use stripewise_results::{ExperimentPlace, JobRow};
use stripewise_units::{ByteSize, format_duration};

/// When a column is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// Wherever something stands in it.
    Always,
    /// Where its values differ.
    Differing,
    /// Only where there is room.
    Roomy,
    /// Only where there is most room.
    Widest,
}

/// How much room a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Room {
    /// An issue or a terminal.
    Narrow,
    /// Page one.
    Page,
    /// A table that may be scrolled.
    Wide,
}

/// A column: long heading, short heading, whether it holds numbers, when, what.
type Column = (
    &'static str,
    &'static str,
    bool,
    Shown,
    fn(&JobRow<'_>) -> String,
);

use Shown::{Always, Differing, Roomy, Widest};

/// Words first, so that numbers stand beside each other.
const COLUMNS: [Column; 21] = [
    ("Run", "Run", false, Widest, |row| row.run.id.clone()),
    ("Date", "Date", false, Differing, date),
    ("Label", "Label", false, Always, label),
    ("Job", "Job", false, Differing, |row| row.job.name.clone()),
    ("Ran", "Ran", false, Differing, |row| {
        match row.run.jobs.len() {
            0 | 1 => "alone".to_owned(),
            2 => "beside 1 other".to_owned(),
            jobs => format!("beside {} others", jobs - 1),
        }
    }),
    ("Workload", "Workload", false, Always, kind),
    ("Target", "Target", false, Differing, |row| {
        row.job.target.name.clone()
    }),
    ("Cache", "Cache", false, Differing, |row| {
        match row.run.imported {
            None => row.job.workload.cache.to_string(),
            Some(_) => String::new(),
        }
    }),
    ("Block", "Block", true, Always, |row| {
        size(row.block_size_bytes())
    }),
    ("Starts at", "Start", true, Differing, |row| {
        size(row.job.target.partition_offset_bytes)
    }),
    ("Offset", "Offset", true, Always, offset),
    ("Threads", "Thr", true, Always, |row| count(row.threads())),
    ("Outstanding", "Out", true, Always, |row| {
        count(row.outstanding())
    }),
    ("IOPS", "IOPS", true, Always, |row| {
        row.iops().map(rate).unwrap_or_default()
    }),
    ("MiB/s", "MiB/s", true, Always, |row| {
        row.mib_per_s().map(rate).unwrap_or_default()
    }),
    ("Mean", "Mean", true, Roomy, |row| latency(row, "mean")),
    ("p50", "p50", true, Always, |row| latency(row, "p50")),
    ("p99", "p99", true, Always, |row| latency(row, "p99")),
    ("p99.9", "p99.9", true, Roomy, |row| latency(row, "p999")),
    ("Max", "Max", true, Always, |row| latency(row, "max")),
    ("", "", false, Always, partial),
];

/// Headings and cells of a table of runs.
#[derive(Debug, Default)]
pub(crate) struct RowsTable {
    pub(crate) headings: Vec<&'static str>,
    /// For each column, whether it holds numbers.
    pub(crate) numbers: Vec<bool>,
    pub(crate) cells: Vec<Vec<String>>,
}

/// The table of the first `limit` rows in the order in which they are best read.
/// Where there is little room, headings are short and some columns are left out.
pub(crate) fn rows_table(rows: &[JobRow<'_>], limit: usize, room: Room) -> RowsTable {
    let mut rows = rows.to_vec();
    in_order_of_design(&mut rows);
    let shown = &rows[..rows.len().min(limit)];
    let used: Vec<&Column> = COLUMNS
        .iter()
        .filter(|(_, _, _, when, cell)| match when {
            Widest if room < Room::Wide => false,
            Roomy if room < Room::Page => false,
            Widest | Roomy | Always => shown.iter().any(|row| !cell(row).is_empty()),
            Differing => rows.iter().any(|row| cell(row) != cell(&rows[0])),
        })
        .collect();
    let heading = |column: &&Column| {
        if room == Room::Wide {
            column.0
        } else {
            column.1
        }
    };
    RowsTable {
        headings: used.iter().map(heading).collect(),
        numbers: used.iter().map(|column| column.2).collect(),
        cells: shown
            .iter()
            .map(|row| used.iter().map(|column| (column.4)(row)).collect())
            .collect(),
    }
}

/// Runs of an experiment were made in random order, and are read in that of its
/// plan: cell by cell, level by level, block by block. Others stay as they are.
pub(crate) fn in_order_of_design(rows: &mut [JobRow<'_>]) {
    if rows.iter().any(|row| row.run.experiment.is_none()) {
        return;
    }
    let place = |row: &JobRow<'_>| row.run.experiment.clone();
    rows.sort_by_cached_key(|row| {
        place(row).map(|place| {
            let ExperimentPlace {
                experiment,
                block,
                level,
                cell,
                ..
            } = place;
            (experiment, cell, LevelKey::of(&level), block)
        })
    });
}

/// Levels that are sizes go by size, others by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LevelKey(Option<u64>, String);

impl LevelKey {
    pub(crate) fn of(level: &str) -> LevelKey {
        let bytes = level.parse::<ByteSize>().ok().map(ByteSize::bytes);
        LevelKey(bytes, level.to_owned())
    }
}

/// Levels in the order in which they are read: sizes and offsets from small to
/// large, others as they are given.
pub(crate) fn order_levels(levels: &mut [String]) {
    if levels.iter().all(|level| LevelKey::of(level).0.is_some()) {
        levels.sort_by(|a, b| -> Ordering { LevelKey::of(a).cmp(&LevelKey::of(b)) });
    }
}

/// The base offset; in an experiment the level says what it stands for.
fn offset(row: &JobRow<'_>) -> String {
    match (&row.run.experiment, row.job.workload.base_offset_bytes) {
        (Some(_), _) | (None, 0) => String::new(),
        (None, bytes) => ByteSize(bytes).to_string(),
    }
}

fn latency(row: &JobRow<'_>, name: &str) -> String {
    row.latency(name)
        .map_or_else(String::new, |ns| format_duration(ns.round() as u64))
}

/// The day.
fn date(row: &JobRow<'_>) -> String {
    row.run.started_at.get(..10).unwrap_or_default().to_owned()
}

fn label(row: &JobRow<'_>) -> String {
    match (&row.run.experiment, &row.run.label, &row.run.imported) {
        (Some(place), _, _) => format!("{}, block {}", place.level, place.block + 1),
        (None, Some(label), _) => label.clone(),
        (None, None, Some(_)) => row.run.series_part.clone().unwrap_or_default(),
        (None, None, None) => String::new(),
    }
}

fn partial(row: &JobRow<'_>) -> String {
    match row.run.status {
        stripewise_results::Status::Complete => String::new(),
        _ => "partial".to_owned(),
    }
}
