//! Operations that a batching engine has taken from its source: those not submitted yet, slots in
//! use, and the number in flight.
//!
//! Invariant: a slot has at most one operation in flight, whose bytes are within the slot's buffer;
//! violations panic here. io_uring has its own intake, as it writes operations directly into the
//! ring.

use super::buffers::Buffers;
use super::data_pace::DataPace;
use crate::{Completion, Engine, Filled, Kind, Next, OpenPlan, Operation, Source};

/// The operations of one engine.
pub(super) struct Intake {
    /// Taken from the source, not yet submitted.
    pub filled: Vec<Operation>,
    /// Filled or submitted, and not reaped.
    pub in_flight: u32,
    busy: Box<[bool]>,
    pace: DataPace,
    slot_size_bytes: u32,
}

/// An engine that fills through [`fill`].
pub(super) trait Batches: Engine {
    fn intake(&mut self) -> &mut Intake;
    fn buffers(&self) -> &Buffers;
    /// Submits what is filled, because the rest of the batch is not ready. An error here recurs
    /// when submitting the rest.
    fn submit_early(&mut self);
}

impl Intake {
    pub(super) fn new(plan: &OpenPlan) -> Self {
        Intake {
            filled: Vec::with_capacity(plan.slots as usize),
            in_flight: 0,
            busy: vec![false; plan.slots as usize].into_boxed_slice(),
            pace: DataPace::default(),
            slot_size_bytes: plan.slot_size_bytes,
        }
    }

    fn has_room(&self) -> bool {
        (self.in_flight as usize) < self.busy.len()
    }

    /// Claims the operation's slot.
    ///
    /// # Panics
    /// If it is in use, or too small.
    fn claim(&mut self, operation: &Operation) {
        let (slot, length) = (operation.slot, operation.length_bytes);
        let busy = &mut self.busy[slot as usize];
        assert!(
            !*busy && length <= self.slot_size_bytes,
            "slot {slot} is in flight already, or {length} bytes are too many for it"
        );
        *busy = true;
    }

    /// Passes completed operations to the source; returns their number. Always inlined: there are
    /// two sources, and a call for every few operations costs as much as a tenth of them.
    #[inline(always)]
    pub(super) fn reap(
        &mut self,
        done: impl ExactSizeIterator<Item = Completion>,
        buffers: &Buffers,
        source: &mut impl Source,
    ) -> u32 {
        let count = done.len() as u32;
        for done in done {
            self.busy[done.slot as usize] = false;
            buffers.show(source, done);
            source.complete(done);
        }
        self.in_flight -= count;
        count
    }
}

/// Implements [`Engine::fill`]. Inlined like [`Intake::reap`].
#[inline(always)]
pub(super) fn fill<E: Batches, S: Source>(
    engine: &mut E,
    source: &mut S,
    mut now_ns: u64,
) -> Filled {
    let mut taken = 0;
    engine.intake().pace.begin(now_ns);
    let then = loop {
        if !engine.intake().has_room() {
            break Next::Full;
        }
        let operation = match source.next(now_ns) {
            Next::Operation(operation) => operation,
            then => break then,
        };
        engine.intake().claim(&operation);
        if operation.kind == Kind::Write {
            now_ns = make_data(engine, source, &operation, now_ns);
        } else if S::LOOKS && operation.kind == Kind::Read {
            source.before_read(&operation, buffer_of(engine, &operation));
        }
        let intake = engine.intake();
        intake.filled.push(operation);
        intake.in_flight += 1;
        taken += 1;
    };
    Filled { taken, then }
}

/// Makes the data of a write whose slot is claimed; returns the time then. Ready operations do not
/// wait long for it.
fn make_data<E: Batches>(
    engine: &mut E,
    source: &mut impl Source,
    operation: &Operation,
    now_ns: u64,
) -> u64 {
    let intake = engine.intake();
    if !intake.filled.is_empty() && intake.pace.exceeds_time_limit(now_ns) {
        engine.submit_early();
    }
    source.data(operation, buffer_of(engine, operation));
    let ready_ns = engine.now_ns();
    source.ready(operation.slot, ready_ns);
    let intake = engine.intake();
    let first = intake.filled.is_empty();
    intake.pace.made(now_ns, ready_ns, first);
    ready_ns
}

/// The buffer of an operation whose slot is claimed, cut to its length.
fn buffer_of<'a>(engine: &'a mut impl Batches, operation: &Operation) -> &'a mut [u8] {
    let address = engine.buffers().address(operation.slot).as_ptr();
    // SAFETY: the slot's own bytes, at least so many; nothing else was in flight on it
    // (both were checked when the slot was claimed), and it is submitted only when the
    // engine is borrowed again.
    unsafe { std::slice::from_raw_parts_mut(address, operation.length_bytes as usize) }
}
