//! Results of other tools as a table: a row for each job; values that the source
//! lacks are empty cells. Accesses records only through [`JobRow`].

use crate::number::{count, latency_of_source, rate, size};
use crate::sheet::{Column, SheetTable};
use stripewise_results::{JobRow, RunRecord};

/// A row for each job of imported records.
#[must_use]
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
    let rows = JobRow::of(runs).map(|row| cells(&row)).collect();
    SheetTable::new("", columns, rows)
}

fn cells(row: &JobRow<'_>) -> Vec<String> {
    let latency = |name: &str| {
        let ns = row.latency(name);
        ns.map(|ns| latency_of_source(row.run, ns))
            .unwrap_or_default()
    };
    let tool = row.run.imported.as_ref().map(|from| from.tool.clone());
    let workload = [row.pattern().map(str::to_owned), row.operation()];
    let workload: Vec<String> = workload.into_iter().flatten().collect();
    vec![
        tool.unwrap_or_default(),
        row.target_names(),
        workload.join(" "),
        size(row.block_size_bytes()),
        count(row.threads()),
        count(row.outstanding()),
        count(row.in_flight()),
        row.iops().map(rate).unwrap_or_default(),
        row.mib_per_s().map(rate).unwrap_or_default(),
        latency("mean"),
        latency("p50"),
        latency("p99"),
        latency("max"),
    ]
}
