//! The layouts worth trying on a simulated array: its present start, 1 MiB and
//! sector 63; its present stripe unit, and 64K to 1M; and any that the user names.

use super::slack_space::{slack_note, units_of};
use super::{AdviseOptions, MIB, OFFSET_63_SECTORS, factor_of};
use crate::steps::layouts::plan::{
    NO_FRAGMENTS, allocation_unit_matters, no_effect, present_levels,
};
use stripewise_array_sim::ArraySpec;
use stripewise_array_sim::layout::Level;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::simulated::spec;
use stripewise_lab::layouts::Factor;
use stripewise_results::{EffectRecord, LayoutLevels};
use stripewise_units::sim_array;

/// Common stripe units of controllers and mdadm.
const UNITS: [u64; 5] = [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20];

/// The proposed layouts.
pub struct Proposal {
    pub factors: Vec<Factor>,
    /// The present levels of these factors.
    pub present: LayoutLevels,
    pub by_arithmetic: Vec<EffectRecord>,
    pub notes: Vec<String>,
    pub not_tried: Vec<String>,
}

pub fn propose(context: &Context, options: &AdviseOptions) -> Outcome<Proposal> {
    let name = sim_array(&options.target).unwrap_or(&options.target);
    let spec = spec(context, name)?;
    let mut factors = usual(&spec);
    let mut by_arithmetic = Vec::new();
    let mut notes = Vec::new();
    for requested in &options.vary {
        factors.retain(|factor| factor.name != requested.name);
        if requested.name == "allocation-unit"
            && !allocation_unit_matters(context, name, requested)?
        {
            by_arithmetic.push(no_effect(requested));
            notes.push(NO_FRAGMENTS.to_owned());
            continue;
        }
        factors.push(requested.clone());
    }
    let requested = |name: &str| options.vary.iter().any(|factor| factor.name == name);
    if !requested("allocation-unit") {
        by_arithmetic.push(no_effect(&Factor {
            name: "allocation-unit".to_owned(),
            levels: vec!["4K".to_owned(), "64K".to_owned()],
        }));
        notes.push(NO_FRAGMENTS.to_owned());
    }
    notes.push(slack_note(&units_of(&options.vary)));
    if factors.is_empty() {
        return Err(Failure::usage(
            "there is nothing to vary on this array",
            "name a factor with its levels: --vary offset=63s,1M",
        ));
    }
    let present = present_levels(&spec, &mut factors)?;
    Ok(Proposal {
        not_tried: not_tried(&spec, requested),
        factors,
        present,
        by_arithmetic,
        notes,
    })
}

/// Offset and stripe unit, if the array supports them.
fn usual(spec: &ArraySpec) -> Vec<Factor> {
    let mut offsets = vec![spec.offset_bytes, MIB];
    if OFFSET_63_SECTORS.is_multiple_of(spec.sector_bytes.max(1)) {
        offsets.push(OFFSET_63_SECTORS);
    }
    let mut factors = vec![factor_of("offset", offsets)];
    if is_striped(spec.level) {
        let units = std::iter::once(spec.stripe_unit_bytes).chain(UNITS);
        factors.push(factor_of("stripe-unit", units));
    }
    factors.retain(|factor| factor.levels.len() > 1);
    factors
}

fn is_striped(level: Level) -> bool {
    !matches!(level, Level::Single | Level::Linear | Level::Raid1)
}

fn not_tried(spec: &ArraySpec, requested: impl Fn(&str) -> bool) -> Vec<String> {
    let mut not_tried = Vec::new();
    if !requested("raid") {
        let more = if spec.disks > 1 {
            "raid=raid10,raid5"
        } else {
            "raid=single,raid10:4"
        };
        not_tried.push(format!(
            "other RAID levels and numbers of disks: they change capacity and protection (--vary {more})"
        ));
    }
    if !requested("stripe-unit") && is_striped(spec.level) {
        not_tried
            .push("stripe units below 64K and above 1M (--vary stripe-unit=16K,64K,2M)".to_owned());
    }
    not_tried.push("file systems: a simulated array has none".to_owned());
    not_tried.push("ageing: every layout is fresh".to_owned());
    not_tried
}
