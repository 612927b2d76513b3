//! From the request to a plan, its places and its arrays: anything refusable
//! is refused here, before the first byte.

use super::commands::LayoutSite;
use super::factors::{self, FactorSetting, sets};
use super::simulated::Arrays;
use super::stored_layouts::{LayoutPlace, StoredLayouts};
use stripewise_array_sim::ArraySpec;
use stripewise_array_sim::layout::Level;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::simulated::spec;
use stripewise_lab::layouts::{
    Factor, LAYOUTS_MAX, LayoutCell, LayoutPlan, LayoutSet, SlotPlan, slot_plan,
};
use stripewise_results::{EffectRecord, LayoutLevels};
use stripewise_store::Store;
use stripewise_units::{ByteSize, sim_array};
use stripewise_workload::Workload;

/// Why the allocation unit is not varied.
pub const NO_FRAGMENTS: &str = "The allocation unit has no effect here: the file of a simulated array has no fragments (fragments=1000 makes some).";

/// The request.
#[derive(Clone, Debug)]
pub struct LayoutsRequest {
    /// `advise` or `lab`.
    pub part: &'static str,
    /// One line.
    pub title: String,
    /// As typed.
    pub target: String,
    /// The profile or mix by its name.
    pub profile: Option<String>,
    /// The varied factors.
    pub factors: Vec<Factor>,
    /// The workloads.
    pub cells: Vec<LayoutCell>,
    /// Their times are given: no pilot determines them.
    pub durations_given: bool,
    /// The present levels.
    pub present: LayoutLevels,
    /// Differences in per cent up to this do not count.
    pub margin_percent: Option<f64>,
    /// Maximum number of passes.
    pub passes_max: Option<u32>,
    /// Time limit for everything.
    pub time_ns: Option<u64>,
    /// Bytes of the target that are used.
    pub size_bytes: Option<u64>,
    /// Seed of the order and of all streams.
    pub seed: Option<u64>,
    /// The user's label.
    pub label: Option<String>,
    /// Layouts lie side by side and change places.
    pub slots: bool,
}

impl LayoutsRequest {
    /// A plan for these layouts that no slots are given to yet.
    pub fn plan(&self, set: LayoutSet) -> LayoutPlan {
        LayoutPlan {
            title: self.title.clone(),
            profile: self.profile.clone(),
            present: set.position(&self.present),
            set,
            cells: self.cells.clone(),
            margin_percent: self.margin_percent.unwrap_or(LayoutPlan::MARGIN_PERCENT),
            passes_max: self.passes_max.unwrap_or(LayoutPlan::PASSES_MAX),
            time_budget_ns: self.time_ns,
            seed: self.seed.unwrap_or(Workload::SEED),
            slots: None,
        }
    }
}

/// The experiment, not stored yet, and its arrays.
///
/// # Errors
/// If a factor, a level or a cell is not possible.
pub fn prepare(
    context: &Context,
    store: &Store,
    request: LayoutsRequest,
) -> Outcome<(StoredLayouts, Arrays)> {
    let set = set_of(context, &request.target, request.factors.clone())?;
    let places = (0..set.len())
        .map(|layout| factors::place(&request.target, &set.levels(layout)))
        .collect::<Outcome<Vec<LayoutPlace>>>()?;
    let mut arrays = Arrays::open(context, &places)?;
    let mut plan = request.plan(set);
    for cell in &mut plan.cells {
        let size_bytes = cell.workload.size_bytes;
        cell.workload.size_bytes = request.size_bytes.or(size_bytes);
    }
    if request.slots {
        arrays.divide(&request.target, &plan.cells)?;
    }
    plan.check()?;
    if request.slots {
        plan.slots = Some(slots_of(&plan)?);
    }
    let baseline = plan.present.unwrap_or(0);
    arrays.check(context, &plan)?;
    let sustained = match request.durations_given {
        false => arrays.find_durations(context, &mut plan, baseline)?,
        true => Vec::new(),
    };
    let array = spec(context, bare(&request.target))?;
    let mut stored =
        StoredLayouts::new(context, store, request.part, &request.target, plan, places)?;
    stored.label = request.label;
    stored.sustained = sustained;
    stored.ground = Some(LayoutSite::of_array(&array));
    stored.arrays = arrays.descriptions();
    Ok((stored, arrays))
}

/// The slot of each layout in each pass.
pub(super) fn slots_of(plan: &LayoutPlan) -> Outcome<SlotPlan> {
    let layouts = plan.set.len();
    if layouts > LAYOUTS_MAX {
        return Err(Failure::usage(
            format!("{layouts} layouts are too many to place side by side"),
            format!(
                "leave levels out, down to {LAYOUTS_MAX} layouts, or leave --slots out: worse layouts are dropped on the way then"
            ),
        ));
    }
    slot_plan(layouts, plan.passes_max as usize, plan.seed).map_err(Failure::from)
}

/// Refuses slots if they save nothing, or are not possible.
///
/// # Errors
/// If they were requested.
pub fn refuse_slots(request: &LayoutsRequest, why: &str) -> Outcome<()> {
    match request.slots {
        false => Ok(()),
        true => Err(Failure::usage(
            format!(
                "{}: layouts cannot be placed side by side here: {why}",
                request.target
            ),
            "leave slots out: each layout is then measured in the same place, which makes the comparison more precise",
        )),
    }
}

fn bare(target: &str) -> &str {
    sim_array(target).unwrap_or(target)
}

/// The logical sector of a simulated array.
///
/// # Errors
/// If there is no such array.
pub fn sector_of(context: &Context, target: &str) -> Outcome<u64> {
    Ok(spec(context, bare(target))?.sector_bytes)
}

/// All layouts of these factors that can exist on a simulated array.
fn set_of(context: &Context, target: &str, factors: Vec<Factor>) -> Outcome<LayoutSet> {
    for factor in &factors {
        factors::check_levels(context, target, factor)?;
    }
    full_set(factors, |levels| factors::cannot(context, target, levels))
}

/// All layouts of these factors that can exist; `cannot` says why one cannot, or fails if a level
/// is invalid regardless of the others.
///
/// # Errors
/// If a factor or level is invalid.
pub fn full_set(
    factors: Vec<Factor>,
    cannot: impl Fn(&LayoutLevels) -> Outcome<Option<String>>,
) -> Outcome<LayoutSet> {
    let failure = std::cell::RefCell::new(None);
    let set = LayoutSet::full(factors, |levels: &LayoutLevels| {
        cannot(levels).unwrap_or_else(|error| {
            let text = error.error.to_string();
            failure.borrow_mut().get_or_insert(error);
            Some(text)
        })
    });
    match failure.into_inner() {
        Some(failure) => Err(failure),
        None => set.map_err(Failure::from),
    }
}

/// The present levels; each becomes the first of its factor, the one that the
/// others are compared with.
///
/// # Errors
/// If there is no such factor.
pub fn present_levels(spec: &ArraySpec, factors: &mut [Factor]) -> Outcome<LayoutLevels> {
    let mut present = LayoutLevels::new();
    for factor in factors {
        if let Some(level) = present_level(spec, &factor.name, &factor.levels)? {
            put_first(factor, &level);
            present.insert(factor.name.clone(), level);
        }
    }
    Ok(present)
}

/// The present levels of a target's array.
///
/// # Errors
/// If there is no such array or factor.
pub fn present_of(
    context: &Context,
    target: &str,
    factors: &mut [Factor],
) -> Outcome<LayoutLevels> {
    present_levels(&spec(context, bare(target))?, factors)
}

/// Removes the allocation unit from the factors if it has no effect: returns its modelled effect,
/// and a note.
///
/// # Errors
/// If there is no such array.
pub fn without_allocation_unit(
    context: &Context,
    target: &str,
    factors: &mut Vec<Factor>,
) -> Outcome<Option<(EffectRecord, String)>> {
    let Some(place) = factors
        .iter()
        .position(|factor| factor.name == "allocation-unit")
    else {
        return Ok(None);
    };
    if allocation_unit_matters(context, bare(target), &factors[place])? {
        return Ok(None);
    }
    let factor = factors.remove(place);
    Ok(Some((no_effect(&factor), NO_FRAGMENTS.to_owned())))
}

/// The present level of a factor, as the factor spells it; `None` if it is
/// not known.
fn present_level(spec: &ArraySpec, factor: &str, levels: &[String]) -> Outcome<Option<String>> {
    let now = match sets(factor)? {
        FactorSetting::Key(key) => spec.value(key),
        FactorSetting::Raid => {
            let name = Level::ALL.iter().find(|(level, _)| *level == spec.level);
            name.map(|(_, name)| format!("raid{name}:{}", spec.disks))
        }
        FactorSetting::Option(_) => None,
    };
    let Some(now) = now else {
        return Ok(None);
    };
    // `63s` and `31.5K` are the same size, `raid10` and `raid10:4` may be the same array.
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

/// Moves the present level to the front, as the one that the others are compared with.
fn put_first(factor: &mut Factor, level: &str) {
    factor.levels.retain(|other| other != level);
    factor.levels.insert(0, level.to_owned());
}

/// Whether these allocation units affect the placement of data at all.
pub fn allocation_unit_matters(context: &Context, name: &str, factor: &Factor) -> Outcome<bool> {
    let mut starts = Vec::new();
    for level in &factor.levels {
        let joint = if name.contains('?') { '&' } else { '?' };
        let one = spec(context, &format!("{name}{joint}allocation_unit={level}"))?;
        let facts = one.facts();
        if facts.fragments > 0 {
            // Each piece begins at an allocation unit of its own.
            return Ok(true);
        }
        starts.push(facts.file_offset_bytes);
    }
    Ok(starts.windows(2).any(|pair| pair[0] != pair[1]))
}

/// A modelled effect of 0.
pub fn no_effect(factor: &Factor) -> EffectRecord {
    let first = factor.levels.first().cloned().unwrap_or_default();
    let last = factor.levels.last().cloned().unwrap_or_default();
    EffectRecord {
        factors: vec![factor.name.clone()],
        levels: vec![[first, last]],
        at: LayoutLevels::new(),
        percent: 0.0,
        low: 0.0,
        high: 0.0,
        p_value: 1.0,
        found: false,
        by_arithmetic: true,
    }
}
