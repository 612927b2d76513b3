//! A simulated array as a target.

use crate::failure::{Failure, Outcome};
use stripewise_array_sim::{Array, ArraySpec, Simulate, SpecError};
use stripewise_results::{TargetFacts, TargetKind};
use stripewise_target::TargetName;
use stripewise_workload::TargetLimits;

/// An array that is built anew for every run, so that each run starts from the
/// same state.
pub struct Simulated {
    spec: ArraySpec,
    facts: TargetFacts,
}

impl Simulated {
    /// From `sim:NAME?key=value` or `sim:FILE.toml`.
    pub fn open(name: &TargetName) -> Outcome<Self> {
        let text = name.to_string();
        let target = text.strip_prefix("sim:").unwrap_or(&text);
        let spec = spec(target)?;
        let array = spec.build();
        let volume = array.facts();
        let facts = TargetFacts {
            kind: TargetKind::Simulated,
            name: text.clone(),
            size_bytes: array.size_bytes(),
            partition_offset_bytes: Some(volume.partition_offset_bytes),
            logical_sector_bytes: array.sector_bytes(),
            physical_sector_bytes: None,
            file_system: None,
            device: None,
            simulation: Some(spec.describe()),
        };
        Ok(Simulated { spec, facts })
    }

    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    pub fn limits(&self) -> TargetLimits {
        TargetLimits {
            size_bytes: self.facts.size_bytes,
            logical_sector_bytes: self.facts.logical_sector_bytes,
        }
    }

    pub fn build(&self) -> Array {
        self.spec.build()
    }
}

/// The specification behind `NAME?key=value` or `FILE.toml`.
pub fn spec(target: &str) -> Outcome<ArraySpec> {
    ArraySpec::from_target(target, |path| std::fs::read_to_string(path)).map_err(spec_failure)
}

fn spec_failure(error: SpecError) -> Failure {
    let hint = error.hint().to_owned();
    Failure::usage(error.to_string(), hint)
}
