//! Completes every operation at once: measures the program's own cost per
//! operation.
//!
//! Nothing is read or written. Data for writes is still made, into one buffer, because making it is
//! part of the program's cost.

use std::time::Duration;

use super::buffers::Buffers;
use crate::{
    Abandoned, Capabilities, Clock, Completion, Engine, Error, ErrorKind, Filled, Kind, Next,
    OpenPlan, Operation, Result, Source,
};

/// The engine that does nothing, instantly.
pub struct Null {
    capabilities: Capabilities,
    clock: Clock,
    /// Operations taken and not yet reaped; never more than its capacity.
    done: Vec<Done>,
    slots: usize,
    scratch: Buffers,
    slot_size_bytes: u32,
}

/// The part of an operation needed for its completion.
#[derive(Clone, Copy)]
struct Done {
    slot: u32,
    length_bytes: u32,
}

impl Null {
    /// Lets the source make the data that is then discarded.
    fn make_data(&self, operation: &Operation, source: &mut impl Source) {
        let length = operation.length_bytes;
        assert!(
            length <= self.slot_size_bytes,
            "{length} bytes are too many for slot {}",
            operation.slot
        );
        let address = self.scratch.address(0).as_ptr();
        // SAFETY: the one buffer has `slot_size_bytes`, and only this function
        // uses it.
        source.data(operation, unsafe {
            std::slice::from_raw_parts_mut(address, length as usize)
        });
    }
}

impl Engine for Null {
    fn open(plan: &OpenPlan) -> Result<Self> {
        let scratch = Buffers::new(1, plan.slot_size_bytes).map_err(|error| Error {
            kind: ErrorKind::Resources,
            engine: "null",
            what: "no memory for a buffer".to_owned(),
            hint: "use a smaller block size",
            os: Some(error),
        })?;
        Ok(Null {
            capabilities: Capabilities {
                name: "null",
                ..Capabilities::default()
            },
            clock: plan.clock,
            done: Vec::with_capacity(plan.slots as usize),
            slots: plan.slots as usize,
            scratch,
            slot_size_bytes: plan.slot_size_bytes,
        })
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    #[inline]
    fn fill(&mut self, source: &mut impl Source, mut now_ns: u64) -> Filled {
        let mut taken = 0;
        loop {
            if self.done.len() == self.slots {
                return Filled {
                    taken,
                    then: Next::Full,
                };
            }
            match source.next(now_ns) {
                Next::Operation(operation) => {
                    let mut length_bytes = operation.length_bytes;
                    if operation.kind != Kind::Read {
                        length_bytes = operation.transfers_bytes();
                    }
                    if operation.kind == Kind::Write {
                        self.make_data(&operation, source);
                        now_ns = self.clock.now_ns();
                        source.ready(operation.slot, now_ns);
                    }
                    self.done.push(Done {
                        slot: operation.slot,
                        length_bytes,
                    });
                    taken += 1;
                }
                then => return Filled { taken, then },
            }
        }
    }

    #[inline]
    fn submit_and_wait(&mut self, _at_least: u32, until_ns: Option<u64>) -> Result<()> {
        if let Some(until_ns) = until_ns.filter(|_| self.done.is_empty()) {
            let left_ns = until_ns.saturating_sub(self.clock.now_ns());
            std::thread::sleep(Duration::from_nanos(left_ns));
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, source: &mut impl Source) -> u32 {
        if self.done.is_empty() {
            return 0;
        }
        let at_ns = self.clock.now_ns();
        let count = self.done.len() as u32;
        for done in self.done.drain(..) {
            source.complete(Completion {
                slot: done.slot,
                result: i32::try_from(done.length_bytes).unwrap_or(i32::MAX),
                at_ns,
            });
        }
        count
    }

    fn close(self, _limit_ns: u64) -> Abandoned {
        Abandoned::default()
    }
}
