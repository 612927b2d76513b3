//! The engine for Linux: io_uring.
//!
//! Files and buffers are registered where the kernel and the user's limits allow, one thread
//! issues, completions are processed when that thread waits, and one `io_uring_enter` per turn both
//! submits and waits. Missing features are listed in [`Capabilities::fallbacks`]; the engine stays
//! the same.
//!
//! Invariants: a slot has at most one operation in flight (checked, because its buffer belongs to
//! the kernel until then), and buffers are leaked rather than freed while the kernel may still
//! write to them.
//!
//! Polled completions (`IOPOLL`) raise no interrupt to wake a thread, and the kernel checks no
//! timeout while it polls. So the engine polls repeatedly, each time for what is there, and checks
//! the clock itself.
//!
//! One engine has two forms: [`Uring`] reads and writes files, [`Nvme`] passes commands through to
//! NVMe namespaces. The [`Form`] defines what an entry holds and what a completion means.
//!
//! Not supported: a polling thread of the kernel (SQPOLL), and scattered operations, which would
//! need a list of addresses with each slot.

mod batching;
mod files;
mod form;
mod nvme;
mod ring;
mod setup;
mod trial;

use std::fs::File;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;

use super::buffers::Buffers;
use super::data_pace::DataPace;
use super::sys;
use crate::{
    Abandoned, Capabilities, Clock, Completion, Engine, ErrorKind, Filled, Kind, Next, OpenPlan,
    Operation, Result, Source,
};
use batching::Batching;
use form::Form;
use ring::{Limits, Ring};
pub use setup::{can_discard, probe};

/// How long the kernel may lack memory for a single operation before the run fails: this many naps
/// of [`SHORTAGE_NAP`].
const SHORTAGE_NAPS_MAX: u32 = 5_000;
const SHORTAGE_NAP: Duration = Duration::from_millis(1);
/// Longer waits may be some microseconds too long.
const ROUGH_NS_MIN: u64 = 1_000_000;
/// Extra time for cancelling at the end, beyond the caller's limit.
const CANCEL_LIMIT_NS: u64 = 20_000_000;

/// Reads and writes files and block devices.
pub type Uring = RingEngine<files::Files>;
/// Passes commands through to NVMe namespaces, by their generic character devices.
pub type Nvme = RingEngine<nvme::Commands>;

/// An io_uring and the buffers of its slots.
pub struct RingEngine<F: Form> {
    ring: Ring<F::Entry>,
    buffers: ManuallyDrop<Buffers>,
    form: F,
    /// What each slot has in flight.
    states: Box<[State]>,
    slot_size_bytes: u32,
    /// Pushed, whether or not the kernel has taken it yet.
    in_flight: u32,
    shortages: u32,
    /// Time of the last `fill`, or when the last data in it was made.
    seen_ns: Option<u64>,
    pace: DataPace,
    batching: Batching,
    clock: Clock,
    capabilities: Capabilities,
    /// Keeps unregistered descriptors open.
    _files: Vec<Arc<File>>,
}

/// Content of a slot's entry, and whether it is in flight.
///
/// Nearly all operations of a run are reads of the largest size from the first file, so entries are
/// kept ready for those, and such an operation writes only its offset. Completion clears
/// [`IN_FLIGHT`] in one instruction.
type State = u8;
const FREE_USUAL: State = 0;
const FREE_OTHER: State = 1;
const IN_FLIGHT: State = 2;

impl<F: Form> RingEngine<F> {
    /// Writes one operation into its slot's entry: the usual kind here, any other in
    /// [`Uring::push_other`]. Returns the time, which was `now_ns` before.
    #[inline]
    fn push<S: Source>(&mut self, operation: Operation, source: &mut S, now_ns: u64) -> u64 {
        let slot = operation.slot;
        match self.states.get_mut(slot as usize) {
            Some(state)
                if *state == FREE_USUAL
                    && operation.kind == Kind::Read
                    && operation.file == 0
                    && operation.length_bytes == self.slot_size_bytes =>
            {
                *state += IN_FLIGHT;
            }
            // One by one: as a whole it would go through memory every time.
            _ => {
                let Operation {
                    slot, file, kind, ..
                } = operation;
                let (offset_bytes, length_bytes) = (operation.offset_bytes, operation.length_bytes);
                return self.push_other(source, slot, file, kind, offset_bytes, length_bytes);
            }
        }
        // SAFETY: `states` has as many elements as the ring has slots, so the
        // look-up above has checked the range; nothing was in flight.
        let entry = unsafe { self.ring.push(slot) };
        F::aim(
            &self.form.usual(self.slot_size_bytes),
            entry,
            operation.offset_bytes,
        );
        if S::LOOKS {
            source.before_read(&operation, self.buffer_of(&operation));
        }
        now_ns
    }

    /// Writes up to `room` consecutive usual operations of `source` into their slots' entries;
    /// returns how many.
    #[inline(always)]
    fn push_reads(&mut self, source: &mut impl Source, now_ns: u64, room: u32) -> u32 {
        let usual = self.form.usual(self.slot_size_bytes);
        let RingEngine { ring, states, .. } = self;
        let buffers = &*self.buffers;
        let mut pushes = ring.pushes();
        let taken = source.reads(now_ns, room, |slot, offset_bytes| {
            let Some(state) = states.get_mut(slot as usize) else {
                no_such_slot(slot)
            };
            // SAFETY: `states` has as many elements as the ring has slots, so the
            // look-up above has checked the range; that nothing is in flight is
            // checked before anything else happens.
            let entry = unsafe { pushes.push(slot) };
            if *state != FREE_USUAL {
                if *state >= IN_FLIGHT {
                    already_in_flight(slot);
                }
                F::write_usual(&usual, entry, slot, buffers);
            }
            *state = IN_FLIGHT + FREE_USUAL;
            F::aim(&usual, entry, offset_bytes);
        });
        pushes.end();
        taken
    }

    /// Writes any operation into its slot's entry; returns the time.
    #[inline(never)]
    fn push_other<S: Source>(
        &mut self,
        source: &mut S,
        slot: u32,
        file: u16,
        kind: Kind,
        offset_bytes: u64,
        length_bytes: u32,
    ) -> u64 {
        assert!(
            length_bytes <= self.slot_size_bytes,
            "{length_bytes} bytes are too many for slot {slot}"
        );
        let state = &mut self.states[slot as usize];
        if *state >= IN_FLIGHT {
            already_in_flight(slot);
        }
        let usual = kind == Kind::Read && file == 0 && length_bytes == self.slot_size_bytes;
        *state = IN_FLIGHT + if usual { FREE_USUAL } else { FREE_OTHER };
        let operation = Operation {
            slot,
            file,
            kind,
            offset_bytes,
            length_bytes,
        };
        match kind {
            Kind::Write => self.make_data(&operation, source),
            Kind::Read if S::LOOKS => source.before_read(&operation, self.buffer_of(&operation)),
            Kind::Read | Kind::Sync | Kind::Discard => {}
        }
        // SAFETY: the slot exists and had nothing in flight, as just checked.
        let entry = unsafe { self.ring.push(slot) };
        self.form.write(entry, &operation, &self.buffers);
        self.seen_ns.unwrap_or_default()
    }

    /// Lets the source make the data of a write, after submitting operations that would wait too
    /// long for it, and notifies the source when it is ready.
    fn make_data(&mut self, operation: &Operation, source: &mut impl Source) {
        let start_ns = self.seen_ns.unwrap_or_default();
        if self.ring.not_collected() > 0 && self.pace.exceeds_time_limit(start_ns) {
            self.ring.publish();
            // An error here recurs when submitting the rest.
            if let Ok(count) = self.ring.enter(self.ring.not_collected(), 0, Limits::NONE) {
                self.ring.took(count);
            }
        }
        source.data(operation, self.buffer_of(operation));
        let ready_ns = self.clock.now_ns();
        source.ready(operation.slot, ready_ns);
        let first = self.ring.not_collected() == 0;
        self.pace.made(start_ns, ready_ns, first);
        self.seen_ns = Some(ready_ns);
    }

    /// The buffer of an operation being pushed, cut to its length.
    fn buffer_of(&mut self, operation: &Operation) -> &mut [u8] {
        let address = self.buffers.address(operation.slot).as_ptr();
        // SAFETY: the slot's own bytes, at least `length_bytes` of them (a slot has room for every
        // length that is pushed), none of which the kernel has, as nothing was in flight on this
        // slot.
        unsafe { std::slice::from_raw_parts_mut(address, operation.length_bytes as usize) }
    }

    /// Time left until `until_ns`. If that is far away, the time of the last `fill` is accurate
    /// enough, which saves reading the clock for every batch.
    #[inline]
    fn left_ns(&mut self, until_ns: u64) -> u64 {
        match self
            .seen_ns
            .take()
            .map(|seen_ns| until_ns.saturating_sub(seen_ns))
        {
            Some(left_ns) if left_ns >= ROUGH_NS_MIN => left_ns,
            _ => until_ns.saturating_sub(self.clock.now_ns()),
        }
    }

    /// The failure of `io_uring_enter`, if it matters.
    fn entered(&mut self, submitted: rustix::io::Result<u32>) -> Result<()> {
        match submitted {
            Ok(count) => {
                self.ring.took(count);
                self.shortages = 0;
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            // No memory for a request, or completions to be reaped first: with others in flight
            // their completion helps; otherwise only waiting does.
            Err(Errno::AGAIN | Errno::BUSY) if self.shortages < SHORTAGE_NAPS_MAX => {
                self.shortages += 1;
                std::thread::sleep(SHORTAGE_NAP);
                Ok(())
            }
            Err(errno) => Err(setup::failure(
                ErrorKind::Broken,
                "the ring took no operations".to_owned(),
                "",
                Some(errno.into()),
            )),
        }
    }

    /// [`Engine::submit_and_wait`] by polling, for `complete` completions.
    #[cold]
    fn poll(&mut self, complete: u32, until_ns: Option<u64>) -> Result<()> {
        self.seen_ns = None;
        loop {
            if self.in_flight > 0 {
                let submitted = self.ring.enter(self.ring.not_collected(), 0, Limits::NONE);
                let interrupted = submitted == Err(Errno::INTR);
                self.entered(submitted)?;
                if interrupted || self.ring.completed().remaining() >= complete {
                    return Ok(());
                }
            }
            match until_ns {
                Some(until_ns) if self.clock.now_ns() < until_ns => std::hint::spin_loop(),
                None if self.in_flight > 0 => std::hint::spin_loop(),
                _ => return Ok(()),
            }
        }
    }

    /// Operations that the kernel has.
    fn with_kernel(&self) -> u32 {
        self.in_flight - self.ring.not_collected()
    }

    /// Takes completions without notifying the source.
    fn drop_completed(&mut self) {
        self.in_flight -= self.ring.completed().fold(0, |count, _| count + 1);
    }

    /// Waits for what the kernel has, until `until_ns`.
    fn wait_out(&mut self, until_ns: u64) {
        loop {
            self.drop_completed();
            let now_ns = self.clock.now_ns();
            if self.with_kernel() == 0 || now_ns >= until_ns {
                return;
            }
            let limits = Limits {
                timeout_ns: until_ns - now_ns,
                ..Limits::NONE
            };
            // A polling ring ignores timeouts while it waits.
            let complete = u32::from(!self.capabilities.polled);
            match self.ring.enter(0, complete, limits) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
    }
}

impl<F: Form> Engine for RingEngine<F> {
    fn open(plan: &OpenPlan) -> Result<Self> {
        let mut capabilities = Capabilities {
            name: F::NAME,
            ..Capabilities::default()
        };
        if plan.features.scattered {
            let what = "io_uring has one piece of memory for an operation here".to_owned();
            let hint = "use the threads engine for scattered ones";
            return Err(setup::failure(ErrorKind::Unsupported, what, hint, None));
        }
        let mut ring = setup::ring(plan.slots, plan.features.poll, &mut capabilities)?;
        let buffers = Buffers::new(plan.slots, plan.slot_size_bytes).map_err(|error| {
            setup::failure(
                ErrorKind::Resources,
                format!(
                    "no memory for {} buffers of {}",
                    plan.slots,
                    stripewise_units::format_bytes(u64::from(plan.slot_size_bytes))
                ),
                "use fewer outstanding operations or a smaller block size",
                Some(error),
            )
        })?;
        let form = F::new(&mut ring, &buffers, plan, &mut capabilities)?;
        // Polling takes all that are there anyway.
        let is_possible = ring.waits_for_batches() && !capabilities.polled;
        let batching = Batching::new(is_possible, plan.slots);
        capabilities.completion_hold_ns_max = batching.hold_ns_max();
        sys::minimise_timer_slack();
        Ok(RingEngine {
            ring,
            buffers: ManuallyDrop::new(buffers),
            form,
            states: vec![FREE_OTHER; plan.slots as usize].into_boxed_slice(),
            slot_size_bytes: plan.slot_size_bytes,
            in_flight: 0,
            shortages: 0,
            seen_ns: None,
            pace: DataPace::default(),
            batching,
            clock: plan.clock,
            capabilities,
            _files: plan.files.clone(),
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
        let room = self.states.len() as u32 - self.in_flight;
        self.seen_ns = Some(now_ns);
        self.pace.begin(now_ns);
        let mut left = room - self.push_reads(source, now_ns, room);
        let then = loop {
            if left == 0 {
                break Next::Full;
            }
            match source.next(now_ns) {
                Next::Operation(operation) => now_ns = self.push(operation, source, now_ns),
                then => break then,
            }
            left -= 1;
        };
        let taken = room - left;
        self.ring.publish();
        self.in_flight += taken;
        Filled { taken, then }
    }

    #[inline]
    fn submit_and_wait(&mut self, at_least: u32, until_ns: Option<u64>) -> Result<()> {
        let mut complete = at_least.min(self.in_flight);
        if self.capabilities.polled {
            return self.poll(complete, until_ns);
        }
        let mut limits = Limits::NONE;
        if self.in_flight == 0 {
            if until_ns.is_none() {
                return Ok(());
            }
            complete = 1;
        }
        if let Some(until_ns) = until_ns.filter(|_| complete > 0) {
            limits.timeout_ns = self.left_ns(until_ns);
            if limits.timeout_ns == 0 {
                complete = 0;
            }
        }
        if complete == 1 {
            (complete, limits) = self.batching.widen(self.in_flight, limits);
        }
        let submitted = self.ring.enter(self.ring.not_collected(), complete, limits);
        self.entered(submitted)
    }

    #[inline]
    fn reap(&mut self, source: &mut impl Source) -> u32 {
        let RingEngine {
            ring,
            buffers,
            states,
            clock,
            ..
        } = self;
        let entries = ring.entries();
        let completed = ring.completed();
        let count = completed.remaining();
        if count == 0 {
            return 0;
        }
        let at_ns = clock.now_ns();
        let ended = completed.map(|(user_data, result)| {
            let slot = user_data as u32;
            // SAFETY: the kernel returns what entries carry, and those of this ring carry their
            // slot.
            *unsafe { states.get_unchecked_mut(slot as usize) } -= IN_FLIGHT;
            // SAFETY: there is an entry for each slot, as long as the ring.
            let result = unsafe { F::result(result, entries.add(slot as usize)) };
            (slot, result)
        });
        take_all(source, buffers, at_ns, ended);
        self.in_flight -= count;
        self.batching.reaped(count, at_ns, sys::thread_use);
        count
    }

    fn close(mut self, limit_ns: u64) -> Abandoned {
        let until_ns = self.clock.now_ns().saturating_add(limit_ns);
        self.wait_out(until_ns);
        if self.with_kernel() > 0 {
            self.ring.cancel_all(CANCEL_LIMIT_NS);
            self.wait_out(0);
        }
        if self.with_kernel() == 0 {
            // The kernel tears down a closed ring asynchronously. Files are unregistered now, so
            // that the space of an unlinked test file is free when the process has ended.
            self.ring.unregister_files();
        }
        Abandoned {
            operations: self.with_kernel(),
        }
    }
}

#[cold]
#[inline(never)]
fn no_such_slot(slot: u32) -> ! {
    panic!("there is no slot {slot}")
}

#[cold]
#[inline(never)]
fn already_in_flight(slot: u32) -> ! {
    panic!("slot {slot} is in flight already")
}

/// Passes completions to their source.
#[inline(always)]
fn take_all<S: Source>(
    source: &mut S,
    buffers: &Buffers,
    at_ns: u64,
    ended: impl Iterator<Item = (u32, i32)>,
) {
    if !S::LOOKS {
        return source.complete_all(at_ns, ended);
    }
    for (slot, result) in ended {
        let done = Completion {
            slot,
            result,
            at_ns,
        };
        buffers.show(source, done);
        source.complete(done);
    }
}

impl<F: Form> Drop for RingEngine<F> {
    fn drop(&mut self) {
        self.drop_completed();
        if self.with_kernel() == 0 {
            // SAFETY: dropped only here, and the buffers are unused: nothing is in flight.
            // Registered ones stay pinned until the ring is closed.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
    }
}
