//! Every bundled table: read, sound, and with nothing made up.

use super::*;
use stripewise_results::{Document, JobRow};

fn all() -> Vec<Dataset> {
    names().map(|(name, _)| dataset(name).unwrap()).collect()
}

#[test]
fn each_table_gives_a_record_for_each_printed_cell() {
    let sizes: Vec<(usize, usize)> = all()
        .iter()
        .map(|d| (d.runs.len(), d.levels.len()))
        .collect();
    assert_eq!(sizes, [(72, 2), (72, 2), (60, 5), (33, 0)]);
    assert!(dataset("no-such-table").is_none());
}

#[test]
fn what_was_not_published_is_absent() {
    for table in all() {
        for row in JobRow::of(&table.runs) {
            assert!(row.iops().is_some_and(|iops| iops > 0.0));
            assert_eq!(row.operations(), None);
            assert_eq!(row.latency("p99"), None);
            assert_eq!(
                row.mib_per_s().is_some(),
                table.name != "eva8100-2009-offset"
            );
            assert_eq!(row.threads().is_some(), table.name != "mssqltips-2127");
            assert!(row.outstanding().is_some() && row.block_size_bytes().is_some());
        }
    }
}

#[test]
fn records_survive_printing_and_reading() {
    for table in all() {
        let text = Document::new(table.runs.clone()).to_json();
        let back = Document::from_json(&text).unwrap();
        assert_eq!(back.runs, table.runs, "{}", table.name);
        assert_eq!(back.to_json(), text);
    }
}

#[test]
fn cells_have_the_conditions_of_their_column() {
    let table = dataset("oja-nisula-2007-offset").unwrap();
    let offsets: Vec<Option<u64>> = JobRow::of(&table.runs[..2])
        .map(|r| r.offset_bytes())
        .collect();
    assert_eq!(offsets, [Some(32_256), Some(65_536)]);
    let table = dataset("oja-nisula-2007-allocation-unit").unwrap();
    let units: Vec<Option<u64>> = table.runs[..2]
        .iter()
        .map(|run| {
            run.jobs[0]
                .target
                .file_system
                .as_ref()
                .unwrap()
                .allocation_unit_bytes
        })
        .collect();
    assert_eq!(units, [Some(4_096), Some(65_536)]);
}

#[test]
fn all_seventy_two_published_iops_differences_come_out_as_printed() {
    let mut compared = 0;
    for table in all() {
        for published in &table.differences {
            let value = |level: usize| {
                let rows = JobRow::of(&table.runs);
                let mut found = rows.filter(|row| {
                    row.operation().as_deref() == Some(&published.operation)
                        && row.pattern() == Some(&published.pattern)
                        && row.threads() == Some(published.threads)
                        && row.run.series_part.as_ref() == Some(&table.levels[level])
                });
                let row = found.next().unwrap();
                assert!(found.next().is_none());
                match published.metric {
                    "iops" => row.iops().unwrap(),
                    _ => row.mib_per_s().unwrap(),
                }
            };
            let percent = (value(1) - value(0)) / value(0) * 100.0;
            assert_eq!(
                format!("{percent:.2}"),
                format!("{:.2}", published.percent),
                "{} {published:?}",
                table.name
            );
            compared += usize::from(published.metric == "iops");
        }
    }
    assert_eq!(compared, 72);
}

#[test]
fn misprints_are_found_by_rule_and_nothing_else_is() {
    let found: Vec<Vec<String>> = all().into_iter().map(|table| table.notes).collect();
    let result = |notes: &[String]| -> Vec<String> {
        let misprints = notes.iter().filter(|note| note.contains("do not fit"));
        misprints.cloned().collect()
    };
    assert_eq!(
        result(&found[0]),
        [
            "the printed MB/s do not fit the IOPS: sequential write, 32 threads, 64K: 78.46 for 9,772.27 IOPS x 8K = 76.35."
        ]
    );
    // The same measurements are a column of the other table of 2007.
    assert_eq!(
        result(&found[1]),
        [
            "the printed MB/s do not fit the IOPS: sequential write, 32 threads, 4K: 78.46 for 9,772.27 IOPS x 8K = 76.35."
        ]
    );
    assert!(found[2].is_empty());
    assert_eq!(
        result(&found[3]),
        [
            "the printed MB/s do not fit the IOPS: random read, 1024 outstanding: 20.54 for 488.68 IOPS x 64K = 30.54."
        ]
    );
    assert!(
        found[0][1].starts_with("30 of the 72 printed MB/s are truncated"),
        "{:?}",
        found[0]
    );
}
