//! Experiments on storage defined by formulas: which runs are made, when they end, and the
//! resulting text. Simulated arrays show whether it is true (`cargo xtask truth`).

use super::*;
use stripewise_results::{
    ComparisonRecord, JobOutcome, JobRecord, KindOutcome, LatencySummary, RunRecord, Status,
    Verdict,
};
use stripewise_stats::Random;
use stripewise_workload::{CursorKind, Pattern, Workload};

const SECOND: u64 = 1_000_000_000;

fn cell(read_percent: u8, threads: u32, pattern: Option<Pattern>) -> Cell {
    let workload = Workload::default();
    Cell {
        name: format!("{threads} threads"),
        workload: Workload {
            read_percent,
            threads,
            pattern: pattern.unwrap_or(workload.pattern),
            duration_ns: 9 * SECOND,
            ramp_ns: SECOND,
            size_bytes: Some(1 << 30),
            ..workload
        },
    }
}

fn sequential() -> Option<Pattern> {
    Some(Pattern::Sequential {
        cursor: CursorKind::Shared,
    })
}

fn plan(levels: &[(&str, u64)], cells: Vec<Cell>) -> ExperimentPlan {
    let levels = levels
        .iter()
        .map(|(name, bytes)| Level::offset(*name, *bytes));
    ExperimentPlan::new("partition offset", levels.collect(), cells)
}

fn old_and_new(cells: Vec<Cell>) -> ExperimentPlan {
    plan(&[("31.5K", 63 * 512), ("1M", 1 << 20)], cells)
}

/// Storage whose rate is a formula of level, cell and time, times noise.
struct Formula<F> {
    rate: F,
    noise: f64,
    elapsed_ns: u64,
    records: Vec<RunRecord>,
    /// Runs after which it is interrupted (a status), fails (an error) or is stopped.
    breaks_off: Option<usize>,
    fails: Option<usize>,
    stops_after_blocks: Option<usize>,
}

impl<F: Fn(&PlannedRun, f64) -> f64> Formula<F> {
    fn new(rate: F) -> Self {
        Formula {
            rate,
            noise: 0.005,
            elapsed_ns: 0,
            records: Vec::new(),
            breaks_off: None,
            fails: None,
            stops_after_blocks: None,
        }
    }
}

impl<F: Fn(&PlannedRun, f64) -> f64> ExperimentRunner for Formula<F> {
    type Error = &'static str;

    fn run_cell(&mut self, run: &PlannedRun) -> Result<RunRecord, &'static str> {
        if self.fails == Some(self.records.len()) {
            return Err("the disk is gone");
        }
        let noise = self.noise * Random::new(run.workload.seed).normal();
        let hours = self.elapsed_ns as f64 / 3.6e12;
        let iops = (self.rate)(run, hours) * noise.exp();
        self.elapsed_ns += run.workload.ramp_ns + run.workload.duration_ns;
        let mut record = record(run, iops);
        record.id = format!("run-{:04}", self.records.len());
        if self.breaks_off == Some(self.records.len()) {
            record.status = Status::Partial;
        }
        self.records.push(record.clone());
        Ok(record)
    }

    fn elapsed_ns(&self) -> u64 {
        self.elapsed_ns
    }

    fn after_block(&mut self, progress: &Progress<'_>) -> Result<Continuation, &'static str> {
        let stop = self.stops_after_blocks == Some(progress.blocks.len());
        Ok(if stop {
            Continuation::Stop
        } else {
            Continuation::On
        })
    }
}

fn record(run: &PlannedRun, iops: f64) -> RunRecord {
    let mut record = RunRecord {
        experiment: Some(run.place.clone()),
        ..RunRecord::empty()
    };
    record.jobs.push(JobRecord {
        name: "job".to_owned(),
        workload: run.workload.clone(),
        outcome: JobOutcome {
            iops,
            read: KindOutcome {
                latency_ns: Some(LatencySummary {
                    mean: 1e9 / iops,
                    ..no_latency()
                }),
                ..KindOutcome::default()
            },
            ..JobOutcome::default()
        },
        ..JobRecord::default()
    });
    record
}

fn no_latency() -> LatencySummary {
    LatencySummary {
        min: 1,
        mean: 1.0,
        p50: 1,
        p90: 1,
        p95: None,
        p99: 1,
        p999: None,
        max: 1,
    }
}

fn run_all<F: Fn(&PlannedRun, f64) -> f64>(
    plan: &ExperimentPlan,
    runner: &mut Formula<F>,
) -> Experiment {
    conduct(plan, "e", Vec::new(), runner).expect("no run fails")
}

#[test]
fn a_block_has_every_level_with_every_cell_once_and_every_run_its_own_seed() {
    let plan = old_and_new(vec![
        cell(100, 1, None),
        cell(0, 8, None),
        cell(0, 64, None),
    ]);
    let mut seeds = Vec::new();
    let mut orders = Vec::new();
    for block in 0..20 {
        let runs = schedule(&plan, "e", block);
        assert_eq!(runs, schedule(&plan, "e", block), "reproducible");
        let mut pairs: Vec<(usize, usize)> = runs.iter().map(|run| (run.level, run.cell)).collect();
        // The two runs that are compared are consecutive.
        assert!(pairs.chunks(2).all(|two| two[0].1 == two[1].1));
        orders.push(pairs.clone());
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(pairs.len(), 6);
        for (position, run) in runs.iter().enumerate() {
            assert_eq!(run.place.position as usize, position);
            assert_eq!(run.place.level, plan.levels[run.level].name);
            seeds.push(run.workload.seed);
        }
    }
    let count = seeds.len();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), count, "no seed twice");
    assert!(orders.windows(2).any(|two| two[0] != two[1]));
    let first_is_baseline = orders.iter().filter(|order| order[0].0 == 0).count();
    assert!((4..=16).contains(&first_is_baseline), "{first_is_baseline}");
}

#[test]
fn it_stops_when_intervals_are_narrow_and_not_before_ten_blocks() {
    let plan = old_and_new(vec![cell(100, 1, None)]);
    let quiet = run_all(&plan, &mut Formula::new(|_, _| 1_000.0));
    assert_eq!(
        (quiet.ended, quiet.blocks.len()),
        (Some(Ended::Precise), 10)
    );
    let mut noisy = Formula::new(|_, _| 1_000.0);
    noisy.noise = 0.02;
    let noisy = run_all(&plan, &mut noisy);
    assert_eq!(noisy.ended, Some(Ended::Precise));
    assert!(
        (20..100).contains(&noisy.blocks.len()),
        "{}",
        noisy.blocks.len()
    );
    assert!(precise(&plan, &noisy.blocks));
    assert!(!precise(&plan, &noisy.blocks[..noisy.blocks.len() - 1]));
}

#[test]
fn time_and_number_of_blocks_end_it_too() {
    let mut plan = old_and_new(vec![cell(100, 1, None)]);
    plan.precision_percent = 0.001;
    plan.blocks_max = 15;
    let by_number = run_all(&plan, &mut Formula::new(|_, _| 1_000.0));
    assert_eq!(
        (by_number.ended, by_number.blocks.len()),
        (Some(Ended::BlocksMax), 15)
    );
    // A block takes 20 s: four fit, a fifth does not.
    plan.time_budget_ns = Some(95 * SECOND);
    let by_time = run_all(&plan, &mut Formula::new(|_, _| 1_000.0));
    assert_eq!(
        (by_time.ended, by_time.blocks.len()),
        (Some(Ended::TimeSpent), 4)
    );
    let table = &analyse(&by_time, &LayoutFacts::default())[0];
    assert_eq!(table.verdict, Verdict::Undecided);
    assert_eq!(table.rows[0].interval_percent, None);
    assert_eq!(
        table.sentences,
        [
            "There is no verdict on random reads yet: a verdict on one row needs 6 blocks, and there are only 4."
        ]
    );
}

#[test]
fn what_was_interrupted_goes_on_where_it_was_and_repeats_no_finished_block() {
    let mut plan = old_and_new(vec![cell(100, 1, None), cell(0, 1, None)]);
    plan.precision_percent = 0.01;
    plan.blocks_max = 12;
    let rate = |run: &PlannedRun, _: f64| 1_000.0 + 100.0 * run.cell as f64;
    let whole = run_all(&plan, &mut Formula::new(rate));

    let mut first = Formula::new(rate);
    first.fails = Some(4 * 5 + 2);
    let (partial, error) = *conduct(&plan, "e", Vec::new(), &mut first).expect_err("it fails");
    assert_eq!(
        (partial.ended, error),
        (Some(Ended::Failed), "the disk is gone")
    );
    assert_eq!(partial.blocks.len(), 5);

    // Contents of a store: five blocks and half of the sixth.
    let (blocks, unused) = blocks_of(&plan, &first.records);
    assert_eq!(blocks, partial.blocks);
    assert_eq!(unused, ["run-0020", "run-0021"]);

    let mut second = Formula::new(rate);
    let resumed = conduct(&plan, "e", blocks, &mut second).expect("the rest runs");
    assert_eq!(second.records.len(), 4 * 7, "seven blocks were left");
    let values = |experiment: &Experiment| -> Vec<Vec<Option<f64>>> {
        let of_block = |block: &Block| block.runs.iter().map(|run| run.value).collect();
        experiment.blocks.iter().map(of_block).collect()
    };
    assert_eq!(
        values(&resumed),
        values(&whole),
        "as if nothing had happened"
    );
    let all: Vec<RunRecord> = first
        .records
        .iter()
        .chain(&second.records)
        .cloned()
        .collect();
    assert_eq!(blocks_of(&plan, &all).0.len(), 12);
    // Nothing remains to be done: no run is made.
    let mut third = Formula::new(rate);
    let done = conduct(&plan, "e", resumed.blocks, &mut third).expect("nothing runs");
    assert_eq!(
        (done.ended, third.records.len()),
        (Some(Ended::BlocksMax), 0)
    );
}

#[test]
fn a_run_that_breaks_off_ends_it_and_its_block_does_not_count() {
    let plan = old_and_new(vec![cell(100, 1, None)]);
    let mut runner = Formula::new(|_, _| 1_000.0);
    runner.breaks_off = Some(7);
    let broken = run_all(&plan, &mut runner);
    assert_eq!(
        (broken.ended, broken.blocks.len()),
        (Some(Ended::BrokenOff), 3)
    );
    let (blocks, unused) = blocks_of(&plan, &runner.records);
    assert_eq!((blocks.len(), unused.len()), (3, 2));
    assert!(!Ended::BrokenOff.finished());
    let mut runner = Formula::new(|_, _| 1_000.0);
    runner.stops_after_blocks = Some(4);
    let stopped = run_all(&plan, &mut runner);
    assert_eq!(
        (stopped.ended, stopped.blocks.len()),
        (Some(Ended::Interrupted), 4)
    );
}

#[test]
fn a_plan_survives_the_store() {
    let mut plan = old_and_new(vec![cell(70, 8, None)]);
    plan.metric = Metric::LatencyP99;
    plan.time_budget_ns = Some(7);
    let text = serde_json::to_string(&plan).expect("a plan is JSON");
    assert_eq!(
        serde_json::from_str::<ExperimentPlan>(&text).expect("it reads back"),
        plan
    );
}

#[test]
fn plans_that_cannot_work_are_refused_with_a_hint() {
    let good = old_and_new(vec![cell(100, 1, None)]);
    assert_eq!(good.check(), Ok(()));
    let broken: [fn(&mut ExperimentPlan); 8] = [
        |plan| plan.levels.truncate(1),
        |plan| plan.cells.clear(),
        |plan| plan.levels[1].name = "31.5K".to_owned(),
        |plan| plan.baseline = 2,
        |plan| plan.primary = Some(1),
        |plan| plan.precision_percent = 0.0,
        |plan| plan.blocks_min = 5,
        |plan| plan.cells[0].workload.size_bytes = None,
    ];
    for (number, break_it) in broken.iter().enumerate() {
        let mut plan = good.clone();
        break_it(&mut plan);
        let problem = plan.check().expect_err("it is broken");
        assert!(!problem.hint().is_empty(), "{number}: {problem}");
    }
}

#[test]
fn the_plan_tells_what_a_verdict_takes() {
    for (rows, blocks) in [(1, 6), (36, 11), (108, 13)] {
        assert_eq!(blocks_for_verdict(rows, 0.95), blocks, "{rows} rows");
    }
    let mut plan = old_and_new(vec![cell(100, 1, None), cell(100, 8, None)]);
    plan.time_budget_ns = Some(100 * SECOND);
    let needs = needs(&plan, 0);
    assert_eq!((needs.rows, needs.runs_per_block), (2, 4));
    assert_eq!((needs.block_ns, needs.blocks_max), (40 * SECOND, 2));
    assert!(!needs.verdict_possible);
    assert_eq!(
        needs.sentences,
        [
            "2 rows: 2 levels of partition offset with 2 workloads, in random order within each block.",
            "Primary hypothesis: IOPS of 1 threads differ between 31.5K and 1M.",
            "A block is 4 runs and takes 40 s; a verdict needs 7 blocks, 4 m 40 s.",
            "It stops when every interval is narrower than 2 %, after 2 blocks (1 m 20 s) at the earliest and 2 blocks (1 m 20 s) at the latest.",
            "No verdict is possible in this time: 2 blocks are too few for 2 rows. Give it 4 m 40 s, shorter runs or fewer rows.",
        ]
    );
}

/// The layout of an array of four disks with a 64K unit.
fn striped() -> LayoutFacts {
    LayoutFacts {
        subject: "this array".to_owned(),
        start_bytes: Some(0),
        stripe_unit_bytes: Some(64 << 10),
        parity: Some(false),
        physical_sector_bytes: Some(512),
    }
}

fn aligned(run: &PlannedRun) -> bool {
    run.workload.base_offset_bytes.is_multiple_of(64 << 10)
}

fn random(run: &PlannedRun) -> bool {
    matches!(run.workload.pattern, Pattern::Random { .. })
}

#[test]
fn a_manager_is_told_cost_cause_and_advice() {
    let cells = vec![cell(0, 1, None), cell(0, 8, None), cell(0, 8, sequential())];
    let plan = old_and_new(cells);
    let experiment = run_all(
        &plan,
        &mut Formula::new(|run, _| {
            if aligned(run) && random(run) {
                1_122.0
            } else {
                1_000.0
            }
        }),
    );
    let table = &analyse(&experiment, &striped())[0];
    assert_eq!(table.verdict, Verdict::Better);
    let verdicts: Vec<Verdict> = table.rows.iter().map(|row| row.verdict).collect();
    assert_eq!(
        verdicts,
        [Verdict::Better, Verdict::Better, Verdict::NoDifference]
    );
    assert_eq!(table.rows[0].blocks, 10);
    let sentence_text = table.sentences.join("\n");
    let cost = sentence_text
        .strip_prefix("Starting at 31.5K (63 sectors) instead of 1M costs this array ")
        .and_then(|rest| rest.split_once(" % ("))
        .map(|(cost, _)| cost.parse::<f64>().expect("a number"))
        .expect("the cost comes first");
    // 1,000 of 1,122: A's deficit in per cent of B.
    assert!((cost - 10.9).abs() < 0.5, "{cost}");
    assert!(
        sentence_text.contains(
            "%) of its random-write IOPS (mean of 8K 1x1 to 8K 8x1) because 1 in 8 operations touches two disks.\nWorth it when you build a volume: let it start at 1M. Moving an existing one gains at most 13."
        ),
        "{sentence_text}"
    );
    assert!(
        sentence_text.contains("No difference larger than ")
            && sentence_text
                .contains(" in IOPS between 31.5K and 1M was found for sequential writes."),
        "{sentence_text}"
    );
    assert_eq!(table.groups.len(), 2);
    assert!((table.groups[0].difference_percent_mean - 12.2).abs() < 0.6);
    assert!(
        table
            .notes
            .iter()
            .any(|note| note.contains("3 tests (Holm)")),
        "{:?}",
        table.notes
    );
}

fn sentences_of(
    plan: &ExperimentPlan,
    facts: &LayoutFacts,
    rate: fn(&PlannedRun) -> f64,
) -> Vec<ComparisonRecord> {
    let experiment = run_all(plan, &mut Formula::new(move |run, _| rate(run)));
    analyse(&experiment, facts)
}

#[test]
fn a_third_offset_tells_split_pages_from_crossed_units() {
    let levels = [("63s", 63 * 512), ("1M", 1 << 20), ("36K", 36 << 10)];
    let plan = plan(&levels, vec![cell(0, 8, None)]);
    let parity = LayoutFacts {
        parity: Some(true),
        ..striped()
    };
    // RAID 5 writes: 63s splits pages, 36K does not.
    let pages = sentences_of(&plan, &parity, |run| match run.workload.base_offset_bytes {
        32_256 => 100.0,
        36_864 => 273.0,
        _ => 298.0,
    });
    assert!(
        pages[0].sentences[0].contains("because every write splits pages of parity (4 KiB)"),
        "{:?}",
        pages[0].sentences
    );
    // It is there for the cause: no one would start there instead of at 1M.
    assert!(
        pages[0].sentences[1].starts_with("Worth it when you build a volume: let it start at 1M")
    );
    assert!(
        pages[1].verdict == Verdict::Better
            && pages[1]
                .sentences
                .iter()
                .all(|sentence_text| !sentence_text.contains("let it start")),
        "{:?}",
        pages[1].sentences
    );
    // A mirror: both cross equally.
    let crossing = sentences_of(&plan, &striped(), |run| {
        if aligned(run) { 1_110.0 } else { 1_000.0 }
    });
    assert!(crossing[0].sentences[0].contains("because 1 in 8 operations touches two disks"));
    assert_eq!(crossing[1].verdict, Verdict::NoDifference);
    // The layout is unknown: the third offset still shows the cause.
    let nothing_known = LayoutFacts::default();
    for (rate_at_36k, clause) in [
        (
            100.0,
            "because operations cross from one stripe unit into the next",
        ),
        (
            110.0,
            "because operations off the 4 KiB grid split pages or sectors",
        ),
    ] {
        let mut runner =
            Formula::new(
                move |run: &PlannedRun, _: f64| match run.workload.base_offset_bytes {
                    32_256 => 100.0,
                    36_864 => rate_at_36k,
                    _ => 110.0,
                },
            );
        let tables = analyse(&run_all(&plan, &mut runner), &nothing_known);
        assert!(
            tables[0].sentences[0].contains(clause),
            "{:?}",
            tables[0].sentences
        );
    }
}

#[test]
fn each_size_of_block_has_its_own_cause() {
    let of = |threads, block_size_bytes| {
        let mut cell = cell(100, threads, None);
        cell.workload.block_size_bytes = block_size_bytes;
        cell
    };
    let plan = old_and_new(vec![of(1, 8 << 10), of(8, 64 << 10)]);
    let tables = sentences_of(&plan, &striped(), |run| {
        match (aligned(run), run.workload.block_size_bytes) {
            (false, _) => 1_000.0,
            (true, 8_192) => 1_110.0,
            (true, _) => 1_800.0,
        }
    });
    assert!(
        tables[0].sentences[0].contains(
            "(mean of 8K 1x1 to 64K 8x1) because with 8K blocks 1 in 8 operations touches two disks, and with 64K blocks every operation touches one disk more."
        ),
        "{:?}",
        tables[0].sentences
    );
}

#[test]
fn no_cause_is_claimed_that_is_not_known_or_that_the_data_contradict() {
    let plan = old_and_new(vec![cell(100, 1, None)]);
    let by_half = |run: &PlannedRun| if aligned(run) { 1_470.0 } else { 1_000.0 };
    let too_much = sentences_of(&plan, &striped(), by_half);
    assert!(!too_much[0].sentences[0].contains("because"));
    assert!(
        too_much[0].sentences[1]
            .starts_with("Operations that touch two disks explain a gain of at most 12.5 %"),
        "{:?}",
        too_much[0].sentences
    );
    let unknown = sentences_of(&plan, &LayoutFacts::default(), by_half);
    assert!(
        unknown[0].sentences[1].starts_with(
            "The cause is not known, because the stripe unit is not: a third offset of 36K"
        ),
        "{:?}",
        unknown[0].sentences
    );
    let opposite = sentences_of(&plan, &striped(), |run| {
        if aligned(run) { 900.0 } else { 1_000.0 }
    });
    assert_eq!(opposite[0].verdict, Verdict::Worse);
    let sentence_text = opposite[0].sentences.join("\n");
    assert!(
        sentence_text.starts_with("Starting at 1M instead of 31.5K costs this array 9."),
        "{sentence_text}"
    );
    assert!(
        sentence_text.contains("predicts the opposite"),
        "{sentence_text}"
    );
    assert!(
        sentence_text.contains("Stay with 31.5K: 1M is slower."),
        "{sentence_text}"
    );
}

#[test]
fn drift_of_the_baseline_is_told_and_not_taken_for_a_difference() {
    let mut plan = old_and_new(vec![cell(100, 1, None)]);
    plan.blocks_max = 20;
    plan.precision_percent = 0.01;
    // 400 s at -27 % an hour: 3 %.
    let drifting = run_all(
        &plan,
        &mut Formula::new(|_, hours| 1_000.0 * (1.0 - 0.27 * hours)),
    );
    let table = &analyse(&drifting, &LayoutFacts::default())[0];
    assert_eq!(table.verdict, Verdict::NoDifference);
    let drift = table.drift.expect("20 blocks have a trend");
    assert!(
        drift.found && (drift.percent + 2.9).abs() < 1.0,
        "{drift:?}"
    );
    assert!(
        table
            .notes
            .iter()
            .any(|note| note.contains("IOPS with 31.5K changed by -"))
    );
    let steady = run_all(&plan, &mut Formula::new(|_, _| 1_000.0));
    let drift = drift_of(&plan, &steady.blocks).expect("a trend");
    assert!(!drift.found, "{drift:?}");
}

#[test]
fn latency_and_other_factors_have_words_of_their_own() {
    let levels = vec![Level::target("4 disks", "a"), Level::target("6 disks", "b")];
    let plan = ExperimentPlan::new("number of disks", levels, vec![cell(100, 1, None)]);
    let faster = sentences_of(&plan, &LayoutFacts::default(), |run| {
        [1_000.0, 1_200.0][run.level]
    });
    let sentence_text = &faster[0].sentences[0];
    assert!(
        sentence_text.starts_with("6 disks gives 20.")
            || sentence_text.starts_with("6 disks gives 19."),
        "{sentence_text}"
    );
    assert!(
        sentence_text.ends_with("more random-read IOPS than 4 disks."),
        "{sentence_text}"
    );
    assert_eq!(faster[0].sentences.len(), 1);
}

#[test]
fn a_shorter_latency_is_better() {
    let mut plan = old_and_new(vec![cell(100, 1, None)]);
    plan.metric = Metric::LatencyMean;
    let rate = |run: &PlannedRun| if aligned(run) { 1_100.0 } else { 1_000.0 };
    let table = sentences_of(&plan, &striped(), rate).remove(0);
    assert_eq!(table.rows[0].verdict, Verdict::Better);
    assert!(table.rows[0].difference_percent < -8.0);
    let sentence_text = &table.sentences[0];
    assert!(
        sentence_text.starts_with(
            "Starting at 31.5K (63 sectors) instead of 1M makes the mean latency of random reads on this array "
        ),
        "{sentence_text}"
    );
    assert!(
        sentence_text.ends_with("longer (8K 1x1) because 1 in 8 operations touches two disks."),
        "{sentence_text}"
    );
    // Percentiles do not follow the law: no cause, and a note on what is missing.
    plan.metric = Metric::LatencyP999;
    let table = sentences_of(&plan, &striped(), rate).remove(0);
    assert_eq!(table.verdict, Verdict::Undecided);
    assert!(
        table
            .notes
            .iter()
            .any(|note| note.contains("blocks have no p99.9 latency (it needs")),
        "{:?}",
        table.notes
    );
}

#[test]
fn a_mean_that_holds_zero_is_not_told_as_a_cost() {
    // One thread gains in every block; eight threads vary with the blocks.
    let mut plan = old_and_new(vec![cell(100, 1, None), cell(100, 8, None)]);
    plan.blocks_max = 12;
    let rate = |run: &PlannedRun| match (aligned(run), run.cell) {
        (true, 0) => 1_060.0,
        (true, _) if run.place.block.is_multiple_of(2) => 1_500.0,
        (true, _) => 700.0,
        (false, _) => 1_000.0,
    };
    let table = sentences_of(&plan, &striped(), rate).remove(0);
    assert_eq!(table.rows[0].verdict, Verdict::Better);
    assert_ne!(table.rows[1].verdict, Verdict::Better);
    let sentence_text = table.sentences.join("\n");
    assert!(
        sentence_text
            .starts_with("Starting at 31.5K (63 sectors) instead of 1M costs this array 5."),
        "{sentence_text}"
    );
    assert!(
        sentence_text.contains("%) of its random-read IOPS in the row 1 threads"),
        "{sentence_text}"
    );
    assert!(
        sentence_text.contains(
            "Over all 2 rows of random reads the mean does not show it: it lies between -"
        ),
        "{sentence_text}"
    );
    assert!(
        !sentence_text.contains("This is the mean"),
        "{sentence_text}"
    );
}

#[test]
fn verdicts_of_many_rows_are_corrected_together() {
    // Eleven blocks find an effect among 36 rows; ten could not.
    let cells: Vec<Cell> = (1..=36).map(|threads| cell(100, threads, None)).collect();
    let mut plan = old_and_new(cells);
    plan.precision_percent = 0.01;
    for (blocks, verdict, others) in [
        (10, Verdict::Undecided, Verdict::Undecided),
        (11, Verdict::Better, Verdict::NoDifference),
    ] {
        plan.blocks_max = blocks;
        let mut runner = Formula::new(|run: &PlannedRun, _: f64| {
            if run.cell == 3 && run.level == 1 {
                1_100.0
            } else {
                1_000.0
            }
        });
        let table = analyse(&run_all(&plan, &mut runner), &LayoutFacts::default()).remove(0);
        assert_eq!(table.rows[3].verdict, verdict);
        assert_eq!(table.verdict, verdict);
        assert!(
            table
                .rows
                .iter()
                .enumerate()
                .all(|(row, of)| row == 3 || of.verdict == others)
        );
        assert!(
            table.rows[3].interval_percent.is_some(),
            "each interval by itself is there"
        );
    }
}
