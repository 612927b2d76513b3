//! Experiments on arrays with known truth: correct verdicts, and runs where a
//! partition of their level would begin.

use crate::support::Desk;
use stripewise_campaign::align::{AlignOptions, DesignOptions, Operations, align};
use stripewise_campaign::lab;
use stripewise_campaign::steps::answer::Answer;
use stripewise_campaign::steps::experiment::start::ExperimentOptions;
use stripewise_campaign::steps::sessions::LabSession;
use stripewise_campaign::{Context, Permissions};
use stripewise_results::Verdict;

const MIB: u64 = 1 << 20;

/// Aligns in this context, which must succeed; returns the answer.
#[track_caller]
fn aligned(context: &Context, options: &AlignOptions) -> Answer {
    let mut store = context.open_store().expect("a store");
    let session = align(context, &mut store, options, &Permissions::default()).expect("it begins");
    session.ended.expect("it ends well");
    session.answer.expect("an answer")
}

fn options_for(target: &str, design: DesignOptions, step_ns: Option<u64>) -> AlignOptions {
    AlignOptions {
        target: target.to_owned(),
        design,
        measuring: ExperimentOptions {
            step_ns,
            ..ExperimentOptions::default()
        },
        ..AlignOptions::default()
    }
}

fn verdicts(answer: &Answer) -> Vec<Verdict> {
    let rows = answer.comparisons[0].rows.iter();
    rows.map(|row| row.verdict).collect()
}

#[test]
fn a_misaligned_array_is_found_out_and_an_aligned_one_is_not() {
    let row = DesignOptions {
        threads: vec![8],
        operations: Operations::Writes,
        ..DesignOptions::default()
    };
    let of = |target: &str| {
        let desk = Desk::new();
        aligned(&desk.context(), &options_for(target, row.clone(), None))
    };
    let found = of("sim:raid10-10k?offset=63s");
    assert_eq!(verdicts(&found), [Verdict::Better]);
    let row_of = &found.comparisons[0].rows[0];
    let estimate = row_of.estimate_percent.expect("an estimate");
    // 1 in 8 operations crosses a unit of 64K: at most 12.5 %.
    assert!((8.0..13.0).contains(&estimate), "{estimate}");
    let place = found.stored.place.as_ref().expect("a place");
    assert_eq!(place.start_bytes, Some(32_256));
    let nothing = of("sim:raid10-10k?offset=64K");
    assert_eq!(verdicts(&nothing), [Verdict::NoDifference]);
    assert_eq!(nothing.comparisons[0].a.name, "64K");
}

#[test]
fn runs_begin_where_a_partition_of_their_level_would() {
    let design = DesignOptions {
        threads: vec![1],
        operations: Operations::Reads,
        cause: true,
        ..DesignOptions::default()
    };
    for target in ["sim:raid10-10k?offset=63s", "sim:raid10-10k?offset=1M"] {
        let desk = Desk::new();
        let step_ns = Some(100_000_000);
        let answer = aligned(
            &desk.context(),
            &options_for(target, design.clone(), step_ns),
        );
        let moved = answer.stored.place.as_ref().expect("a place").moved_bytes;
        assert!(moved.is_multiple_of(MIB));
        let runs: usize = answer.blocks.iter().map(|block| block.runs.len()).sum();
        assert_eq!((answer.records.len(), runs > 0), (runs, true));
        for record in &answer.records {
            let level = &record.experiment.as_ref().expect("a place").level;
            let offset = match level.as_str() {
                "31.5K" => 32_256,
                "36K" => 36_864,
                "1M" => MIB,
                other => panic!("{other} is no level"),
            };
            let job = &record.jobs[0];
            let start = job.target.partition_offset_bytes.expect("an offset");
            let begin = start + job.workload.base_offset_bytes;
            assert_eq!(begin, offset + moved, "{target}, {level}");
        }
    }
}

#[test]
fn other_factors_than_the_offset_are_compared() {
    let desk = Desk::new();
    let plan = "target = \"sim:disk-7k2\"\nfactor = \"block\"\nlevels = [\"8K\", \"64K\"]\n\
         metric = \"mib_per_s\"\nblocks = 10\n[[cell]]\nname = \"reads\"\nduration = \"5s\"\n";
    let file = plan.parse().expect("a plan");
    let (options, permissions) = (ExperimentOptions::default(), Permissions::default());
    let session = lab::run(&desk.context(), file, &options, &permissions).expect("it begins");
    let document = match session {
        LabSession::OneFactor(session) => session.answer.expect("an answer"),
        _ => panic!("several factors"),
    };
    let row = &document.comparisons[0].rows[0];
    assert_eq!(row.metric, "mib_per_s");
    assert_eq!(row.verdict, Verdict::Better);
    assert_eq!(row.block_size_bytes, None, "it is what differs");
}

/// A stream of 1 MiB blocks is slow: the pilot's runs, which determine its duration,
/// are longer than the maximum interval.
#[test]
fn a_slow_stream_is_piloted_beyond_the_longest_interval() {
    let desk = Desk::new();
    let plan = "target = \"sim:disk-7k2\"\nfactor = \"block\"\nlevels = [\"1M\", \"2M\"]\n\
         metric = \"mib_per_s\"\nblocks = 10\n[[cell]]\nname = \"stream\"\nsequential = true\n";
    let file = plan.parse().expect("a plan");
    let (options, permissions) = (ExperimentOptions::default(), Permissions::default());
    let session = lab::run(&desk.context(), file, &options, &permissions).expect("it begins");
    let LabSession::OneFactor(session) = session else {
        panic!("several factors");
    };
    session.ended.expect("it ends well");
    let answer = session.answer.expect("an answer");
    let longest_ns = answer
        .records
        .iter()
        .map(|run| run.jobs[0].workload.duration_ns);
    let longest_ns = longest_ns.max().expect("a run");
    assert!(longest_ns > 10_000_000_000, "{longest_ns}");
}
