//! Batches of reads, counted and timed.

use crate::device::{Device, ProbeIo, ProbeResult, StopReason};
use stripewise_stats::{Estimate, Random, mean_interval, median};

/// Batches of one setting in a block; their median counts.
const REPEATS: usize = 7;

pub(super) struct Prober<'d, D> {
    device: &'d mut D,
    pub random: Random,
    requests: Vec<ProbeIo>,
    answers: Vec<ProbeResult>,
    deadline_ns: u64,
    pub reads: u64,
    failed: u64,
}

impl<'d, D: Device> Prober<'d, D> {
    pub fn new(device: &'d mut D, seed: u64, time_ns_max: u64) -> Self {
        Prober {
            deadline_ns: device.now_ns().saturating_add(time_ns_max),
            device,
            random: Random::new(seed),
            requests: Vec::new(),
            answers: Vec::new(),
            reads: 0,
            failed: 0,
        }
    }

    pub fn now_ns(&self) -> u64 {
        self.device.now_ns()
    }

    pub fn sector_bytes(&self) -> u64 {
        u64::from(self.device.sector_bytes())
    }

    /// Whether more than one read in fifty failed.
    pub fn is_mostly_failing(&self) -> bool {
        self.failed * 50 > self.reads
    }

    /// A random multiple of `step` at which `room` bytes fit, at least `step` after byte 0.
    pub fn place(&mut self, step: u64, room: u64) -> u64 {
        let last = self.device.size_bytes().saturating_sub(room + step) / step;
        (1 + self.random.below(last.max(1) as usize) as u64) * step
    }

    /// Starts reads at these offsets together; returns nanoseconds until the last has ended.
    pub fn batch(&mut self, places: &[u64], length_bytes: u64) -> Result<f64, StopReason> {
        self.start(places, length_bytes)?;
        let last_ns = self.answers.iter().map(|one| one.latency_ns).max();
        Ok(last_ns.unwrap_or(0).max(1) as f64)
    }

    fn start(&mut self, places: &[u64], length_bytes: u64) -> Result<(), StopReason> {
        if self.device.now_ns() >= self.deadline_ns {
            return Err(StopReason::OutOfTime);
        }
        self.requests.clear();
        let io = |place: &u64| ProbeIo::read(*place, length_bytes as u32);
        self.requests.extend(places.iter().map(io));
        self.device.run_batch(&self.requests, &mut self.answers)?;
        self.reads += places.len() as u64;
        self.failed += self.answers.iter().filter(|one| !one.whole).count() as u64;
        Ok(())
    }

    /// The logarithm of a read's mean latency in the median of some batches; `places` returns the
    /// offsets of one. The mean is more informative than the last: that one depends on the single
    /// unit that got most reads.
    pub fn cost(
        &mut self,
        length_bytes: u64,
        mut places: impl FnMut(&mut Self) -> Vec<u64>,
    ) -> Result<f64, StopReason> {
        let mut times = [0.0; REPEATS];
        for time in &mut times {
            let places = places(self);
            self.start(&places, length_bytes)?;
            let sum_ns: u64 = self.answers.iter().map(|one| one.latency_ns).sum();
            *time = sum_ns.max(1) as f64 / places.len().max(1) as f64;
        }
        Ok(libm::log(median(&times).unwrap_or(1.0)))
    }

    /// Latency of a single read of one sector.
    pub fn single_ns(&mut self) -> Result<f64, StopReason> {
        let sector = self.sector_bytes();
        let mut times = Vec::new();
        for _ in 0..48 {
            let place = self.place(sector, sector);
            times.push(self.batch(&[place], sector)?);
        }
        Ok(median(&times).unwrap_or(0.0))
    }
}

/// Mean difference of logarithms, with its interval.
pub(super) fn difference(values: &[f64], level: f64) -> Estimate {
    mean_interval(values, level).unwrap_or(Estimate {
        value: 0.0,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        level,
    })
}
