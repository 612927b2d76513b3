//! A simulated array as a target.

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::steps::input::{PLAN_BYTES_MAX, read_text};
use std::path::Path;
use stripewise_array_sim::{Array, ArraySpec, Simulate, SpecError};
use stripewise_results::{TargetFacts, TargetKind};
use stripewise_targets::TargetName;
use stripewise_workload::TargetLimits;

/// An array that is built anew for every run, so that each run starts from the
/// same state.
pub struct Simulated {
    spec: ArraySpec,
    facts: TargetFacts,
    /// As a request has it: with the state in which a run met the array.
    asked: String,
}

impl Simulated {
    /// From `sim:NAME?key=value` or `sim:FILE.toml`.
    pub fn open(context: &Context, name: &TargetName) -> Outcome<Self> {
        let text = name.to_string();
        let target = text.strip_prefix("sim:").unwrap_or(&text);
        let spec = spec(context, target)?;
        let array = spec.build();
        let volume = array.facts();
        let facts = TargetFacts {
            kind: TargetKind::Simulated,
            name: text.clone(),
            path: None,
            size_bytes: array.size_bytes(),
            partition_offset_bytes: Some(volume.partition_offset_bytes),
            logical_sector_bytes: array.sector_bytes(),
            physical_sector_bytes: None,
            file_system: None,
            device: None,
            simulation: Some(spec.describe()),
        };
        Ok(Simulated {
            spec,
            facts,
            asked: text,
        })
    }

    /// The same array as it is met by one run of an experiment: with rotational
    /// phases of its own, drawn from `seed`, as a real array's platters stand
    /// somewhere else each time, and older by what ran before, so that a drift
    /// goes on. Its facts and its name in a request say both: the run can be made again.
    pub fn met(&self, seed: u64, older_ns: u64) -> Simulated {
        let mut spec = self.spec.clone();
        spec.seed ^= seed;
        spec.age_ns = spec.age_ns.saturating_add(older_ns);
        let facts = TargetFacts {
            simulation: Some(spec.describe()),
            ..self.facts.clone()
        };
        // Of two values of a key, the last counts.
        let joint = if self.asked.contains('?') { '&' } else { '?' };
        let (seed, age_ns) = (spec.seed, spec.age_ns);
        let asked = format!("{}{joint}seed={seed}&age={age_ns}ns", self.asked);
        Simulated { spec, facts, asked }
    }

    /// The target as a request has it.
    pub fn asked(&self) -> &str {
        &self.asked
    }

    /// What its record says of it.
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// The array as it is built.
    pub fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    /// Bytes of its write-back cache; 0 where it has none.
    pub fn cache_bytes(&self) -> u64 {
        self.spec.cache.size_bytes
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

/// The specification behind `NAME?key=value` or `FILE.toml`.
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
        // The exit code of an interruption and the limit are in it.
        Some(failure) => Err(failure),
        None => spec.map_err(spec_failure),
    }
}

fn spec_failure(error: SpecError) -> Failure {
    let hint = error.hint().to_owned();
    Failure::usage(error.to_string(), hint)
}
