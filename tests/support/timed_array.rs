//! A simulated array behind the port of `surface`, with other load where that is wanted.

use stripewise_array_sim::{Array, ArraySpec, Finished, Kind, Request, Simulate};
use stripewise_stats::Random;
use stripewise_surface::{Device, ProbeIo, ProbeResult, StopReason};

/// Operations of others, at random places, that come whether the array keeps up or not.
#[derive(Clone, Copy, Debug)]
pub struct OtherLoad {
    /// Operations a second, in the mean; their distances are exponential.
    pub per_second: f64,
    pub bytes: u32,
    /// Part of them that write.
    pub writes: f64,
}

pub struct Simulated {
    array: Array,
    now_ns: u64,
    load: Option<OtherLoad>,
    /// When the next operation of others comes, and how many came.
    next_other_ns: u64,
    others: u64,
    random: Random,
}

/// Tokens from here on belong to others.
const OTHERS: u64 = 1 << 32;

impl Simulated {
    pub fn new(spec: &ArraySpec) -> Self {
        Simulated {
            array: spec.build(),
            now_ns: 0,
            load: None,
            next_other_ns: u64::MAX,
            others: 0,
            random: Random::new(spec.seed),
        }
    }

    /// With other load from the start.
    pub fn with_load(mut self, load: OtherLoad) -> Self {
        self.load = Some(load);
        self.next_other_ns = 0;
        self
    }

    /// One operation of others, and when the next one comes.
    fn other(&mut self) {
        let Some(load) = self.load else { return };
        let room = self.array.size_bytes() / u64::from(load.bytes);
        let kind = match self.random.uniform() < load.writes {
            true => Kind::Write,
            false => Kind::Read,
        };
        let request = Request {
            token: OTHERS + self.others,
            kind,
            durable: false,
            offset_bytes: self.random.below(room as usize) as u64 * u64::from(load.bytes),
            length_bytes: load.bytes,
        };
        self.array.submit(self.next_other_ns, request);
        self.others += 1;
        let gap_ns = -(1.0 - self.random.uniform()).ln() * 1e9 / load.per_second;
        self.next_other_ns += gap_ns as u64 + 1;
    }
}

impl Device for Simulated {
    fn size_bytes(&self) -> u64 {
        self.array.size_bytes()
    }

    fn sector_bytes(&self) -> u32 {
        self.array.sector_bytes()
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn run_batch(
        &mut self,
        asks: &[ProbeIo],
        answers: &mut Vec<ProbeResult>,
    ) -> Result<(), StopReason> {
        answers.clear();
        answers.resize(
            asks.len(),
            ProbeResult {
                latency_ns: 0,
                whole: false,
                medium_error: false,
            },
        );
        for (token, ask) in asks.iter().enumerate() {
            let request = Request {
                token: token as u64,
                kind: if ask.write { Kind::Write } else { Kind::Read },
                durable: false,
                offset_bytes: ask.offset_bytes,
                length_bytes: ask.length_bytes,
            };
            self.array.submit(self.now_ns, request);
        }
        let begun_ns = self.now_ns;
        let (mut waiting, mut last_ns) = (asks.len(), begun_ns);
        while waiting > 0 {
            let next_ns = self.array.next_event_ns().expect("an operation ends");
            if self.next_other_ns < next_ns {
                self.other();
                continue;
            }
            self.array.advance(next_ns, &mut |done: Finished| {
                if done.token >= OTHERS {
                    return;
                }
                let token = done.token as usize;
                answers[token] = ProbeResult {
                    latency_ns: done.at_ns - begun_ns,
                    whole: done.result == asks[token].length_bytes as i32,
                    medium_error: done.result < 0,
                };
                last_ns = done.at_ns;
                waiting -= 1;
            });
        }
        self.now_ns = last_ns;
        Ok(())
    }

    fn rest(&mut self, rest_ns: u64) -> Result<(), StopReason> {
        self.now_ns += rest_ns;
        while self.load.is_some() && self.next_other_ns < self.now_ns {
            if let Some(next_ns) = self.array.next_event_ns()
                && next_ns <= self.next_other_ns
            {
                self.array.advance(next_ns, &mut |_: Finished| {});
            } else {
                self.other();
            }
        }
        Ok(())
    }
}
