//! SQLIO's histogram: shares of the operations by whole milliseconds, in whole per cent.
//! It is shown as SQLIO printed it; no percentile is derived from it.

use crate::number::{count, size};
use serde_json::Value;
use stripewise_results::{JobRow, RunRecord};

/// Caption of the table.
pub(crate) const CAPTION: &str = "SQLIO's histogram: percentage of operations that took this many whole milliseconds, each rounded separately";

/// Number of buckets that SQLIO prints: 0 to 23 ms, and all from 24 ms on.
const BUCKETS: usize = 25;

/// Headings, and a row for each result with a histogram; at most `rows_max`.
pub(crate) fn histograms(
    rows: &[JobRow<'_>],
    rows_max: usize,
) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let found: Vec<Vec<String>> = rows
        .iter()
        .filter_map(|row| Some((row, shares(row.run)?)))
        .take(rows_max)
        .map(|(row, shares)| {
            let kind = [row.pattern().map(str::to_owned), row.operation()];
            let kind: Vec<String> = kind.into_iter().flatten().collect();
            let mut cells = vec![
                kind.join(" "),
                size(row.block_size_bytes()),
                count(row.threads()),
                count(row.outstanding()),
            ];
            cells.extend(shares.iter().map(u64::to_string));
            cells
        })
        .collect();
    if found.is_empty() {
        return None;
    }
    let mut headings: Vec<String> = ["I/O", "Block", "Thr", "Out"].map(str::to_owned).to_vec();
    headings.extend((0..BUCKETS - 1).map(|ms| ms.to_string()));
    headings.push(format!("{}+", BUCKETS - 1));
    Some((headings, found))
}

/// The histogram as stored in the record.
fn shares(run: &RunRecord) -> Option<Vec<u64>> {
    let imported = run.imported.as_ref().filter(|from| from.tool == "sqlio")?;
    let shares = imported.details.as_ref()?.get("histogram_percent")?;
    let shares: Option<Vec<u64>> = shares.as_array()?.iter().map(Value::as_u64).collect();
    shares.filter(|shares| shares.len() == BUCKETS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{Imported, JobRecord};

    #[test]
    fn a_histogram_is_shown_as_it_was_printed_and_only_where_there_is_one() {
        let run = |details: Value| RunRecord {
            imported: Some(Imported {
                tool: "sqlio".to_owned(),
                details: Some(details),
                ..Imported::default()
            }),
            jobs: vec![JobRecord {
                name: "a".to_owned(),
                ..JobRecord::default()
            }],
            ..RunRecord::empty()
        };
        let mut percents = vec![0; 25];
        (percents[3], percents[24]) = (41, 59);
        let runs = [
            run(serde_json::json!({"histogram_percent": percents})),
            run(serde_json::json!({"histogram_percent": [1, 2]})),
            run(serde_json::json!({})),
        ];
        let rows: Vec<JobRow<'_>> = JobRow::of(&runs).collect();
        let (headings, cells) = histograms(&rows, 10).unwrap();
        assert_eq!((headings.len(), cells.len()), (29, 1));
        assert_eq!((headings[4].as_str(), headings[28].as_str()), ("0", "24+"));
        assert_eq!((cells[0][7].as_str(), cells[0][28].as_str()), ("41", "59"));
        assert!(histograms(&rows[1..], 10).is_none());
    }
}
