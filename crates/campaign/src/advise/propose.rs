//! The layouts worth trying on a simulated array: where it starts now, at 1 MiB and at
//! sector 63; its stripe unit now, and 64K to 1M; and whatever the user names.

use super::{AdviseOptions, waste_note};
use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::steps::layouts::commands::Ground;
use crate::steps::layouts::factors::{Sets, sets};
use crate::steps::simulated::spec;
use stripewise_array_sim::ArraySpec;
use stripewise_array_sim::layout::Level;
use stripewise_lab::layouts::Factor;
use stripewise_results::{EffectRecord, LayoutLevels};
use stripewise_units::ByteSize;

const MIB: u64 = 1 << 20;
const OFFSET_63_SECTORS: u64 = 63 * 512;
/// Stripe units that controllers and mdadm offer and that are usual.
const UNITS: [u64; 5] = [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20];

/// What is proposed.
pub struct Proposal {
    pub factors: Vec<Factor>,
    /// What is there now, for these factors.
    pub present: LayoutLevels,
    pub ground: Ground,
    pub by_arithmetic: Vec<EffectRecord>,
    pub notes: Vec<String>,
    pub not_tried: Vec<String>,
}

pub fn propose(context: &Context, options: &AdviseOptions) -> Outcome<Proposal> {
    let name = options
        .target
        .strip_prefix("sim:")
        .unwrap_or(&options.target);
    let spec = spec(context, name)?;
    let mut factors = usual(&spec);
    let mut by_arithmetic = Vec::new();
    let mut notes = Vec::new();
    for asked in &options.vary {
        factors.retain(|factor| factor.name != asked.name);
        if asked.name == "allocation-unit" && !allocation_unit_matters(context, name, asked)? {
            by_arithmetic.push(no_effect(asked));
            notes.push(
                "The allocation unit has no effect here: the file of a simulated array has no fragments."
                    .to_owned(),
            );
            continue;
        }
        factors.push(asked.clone());
    }
    let asked = |name: &str| options.vary.iter().any(|factor| factor.name == name);
    if !asked("allocation-unit") {
        by_arithmetic.push(no_effect(&Factor {
            name: "allocation-unit".to_owned(),
            levels: vec!["4K".to_owned(), "64K".to_owned()],
        }));
        notes.push(
            "The allocation unit has no effect here: the file of a simulated array has no fragments."
                .to_owned(),
        );
    }
    notes.push(waste_note());
    if factors.is_empty() {
        return Err(Failure::usage(
            "there is nothing to vary on this array",
            "name a factor with its levels: --vary offset=63s,1M",
        ));
    }
    let mut present = LayoutLevels::new();
    for factor in &mut factors {
        if let Some(level) = present_level(&spec, &factor.name, &factor.levels)? {
            put_first(factor, &level);
            present.insert(factor.name.clone(), level);
        }
    }
    Ok(Proposal {
        not_tried: not_tried(&spec, asked),
        ground: Ground::of_array(&spec),
        factors,
        present,
        by_arithmetic,
        notes,
    })
}

/// Offset and stripe unit, where these can be had.
fn usual(spec: &ArraySpec) -> Vec<Factor> {
    let text = |sizes: Vec<u64>| sizes.into_iter().map(|size| ByteSize(size).to_string());
    let factor = |name: &str, sizes: Vec<u64>| Factor {
        name: name.to_owned(),
        levels: text(sizes).collect(),
    };
    let distinct = |sizes: Vec<u64>| {
        let mut kept: Vec<u64> = Vec::new();
        for size in sizes {
            if !kept.contains(&size) {
                kept.push(size);
            }
        }
        kept
    };
    let mut offsets = vec![spec.offset_bytes, MIB];
    if OFFSET_63_SECTORS.is_multiple_of(spec.sector_bytes.max(1)) {
        offsets.push(OFFSET_63_SECTORS);
    }
    let mut factors = vec![factor("offset", distinct(offsets))];
    if is_striped(spec.level) {
        let units = [&[spec.stripe_unit_bytes], &UNITS[..]].concat();
        factors.push(factor("stripe-unit", distinct(units)));
    }
    factors.retain(|factor| factor.levels.len() > 1);
    factors
}

fn is_striped(level: Level) -> bool {
    !matches!(level, Level::Single | Level::Linear | Level::Raid1)
}

/// The level of a factor that is there now, as the factor spells it; none where that is
/// not known.
fn present_level(spec: &ArraySpec, factor: &str, levels: &[String]) -> Outcome<Option<String>> {
    let now = match sets(factor)? {
        Sets::Key(key) => spec.value(key),
        Sets::Raid => {
            let name = Level::ALL.iter().find(|(level, _)| *level == spec.level);
            name.map(|(_, name)| format!("raid{name}:{}", spec.disks))
        }
        Sets::Option(_) => None,
    };
    let Some(now) = now else {
        return Ok(None);
    };
    // `63s` and `31.5K` are one size, `raid10` and `raid10:4` may be one array.
    let same = |level: &&String| match (level.parse::<ByteSize>(), now.parse::<ByteSize>()) {
        (Ok(a), Ok(b)) => a == b,
        _ => {
            let bare = |text: &str| {
                let text = text.strip_prefix("raid").unwrap_or(text);
                text.split(':').next().unwrap_or(text).to_owned()
            };
            **level == now
                || (factor == "raid" && !level.contains(':') && bare(level) == bare(&now))
        }
    };
    Ok(levels.iter().find(same).cloned())
}

/// The level that is there now is the one that the others are held against.
fn put_first(factor: &mut Factor, level: &str) {
    factor.levels.retain(|other| other != level);
    factor.levels.insert(0, level.to_owned());
}

/// Whether these allocation units move the data at all.
fn allocation_unit_matters(context: &Context, name: &str, factor: &Factor) -> Outcome<bool> {
    let mut starts = Vec::new();
    for level in &factor.levels {
        let joint = if name.contains('?') { '&' } else { '?' };
        let one = spec(context, &format!("{name}{joint}allocation_unit={level}"))?;
        starts.push(one.build().facts().file_offset_bytes);
    }
    Ok(starts.windows(2).any(|pair| pair[0] != pair[1]))
}

/// An effect of 0, by the model.
fn no_effect(factor: &Factor) -> EffectRecord {
    let first = factor.levels.first().cloned().unwrap_or_default();
    let last = factor.levels.last().cloned().unwrap_or_default();
    EffectRecord {
        factors: vec![factor.name.clone()],
        levels: vec![[first, last]],
        percent: 0.0,
        low: 0.0,
        high: 0.0,
        p_value: 1.0,
        found: false,
        by_arithmetic: true,
    }
}

fn not_tried(spec: &ArraySpec, asked: impl Fn(&str) -> bool) -> Vec<String> {
    let mut not_tried = Vec::new();
    if !asked("raid") {
        let more = if spec.disks > 1 {
            "raid=raid10,raid5"
        } else {
            "raid=single,raid10:4"
        };
        not_tried.push(format!(
            "other RAID levels and numbers of disks: they change capacity and protection (--vary {more})"
        ));
    }
    if !asked("stripe-unit") && is_striped(spec.level) {
        not_tried
            .push("stripe units below 64K and above 1M (--vary stripe-unit=16K,64K,2M)".to_owned());
    }
    not_tried.push("file systems: a simulated array has none".to_owned());
    not_tried.push("ageing: every layout is fresh".to_owned());
    not_tried
}
