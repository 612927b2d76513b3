//! One loop for every study: make the run it asks for, store the record, pass it back.

use crate::context::Context;
use crate::failure::{Failure, Outcome};
use crate::keep::RunPlace;
use crate::measure::{Recordings, RunOptions, measure_on};
use crate::needs::Needs;
use crate::observer::Progress;
use crate::permissions::Permissions;
use crate::targets::{OpenTarget, intent, judge, judged_size, living_arrays, open_or_nothing};
use std::rc::Rc;
use std::time::Duration;
use stripewise_io_engine::EngineName;
use stripewise_results::RunRecord;
use stripewise_runner::LivingArrays;
use stripewise_store::Store;
use stripewise_studies::{FileState, NextStep, PlacedJob, Run, Study, StudyFile};
use stripewise_targets::{Intent, Size, Target};
use stripewise_units::{format_duration, is_sim_target};
use stripewise_workload::Request;

/// How often a rest checks for an interrupt.
const LOOK_EVERY_NS: u64 = 50_000_000;

/// Where and how a study is made.
pub struct Setup<'a> {
    /// The id of the study; its runs form the series of this id.
    pub id: &'a str,
    /// As typed.
    pub target: &'a str,
    /// Size of a test file. [`Size::Auto`]: what the loads name, or the usual size.
    pub size: Size,
    /// Engine, interval and label, common to all runs. Its jobs are not used.
    pub request: &'a Request,
    /// What the user permitted to be written to.
    pub permissions: &'a Permissions,
    /// The operations of recorded loads, if there are any.
    pub recordings: Option<Rc<dyn Recordings>>,
}

/// The result of making runs.
pub struct ConductResult {
    /// The runs made this time, in chronological order. A study's have no intervals and histograms;
    /// the store has them in full.
    pub records: Vec<RunRecord>,
    /// The failure that ended it, if any. Whatever was measured before is shown first.
    pub ended: Outcome<()>,
}

/// Opens the target for every load that may follow, so that anything refusable that
/// [`refuse_unusable`] left is refused here, before anything is measured. Returns one target per
/// file of the study; in a directory, each is a test file of its own.
///
/// # Errors
/// If the target is refused or unusable for these loads.
pub fn open(
    context: &Context,
    store: &mut Store,
    study: &dyn Study,
    setup: &Setup<'_>,
) -> Outcome<Vec<OpenTarget>> {
    setup.permissions.refuse_idle(&[setup.target])?;
    let files = study.files();
    let needs = needs_of_files(study, setup);
    refuse_without_room(context, store, &needs, setup)?;
    let mut targets = Vec::new();
    // Those that are filled last: a file system that cannot reserve space is refused before that.
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&index| files[index].state == FileState::Written);
    for index in order {
        let (state, needs) = (files[index].state, &needs[index]);
        let mut target = open_or_nothing(context, store, setup.target, needs, setup.permissions)?;
        if state != FileState::Written
            && let OpenTarget::Real { target } = &mut target
        {
            target.is_renewed();
        }
        renew(&target, state)?;
        targets.push((index, target));
    }
    targets.sort_by_key(|(index, _)| *index);
    Ok(targets.into_iter().map(|(_, target)| target).collect())
}

/// Gives a test file the space that its state says.
fn renew(target: &OpenTarget, state: FileState) -> Outcome<()> {
    let (is_reserved, done) = match state {
        FileState::Written => return Ok(()),
        FileState::Preallocated => (true, "reserved"),
        FileState::Growing => (false, "renewed"),
    };
    let Some(resizer) = target.real().and_then(Target::resizer) else {
        return Ok(());
    };
    resizer.renew(is_reserved).map_err(|error| {
        Failure::target(
            format!("the space of a test file cannot be {done}: {error}"),
            "use a file system that reserves space (ext4, XFS), or one with room",
        )
    })
}

/// Refuses a target that does not exist or cannot be used for the loads of a study, before the
/// plan is printed. Whether other work is on it takes seconds, and is judged by [`open`] alone.
/// Returns the bytes of the smallest of its files; `None` if none is opened.
///
/// # Errors
/// If the target is refused.
pub fn refuse_unusable(
    context: &Context,
    store: &Store,
    study: &dyn Study,
    setup: &Setup<'_>,
) -> Outcome<Option<u64>> {
    setup.permissions.refuse_idle(&[setup.target])?;
    let permissions = Permissions {
        busy_ok: true,
        ..setup.permissions.clone()
    };
    let is_opened =
        |needs: &&Needs| needs.engine != EngineName::Null || is_sim_target(setup.target);
    let needs = needs_of_files(study, setup);
    let sizes = needs.iter().filter(is_opened);
    let sizes = sizes.map(|needs| judged_size(context, store, setup.target, needs, &permissions));
    Ok(sizes.collect::<Outcome<Vec<u64>>>()?.into_iter().min())
}

/// What the loads of a study need of each of its files.
fn needs_of_files(study: &dyn Study, setup: &Setup<'_>) -> Vec<Needs> {
    let loads = study.loads();
    let files = study.files().into_iter().enumerate();
    let needs = files.map(|(index, file)| {
        let of_file = loads.iter().filter(|job| job.targets.contains(&index));
        let of_file: Vec<PlacedJob> = of_file.cloned().collect();
        Needs {
            filled_by_caller: file.state != FileState::Written,
            ..needs_of(&of_file, index, setup)
        }
    });
    needs.collect()
}

/// Several test files need room together: each by itself is judged only when those before it
/// are made, and filled.
fn refuse_without_room(
    context: &Context,
    store: &Store,
    needs: &[Needs],
    setup: &Setup<'_>,
) -> Outcome<()> {
    let bytes = |one: &Needs| match one.size {
        Size::Exactly(bytes) => bytes,
        Size::AtMost(_) | Size::Auto => 0,
    };
    let all_bytes = needs.iter().map(bytes).fold(0, u64::saturating_add);
    let [first, _, ..] = needs else {
        return Ok(());
    };
    if first.engine == EngineName::Null {
        return Ok(());
    }
    let together = Intent {
        size: Size::Exactly(all_bytes),
        // Each is judged for that, too, which takes seconds.
        busy_ok: true,
        ..intent(first, setup.permissions)
    };
    let name: stripewise_targets::TargetName = setup.target.parse()?;
    judge(context, store, &name, &together).map(|_| ())
}

/// What the loads of a study need: each is a run by itself.
pub fn needs(loads: &[PlacedJob], setup: &Setup<'_>) -> Needs {
    needs_of(loads, 0, setup)
}

fn needs_of(loads: &[PlacedJob], target: usize, setup: &Setup<'_>) -> Needs {
    let of_loads = Needs::of(loads.chunks(1), target);
    Needs {
        size: match setup.size {
            Size::Auto => of_loads.size,
            size => size,
        },
        outstanding_by_number: setup.request.load_by_number,
        cache_by_name: setup.request.cache_by_name,
        // Refuse an unknown name before anything is opened.
        engine: setup.request.engine.parse().unwrap_or_default(),
        ..of_loads
    }
}

/// Makes the runs of a study on the targets from [`open`] until the study ends or is
/// interrupted, and removes the files that were made. Calls `changed` after each step, to
/// store the study's state.
pub fn conduct<S: Study>(
    context: &Context,
    store: &mut Store,
    study: &mut S,
    targets: Vec<OpenTarget>,
    setup: &Setup<'_>,
    changed: &mut dyn FnMut(&mut Store, &S) -> Outcome<()>,
) -> ConductResult {
    let simulated = targets.iter().all(|one| one.simulated().is_some());
    let options = RunOptions {
        recordings: setup.recordings.clone(),
        ..RunOptions::of(context, setup.request.clone(), simulated)
    };
    let time = study.time();
    let total_ns = time.spent_ns.saturating_add(time.left_ns);
    let mut session = Session {
        context,
        targets: &targets,
        files: study.files(),
        arrays: living_arrays(&targets),
        options,
        setup,
        progress: Progress::begin(context.observer(), simulated, total_ns, "Measuring"),
        records: Vec::new(),
    };
    let ended = session.go(store, study, changed);
    let records = std::mem::take(&mut session.records);
    drop(session);
    let finished = targets.into_iter().map(OpenTarget::finish);
    ConductResult {
        records,
        // Finish every target, even if another one fails.
        ended: finished.fold(ended, |ended, finished| ended.and(finished)),
    }
}

struct Session<'a> {
    context: &'a Context,
    targets: &'a [OpenTarget],
    files: Vec<StudyFile>,
    arrays: LivingArrays,
    options: RunOptions,
    setup: &'a Setup<'a>,
    progress: Progress<'a>,
    records: Vec<RunRecord>,
}

impl Session<'_> {
    fn go<S: Study>(
        &mut self,
        store: &mut Store,
        study: &mut S,
        changed: &mut dyn FnMut(&mut Store, &S) -> Outcome<()>,
    ) -> Outcome<()> {
        while self.context.signal().is_none() {
            let time = study.time();
            let total_ns = time.spent_ns.saturating_add(time.left_ns);
            self.progress.set_total(total_ns);
            match study.next() {
                NextStep::Done => break,
                NextStep::Rest { length_ns, title } => {
                    if self.rest(length_ns, &title, time.spent_ns, time.left_ns) {
                        study.rested();
                    }
                }
                NextStep::Run(run) => {
                    let place = RunPlace {
                        title: &run.title,
                        before_ns: time.spent_ns,
                        expected_ns: run.length_ns(),
                        after_ns: Some(time.left_ns.saturating_sub(run.length_ns())),
                    };
                    self.renew_files(&run)?;
                    let options = self.options_of(&run);
                    let measured = measure_on(
                        self.context,
                        store,
                        self.targets,
                        &mut self.arrays,
                        &run.jobs,
                        &options,
                        (&self.progress, &place),
                    )?;
                    study.completed(run.id, &measured.record);
                    let light = measured.record.without_intervals().without_histograms();
                    self.records.push(light);
                    measured.stored?;
                }
            }
            changed(store, study)?;
        }
        Ok(())
    }

    /// Prepares the files of a run as the run requires.
    fn renew_files(&self, run: &Run) -> Outcome<()> {
        let used = |index: &usize| run.jobs.iter().any(|job| job.targets.contains(index));
        for index in (0..self.files.len()).filter(used) {
            renew(&self.targets[index], self.files[index].state)?;
        }
        Ok(())
    }

    fn options_of(&self, run: &Run) -> RunOptions {
        let mut options = self.options.clone();
        options.series = Some((self.setup.id.to_owned(), run.part.clone()));
        options.counting.clone_from(&run.counting);
        options.growing.clone_from(&run.growing);
        options.request.simulated_operations_min = run.simulated_operations_min;
        options
    }

    /// Returns whether the rest was completed. In virtual time it takes none; in real time it may
    /// be interrupted.
    fn rest(&mut self, length_ns: u64, title: &str, before_ns: u64, left_ns: u64) -> bool {
        if self.targets.iter().all(|one| one.simulated().is_some()) {
            self.arrays.rest(length_ns);
            return true;
        }
        let from_ns = self.context.now_ns();
        loop {
            let rested_ns = self.context.now_ns().saturating_sub(from_ns);
            if rested_ns >= length_ns {
                return true;
            }
            if self.context.signal().is_some() {
                return false;
            }
            let still_ns = length_ns - rested_ns;
            self.progress.update(
                before_ns.saturating_add(rested_ns),
                &format!("{title}, {} left", format_duration(still_ns)),
                Some(left_ns.saturating_sub(rested_ns)),
            );
            std::thread::sleep(Duration::from_nanos(still_ns.min(LOOK_EVERY_NS)));
        }
    }
}
