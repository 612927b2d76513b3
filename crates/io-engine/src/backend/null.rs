//! Completes every operation at once: measures the program's own cost per operation.

use crate::{
    Abandoned, Capabilities, Clock, Completion, Engine, Filled, Next, OpenPlan, Operation, Result,
    Source,
};

/// The engine that does nothing, instantly.
pub struct Null {
    capabilities: Capabilities,
    clock: Clock,
    done: Vec<Operation>,
}

impl Engine for Null {
    fn open(plan: &OpenPlan) -> Result<Self> {
        Ok(Null {
            capabilities: Capabilities {
                name: "null",
                ..Capabilities::default()
            },
            clock: plan.clock,
            done: Vec::with_capacity(plan.slots as usize),
        })
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    #[inline]
    fn fill(&mut self, source: &mut impl Source, now_ns: u64) -> Filled {
        let mut taken = 0;
        loop {
            match source.next(now_ns) {
                Next::Operation(operation) => {
                    self.done.push(operation);
                    taken += 1;
                }
                then => return Filled { taken, then },
            }
        }
    }

    fn submit_and_wait(&mut self, at_least: u32, until_ns: Option<u64>) -> Result<()> {
        if self.done.is_empty() && at_least == 0 {
            while until_ns.is_some_and(|until| self.clock.now_ns() < until) {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, source: &mut impl Source) -> u32 {
        let at_ns = self.clock.now_ns();
        let count = self.done.len();
        for operation in self.done.drain(..) {
            let result = i32::try_from(operation.length_bytes).unwrap_or(i32::MAX);
            source.complete(Completion {
                slot: operation.slot,
                result,
                at_ns,
            });
        }
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn close(self, _limit_ns: u64) -> Abandoned {
        Abandoned::default()
    }
}
