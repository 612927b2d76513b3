//! Generates similar requests from a model.

use super::{BIN_NS, Request, Run, WorkloadModel};
use std::collections::VecDeque;
use stripewise_stats::Random;

/// Starts of runs are shuffled within windows of this size: the smallest one tried, and the one
/// that preserved the reuse of locations in a real trace.
const WINDOW: usize = 64;

/// Requests of a model, in the order of arrival.
#[derive(Debug)]
pub struct Regenerated<'a> {
    model: &'a WorkloadModel,
    random: Random,
    bin: usize,
    /// Arrival times in the current bin.
    instants: VecDeque<u64>,
    /// Pending run starts of the current window.
    starts: VecDeque<usize>,
    /// Start of the next window.
    next_start: usize,
    current: Option<OpenRun<'a>>,
    waiting: Vec<OpenRun<'a>>,
}

/// A run that has not ended.
#[derive(Clone, Debug)]
struct OpenRun<'a> {
    run: &'a Run,
    /// The entry of its sizes, and how many of that are done.
    at: (usize, u32),
    offset_bytes: u64,
}

impl<'a> Regenerated<'a> {
    pub(super) fn new(model: &'a WorkloadModel, seed: u64) -> Self {
        let mut random = Random::new(seed);
        // The first window is shortened, so that windows do not always meet at the same positions.
        let first = 1 + random.below(WINDOW);
        let mut regenerated = Regenerated {
            model,
            random,
            bin: 0,
            instants: VecDeque::new(),
            starts: VecDeque::new(),
            next_start: 0,
            current: None,
            waiting: Vec::new(),
        };
        regenerated.window(first);
        regenerated
    }

    /// Shuffles the next starts.
    fn window(&mut self, length: usize) {
        let from = self.next_start;
        let to = (from + length).min(self.model.runs.len());
        let mut starts: Vec<usize> = (from..to).collect();
        self.random.shuffle(&mut starts);
        self.starts.extend(starts);
        self.next_start = if to == self.model.runs.len() { 0 } else { to };
    }

    /// A new run.
    fn begin(&mut self) -> Option<OpenRun<'a>> {
        if self.starts.is_empty() {
            self.window(WINDOW);
        }
        let run = self.model.runs.get(self.starts.pop_front()?)?;
        Some(OpenRun {
            run,
            at: (0, 0),
            offset_bytes: run.offset_bytes,
        })
    }

    /// The run that the next request belongs to.
    fn choose(&mut self) -> Option<OpenRun<'a>> {
        let (one, other) = (self.random.uniform(), self.random.uniform());
        let current = self.current.take();
        let open_max = self.model.open_max as usize;
        let resumed = match current {
            Some(current) if one >= self.model.interrupted => return Some(current),
            Some(current) => {
                let is_full = self.waiting.len() >= open_max;
                let old = self.resume(other < self.model.resumed_after_interruption || is_full);
                self.waiting.push(current);
                old
            }
            None => {
                let is_full = self.waiting.len() > open_max;
                self.resume(other < self.model.resumed_after_end || is_full)
            }
        };
        resumed.or_else(|| self.begin())
    }

    fn resume(&mut self, is_wanted: bool) -> Option<OpenRun<'a>> {
        if !is_wanted || self.waiting.is_empty() {
            return None;
        }
        let which = self.random.below(self.waiting.len());
        Some(self.waiting.swap_remove(which))
    }

    fn instant(&mut self) -> Option<u64> {
        while self.instants.is_empty() {
            let count = *self.model.counts.get(self.bin)? as usize;
            let start = self.bin as u64 * BIN_NS;
            self.bin += 1;
            if count > 0 {
                let arrivals = self.model.donors.arrivals(count, &mut self.random);
                self.instants
                    .extend(arrivals.into_iter().map(|at| start + at));
            }
        }
        self.instants.pop_front()
    }
}

impl Iterator for Regenerated<'_> {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let at_ns = self.instant()?;
        let mut open = self.choose()?;
        let (size_bytes, count) = open.run.sizes[open.at.0];
        let request = Request {
            at_ns,
            kind: open.run.kind,
            offset_bytes: open.offset_bytes,
            size_bytes,
        };
        open.offset_bytes = request.end_bytes();
        open.at.1 += 1;
        if open.at.1 == count {
            open.at = (open.at.0 + 1, 0);
        }
        self.current = (open.at.0 < open.run.sizes.len()).then_some(open);
        Some(request)
    }
}
