//! Wraps another engine and injects faults, by the plan in [`OpenPlan::faults`].
//!
//! It sits between source and engine: passes operations on, changed or not, and holds completions
//! back. Failed operations never reach the device; a delayed or stalled one does, and only its
//! completion is late. `Source::look` is called when the transfer ends, even if the completion is
//! held back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{
    Abandoned, Capabilities, Completion, Effect, Engine, FaultPlan, Filled, Next, OpenPlan,
    Operation, Result, Source,
};

/// An engine with planned faults.
pub struct Faulty<E> {
    inner: E,
    plan: FaultPlan,
    state: State,
    capabilities: Capabilities,
}

struct State {
    /// The fault affecting the operation in flight on each slot, and its true length.
    struck: Box<[Option<(Effect, u32)>]>,
    /// Completions held back, earliest due first: due, slot, result.
    held: BinaryHeap<Reverse<(u64, u32, i32)>>,
    /// Issued by the source and not yet completed to it.
    in_flight: u32,
    /// Failed in the current `fill` without reaching the engine.
    failed: u32,
    /// Completed to the source in the current `reap`.
    completed: u32,
}

/// The source that the inner engine sees.
struct Injector<'a, S> {
    source: &'a mut S,
    plan: &'a FaultPlan,
    state: &'a mut State,
}

impl<S: Source> Source for Injector<'_, S> {
    const LOOKS: bool = S::LOOKS;

    fn next(&mut self, now_ns: u64) -> Next {
        loop {
            if self.state.in_flight as usize == self.state.struck.len() {
                return Next::Full;
            }
            let mut operation = match self.source.next(now_ns) {
                Next::Operation(operation) => operation,
                other => return other,
            };
            self.state.in_flight += 1;
            let effect = self.plan.strike(self.plan.number(), &operation, now_ns);
            self.state.struck[operation.slot as usize] =
                effect.map(|effect| (effect, operation.length_bytes));
            match effect {
                Some(Effect::Fail(errno)) => {
                    let due_ns = self.plan.held_until(now_ns).unwrap_or(now_ns);
                    self.state
                        .held
                        .push(Reverse((due_ns, operation.slot, -errno)));
                    self.state.failed += 1;
                }
                Some(Effect::Torn(bytes)) => {
                    operation.length_bytes = operation.length_bytes.min(bytes);
                    return Next::Operation(operation);
                }
                _ => return Next::Operation(operation),
            }
        }
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

    fn complete(&mut self, mut done: Completion) {
        let mut due_ns = done.at_ns;
        match self.state.struck[done.slot as usize].take() {
            Some((Effect::Short(bytes), _)) => done.result = cut(done.result, bytes),
            Some((Effect::Torn(_), length)) if done.result >= 0 => {
                done.result = i32::try_from(length).unwrap_or(i32::MAX);
            }
            Some((Effect::Delay(ns), _)) => due_ns = due_ns.saturating_add(ns),
            _ => {}
        }
        due_ns = due_ns.max(self.plan.held_until(done.at_ns).unwrap_or(0));
        if due_ns > done.at_ns {
            self.state
                .held
                .push(Reverse((due_ns, done.slot, done.result)));
        } else {
            self.state.completed += 1;
            self.source.complete(done);
        }
    }

    fn look(&mut self, slot: u32, transferred: &[u8]) {
        let shown = match self.state.struck[slot as usize] {
            Some((Effect::Short(bytes), _)) => transferred.len().min(bytes as usize),
            _ => transferred.len(),
        };
        self.source.look(slot, &transferred[..shown]);
    }
}

/// Limits a result to `bytes`; failures stay.
fn cut(result: i32, bytes: u32) -> i32 {
    result.min(i32::try_from(bytes).unwrap_or(i32::MAX))
}

impl<E: Engine> Engine for Faulty<E> {
    fn open(plan: &OpenPlan) -> Result<Self> {
        let inner = E::open(plan)?;
        let faults = plan.faults.clone().unwrap_or_default();
        let mut capabilities = inner.capabilities().clone();
        if !faults.faults().is_empty() {
            capabilities.fallbacks.push(format!(
                "faults are injected on purpose ({}): the numbers are not the device's",
                stripewise_units::counted(faults.faults().len(), "rule", "rules")
            ));
        }
        Ok(Faulty {
            inner,
            plan: faults,
            state: State {
                struck: vec![None; plan.slots as usize].into_boxed_slice(),
                held: BinaryHeap::with_capacity(plan.slots as usize),
                in_flight: 0,
                failed: 0,
                completed: 0,
            },
            capabilities,
        })
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn now_ns(&self) -> u64 {
        self.inner.now_ns()
    }

    fn fill(&mut self, source: &mut impl Source, now_ns: u64) -> Filled {
        self.state.failed = 0;
        let mut injector = Injector {
            source,
            plan: &self.plan,
            state: &mut self.state,
        };
        let filled = self.inner.fill(&mut injector, now_ns);
        Filled {
            taken: filled.taken + self.state.failed,
            then: filled.then,
        }
    }

    fn submit_and_wait(&mut self, at_least: u32, until_ns: Option<u64>) -> Result<()> {
        let Some(Reverse((due_ns, ..))) = self.state.held.peek() else {
            return self.inner.submit_and_wait(at_least, until_ns);
        };
        if at_least == 0 || *due_ns <= self.inner.now_ns() {
            return self.inner.submit_and_wait(0, Some(0));
        }
        let until_ns = until_ns.map_or(*due_ns, |until_ns| until_ns.min(*due_ns));
        self.inner.submit_and_wait(at_least, Some(until_ns))
    }

    fn reap(&mut self, source: &mut impl Source) -> u32 {
        self.state.completed = 0;
        self.inner.reap(&mut Injector {
            source,
            plan: &self.plan,
            state: &mut self.state,
        });
        if !self.state.held.is_empty() {
            let at_ns = self.inner.now_ns();
            while let Some(Reverse((due_ns, slot, result))) = self.state.held.peek().copied() {
                if due_ns > at_ns {
                    break;
                }
                self.state.held.pop();
                self.state.completed += 1;
                source.complete(Completion {
                    slot,
                    result,
                    at_ns,
                });
            }
        }
        self.state.in_flight -= self.state.completed;
        self.state.completed
    }

    fn close(self, limit_ns: u64) -> Abandoned {
        self.inner.close(limit_ns)
    }
}
