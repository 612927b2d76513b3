//! Turns what the user named into something to measure: real targets
//! under the rules of `targets`, simulated arrays, or nothing at all.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::needs::Needs;
use crate::observer::{Event, Progress, left_at_rate};
use crate::permissions::Permissions;
use crate::simulated::Simulated;
use std::ops::ControlFlow;
use std::path::Path;
use stripewise_array_sim::bundled;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_io_engine::EngineName;
use stripewise_results::{EngineFacts, TargetFacts, Warning};
use stripewise_runner::LivingArrays;
use stripewise_runner::session::JobTarget;
use stripewise_runner::trust::{Evidence, foreseen, one_pass_in_part};
use stripewise_store::Store;
use stripewise_targets::{
    Error, ErrorKind, FillProgress, Intent, IoFeatures, MadeFile, Plan, PlanContext, Size, Target,
    TargetName, canonical,
};
use stripewise_units::{NameText, format_bytes, format_duration, is_sim_target};
use stripewise_workload::{CacheMode, TargetLimits, Workload};

/// Offsets of the null engine stay below this unless a size is given.
const NOTHING_SIZE_BYTES: u64 = 1 << 40;

/// An open target.
pub enum OpenTarget {
    /// A file or device.
    Real {
        /// The open target.
        target: Box<Target>,
    },
    /// A simulated array.
    Simulated(Box<Simulated>),
    /// Nothing at all, for the null engine.
    Nothing {
        /// As the user named it.
        name: String,
        /// Offsets stay below this.
        size_bytes: u64,
    },
}

impl OpenTarget {
    /// The name under which it is found from any directory.
    pub fn full_name(&self) -> String {
        match self {
            OpenTarget::Simulated(simulated) => simulated.typed().to_owned(),
            _ => self.place(0).facts().full_name().to_owned(),
        }
    }

    /// What a workload must fit into.
    pub fn limits(&self) -> TargetLimits {
        match self {
            OpenTarget::Real { target } => TargetLimits {
                size_bytes: target.size_bytes(),
                logical_sector_bytes: target.logical_sector_bytes(),
            },
            OpenTarget::Simulated(simulated) => simulated.limits(),
            OpenTarget::Nothing { size_bytes, .. } => TargetLimits {
                size_bytes: *size_bytes,
                logical_sector_bytes: 512,
            },
        }
    }

    /// The target for a session; `array` is its index among the run's arrays.
    pub fn place(&self, array: usize) -> JobTarget<'_> {
        match self {
            OpenTarget::Real { target } => JobTarget::Real(target),
            OpenTarget::Simulated(simulated) => JobTarget::Simulated {
                facts: Box::new(simulated.facts().clone()),
                array,
            },
            OpenTarget::Nothing { name, size_bytes } => JobTarget::Nothing {
                name: name.clone(),
                size_bytes: *size_bytes,
            },
        }
    }

    /// The array, if it is one.
    pub fn simulated(&self) -> Option<&Simulated> {
        match self {
            OpenTarget::Simulated(simulated) => Some(simulated),
            _ => None,
        }
    }

    /// The real target, if it is one.
    pub fn real(&self) -> Option<&Target> {
        match self {
            OpenTarget::Real { target } => Some(target),
            _ => None,
        }
    }

    /// Removes the files that were made.
    pub fn finish(self) -> Outcome<()> {
        match self {
            OpenTarget::Real { target } => target.finish().map_err(Failure::from),
            _ => Ok(()),
        }
    }

    /// As [`OpenTarget::finish`], after something was measured: a failure is reported, and the
    /// result is shown all the same.
    pub fn finish_or_report(self, context: &Context) {
        if let Err(failure) = self.finish() {
            context.note_late_failure(&failure);
        }
    }
}

/// Checks and prepares a target. Prints the plan before writing the first byte.
pub fn open_target(
    context: &Context,
    store: &mut Store,
    text: &str,
    need: &Needs,
    permissions: &Permissions,
) -> Outcome<OpenTarget> {
    let name: TargetName = text.parse()?;
    match &name {
        TargetName::Simulated { .. } | TargetName::Dataset(_) => {
            let simulated = open_simulated(context, &name, need)?;
            Ok(OpenTarget::Simulated(Box::new(simulated)))
        }
        TargetName::Path(path) => {
            judge_engine(need)?;
            let intent = Intent {
                destroy: permissions.destroy_of(text),
                ..intent(need, permissions)
            };
            let plan = judge(context, store, &name, &intent)?;
            let in_memory = void_in_memory(path);
            in_memory
                .iter()
                .for_each(|void| warn_of_void(context, void));
            let opened = execute(context, store, plan, doing(&intent), &mut |_, _| {})?;
            if in_memory.is_none()
                && need.reads
                && !need.filled_by_caller
                && let Some(void) = void_data(&opened)
            {
                warn_of_void(context, &void);
            }
            Ok(opened)
        }
    }
}

/// Refuses an engine that does not work here before a test file is made for it.
fn judge_engine(need: &Needs) -> Outcome<()> {
    let poll = need.features().poll;
    if poll && !need.engine.polls() {
        return Err(Failure::usage(
            format!("--engine {} does not poll for completions", need.engine),
            "leave out --poll, or use <--engine> uring, on Linux",
        ));
    }
    // Options that require io_uring rule out other engines.
    let (engine, option) = match (need.engine, poll) {
        (EngineName::Nvme, _) => (EngineName::Uring, Some("<--engine> nvme")),
        (EngineName::Auto | EngineName::Uring, true) => (EngineName::Uring, Some("--poll")),
        (engine, _) => (engine, None),
    };
    engine.probe().map_err(|error| {
        let hint = match option {
            Some(option) => format!(
                "{option} needs io_uring: leave it out, or see `stripewise doctor` for why io_uring is not available"
            ),
            None => error.hint.to_owned(),
        };
        Failure::of(Exit::Target, error).hinted(hint)
    })
}

/// A simulated array has no kernel in front of it that could take special requests.
fn refuse_features(need: &Needs) -> Outcome<()> {
    if need.engine == EngineName::Nvme {
        return Err(Failure::usage(
            "a simulated array does not take NVMe commands",
            "leave out <--engine> nvme, or name an NVMe generic character device, such as /dev/ng0n1",
        ));
    }
    // A durable write is the same whatever flag makes it durable.
    let besides = IoFeatures {
        dsync: false,
        ..need.features()
    };
    if besides == IoFeatures::default() && need.cache != CacheMode::Dontcache {
        return Ok(());
    }
    Err(Failure::target(
        "simulated arrays have no uncached, atomic or polled operations, and no discards",
        "leave out --atomic, --poll, the discards, and <--cache> dontcache",
    ))
}

/// Checks a target as [`open_target`] does first, and does nothing else.
pub fn judge_requirements(
    context: &Context,
    store: &Store,
    text: &str,
    need: &Needs,
    permissions: &Permissions,
) -> Outcome<()> {
    judged_size(context, store, text, need, permissions).map(drop)
}

/// As [`judge_requirements`], with the bytes that can be measured.
pub fn judged_size(
    context: &Context,
    store: &Store,
    text: &str,
    need: &Needs,
    permissions: &Permissions,
) -> Outcome<u64> {
    let name: TargetName = text.parse()?;
    match &name {
        TargetName::Path(_) => {
            judge_engine(need)?;
            let intent = Intent {
                destroy: permissions.destroy_of(text),
                ..intent(need, permissions)
            };
            judge(context, store, &name, &intent).map(|plan| plan.size_bytes)
        }
        TargetName::Simulated { .. } | TargetName::Dataset(_) => {
            let simulated = open_simulated(context, &name, need)?;
            Ok(simulated.limits().size_bytes)
        }
    }
}

/// A simulated array; nothing else that is no path can be measured.
fn open_simulated(context: &Context, name: &TargetName, need: &Needs) -> Outcome<Simulated> {
    match name {
        TargetName::Simulated { .. } => {
            refuse_features(need)?;
            Simulated::open(context, name)
        }
        _ => Err(Failure::usage(
            format!("{name} is a published table: it can be compared, not run"),
            "name a directory, a file, a block device or sim:NAME",
        )),
    }
}

/// Reads would work: only permission to write is missing.
pub fn lacks_permission_to_write(failure: &Failure) -> bool {
    failure
        .error
        .downcast_ref::<stripewise_targets::Error>()
        .is_some_and(|error| error.kind.lacks_write_permission())
}

/// Reports that only reads are measured, if only permission to write is missing and
/// the user did not ask for writes.
///
/// # Errors
/// Any other failure.
pub fn reads_instead(
    context: &Context,
    permissions: &Permissions,
    failure: Failure,
) -> Outcome<()> {
    let is_permitted = permissions.overwrite || !permissions.destroy.is_empty();
    if is_permitted || !lacks_permission_to_write(&failure) {
        return Err(failure);
    }
    let text = format!("only reads are measured: {}", failure.error);
    context.note_failure(&text, &failure);
    Ok(())
}

/// A warning, before anything is done, that every result on this path is void because it is
/// in memory. `None` if that cannot be determined.
pub fn void_in_memory(path: &Path) -> Option<Warning> {
    let storage = System::live().storage_of_path(path).ok()?;
    let evidence = Evidence {
        storage: Some(storage),
        ..nothing_measured(TargetFacts::unknown())
    };
    foreseen(&evidence).into_iter().next()
}

/// The warning, before the first read, that reads are void: holes or zeros.
pub fn void_data(opened: &OpenTarget) -> Option<Warning> {
    let target = opened.real()?;
    let evidence = Evidence {
        data: target.data_facts().cloned(),
        ..nothing_measured(target.facts().clone())
    };
    foreseen(&evidence).into_iter().next()
}

/// Evidence for a load that reads, before it runs.
pub fn nothing_measured(target: TargetFacts) -> Evidence {
    Evidence::new(
        target,
        Workload::default(),
        EngineFacts::default(),
        stripewise_results::JobOutcome::default(),
    )
}

/// Warns of a void result before time is spent on it.
fn warn_of_void(context: &Context, void: &Warning) {
    context.observer().on_event(&Event::Warning {
        code: Some(&void.code),
        text: &format!("results will be void ({}): {}", void.code, void.message),
        hint: Some(&void.hint),
    });
}

/// Warns before the first pass that cannot serve its purpose; see [`one_pass_in_part`].
pub fn warn_of_one_pass<'a>(
    context: &Context,
    opened: &OpenTarget,
    workloads: impl IntoIterator<Item = &'a Workload>,
) {
    let Some(target) = opened.real() else {
        return;
    };
    let judge = |workload: &Workload| {
        one_pass_in_part(&Evidence {
            workload: workload.clone(),
            ..nothing_measured(target.facts().clone())
        })
    };
    if let Some(warning) = workloads.into_iter().find_map(judge) {
        context.observer().on_event(&Event::Warning {
            code: Some(&warning.code),
            text: &warning.message,
            hint: Some(&warning.hint),
        });
    }
}

/// As [`open_target`]; with the null engine opens only simulated arrays.
pub fn open_or_nothing(
    context: &Context,
    store: &mut Store,
    text: &str,
    need: &Needs,
    permissions: &Permissions,
) -> Outcome<OpenTarget> {
    match need.engine == EngineName::Null && !is_sim_target(text) {
        true => Ok(open_nothing(text, need.size)),
        false => open_target(context, store, text, need, permissions),
    }
}

/// New arrays for the simulated ones of these targets.
pub fn living_arrays(targets: &[OpenTarget]) -> LivingArrays {
    let simulated = targets.iter().filter_map(OpenTarget::simulated);
    LivingArrays::new(simulated.map(Simulated::build).collect())
}

/// Nothing at all, for the null engine.
pub fn open_nothing(text: &str, size: Size) -> OpenTarget {
    let size_bytes = match size {
        Size::Exactly(bytes) | Size::AtMost(bytes) => bytes,
        Size::Auto => NOTHING_SIZE_BYTES,
    };
    OpenTarget::Nothing {
        name: text.to_owned(),
        size_bytes,
    }
}

/// What a command intends to do with a target.
pub fn intent(need: &Needs, permissions: &Permissions) -> Intent {
    Intent {
        reads: need.reads,
        writes: need.writes,
        size: need.size,
        overwrite: permissions.overwrite,
        destroy: permissions.destroy.first().cloned(),
        busy_ok: permissions.busy_ok,
        keep: permissions.keep,
        outstanding_total: need.outstanding_total,
        outstanding_by_number: need.outstanding_by_number,
        cache: need.cache,
        cache_by_name: need.cache_by_name,
        features: need.features(),
        loads: need.loads.clone(),
        data: need.data,
        seed: need.seed,
        fill_time_limit_ns: need.fill_time_limit_ns,
        filled_by_caller: need.filled_by_caller,
        ..Intent::default()
    }
}

/// Calls the targets crate with access to the test files that the store knows.
fn with_known_facts<T>(
    context: &Context,
    store: &Store,
    ask: impl FnOnce(&PlanContext<'_>) -> Outcome<T>,
) -> Outcome<T> {
    let known = known_files(store)?;
    let is_known = |file: &MadeFile| known.iter().any(|other| other.is_same_file(file));
    let path = context.store_path()?;
    ask(&PlanContext {
        is_known: &is_known,
        store: Some(&path),
        is_stopped: &|| context.signal().is_some(),
    })
}

/// A failure of a target, or of a command that was stopped while the target was checked,
/// made or filled.
fn unless_stopped(context: &Context, error: Error) -> Failure {
    if error.kind == ErrorKind::Interrupted {
        return interrupted(context);
    }
    let is_array = |name: &str| bundled().iter().any(|array| array.name == name);
    let is_simulated = error.kind == ErrorKind::NotFound && is_array(&error.target);
    let hint = is_simulated.then(|| format!("did you mean sim:{}?", error.target));
    let failure = Failure::from(error);
    match hint {
        Some(hint) => failure.hinted(hint),
        None => failure,
    }
}

/// The intent, completed with what the context provides.
fn here(context: &Context, intent: &Intent) -> Intent {
    Intent {
        file_system_size: context.file_system_size(),
        ..intent.clone()
    }
}

/// Checks an intent without carrying it out.
pub fn judge(
    context: &Context,
    store: &Store,
    name: &TargetName,
    intent: &Intent,
) -> Outcome<Plan> {
    let intent = &here(context, intent);
    with_known_facts(context, store, |knowledge| {
        stripewise_targets::plan(name, intent, knowledge)
            .map_err(|error| unless_stopped(context, error))
    })
}

/// Plans, prints the plan, and carries it out with progress.
pub fn prepare(
    context: &Context,
    store: &mut Store,
    name: &TargetName,
    intent: &Intent,
) -> Outcome<OpenTarget> {
    prepare_hearing(context, store, name, intent, &mut |_, _| {})
}

/// As [`prepare`]; `on_progress` receives the elapsed time, and how many bytes of a new file are
/// written by then.
pub fn prepare_hearing(
    context: &Context,
    store: &mut Store,
    name: &TargetName,
    intent: &Intent,
    on_progress: &mut dyn FnMut(u64, u64),
) -> Outcome<OpenTarget> {
    let plan = judge(context, store, name, intent)?;
    execute(context, store, plan, doing(intent), on_progress)
}

/// Title for filling a new test file.
const FILLING: &str = "Filling the test file";

/// Progress title for the test file that this intent makes.
fn doing(intent: &Intent) -> &'static str {
    match intent.filled_by_caller {
        true => "Making the test file",
        false => FILLING,
    }
}

/// Prints the plan, then carries it out with progress.
fn execute(
    context: &Context,
    store: &mut Store,
    plan: Plan,
    doing: &'static str,
    on_progress: &mut dyn FnMut(u64, u64),
) -> Outcome<OpenTarget> {
    context.plan(&plan);
    let kept_as = plan.fill.as_ref().and_then(|fill| fill.kept_as.clone());
    let time_limit_ns = plan.fill.as_ref().and_then(|fill| fill.time_limit_ns);
    let mut filling = Filling::new(context, doing, time_limit_ns, on_progress);
    let known = known_files(store)?;
    let is_known = |file: &MadeFile| known.iter().any(|other| other.is_same_file(file));
    let store_path = context.store_path()?;
    let knowledge = PlanContext {
        is_known: &is_known,
        store: Some(&store_path),
        is_stopped: &|| context.signal().is_some(),
    };
    let mut keeping = KeptFileFill {
        filling: &mut filling,
        store: &mut *store,
        kept_as: kept_as.clone(),
        failure: None,
    };
    let prepared = stripewise_targets::prepare(plan, &knowledge, &mut keeping);
    if let Some(failure) = keeping.failure {
        return Err(failure);
    }
    let target = prepared.map_err(|error| unless_stopped(context, error))?;
    drop(filling);
    report_filling(context, &target);
    // Repeats the entry where the platform names the file before anything can be stored.
    if let Some(made) = target.made_file() {
        remember(context, store, made, kept_as)?;
    }
    Ok(OpenTarget::Real {
        target: Box::new(target),
    })
}

/// Makes a file larger with progress; a test file remains one.
pub fn expand(
    context: &Context,
    store: &mut Store,
    path: &std::path::Path,
    to_bytes: u64,
    intent: &Intent,
) -> Outcome<()> {
    let mut on_progress = |_, _| {};
    let mut filling = Filling::new(context, FILLING, None, &mut on_progress);
    let intent = &here(context, intent);
    let made = with_known_facts(context, store, |knowledge| {
        stripewise_targets::expand(path, to_bytes, intent, knowledge, &mut filling)
            .map_err(|error| unless_stopped(context, error))
    })?;
    drop(filling);
    match made {
        Some(made) => {
            // The next command may be run in another directory.
            let place = canonical(path).unwrap_or_else(|_| path.to_owned());
            remember(context, store, &made, Some(place))
        }
        None => Ok(()),
    }
}

/// Reports the result of the preparation.
fn report_filling(context: &Context, target: &Target) {
    if let Some(report) = target.fill_report() {
        let seconds = report.duration_ns as f64 / 1e9;
        let rate = if seconds > 0.0 {
            report.bytes as f64 / 1_048_576.0 / seconds
        } else {
            0.0
        };
        context.status(format!(
            "Filled {} in {} ({rate:.0} MiB/s){}",
            format_bytes(report.bytes),
            format_duration(report.duration_ns),
            if report.time_limit_hit {
                format!(
                    "; filling reached its time limit, so the file is smaller than the {} planned",
                    format_bytes(report.planned_bytes)
                )
            } else {
                String::new()
            }
        ));
    }
    for text in target.notes() {
        context.observer().on_event(&Event::Remark { text });
    }
}

fn remember(
    context: &Context,
    store: &mut Store,
    made: &MadeFile,
    kept_as: Option<std::path::PathBuf>,
) -> Outcome<()> {
    let path = kept_as.map(|path| path.as_text()).unwrap_or_default();
    store
        .remember_file(&stripewise_store::MadeFile {
            id: made.id.clone(),
            device: made.device,
            inode: made.inode,
            birth_ns: made.birth_time_ns,
            path,
            size_bytes: made.size_bytes,
            made_at: context.timestamp(),
        })
        .map_err(Failure::from)
}

/// Path at which a test file was kept; `None` for anything else.
pub fn kept_as(store: &Store, target: &Target) -> Option<String> {
    let made = target.made_file()?;
    let files = store.files().ok()?;
    let found = files.into_iter().find(|file| file.id == made.id)?;
    Some(found.path).filter(|path| !path.is_empty())
}

fn known_files(store: &Store) -> Outcome<Vec<MadeFile>> {
    let files = store.files()?;
    Ok(files
        .into_iter()
        .map(|file| MadeFile {
            device: file.device,
            inode: file.inode,
            birth_time_ns: file.birth_ns,
            id: file.id,
            size_bytes: file.size_bytes,
        })
        .collect())
}

/// Fills a file that will be kept: the store has it before it gets its name.
struct KeptFileFill<'a, 'c> {
    filling: &'a mut Filling<'c>,
    store: &'a mut Store,
    kept_as: Option<std::path::PathBuf>,
    failure: Option<Failure>,
}

impl stripewise_targets::Progress for KeptFileFill<'_, '_> {
    fn now_ns(&mut self) -> u64 {
        self.filling.now_ns()
    }

    fn report(&mut self, progress: FillProgress) -> ControlFlow<()> {
        self.filling.report(progress)
    }

    fn before_keeping(&mut self, made: &MadeFile) -> ControlFlow<()> {
        match remember(self.filling.context, self.store, made, self.kept_as.clone()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    fn not_retained(&mut self, made: &MadeFile) {
        // If the entry stays in the store, cleaning up finds that the file is gone.
        let _ = self.store.forget_file(&made.id);
    }
}

/// Shows progress of filling a test file, and stops it on Ctrl-C.
struct Filling<'a> {
    context: &'a Context,
    title: &'static str,
    /// `None` before the first report: a request refused before a byte is written fills nothing.
    progress: Option<Progress<'a>>,
    started_ns: u64,
    time_limit_ns: Option<u64>,
    on_progress: &'a mut dyn FnMut(u64, u64),
}

impl<'a> Filling<'a> {
    fn new(
        context: &'a Context,
        title: &'static str,
        time_limit_ns: Option<u64>,
        on_progress: &'a mut dyn FnMut(u64, u64),
    ) -> Self {
        Filling {
            context,
            title,
            progress: None,
            started_ns: context.now_ns(),
            time_limit_ns,
            on_progress,
        }
    }
}

impl stripewise_targets::Progress for Filling<'_> {
    fn now_ns(&mut self) -> u64 {
        self.context.now_ns()
    }

    fn report(&mut self, progress: FillProgress) -> ControlFlow<()> {
        if self.context.signal().is_some() {
            return ControlFlow::Break(());
        }
        let now_ns = self.context.now_ns();
        let begin = || {
            let observer = self.context.observer();
            Progress::begin(observer, false, progress.total_bytes, self.title)
        };
        let shown = self.progress.get_or_insert_with(begin);
        (self.on_progress)(now_ns, progress.done_bytes);
        let passed_ns = now_ns - self.started_ns;
        let by_rate = left_at_rate(passed_ns, progress.done_bytes, progress.total_bytes);
        let by_limit = self
            .time_limit_ns
            .map(|limit| limit.saturating_sub(passed_ns));
        let left_ns = match (by_rate, by_limit) {
            (Some(rate), Some(limit)) => Some(rate.min(limit)),
            (one, other) => one.or(other),
        };
        let message = format!("{}: {}", self.title, format_bytes(progress.done_bytes));
        shown.update(progress.done_bytes, &message, left_ns);
        ControlFlow::Continue(())
    }
}

/// The failure of a command that was stopped before it measured anything.
pub fn interrupted(context: &Context) -> Failure {
    Failure::of(
        Exit::Interrupted(context.signal().unwrap_or(2)),
        "interrupted before measuring began",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The opener names the engine, and with one engine only commands bypass the
    /// block layer, on other hosts as well.
    #[test]
    fn what_can_be_opened_follows_from_the_engine() {
        for engine in EngineName::ALL {
            let need = Needs {
                engine,
                ..Needs::of_loads([&Workload::default()])
            };
            let passed = intent(&need, &Permissions::default()).features.passthrough;
            assert_eq!(passed, engine == EngineName::Nvme, "{engine}");
            let sent = serde_json::to_string(&need).unwrap();
            assert_eq!(serde_json::from_str::<Needs>(&sent).unwrap(), need);
        }
    }
}
