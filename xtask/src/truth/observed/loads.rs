//! Tasks with a known structure, on a device of eight servers, 1 ms each, shared with a Poisson
//! background of 2,000 per second. After the trials of the method's author, with more operations
//! for deep queues.

use super::{exponential, lognormal};
use crate::truth::parallel::trials;
use crate::truth::size::{Size, seed_of};
use crate::truth::table::{Bound, Table};
use anyhow::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use stripewise_stats::Random;
use stripewise_trace::closedness::{Closedness, Span, Structure, closedness};

const SERVERS: usize = 8;
const SERVICE_S: f64 = 1e-3;
const BACKGROUND: f64 = 2_000.0;

/// How a task issues operations.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Slots that each wait, then think for a time with this mean: fixed, exponential or lognormal.
    Closed(usize, f64, Think),
    /// This many at once, then wait for all of them, then think.
    ForkJoin(usize, f64),
    Poisson(f64),
    /// Two rates, and the mean duration of each.
    Switched(f64, f64, f64),
    /// Batches of this mean size at this rate of operations.
    Batches(f64, f64),
    /// This many each second, in addition to a Poisson stream.
    Checkpoints(usize, f64),
    /// A timer with this rate, with jitter of this share of its period.
    Timer(f64, f64),
}

#[derive(Clone, Copy, Debug)]
pub enum Think {
    Fixed,
    Exponential,
    Lognormal,
}

/// Closed loads whose rate follows latency (E of 0.15 and more).
pub fn closed_loads() -> Vec<Kind> {
    let mut all = Vec::new();
    for slots in [1, 4, 16, 64] {
        all.push(Kind::Closed(slots, 0.0, Think::Fixed));
        all.push(Kind::Closed(slots, 2e-4, Think::Exponential));
        all.push(Kind::Closed(slots, 1e-3, Think::Lognormal));
    }
    all.extend([Kind::ForkJoin(16, 1e-3), Kind::ForkJoin(4, 0.0)]);
    all
}

pub fn open_loads() -> Vec<Kind> {
    vec![
        Kind::Poisson(50.0),
        Kind::Poisson(500.0),
        Kind::Poisson(2_000.0),
        Kind::Poisson(4_500.0),
        Kind::Switched(4_000.0, 200.0, 0.1),
        Kind::Switched(4_000.0, 200.0, 5e-3),
        Kind::Switched(3_000.0, 1_000.0, 2.0),
        Kind::Switched(3_000.0, 0.0, 0.02),
        Kind::Batches(1_000.0, 8.0),
        Kind::Checkpoints(300, 200.0),
    ]
}

const TIMERS: [Kind; 3] = [
    Kind::Timer(200.0, 0.0),
    Kind::Timer(200.0, 0.3),
    Kind::Timer(2_000.0, 0.3),
];

/// Closed loads that hardly follow latency (E about 0.05).
const IDLE: [Kind; 4] = [
    Kind::Closed(1, 0.02, Think::Exponential),
    Kind::Closed(1, 0.02, Think::Lognormal),
    Kind::Closed(4, 0.02, Think::Exponential),
    Kind::Closed(16, 0.02, Think::Lognormal),
];

/// Next event, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// An operation of others.
    Background,
    /// An operation of the task, and its consequence.
    Own(usize),
    /// The load's own timer.
    Turn,
}

struct Simulation {
    kind: Kind,
    random: Random,
    free: [f64; SERVERS],
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    serial: u64,
    spans: Vec<Span>,
    is_fast: bool,
    /// For a fork-join: number outstanding.
    awaited: usize,
}

impl Simulation {
    fn at(&mut self, seconds: f64, event: Event) {
        self.serial += 1;
        let key = ((seconds * 1e9) as u64, self.serial, event);
        self.events.push(Reverse(key));
    }

    /// First come, first served: returns the completion time.
    fn serve(&mut self, now: f64) -> f64 {
        let free = &self.free;
        let next = (0..SERVERS).min_by(|&a, &b| free[a].total_cmp(&free[b]));
        let next = next.unwrap_or(0);
        let service = lognormal(&mut self.random, SERVICE_S, 0.7);
        self.free[next] = self.free[next].max(now) + service;
        self.free[next]
    }

    fn own(&mut self, now: f64) -> f64 {
        let done = self.serve(now);
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        self.spans.push(Span {
            issued_ns: ns(now),
            completed_ns: ns(done),
        });
        done
    }

    /// Delay before a program notices a completion.
    fn jitter(&mut self) -> f64 {
        15e-6 + exponential(&mut self.random, 25e-6)
    }

    fn think(&mut self, mean: f64, how: Think) -> f64 {
        match how {
            _ if mean == 0.0 => 0.0,
            Think::Fixed => mean,
            Think::Exponential => exponential(&mut self.random, mean),
            Think::Lognormal => lognormal(&mut self.random, mean, 2.0),
        }
    }

    fn begin(&mut self) {
        match self.kind {
            Kind::Closed(slots, ..) => {
                for slot in 0..slots {
                    let start = self.random.uniform() * 2e-3;
                    self.at(start, Event::Own(slot));
                }
            }
            _ => self.at(0.0, Event::Turn),
        }
        self.at(0.0, Event::Background);
    }

    fn own_event(&mut self, now: f64, which: usize) {
        let done = self.own(now);
        match self.kind {
            Kind::Closed(_, mean, how) => {
                let next = done + self.think(mean, how) + self.jitter();
                self.at(next, Event::Own(which));
            }
            Kind::ForkJoin(..) => {
                self.awaited -= 1;
                let end = self.spans.iter().rev().take(which + 1);
                let end = end.map(|span| span.completed_ns).max().unwrap_or(0);
                if self.awaited == 0 {
                    self.at(end as f64 / 1e9 + 1e-9, Event::Turn);
                }
            }
            _ => {}
        }
    }

    /// The load's timer fires: it issues, and sets the timer again.
    fn turn(&mut self, now: f64) {
        let next = match self.kind {
            Kind::Closed(..) => return,
            Kind::ForkJoin(count, think) => {
                let start = now + self.think(think, Think::Exponential) + self.jitter();
                self.awaited = count;
                for k in 0..count {
                    self.at(start + 4e-6 * k as f64, Event::Own(count - 1));
                }
                return;
            }
            Kind::Poisson(rate) => {
                self.at(now, Event::Own(0));
                now + exponential(&mut self.random, 1.0 / rate)
            }
            Kind::Switched(fast, slow, dwell) => {
                self.is_fast = !self.is_fast;
                let end = now + exponential(&mut self.random, dwell);
                let rate = if self.is_fast { fast } else { slow };
                if rate > 0.0 {
                    let all = super::poisson(&mut self.random, rate, now, end);
                    all.into_iter().for_each(|at| self.at(at, Event::Own(0)));
                }
                end
            }
            Kind::Batches(rate, mean) => {
                // Geometric, at least one.
                let mut k = 0;
                loop {
                    self.at(now + 4e-6 * f64::from(k), Event::Own(0));
                    k += 1;
                    if self.random.uniform() < 1.0 / mean {
                        break;
                    }
                }
                now + exponential(&mut self.random, mean / rate)
            }
            Kind::Checkpoints(count, rate) => {
                for k in 0..count {
                    self.at(now + 10e-6 * k as f64, Event::Own(0));
                }
                let all = super::poisson(&mut self.random, rate, now, now + 1.0);
                all.into_iter().for_each(|at| self.at(at, Event::Own(0)));
                now + 1.0
            }
            Kind::Timer(rate, jitter) => {
                self.at(now, Event::Own(0));
                let period = (1.0 + jitter * self.random.normal()) / rate;
                now + period.max(1e-5)
            }
        };
        self.at(next, Event::Turn);
    }
}

/// The crate's verdict on a load of `count` operations.
pub fn closedness_of(kind: Kind, count: usize, seed: u64) -> Closedness {
    let mut simulation = Simulation {
        kind,
        random: Random::new(seed),
        free: [0.0; SERVERS],
        events: BinaryHeap::new(),
        serial: 0,
        spans: Vec::new(),
        is_fast: false,
        awaited: 0,
    };
    simulation.begin();
    while simulation.spans.len() < count {
        let Some(Reverse((ns, _, event))) = simulation.events.pop() else {
            break;
        };
        let now = ns as f64 / 1e9;
        match event {
            Event::Background => {
                simulation.serve(now);
                let next = now + exponential(&mut simulation.random, 1.0 / BACKGROUND);
                simulation.at(next, Event::Background);
            }
            Event::Own(which) => simulation.own_event(now, which),
            Event::Turn => simulation.turn(now),
        }
    }
    closedness(&simulation.spans)
}

/// As many as the verdict needs at the load's depth.
fn count_of(kind: Kind) -> usize {
    match kind {
        Kind::Closed(64, ..) => 40_000,
        Kind::Closed(16, ..) => 12_000,
        Kind::ForkJoin(16, _) => 16_000,
        _ => 4_000,
    }
}

/// Verdicts on the loads of a list in turn.
pub fn closednesses(
    seed: u64,
    study: u64,
    loads: &[Kind],
    count: usize,
) -> Result<Vec<Closedness>> {
    trials(count, |number| {
        let kind = loads[number % loads.len()];
        Ok(closedness_of(
            kind,
            count_of(kind),
            seed_of(seed, study, number),
        ))
    })
}

fn percent(all: &[Closedness], holds: impl Fn(&Closedness) -> bool) -> f64 {
    100.0 * all.iter().filter(|one| holds(one)).count() as f64 / all.len().max(1) as f64
}

/// (h): whether a load waits for the disk.
pub fn study(seed: u64, size: Size, table: &mut Table) -> Result<()> {
    let is_serial = |one: &Closedness| one.structure == Structure::OneAtATimeCauseUnknown;
    let closed = closednesses(seed, 110, &closed_loads(), size.observed)?;
    let outcomes = percent(&closed, |one| one.structure.is_closed());
    table.state(
        "(h) closed: called closed, %",
        outcomes,
        1,
        Bound::AtLeast(95.0),
    );
    let outcomes = percent(&closed, |one| one.structure.is_open());
    table.state(
        "(h) closed: called open, %",
        outcomes,
        1,
        Bound::AtMost(2.0),
    );
    let open = closednesses(seed, 111, &open_loads(), size.observed)?;
    let outcomes = percent(&open, |one| one.structure.is_open());
    table.state("(h) open: called open, %", outcomes, 1, Bound::None);
    let outcomes = percent(&open, |one| one.structure.is_closed());
    table.state(
        "(h) open: called closed, %",
        outcomes,
        1,
        Bound::AtMost(2.0),
    );
    let timers = closednesses(seed, 112, &TIMERS, size.observed)?;
    let outcomes = percent(&timers, |one| one.structure.is_open());
    table.state(
        "(h) timers: called open, %",
        outcomes,
        1,
        Bound::AtLeast(95.0),
    );
    let outcomes = percent(&timers, |one| one.structure.is_closed());
    table.state(
        "(h) timers: called closed, %",
        outcomes,
        1,
        Bound::AtMost(2.0),
    );
    let outcomes = percent(&timers, is_serial);
    table.state(
        "(h) timers: one at a time, cause unknown, %",
        outcomes,
        1,
        Bound::None,
    );
    // Whatever the verdict, it must not be that latency matters.
    let idle = closednesses(seed, 113, &IDLE, size.observed)?;
    let outcomes = percent(&idle, Closedness::is_insensitive);
    table.state(
        "(h) thinking 20 ms: insensitive, %",
        outcomes,
        1,
        Bound::None,
    );
    let outcomes = percent(&idle, |one| one.elasticity > 0.2);
    table.state(
        "(h) thinking 20 ms: E above 0.2, %",
        outcomes,
        1,
        Bound::AtMost(2.0),
    );
    Ok(())
}
