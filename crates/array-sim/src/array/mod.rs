//! The array: operations in, accesses to drives, completions out.
//!
//! An operation passes the cap, the host command limit, the controller's processor, then either the
//! write-back cache or the drives (one phase, or two for a parity update), and finally the link.
//! Two events serve an operation of one piece: drive done and completion seen by the host. An
//! access's arrival at its drive is not an event: accesses reach a drive in the order in which they
//! are sent, so an idle drive's next end is known when one is sent to it, and accesses to a busy
//! drive wait in its inbox until the drive is done. All state lives in arenas sized when the array
//! is built, so a steady load allocates nothing.

use crate::arena::Arena;
use crate::content::{Content, FaultEvent};
use crate::controller::cache::{Cache, Destage};
use crate::controller::limiter::{Bucket, Limiter};
use crate::controller::read_ahead::{Fetch, Streams};
use crate::controller::{Controller, Work};
use crate::drive::{Drive, DriveAccess};
use crate::events::{Event, EventQueue, Key, Next, at_ns, end_of};
use crate::facts::{ArrayTotals, VolumeFacts};
use crate::faults::Faults;
use crate::geometry::Position;
use crate::layout::{Access, Alike, Layout, Phase, Target};
use crate::{Finished, Kind, Request, Simulate};
use copies::DriveHistory;
use std::collections::VecDeque;

mod copies;
mod memory;

/// Linux error numbers of failed operations.
const EIO: i32 = -5;
const EINVAL: i32 = -22;

/// Accesses in one phase that fit without reallocation: a megabyte on small units.
const SENT_EXPECTED: usize = 256;

/// Who receives the result of an operation.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// The host waits for it.
    Host(Request),
    /// The cache writes it to the drives.
    Destage(Destage),
    /// The controller prefetches it.
    Fetch(Fetch),
}

#[derive(Clone, Copy, Debug)]
struct Operation {
    origin: Origin,
    /// Its submission number; a destage has none.
    number: u64,
    write: bool,
    /// Address on the array, including the partition's offset.
    offset_bytes: u64,
    length_bytes: u64,
    /// Outstanding accesses of this phase.
    pending: u32,
    phase: Phase,
    /// The accesses of both phases and their position, where the second writes what the first
    /// read.
    again: Option<(Alike, Position)>,
    result: i32,
}

/// Slow drift of an array, already under way for `age_ns` at time 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drift {
    pub percent_per_hour: f64,
    pub age_ns: u64,
}

impl Drift {
    /// The factor on the drives' service times at a given time.
    #[inline]
    fn stretch(self, at_ns: u64) -> f64 {
        if self.percent_per_hour == 0.0 {
            return 1.0;
        }
        let hours = (self.age_ns + at_ns) as f64 / 3.6e12;
        (1.0 + self.percent_per_hour / 100.0 * hours).max(0.01)
    }
}

/// Everything before these has happened: the current event, and those pushed before the last stop
/// and due by then.
#[derive(Clone, Copy, Debug)]
struct Passed {
    now: Key,
    stop: Key,
}

impl Passed {
    /// Whether an event of this key has happened, or would have.
    #[inline]
    fn has(self, key: Key) -> bool {
        let Passed { now, stop } = self;
        key < now || (at_ns(key) <= at_ns(stop) && key as u64 <= stop as u64)
    }
}

/// The parts of an array, built from a specification.
pub(crate) struct Parts {
    pub layout: Layout,
    pub drives: Vec<Drive>,
    pub controller: Controller,
    pub cache: Cache,
    pub streams: Streams,
    pub limiter: Limiter,
    pub drive_iops: u64,
    pub faults: Faults,
    pub facts: VolumeFacts,
    pub volume_bytes: u64,
    pub command_cap: u32,
    pub drift: Drift,
    pub seed: u64,
    pub operations_expected: usize,
}

/// A simulated array with one partition, in virtual time.
#[derive(Clone, Debug)]
pub struct Array {
    /// The address mapping; only a few words, so it is copied into each call.
    layout: Layout,
    drives: Vec<Drive>,
    controller: Controller,
    cache: Cache,
    streams: Streams,
    /// The cap for the whole array.
    limiter: Limiter,
    /// Nanoseconds between accesses of one drive; 0: no cap.
    drive_share_ns: u64,
    drive_caps: Vec<Bucket>,
    faults: Faults,
    content: Option<Box<Content>>,
    facts: VolumeFacts,
    /// Bits that are zero in multiples of the sector (a power of two).
    sector_mask: u64,
    volume_bytes: u64,
    command_cap: u32,
    drift: Drift,
    seed: u64,
    now_ns: u64,
    /// Operations so far: an operation's number determines its faults.
    submitted: u64,
    /// Host commands in use, at most `command_cap`.
    in_flight: u32,
    /// Operations that wait for a host command.
    host_queue: VecDeque<u32>,
    operations: Arena<Operation>,
    /// Mirrored-read history of each drive.
    turns: Vec<DriveHistory>,
    passed: Passed,
    /// Buffer for the accesses of the phase being sent, and their drives.
    sent: Vec<(u32, DriveAccess)>,
    events: EventQueue,
    /// Completions since the host's last call.
    finished: Vec<Finished>,
    totals: ArrayTotals,
}

impl Array {
    pub(crate) fn assemble(parts: Parts) -> Self {
        let expected = parts.operations_expected;
        let drives = parts.drives.len();
        Array {
            layout: parts.layout,
            drive_share_ns: 1_000_000_000u64.checked_div(parts.drive_iops).unwrap_or(0),
            drive_caps: vec![Bucket::default(); parts.drives.len()],
            drives: parts.drives,
            controller: parts.controller,
            cache: parts.cache,
            streams: parts.streams,
            limiter: parts.limiter,
            faults: parts.faults,
            content: None,
            facts: parts.facts,
            sector_mask: u64::from(parts.facts.sector_bytes).next_power_of_two() - 1,
            volume_bytes: parts.volume_bytes,
            command_cap: parts.command_cap,
            drift: parts.drift,
            seed: parts.seed,
            now_ns: 0,
            submitted: 0,
            in_flight: 0,
            host_queue: VecDeque::with_capacity(expected),
            operations: Arena::with_capacity(expected),
            turns: vec![DriveHistory::new(parts.layout.copies()); drives],
            passed: Passed { now: 0, stop: 0 },
            sent: Vec::with_capacity(SENT_EXPECTED),
            events: EventQueue::with_capacity(8 * expected, drives),
            finished: Vec::with_capacity(expected),
            totals: ArrayTotals::default(),
        }
    }

    /// The structure of the volume.
    pub fn facts(&self) -> VolumeFacts {
        self.facts
    }

    /// The mapping from array addresses to drives.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Totals so far.
    pub fn totals(&self) -> ArrayTotals {
        ArrayTotals {
            drives_busy_ns: self.drives_busy_ns().sum(),
            pages_written: self.drives.iter().map(|drive| drive.mapped().written).sum(),
            pages_moved: self.drives.iter().map(|drive| drive.mapped().moved).sum(),
            ..self.totals
        }
    }

    /// Nanoseconds of service time per drive so far, by drive number.
    pub fn drives_busy_ns(&self) -> impl Iterator<Item = u64> {
        self.drives.iter().map(Drive::busy_ns)
    }

    /// Length of the intervals in each of which one stall starts; 0: none.
    pub fn stall_interval_ns(&self) -> u64 {
        self.faults.stall_interval_ns()
    }

    /// Starts recording which write each sector holds (uses memory for every sector written, hence
    /// off by default).
    pub fn record_content(&mut self) {
        self.content.get_or_insert_default();
    }

    /// The token of the last write to this sector of the volume. `None`: never written, or content
    /// is not recorded.
    pub fn stamp(&self, sector: u64) -> Option<u64> {
        self.content.as_ref()?.stamp(sector)
    }

    /// Writes that failed silently, in order of time; empty unless content is recorded.
    pub fn fault_events(&self) -> &[FaultEvent] {
        self.content
            .as_ref()
            .map_or(&[], |content| content.events())
    }

    /// Whether a request is valid: inside the volume, aligned to its sectors, and not a discard,
    /// which no simulated array supports.
    fn acceptable(&self, request: &Request) -> bool {
        if request.kind == Kind::Sync {
            return true;
        }
        let length = u64::from(request.length_bytes);
        request.kind != Kind::Discard
            && length > 0
            && (length | request.offset_bytes) & self.sector_mask == 0
            && request
                .offset_bytes
                .checked_add(length)
                .is_some_and(|end| end <= self.volume_bytes)
    }

    /// Takes a host command, or queues for one.
    #[inline]
    fn admit(&mut self, operation: u32) {
        if self.in_flight < self.command_cap {
            self.in_flight += 1;
            self.start(operation);
        } else {
            self.host_queue.push_back(operation);
        }
    }

    /// An operation reaches the controller. A stalled controller starts it after the stall.
    #[inline(always)]
    fn start(&mut self, index: u32) {
        let now_ns = self.faults.after_stall_ns(self.now_ns);
        let operation = &self.operations[index];
        let length_bytes = operation.length_bytes;
        let Origin::Host(request) = operation.origin else {
            return;
        };
        match request.kind {
            Kind::Sync => {
                if !(self.cache.enabled() && self.cache.sync_waits(index)) {
                    let done_ns = self
                        .controller
                        .process(now_ns, Work::without_drives(self.in_flight));
                    self.finish(index, done_ns);
                }
            }
            Kind::Read if self.streams.enabled() => self.read_ahead(index, now_ns),
            Kind::Write if self.caches(&request) => {
                self.end_streams(index, now_ns);
                // Operations already waiting come first.
                if self.cache.waiting.is_empty() && self.cache.has_room(length_bytes) {
                    self.accept(index, now_ns);
                } else {
                    self.cache.waiting.push_back(index);
                }
            }
            // Discards were rejected earlier.
            Kind::Read | Kind::Write | Kind::Discard => {
                if self.streams.enabled() {
                    self.end_streams(index, now_ns);
                }
                self.send(index, now_ns);
            }
        }
    }

    #[inline]
    fn pieces(&self, operation: &Operation) -> u64 {
        self.layout
            .units_touched(operation.offset_bytes, operation.length_bytes)
    }

    /// Passes the accesses of the operation's phase through the processor, from `now_ns` on, and
    /// sends them to the drives.
    fn send(&mut self, index: u32, now_ns: u64) {
        let Operation {
            write,
            phase,
            offset_bytes,
            length_bytes,
            ..
        } = self.operations[index];
        let only = self.layout.only_access(write, offset_bytes, length_bytes);
        if let Some(access) = only {
            self.send_one(index, now_ns, &access);
            return;
        }
        if write && let Some(alike) = self.layout.alike(offset_bytes, length_bytes) {
            let position = self.drives[alike.disks()[0] as usize].position(alike.offset_bytes);
            let twice = self.layout.has_second_phase(write);
            self.operations[index].again = twice.then_some((alike, position));
            self.send_alike(index, now_ns, &alike, position);
            return;
        }
        let layout = self.layout;
        let mut sent = std::mem::take(&mut self.sent);
        // Copies are at the same position of identical drives.
        let mut last = None;
        layout.plan(
            write,
            phase,
            offset_bytes,
            length_bytes,
            &mut |access: Access| {
                let position = match last {
                    Some((offset_bytes, position)) if offset_bytes == access.offset_bytes => {
                        position
                    }
                    _ => self.position(&access),
                };
                last = Some((access.offset_bytes, position));
                let disk = self.choose(&access, position.cylinder);
                let Access {
                    length_bytes,
                    write,
                    ..
                } = access;
                sent.push((disk, DriveAccess::new(index, length_bytes, write, position)));
            },
        );
        let at_ns = self.process(index, now_ns, sent.len() as u64);
        let arrive_ns = at_ns + self.controller.model.command_ns;
        for &(disk, access) in &sent {
            let arrive_ns = self.past_cap(disk, arrive_ns);
            self.hand_over(disk, arrive_ns, access);
        }
        self.totals.accesses += sent.len() as u64;
        self.operations[index].pending = sent.len() as u32;
        let nothing = sent.is_empty();
        sent.clear();
        self.sent = sent;
        if nothing {
            // A phase without accesses (all stripes full): continue with the next.
            self.phase_done(index, at_ns);
        }
    }

    /// Like `send`, for a phase with this access only, which needs no buffer.
    #[inline]
    fn send_one(&mut self, index: u32, now_ns: u64, access: &Access) {
        let position = self.position(access);
        let disk = self.choose(access, position.cylinder);
        let at_ns = self.process(index, now_ns, 1);
        let arrive_ns = self.past_cap(disk, at_ns + self.controller.model.command_ns);
        self.totals.accesses += 1;
        self.operations[index].pending = 1;
        let access = DriveAccess::new(index, access.length_bytes, access.write, position);
        self.hand_over(disk, arrive_ns, access);
    }

    /// Like `send`, for a phase whose accesses differ only in their drives.
    fn send_alike(&mut self, index: u32, now_ns: u64, alike: &Alike, position: Position) {
        let disks = alike.disks();
        let at_ns = self.process(index, now_ns, disks.len() as u64);
        let arrive_ns = at_ns + self.controller.model.command_ns;
        self.totals.accesses += disks.len() as u64;
        let operation = &mut self.operations[index];
        operation.pending = disks.len() as u32;
        let reads = operation.phase == Phase::First && operation.again.is_some();
        let access = DriveAccess::new(index, operation.length_bytes, !reads, position);
        for &disk in disks {
            let arrive_ns = self.past_cap(disk, arrive_ns);
            self.hand_over(disk, arrive_ns, access);
        }
    }

    /// Processor time for the accesses of a phase. A destage is not charged as a host operation,
    /// and a second phase was charged with the first.
    #[inline(always)]
    fn process(&mut self, index: u32, now_ns: u64, accesses: u64) -> u64 {
        let operation = &self.operations[index];
        let first = operation.phase == Phase::First;
        let work = Work {
            whole: first && matches!(operation.origin, Origin::Host(_)),
            pieces: match first && self.controller.model.split_ns > 0 {
                true => self.pieces(operation),
                false => 1,
            },
            accesses,
            commands: self.in_flight,
        };
        self.controller.process(now_ns, work)
    }

    /// When an access may reach its drive, given the cap per drive.
    #[inline]
    fn past_cap(&mut self, disk: u32, at_ns: u64) -> u64 {
        match self.drive_share_ns {
            0 => at_ns,
            share_ns => self.drive_caps[disk as usize].admit(at_ns, share_ns, 0),
        }
    }

    /// The position of an access; drives are identical, so any of its possible drives will do.
    #[inline(always)]
    fn position(&self, access: &Access) -> Position {
        let (Target::Disk(disk) | Target::AnyOf { first: disk, .. }) = access.target;
        self.drives[disk as usize].position(access.offset_bytes)
    }

    #[inline]
    fn choose(&mut self, access: &Access, cylinder: u32) -> u32 {
        match access.target {
            Target::Disk(disk) => disk,
            Target::AnyOf { first, count } => {
                self.choose_copy(first..first + count, cylinder, access.offset_bytes)
            }
        }
    }

    /// Whether an event of this key has happened, or would have.
    #[inline]
    fn has_passed(&self, key: Key) -> bool {
        self.passed.has(key)
    }

    /// Sends an access to a drive, which it reaches at `arrive_ns`: after all earlier ones to this
    /// drive, as the processor and the caps preserve the order.
    #[inline(always)]
    fn hand_over(&mut self, disk: u32, arrive_ns: u64, mut access: DriveAccess) {
        let key = self.events.key(arrive_ns);
        access.arrives = key;
        match &mut self.drives[disk as usize] {
            Drive::Rotating(drive) if drive.is_serving() => drive.arrive_busy(&access),
            Drive::Rotating(drive) => {
                let done_ns = drive.arrive_idle(access, self.drift.stretch(arrive_ns));
                self.events.set_drive(disk, Some(done_ns));
            }
            Drive::Flash(drive) => {
                let done_ns = drive.arrive(arrive_ns, access, self.drift.stretch(arrive_ns));
                let passed = self.passed;
                if self.controller.model.mirror_read.sees_loads() {
                    drive.is_in_transit(key, |key| passed.has(key));
                }
                let operation = access.index;
                self.events
                    .push(done_ns, Event::AccessDone { disk, operation });
            }
        }
    }

    /// A rotating disk has finished one access and may have started the next.
    #[inline]
    fn drive_done(&mut self, disk: u32, key: Key) {
        let Drive::Rotating(drive) = &mut self.drives[disk as usize] else {
            unreachable!("solid-state drives report each access by itself");
        };
        let (operation, next_ns) = drive.done(key, |at_ns| self.drift.stretch(at_ns));
        self.events.set_drive(disk, next_ns);
        self.access_done(operation);
    }

    /// One access of an operation has ended; the last of its phase starts the next step.
    #[inline]
    fn access_done(&mut self, index: u32) {
        let operation = &mut self.operations[index];
        operation.pending -= 1;
        if operation.pending == 0 {
            self.phase_done(index, self.now_ns);
        }
    }

    /// All accesses of a phase have ended: continues with the next phase, or finishes.
    #[inline]
    fn phase_done(&mut self, index: u32, at_ns: u64) {
        let operation = &mut self.operations[index];
        if operation.phase == Phase::First && self.layout.has_second_phase(operation.write) {
            operation.phase = Phase::Second;
            match operation.again {
                Some((alike, position)) => self.send_alike(index, at_ns, &alike, position),
                None => self.send(index, at_ns),
            }
            return;
        }
        match operation.origin {
            Origin::Host(_) => {
                let at_ns = at_ns + self.controller.model.completion_ns;
                self.finish(index, at_ns);
            }
            Origin::Destage(destage) => {
                self.operations.remove(index);
                self.destaged(destage, at_ns);
            }
            Origin::Fetch(fetch) => {
                self.operations.remove(index);
                self.fetched(fetch, at_ns);
            }
        }
    }

    /// The array's work for a host operation ends at `at_ns`: adds the link and the delays of the
    /// fault plan, then notifies the host.
    #[inline(always)]
    fn finish(&mut self, index: u32, at_ns: u64) {
        let number = self.operations[index].number;
        let bytes = self.operations[index].length_bytes;
        let at_ns = self
            .controller
            .transfer(self.faults.after_stall_ns(at_ns), bytes);
        let at_ns = at_ns + self.faults.spike_ns(number);
        if self.faults.fails(number) {
            self.operations[index].result = EIO;
        }
        self.events.push_completion(at_ns, number, index);
    }

    /// The host sees an operation complete; its command goes to the next in the queue.
    fn complete(&mut self, index: u32) {
        let operation = self.operations.remove(index);
        let Origin::Host(request) = operation.origin else {
            unreachable!("the array's own operations do not complete to the host");
        };
        self.totals.completed += 1;
        if self.content.is_some() && request.kind == Kind::Write && operation.result > 0 {
            self.remember(&request, operation.number);
        }
        if operation.result != EINVAL {
            self.in_flight -= 1;
            if let Some(waiting) = self.host_queue.pop_front() {
                self.admit(waiting);
            }
        }
        self.finished.push(Finished {
            token: request.token,
            result: operation.result,
            at_ns: self.now_ns,
        });
    }

    /// Applies an acknowledged write to the content, or the fault plan's version of it.
    fn remember(&mut self, request: &Request, number: u64) {
        let sector = u64::from(self.facts.sector_bytes);
        let length = u64::from(request.length_bytes);
        let fault = self
            .faults
            .write_fault(number, length, sector, self.volume_bytes);
        if let Some(content) = &mut self.content {
            let range = (request.offset_bytes, length);
            content.written(self.now_ns, request.token, range, sector, fault);
        }
    }
}

impl Array {
    /// Processes all events up to `until_ns` or the first completion. Not generic, so that it is
    /// compiled only once, and everything it calls can be inlined.
    fn run(&mut self, until_ns: u64, completions: bool) {
        loop {
            let key = self.events.front();
            if key >= end_of(until_ns) {
                self.passed.stop = self.events.after(until_ns);
                return;
            }
            self.passed.now = key;
            self.now_ns = self.now_ns.max(at_ns(key));
            match self.events.take(key) {
                Some(Next::Drive(disk)) => self.drive_done(disk, key),
                Some(Next::Event(Event::Complete(operation))) => {
                    self.complete(operation);
                    if !completions {
                        return;
                    }
                }
                Some(Next::Event(Event::Admit(operation))) => self.admit(operation),
                Some(Next::Event(Event::AccessDone { disk, operation })) => {
                    if let Drive::Flash(drive) = &mut self.drives[disk as usize] {
                        drive.access_done();
                    }
                    self.access_done(operation);
                }
                None => return,
            }
        }
    }
}

impl Simulate for Array {
    fn size_bytes(&self) -> u64 {
        self.volume_bytes
    }

    fn sector_bytes(&self) -> u32 {
        self.facts.sector_bytes
    }

    /// A request outside the volume or not aligned to its sectors, and any discard, completes at
    /// once with EINVAL. A `now_ns` earlier than the last event counts as now.
    fn submit(&mut self, now_ns: u64, request: Request) {
        self.now_ns = self.now_ns.max(now_ns);
        self.submitted += 1;
        let sync = request.kind == Kind::Sync;
        let length_bytes = if sync { 0 } else { request.length_bytes };
        let acceptable = self.acceptable(&request);
        let placed = self.facts.placed_bytes(request.offset_bytes);
        let index = self.operations.insert(Operation {
            origin: Origin::Host(request),
            number: self.submitted,
            write: request.kind == Kind::Write,
            offset_bytes: self.facts.partition_offset_bytes.wrapping_add(placed),
            length_bytes: u64::from(length_bytes),
            pending: 0,
            phase: Phase::First,
            again: None,
            result: i32::try_from(length_bytes).unwrap_or(i32::MAX),
        });
        if !acceptable {
            self.operations[index].result = EINVAL;
            self.events
                .push_completion(self.now_ns, self.submitted, index);
            return;
        }
        let at_ns = self.limiter.admit(
            self.now_ns,
            u64::from(length_bytes),
            request.kind == Kind::Write,
        );
        if at_ns > self.now_ns {
            self.events.push(at_ns, Event::Admit(index));
        } else {
            self.admit(index);
        }
    }

    #[inline]
    fn next_event_ns(&self) -> Option<u64> {
        match self.finished.first() {
            Some(finished) => Some(finished.at_ns),
            None => self.events.next_ns(),
        }
    }

    #[inline]
    fn settle(&mut self, until_ns: u64) -> Option<u64> {
        if self.finished.is_empty() {
            self.run(until_ns, false);
        }
        self.next_event_ns()
    }

    fn advance(&mut self, until_ns: u64, finished: &mut impl FnMut(Finished)) {
        if at_ns(self.events.front()) <= until_ns {
            self.run(until_ns, true);
        } else {
            self.passed.stop = self.events.after(until_ns);
        }
        self.finished.iter().copied().for_each(finished);
        self.finished.clear();
    }
}
