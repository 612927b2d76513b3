//! The driver for simulated arrays: one loop over all workers and arrays in virtual time, on the
//! calling thread. The same plans and seeds produce the same bytes.
//!
//! Time jumps from event to event: an internal event of an array, an arrival, the end of an
//! interval. At equal times the interval ends first (its end is exclusive), then completions are
//! delivered, then workers are polled for more, in the order of their completions. Nothing is
//! allocated per operation.

use crate::collect::{Collector, Pace};
use crate::summary::{DrainCounts, StopReason};
use crate::window::{Phase, Window};
use crate::worker::{Worker, streams};
use crate::{Error, JobPlan, Observer, Policy, RunPlan, RunTotals};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use stripewise_array_sim::{Request, Simulate};
use stripewise_io_engine::{Capabilities, Completion, Kind, Next, Source};

/// Completions at one instant beyond which time is considered stuck.
const COMPLETIONS_AT_ONCE_MAX: u64 = 10_000_000;

/// One job on simulated arrays.
#[derive(Clone, Debug)]
pub struct SimulatedJob {
    /// Its workload.
    pub plan: JobPlan,
    /// The array of each of `plan.spans`, as an index into `arrays`; several
    /// jobs may share one.
    pub arrays: Vec<usize>,
}

/// Runs `jobs` concurrently on `arrays`. `interrupt` as in [`real::run`](crate::drive::real::run).
/// The arrays start at time 0; pass fresh ones.
///
/// # Errors
/// [`Error::TimeStandsStill`] if operations take no time and the plan does not limit their number;
/// [`Error::Plan`] if a job names no array.
pub fn run<A: Simulate>(
    jobs: &[SimulatedJob],
    arrays: &mut [A],
    plan: &RunPlan,
    policy: &mut dyn Policy,
    observer: &mut dyn Observer,
    interrupt: &AtomicU8,
) -> Result<RunTotals, Error> {
    let plans: Vec<&JobPlan> = jobs.iter().map(|job| &job.plan).collect();
    super::check(&plans, plan)?;
    for (number, job) in jobs.iter().enumerate() {
        let known = job.arrays.iter().all(|&array| array < arrays.len());
        if job.arrays.len() != job.plan.spans.len() || !known {
            let why = format!("job {number} needs an array for each of its spans");
            return Err(Error::Plan(why));
        }
    }
    Simulation::new(jobs, arrays, plan).into_totals(policy, observer, interrupt)
}

/// The worker, by its number among all workers of all jobs, that issued the request of this token.
#[inline]
pub(crate) fn worker_of(token: u64) -> u32 {
    (token >> 32) as u32
}

/// One worker and the driver's state for it.
struct Node {
    worker: Worker,
    job: usize,
    /// Writes must be on stable media when they complete.
    durable: bool,
    in_flight: u32,
    /// It is on the list of workers to poll.
    requested: bool,
    /// Its arrival in the heap; `u64::MAX`: none.
    arrival_ns: u64,
}

struct Simulation<'a, A> {
    jobs: &'a [SimulatedJob],
    arrays: &'a mut [A],
    plan: &'a RunPlan,
    window: Arc<Window>,
    collector: Collector,
    nodes: Vec<Node>,
    /// Workers to poll for operations, in order.
    to_ask: Vec<u32>,
    arrivals: BinaryHeap<Reverse<(u64, u32)>>,
    in_flight: u64,
    now_ns: u64,
    /// The next interval edge.
    edge_ns: u64,
    /// The window's times that `edge_ns` is derived from.
    moving: (u64, u64),
    completed_now: u64,
}

impl<'a, A: Simulate> Simulation<'a, A> {
    fn new(jobs: &'a [SimulatedJob], arrays: &'a mut [A], plan: &'a RunPlan) -> Self {
        let window = Arc::new(Window::new(plan.interval_ns));
        let mut nodes = Vec::new();
        for (number, job) in jobs.iter().enumerate() {
            let streams = streams(&job.plan);
            for thread in 0..job.plan.workload.threads {
                let window = Arc::clone(&window);
                nodes.push(Node {
                    worker: Worker::new(number, &job.plan, &streams, thread, plan, window),
                    job: number,
                    durable: job.plan.workload.is_write_durable(),
                    in_flight: 0,
                    requested: false,
                    arrival_ns: u64::MAX,
                });
            }
        }
        let pace = Pace {
            guard_ns: 0,
            lateness_max_ns: 0,
            last_lateness_max_ns: 0,
        };
        let jobs_of_workers: Vec<usize> = nodes.iter().map(|node| node.job).collect();
        let blocks = jobs.iter().map(|job| job.plan.block_bytes_of_each());
        let blocks = blocks.collect();
        let collector = Collector::new(Arc::clone(&window), plan, pace, blocks, &jobs_of_workers);
        Simulation {
            jobs,
            arrays,
            plan,
            window,
            collector,
            to_ask: Vec::with_capacity(nodes.len()),
            arrivals: BinaryHeap::with_capacity(4 * nodes.len()),
            nodes,
            in_flight: 0,
            now_ns: 0,
            edge_ns: 0,
            moving: (0, 0),
            completed_now: 0,
        }
    }

    fn into_totals(
        mut self,
        policy: &mut dyn Policy,
        observer: &mut dyn Observer,
        interrupt: &AtomicU8,
    ) -> Result<RunTotals, Error> {
        self.begin();
        observer.started(&self.collector.all_capabilities());
        loop {
            self.ask();
            if self.window.moving() != self.moving {
                self.find_edge();
            }
            if self.is_idle_for_good() {
                self.end_early(policy, observer);
            }
            let level = interrupt.load(Ordering::Relaxed);
            if level > 0 {
                // Operations completed at this instant have been counted.
                self.collector
                    .stop(self.now_ns + 1, StopReason::Interrupted);
                self.find_edge();
            }
            if self.collector.is_closed() && (self.in_flight == 0 || level > 1) {
                break;
            }
            let next_ns = self.next_event_ns();
            if self.collector.is_closed() && next_ns > self.drain_limit_ns() {
                break;
            }
            self.move_to(next_ns)?;
            if self.now_ns >= self.edge_ns {
                self.cross_edge(policy, observer);
                observer.tick(self.now_ns);
            }
            self.complete();
            self.arrive();
        }
        // Unless it was cut short, nothing more completes before the limit.
        let waited_until_ns = match interrupt.load(Ordering::Relaxed) {
            0 | 1 => self.drain_limit_ns().max(self.now_ns),
            _ => self.now_ns,
        };
        for (index, node) in self.nodes.iter().enumerate() {
            let mut drain = node.worker.drain(waited_until_ns);
            drain.abandoned = u64::from(node.in_flight);
            self.collector.done(index, drain);
        }
        Ok(self.collector.into_totals())
    }

    fn begin(&mut self) {
        let (ramp_ns, duration_ns) = (self.plan.ramp_ns, self.plan.duration_ns);
        self.window.begin(0, ramp_ns, duration_ns);
        self.collector.begin();
        for index in 0..self.nodes.len() {
            self.nodes[index].worker.begin();
            self.nodes[index].requested = true;
            self.to_ask.push(index as u32);
            let capabilities = Capabilities {
                name: "simulated",
                ..Capabilities::default()
            };
            self.collector.capabilities(index, capabilities);
        }
        self.find_edge();
    }

    fn find_edge(&mut self) {
        self.moving = self.window.moving();
        let span = self.window.times().interval_at(self.now_ns);
        let past = span.phase == Phase::Draining && !self.collector.is_closed();
        self.edge_ns = if past { self.now_ns } else { span.end_ns };
    }

    fn drain_limit_ns(&self) -> u64 {
        let (_, stop_at_ns) = self.window.moving();
        stop_at_ns.saturating_add(self.plan.drain_limit_ns)
    }

    /// The time of the next event of any kind; `u64::MAX` if there is none. A single array advances
    /// by itself until an event concerns the workers.
    #[inline]
    fn next_event_ns(&mut self) -> u64 {
        let arrival_ns = self.arrivals.peek().map_or(u64::MAX, |first| first.0.0);
        if let [array] = &mut self.arrays[..] {
            let until_ns = arrival_ns.min(self.edge_ns);
            let next_ns = array.settle(until_ns).unwrap_or(u64::MAX);
            return until_ns.min(next_ns);
        }
        self.arrays
            .iter()
            .filter_map(Simulate::next_event_ns)
            .fold(arrival_ns.min(self.edge_ns), u64::min)
    }

    fn move_to(&mut self, at_ns: u64) -> Result<(), Error> {
        if at_ns > self.now_ns {
            self.now_ns = at_ns;
            self.completed_now = 0;
        } else if self.completed_now > COMPLETIONS_AT_ONCE_MAX
            && self.plan.operations_max_per_thread.is_none()
        {
            return Err(Error::TimeStandsStill {
                at_ns: self.now_ns,
                operations: self.completed_now,
            });
        }
        Ok(())
    }

    /// Polls all workers on the list for operations and issues them.
    fn ask(&mut self) {
        let mut position = 0;
        while let Some(&index) = self.to_ask.get(position) {
            position += 1;
            let node = &mut self.nodes[index as usize];
            node.requested = false;
            node.worker.advance(self.now_ns);
            loop {
                match node.worker.next(self.now_ns) {
                    Next::Operation(operation) => {
                        let arrays = &self.jobs[node.job].arrays;
                        let request = Request {
                            token: u64::from(index) << 32 | u64::from(operation.slot),
                            kind: operation.kind,
                            durable: node.durable && operation.kind == Kind::Write,
                            offset_bytes: operation.offset_bytes,
                            length_bytes: operation.length_bytes,
                        };
                        node.in_flight += 1;
                        self.in_flight += 1;
                        let array = arrays[usize::from(operation.file)];
                        self.arrays[array].submit(self.now_ns, request);
                    }
                    Next::NotBefore(due_ns) => {
                        if node.arrival_ns != due_ns {
                            node.arrival_ns = due_ns;
                            self.arrivals.push(Reverse((due_ns, index)));
                        }
                        break;
                    }
                    Next::Full | Next::Finished => break,
                }
            }
        }
        self.to_ask.clear();
    }

    /// Takes all completions up to now.
    fn complete(&mut self) {
        let (nodes, to_ask) = (&mut self.nodes, &mut self.to_ask);
        let mut completed = 0;
        for array in self.arrays.iter_mut() {
            if array.next_event_ns().is_none_or(|next| next > self.now_ns) {
                continue;
            }
            array.advance(self.now_ns, &mut |finished| {
                let index = worker_of(finished.token);
                let node = &mut nodes[index as usize];
                node.worker.complete(Completion {
                    slot: finished.token as u32,
                    result: finished.result,
                    at_ns: finished.at_ns,
                });
                node.in_flight -= 1;
                completed += 1;
                if !node.requested {
                    node.requested = true;
                    to_ask.push(index);
                }
            });
        }
        self.in_flight -= completed;
        self.completed_now += completed;
    }

    /// Adds workers with a due arrival to the list.
    fn arrive(&mut self) {
        while let Some(&Reverse((due_ns, index))) = self.arrivals.peek() {
            if due_ns > self.now_ns {
                return;
            }
            self.arrivals.pop();
            let node = &mut self.nodes[index as usize];
            node.arrival_ns = u64::MAX;
            if !node.requested {
                node.requested = true;
                self.to_ask.push(index);
            }
        }
    }

    /// An interval ends now.
    fn cross_edge(&mut self, policy: &mut dyn Policy, observer: &mut dyn Observer) {
        self.take_reports();
        self.collector.emit(self.now_ns, policy, observer);
        if self.window.moving() != self.moving {
            // The policy moved a time, perhaps to now.
            self.take_reports();
            self.collector.emit(self.now_ns, policy, observer);
        }
        self.find_edge();
    }

    fn take_reports(&mut self) {
        for (index, node) in self.nodes.iter_mut().enumerate() {
            node.worker.advance(self.now_ns);
            while let Some(report) = node.worker.take_report() {
                let recorder = self.collector.accept(index, report);
                node.worker.give_back(recorder);
            }
        }
    }

    /// Whether nothing is in flight and nothing will be issued although the run goes on.
    fn is_idle_for_good(&self) -> bool {
        self.in_flight == 0
            && !self.collector.is_closed()
            && self.nodes.iter().all(|node| node.worker.is_finished())
    }

    /// All workers have done what the plan allows: the window ends after the last completion.
    fn end_early(&mut self, policy: &mut dyn Policy, observer: &mut dyn Observer) {
        for index in 0..self.nodes.len() {
            let worker = &mut self.nodes[index].worker;
            worker.refresh();
            worker.finish();
            while let Some(report) = worker.take_report() {
                worker.give_back(self.collector.accept(index, report));
            }
            self.collector.done(index, DrainCounts::default());
        }
        self.now_ns += 1;
        self.collector.stop(self.now_ns, StopReason::Operations);
        self.collector.emit(self.now_ns, policy, observer);
        self.find_edge();
    }
}
