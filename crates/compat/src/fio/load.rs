//! The workload of a fio job, from its options over the global ones and fio's defaults, checked
//! against what it did.
//!
//! Options can be misleading: with `group_reporting` one job of a group represents all, whatever
//! the others do. Options that contradict the counts are dropped.

use super::option_names::{Conversion, fate, is_neutral};
use super::options::{Options, cache, rate, size, think};
use crate::absent::{Absent, fill};
use stripewise_results::{JobOutcome, KindOutcome};
use stripewise_workload::{CursorKind, Distribution, Pattern, SyncCall, SyncPolicy, Workload};

/// Most threads of one group, as for the other tools.
const COUNT_MAX: u32 = 65_535;

/// Engines with one operation in flight, whatever `iodepth` is.
const ONE_IN_FLIGHT: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];

/// The workload; `doubts` receives contradictions between options and counts.
pub(super) fn workload(
    options: &Options,
    alone: bool,
    outcome: &JobOutcome,
    absent: &mut Absent,
    doubts: &mut Vec<String>,
) -> Workload {
    let mut workload = Workload::default();
    // Without options (versions before 2.12 print none, and later ones can omit them) only the
    // counts are known.
    if options.all.is_empty() {
        fill!(absent, workload.read_percent, only_kind(outcome));
        return workload;
    }
    if does_other_things(options, outcome) {
        doubts.push(
            "it read or wrote although its options say otherwise; what it did is not known"
                .to_owned(),
        );
    } else if mixes_otherwise(options, outcome) {
        doubts.push("its share of reads is not that of its options, so it stands for several jobs of a group; what they did is not given".to_owned());
    } else {
        what(options, outcome, &mut workload, absent, doubts);
    }
    how_many(options, alone, outcome, &mut workload, absent, doubts);
    let size_bytes = options.get("size").and_then(size);
    fill!(absent, workload.duration_ns, options.time_ns("runtime"));
    fill!(absent, workload.ramp_ns, options.time_ns("ramp_time"));
    fill!(absent, workload.size_bytes, size_bytes.map(Some));
    // An option absent from a header may still have been set.
    if options.of_header {
        return workload;
    }
    let offset_bytes = options.get("offset").map_or(Some(0), size);
    fill!(absent, workload.base_offset_bytes, offset_bytes);
    workload.cache = cache(options);
    absent.give("jobs.workload.cache");
    pace(options, alone, &mut workload, absent, doubts);
    if let Some(doubt) = without_field(options) {
        doubts.push(doubt);
    }
    workload
}

/// Rate, pauses and syncs: what limits the rate apart from the disk.
fn pace(
    options: &Options,
    alone: bool,
    workload: &mut Workload,
    absent: &mut Absent,
    doubts: &mut Vec<String>,
) {
    let processes = match alone {
        true => options.count("numjobs").unwrap_or(1),
        false => 1,
    };
    match rate(options, options.block_size(), processes) {
        Ok(rate) => {
            workload.rate = rate;
            absent.give("jobs.workload.rate");
            if rate.is_some() {
                doubts.push("its rate only slows it down: its operations wait for each other, and latencies do not count that wait, as those of an open loop do".to_owned());
            }
        }
        Err(why) => doubts.push(format!(
            "{why}, which a record cannot express: its rate is absent"
        )),
    }
    let depth = depth(options).map(u64::from);
    match think(options, depth.unwrap_or(2)) {
        Ok(pause) => {
            workload.think_time = pause;
            absent.give("jobs.workload.think_time");
        }
        Err(why) => doubts.push(format!("it {why}; its think time is absent")),
    }
    let syncs = ["fdatasync", "fsync"].map(|name| options.count(name).filter(|every| *every > 0));
    let otherwise = ["sync_file_range", "end_fsync", "fsync_on_close"];
    let otherwise = otherwise.iter().find(|name| options.is_on(name));
    match (syncs, otherwise) {
        ([Some(_), Some(_)], _) => {
            doubts.push("it syncs in two ways; its syncs are absent".to_owned());
        }
        (_, Some(name)) => doubts.push(format!(
            "it has {name}, which a record cannot express: its syncs are absent"
        )),
        ([data, all], None) => {
            let all = all.map(|every| SyncPolicy {
                every,
                call: SyncCall::Fsync,
            });
            workload.sync = data.map(SyncPolicy::fdatasync).or(all);
            absent.give("jobs.workload.sync");
        }
    }
}

/// Options that records have no field for and that may change the load.
fn without_field(options: &Options) -> Option<String> {
    // A rate that cannot be represented is noted; the others affect the result of pace().
    const RATE_OPTIONS: [&str; 3] = ["rate", "sync_file_range", "rw_sequencer"];
    let each = options.all.iter().filter(|(name, value)| {
        matches!(fate(name), Conversion::Refused)
            && !is_neutral(name, value)
            && !RATE_OPTIONS.contains(&name.as_str())
    });
    let names: Vec<&str> = each.map(|(name, _)| name.as_str()).take(12).collect();
    (!names.is_empty()).then(|| {
        format!(
            "it has {}, which no field of a record is for: compare it with jobs that have the same",
            names.join(", ")
        )
    })
}

/// 100 or 0 if there were only reads or only writes.
fn only_kind(outcome: &JobOutcome) -> Option<u8> {
    match (outcome.read.bytes, outcome.write.bytes) {
        (1.., 0) => Some(100),
        (0, 1..) => Some(0),
        _ => None,
    }
}

/// Whether a job did reads although it only writes, or vice versa.
fn does_other_things(options: &Options, outcome: &JobOutcome) -> bool {
    options.rw().is_some_and(|rw| {
        (!rw.reads && outcome.read.bytes > 0) || (!rw.writes && outcome.write.bytes > 0)
    })
}

/// Whether the read percentage differs from the options by more than 5 points and more than chance
/// explains for that many operations.
fn mixes_otherwise(options: &Options, outcome: &JobOutcome) -> bool {
    let (reads, writes) = (outcome.read.operations, outcome.write.operations);
    let all = reads as f64 + writes as f64;
    let known = all > 0.0 && !options.of_header;
    let Some(requested) = options.read_percent().filter(|_| known) else {
        return false;
    };
    let off = (100.0 * reads as f64 / all - f64::from(requested)).abs();
    // Four standard deviations of a percentage are at most 200 / sqrt(n) points.
    off > 5.0_f64.max(200.0 / all.sqrt())
}

/// Operation, pattern and block size.
fn what(
    options: &Options,
    outcome: &JobOutcome,
    workload: &mut Workload,
    absent: &mut Absent,
    doubts: &mut Vec<String>,
) {
    let both = options.rw().is_some_and(|rw| rw.reads && rw.writes);
    let percent = options.read_percent();
    let percent = percent.filter(|_| !(both && options.of_header));
    fill!(absent, workload.read_percent, percent);
    if let Some(why) = walks_otherwise(options) {
        doubts.push(format!("it has {why}, so where it went is not given"));
    } else if let Some(rw) = options.rw() {
        absent.give("jobs.workload.pattern");
        if rw.random {
            workload.pattern = Pattern::Random {
                distribution: Distribution::Uniform,
            };
            let uniform = options
                .get("random_distribution")
                .is_none_or(|name| name == "random");
            if uniform && !options.of_header {
                absent.give("jobs.workload.distribution");
            }
        } else {
            workload.pattern = Pattern::Sequential {
                cursor: CursorKind::Own,
            };
        }
    }
    let Some(block) = options.block_size() else {
        return;
    };
    let in_flight = u64::from(options.count("iodepth").unwrap_or(1));
    if fits(&outcome.read, block, in_flight) && fits(&outcome.write, block, in_flight) {
        workload.block_size_bytes = block;
        absent.give("jobs.workload.block_size_bytes");
    } else {
        doubts.push("its bytes are not its operations times the block size of its options, which is therefore not given".to_owned());
    }
}

/// Options that make a job's positions neither random nor sequential.
fn walks_otherwise(options: &Options) -> Option<&'static str> {
    // `read:-8k` goes backwards, `read:64k` leaves gaps, `randread:8` draws rarely.
    let stepped = options.get("rw").is_some_and(|rw| rw.contains(':'));
    if stepped {
        return Some("an rw with more behind a colon");
    }
    let others = [
        "percentage_random",
        "percentage_sequential",
        "zonemode",
        "zonesize",
        "zoneskip",
        "random_sequence_stride",
        "num_range",
        "read_iolog",
        "bs_is_seq_rand",
    ];
    let given = |name: &&str| {
        let value = options.get(name);
        value.is_some_and(|value| !is_neutral(name, value))
    };
    others.into_iter().find(given)
}

/// Whether bytes equal operations times blocks, except for short operations at the end of a file,
/// the 1,024 that old versions round to, and operations in flight at the end of the ramp, whose
/// bytes are counted from there but whose number is not.
fn fits(kind: &KindOutcome, block: u64, in_flight: u64) -> bool {
    if kind.operations == 0 {
        return true;
    }
    let whole = u128::from(kind.operations) * u128::from(block);
    let more = u128::from(in_flight) * u128::from(block);
    let bytes = u128::from(kind.bytes);
    bytes <= whole + more && bytes + more + whole / 100 + 1024 >= whole
}

/// Threads and outstanding.
fn how_many(
    options: &Options,
    alone: bool,
    outcome: &JobOutcome,
    workload: &mut Workload,
    absent: &mut Absent,
    doubts: &mut Vec<String>,
) {
    // Processes that report as a group appear in the JSON once; otherwise each is a job of its own
    // with the same name.
    let threads = match alone {
        true => options
            .get("numjobs")
            .map_or(Some(1), |_| options.count("numjobs")),
        false => Some(1),
    };
    let known = |count: Option<u32>| count.filter(|count| (1..=COUNT_MAX).contains(count));
    let mut depth = known(depth(options));
    let threads = known(threads);
    if options
        .get("latency_target")
        .is_some_and(|target| !is_neutral("latency_target", target))
    {
        doubts.push("it has latency_target, with which fio looks for a depth itself: outstanding is not given".to_owned());
        depth = None;
    }
    let requested = threads
        .zip(depth)
        .map(|(threads, depth)| f64::from(threads) * f64::from(depth));
    // By Little's law no more were in flight than requested.
    let more =
        |requested: f64| in_flight(outcome).is_some_and(|mean| mean > requested * 1.05 + 0.5);
    // fio does not print its `group_reporting` option.
    if requested.is_some_and(more) {
        doubts.push("more was in flight than its options say, so it stands for several jobs; threads and outstanding are not given".to_owned());
        return;
    }
    let one = options
        .get("ioengine")
        .filter(|engine| ONE_IN_FLIGHT.contains(engine));
    if one.is_some()
        && options
            .count("iodepth")
            .is_some_and(|requested| requested > 1)
    {
        doubts.push("its engine has one operation in flight, whatever its iodepth says".to_owned());
    }
    fill!(absent, workload.threads, threads);
    fill!(absent, workload.outstanding, depth);
}

/// Outstanding of each thread. The effect of a depth on the default engine (which is
/// system-specific) is unknown.
fn depth(options: &Options) -> Option<u32> {
    let requested = options
        .get("iodepth")
        .map_or(Some(1), |_| options.count("iodepth"))?;
    match options.get("ioengine") {
        Some(engine) if ONE_IN_FLIGHT.contains(&engine) => Some(1),
        None if requested > 1 => None,
        _ => Some(requested),
    }
}

/// Mean number of operations in flight.
fn in_flight(outcome: &JobOutcome) -> Option<f64> {
    let seconds = outcome.duration_ns as f64 / 1e9;
    let busy = |kind: &KindOutcome| {
        let latency_s = kind.latency_ns.map_or(0.0, |latency| latency.mean / 1e9);
        kind.operations as f64 * latency_s
    };
    (seconds > 0.0).then(|| (busy(&outcome.read) + busy(&outcome.write)) / seconds)
}
