//! Runs on simulated arrays share no clock with anything: the cells of
//! a grid are computed on all cores and stored in order, with the same records as
//! if run one after the other.

use crate::context::Context;
use crate::failure::{Failure, Outcome, no_thread};
use crate::keep::finished;
use crate::measure::{PlacedJob, RunOptions, prepare_run};
use crate::pilot::pilot_before;
use crate::targets::{OpenTarget, living_arrays};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;
use stripewise_results::{Interval, RunRecord, SustainedRecord};
use stripewise_runner::LivingArrays;
use stripewise_runner::session::{Job, Listener, Settings};
use stripewise_runner::{Error, IntervalSummary};
use stripewise_store::Store;
use stripewise_studies::LoadPilot;
use stripewise_workload::{Span, Workload};

/// Intervals of a pilot run.
const INTERVALS: u64 = 200;

/// Shows nothing: a simulated run ends too soon for anyone to see.
pub struct NoListener;

impl Listener for NoListener {
    fn begin(&mut self, _skeleton: &RunRecord) {}
    fn interval(&mut self, _summary: &IntervalSummary, _intervals: &[Interval]) {}
    fn measured(&mut self, _record: &RunRecord) {}
    fn tick(&mut self, _now_ns: u64) {}
}

/// Makes all runs, each of its jobs in its way, and stores their records in this order. On return,
/// `records` has the completed ones, even after an error. Behind one that the store refuses, all are
/// made and none is stored; returns the store's failure.
pub fn simulate_all<'a>(
    context: &Context,
    store: &mut Store,
    opened: &[OpenTarget],
    runs: impl IntoIterator<Item = (&'a [PlacedJob], &'a RunOptions)>,
    records: &mut Vec<RunRecord>,
) -> Outcome<Option<Failure>> {
    let cells = runs
        .into_iter()
        .map(|(jobs, how)| SimulatedCell::prepare(context, opened, jobs, how))
        .collect::<Outcome<Vec<_>>>()?;
    let mut refused = None;
    simulate_cells(context, &cells, &mut |mut record| {
        if refused.is_none() {
            refused = store_new(context, store, &mut record).err();
        }
        records.push(record);
        Ok(())
    })?;
    Ok(refused)
}

/// Stores a record that was just made, under another id if its own is taken.
pub fn store_new(context: &Context, store: &mut Store, record: &mut RunRecord) -> Outcome<()> {
    let started_at = record.started_at.clone();
    store.save_new_run(record, || context.new_id(&started_at))?;
    finished(context, record);
    Ok(())
}

/// One run, and the arrays it runs on.
pub struct SimulatedCell<'a> {
    /// Its targets.
    pub opened: &'a [OpenTarget],
    /// Its jobs.
    pub jobs: Vec<Job<'a>>,
    /// Its settings.
    pub settings: Settings,
    /// Writes made before it, on the same array.
    pub pilot: Option<LoadPilot>,
}

impl<'a> SimulatedCell<'a> {
    /// Checks the jobs against their arrays.
    pub fn prepare(
        context: &Context,
        opened: &'a [OpenTarget],
        placed_jobs: &[PlacedJob],
        how: &RunOptions,
    ) -> Outcome<SimulatedCell<'a>> {
        let (jobs, settings) = prepare_run(context, opened, placed_jobs, how)?;
        Ok(SimulatedCell {
            opened,
            jobs,
            settings,
            pilot: pilot_before(opened, placed_jobs, &how.request),
        })
    }
}

/// Runs all cells; `keep` receives their records in the order of the cells. After an
/// interrupt or a failure, no further cell begins: those in progress become partial,
/// the others have no record.
pub fn simulate_cells(
    context: &Context,
    cells: &[SimulatedCell<'_>],
    keep: &mut dyn FnMut(RunRecord) -> Outcome<()>,
) -> Outcome<()> {
    let run = |index: usize, stop: &AtomicU8| {
        let cell = &cells[index];
        let mut arrays = living_arrays(cell.opened);
        let mut settings = cell.settings.clone();
        if let Some(pilot) = &cell.pilot {
            settings.sustained = Some(piloted(cell, pilot.clone(), &mut arrays, stop)?);
        }
        arrays.run(&cell.jobs, &settings, &mut NoListener, stop)
    };
    on_all_cores(context, cells.len(), &run, &mut |record| {
        record.map_err(Failure::from).and_then(&mut *keep)
    })
}

/// Makes the runs of a pilot on one array, which keeps its state between them.
pub(crate) fn piloted(
    cell: &SimulatedCell<'_>,
    mut pilot: LoadPilot,
    arrays: &mut LivingArrays,
    stop: &AtomicU8,
) -> Result<SustainedRecord, Error> {
    while let Some(piece) = pilot.next() {
        let record = run_piece(cell, arrays, &piece, stop)?;
        pilot.completed(&record);
    }
    Ok(pilot.found())
}

fn run_piece(
    cell: &SimulatedCell<'_>,
    arrays: &mut LivingArrays,
    piece: &PlacedJob,
    stop: &AtomicU8,
) -> Result<RunRecord, Error> {
    let load = &piece.workload;
    let jobs = cell.jobs.iter().map(|job| {
        let places = job.places.iter();
        let places = places.map(|(target, whole)| (target.clone(), part_of(*whole, load)));
        Job {
            recorded: None,
            name: job.name.clone(),
            workload: load.clone(),
            places: places.collect(),
        }
    });
    let settings = Settings {
        interval_ns: (load.duration_ns / INTERVALS).clamp(1_000_000, 1_000_000_000),
        operations_min: 0,
        ..cell.settings.clone()
    };
    arrays.run(&jobs.collect::<Vec<_>>(), &settings, &mut NoListener, stop)
}

/// Places a stream in another part of the span that was checked for the whole.
fn part_of(whole: Span, load: &Workload) -> Span {
    let blocks = load.size_bytes.map(|bytes| bytes / whole.block_size_bytes);
    Span {
        start_bytes: load.base_offset_bytes,
        blocks: blocks.map_or(whole.blocks, |blocks| blocks.clamp(1, whole.blocks)),
        ..whole
    }
}

/// Does `count` pieces of work and passes the results to `done` in order. After an interrupt
/// or a failure, no further piece begins, and those in progress are signalled to stop.
pub fn on_all_cores<T: Send>(
    context: &Context,
    count: usize,
    work: &(dyn Fn(usize, &AtomicU8) -> T + Sync),
    done: &mut dyn FnMut(T) -> Outcome<()>,
) -> Outcome<()> {
    let next = AtomicUsize::new(0);
    let stop = AtomicU8::new(0);
    let cores = std::thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(count);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for number in 0..cores {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            let all = move || {
                while stop.load(Ordering::Relaxed) == 0 {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count || sender.send((index, work(index, stop))).is_err() {
                        break;
                    }
                }
            };
            match Builder::new().spawn_scoped(scope, all) {
                Ok(_) => {}
                Err(error) if number == 0 => return Err(no_thread("to simulate", &error)),
                // The threads already running do all the work, and take longer.
                Err(_) => break,
            }
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut done_in_order = 0;
        loop {
            match receiver.recv_timeout(Duration::from_millis(50)) {
                Ok((index, result)) => drop(early.insert(index, result)),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            if context.signal().is_some() {
                stop.store(1, Ordering::Relaxed);
            }
            while let Some(result) = early.remove(&done_in_order) {
                done_in_order += 1;
                let ended = done(result);
                if ended.is_err() {
                    stop.store(1, Ordering::Relaxed);
                    return ended;
                }
            }
        }
        Ok(())
    })
}
