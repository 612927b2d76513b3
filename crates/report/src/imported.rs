//! Other tools' results as a table: a row for each job, cells empty where the
//! source says nothing. Sees records through [`JobRow`] only.

use crate::number::{count, latency_of_source, rate, size};
use crate::table::{draw, number, words};
use stripewise_results::{JobRow, RunRecord};

/// A row for each job of imported records.
#[must_use]
pub fn imported_rows_table(runs: &[RunRecord]) -> String {
    let columns = [
        words("Tool"),
        words("Target"),
        words("Workload"),
        number("Block"),
        number("Thr"),
        number("Out"),
        number("IOPS"),
        number("MiB/s"),
        number("Mean"),
        number("p50"),
        number("p99"),
        number("Max"),
    ];
    let rows: Vec<Vec<String>> = JobRow::of(runs).map(|row| cells(&row)).collect();
    draw(&columns, &rows)
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
        shortened(&row.target_names()),
        workload.join(" "),
        size(row.block_size_bytes()),
        count(row.threads()),
        count(row.outstanding()),
        row.iops().map(rate).unwrap_or_default(),
        row.mib_per_s().map(rate).unwrap_or_default(),
        latency("mean"),
        latency("p50"),
        latency("p99"),
        latency("max"),
    ]
}

/// The end of a long name: that is where names differ.
fn shortened(name: &str) -> String {
    let signs: Vec<char> = name.chars().filter(|sign| !sign.is_control()).collect();
    match signs.len() {
        0..=16 => signs.into_iter().collect(),
        length => format!("...{}", signs[length - 13..].iter().collect::<String>()),
    }
}
