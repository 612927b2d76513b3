//! One disk with one server and a fixed service time, first in, first out: the simplest array with
//! an exact analytic solution.

use crate::{Finished, Request, Simulate};
use std::collections::VecDeque;

/// One first-in-first-out server.
#[derive(Clone, Debug)]
pub struct Fifo {
    size_bytes: u64,
    service_ns: u64,
    busy_until_ns: u64,
    queue: VecDeque<Finished>,
}

impl Fifo {
    /// A disk that serves every operation in `service_ns` (0: at once).
    pub fn new(size_bytes: u64, service_ns: u64) -> Self {
        Fifo {
            size_bytes,
            service_ns,
            busy_until_ns: 0,
            queue: VecDeque::with_capacity(65_536),
        }
    }
}

impl Simulate for Fifo {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn sector_bytes(&self) -> u32 {
        512
    }

    fn submit(&mut self, now_ns: u64, request: Request) {
        self.busy_until_ns = self.busy_until_ns.max(now_ns) + self.service_ns;
        let result = i32::try_from(request.length_bytes).unwrap_or(i32::MAX);
        self.queue.push_back(Finished {
            token: request.token,
            result,
            at_ns: self.busy_until_ns,
        });
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.queue.front().map(|first| first.at_ns)
    }

    fn advance(&mut self, until_ns: u64, finished: &mut impl FnMut(Finished)) {
        while self
            .queue
            .front()
            .is_some_and(|first| first.at_ns <= until_ns)
        {
            if let Some(first) = self.queue.pop_front() {
                finished(first);
            }
        }
    }
}
