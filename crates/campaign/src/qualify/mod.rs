//! `qualify`: is this target good enough for a product? Runs the product's load, and judges each
//! of its requirements as met, missed, or undecided.

mod commit;
mod products;

pub use crate::steps::qualification::{KIND, QualifyResult, StoredQualification};
pub use commit::{CommitRequest, commit};
pub use products::{
    ProductLine, ProductText, RequirementLine, product_lines, product_names, product_text,
};

pub use stripewise_studies::qualify::QualifyDesign;

use crate::steps::TIMES_ARE_SIMULATED;
use crate::steps::qualification::{StoredStudy, exit_of_verdict, qualified};
use crate::steps::resuming::{begun_by_an_earlier_version, refuse_measured_elsewhere};
use crate::steps::typed_target::refuse_other_directory;
use stripewise_conductor::conduct::{Setup, conduct, needs, open, refuse_unusable};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::exit_of;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::{OpenTarget, void_in_memory};
use stripewise_store::Store;
use stripewise_studies::Study;
use stripewise_studies::qualify::{Placement, Qualify, QualifyOptions, Verdict};
use stripewise_targets::{ErrorKind, HAS_OPERATION_FLAGS, Size, TargetName};
use stripewise_units::{InputError, format_bytes, is_sim_target, path_of};

/// Page size of flash and memory: the smallest write to a device.
const PAGE_BYTES: u64 = 4_096;

/// Parameters of the qualification.
#[derive(Clone, Debug)]
pub struct QualifyRequest {
    /// As typed.
    pub target: String,
    /// The product's file.
    pub product: ProductText,
    /// Duration and rigour.
    pub design: QualifyDesign,
    /// Processors for limits that are per processor; `None`: those of this host.
    pub processors: Option<u32>,
    /// Seed of the loads and random places.
    pub seed: u64,
    /// Ends with the first missed requirement.
    pub ends_at_miss: bool,
    /// The engine of the operations.
    pub engine: String,
    /// Label stored with the runs.
    pub label: Option<String>,
}

/// Measures until every requirement is decided, or the design is complete.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub fn qualify(
    context: &Context,
    request: &QualifyRequest,
    permissions: &Permissions,
) -> Outcome<QualifyResult> {
    let placement = placement(&request.target, permissions)?;
    let options = QualifyOptions {
        design: request.design,
        placement,
        processors: request
            .processors
            .unwrap_or_else(|| context.host().cpu.count),
        seed: request.seed,
        ends_at_miss: request.ends_at_miss,
    };
    let study = Qualify::new(&request.product.text, options)
        .map_err(|error| product_failure(&request.product.name, &error))?
        .with_commits(HAS_OPERATION_FLAGS);
    refuse_unfit(&request.target, &study)?;
    let mut requirements = study.product().requirements.iter();
    if request.processors.is_some() && !requirements.any(|one| one.per_processor) {
        return Err(Failure::usage(
            format!(
                "--processors has no effect: {} requires nothing per processor",
                study.product().name
            ),
            "leave out --processors",
        ));
    }
    let mut store = context.open_store()?;
    let stored = StoredQualification::begun(
        context,
        &store,
        (&request.target, &request.engine),
        request.label.as_deref(),
        permissions,
    )?;
    go(context, &mut store, study, stored, permissions)
}

/// Resumes an interrupted qualification.
///
/// # Errors
/// If it is not known, or another process is measuring it.
pub fn resume(context: &Context, name: &str, permissions: &Permissions) -> Outcome<QualifyResult> {
    let mut store = context.open_store_there()?;
    let stored = StoredQualification::load(&store, name)?;
    refuse_other_directory(&stored.target, stored.whole_target.as_deref())?;
    refuse_measured_elsewhere(&store, &stored.id)?;
    let study = match stored.study()? {
        StoredStudy::Product(study) => *study,
        StoredStudy::Commit(study) => {
            return commit::resume(context, &mut store, *study, stored, permissions);
        }
    };
    if study.options().design == QualifyDesign::Signed && permissions.busy_ok {
        return Err(Failure::usage(
            "a verdict to sign is not made beside other load",
            "leave out --busy-ok",
        ));
    }
    if study.is_open() && study.counted_syncs() {
        return Err(begun_by_an_earlier_version(&stored.id));
    }
    if !study.is_open() {
        let exit = exit_of_verdict(study.verdict());
        return Ok(qualified(&study, &stored, exit, None));
    }
    go(context, &mut store, study, stored, permissions)
}

fn go(
    context: &Context,
    store: &mut Store,
    mut study: Qualify,
    mut stored: StoredQualification,
    permissions: &Permissions,
) -> Outcome<QualifyResult> {
    let request = stored.request();
    let target = stored.target.clone();
    let id = stored.id.clone();
    let setup = Setup {
        id: &id,
        target: &target,
        size: Size::Auto,
        request: &request,
        permissions,
        recordings: None,
    };
    refuse_unusable(context, store, &study, &setup)
        .map_err(|failure| without_room(failure, &target, &study))?;
    for line in study.plan() {
        context.plan(line);
    }
    if is_sim_target(&target) {
        context.plan(TIMES_ARE_SIMULATED);
    }
    let targets = open(context, store, &study, &setup)
        .map_err(|failure| without_room(failure, &target, &study))?;
    refuse_small(&targets, &study, &setup)?;
    stored.is_busy_ok |= permissions.busy_ok;
    // An interruption before its first piece ends can be resumed, too.
    stored.keep(context, store, study.to_json())?;
    let mut changed = |store: &mut Store, study: &Qualify| match study.is_at_pause() {
        true => stored.keep(context, store, study.to_json()),
        false => Ok(()),
    };
    let conducted = conduct(context, store, &mut study, targets, &setup, &mut changed);
    // A signal between two runs interrupts none of them.
    stored.store_or_report(context, store, study.to_json());
    let exit = match (study.verdict(), exit_of(context, &conducted.records)) {
        // A missed requirement stays missed, however the run ended.
        (Verdict::Missed, _) => Exit::Finding,
        (verdict, Exit::Done) => exit_of_verdict(verdict),
        (_, other) => other,
    };
    Ok(qualified(&study, &stored, exit, conducted.ended.err()))
}

/// Placement of the jobs on this target.
fn placement(target: &str, permissions: &Permissions) -> Outcome<Placement> {
    let name: TargetName = target.parse()?;
    let on_device = Placement {
        is_one_target: true,
        sector_bytes: PAGE_BYTES,
        reads_only: false,
        is_simulated: false,
    };
    let TargetName::Path(path) = name else {
        return Ok(Placement {
            is_simulated: true,
            ..on_device
        });
    };
    if path.is_dir() {
        return Ok(Placement::default());
    }
    let missing = std::fs::metadata(&path).err();
    if missing.is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return Err(Failure::new(
            Exit::Target,
            format!("{target}: there is no such file or directory"),
            "name a directory that is there, a file, a device or sim:NAME",
        ));
    }
    if path.is_file() {
        return Ok(Placement {
            sector_bytes: 0,
            reads_only: !permissions.overwrite,
            ..on_device
        });
    }
    Ok(Placement {
        reads_only: permissions.destroy_of(target).is_none(),
        ..on_device
    })
}

/// Refuses, before the first byte, a target that cannot get a verdict.
fn refuse_unfit(target: &str, study: &Qualify) -> Outcome<()> {
    if study.loads().is_empty() {
        return Err(Failure::new(
            Exit::Target,
            format!(
                "{} requires nothing of reads alone, and {target} may only be read",
                study.product().name
            ),
            "name a directory, or allow writes: --destroy NAME of a device, --overwrite of a file",
        ));
    }
    refuse_memory(target)
}

/// A simulated array's size comes from its name; only this check compares it with the load.
fn refuse_small(targets: &[OpenTarget], study: &Qualify, setup: &Setup<'_>) -> Outcome<()> {
    let [target] = targets else { return Ok(()) };
    let size_bytes = target.limits().size_bytes;
    match needs(&study.loads(), setup).size {
        Size::Exactly(needed_bytes) if needed_bytes > size_bytes => Err(Failure::new(
            Exit::Target,
            format!(
                "{} has {}, and the files of {} take {}",
                setup.target,
                format_bytes(size_bytes),
                study.product().name,
                format_bytes(needed_bytes)
            ),
            too_small(&study.product().name),
        )),
        _ => Ok(()),
    }
}

/// Refuses targets that are not disks.
fn refuse_memory(target: &str) -> Outcome<()> {
    if is_sim_target(target) {
        return Ok(());
    }
    match void_in_memory(&path_of(target)) {
        Some(void) => Err(Failure::new(
            Exit::Target,
            format!(
                "{target}: nothing here is stored by a disk: {}",
                void.message
            ),
            void.hint,
        )),
        None => Ok(()),
    }
}

/// Files of a load that do not fit: their sizes are the product's, not the user's.
fn without_room(failure: Failure, target: &str, study: &Qualify) -> Failure {
    let name = &study.product().name;
    let bytes = format_bytes(Placement::size_bytes(study.product()));
    match room_lacking(&failure) {
        None => failure,
        Some(ErrorKind::TooSmall) => failure.hinted(too_small(name)),
        Some(_) => failure.hinted(format!(
            "the files of {name} take {bytes} in all: name a directory with more room than {target}"
        )),
    }
}

/// Whether a target is too small, or its file system full.
fn room_lacking(failure: &Failure) -> Option<ErrorKind> {
    let error = failure.error.downcast_ref::<stripewise_targets::Error>()?;
    matches!(error.kind, ErrorKind::TooSmall | ErrorKind::NoSpace).then_some(error.kind)
}

/// What helps where no switch changes the size.
fn too_small(name: &str) -> String {
    format!("{name} sets the size: name a larger target, or a directory with that much room")
}

/// The failure for an unusable product.
fn product_failure(name: &str, error: &InputError) -> Failure {
    Failure::usage(format!("{name}: {error}"), error.hint())
}
