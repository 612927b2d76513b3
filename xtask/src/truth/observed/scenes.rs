//! Captures of 20 s whose second half has a known culprit: the own load, others or flushes on a
//! device of four servers. After the trials of the method's author.

use super::{between, exponential, poisson};
use stripewise_stats::Random;
use stripewise_trace::{Operation, TaskId};
use stripewise_units::Kind;

const HALF_S: f64 = 10.0;
const END_S: f64 = 2.0 * HALF_S;
const SERVERS: usize = 4;

pub const OWN: TaskId = TaskId::from_index(1);
pub const OTHER: TaskId = TaskId::from_index(2);
pub const FLUSHER: TaskId = TaskId::from_index(3);

/// Who slows the load down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Culprit {
    Absent,
    Device,
    /// Three per cent of the operations.
    Spikes,
    OwnSaturation,
    VolumeCap,
    ControlGroup,
    OtherProcess,
    FlushStorm,
    Processor,
    OneAtATime,
    DeviceAndOther,
    DeviceAndProcessor,
}

impl Culprit {
    /// Those with one cause, for which a verdict is right or wrong.
    pub const SINGLE: [Culprit; 10] = [
        Culprit::Absent,
        Culprit::Device,
        Culprit::Spikes,
        Culprit::OwnSaturation,
        Culprit::VolumeCap,
        Culprit::ControlGroup,
        Culprit::OtherProcess,
        Culprit::FlushStorm,
        Culprit::Processor,
        Culprit::OneAtATime,
    ];

    const fn is_device(self) -> bool {
        matches!(
            self,
            Culprit::DeviceAndOther | Culprit::DeviceAndProcessor | Culprit::Device
        )
    }

    const fn is_processor(self) -> bool {
        matches!(self, Culprit::Processor | Culprit::DeviceAndProcessor)
    }
}

/// Requests to the device.
#[derive(Clone, Copy)]
struct Demand {
    at: f64,
    held: f64,
    service: f64,
    task: TaskId,
}

/// A capture, and the CPU pressure in each of its halves.
pub struct Capture {
    pub operations: Vec<Operation>,
    pub calm_pressure: f64,
    pub pressure: f64,
}

struct SceneBuilder {
    random: Random,
    base: f64,
    demands: Vec<Demand>,
}

impl SceneBuilder {
    /// Gamma of shape 3.
    fn service(&mut self, mean: f64) -> f64 {
        (0..3)
            .map(|_| exponential(&mut self.random, mean / 3.0))
            .sum()
    }

    fn add(&mut self, task: TaskId, rate: f64, from: f64, to: f64, mean: f64) {
        for at in poisson(&mut self.random, rate, from, to) {
            let service = self.service(mean);
            self.demands.push(Demand {
                at,
                held: 0.0,
                service,
                task,
            });
        }
    }

    /// A mildly bursty load.
    fn add_own(&mut self, rate: f64, from: f64, to: f64) {
        let mut at = from;
        while at < to {
            let end = (at + exponential(&mut self.random, 0.2)).min(to);
            let factor = if self.random.below(2) == 0 { 0.5 } else { 1.5 };
            self.add(OWN, rate * factor, at, end, self.base);
            at = end;
        }
    }

    /// A closed loop, one in flight, with short think times.
    fn add_one_at_a_time(&mut self) {
        let mut at = 0.0;
        while at < END_S {
            let service = self.service(self.base);
            self.demands.push(Demand {
                at,
                held: 0.0,
                service,
                task: OWN,
            });
            at += service + exponential(&mut self.random, 0.1 * self.base);
        }
    }

    fn flushes(&mut self, rate: f64, from: f64, to: f64, times: [f64; 2]) {
        for at in poisson(&mut self.random, rate, from, to) {
            let service = self.base * between(&mut self.random, times[0], times[1]);
            self.demands.push(Demand {
                at,
                held: 0.0,
                service,
                task: FLUSHER,
            });
        }
    }

    /// When each of these may proceed, at a rate with a small burst.
    fn throttled(arrivals: &[f64], rate: f64) -> Vec<f64> {
        let burst = (0.02 * rate).max(2.0);
        let (mut tokens, mut last) = (burst, HALF_S);
        let each = |&at: &f64| {
            let now = at.max(last);
            tokens = (tokens + (now - last) * rate).min(burst);
            let wait = ((1.0 - tokens) / rate).max(0.0);
            tokens = (tokens + wait * rate - 1.0).max(0.0);
            last = now + wait;
            last
        };
        arrivals.iter().map(each).collect()
    }

    /// First come, first served; a flush occupies all servers. With a cap, operations of the second
    /// half pass a token bucket first, and there are enough servers.
    fn serve(&mut self, cap: Option<f64>) -> Vec<f64> {
        self.demands
            .sort_by(|one, other| (one.at + one.held).total_cmp(&(other.at + other.held)));
        let mut free = [0.0f64; SERVERS];
        let mut done = Vec::with_capacity(self.demands.len());
        for demand in &self.demands {
            let issued = demand.at + demand.held;
            let servers = if demand.task == FLUSHER { SERVERS } else { 1 };
            let mut end = issued;
            for _ in 0..servers {
                let next = (0..SERVERS).min_by(|&a, &b| free[a].total_cmp(&free[b]));
                let next = next.unwrap_or(0);
                free[next] = free[next].max(issued) + demand.service;
                end = end.max(free[next]);
            }
            done.push(end);
        }
        if let Some(rate) = cap {
            let capped: Vec<usize> = (0..done.len())
                .filter(|&k| self.demands[k].at > HALF_S && self.demands[k].task != FLUSHER)
                .collect();
            let arrivals: Vec<f64> = capped.iter().map(|&k| self.demands[k].at).collect();
            for (k, start) in capped.into_iter().zip(Self::throttled(&arrivals, rate)) {
                done[k] = start + self.demands[k].service;
            }
        }
        done
    }

    /// Delays between completion and return.
    fn wakeups(&mut self, culprit: Culprit, is_busy: bool) -> Vec<f64> {
        let share = between(&mut self.random, 0.2, 0.7);
        let long = between(&mut self.random, 4.0, 12.0) * self.base;
        let mut all = Vec::with_capacity(self.demands.len());
        for k in 0..self.demands.len() {
            let mut wakeup = exponential(&mut self.random, 2e-5);
            let is_late = culprit.is_processor() && self.demands[k].at > HALF_S;
            if is_late && self.random.uniform() < share {
                wakeup += exponential(&mut self.random, long);
            }
            if is_busy && self.random.uniform() < 0.1 {
                wakeup += exponential(&mut self.random, 2.0 * self.base);
            }
            all.push(wakeup);
        }
        all
    }
}

/// Generates a capture. `is_busy`: other programs keep the CPUs busy all the time.
pub fn capture(culprit: Culprit, is_busy: bool, seed: u64) -> Capture {
    let mut random = Random::new(seed);
    let base = between(&mut random, 1e-3, 3e-3);
    let full = SERVERS as f64 / base;
    let rate = full * between(&mut random, 0.15, 0.35);
    let mut maker = SceneBuilder {
        random,
        base,
        demands: Vec::new(),
    };
    let saturated = full * between(&mut maker.random, 0.97, 1.1);
    match culprit {
        Culprit::OneAtATime => maker.add_one_at_a_time(),
        _ => {
            maker.add_own(rate, 0.0, HALF_S);
            let late = if culprit == Culprit::OwnSaturation {
                saturated
            } else {
                rate
            };
            maker.add_own(late, HALF_S, END_S);
        }
    }
    slow_down(&mut maker, culprit, rate, full);
    maker.add(OTHER, full * 0.08, 0.0, END_S, base);
    if matches!(culprit, Culprit::OtherProcess | Culprit::DeviceAndOther) {
        let rate = full * between(&mut maker.random, 0.35, 0.6);
        let mean = base * between(&mut maker.random, 1.2, 1.8);
        maker.add(OTHER, rate, HALF_S, END_S, mean);
    }
    maker.flushes(1.0, 0.0, END_S, [2.0, 6.0]);
    if culprit == Culprit::FlushStorm {
        let rate = between(&mut maker.random, 15.0, 40.0);
        maker.flushes(rate, HALF_S, END_S, [3.0, 8.0]);
    }
    let cap = (rate + full * 0.08 + 1.0) * between(&mut maker.random, 0.98, 1.1);
    let done = maker.serve((culprit == Culprit::VolumeCap).then_some(cap));
    let wakeups = maker.wakeups(culprit, is_busy);
    let usual = if is_busy { 0.85 } else { 0.03 };
    let mut pressure = usual + between(&mut maker.random, 0.0, 0.1);
    let calm_pressure = usual + between(&mut maker.random, 0.0, 0.1);
    if culprit.is_processor() {
        pressure += between(&mut maker.random, 0.3, 0.8);
    }
    let all = maker.demands.iter().zip(&done).zip(&wakeups);
    let mut operations: Vec<Operation> = all
        .map(|((demand, &done), &wakeup)| operation(demand, done, wakeup))
        .collect();
    operations.sort_by_key(|one| one.arrived_ns);
    Capture {
        operations,
        calm_pressure,
        pressure: pressure.min(1.0),
    }
}

/// The culprit's effect on the own load's operations.
fn slow_down(maker: &mut SceneBuilder, culprit: Culprit, rate: f64, full: f64) {
    let headroom = 0.8 * full / (rate * 1.3 + full * 0.08);
    let factor = match culprit {
        Culprit::Device => between(&mut maker.random, 1.8, headroom.max(1.9)),
        Culprit::DeviceAndOther => 1.8,
        Culprit::DeviceAndProcessor => 2.2,
        _ => 1.0,
    };
    let limit = rate * between(&mut maker.random, 0.95, 1.05);
    let late = |demand: &Demand| demand.at > HALF_S;
    for k in 0..maker.demands.len() {
        if !late(&maker.demands[k]) {
            continue;
        }
        if culprit.is_device() {
            maker.demands[k].service *= factor;
        }
        if culprit == Culprit::Spikes && maker.random.uniform() < 0.03 {
            maker.demands[k].service = between(&mut maker.random, 0.03, 0.1);
        }
    }
    if culprit == Culprit::ControlGroup {
        let all: Vec<usize> = (0..maker.demands.len())
            .filter(|&k| late(&maker.demands[k]))
            .collect();
        let arrivals: Vec<f64> = all.iter().map(|&k| maker.demands[k].at).collect();
        for (k, start) in all
            .into_iter()
            .zip(SceneBuilder::throttled(&arrivals, limit))
        {
            maker.demands[k].held = start - maker.demands[k].at;
        }
    }
}

fn operation(demand: &Demand, done: f64, wakeup: f64) -> Operation {
    let ns = |seconds: f64| (seconds * 1e9) as u64;
    let issued = ns(demand.at + demand.held);
    let kind = if demand.task == FLUSHER {
        Kind::Sync
    } else {
        Kind::Read
    };
    Operation {
        task: demand.task,
        entered_ns: Some(ns(demand.at)),
        issued_ns: Some(issued),
        completed_ns: Some(ns(done).max(issued)),
        returned_ns: Some(ns(done + wakeup).max(issued)),
        ..Operation::at(issued, kind, 0, 8_192)
    }
}
