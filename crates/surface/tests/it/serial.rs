//! Disks that serve one read at a time, each with a latency of its own, on a machine that
//! other work keeps busy: what exported files and throttled devices look like.

use stripewise_stats::Random;
use stripewise_surface::{Device, ProbeIo, ProbeResult, StopReason};

/// How units lie on the disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lay {
    /// One after the other; RAID 5 left-symmetric reads the same.
    RoundRobin,
    /// Pairs; an idle disk of the pair is taken, else the one whose head is nearer.
    Pairs,
}

/// How busy the machine is.
#[derive(Clone, Copy, Debug)]
pub struct Busy {
    /// Mean time of one read on its way to the disk, beyond what the disk takes.
    pub way_ns: f64,
    /// Probability that the disk's server has to wait for a processor, and how long.
    pub waits: f64,
    pub wait_ns: f64,
    /// Mean time for which the reader runs, and for which it does not.
    pub runs_ns: f64,
    pub stands_ns: f64,
}

impl Busy {
    pub const IDLE: Busy = Busy {
        way_ns: 30e3,
        waits: 0.0,
        wait_ns: 0.0,
        runs_ns: 1e12,
        stands_ns: 1.0,
    };
    /// Several times as much work as processors.
    pub const LOADED: Busy = Busy {
        way_ns: 400e3,
        waits: 0.2,
        wait_ns: 4e6,
        runs_ns: 30e6,
        stands_ns: 12e6,
    };
    /// Hardly anything gets a processor.
    pub const SWAMPED: Busy = Busy {
        way_ns: 1e6,
        waits: 0.5,
        wait_ns: 20e6,
        runs_ns: 10e6,
        stands_ns: 30e6,
    };
}

pub struct Serial {
    pub lay: Lay,
    pub unit_bytes: u64,
    /// Byte of the target at which a unit begins.
    pub phase_bytes: u64,
    pub size_bytes: u64,
    pub busy: Busy,
    /// From this moment on all reads fail at once.
    pub gone_ns: u64,
    /// Reads of these bytes take this many nanoseconds longer.
    pub slow: Option<(std::ops::Range<u64>, f64)>,
    disks: Vec<Disk>,
    random: Random,
    now_ns: u64,
    /// The reader does not run until then, if that is ahead; else it runs until then.
    turn: Turn,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    stands: bool,
    until_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Disk {
    latency_ns: f64,
    free_ns: u64,
    head: u64,
}

impl Serial {
    pub fn new(lay: Lay, unit_bytes: u64, latencies_ms: &[f64], busy: Busy, seed: u64) -> Self {
        let disk = |ms: &f64| Disk {
            latency_ns: ms * 1e6,
            free_ns: 0,
            head: 0,
        };
        Serial {
            lay,
            unit_bytes,
            phase_bytes: 0,
            size_bytes: 1 << 30,
            busy,
            gone_ns: u64::MAX,
            slow: None,
            disks: latencies_ms.iter().map(disk).collect(),
            random: Random::new(seed),
            now_ns: 0,
            turn: Turn {
                stands: false,
                until_ns: 0,
            },
        }
    }

    fn exponential(&mut self, mean: f64) -> u64 {
        (-mean * (1.0 - self.random.uniform()).ln()) as u64
    }

    /// When the reader, which waits for something that happens at `at_ns`, sees it.
    fn seen_ns(&mut self, at_ns: u64) -> u64 {
        while self.turn.until_ns <= at_ns {
            let mean = match self.turn.stands {
                true => self.busy.runs_ns,
                false => self.busy.stands_ns,
            };
            let lasts = self.exponential(mean).max(1);
            self.turn = Turn {
                stands: !self.turn.stands,
                until_ns: self.turn.until_ns + lasts,
            };
        }
        match self.turn.stands {
            true => self.turn.until_ns,
            false => at_ns,
        }
    }

    fn disk_of(&self, offset_bytes: u64, at_ns: u64) -> usize {
        let unit = (offset_bytes + self.unit_bytes - self.phase_bytes) / self.unit_bytes;
        match self.lay {
            Lay::RoundRobin => unit as usize % self.disks.len(),
            Lay::Pairs => {
                let pair = unit as usize % (self.disks.len() / 2) * 2;
                let idle = (pair..pair + 2).find(|&disk| self.disks[disk].free_ns <= at_ns);
                let far = |disk: &usize| self.disks[*disk].head.abs_diff(offset_bytes);
                let nearest = (pair..pair + 2).min_by_key(far);
                idle.or(nearest).expect("a pair has two")
            }
        }
    }
}

impl Device for Serial {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn sector_bytes(&self) -> u32 {
        512
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn run_batch(
        &mut self,
        requests: &[ProbeIo],
        answers: &mut Vec<ProbeResult>,
    ) -> Result<(), StopReason> {
        answers.clear();
        if self.now_ns >= self.gone_ns {
            self.now_ns += 1_000;
            answers.extend(requests.iter().map(|_| ProbeResult {
                latency_ns: 1_000,
                whole: false,
                medium_error: true,
            }));
            return Ok(());
        }
        let begun_ns = self.seen_ns(self.now_ns);
        let mut last_ns = begun_ns;
        let mut ends = Vec::new();
        for io in requests {
            let way_ns = self.exponential(self.busy.way_ns);
            let disk = self.disk_of(io.offset_bytes, begun_ns);
            let mut takes = self.disks[disk].latency_ns;
            if self.random.uniform() < self.busy.waits {
                takes += self.exponential(self.busy.wait_ns) as f64;
            }
            if let Some((bytes, slower_ns)) = &self.slow {
                let end = io.offset_bytes + u64::from(io.length_bytes);
                if io.offset_bytes < bytes.end && bytes.start < end {
                    takes += slower_ns;
                }
            }
            let disk = &mut self.disks[disk];
            disk.free_ns = disk.free_ns.max(begun_ns + way_ns) + takes as u64;
            disk.head = io.offset_bytes;
            ends.push(disk.free_ns);
        }
        let mut order: Vec<usize> = (0..ends.len()).collect();
        order.sort_by_key(|&number| ends[number]);
        let mut seen = vec![0; ends.len()];
        for number in order {
            let at_ns = ends[number].max(last_ns);
            seen[number] = self.seen_ns(at_ns);
            last_ns = seen[number];
        }
        answers.extend(seen.iter().map(|at_ns| ProbeResult {
            latency_ns: at_ns - begun_ns,
            whole: true,
            medium_error: false,
        }));
        self.now_ns = last_ns;
        Ok(())
    }

    fn rest(&mut self, rest_ns: u64) -> Result<(), StopReason> {
        self.now_ns += rest_ns;
        Ok(())
    }
}
