//! The table of `bench --like crystaldiskmark`: a line for each load, reads next to writes,
//! in the units that its users quote (MB/s of 1,000,000 bytes), with bars.

use crate::number::rate;
use crate::sheet::{Column, SheetTable};
use crate::validity::state_in_brief;
use std::collections::BTreeSet;
use stripewise_results::{JobRecord, RunRecord};
use stripewise_units::format_duration;

/// Names of the lines; each is a run of reads and, if writing is allowed, one of writes.
const LINES: [&str; 4] = ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"];

/// Whether a job is one side of a line: `SEQ1M Q8T1 read`.
pub fn is_like_job(name: &str) -> bool {
    let line = name.rsplit_once(' ');
    line.is_some_and(|(line, side)| LINES.contains(&line) && ["read", "write"].contains(&side))
}

/// Whether these runs are lines of one such bench by Stripewise, several of them and without
/// duplicates: the table has one place for each.
pub fn are_like_runs(runs: &[RunRecord]) -> bool {
    let mut seen = BTreeSet::new();
    let mut is_line = |run: &RunRecord| match run.jobs.as_slice() {
        [job] if is_like_job(&job.name) => {
            run.imported.is_none() && run.series == runs[0].series && seen.insert(job.name.clone())
        }
        _ => false,
    };
    runs.len() > 1 && runs.iter().all(&mut is_line)
}

/// Characters of the longest bar.
const BAR_MAX: f64 = 24.0;

/// A run of one side of a line: its reads or its writes.
type Side<'a> = (&'a RunRecord, &'a JobRecord);

/// The table; runs whose jobs are not named after a line are left out.
pub(crate) fn like_table(runs: &[RunRecord]) -> SheetTable {
    let mut lines: Vec<(&str, [Option<Side<'_>>; 2])> = Vec::new();
    for run in runs {
        for job in &run.jobs {
            let Some((name, side)) = job.name.rsplit_once(' ') else {
                continue;
            };
            let side = match side {
                "read" => 0,
                "write" => 1,
                _ => continue,
            };
            let at = lines.iter().position(|(known, _)| *known == name);
            let at = at.unwrap_or_else(|| {
                lines.push((name, [None, None]));
                lines.len() - 1
            });
            lines[at].1[side] = Some((run, job));
        }
    }
    let most = runs
        .iter()
        .flat_map(|run| &run.jobs)
        .map(megabytes)
        .fold(0.0, f64::max);
    let columns = [
        Column::text(""),
        Column::number("Read MB/s"),
        Column::number("IOPS"),
        Column::number("Mean"),
        Column::text("Read (log)").dropped(2),
        Column::number("Write MB/s"),
        Column::number("IOPS"),
        Column::number("Mean"),
        Column::text("Write (log)").dropped(1),
        Column::text(""),
    ];
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|(name, sides)| {
            let mut cells = vec![(*name).to_owned()];
            let mut states: Vec<String> = Vec::new();
            for side in sides {
                match side {
                    None => cells.extend([const { String::new() }; 4]),
                    Some((run, job)) => {
                        cells.extend(of_side(job, most));
                        let state = state_in_brief(run, job);
                        if !state.is_empty() && !states.contains(&state) {
                            states.push(state);
                        }
                    }
                }
            }
            cells.push(states.join(", "));
            cells
        })
        .collect();
    SheetTable::new("", columns, rows)
}

/// Bytes a second in units of 1,000,000.
fn megabytes(job: &JobRecord) -> f64 {
    megabytes_per_s(job.outcome.mib_per_s)
}

/// Converts to the unit that users of that bench quote: 1,000,000 bytes a second.
pub fn megabytes_per_s(mib_per_s: f64) -> f64 {
    mib_per_s * 1_048_576.0 / 1e6
}

/// Rate, operations, mean latency and a bar of one side of a line.
fn of_side(job: &JobRecord, most: f64) -> [String; 4] {
    let outcome = &job.outcome;
    let side = match job.workload.read_percent {
        0 => &outcome.write,
        _ => &outcome.read,
    };
    let mean = side.latency_ns.as_ref();
    // Logarithmic: the lines differ by a factor of a hundred and more.
    let share = match megabytes(job) {
        rate if rate > 0.0 && most > 0.0 => (1.0 + (rate / most).log10() / 4.0).max(0.0),
        _ => 0.0,
    };
    [
        format!("{:.1}", megabytes(job)),
        rate(outcome.iops),
        mean.map_or_else(String::new, |one| format_duration(one.mean.round() as u64)),
        "#".repeat((share * BAR_MAX / 2.0).round() as usize),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::JobOutcome;

    fn run(name: &str, mib_per_s: f64, iops: f64) -> RunRecord {
        let mut run = RunRecord::empty();
        run.jobs.push(JobRecord {
            name: name.to_owned(),
            outcome: JobOutcome {
                mib_per_s,
                iops,
                ..JobOutcome::default()
            },
            ..JobRecord::default()
        });
        run
    }

    #[test]
    fn lines_are_known_by_their_names() {
        let [read, write] = [
            run("SEQ1M Q1T1 read", 1.0, 1.0),
            run("RND4K Q32T1 write", 1.0, 1.0),
        ];
        assert!(are_like_runs(&[read.clone(), write.clone()]));
        // Two benches are not one table.
        let mut of_another = write;
        of_another.series = Some("20260102-030405-abcd".to_owned());
        assert!(!are_like_runs(&[read.clone(), of_another]));
        assert!(!are_like_runs(&[read.clone(), read.clone()]));
        assert!(!are_like_runs(std::slice::from_ref(&read)));
        assert!(!are_like_runs(&[read, run("log", 1.0, 1.0)]));
        for other in ["SEQ1M Q1T1", "SEQ1M Q1T1 both", "RND8K Q1T1 read", ""] {
            assert!(!is_like_job(other), "{other}");
        }
    }

    #[test]
    fn lines_stand_in_their_order_with_decimal_megabytes() {
        let table = like_table(&[
            run("SEQ1M Q8T1 read", 1000.0, 1000.0),
            run("RND4K Q1T1 read", 10.0, 2560.0),
            run("SEQ1M Q8T1 write", 500.0, 500.0),
        ]);
        let row = |at: usize| -> Vec<&str> {
            let cells = table.rows[at].iter();
            cells.map(|cell| cell.text.as_str()).collect()
        };
        assert_eq!(table.rows.len(), 2);
        assert_eq!(
            [row(0)[0], row(0)[1], row(0)[5]],
            ["SEQ1M Q8T1", "1048.6", "524.3"]
        );
        assert_eq!([row(1)[0], row(1)[2]], ["RND4K Q1T1", "2,560"]);
    }
}
