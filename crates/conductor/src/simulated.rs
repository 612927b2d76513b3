//! A simulated array as a target.

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::input::{PLAN_BYTES_MAX, read_text};
use std::path::Path;
use stripewise_array_sim::layout::Level;
use stripewise_array_sim::spec::DriveKind;
use stripewise_array_sim::{Array, ArraySpec, Simulate};
use stripewise_results::{TargetFacts, TargetKind};
use stripewise_stats::BurstCredit;
use stripewise_targets::TargetName;
use stripewise_units::sim_array;
use stripewise_workload::{TargetLimits, Workload};

/// An array that is rebuilt for every run, so that each run starts from the
/// same state.
pub struct Simulated {
    spec: ArraySpec,
    facts: TargetFacts,
    /// As named in a request, with the state in which a run finds the array.
    typed: String,
}

impl Simulated {
    /// From `sim:NAME?key=value` or `sim:FILE.toml`.
    pub fn open(context: &Context, name: &TargetName) -> Outcome<Self> {
        let text = name.to_string();
        let target = sim_array(&text).unwrap_or(&text);
        let spec = spec(context, target)?;
        let array = spec.build();
        let volume = array.facts();
        let facts = TargetFacts {
            kind: TargetKind::Simulated,
            name: text.clone(),
            size_bytes: array.size_bytes(),
            partition_offset_bytes: Some(volume.partition_offset_bytes),
            logical_sector_bytes: array.sector_bytes(),
            simulation: Some(spec.describe()),
            ..TargetFacts::default()
        };
        Ok(Simulated {
            spec,
            facts,
            typed: text,
        })
    }

    /// The same array as one run of an experiment finds it: with rotational phases drawn
    /// from `seed`, as a real array's platters are at another angle each time, and aged
    /// by the runs before, so that drift continues; burst credits are spent, as what lasts is
    /// compared. Its facts and its name in a request include all three, so the run can be
    /// repeated.
    pub fn met(&self, seed: u64, older_ns: u64) -> Simulated {
        let mut spec = self.spec.clone();
        spec.seed ^= seed;
        spec.age_ns = spec.age_ns.saturating_add(older_ns);
        spec.limit.burst_operations = 0;
        spec.limit.burst_bytes = 0;
        let spent = match self.has_burst_credit() {
            true => "&limit.burst_operations=0&limit.burst_bytes=0",
            false => "",
        };
        let facts = TargetFacts {
            simulation: Some(spec.describe()),
            ..self.facts.clone()
        };
        // Of two values of a key, the last counts.
        let joint = if self.typed.contains('?') { '&' } else { '?' };
        let (seed, age_ns) = (spec.seed, spec.age_ns);
        let typed = format!("{}{joint}seed={seed}&age={age_ns}ns{spent}", self.typed);
        Simulated { spec, facts, typed }
    }

    /// The target as named in a request.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// The target's facts, as recorded.
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// Specification of the array.
    pub fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    /// Whether the volume exceeds a cap after a rest, until a credit is spent.
    pub fn has_burst_credit(&self) -> bool {
        self.spec.limit.burst_operations > 0 || self.spec.limit.burst_bytes > 0
    }

    /// Whether it stalls now and then.
    pub const fn stalls(&self) -> bool {
        self.spec.faults.stall_ns > 0
    }

    /// The credits that this workload may spend above the caps of the volume: of operations, and
    /// of bytes.
    pub fn credits(&self, workload: &Workload) -> [Option<BurstCredit>; 2] {
        let limit = &self.spec.limit;
        let block_bytes = workload.block_bytes_mean().max(1);
        let counts = match limit.unit_bytes {
            0 => 1,
            unit => block_bytes.div_ceil(unit),
        };
        let credit = |burst: u64, cap: u64, cost: u64| {
            (burst > 0 && cap > 0).then(|| BurstCredit {
                operations: burst as f64 / cost as f64,
                per_s: cap as f64 / cost as f64,
            })
        };
        let cost_bytes = block_bytes.max(limit.bytes_min);
        [
            credit(limit.burst_operations, limit.iops, counts),
            credit(limit.burst_bytes, limit.bytes_per_s, cost_bytes),
        ]
    }

    /// What absorbs the writes of this workload for a while; `None` if nothing does.
    pub fn absorbs(&self, workload: &Workload) -> Option<AbsorbingStorage> {
        if workload.read_percent == 100 {
            return None;
        }
        let spec = &self.spec;
        // A volatile cache does not acknowledge durable writes.
        let is_cached = spec.cache.nonvolatile || !is_durable(workload);
        let cache_bytes = spec.cache.size_bytes * u64::from(is_cached);
        let is_flash = spec.drive == DriveKind::Ssd;
        let copies = match spec.level {
            Level::Single | Level::Linear | Level::Raid0 => 1,
            _ => 2,
        };
        let all_disks = |bytes: u64| bytes.saturating_mul(spec.disks) / copies;
        let fast_bytes = all_disks(spec.ssd.fast_bytes.max(spec.ssd.buffer_bytes));
        let fast_bytes = fast_bytes * u64::from(is_flash);
        let is_fresh = is_flash && (!spec.ssd.preconditioned || spec.ssd.page_map);
        // A float-to-integer cast saturates.
        let spare_bytes = (spec.ssd.size_bytes as f64 * spec.ssd.spare_percent / 100.0) as u64;
        let flash_bytes = all_disks(spec.ssd.size_bytes.saturating_add(spare_bytes));
        let most_bytes = cache_bytes.max(fast_bytes);
        let has_credit = self.credits(workload).iter().any(Option::is_some);
        (most_bytes > 0 || is_fresh || has_credit).then_some(AbsorbingStorage {
            cache_bytes: (most_bytes > 0).then_some(most_bytes),
            flash_bytes: is_fresh.then_some(flash_bytes),
        })
    }

    /// What a workload must fit into.
    pub fn limits(&self) -> TargetLimits {
        TargetLimits {
            size_bytes: self.facts.size_bytes,
            logical_sector_bytes: self.facts.logical_sector_bytes,
        }
    }

    /// A new array.
    pub fn build(&self) -> Array {
        self.spec.build()
    }
}

/// Storage that absorbs writes for a while; [`Simulated::credits`] may do so as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbsorbingStorage {
    /// The larger of cache and fast flash, in bytes.
    pub cache_bytes: Option<u64>,
    /// Bytes of flash that were never written, spare included.
    pub flash_bytes: Option<u64>,
}

/// Returns whether each write reaches the medium before it completes.
fn is_durable(workload: &Workload) -> bool {
    workload.sync.is_some() || workload.is_write_durable()
}

/// Parses the specification in `NAME?key=value` or `FILE.toml`.
pub fn spec(context: &Context, target: &str) -> Outcome<ArraySpec> {
    let hint = "check the path; `stripewise sim list` shows the arrays that need no file";
    let mut unread = None;
    let spec = ArraySpec::from_target(target, |path| {
        read_text(context, Path::new(path), PLAN_BYTES_MAX, hint).map_err(|failure| {
            unread = Some(failure);
            std::io::ErrorKind::Other.into()
        })
    });
    match unread {
        // It has the exit code of an interruption, and the limit.
        Some(failure) => Err(failure),
        None => spec.map_err(Failure::from),
    }
}
