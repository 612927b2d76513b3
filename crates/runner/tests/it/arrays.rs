//! A simulated disk that does as the test says.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use stripewise_array_sim::{Finished, Request, Simulate};

/// What passed through a [`Scripted`] disk.
#[derive(Default)]
pub struct Log {
    /// Requests in the order of their issue, with the time of it.
    pub requests: Vec<(u64, Request)>,
    /// Completions handed over so far.
    pub completed: u64,
}

/// First in, first out, one server; silent for a while; failing now and then.
#[derive(Clone, Default)]
pub struct Scripted {
    pub service_ns: u64,
    /// Nothing completes in this range of time; service goes on at its end.
    pub stall: Range<u64>,
    /// Every n-th request fails with this error; (0, _): none.
    pub fail_every: (u64, i32),
    pub log: Rc<RefCell<Log>>,
    pub busy_until_ns: u64,
    pub queue: VecDeque<Finished>,
}

impl Scripted {
    pub fn new(service_ns: u64) -> Self {
        Scripted {
            service_ns,
            ..Scripted::default()
        }
    }
}

impl Simulate for Scripted {
    fn size_bytes(&self) -> u64 {
        1 << 40
    }

    fn sector_bytes(&self) -> u32 {
        512
    }

    fn submit(&mut self, now_ns: u64, request: Request) {
        let mut log = self.log.borrow_mut();
        log.requests.push((now_ns, request));
        let mut start_ns = self.busy_until_ns.max(now_ns);
        if self.stall.contains(&(start_ns + self.service_ns)) {
            start_ns = self.stall.end;
        }
        self.busy_until_ns = start_ns + self.service_ns;
        let number = log.requests.len() as u64;
        let (every, code) = self.fail_every;
        let failed = every > 0 && number.is_multiple_of(every);
        self.queue.push_back(Finished {
            token: request.token,
            result: if failed {
                code
            } else {
                request.length_bytes as i32
            },
            at_ns: self.busy_until_ns,
        });
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.queue.front().map(|first| first.at_ns)
    }

    fn advance(&mut self, until_ns: u64, finished: &mut impl FnMut(Finished)) {
        while let Some(first) = self.queue.front()
            && first.at_ns <= until_ns
        {
            self.log.borrow_mut().completed += 1;
            finished(*first);
            self.queue.pop_front();
        }
    }
}
