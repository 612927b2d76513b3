//! Runs on simulated arrays have no clock in common with anything: the cells of
//! a grid are computed on all cores and kept in order, with the same records as
//! one after the other.

use crate::context::{Context, store_failure};
use crate::failure::{Outcome, no_thread};
use crate::steps::keep::finished;
use crate::steps::measure::{PlacedJob, RunOptions, prepare_run, run_failure, simulate};
use crate::steps::targets::OpenTarget;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;
use stripewise_results::{Interval, RunRecord};
use stripewise_runner::IntervalSummary;
use stripewise_runner::session::{Job, Listener, Settings};
use stripewise_store::Store;

/// Hears nothing: a simulated run is over before anybody could look.
struct Quiet;

impl Listener for Quiet {
    fn begin(&mut self, _skeleton: &RunRecord) {}
    fn interval(&mut self, _summary: &IntervalSummary, _intervals: &[Interval]) {}
    fn measured(&mut self, _record: &RunRecord) {}
    fn tick(&mut self, _now_ns: u64) {}
}

/// Runs all cells and keeps their records in the order of `runs`; `records` has
/// what was done when it returns, also with an error.
pub fn simulate_all(
    context: &Context,
    store: &mut Store,
    aimed: &[OpenTarget],
    runs: &[Vec<PlacedJob>],
    how: &RunOptions,
    records: &mut Vec<RunRecord>,
) -> Outcome<()> {
    let cells = runs
        .iter()
        .map(|wishes| SimulatedCell::prepare(context, aimed, wishes, how))
        .collect::<Outcome<Vec<_>>>()?;
    simulate_cells(context, &cells, &mut |mut record| {
        let kept = keep_new(context, store, &mut record);
        records.push(record);
        kept
    })
}

/// Keeps a record that was just made, under another id where its own is taken.
pub fn keep_new(context: &Context, store: &mut Store, record: &mut RunRecord) -> Outcome<()> {
    let started_at = record.started_at.clone();
    store
        .save_new_run(record, || context.new_id(&started_at))
        .map_err(store_failure)?;
    finished(context, record);
    Ok(())
}

/// One run, and the arrays that it meets.
pub struct SimulatedCell<'a> {
    /// Its targets.
    pub aimed: &'a [OpenTarget],
    /// Its jobs.
    pub jobs: Vec<Job<'a>>,
    /// Its settings.
    pub settings: Settings,
}

impl<'a> SimulatedCell<'a> {
    /// Checks the jobs against their arrays.
    pub fn prepare(
        context: &Context,
        aimed: &'a [OpenTarget],
        wishes: &[PlacedJob],
        how: &RunOptions,
    ) -> Outcome<SimulatedCell<'a>> {
        let (jobs, settings) = prepare_run(context, aimed, wishes, how)?;
        Ok(SimulatedCell {
            aimed,
            jobs,
            settings,
        })
    }
}

/// Runs all cells; `keep` gets their records in the order of the cells. After an
/// interrupt or a failure no further cell begins: those under way are partial,
/// the others have no record.
pub fn simulate_cells(
    context: &Context,
    cells: &[SimulatedCell<'_>],
    keep: &mut dyn FnMut(RunRecord) -> Outcome<()>,
) -> Outcome<()> {
    let next = AtomicUsize::new(0);
    let stop = AtomicU8::new(0);
    let cores = std::thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(cells.len());
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for number in 0..cores {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            let work = move || {
                while stop.load(Ordering::Relaxed) == 0 {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(index) else {
                        break;
                    };
                    let (jobs, settings) = (&cell.jobs, &cell.settings);
                    let record = simulate(cell.aimed, jobs, settings, &mut Quiet, stop);
                    if sender.send((index, record)).is_err() {
                        break;
                    }
                }
            };
            match Builder::new().spawn_scoped(scope, work) {
                Ok(_) => {}
                Err(error) if number == 0 => return Err(no_thread("to simulate", &error)),
                // Those that run do the work of all, and take longer.
                Err(_) => break,
            }
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut kept_in_order = 0;
        loop {
            match receiver.recv_timeout(Duration::from_millis(50)) {
                Ok((index, record)) => drop(early.insert(index, record)),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if context.signal().is_some() {
                stop.store(1, Ordering::Relaxed);
            }
            while let Some(record) = early.remove(&kept_in_order) {
                kept_in_order += 1;
                let kept = record.map_err(run_failure).and_then(&mut *keep);
                if kept.is_err() {
                    stop.store(1, Ordering::Relaxed);
                    return kept;
                }
            }
        }
        Ok(())
    })
}
