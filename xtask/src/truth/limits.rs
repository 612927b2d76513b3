//! `limits` on volumes with known caps: the rates of runs come from formulas with a known scatter,
//! with 5 % of the runs disturbed; results come through the crate's public interface, including
//! further runs.

use super::parallel::trials;
use super::size::{Size, seed_of};
use super::table::{Bound, Table};
use anyhow::Result;
use stripewise_stats::{
    BindingRates, BoundBy, BurstUse, Counting, LimitCell, LimitRates, Nature, REPETITIONS_MIN,
    Random, binding, find_step, fit_bucket, fit_refill, is_lasting, rest_after_s,
    seconds_after_step,
};

const MIB: f64 = 1_048_576.0;
/// Volumes that count larger operations several times do so above this size.
const UNIT_BYTES: f64 = 262_144.0;
/// Share of runs slowed down, to 0.4 to 0.7.
const DISTURBED_SHARE: f64 = 0.05;
/// Scatter between runs.
const SCATTERS: [f64; 3] = [0.02, 0.05, 0.10];

/// The type of a volume, for statistics.
#[derive(Clone, Copy, PartialEq)]
enum Family {
    Limiter,
    Device,
    /// A limiter just above the device's own maximum: either name is correct.
    Near,
}

/// How reads and writes share the caps.
#[derive(Clone, Copy, PartialEq)]
enum CapSharing {
    OneBucket,
    BucketEach,
    Harmonic,
}

/// A volume by its formula: the smooth minimum of its terms, with this sharpness.
#[derive(Clone, Copy)]
struct Volume {
    name: &'static str,
    family: Family,
    iops: f64,
    mib_per_s: f64,
    latency_s: f64,
    /// For a single stream, MiB/s.
    stream: f64,
    sharpness: f64,
    unit: bool,
    write_iops: f64,
    together: CapSharing,
}

const LIMITER: Volume = Volume {
    name: "",
    family: Family::Limiter,
    iops: 0.0,
    mib_per_s: 0.0,
    latency_s: 0.8e-3,
    stream: 900.0,
    sharpness: 20.0,
    unit: true,
    write_iops: 0.0,
    together: CapSharing::OneBucket,
};

const DEVICE: Volume = Volume {
    family: Family::Device,
    unit: false,
    together: CapSharing::Harmonic,
    ..LIMITER
};

const fn capped(name: &'static str, iops: f64, mib_per_s: f64, latency_ms: f64) -> Volume {
    Volume {
        name,
        iops,
        write_iops: iops,
        mib_per_s,
        latency_s: latency_ms / 1e3,
        ..LIMITER
    }
}

const VOLUMES: [Volume; 15] = [
    capped("gp3 3,000/125", 3_000.0, 125.0, 0.8),
    capped("gp3 3,000/750", 3_000.0, 750.0, 0.8),
    Volume {
        stream: 2_500.0,
        ..capped("gp3 16,000/1,000", 16_000.0, 1_000.0, 0.6)
    },
    capped("gp3 6,000/250", 6_000.0, 250.0, 0.8),
    capped("gp2 3,000/128", 3_000.0, 128.0, 1.0),
    capped("Azure P20 2,300/150", 2_300.0, 150.0, 2.0),
    capped("Azure P30 5,000/200", 5_000.0, 200.0, 1.5),
    Volume {
        unit: false,
        write_iops: 500.0,
        together: CapSharing::BucketEach,
        ..capped("control group 1,000/500", 1_000.0, 50.0, 0.2)
    },
    Volume {
        sharpness: 10.0,
        stream: 1_500.0,
        ..capped("rounder limiter 8,000/500", 8_000.0, 500.0, 0.7)
    },
    Volume {
        name: "SATA SSD",
        iops: 95_000.0,
        write_iops: 75_000.0,
        mib_per_s: 530.0,
        latency_s: 0.09e-3,
        sharpness: 2.0,
        ..DEVICE
    },
    Volume {
        name: "NVMe",
        iops: 500_000.0,
        write_iops: 300_000.0,
        mib_per_s: 3_200.0,
        latency_s: 0.08e-3,
        stream: 2_500.0,
        sharpness: 2.5,
        ..DEVICE
    },
    Volume {
        name: "network SSD",
        iops: 20_000.0,
        write_iops: 14_000.0,
        mib_per_s: 800.0,
        latency_s: 0.4e-3,
        stream: 600.0,
        sharpness: 1.2,
        ..DEVICE
    },
    Volume {
        name: "SSD, sharp, reads = writes",
        iops: 40_000.0,
        write_iops: 40_000.0,
        mib_per_s: 1_000.0,
        latency_s: 0.1e-3,
        sharpness: 4.0,
        ..DEVICE
    },
    Volume {
        name: "HDD array",
        sharpness: 0.0,
        ..DEVICE
    },
    Volume {
        family: Family::Near,
        ..capped("limiter near its device", 18_000.0, 800.0, 0.4)
    },
];

fn smooth_minimum(terms: &[f64], sharpness: f64) -> f64 {
    let sum: f64 = terms.iter().map(|term| term.powf(-sharpness)).sum();
    sum.powf(-1.0 / sharpness)
}

impl Volume {
    fn spins(&self) -> bool {
        self.sharpness == 0.0
    }

    /// The caps' limit at this size, and the latency's limit at this depth.
    fn terms(&self, bytes: f64, outstanding: f64, iops: f64) -> [f64; 3] {
        let counted = if self.unit {
            (bytes / UNIT_BYTES).ceil()
        } else {
            1.0
        };
        [
            iops / counted,
            self.mib_per_s * MIB / bytes,
            outstanding / (self.latency_s + bytes / (self.stream * MIB)),
        ]
    }

    fn reads(&self, bytes: f64, outstanding: f64) -> f64 {
        if self.spins() {
            let service_s = 7.5e-3 + bytes / (140.0 * MIB);
            let busy = 4.0 * (1.0 - 0.75_f64.powf(outstanding));
            return busy * (1.0 + 0.22 * (outstanding / 4.0).max(1.0).log2()) / service_s;
        }
        let rate = smooth_minimum(&self.terms(bytes, outstanding, self.iops), self.sharpness);
        match self.family {
            Family::Near => {
                let device = Volume {
                    family: Family::Device,
                    ..VOLUMES[11]
                };
                smooth_minimum(&[rate, 1.3 * device.reads(bytes, outstanding)], 8.0)
            }
            _ => rate,
        }
    }

    fn rate(&self, cell: LimitCell, bytes: f64, outstanding: f64) -> f64 {
        let reads = self.reads(bytes, outstanding);
        let writes = if self.spins() {
            0.75 * reads
        } else if self.write_iops == self.iops {
            reads
        } else {
            let terms = self.terms(bytes, outstanding, self.write_iops);
            smooth_minimum(&terms, self.sharpness)
        };
        match (cell, self.together) {
            (LimitCell::Writes, _) => writes,
            (LimitCell::Mix, CapSharing::OneBucket) => reads,
            (LimitCell::Mix, CapSharing::BucketEach) => {
                let [_, bytes_term, latency] = self.terms(bytes, outstanding, self.iops);
                let caps = 2.0 * self.iops.min(self.write_iops);
                smooth_minimum(&[caps, 2.0 * bytes_term, latency], self.sharpness)
            }
            (LimitCell::Mix, CapSharing::Harmonic) => 1.0 / (0.5 / reads + 0.5 / writes),
            _ => reads,
        }
    }
}

/// A run's rate.
pub(super) fn scattered(random: &mut Random, rate: f64, scatter: f64) -> f64 {
    let disturbed = random.uniform() < DISTURBED_SHARE;
    let slowed = 0.4 + 0.3 * random.uniform();
    rate * (scatter * random.normal()).exp() * if disturbed { slowed } else { 1.0 }
}

/// Runs every cell until no more are requested.
fn grid(volume: &Volume, scatter: f64, seed: u64) -> LimitRates {
    let mut random = Random::new(seed);
    let mut rates = LimitRates::default();
    let mut number = 0;
    while let Some(cells) = rates.round(number, true) {
        for cell in cells {
            let load = rates.block_size_bytes(cell).zip(rates.outstanding(cell));
            if let Some((bytes, outstanding)) = load {
                let rate = volume.rate(cell, bytes as f64, f64::from(outstanding));
                rates.add(cell, scattered(&mut random, rate, scatter));
            }
        }
        number += 1;
    }
    rates
}

/// Result for a volume.
struct VolumeTrial {
    nature: Option<Nature>,
    iops_covered: Option<bool>,
    bytes_covered: Option<bool>,
    repetitions: usize,
}

fn say(volume: &Volume, scatter: f64, seed: u64) -> VolumeTrial {
    let rates = grid(volume, scatter, seed);
    let caps = rates.caps();
    let of_unit = volume.iops * UNIT_BYTES / MIB;
    let mib_per_s = match volume.unit {
        true => volume.mib_per_s.min(of_unit),
        false => volume.mib_per_s,
    };
    let sharp = volume.family == Family::Limiter && volume.sharpness >= 20.0;
    let iops = caps.and_then(|caps| caps.iops).filter(|_| sharp);
    let bytes = caps.and_then(|caps| {
        caps.bytes_per_s
            .filter(|_| sharp && caps.counting == Counting::Bytes)
    });
    VolumeTrial {
        nature: rates.nature().map(|found| found.nature),
        iops_covered: iops.map(|cap| cap.per_s.contains(volume.iops)),
        bytes_covered: bytes.map(|cap| cap.per_s.contains(mib_per_s * MIB)),
        repetitions: rates.repetitions(),
    }
}

pub(super) fn percent(count: usize, of: usize) -> f64 {
    100.0 * count as f64 / of.max(1) as f64
}

fn covered(outcomes: &[VolumeTrial], of: impl Fn(&VolumeTrial) -> Option<bool>) -> (usize, f64) {
    let known: Vec<bool> = outcomes.iter().filter_map(of).collect();
    let holds = known.iter().filter(|held| **held).count();
    (known.len(), percent(holds, known.len()))
}

/// Caps and their types.
fn natures(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    for (number, volume) in VOLUMES.iter().enumerate() {
        for scatter in SCATTERS {
            let study = 300 + 10 * number as u64 + (scatter * 100.0) as u64;
            let outcomes = trials(size.coverage, |trial| {
                Ok(say(volume, scatter, seed_of(seed, study, trial)))
            })?;
            state(volume, scatter, &outcomes, table);
        }
    }
    Ok(())
}

fn state(volume: &Volume, scatter: f64, outcomes: &[VolumeTrial], table: &mut Table) {
    let named = |nature| {
        let all = outcomes.iter().filter(|one| one.nature == Some(nature));
        all.count()
    };
    let (limiter, device) = (named(Nature::Limiter), named(Nature::Device));
    let name = format!("limits, {}, {:.0} %", volume.name, 100.0 * scatter);
    let runs =
        outcomes.iter().map(|one| one.repetitions).sum::<usize>() as f64 / outcomes.len() as f64;
    table.state(&format!("{name}: runs of a cell"), runs, 1, Bound::None);
    let share = percent(limiter + device, outcomes.len());
    table.state_share(
        &format!("{name}: named, %"),
        share,
        outcomes.len(),
        Bound::None,
    );
    match volume.family {
        Family::Limiter => {
            if limiter + device > 0 {
                let right = percent(limiter, limiter + device);
                let claim = format!("{name}: right of those, %");
                table.state_share(&claim, right, limiter + device, Bound::AtLeast(98.0));
            }
            for (what, (known, share)) in [
                ("IOPS", covered(outcomes, |one| one.iops_covered)),
                ("bytes", covered(outcomes, |one| one.bytes_covered)),
            ] {
                // A cap that is seldom visible has no meaningful share.
                if known >= outcomes.len() / 10 {
                    let claim = format!("{name}: cap on {what} covered, %");
                    table.state_share(&claim, share, known, Bound::AtLeast(95.0));
                }
            }
        }
        Family::Device => {
            let claim = format!("{name}: called a limiter, %");
            let wrong = percent(limiter, outcomes.len());
            table.state_share(&claim, wrong, outcomes.len(), Bound::AtMost(3.0));
        }
        Family::Near => {}
    }
}

/// The limit that binds a load.
fn bindings(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    const LOADS: [(f64, f64); 12] = [
        (4.0, 1.0),
        (4.0, 16.0),
        (4.0, 64.0),
        (16.0, 1.0),
        (16.0, 4.0),
        (16.0, 64.0),
        (64.0, 1.0),
        (64.0, 16.0),
        (64.0, 64.0),
        (256.0, 1.0),
        (256.0, 16.0),
        (256.0, 64.0),
    ];
    for scatter in SCATTERS {
        let each = trials(size.coverage / 8, |trial| {
            let mut random = Random::new(seed_of(seed, 490 + (scatter * 100.0) as u64, trial));
            let (mut named, mut wrong, mut all) = (0, 0, 0);
            for volume in VOLUMES.iter().filter(|one| !one.spins()) {
                for (kib, outstanding) in LOADS {
                    let (right, outcomes) =
                        bound(volume, kib * 1024.0, outstanding, scatter, &mut random);
                    all += 1;
                    named += usize::from(outcomes.is_some());
                    wrong +=
                        usize::from(outcomes.is_some_and(|outcomes| !right.contains(&outcomes)));
                }
            }
            Ok((named, wrong, all))
        })?;
        let sum = |of: fn(&(usize, usize, usize)) -> usize| each.iter().map(of).sum::<usize>();
        let (named, wrong, all) = (sum(|one| one.0), sum(|one| one.1), sum(|one| one.2));
        let name = format!("limits, which one binds, {:.0} %", 100.0 * scatter);
        table.state(
            &format!("{name}: named, %"),
            percent(named, all),
            1,
            Bound::None,
        );
        let right = 100.0 - percent(wrong, named);
        // Loads of one trial have the same runs around them.
        let claim = format!("{name}: right of those, %");
        table.state_share(&claim, right, each.len(), Bound::AtLeast(98.0));
    }
    Ok(())
}

/// The acceptable limits at a load, and the reported one.
fn bound(
    volume: &Volume,
    bytes: f64,
    outstanding: f64,
    scatter: f64,
    random: &mut Random,
) -> (Vec<BoundBy>, Option<BoundBy>) {
    let mut cell = |bytes: f64, outstanding: f64| -> Vec<f64> {
        let rate = volume.reads(bytes, outstanding);
        (0..REPETITIONS_MIN)
            .map(|_| scattered(random, rate, scatter))
            .collect()
    };
    let smaller = match bytes > 4_096.0 {
        true => cell(bytes / 2.0, outstanding),
        false => Vec::new(),
    };
    let found = binding(&BindingRates {
        load: cell(bytes, outstanding),
        larger: cell(2.0 * bytes, outstanding),
        smaller,
        deeper: cell(bytes, 2.0 * outstanding),
    });
    let terms = volume.terms(bytes, outstanding, volume.iops);
    let lowest = terms.iter().copied().fold(f64::MAX, f64::min);
    let kinds = [BoundBy::Iops, BoundBy::Bandwidth, BoundBy::Latency];
    let near = kinds
        .into_iter()
        .zip(terms)
        .filter(|(_, term)| *term < 1.25 * lowest);
    (
        near.map(|(kind, _)| kind).collect(),
        found.and_then(|found| found.bound_by),
    )
}

/// A token bucket: burst and sustained rate, capacity.
const BUCKETS: [(&str, f64, f64, f64); 3] = [
    ("gp2 of 100 GiB", 3_000.0, 300.0, 5.4e6),
    ("gp2 of 500 GiB", 3_000.0, 1_500.0, 5.4e6),
    ("Azure P10", 3_500.0, 500.0, 5.4e6),
];

/// Result for a bucket: error of its size, and whether the intervals contain the truth.
struct Found {
    error_percent: f64,
    covered: bool,
    refill_covered: Option<bool>,
}

/// Rates per second of a bucket that initially holds `tokens`.
fn drive(
    random: &mut Random,
    (burst, sustained): (f64, f64),
    tokens: &mut f64,
    seconds: usize,
) -> Vec<f64> {
    let each = (0..seconds).map(|_| {
        let stall = if random.uniform() < 0.002 { 0.3 } else { 1.0 };
        let wanted = burst * stall * (0.05 * random.normal()).exp();
        // Tokens arrive slightly unevenly, and none is lost.
        let room = *tokens + sustained * (1.0 + 0.05 * random.normal());
        let rate = wanted.min(room);
        *tokens = room - rate;
        rate
    });
    each.collect()
}

fn find(rates: (f64, f64), size: f64, seed: u64) -> Option<Found> {
    let (burst, sustained) = rates;
    let mut random = Random::new(seed);
    let earlier = [BurstUse {
        per_s: 0.6 * burst,
        per_s_high: 0.6 * burst,
        seconds: 150.0,
    }];
    let mut tokens = size - 150.0 * (0.6 * burst - sustained).max(0.0);
    let step_s = (tokens / (burst - sustained)) as usize;
    let all = drive(
        &mut random,
        rates,
        &mut tokens,
        seconds_after_step(step_s) + 60,
    );
    let step = find_step(&all, 0)?;
    if is_lasting(&all, &step) != Some(true) {
        return None;
    }
    let bucket = fit_bucket(&all, &step, &earlier, 0)?;
    let rest_s = rest_after_s(&bucket);
    tokens += sustained * rest_s;
    let again = drive(&mut random, rates, &mut tokens, 240);
    let refill = fit_refill(&bucket, &again, rest_s);
    Some(Found {
        error_percent: 100.0 * (bucket.bucket.value / size - 1.0).abs(),
        covered: bucket.bucket.contains(size),
        refill_covered: refill.map(|refill| refill.per_s.contains(sustained)),
    })
}

fn buckets(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    for (number, (name, burst, sustained, holds)) in BUCKETS.into_iter().enumerate() {
        let count = size.coverage;
        let found = trials(count, |trial| {
            Ok(find(
                (burst, sustained),
                holds,
                seed_of(seed, 480 + number as u64, trial),
            ))
        })?;
        let found: Vec<Found> = found.into_iter().flatten().collect();
        let name = format!("limits, burst of {name}");
        let share = percent(found.len(), count);
        table.state_share(
            &format!("{name}: found, %"),
            share,
            count,
            Bound::AtLeast(98.0),
        );
        let near = found.iter().filter(|one| one.error_percent <= 5.0).count();
        let share = percent(near, found.len());
        table.state_share(
            &format!("{name}: within 5 %, %"),
            share,
            found.len(),
            Bound::AtLeast(99.0),
        );
        let held = found.iter().filter(|one| one.covered).count();
        let share = percent(held, found.len());
        table.state_share(
            &format!("{name}: covered, %"),
            share,
            found.len(),
            Bound::AtLeast(95.0),
        );
        let refills: Vec<bool> = found.iter().filter_map(|one| one.refill_covered).collect();
        let held = refills.iter().filter(|held| **held).count();
        let share = percent(held, refills.len());
        table.state_share(
            &format!("{name}: refill covered, %"),
            share,
            refills.len(),
            Bound::AtLeast(95.0),
        );
    }
    Ok(())
}

/// All of it.
pub fn limits(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    natures(seed, size, table)?;
    bindings(seed, size, table)?;
    buckets(seed, size, table)
}
