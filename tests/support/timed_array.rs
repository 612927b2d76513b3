//! A simulated array behind the port of `surface`.

use stripewise_array_sim::{Array, ArraySpec, Finished, Kind, Request, Simulate};
use stripewise_surface::{Answer, Ask, Device, Halt};

pub struct Simulated {
    array: Array,
    now_ns: u64,
}

impl Simulated {
    pub fn new(spec: &ArraySpec) -> Self {
        Simulated {
            array: spec.build(),
            now_ns: 0,
        }
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

    fn together(&mut self, asks: &[Ask], answers: &mut Vec<Answer>) -> Result<(), Halt> {
        answers.clear();
        answers.resize(
            asks.len(),
            Answer {
                latency_ns: 0,
                whole: false,
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
            self.array.advance(next_ns, &mut |done: Finished| {
                let token = done.token as usize;
                answers[token] = Answer {
                    latency_ns: done.at_ns - begun_ns,
                    whole: done.result == asks[token].length_bytes as i32,
                };
                last_ns = done.at_ns;
                waiting -= 1;
            });
        }
        self.now_ns = last_ns;
        Ok(())
    }

    fn rest(&mut self, rest_ns: u64) -> Result<(), Halt> {
        self.now_ns += rest_ns;
        Ok(())
    }
}
