//! `advise`: which layout suits which use. Examines the present layout, proposes layouts
//! worth trying, measures them if permitted, and answers with a choice, which factors
//! matter, and the commands that make it.
//!
//! | file | content |
//! |---|---|
//! | `propose` | the layouts worth trying on a simulated array |
//! | `real` | on real targets: made where devices may be destroyed, else base offsets |
//! | `slack_space` | space that allocation units waste on small files |

mod propose;
mod real;
mod slack_space;

use crate::steps::layouts::plan::{LayoutsRequest, prepare, sector_of};
use crate::steps::layouts::session::{LayoutsSession, announce, simulate_layouts};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::permissions::Permissions;
use stripewise_lab::layouts::Factor;
use stripewise_lab::plan_file::cells_of;
use stripewise_lab::profiles::Profile;
use stripewise_results::LayoutLevels;
use stripewise_store::Store;
use stripewise_units::{ByteSize, capitalised, distinct, is_sim_target};

const MIB: u64 = 1 << 20;
const OFFSET_63_SECTORS: u64 = 63 * 512;

/// The question and its parameters.
#[derive(Clone, Debug)]
pub struct AdviseOptions {
    /// As typed.
    pub target: String,
    /// The use.
    pub profile: Profile,
    /// Factors with their levels named by the user; they replace proposed ones
    /// of the same name.
    pub vary: Vec<Factor>,
    /// Differences in per cent up to this do not count.
    pub margin_percent: f64,
    /// Maximum number of passes.
    pub passes_max: Option<u32>,
    /// Time limit for everything; virtual on simulated arrays.
    pub time_ns: Option<u64>,
    /// Bytes of the target that are used.
    pub size_bytes: Option<u64>,
    /// Seed of the order and of all streams.
    pub seed: u64,
    /// The user's label.
    pub label: Option<String>,
    /// Layouts lie side by side and change places.
    pub slots: bool,
}

/// Measures layouts and recommends one.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub fn advise(
    context: &Context,
    store: &mut Store,
    options: &AdviseOptions,
    permissions: &Permissions,
) -> Outcome<LayoutsSession> {
    if !is_sim_target(&options.target) {
        return real::advise(context, store, options, permissions);
    }
    if !permissions.destroy.is_empty() {
        return Err(Failure::usage(
            "--destroy names a device, and a simulated array has none",
            "leave it out",
        ));
    }
    let proposal = propose::propose(context, options)?;
    let sector_bytes = sector_of(context, &options.target)?;
    let (mut request, mut notes) = request(options, proposal.factors, sector_bytes);
    request.present = proposal.present;
    notes.extend(proposal.notes);
    let (mut stored, arrays) = prepare(context, store, request)?;
    stored.by_arithmetic = proposal.by_arithmetic;
    stored.notes = notes;
    stored.not_tried = proposal.not_tried;
    announce(context, &stored, true);
    simulate_layouts(context, store, &arrays, stored)
}

/// The question for these factors on a target with this sector size, and notes on it.
fn request(
    options: &AdviseOptions,
    factors: Vec<Factor>,
    sector_bytes: u64,
) -> (LayoutsRequest, Vec<String>) {
    let mut profile = options.profile.clone();
    let mut notes = profile.fit_sector(sector_bytes);
    notes.extend(profile.notes.iter().map(|note| sentence(note)));
    let request = LayoutsRequest {
        part: "advise",
        title: format!("Layout of {} for {}", options.target, profile.name),
        target: options.target.clone(),
        profile: Some(profile.name.clone()),
        factors,
        cells: cells_of(&profile),
        durations_given: false,
        present: LayoutLevels::new(),
        margin_percent: Some(options.margin_percent),
        passes_max: options.passes_max,
        time_ns: options.time_ns,
        size_bytes: options.size_bytes,
        seed: Some(options.seed),
        label: options.label.clone(),
        slots: options.slots,
    };
    (request, notes)
}

/// A factor with these sizes as levels, each once.
fn factor_of(name: &str, sizes: impl IntoIterator<Item = u64>) -> Factor {
    let levels = sizes.into_iter().map(|size| ByteSize(size).to_string());
    Factor {
        name: name.to_owned(),
        levels: distinct(levels),
    }
}

fn sentence(note: &str) -> String {
    format!("{}.", capitalised(note))
}
