//! Results of other tools as a table: a row for each job, for the reads and the writes of one that
//! does both, and for its syncs; values that the source lacks are empty cells. Accesses records
//! only through [`JobRow`].

use crate::number::{count, rate, size};
use crate::rows::{Line, workload};
use crate::sheet::{Column, SheetTable};
use stripewise_results::{JobRow, RunRecord};

/// The rows of each job of imported records.
pub fn imported_table(runs: &[RunRecord]) -> SheetTable {
    let columns = [
        Column::text("Tool"),
        Column::text("Target"),
        Column::text("Workload"),
        Column::number("Block"),
        Column::number("Threads").dropped(5),
        Column::number("QD").dropped(4),
        Column::number("In flight"),
        Column::number("IOPS"),
        Column::number("MiB/s").dropped(2),
        Column::number("Mean").dropped(3),
        Column::number("p50").dropped(1),
        Column::number("p99"),
        Column::number("Max"),
    ];
    let lines = JobRow::of(runs).flat_map(|row| {
        let mut lines = Line::of(row);
        // The sum is behind its parts, as for own runs.
        lines.rotate_left(1);
        lines.extend(Line::of_syncs(row));
        lines
    });
    let rows = lines.map(|line| cells(&line)).collect();
    SheetTable::new("", columns, rows)
}

fn cells(line: &Line<'_>) -> Vec<String> {
    let row = &line.row;
    let tool = row.run.imported.as_ref().map(|from| from.tool.clone());
    vec![
        tool.unwrap_or_default(),
        row.target_names(),
        workload(line),
        size(row.block_size_bytes()),
        count(row.threads()),
        count(row.outstanding()),
        count(row.in_flight()),
        line.iops().map(rate).unwrap_or_default(),
        line.mib_per_s().map(rate).unwrap_or_default(),
        line.latency("mean"),
        line.latency("p50"),
        line.latency("p99"),
        line.latency("max"),
    ]
}
