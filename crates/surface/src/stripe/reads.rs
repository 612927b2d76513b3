//! Batches of concurrent reads, counted and timed.

use crate::device::{Device, ProbeIo, ProbeResult, StopReason};
use stripewise_stats::Random;

/// Failed reads before giving up: one in fifty, and at least this many.
const FAILED_MIN: u64 = 16;

/// Issues batches of single-sector reads to a device.
pub(super) struct Reader<'d, D> {
    device: &'d mut D,
    pub random: Random,
    requests: Vec<ProbeIo>,
    answers: Vec<ProbeResult>,
    deadline_ns: u64,
    /// Number of reads so far.
    pub reads: u64,
    failed: u64,
    /// Reads too fast for any disk to have moved.
    pub instant: u64,
}

/// A faster read comes from a cache, or from flash.
const INSTANT_NS: u64 = 250_000;

impl<'d, D: Device> Reader<'d, D> {
    pub fn new(device: &'d mut D, seed: u64, time_ns_max: u64) -> Self {
        let deadline_ns = device.now_ns().saturating_add(time_ns_max);
        Reader {
            device,
            random: Random::new(seed),
            requests: Vec::new(),
            answers: Vec::new(),
            deadline_ns,
            reads: 0,
            failed: 0,
            instant: 0,
        }
    }

    pub fn size_bytes(&self) -> u64 {
        self.device.size_bytes()
    }

    pub fn sector_bytes(&self) -> u64 {
        u64::from(self.device.sector_bytes())
    }

    pub fn now_ns(&self) -> u64 {
        self.device.now_ns()
    }

    /// An integer below `end`; 0 if there is none.
    pub fn below(&mut self, end: u64) -> u64 {
        match usize::try_from(end) {
            Ok(0) | Err(_) => 0,
            Ok(end) => self.random.below(end) as u64,
        }
    }

    /// Reads a sector at each position at once; returns each latency.
    pub fn run_batch(&mut self, positions: &[u64]) -> Result<&[ProbeResult], StopReason> {
        if self.device.now_ns() >= self.deadline_ns {
            return Err(StopReason::OutOfTime);
        }
        let sector = self.device.sector_bytes();
        self.requests.clear();
        let requests = positions.iter().map(|&at| ProbeIo::read(at, sector));
        self.requests.extend(requests);
        self.device.run_batch(&self.requests, &mut self.answers)?;
        self.reads += positions.len() as u64;
        for answer in &self.answers {
            self.failed += u64::from(!answer.whole);
            self.instant += u64::from(answer.latency_ns < INSTANT_NS);
        }
        if self.failed > FAILED_MIN.max(self.reads / 50) {
            return Err(StopReason::Gone(format!(
                "{} of {} reads failed",
                self.failed, self.reads
            )));
        }
        Ok(&self.answers)
    }

    /// Logarithm of the mean latency of a batch.
    pub fn cost(&mut self, positions: &[u64]) -> Result<f64, StopReason> {
        self.cost_of(positions, |_| true)
    }

    /// Logarithm of the mean latency of the reads of a batch that count.
    pub fn cost_of(
        &mut self,
        positions: &[u64],
        counts: impl Fn(usize) -> bool,
    ) -> Result<f64, StopReason> {
        let answers = self.run_batch(positions)?;
        let (mut sum, mut count) = (0.0, 0.0);
        for (number, answer) in answers.iter().enumerate() {
            if answer.whole && counts(number) {
                sum += answer.latency_ns as f64;
                count += 1.0;
            }
        }
        // A batch without results means nothing: it costs as much as one of a nanosecond, which
        // winsorising handles.
        Ok(libm::log((sum / f64::max(count, 1.0)).max(1.0)))
    }
}
