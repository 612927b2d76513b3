//! Compares records with known values.

use super::*;
use stripewise_results::{
    ExperimentPlace, FileSystemFacts, Imported, JobOutcome, JobRecord, RunRecord, Severity, Status,
    TargetFacts, Warning,
};
use stripewise_workload::Workload;

/// A run of random reads, 8K, of 1 thread with `outstanding` operations.
pub(super) fn run(number: u32, outstanding: u32, iops: f64) -> RunRecord {
    let mut record = RunRecord {
        id: format!("20261121-2015{number:02}-aaaa"),
        started_at: format!("2026-11-21T20:15:{number:02}.000Z"),
        ..RunRecord::empty()
    };
    record.jobs.push(JobRecord {
        name: "job".to_owned(),
        target: TargetFacts {
            name: "/data".to_owned(),
            size_bytes: 1 << 30,
            ..TargetFacts::unknown()
        },
        workload: Workload {
            outstanding,
            seed: u64::from(number),
            ..Workload::default()
        },
        outcome: JobOutcome {
            iops,
            mib_per_s: iops / 128.0,
            ..JobOutcome::default()
        },
        ..JobRecord::default()
    });
    record
}

fn side(name: &str, runs: Vec<RunRecord>) -> Side {
    Side {
        name: name.to_owned(),
        runs,
    }
}

fn compared(a: Vec<RunRecord>, b: Vec<RunRecord>) -> ComparisonRecord {
    compare(&side("a", a), &side("b", b), CompareOptions::default()).unwrap()
}

fn sentence_text(record: &ComparisonRecord) -> String {
    [record.sentences.as_slice(), &record.notes]
        .concat()
        .join("\n")
}

/// Six exactly equal runs of this many operations, as on simulated arrays.
fn six_equal(first: u32, operations: u64, iops: f64) -> Vec<RunRecord> {
    let runs = (first..first + 6).map(|number| {
        let mut run = run(number, 1, iops);
        run.jobs[0].outcome.operations = operations;
        run
    });
    runs.collect()
}

fn absent(paths: &[&str]) -> std::sync::Arc<std::collections::BTreeSet<String>> {
    std::sync::Arc::new(paths.iter().map(|&path| path.to_owned()).collect())
}

#[test]
fn equal_repetitions_tell_no_difference_finer_than_an_operation() {
    let then = || six_equal(1, 255, 169.88);
    let record = compared(then(), six_equal(11, 255, 169.80));
    let row = &record.rows[0];
    let [low, high] = row.interval_percent.expect("six of each");
    assert!(
        (low + 0.83).abs() < 0.01 && (high - 0.74).abs() < 0.01,
        "{row:?}"
    );
    assert_eq!(row.verdict, Verdict::NoDifference, "{row:?}");
    assert!(!found(&record));
    // More than an operation on either side is still a difference.
    let record = compared(then(), six_equal(11, 250, 166.5));
    assert_eq!(record.verdict, Verdict::Worse, "{record:?}");
    // A stream of 30,000 operations on a simulated array: 0.05 % are fifteen of them, and
    // every repetition is the same run.
    let then = || six_equal(1, 30_000, 169.88);
    let record = compared(then(), six_equal(11, 30_000, 169.80));
    assert_eq!(record.verdict, Verdict::NoDifference, "{record:?}");
    let record = compared(then(), six_equal(11, 30_000, 169.60));
    assert_eq!(record.verdict, Verdict::Worse, "{record:?}");
}

#[test]
fn nothing_is_more_than_all_of_it_lower() {
    let runs = |first: u32, p99: [u64; 6]| -> Vec<RunRecord> {
        let made = (first..).zip(p99).map(|(number, p99)| {
            let mut run = run(number, 1, 100.0);
            let latency = run.jobs[0].outcome.read.latency_ns.get_or_insert_default();
            latency.p99 = p99;
            run
        });
        made.collect()
    };
    let slow = runs(1, [100, 101, 99, 102, 98, 100].map(|ms| ms * 1_000_000));
    let fast = runs(11, [250, 251, 249, 252, 248, 250].map(|us| us * 1_000));
    let p99 = CompareOptions {
        metric: Metric::LatencyP99,
        ..CompareOptions::default()
    };
    let [a, b] = [("slow", slow), ("fast", fast)].map(|(name, runs)| side(name, runs));
    let row = &compare(&a, &b, p99).unwrap().rows[0];
    let [low, high] = row.interval_percent.expect("six of each");
    assert!(-99.8 < low && low < -99.75, "{row:?}");
    assert!(-99.75 < high && high < -99.7, "{row:?}");
}

/// Six runs around a centre, with a scatter of a few per mille.
fn six(first: u32, centre: f64) -> Vec<RunRecord> {
    let values = [1.001, 0.998, 1.0, 1.003, 0.999, 0.996];
    (first..)
        .zip(values)
        .map(|(number, share)| run(number, 1, centre * share))
        .collect()
}

#[test]
fn single_runs_have_a_difference_and_no_interval() {
    let record = compared(vec![run(1, 1, 400.45)], vec![run(2, 1, 589.11)]);
    let row = &record.rows[0];
    assert_eq!(format!("{:.2}", row.difference_percent), "47.11");
    assert_eq!(
        (row.estimate_percent, row.interval_percent, row.p_value),
        (None, None, None)
    );
    assert_eq!(
        (row.verdict, record.verdict),
        (Verdict::Undecided, Verdict::Undecided)
    );
    assert!(!found(&record));
    assert!(sentence_text(&record).contains("One run on each side: this may be chance."));
    assert!(sentence_text(&record).contains("All runs of a were made before those of b"));
}

#[test]
fn what_is_printed_as_no_per_cent_is_no_difference_however_sure() {
    // Simulated arrays: exactly equal, but for one in 30,000.
    let exact = |first: u32, iops: f64| (first..first + 6).map(|n| run(n, 1, iops)).collect();
    let record = compared(exact(1, 2_612.43), exact(11, 2_612.33));
    assert_eq!(
        record.verdict,
        Verdict::NoDifference,
        "{}",
        sentence_text(&record)
    );
    // 0.04 %: about as much as the start and end of equal runs decide.
    let record = compared(exact(1, 2_612.43), exact(11, 2_611.43));
    assert_eq!(
        record.verdict,
        Verdict::NoDifference,
        "{}",
        sentence_text(&record)
    );
    let record = compared(exact(1, 2_612.43), exact(11, 2_607.43));
    assert_eq!(record.verdict, Verdict::Worse, "0.19 % that is sure");
}

#[test]
fn repetitions_tell_an_effect_from_none() {
    let worse = compared(six(1, 1_000.0), six(11, 900.0));
    assert_eq!(worse.verdict, Verdict::Worse);
    assert!(found(&worse));
    let [low, high] = worse.rows[0].interval_percent.unwrap();
    assert!(low < -10.0 && -10.0 < high && high < -9.0, "{low} {high}");
    assert!(
        worse.sentences[0].starts_with("b: 10.00 % (9."),
        "{:?}",
        worse.sentences
    );
    assert!(worse.sentences[0].ends_with("fewer IOPS (random read, 8K, 1 thread of 1): worse."));
    assert_eq!(worse.rows[0].sentence.as_ref(), worse.sentences.first());
    let same = compared(six(1, 1_000.0), six(11, 1_000.0));
    assert_eq!(same.verdict, Verdict::NoDifference);
    assert!(same.sentences[0].contains("no difference in IOPS larger than 0."));
    assert_eq!(same.rows[0].sentence, None);
    // A lower latency is better; here it is unknown, which the table reports.
    let options = CompareOptions {
        metric: "latency_ns_p99".parse().unwrap(),
        ..CompareOptions::default()
    };
    let error = compare(&side("a", six(1, 1.0)), &side("b", six(11, 1.0)), options).unwrap_err();
    assert!(matches!(error, NothingToCompare::NoValue { .. }));
}

#[test]
fn more_tables_do_not_find_more_by_chance() {
    // Six against six leave at least 0.2 % to chance: enough for one table,
    // not for thirty.
    let (a, b) = (side("a", six(1, 1_000.0)), side("b", six(11, 900.0)));
    let question = Question {
        a: &a,
        b: &b,
        options: CompareOptions::default(),
    };
    let verdicts = |tables: usize| -> Vec<Verdict> {
        let answers = compare_all(&vec![question; tables]);
        answers
            .into_iter()
            .map(|table| table.unwrap().verdict)
            .collect()
    };
    assert_eq!(verdicts(1), [Verdict::Worse]);
    assert_eq!(verdicts(30), [Verdict::Undecided; 30]);
    let tables = compare_all(&vec![question; 30]);
    let text = sentence_text(tables[0].as_ref().unwrap());
    assert!(
        text.contains("corrected for all 30 rows of these 30 tables together (Holm)"),
        "{text}"
    );
    assert!(text.contains("may still be chance among 30 rows"), "{text}");
    // A table without rows affects no other.
    let other = side("other", vec![run(1, 7, 1.0), run(2, 9, 1.0)]);
    let mixed = compare_all(&[
        question,
        Question {
            b: &other,
            ..question
        },
    ]);
    assert!(mixed[0].is_ok() && mixed[1].is_err());
}

#[test]
fn notes_on_a_baseline_speak_of_then_and_now() {
    let options = CompareOptions {
        sides: Sides::ThenAndNow,
        ..CompareOptions::default()
    };
    let mut now = six(11, 900.0);
    for run in &mut now {
        run.jobs[0].target.name = "/other".to_owned();
        run.jobs[0].engine.cpus = vec![0, 1];
    }
    let record = compare(
        &side("baseline", six(1, 1_000.0)),
        &side("now", now),
        options,
    )
    .unwrap();
    let text = sentence_text(&record);
    assert!(text.contains("target: /data then, /other now."), "{text}");
    assert!(text.contains("processors: any then, 0+1 now."), "{text}");
    assert!(text.contains("since the baseline was measured"), "{text}");
    assert!(
        !text.contains("on baseline") && !text.contains("of baseline"),
        "{text}"
    );
}

#[test]
fn one_old_run_against_six_new_ones_rests_on_equal_scatter_and_says_so() {
    let record = compared(vec![run(1, 1, 1_000.0)], six(11, 900.0));
    assert_eq!((record.verdict, record.rows[0].blocks), (Verdict::Worse, 1));
    assert!(sentence_text(&record).contains("assume that both sides scatter alike"));
}

#[test]
fn cells_without_a_partner_are_counted_and_named() {
    let record = compared(
        vec![run(1, 1, 100.0), run(2, 4, 200.0), run(3, 8, 300.0)],
        vec![run(4, 4, 220.0), run(5, 16, 400.0)],
    );
    assert_eq!(record.rows.len(), 1);
    assert_eq!(record.rows[0].outstanding, Some(4));
    let sentence_text = sentence_text(&record);
    // What is compared and what only one side has is what that side has.
    assert!(
        sentence_text.contains(
            "1 cell is compared. Only in a: 2 of 3 cells (random read, 8K, 1 thread of 1; random read, 8K, 1 \
             thread of 8). Only in b: 1 of 2 cells (random read, 8K, 1 thread of 16)."
        ),
        "{sentence_text}"
    );
}

#[test]
fn blocks_of_one_experiment_are_compared_block_by_block() {
    // The level drifts by 30 % over the blocks; B is 2 % above A in each.
    let mut runs = [Vec::new(), Vec::new()];
    for block in 0..8u32 {
        for (index, level) in ["31.5K", "64K"].into_iter().enumerate() {
            let iops = (1_000.0 + 40.0 * f64::from(block)) * [1.0, 1.02][index];
            let mut record = run(block * 2 + index as u32, 1, iops + f64::from(block % 3));
            record.experiment = Some(ExperimentPlace {
                experiment: "20261121-201500-expt".to_owned(),
                block,
                position: index as u32,
                level: level.to_owned(),
                cell: 0,
            });
            runs[index].push(record);
        }
    }
    let all = runs.concat();
    let levels = levels_of(&all);
    assert_eq!(levels.len(), 2);
    let [a, b] = runs;
    let paired = compared(a.clone(), b.clone());
    assert_eq!(paired.verdict, Verdict::Better);
    let [low, high] = paired.rows[0].interval_percent.unwrap();
    assert!(1.7 < low && high < 2.2, "{low} {high}");
    // Without their blocks, the same values show nothing.
    let bare = |mut runs: Vec<RunRecord>| {
        runs.iter_mut().for_each(|run| run.experiment = None);
        runs
    };
    assert_eq!(compared(bare(a), bare(b)).verdict, Verdict::NoDifference);
}

#[test]
fn a_load_whose_threads_are_unknown_is_matched_by_what_is_in_flight() {
    let mut foreign = run(1, 64, 420.82);
    foreign.imported = Some(Imported {
        tool: "dataset".to_owned(),
        absent: absent(&["jobs.workload.threads"]),
        ..Imported::default()
    });
    let mut own = run(2, 8, 400.0);
    own.jobs[0].workload.threads = 8;
    let other = run(3, 8, 1.0);
    let record = compared(vec![foreign], vec![other, own]);
    assert_eq!((record.rows.len(), record.rows[0].b), (1, 400.0));
    let row = &record.rows[0];
    assert_eq!(
        (row.threads, row.outstanding),
        (None, Some(64)),
        "64 in all"
    );
}

#[test]
fn variants_of_a_cell_are_not_taken_for_repetitions() {
    let at = |number: u32, base: u64, iops: f64| {
        let mut record = run(number, 1, iops);
        record.jobs[0].workload.base_offset_bytes = base;
        record
    };
    let grid = |first: u32, factor: f64| {
        vec![
            at(first, 0, 100.0 * factor),
            at(first + 1, 32_256, 80.0 * factor),
        ]
    };
    let record = compared(grid(1, 1.0), grid(11, 1.5));
    let pairs: Vec<(f64, f64)> = record.rows.iter().map(|row| (row.a, row.b)).collect();
    assert_eq!(pairs, [(100.0, 150.0), (80.0, 120.0)]);
    // One of them against both: only the equal one matches.
    let record = compared(vec![at(1, 32_256, 80.0)], grid(11, 1.5));
    assert_eq!((record.rows.len(), record.rows[0].b), (1, 120.0));
}

#[test]
fn single_cells_are_compared_whatever_their_size_and_it_is_told() {
    let mut other = run(2, 1, 50.0);
    other.jobs[0].workload.block_size_bytes = 65_536;
    let record = compared(vec![run(1, 1, 100.0)], vec![other]);
    assert_eq!(record.rows[0].block_size_bytes, None);
    assert!(
        sentence_text(&record)
            .contains("the difference may be caused by the block size: 8K on a, 64K on b")
    );
    let mut write = run(3, 1, 50.0);
    write.jobs[0].workload.read_percent = 0;
    let error = compare(
        &side("a", vec![run(1, 1, 1.0)]),
        &side("b", vec![write]),
        CompareOptions::default(),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "a and b have no workload in common: random read, 8K, 1 thread of 1 against random write, 8K, 1 thread of 1"
    );
}

/// A run of another tool whose result lacks these fields.
fn silent_about(number: u32, absent: &[&str]) -> RunRecord {
    RunRecord {
        imported: Some(Imported {
            tool: "fio".to_owned(),
            absent: self::absent(absent),
            ..Imported::default()
        }),
        ..run(number, 1, 100.0)
    }
}

#[test]
fn loads_that_differ_or_that_one_side_does_not_say_are_named() {
    let rated = |mut run: RunRecord| {
        run.jobs[0].workload.rate = Some(stripewise_workload::Rate {
            iops: 500.0,
            arrivals: stripewise_workload::Arrivals::Fixed,
        });
        run
    };
    let silent = ["jobs.workload.rate", "jobs.workload.pattern"];
    for (a, b, condition) in [
        (
            rated(silent_about(1, &[])),
            silent_about(2, &[]),
            "rate: 500 IOPS on a, none on b.",
        ),
        (
            rated(silent_about(1, &[])),
            silent_about(2, &silent),
            "rate: 500 IOPS on a, unknown on b.",
        ),
        (
            silent_about(1, &silent),
            silent_about(2, &[]),
            "pattern: unknown on a, random on b.",
        ),
    ] {
        let sentence_text = sentence_text(&compared(vec![a], vec![b]));
        assert!(
            sentence_text.contains(condition),
            "{condition} is not in\n{sentence_text}"
        );
    }
    // What neither side limits needs no note.
    let sentence_text = sentence_text(&compared(
        vec![silent_about(1, &[])],
        vec![silent_about(2, &silent[..1])],
    ));
    assert!(!sentence_text.contains("rate:"), "{sentence_text}");
}

#[test]
fn other_conditions_and_void_numbers_are_told() {
    let mut b = run(2, 1, 100.0);
    b.jobs[0].target.size_bytes = 2 << 30;
    b.jobs[0].warnings.push(Warning {
        code: "page-cache".to_owned(),
        severity: Severity::Void,
        message: "the device saw 3 % of the bytes".to_owned(),
        short: String::new(),
        hint: String::new().into(),
    });
    let mut a = run(1, 1, 100.0);
    for (run, kind) in [(&mut a, "ext4"), (&mut b, "xfs")] {
        run.jobs[0].target.file_system = Some(FileSystemFacts {
            kind: kind.to_owned(),
            ..FileSystemFacts::default()
        });
    }
    let conditions = differing_conditions(&[a.clone()], &[b.clone()]);
    let names: Vec<(&str, bool)> = conditions
        .iter()
        .map(|condition| (condition.name.as_str(), condition.essential))
        .collect();
    assert_eq!(names, [("file system", true), ("size in use", true)]);
    let sentence_text = sentence_text(&compared(vec![a], vec![b]));
    for words in [
        "b: 1 of 1 run is VOID[page-cache]: the device saw 3 % of the bytes",
        "file system: ext4 on a, xfs on b.",
        "size in use: 1 GiB on a, 2 GiB on b.",
    ] {
        assert!(
            sentence_text.contains(words),
            "{words} is not in\n{sentence_text}"
        );
    }
}

#[test]
fn runs_that_were_broken_off_are_left_out() {
    let mut broken = run(3, 1, 1.0);
    broken.status = Status::Partial;
    let record = compared(
        vec![run(1, 1, 100.0), broken.clone()],
        vec![run(2, 1, 110.0)],
    );
    assert_eq!(record.rows[0].a, 100.0);
    assert!(sentence_text(&record).contains("a: 1 of 2 runs was cut short and left out."));
    let record = compared(vec![broken], vec![run(2, 1, 110.0)]);
    assert_eq!(record.rows[0].a, 1.0);
}

#[test]
fn verdicts_hold_over_the_whole_table() {
    // 40 rows of 4 against 4: the least p is 2/70, far above 0.05/40.
    let many = |first: u32, centre: f64| -> Vec<RunRecord> {
        (1..=40u32)
            .flat_map(|outstanding| {
                (0..4u32).map(move |k| {
                    let mut one = run(
                        first + k,
                        outstanding,
                        centre * (1.0 + f64::from(k) / 1_000.0),
                    );
                    one.id = format!("{}-{outstanding}", one.id);
                    one
                })
            })
            .collect()
    };
    let record = compared(many(1, 1_000.0), many(11, 1_100.0));
    assert_eq!(
        (record.rows.len(), record.verdict),
        (40, Verdict::Undecided)
    );
    assert!(
        sentence_text(&record)
            .contains("40 rows have an interval without 0, but may still be chance")
    );
}

/// A result of another tool with these IOPS, from file number `file`.
fn foreign(file: u32, iops: f64) -> RunRecord {
    let mut record = run(1, 8, iops);
    record.id = format!("sqlio-{iops}-{file}");
    record.started_at = String::new();
    record.imported = Some(Imported {
        tool: "sqlio".to_owned(),
        source: format!("copy{file}.txt"),
        ..Imported::default()
    });
    record
}

#[test]
fn copies_of_one_result_are_one_result_and_no_repetitions() {
    let copies = |iops: f64| (1..=7).map(|file| foreign(file, iops)).collect();
    let record = compared(copies(100.0), copies(110.0));
    assert_eq!(record.rows[0].interval_percent, None);
    assert_eq!(record.verdict, Verdict::Undecided);
    assert_eq!((record.a.from.len(), record.b.from.len()), (1, 1));
    let note = "a: 6 of 7 results are copies of others and are not counted.";
    assert!(
        sentence_text(&record).contains(note),
        "{}",
        sentence_text(&record)
    );
    // Results that differ in anything are repetitions, and so are runs of Stripewise.
    let different: Vec<RunRecord> = (1..=3).map(|n| foreign(n, 100.0 + f64::from(n))).collect();
    assert!(!sentence_text(&compared(different.clone(), different)).contains("cop"));
    let own = compared(vec![run(1, 8, 1.0), run(2, 8, 1.0)], vec![run(3, 8, 1.0)]);
    assert_eq!(own.a.from.len(), 2);
    assert!(
        !sentence_text(&own).contains("cop"),
        "{}",
        sentence_text(&own)
    );
}

#[test]
fn a_result_that_stands_on_both_sides_is_noted() {
    let record = compared(vec![foreign(1, 100.0)], vec![foreign(2, 100.0)]);
    assert!(
        sentence_text(&record).contains("Both sides hold the same runs"),
        "{}",
        sentence_text(&record)
    );
}

#[test]
fn why_nothing_can_be_compared_is_the_true_reason() {
    let refused = |metric: &str, a: RunRecord, b: RunRecord| {
        let options = CompareOptions {
            metric: metric.parse().unwrap(),
            ..CompareOptions::default()
        };
        let error = compare(&side("a", vec![a]), &side("b", vec![b]), options).unwrap_err();
        let hint = error.hint();
        assert!(!hint.is_empty());
        match error {
            NothingToCompare::NoValue { because, .. } => because,
            other @ NothingToCompare::NoSharedCell { .. } => panic!("{other}"),
        }
    };
    let (a, b) = (run(1, 8, 1.0), run(2, 8, 1.0));
    assert_eq!(
        refused("latency_ns_p99", a.clone(), b.clone()),
        MissingReason::Value
    );
    assert_eq!(
        refused("iops", run(1, 8, 0.0), b.clone()),
        MissingReason::Zero
    );
    let unsaid = |mut record: RunRecord| {
        record.imported = Some(Imported {
            tool: "fio".to_owned(),
            absent: absent(&["jobs.workload"]),
            ..Imported::default()
        });
        record
    };
    assert_eq!(
        refused("iops", unsaid(a), unsaid(b)),
        MissingReason::Workload
    );
}

pub(super) fn void(mut run: RunRecord) -> RunRecord {
    run.jobs[0].warnings.push(Warning {
        code: "zero-data".to_owned(),
        severity: Severity::Void,
        message: "512 of 512 sampled blocks are zeros".to_owned(),
        short: String::new(),
        hint: String::new().into(),
    });
    run
}

#[test]
fn nothing_follows_from_void_numbers_unless_that_is_asked_for() {
    let (a, b) = (six(1, 400.0), six(11, 800.0));
    let b: Vec<RunRecord> = b.into_iter().map(void).collect();
    let record = compared(a.clone(), b.clone());
    let row = &record.rows[0];
    assert_eq!(row.verdict, Verdict::Undecided);
    assert_eq!(record.verdict, Verdict::Undecided);
    assert_eq!(row.void, ["zero-data"]);
    assert_eq!((row.interval_percent, row.p_value), (None, None));
    assert!(!found(&record));
    assert!(sentence_text(&record).contains("VOID (zero-data): the numbers of this row"));
    assert!(
        !sentence_text(&record).contains("better"),
        "{}",
        sentence_text(&record)
    );
    let options = CompareOptions {
        void_counts: true,
        ..CompareOptions::default()
    };
    let requested = compare(&side("a", a), &side("b", b), options).unwrap();
    assert_eq!(requested.verdict, Verdict::Better);
    assert_eq!(requested.rows[0].void, ["zero-data"]);
}

#[test]
fn a_run_on_both_sides_says_nothing_and_a_copy_counts_once() {
    let runs = six(1, 400.0);
    let same = compared(runs.clone(), runs.clone());
    assert_eq!(same.verdict, Verdict::Undecided);
    assert!(
        sentence_text(&same)
            .contains("Both sides hold the same runs: there is nothing to compare.")
    );
    assert!(
        !sentence_text(&same).contains("No difference"),
        "{}",
        sentence_text(&same)
    );
    // A single run against itself, too.
    let one = compared(vec![run(1, 1, 400.0)], vec![run(1, 1, 400.0)]);
    assert!(sentence_text(&one).contains("Both sides hold the same runs"));
    // Some of them.
    let mut some = six(11, 400.0);
    some.push(runs[0].clone());
    let some = compared(runs.clone(), some);
    assert_eq!(some.verdict, Verdict::Undecided);
    // The same run named twice is no repetition: this is one run per side.
    let once = compared(
        vec![run(1, 1, 400.0), run(1, 1, 400.0), run(1, 1, 400.0)],
        vec![run(2, 1, 500.0)],
    );
    assert_eq!(once.a.from.len(), 1);
    assert_eq!(once.rows[0].blocks, 1);
    assert!(sentence_text(&once).contains("a: 2 of 3 results are copies of others"));
    assert!(sentence_text(&once).contains("One run on each side"));
}

#[test]
fn an_interval_that_excludes_nothing_asks_for_repetitions_and_claims_nothing() {
    let wild = [100.0, 9_000.0, 40.0, 700.0, 4_000.0, 20.0];
    let wild = |first: u32| -> Vec<RunRecord> {
        (first..)
            .zip(wild)
            .map(|(number, iops)| run(number, 1, iops))
            .collect()
    };
    let mut a = wild(1);
    let mut b = wild(11);
    // Next to a row that has a finding.
    a.extend((21..27).map(|number| run(number, 8, 400.0 + f64::from(number) / 100.0)));
    b.extend((31..37).map(|number| run(number, 8, 400.0 + f64::from(number - 10) / 100.0)));
    let record = compared(a, b);
    assert_eq!(record.rows[0].verdict, Verdict::Undecided);
    assert_eq!(record.rows[1].verdict, Verdict::NoDifference);
    let words = sentence_text(&record);
    assert!(
        words.contains("Not enough repetitions to tell in 1 row")
            && words.contains("More than 100 on each side would be needed"),
        "{words}"
    );
    let largest = words
        .split("no difference in IOPS larger than ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .and_then(|number| number.parse::<f64>().ok());
    assert!(largest.is_some_and(|percent| percent < 100.0), "{words}");
    // Fewer repetitions than required, but not hopeless.
    let few = |first: u32| -> Vec<RunRecord> {
        (first..)
            .zip([300.0, 380.0])
            .map(|(number, iops)| run(number, 1, iops))
            .collect()
    };
    let words = sentence_text(&compared(few(1), few(11)));
    assert!(
        words.contains("Not enough repetitions to tell: ") && words.contains("About "),
        "{words}"
    );
}

#[test]
fn reads_and_writes_of_a_mixed_job_have_latencies_of_their_own() {
    let mixed = |number: u32, read_ns: u64, write_ns: u64| {
        let mut run = run(number, 1, 1_000.0);
        run.jobs[0].workload.read_percent = 70;
        let latency = |p99: u64| {
            Some(stripewise_results::LatencySummary {
                p99,
                ..Default::default()
            })
        };
        let noise = u64::from(number % 10);
        run.jobs[0].outcome.read.latency_ns = latency(read_ns + noise);
        run.jobs[0].outcome.write.latency_ns = latency(write_ns + noise);
        run
    };
    let a: Vec<RunRecord> = (1..7).map(|n| mixed(n, 1_000_000, 2_000_000)).collect();
    let b: Vec<RunRecord> = (11..17).map(|n| mixed(n, 1_000_000, 9_000_000)).collect();
    let options = CompareOptions {
        metric: Metric::LatencyP99,
        ..CompareOptions::default()
    };
    let record = compare(&side("a", a.clone()), &side("b", b.clone()), options).unwrap();
    let rows: Vec<(&str, Verdict)> = record
        .rows
        .iter()
        .map(|row| (row.operation.as_str(), row.verdict))
        .collect();
    assert_eq!(
        rows,
        [
            ("70 % read: reads", Verdict::NoDifference),
            ("70 % read: writes", Verdict::Worse)
        ]
    );
    assert!(sentence_text(&record).contains(") higher p99 latency (random 70 % read: writes"));
    // Both have the same required rate.
    let rates = compared(a, b);
    assert_eq!(rates.rows.len(), 1);
    assert_eq!(rates.rows[0].operation, "70 % read");
}
