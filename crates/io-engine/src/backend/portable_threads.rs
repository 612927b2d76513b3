//! The engine for every system: positioned reads and writes.
//!
//! With one slot the worker's thread makes the call itself. With more, helper threads make them and
//! timestamp each completion right after the call, so that a late worker does not lengthen
//! latencies.
//!
//! There is one helper per slot up to [`HELPERS_MAX`]. Beyond that the machine would measure its
//! scheduler: further operations wait for a helper, the device sees fewer outstanding than
//! requested, and a fallback says so.
//!
//! Waits end at `until_ns` but not for signals, and inline calls last as long as the device takes:
//! pass a time limit to check regularly.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::buffers::Buffers;
use super::intake::{self, Batches, Intake};
use super::sys;
use crate::error::refuse_polling;
use crate::{
    Abandoned, Capabilities, Clock, Completion, Engine, Error, ErrorKind, Filled, IoFeatures, Kind,
    OpenPlan, Operation, Result, Source,
};

/// Helper threads of one engine at most.
pub const HELPERS_MAX: u32 = 256;
/// A helper makes one system call deep in std; this is ample.
const HELPER_STACK_BYTES: usize = 128 << 10;
const NAME: &str = "threads";

/// The engine over ordinary system calls.
pub struct Threads {
    shared: Arc<Shared>,
    helpers: Vec<JoinHandle<()>>,
    intake: Intake,
    /// Completions being delivered; swapped with those of the helpers.
    reaped: Vec<Completion>,
    capabilities: Capabilities,
}

/// What worker and helpers share.
struct Shared {
    files: Vec<Arc<File>>,
    /// Which of them are block devices, if there are discards.
    devices: Box<[bool]>,
    /// Syncs flush all metadata.
    fsync: bool,
    buffers: Buffers,
    clock: Clock,
    /// Flags for each [`Kind`].
    flags: [u32; 4],
    queue: Mutex<Queue>,
    /// The queue is not empty, or is closing.
    work: Condvar,
    done: Mutex<Done>,
    /// As many completions as wanted are there.
    enough: Condvar,
}

#[derive(Default)]
struct Queue {
    operations: VecDeque<Operation>,
    closing: bool,
}

#[derive(Default)]
struct Done {
    completions: Vec<Completion>,
    /// How many the worker waits for; at 0 it does not wait.
    wanted: usize,
}

/// A panicking helper has already printed why; the data behind the lock is consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Performs one operation and timestamps its end.
    fn perform(&self, operation: &Operation) -> Completion {
        let result = match self.call(operation) {
            Ok(bytes) => i32::try_from(bytes).unwrap_or(i32::MAX),
            Err(number) => -number,
        };
        Completion {
            slot: operation.slot,
            result,
            at_ns: self.clock.now_ns(),
        }
    }

    /// Bytes transferred, or the error number.
    fn call(&self, operation: &Operation) -> std::result::Result<usize, i32> {
        let Some(file) = self.files.get(usize::from(operation.file)) else {
            return Err(sys::BAD_HANDLE);
        };
        let address = self.buffers.address(operation.slot).as_ptr();
        // SAFETY: the slot's own bytes, at least `length_bytes` of them (checked in `fill`), and
        // only the thread performing the slot's only operation in flight accesses them.
        let buffer =
            unsafe { std::slice::from_raw_parts_mut(address, operation.length_bytes as usize) };
        let flags = self.flags[operation.kind.index()];
        loop {
            let result = match operation.kind {
                Kind::Read => sys::read_at(file, buffer, operation.offset_bytes, flags),
                Kind::Write => sys::write_at(file, buffer, operation.offset_bytes, flags),
                Kind::Sync if self.fsync => file.sync_all().map(|()| 0),
                Kind::Sync => file.sync_data().map(|()| 0),
                Kind::Discard => {
                    let length_bytes = u64::from(operation.length_bytes);
                    let on_device = self.devices.get(usize::from(operation.file)) == Some(&true);
                    sys::discard(file, on_device, operation.offset_bytes, length_bytes).map(|()| 0)
                }
            };
            match result {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map_err(|error| sys::failure_number(&error)),
            }
        }
    }

    /// A helper's loop: one operation after the other until the queue closes.
    fn help(&self) {
        loop {
            let mut queue = lock(&self.queue);
            let operation = loop {
                if queue.closing {
                    return;
                }
                match queue.operations.pop_front() {
                    Some(operation) => break operation,
                    None => {
                        queue = self
                            .work
                            .wait(queue)
                            .unwrap_or_else(PoisonError::into_inner)
                    }
                }
            };
            drop(queue);
            let completion = self.perform(&operation);
            let mut done = lock(&self.done);
            done.completions.push(completion);
            let wake = done.wanted > 0 && done.completions.len() >= done.wanted;
            drop(done);
            if wake {
                self.enough.notify_one();
            }
        }
    }

    /// Waits for `wanted` completions or `until_ns`.
    fn wait(&self, wanted: usize, until_ns: Option<u64>) {
        let mut done = lock(&self.done);
        done.wanted = wanted;
        while done.completions.len() < wanted {
            done = match until_ns {
                None => self
                    .enough
                    .wait(done)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(until_ns) => {
                    let left_ns = until_ns.saturating_sub(self.clock.now_ns());
                    if left_ns == 0 {
                        break;
                    }
                    let left = Duration::from_nanos(left_ns);
                    let waited = self.enough.wait_timeout(done, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        done.wanted = 0;
    }

    /// Stops the helpers; returns how many operations never began.
    fn shut(&self) -> u32 {
        let mut queue = lock(&self.queue);
        queue.closing = true;
        let unbegun = queue.operations.len();
        queue.operations.clear();
        drop(queue);
        self.work.notify_all();
        unbegun as u32
    }
}

impl Threads {
    /// Passes filled operations to the helpers.
    fn hand_over(&mut self) {
        let count = self.intake.filled.len();
        lock(&self.shared.queue)
            .operations
            .extend(self.intake.filled.drain(..));
        for _ in 0..count.min(self.helpers.len()) {
            self.shared.work.notify_one();
        }
    }
}

/// Flags for an operation.
fn flags_of(features: IoFeatures, kind: Kind) -> u32 {
    let scattered = features.scattered && matches!(kind, Kind::Read | Kind::Write);
    features.flags(kind) | if scattered { sys::SCATTERED } else { 0 }
}

/// Starts the helpers, as many as allowed and possible.
fn start_helpers(
    shared: &Arc<Shared>,
    slots: u32,
    capabilities: &mut Capabilities,
) -> Result<Vec<JoinHandle<()>>> {
    let mut helpers = Vec::new();
    let wanted = slots.min(HELPERS_MAX);
    for number in 0..wanted {
        let own = Arc::clone(shared);
        let spawned = std::thread::Builder::new()
            .name(format!("io {number}"))
            .stack_size(HELPER_STACK_BYTES)
            .spawn(move || own.help());
        match spawned {
            Ok(helper) => helpers.push(helper),
            Err(error) if helpers.is_empty() => {
                return Err(Error {
                    kind: ErrorKind::Resources,
                    engine: NAME,
                    what: "no helper thread could be started".to_owned(),
                    hint: stripewise_units::advice(
                        "raise the limit of threads (ulimit -u), or use one outstanding",
                        "end programs that have many threads or take memory, or use one outstanding",
                    ),
                    os: Some(error),
                });
            }
            Err(error) => {
                capabilities.fallbacks.push(format!(
                    "only {} of {wanted} helper threads could be started ({error}), so at most \
                     that many operations are outstanding; raise the limit of threads (ulimit -u)",
                    helpers.len()
                ));
                return Ok(helpers);
            }
        }
    }
    if wanted < slots {
        capabilities.fallbacks.push(format!(
            "the threads engine has at most {HELPERS_MAX} operations at the device, {slots} were \
             asked for; use io_uring, or more threads with fewer outstanding each"
        ));
    }
    Ok(helpers)
}

impl Engine for Threads {
    fn open(plan: &OpenPlan) -> Result<Self> {
        let failure = |what: String, os| Error {
            kind: ErrorKind::Resources,
            engine: NAME,
            what,
            hint: "use fewer outstanding operations or a smaller block size",
            os,
        };
        if plan.slots == 0 || plan.slots > crate::SLOTS_MAX {
            return Err(failure(
                format!(
                    "{} outstanding operations are too few or too many",
                    plan.slots
                ),
                None,
            ));
        }
        if plan.features.poll {
            return Err(refuse_polling(NAME));
        }
        let mut capabilities = Capabilities {
            name: NAME,
            ..Capabilities::default()
        };
        let buffers = Buffers::new(plan.slots, plan.slot_size_bytes)
            .map_err(|error| failure("no memory for buffers".to_owned(), Some(error)))?;
        let shared = Arc::new(Shared {
            files: plan.files.clone(),
            devices: match plan.features.discards {
                true => plan
                    .files
                    .iter()
                    .map(|file| sys::is_block_device(file))
                    .collect(),
                false => Box::default(),
            },
            fsync: plan.features.fsync,
            buffers,
            clock: plan.clock,
            flags: Kind::ALL.map(|kind| flags_of(plan.features, kind)),
            queue: Mutex::default(),
            work: Condvar::new(),
            done: Mutex::default(),
            enough: Condvar::new(),
        });
        sys::minimise_timer_slack();
        let helpers = match plan.slots {
            1 => Vec::new(),
            slots => start_helpers(&shared, slots, &mut capabilities)?,
        };
        Ok(Threads {
            shared,
            helpers,
            intake: Intake::new(plan),
            reaped: Vec::with_capacity(plan.slots as usize),
            capabilities,
        })
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn now_ns(&self) -> u64 {
        self.shared.clock.now_ns()
    }

    fn fill(&mut self, source: &mut impl Source, now_ns: u64) -> Filled {
        intake::fill(self, source, now_ns)
    }

    fn submit_and_wait(&mut self, at_least: u32, until_ns: Option<u64>) -> Result<()> {
        if self.helpers.is_empty() {
            for operation in self.intake.filled.drain(..) {
                self.reaped.push(self.shared.perform(&operation));
            }
        } else if !self.intake.filled.is_empty() {
            self.hand_over();
        }
        if self.intake.in_flight == 0 {
            // A `wait` that cannot be satisfied ends at `until_ns`.
            if until_ns.is_some() {
                self.shared.wait(1, until_ns);
            }
        } else if !self.helpers.is_empty() && at_least > 0 {
            self.shared
                .wait(at_least.min(self.intake.in_flight) as usize, until_ns);
        }
        Ok(())
    }

    fn reap(&mut self, source: &mut impl Source) -> u32 {
        if !self.helpers.is_empty() {
            std::mem::swap(&mut lock(&self.shared.done).completions, &mut self.reaped);
        }
        self.intake
            .reap(self.reaped.drain(..), &self.shared.buffers, source)
    }

    fn close(mut self, limit_ns: u64) -> Abandoned {
        let until_ns = self.now_ns().saturating_add(limit_ns);
        let submitted = self.intake.in_flight - self.intake.filled.len() as u32;
        if self.helpers.is_empty() {
            return Abandoned::default();
        }
        self.shared.wait(submitted as usize, Some(until_ns));
        let unbegun = self.shared.shut();
        let done = lock(&self.shared.done).completions.len() as u32;
        let operations = submitted - unbegun - done;
        if operations == 0 {
            for helper in self.helpers.drain(..) {
                // A helper that panicked has printed why.
                let _ = helper.join();
            }
        }
        Abandoned { operations }
    }
}

impl Batches for Threads {
    fn intake(&mut self) -> &mut Intake {
        &mut self.intake
    }

    fn buffers(&self) -> &Buffers {
        &self.shared.buffers
    }

    fn submit_early(&mut self) {
        self.hand_over();
    }
}

impl Drop for Threads {
    /// Helpers in a call that does not return keep the shared memory alive.
    fn drop(&mut self) {
        self.shared.shut();
    }
}
