//! The cells of a side, and which of them the other side has too.

use crate::experiment::Metric;
use crate::series::SeriesKind;
use serde_json::Value;
use std::collections::HashSet;
use stripewise_results::{JobRow, OperationKind, RunRecord, Status};

/// What identifies a cell, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CellKey {
    pub operation: Option<String>,
    pub pattern: Option<&'static str>,
    pub block_size_bytes: Option<u64>,
    pub threads: Option<u32>,
    pub outstanding: Option<u32>,
    /// All jobs of its run and its index among them, if several were concurrent.
    pub company: Option<String>,
    /// Which operations of a mixed job, if its kinds are compared separately.
    pub part: Option<OperationKind>,
}

/// A cell with all of its repetitions on one side.
#[derive(Clone, Debug)]
pub(super) struct Cell<'a> {
    pub key: CellKey,
    /// All other properties of the workload, and its target: equal in all repetitions.
    variant: String,
    /// The same without the target.
    workload: String,
    pub rows: Vec<JobRow<'a>>,
}

/// Matched cells of both sides, and the unmatched ones.
pub(super) struct MatchedCells<'a> {
    pub pairs: Vec<(&'a Cell<'a>, &'a Cell<'a>)>,
    pub left_a: Vec<&'a Cell<'a>>,
    pub left_b: Vec<&'a Cell<'a>>,
}

impl CellKey {
    fn of(row: &JobRow<'_>) -> CellKey {
        let jobs = &row.run.jobs;
        let names = || {
            let all: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
            format!("{} of {}", row.job.name, all.join(", "))
        };
        CellKey {
            operation: row.operation(),
            pattern: row.pattern(),
            block_size_bytes: row.block_size_bytes(),
            threads: row.threads(),
            outstanding: row.outstanding(),
            company: (jobs.len() > 1).then(names),
            part: None,
        }
    }

    /// Total operations in flight; if the number of threads is unknown, outstanding
    /// is the total.
    fn in_flight(&self) -> Option<u32> {
        self.threads.unwrap_or(1).checked_mul(self.outstanding?)
    }

    /// The two may be the same cell: no property known on both sides differs.
    fn agrees(&self, other: &CellKey) -> bool {
        let load = match (self.threads, other.threads) {
            (Some(_), Some(_)) => {
                agree(self.threads, other.threads) && agree(self.outstanding, other.outstanding)
            }
            _ => agree(self.in_flight(), other.in_flight()),
        };
        self.same_kind(other) && agree(self.block_size_bytes, other.block_size_bytes) && load
    }

    /// The same kind of I/O, whatever its size and load.
    fn same_kind(&self, other: &CellKey) -> bool {
        agree(self.operation.as_ref(), other.operation.as_ref())
            && agree(self.pattern, other.pattern)
            && self.company == other.company
            && self.part == other.part
    }
}

impl Cell<'_> {
    /// The same load on the same target.
    pub fn is_same(&self, other: &Cell<'_>) -> bool {
        self.key == other.key && self.variant == other.variant
    }

    /// What qualifies `read` or `write` in text: the pattern, or `log` if
    /// all of it is the log of benches.
    pub fn pattern(&self) -> Option<&'static str> {
        let log = SeriesKind::Log;
        let is_log = |row: &JobRow<'_>| row.run.series_part.as_deref() == Some(log.name());
        match self.rows.iter().all(is_log) {
            true => Some(log.pattern()),
            false => self.key.pattern,
        }
    }
}

fn agree<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    }
}

/// The cells of a side in order of appearance. Partial runs count only
/// if there are no others; the null engine's count like any other.
pub(super) fn cells_of<'a>(runs: impl IntoIterator<Item = &'a RunRecord> + Clone) -> Vec<Cell<'a>> {
    let mut all = runs.clone().into_iter();
    let whole = all.any(|run| run.status == Status::Complete);
    let mut cells: Vec<Cell<'_>> = Vec::new();
    let mut seen = HashSet::new();
    let once = runs.into_iter();
    let once = once.filter(|run| seen.insert(run.identity()));
    for row in once.flat_map(|run| JobRow::of(std::slice::from_ref(run))) {
        if whole && row.run.status != Status::Complete {
            continue;
        }
        let key = CellKey::of(&row);
        let workload = workload_but_seed(&row);
        let mut variant = format!("{workload} on {}", row.job.target.full_name());
        for target in &row.job.further_targets {
            variant.push_str(", ");
            variant.push_str(target.full_name());
        }
        match cells
            .iter_mut()
            .find(|cell| cell.key == key && cell.variant == variant)
        {
            Some(cell) => cell.rows.push(row),
            None => cells.push(Cell {
                key,
                variant,
                workload,
                rows: vec![row],
            }),
        }
    }
    cells
}

/// Runs of a side that duplicate another one of them: not repetitions,
/// whatever files they came from. Runs of Stripewise are identified by id, those of
/// another tool by content.
pub(super) fn copies_in(runs: &[RunRecord]) -> Vec<&RunRecord> {
    let mut seen = HashSet::new();
    runs.iter()
        .filter(|run| !seen.insert(run.identity()))
        .collect()
}

/// The cells of a side for a metric. Reads, writes and discards of a mixed job have separate
/// latencies, which are never combined: each is a cell. Rates are those of the
/// job, whose mix is fixed.
pub(super) fn cells_for(runs: &[RunRecord], metric: Metric) -> Vec<Cell<'_>> {
    let cells = cells_of(runs);
    if metric.latency_name().is_none() {
        return cells;
    }
    let mut apart = Vec::new();
    for cell in cells {
        if cell.is_mixed() {
            apart.extend(cell.kinds().into_iter().map(|part| cell.part(part)));
        } else {
            apart.push(cell);
        }
    }
    apart
}

impl<'a> Cell<'a> {
    /// It performs several kinds of operations, according to its source.
    fn is_mixed(&self) -> bool {
        self.kinds().len() > 1
    }

    /// Those kinds; empty if its source does not say.
    fn kinds(&self) -> Vec<OperationKind> {
        let says = |row: &&JobRow<'_>| {
            let percent = row.job.workload.read_percent;
            row.given("jobs.workload.read_percent", percent).is_some()
        };
        let row = self.rows.iter().find(says);
        row.map_or_else(Vec::new, JobRow::kinds)
    }

    fn part(&self, part: OperationKind) -> Cell<'a> {
        let words = part.plural();
        let mut cell = self.clone();
        let operation = cell.key.operation.as_deref().unwrap_or("mixed");
        cell.key.operation = Some(format!("{operation}: {words}"));
        cell.key.part = Some(part);
        cell
    }

    /// A metric of one of its rows; `None` if unknown.
    pub(super) fn value(&self, row: &JobRow<'_>, metric: Metric) -> Option<f64> {
        match (self.key.part, metric.latency_name()) {
            (Some(part), Some(name)) => row.latency_of(part, name),
            _ => metric.of(row),
        }
    }

    /// Distinct codes of the warnings that void any of its rows.
    pub(super) fn void_codes(&self) -> Vec<&'a str> {
        let mut codes: Vec<&str> = self.rows.iter().flat_map(JobRow::void_codes).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }
}

/// The workload without what may differ between repetitions: its seed and its
/// duration.
fn workload_but_seed(row: &JobRow<'_>) -> String {
    let mut value = serde_json::to_value(&row.job.workload).unwrap_or(Value::Null);
    if let Some(object) = value.as_object_mut() {
        for field in ["seed", "duration_ns", "ramp_ns"] {
            object.remove(field);
        }
    }
    value.to_string()
}

/// Matches cells that agree in everything both know. If a side has a
/// cell in several variants (other offsets, caches, targets), only the variant
/// that the other side has too. If each side has only one cell, those two are matched
/// if they are of one kind: block and load may then differ, which a note reports.
pub(super) fn pairs_of<'a>(a: &'a [Cell<'a>], b: &'a [Cell<'a>]) -> MatchedCells<'a> {
    let mut used = vec![false; b.len()];
    let mut pairs = Vec::new();
    let mut left_a = Vec::new();
    for cell in a {
        match partner(cell, a, b, &used) {
            Some(index) => {
                used[index] = true;
                pairs.push((cell, &b[index]));
            }
            None => left_a.push(cell),
        }
    }
    let left_b: Vec<&Cell<'_>> = b
        .iter()
        .zip(&used)
        .filter(|(_, used)| !**used)
        .map(|(cell, _)| cell)
        .collect();
    if let (true, [only_a], [only_b]) = (pairs.is_empty(), a, b)
        && only_a.key.same_kind(&only_b.key)
    {
        return MatchedCells {
            pairs: vec![(only_a, only_b)],
            left_a: Vec::new(),
            left_b: Vec::new(),
        };
    }
    MatchedCells {
        pairs,
        left_a,
        left_b,
    }
}

fn partner(cell: &Cell<'_>, a: &[Cell<'_>], b: &[Cell<'_>], used: &[bool]) -> Option<usize> {
    let free: Vec<usize> = (0..b.len())
        .filter(|&index| !used[index] && cell.key.agrees(&b[index].key))
        .collect();
    let exact = |index: &usize| b[*index].key == cell.key;
    let same_workload = |index: &usize| b[*index].workload == cell.workload;
    let same_variant = |index: &usize| b[*index].variant == cell.variant;
    let variants_here = a.iter().filter(|other| other.key == cell.key).count();
    if variants_here > 1 || free.iter().filter(|index| exact(index)).count() > 1 {
        let mut alike: Vec<usize> = free.iter().copied().filter(same_variant).collect();
        if alike.is_empty() {
            alike = free.iter().copied().filter(same_workload).collect();
        }
        return match alike.as_slice() {
            [one] => Some(*one),
            _ => None,
        };
    }
    free.iter().copied().find(exact).or(match free.as_slice() {
        [one] => Some(*one),
        _ => None,
    })
}

/// The levels that runs fall into, in order of appearance: those of an experiment, else
/// the columns of a published table. Empty if runs have none.
pub fn levels_of(runs: &[RunRecord]) -> Vec<(String, Vec<RunRecord>)> {
    let mut levels: Vec<(String, Vec<RunRecord>)> = Vec::new();
    for run in runs {
        let is_dataset = run
            .imported
            .as_ref()
            .is_some_and(|imported| imported.tool == "dataset");
        let level = match (&run.experiment, &run.series_part) {
            (Some(place), _) => place.level.clone(),
            (None, Some(part)) if is_dataset => part.clone(),
            _ => return Vec::new(),
        };
        match levels.iter_mut().find(|(name, _)| *name == level) {
            Some((_, of_level)) => of_level.push(run.clone()),
            None => levels.push((level, vec![run.clone()])),
        }
    }
    levels
}
