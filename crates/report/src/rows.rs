//! The table of runs, a row for each job, for pages and Markdown alike. Values that a
//! source lacks stay empty. Empty columns are left out,
//! and so is a column with equal values that are given elsewhere.

use crate::identity::kind;
use crate::number::{count, latency_of_source, rate, size};
use std::cmp::Ordering;
use stripewise_results::{ExperimentPlace, JobRow, OperationKind};
use stripewise_units::ByteSize;

/// When a column is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnVisibility {
    /// If it has any value.
    Always,
    /// If its values differ.
    Differing,
    /// If there is room.
    Roomy,
    /// If there is room, or it is the only known latency.
    RoomyOrAlone,
    /// Only with the most room.
    Widest,
}

/// How much room a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TableRoom {
    /// An issue or a terminal.
    Narrow,
    /// The first page.
    Page,
    /// A table that may be scrolled.
    Wide,
}

/// A column: long heading, short heading, whether it holds numbers, when, what.
type Column = (
    &'static str,
    &'static str,
    bool,
    ColumnVisibility,
    fn(&Line<'_>) -> String,
);

/// The part of a job that a line shows: a mixed load has a line for both
/// together, without latencies, one for its reads and one for its writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) row: JobRow<'a>,
    of: RowSubject,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowSubject {
    /// A job with one kind of operation.
    Job,
    /// All operations of a mixed job.
    Total,
    /// One kind of a mixed job.
    Kind(OperationKind),
    /// Its syncs.
    Syncs,
}

impl<'a> Line<'a> {
    /// At least one: all operations of the job, then each kind that its source reports separately.
    pub(crate) fn of(row: JobRow<'a>) -> Vec<Line<'a>> {
        let line = |of| Line { row, of };
        let mut kinds: Vec<Line<'a>> = Vec::new();
        if row.is_mixed() {
            let all = row.kinds().into_iter().map(RowSubject::Kind).map(line);
            kinds.extend(all.filter(Line::is_known));
        }
        let whole = match kinds.is_empty() {
            true => RowSubject::Job,
            false => RowSubject::Total,
        };
        kinds.insert(0, line(whole));
        kinds
    }

    /// Its syncs, if it did any.
    pub(crate) fn of_syncs(row: JobRow<'a>) -> Option<Line<'a>> {
        let of = RowSubject::Syncs;
        Some(Line { row, of }).filter(Line::is_known)
    }

    fn is_known(&self) -> bool {
        let mut latencies = ["mean", "p50", "p99", "max"].into_iter();
        self.iops().is_some() || latencies.any(|name| !self.latency(name).is_empty())
    }

    pub(crate) fn iops(&self) -> Option<f64> {
        match self.of {
            RowSubject::Job | RowSubject::Total => self.row.iops(),
            RowSubject::Kind(kind) => self.row.iops_of(kind),
            RowSubject::Syncs => self.row.syncs_per_s(),
        }
    }

    pub(crate) fn mib_per_s(&self) -> Option<f64> {
        match self.of {
            RowSubject::Job | RowSubject::Total => self.row.mib_per_s_shown(),
            RowSubject::Kind(kind) => self.row.mib_per_s_of(kind),
            RowSubject::Syncs => None,
        }
    }

    pub(crate) fn latency(&self, name: &str) -> String {
        let ns = match self.of {
            RowSubject::Job => self.row.latency(name),
            RowSubject::Total => None,
            RowSubject::Kind(kind) => self.row.latency_of(kind, name),
            RowSubject::Syncs => self.row.latency_of_syncs(name),
        };
        ns.map_or_else(String::new, |ns| latency_of_source(self.row.run, ns))
    }
}

use ColumnVisibility::{Always, Differing, Roomy, RoomyOrAlone, Widest};

/// Text first, so that numbers are next to each other.
const COLUMNS: [Column; 21] = [
    ("Run", "Run", false, Widest, |line| line.row.run.id.clone()),
    ("Date", "Date", false, Differing, |line| date(&line.row)),
    ("Label", "Label", false, Always, |line| label(&line.row)),
    ("Job", "Job", false, Differing, |line| {
        line.row.job.name.clone()
    }),
    ("Ran", "Ran", false, Differing, |line| {
        match line.row.run.jobs.len() {
            0 | 1 => "alone".to_owned(),
            2 => "beside 1 other".to_owned(),
            jobs => format!("beside {} others", jobs - 1),
        }
    }),
    ("Workload", "Workload", false, Always, workload),
    ("Target", "Target", false, Differing, |line| {
        line.row.target_names()
    }),
    ("Cache", "Cache", false, Differing, |line| {
        let cache = line.row.cache();
        cache.map_or_else(String::new, |cache| cache.to_string())
    }),
    ("Block", "Block", true, Always, |line| {
        line.row.block_text().unwrap_or_default()
    }),
    ("Starts at", "Start", true, Differing, |line| {
        size(line.row.job.target.partition_offset_bytes)
    }),
    ("Offset", "Offset", true, Always, |line| offset(&line.row)),
    ("Threads", "Thr", true, Always, |line| {
        count(line.row.threads())
    }),
    ("Outstanding", "Out", true, Always, |line| {
        count(line.row.outstanding())
    }),
    ("IOPS", "IOPS", true, Always, |line| {
        line.iops().map(rate).unwrap_or_default()
    }),
    ("MiB/s", "MiB/s", true, Always, |line| {
        line.mib_per_s().map(rate).unwrap_or_default()
    }),
    ("Mean", "Mean", true, RoomyOrAlone, |line| {
        line.latency("mean")
    }),
    ("p50", "p50", true, Always, |line| line.latency("p50")),
    ("p99", "p99", true, Always, |line| line.latency("p99")),
    ("p99.9", "p99.9", true, Roomy, |line| line.latency("p999")),
    ("Max", "Max", true, Always, |line| line.latency("max")),
    ("", "", false, Always, |line| state(&line.row)),
];

/// Headings and cells of a table of runs.
#[derive(Debug, Default)]
pub(crate) struct RowsTable {
    pub(crate) headings: Vec<&'static str>,
    /// Whether each column is numeric.
    pub(crate) numbers: Vec<bool>,
    pub(crate) cells: Vec<Vec<String>>,
}

/// The table of the first `limit` rows in reading order.
/// With little room, headings are short and some columns are left out.
pub(crate) fn rows_table(rows: &[JobRow<'_>], limit: usize, room: TableRoom) -> RowsTable {
    let mut rows = rows.to_vec();
    in_order_of_design(&mut rows);
    let all: Vec<Line<'_>> = rows.iter().copied().flat_map(Line::of).collect();
    let shown: Vec<Line<'_>> = rows
        .iter()
        .copied()
        .take(limit)
        .flat_map(Line::of)
        .collect();
    let median_less = shown.iter().any(|line| {
        let row = &line.row;
        row.latency("mean").is_some() && row.latency("p50").is_none()
    });
    let used: Vec<&Column> = COLUMNS
        .iter()
        .filter(|(_, _, _, when, cell)| match when {
            Widest if room < TableRoom::Wide => false,
            Roomy if room < TableRoom::Page => false,
            RoomyOrAlone if room < TableRoom::Page && !median_less => false,
            Widest | Roomy | RoomyOrAlone | Always => {
                shown.iter().any(|line| !cell(line).is_empty())
            }
            Differing => all.first().is_some_and(|first| {
                let first = cell(first);
                all.iter().any(|line| cell(line) != first)
            }),
        })
        .collect();
    let heading = |column: &&Column| {
        if room == TableRoom::Wide {
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
            .map(|line| used.iter().map(|column| (column.4)(line)).collect())
            .collect(),
    }
}

/// Sorts the runs of an experiment, which were made in random order, by its
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

/// Sizes sort by size, other levels by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LevelKey(Option<u64>, String);

impl LevelKey {
    pub(crate) fn of(level: &str) -> LevelKey {
        let bytes = level.parse::<ByteSize>().ok().map(ByteSize::bytes);
        LevelKey(bytes, level.to_owned())
    }
}

/// Sorts levels for reading: sizes and offsets in rising order, others
/// as given.
pub(crate) fn order_levels(levels: &mut [String]) {
    if levels.iter().all(|level| LevelKey::of(level).0.is_some()) {
        levels.sort_by(|a, b| -> Ordering { LevelKey::of(a).cmp(&LevelKey::of(b)) });
    }
}

/// The base offset; in an experiment, the level explains it.
fn offset(row: &JobRow<'_>) -> String {
    match (&row.run.experiment, row.job.workload.base_offset_bytes) {
        (Some(_), _) | (None, 0) => String::new(),
        (None, bytes) => ByteSize(bytes).to_string(),
    }
}

/// `random 70 % read: writes`; `writes` if nothing else is known of it.
pub(crate) fn workload(line: &Line<'_>) -> String {
    let kind = kind(&line.row);
    let of = match line.of {
        RowSubject::Job => return kind,
        RowSubject::Total if line.row.job.workload.discards() => "all",
        RowSubject::Total => "both",
        RowSubject::Kind(of) => of.plural(),
        RowSubject::Syncs => "syncs",
    };
    match kind.as_str() {
        "" => of.to_owned(),
        kind => format!("{kind}: {of}"),
    }
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

fn state(row: &JobRow<'_>) -> String {
    crate::validity::state(row.run, &row.void_codes())
}
