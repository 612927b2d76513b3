//! `advise`: which layout for which use. Looks at what is there, proposes the layouts
//! worth trying, measures what it may, and answers with a choice, what matters and what
//! does not, and what makes the choice.
//!
//! | file | what |
//! |---|---|
//! | `propose` | the layouts worth trying on a simulated array |

mod propose;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::steps::layouts::factors;
use crate::steps::layouts::kept::{KeptLayouts, LayoutPlace};
use crate::steps::layouts::simulated::Arrays;
use crate::steps::layouts::sitting::{announce, simulate_layouts};
use stripewise_lab::experiment::PlanProblem;
use stripewise_lab::layouts::{Factor, LayoutCell, LayoutPlan, LayoutSet};
use stripewise_lab::profiles::Profile;
use stripewise_results::{AdviceRecord, LayoutLevels};
use stripewise_store::Store;
use stripewise_units::ByteSize;

/// What is asked.
#[derive(Clone, Debug)]
pub struct AdviseOptions {
    /// As typed.
    pub target: String,
    /// The use.
    pub profile: Profile,
    /// Factors with their levels that the user names; they take the place of proposed ones
    /// of the same name.
    pub vary: Vec<Factor>,
    /// Differences up to this do not count.
    pub margin_percent: f64,
    /// Passes at most.
    pub passes_max: Option<u32>,
    /// Time for everything; virtual on simulated arrays.
    pub time_ns: Option<u64>,
    /// How much of the target is used.
    pub size_bytes: Option<u64>,
    /// Of the order and of all streams.
    pub seed: u64,
    /// The user's words.
    pub label: Option<String>,
}

/// What came of it.
pub struct Advised {
    /// The document as it is kept.
    pub kept: KeptLayouts,
    /// The answer; none where fewer than two passes were finished.
    pub record: Option<AdviceRecord>,
    /// The failure that ended it, if one did; what was found is shown first.
    pub ended: Outcome<()>,
}

impl Advised {
    /// What it comes to: a finding where the present layout is outside the set of the best
    /// by more than the margin.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match &self.record {
            Some(record) if record.present_is_outside => Exit::Finding,
            _ => Exit::Done,
        }
    }
}

/// Advises.
///
/// # Errors
/// Where it cannot begin: nothing was measured.
pub fn advise(context: &Context, store: &mut Store, options: &AdviseOptions) -> Outcome<Advised> {
    if !options.target.starts_with("sim:") {
        return Err(Failure::usage(
            format!(
                "{} cannot be advised on yet: only simulated arrays can",
                options.target
            ),
            "name sim:NAME; `stripewise align TARGET` measures offsets on real targets",
        ));
    }
    let mut options = options.clone();
    let proposal = propose::propose(context, &options)?;
    let set = set_of(context, &options.target, proposal.factors)?;
    let places = (0..set.len())
        .map(|layout| factors::place(&options.target, &set.levels(layout)))
        .collect::<Outcome<Vec<LayoutPlace>>>()?;
    let arrays = Arrays::open(context, &places)?;
    let mut notes = options.profile.fit_sector(arrays.sector_bytes());
    notes.extend(options.profile.notes.iter().map(|note| sentence(note)));
    let mut plan = plan_of(&options, set, &proposal.present);
    plan.check().map_err(problem_failure)?;
    let baseline = plan_baseline(&plan);
    arrays.fit(context, &mut plan, baseline)?;
    let mut kept = KeptLayouts::new(context, store, "advise", &options.target, plan, places)?;
    kept.label = options.label.clone();
    kept.ground = Some(proposal.ground);
    kept.by_arithmetic = proposal.by_arithmetic;
    kept.notes = notes.into_iter().chain(proposal.notes).collect();
    kept.not_tried = proposal.not_tried;
    announce(context, &kept, true);
    let sitting = simulate_layouts(context, store, &arrays, kept)?;
    let record = sitting.kept.answer();
    Ok(Advised {
        kept: sitting.kept,
        record,
        ended: sitting.ended,
    })
}

fn sentence(note: &str) -> String {
    format!("{}.", stripewise_units::capitalised(note))
}

/// All layouts of these factors that can exist on a simulated array.
fn set_of(context: &Context, target: &str, factors: Vec<Factor>) -> Outcome<LayoutSet> {
    for factor in &factors {
        factors::check_levels(context, target, factor)?;
    }
    let failure = std::cell::RefCell::new(None);
    let set = LayoutSet::full(factors, |levels: &LayoutLevels| {
        factors::cannot(context, target, levels).unwrap_or_else(|error| {
            let text = error.error.to_string();
            failure.borrow_mut().get_or_insert(error);
            Some(text)
        })
    });
    match failure.into_inner() {
        Some(failure) => Err(failure),
        None => set.map_err(problem_failure),
    }
}

fn plan_of(options: &AdviseOptions, set: LayoutSet, present: &LayoutLevels) -> LayoutPlan {
    let cells = options
        .profile
        .cells()
        .into_iter()
        .zip(&options.profile.rows);
    let cells = cells.map(|(mix, row)| {
        let mut workload = row.workload.clone();
        workload.size_bytes = options.size_bytes;
        LayoutCell { mix, workload }
    });
    LayoutPlan {
        title: format!("Layout of {} for {}", options.target, options.profile.name),
        profile: Some(options.profile.name.clone()),
        cells: cells.collect(),
        present: set.position(present),
        set,
        margin_percent: options.margin_percent,
        passes_max: options.passes_max.unwrap_or(LayoutPlan::PASSES_MAX),
        time_budget_ns: options.time_ns,
        seed: options.seed,
    }
}

/// The layout whose rates say how long runs must be.
fn plan_baseline(plan: &LayoutPlan) -> usize {
    plan.present.unwrap_or(0)
}

/// A plan that breaks a rule.
fn problem_failure(problem: PlanProblem) -> Failure {
    let hint = problem.hint().to_owned();
    Failure::usage(problem.to_string(), hint)
}

/// What an allocation unit wastes on small files: half of one for each.
fn waste_note() -> String {
    let of = |unit: u64| ByteSize(unit / 2);
    format!(
        "By arithmetic: a file wastes half an allocation unit on average, {} with 4K and {} with 64K; a million small files 2 GiB and 31 GiB.",
        of(4 << 10),
        of(64 << 10)
    )
}
