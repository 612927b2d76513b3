//! `limits` on simulated volumes: the program's own study, on an array that persists from run to
//! run, in virtual time. Simulated runs have hardly any scatter of their own, so their rates are
//! scattered by a known share, and 5 % of them disturbed.

use super::arrays::array;
use super::limits::{percent, scattered};
use super::parallel::trials;
use super::simulated::measure_on;
use super::size::{Size, seed_of};
use super::table::{Bound, Table};
use anyhow::Result;
use stripewise_array_sim::Simulate;
use stripewise_runner::LivingArrays;
use stripewise_stats::Random;
use stripewise_studies::limits::{
    CapKind, Limit, LimitsDocument, LimitsFacts, LimitsOptions, LimitsStudy, LoadApplies, LoadKind,
};
use stripewise_studies::{NextStep, Study};

const MIB: f64 = 1_048_576.0;
/// Scatter of the runs, for a third of the trials each.
const SCATTERS: [f64; 3] = [0.0, 0.02, 0.05];
const RUN_NS: u64 = 20_000_000;
const OPERATIONS_MIN: u64 = 500;
const BURST_NS_MAX: u64 = 1_800_000_000_000;
/// Smaller than Amazon's, so that 100 bursts end in minutes.
const BUCKET: f64 = 1e6;
const BURST_IOPS: f64 = 3_000.0;
const SUSTAINED_IOPS: f64 = 300.0;

/// A volume with known caps.
struct Volume {
    name: &'static str,
    target: &'static str,
    is_limiter: bool,
    iops: Option<f64>,
    bytes_per_s: Option<f64>,
    /// Reads of this size and above are limited by bandwidth.
    bandwidth_from: u64,
}

const VOLUMES: [Volume; 5] = [
    Volume {
        name: "gp3",
        target: "ebs-gp3",
        is_limiter: true,
        iops: Some(3_000.0),
        bytes_per_s: Some(125.0 * MIB),
        bandwidth_from: 44 << 10,
    },
    Volume {
        name: "gp2 of 100 GiB",
        target: "ebs-gp2-100",
        is_limiter: true,
        iops: Some(BURST_IOPS),
        bytes_per_s: Some(128.0 * MIB),
        bandwidth_from: 44 << 10,
    },
    Volume {
        name: "Azure P10",
        target: "azure-p10",
        is_limiter: true,
        iops: Some(3_500.0),
        bytes_per_s: Some(170e6),
        bandwidth_from: 48 << 10,
    },
    Volume {
        name: "SATA SSD",
        target: "sata-ssd",
        is_limiter: false,
        // Its controller takes 8 µs an operation.
        iops: Some(125_000.0),
        bytes_per_s: Some(530.0 * MIB),
        bandwidth_from: 8 << 10,
    },
    Volume {
        name: "RAID 10 of disks",
        target: "raid10-10k",
        is_limiter: false,
        iops: None,
        bytes_per_s: None,
        bandwidth_from: u64::MAX,
    },
];

/// The answer of the study.
fn answer(target: &str, scatter: f64, burst: bool, seed: u64) -> Result<LimitsDocument> {
    let mut arrays = LivingArrays::new(vec![array(target, seed)?.build()]);
    let mut random = Random::new(seed ^ 1);
    let mut study = LimitsStudy::new(LimitsOptions {
        writes: true,
        run_ns: RUN_NS,
        ramp_ns: RUN_NS / 4,
        simulated_operations_min: OPERATIONS_MIN,
        threads: 1,
        size_bytes: None,
        load: None,
        burst_ns_max: burst.then_some(BURST_NS_MAX),
        seed,
    });
    let size_bytes = array(target, seed)?.build().size_bytes();
    loop {
        match study.next() {
            NextStep::Done => return Ok(study.document(&LimitsFacts::default())),
            NextStep::Rest { length_ns, .. } => {
                arrays.rest(length_ns);
                study.rested();
            }
            NextStep::Run(run) => {
                let workload = &run.jobs[0].workload;
                let operations = run.simulated_operations_min;
                let mut record = measure_on(&mut arrays, size_bytes, workload, operations)?;
                let iops = &mut record.jobs[0].outcome.iops;
                *iops = scattered(&mut random, *iops, scatter);
                study.completed(run.id, &record);
            }
        }
    }
}

/// Whether a named limit applies to the load; loads at a corner have either.
fn is_right(volume: &Volume, load: &LoadApplies) -> bool {
    load.limits.iter().all(|limit| match limit {
        Limit::Iops => volume.iops.is_some() && load.block_size_bytes < 2 * volume.bandwidth_from,
        Limit::Bandwidth => 2 * load.block_size_bytes >= volume.bandwidth_from,
        Limit::Latency => load.outstanding < 32,
        Limit::Undecided => true,
        Limit::Processor | Limit::ControlGroup => false,
    })
}

/// For a document: whether the caps of this kind contain the truth; `None` if there is none.
fn covered(document: &LimitsDocument, kind: CapKind, truth: Option<f64>) -> Option<bool> {
    let cap = document.caps.iter().find(|cap| cap.kind == kind)?;
    Some(truth.is_some_and(|truth| (cap.per_s_low..=cap.per_s_high).contains(&truth)))
}

fn natures(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    for (number, volume) in VOLUMES.iter().enumerate() {
        let documents = trials(size.coverage, |trial| {
            let seed = seed_of(seed, 500 + number as u64, trial);
            answer(volume.target, SCATTERS[trial % SCATTERS.len()], false, seed)
        })?;
        state(volume, &documents, table);
    }
    Ok(())
}

fn state(volume: &Volume, documents: &[LimitsDocument], table: &mut Table) {
    let name = format!("limits, sim: {}", volume.name);
    let mut share = |claim: &str, holds: &[bool], bound| {
        let count = holds.iter().filter(|held| **held).count();
        let value = percent(count, holds.len());
        // Loads of one trial are not independent of each other.
        let trials = holds.len().min(documents.len());
        table.state_share(&format!("{name}: {claim}, %"), value, trials, bound);
    };
    let each = |of: &dyn Fn(&LimitsDocument) -> bool| documents.iter().map(of).collect::<Vec<_>>();
    let called = |limiter| {
        move |document: &LimitsDocument| {
            let mut caps = document.caps.iter();
            caps.any(|cap| cap.limiter == Some(limiter))
        }
    };
    let shown = each(&|document| !document.caps.is_empty());
    share("a cap is named", &shown, Bound::None);
    share(
        "called a limiter",
        &each(&called(true)),
        match volume.is_limiter {
            true => Bound::None,
            false => Bound::AtMost(3.0),
        },
    );
    share(
        "called the device",
        &each(&called(false)),
        match volume.is_limiter {
            true => Bound::AtMost(2.0),
            false => Bound::None,
        },
    );
    for (what, kind, truth) in [
        ("IOPS", CapKind::Iops, volume.iops),
        ("bytes", CapKind::BytesPerS, volume.bytes_per_s),
    ] {
        let of = |document: &LimitsDocument| covered(document, kind, truth);
        let known: Vec<bool> = documents.iter().filter_map(of).collect();
        match truth {
            Some(_) => {
                let claim = format!("cap on {what} covered");
                share(&claim, &known, Bound::AtLeast(95.0));
            }
            // A disk's rate levels off by chance, and the answer says no more than that.
            None => {
                let shown = each(&|document| of(document).is_some());
                let claim = format!("{what} level off by chance");
                share(&claim, &shown, Bound::AtMost(12.0));
            }
        }
    }
    let loads = || documents.iter().flat_map(|document| &document.applies);
    let is_named = |load: &&LoadApplies| load.limits != [Limit::Undecided];
    let named: Vec<bool> = loads().map(|load| is_named(&load)).collect();
    share("limit of a load named", &named, Bound::None);
    let right: Vec<bool> = loads()
        .filter(is_named)
        .map(|load| is_right(volume, load))
        .collect();
    share("... right of those", &right, Bound::AtLeast(98.0));
    let writes = |load: &&LoadApplies| load.kind != LoadKind::Reads;
    let of_writes: Vec<bool> = loads().filter(writes).map(|load| is_named(&load)).collect();
    share("limit of writes named", &of_writes, Bound::None);
}

/// The burst of a gp2 volume, including rest and refill.
fn bursts(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let target = format!("ebs-gp2-100?limit.burst_operations={BUCKET}");
    let documents = trials(size.coverage / 10, |trial| {
        answer(&target, 0.02, true, seed_of(seed, 510, trial))
    })?;
    let found: Vec<_> = documents
        .iter()
        .filter_map(|one| one.burst.as_ref())
        .collect();
    let near = |value: f64, truth: f64| (value / truth - 1.0).abs() <= 0.05;
    let lasts_s = BUCKET / (BURST_IOPS - SUSTAINED_IOPS);
    let mut state = |claim: &str, count: usize, of: usize, bound| {
        let claim = format!("limits, sim: burst of gp2: {claim}, %");
        table.state_share(&claim, percent(count, of), of, bound);
    };
    state("found", found.len(), documents.len(), Bound::AtLeast(98.0));
    let count = |holds: &dyn Fn(&stripewise_studies::limits::BurstFound) -> bool| {
        found.iter().filter(|one| holds(one)).count()
    };
    let within = count(&|one| near(one.bucket, BUCKET) && near(one.lasts_s, lasts_s));
    state("within 5 %", within, found.len(), Bound::AtLeast(98.0));
    let holds = count(&|one| (one.lasts_s_low..=one.lasts_s_high).contains(&lasts_s));
    state("covered", holds, found.len(), Bound::AtLeast(95.0));
    let refills = count(&|one| {
        one.refill_per_s
            .is_some_and(|rate| near(rate, SUSTAINED_IOPS))
    });
    state("refill within 5 %", refills, found.len(), Bound::None);
    Ok(())
}

/// All of it.
pub fn volumes(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    natures(seed, size, table)?;
    bursts(seed, size, table)
}
