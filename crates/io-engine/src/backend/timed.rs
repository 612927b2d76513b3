//! Wraps another engine, submits operations one by one and times each submission: the time until
//! the call returned, whether or not the operation was done by then. SQLIO calls it initiation.
//!
//! Runs that do not request it use the other engine directly at no cost. Those that do pay a system
//! call and two clock readings per operation, like programs that issue operations one at a time;
//! waiting is a separate call. Making the data of a write is not included.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{
    Abandoned, Capabilities, Completion, Engine, Error, Filled, Next, OpenPlan, Operation, Result,
    Source,
};

/// Submission times, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandOvers {
    /// Operations submitted.
    pub operations: u64,
    /// The shortest; 0 if there were none.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Their sum.
    pub sum_ns: u64,
}

impl HandOvers {
    /// Adds one.
    pub fn add(&mut self, took_ns: u64) {
        self.join(&HandOvers {
            operations: 1,
            min_ns: took_ns,
            max_ns: took_ns,
            sum_ns: took_ns,
        });
    }

    /// Adds those of another thread.
    pub fn join(&mut self, others: &HandOvers) {
        if others.operations == 0 {
            return;
        }
        self.min_ns = match self.operations {
            0 => others.min_ns,
            _ => self.min_ns.min(others.min_ns),
        };
        self.max_ns = self.max_ns.max(others.max_ns);
        self.sum_ns = self.sum_ns.saturating_add(others.sum_ns);
        self.operations += others.operations;
    }
}

/// Collects the submission times of a job's engines when they are closed.
#[derive(Clone, Debug, Default)]
pub struct HandOverLog(Arc<Mutex<HandOvers>>);

impl HandOverLog {
    /// Sum so far.
    pub fn total(&self) -> HandOvers {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self, seen: &HandOvers) {
        let mut total = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        total.join(seen);
    }
}

/// An engine that records submission times in [`OpenPlan::hand_overs`].
pub struct Timed<E> {
    inner: E,
    seen: HandOvers,
    log: Option<HandOverLog>,
    /// A failed submission, for the next [`Engine::submit_and_wait`].
    failure: Option<Error>,
}

/// The source that the inner engine sees: it returns one operation at a time.
struct SingleOperationSource<'a, S> {
    source: &'a mut S,
    given: bool,
}

impl<S: Source> Source for SingleOperationSource<'_, S> {
    const LOOKS: bool = S::LOOKS;

    fn next(&mut self, now_ns: u64) -> Next {
        if self.given {
            return Next::Full;
        }
        let next = self.source.next(now_ns);
        self.given = matches!(next, Next::Operation(_));
        next
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        self.source.data(operation, buffer);
    }

    fn before_read(&mut self, operation: &Operation, buffer: &mut [u8]) {
        self.source.before_read(operation, buffer);
    }

    fn ready(&mut self, slot: u32, now_ns: u64) {
        self.source.ready(slot, now_ns);
    }

    fn complete(&mut self, done: Completion) {
        self.source.complete(done);
    }

    fn look(&mut self, slot: u32, transferred: &[u8]) {
        self.source.look(slot, transferred);
    }
}

impl<E: Engine> Engine for Timed<E> {
    fn open(plan: &OpenPlan) -> Result<Self> {
        Ok(Timed {
            inner: E::open(plan)?,
            seen: HandOvers::default(),
            log: plan.hand_overs.clone(),
            failure: None,
        })
    }

    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn now_ns(&self) -> u64 {
        self.inner.now_ns()
    }

    fn fill(&mut self, source: &mut impl Source, mut now_ns: u64) -> Filled {
        let mut taken = 0;
        loop {
            let mut one = SingleOperationSource {
                source,
                given: false,
            };
            let filled = self.inner.fill(&mut one, now_ns);
            taken += filled.taken;
            if filled.taken == 0 || self.failure.is_some() {
                return Filled {
                    taken,
                    then: filled.then,
                };
            }
            let before_ns = self.inner.now_ns();
            let submitted = self.inner.submit_and_wait(0, None);
            now_ns = self.inner.now_ns();
            self.seen.add(now_ns.saturating_sub(before_ns));
            self.failure = submitted.err();
        }
    }

    fn submit_and_wait(&mut self, at_least: u32, until_ns: Option<u64>) -> Result<()> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.inner.submit_and_wait(at_least, until_ns),
        }
    }

    fn reap(&mut self, source: &mut impl Source) -> u32 {
        self.inner.reap(source)
    }

    fn close(self, limit_ns: u64) -> Abandoned {
        if let Some(log) = &self.log {
            log.leave(&self.seen);
        }
        self.inner.close(limit_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_several_threads_join_in_any_order() {
        let of = |times: &[u64]| {
            let mut all = HandOvers::default();
            times.iter().for_each(|time| all.add(*time));
            all
        };
        let (a, b, none) = (of(&[5, 2, 9]), of(&[1, 7]), HandOvers::default());
        let whole = of(&[5, 2, 9, 1, 7]);
        for parts in [[a, b, none], [none, b, a], [b, none, a]] {
            let log = HandOverLog::default();
            parts.iter().for_each(|part| log.leave(part));
            assert_eq!(log.total(), whole);
        }
        assert_eq!((whole.operations, whole.sum_ns), (5, 24));
        assert_eq!((whole.min_ns, whole.max_ns), (1, 9));
    }
}
