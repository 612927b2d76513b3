//! `sim`: lists and describes the simulated arrays.

mod text;

pub use text::arrays_sheet;

use crate::steps::array_facts::level_name;
use serde::Serialize;
use stripewise_array_sim::{ArraySpec, Simulate, bundled};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::Outcome;
use stripewise_conductor::simulated;
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::sim_array;

/// One array.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct SimulatedArray {
    /// Its name behind `sim:`.
    pub name: String,
    /// `RAID 10`, `single`: as people say it.
    pub level: String,
    /// Disks.
    pub disks: u32,
    /// Bytes on one disk before the next one's; 0 where there is one disk.
    pub stripe_unit_bytes: u64,
    /// Where the partition starts.
    pub partition_offset_bytes: u64,
    /// Bytes that can be used.
    pub size_bytes: u64,
    /// Its disks turn.
    pub rotational: bool,
    /// Of one array that is shown: all its keys, as a file has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// All that are bundled.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct SimListDocument {
    schema_version: u32,
    /// In the order in which they are shown.
    pub arrays: Vec<SimulatedArray>,
}

/// One of them in full.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct SimShowDocument {
    schema_version: u32,
    /// With its description.
    pub array: SimulatedArray,
    /// The bundled file, which contains the sources of its figures; absent for a modified array or
    /// one read from elsewhere.
    #[serde(skip)]
    pub file: Option<&'static str>,
}

/// All bundled arrays.
pub fn list() -> SimListDocument {
    let arrays = bundled().iter();
    SimListDocument {
        schema_version: SCHEMA_VERSION,
        arrays: arrays.map(|array| of(array.name, &array.spec())).collect(),
    }
}

/// The array of this name, with changes: `raid10-10k?offset=63s`.
///
/// # Errors
/// If there is none, or a change is refused.
pub fn show(context: &Context, name: &str) -> Outcome<SimShowDocument> {
    let name = sim_array(name).unwrap_or(name);
    let spec = simulated::spec(context, name)?;
    let file = bundled().iter().find(|array| array.name == name);
    Ok(SimShowDocument {
        schema_version: SCHEMA_VERSION,
        array: SimulatedArray {
            description: Some(spec.describe()),
            ..of(name, &spec)
        },
        file: file.map(|array| array.text),
    })
}

fn of(name: &str, spec: &ArraySpec) -> SimulatedArray {
    let array = spec.build();
    let facts = array.facts();
    SimulatedArray {
        name: name.to_owned(),
        level: level_name(facts.level),
        disks: facts.disks,
        stripe_unit_bytes: facts.stripe_unit_bytes,
        partition_offset_bytes: facts.partition_offset_bytes,
        size_bytes: array.size_bytes(),
        rotational: facts.rotational,
        description: None,
    }
}
