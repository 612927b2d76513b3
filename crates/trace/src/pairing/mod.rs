//! Converts events to operations by pairing requests, issues and completions.
//!
//! The rules, each observed on a kernel:
//! - Data is paired by device and sector. Several operations may be open at one sector; of
//!   them the first whose length fits completes. A completion of a part leaves the rest open.
//! - A flush is issued at sector 0 and completes at sector 2^64-1: first in, first out. It serves
//!   all that waited when the one before it completed, or the first that waits; what comes after that
//!   waits for the next.
//! - A write with a flush before it and forced unit access (`FWFS`) completes twice, and a
//!   flush that a program asked for (`FWS 0 + 0`) once as itself (`FF`) and once as an empty
//!   write (`WS 0 + 0`); the second is counted as repeated, and is no loss.
//! - Issues come without bios (a filter that leaves them out), and bios without issues
//!   (merged into a neighbour). One bio may be split into several issues.
//! - The issuing task is the one that queued the bio, else the one that got the request, else the
//!   issuer; never the one interrupted by the completion.
//! - After a loss everything open is dropped, on all CPUs: a sector that is seen again would be
//!   paired with the wrong issue.

use crate::event::{Comm, Direction, Event, Flags, NO_SECTOR, Step};
use crate::operation::Operation;
use crate::tasks::Tasks;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use stripewise_units::{DeviceNumber, Kind, SECTOR_SIZE_BYTES};

/// Most open bios or requests; beyond that all are dropped, as after a loss. A device takes at most
/// some 64 queues of 1,024 requests.
const OPEN_MAX: usize = 1 << 16;
/// Most system calls tracked at once.
const CALLS_MAX: usize = 1 << 14;
/// Most completed operations waiting for the return of one call.
const PER_CALL_MAX: usize = 256;
/// Most bios of one request; the kernel merges at most some hundred.
const MERGED_MAX: u32 = 1_024;
/// An older bio was never issued: it was remapped to an untraced device.
const BIO_AGE_NS_MAX: u64 = 60_000_000_000;
/// Completions waiting for the event that identifies their thread.
const RECENT_MAX: usize = 8;

/// Pairing statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairingReport {
    /// Operations with an issue and a completion.
    pub paired: u64,
    /// Completions without an issue: issued before the start.
    pub unmatched_completions: u64,
    /// Second completions of flushes; not a loss.
    pub repeated_completions: u64,
    /// Operations open at a loss, or when too many were open.
    pub dropped: u64,
    /// Number of losses.
    pub losses: u64,
    /// Operations in flight at the end.
    pub in_flight: u64,
    /// Bios queued: requests before merges and splits.
    pub demands: u64,
    /// Their bytes.
    pub demand_bytes: u64,
}

/// Open items by device and sector, each oldest first: the first, and those after it, which are
/// rare, so that a single one needs no memory of its own.
#[derive(Debug)]
struct Open<T> {
    by_place: HashMap<(DeviceNumber, u64), (T, VecDeque<T>)>,
    count: usize,
}

impl<T> Open<T> {
    fn new() -> Self {
        Open {
            by_place: HashMap::new(),
            count: 0,
        }
    }

    fn add(&mut self, place: (DeviceNumber, u64), item: T) {
        match self.by_place.entry(place) {
            Entry::Vacant(free) => {
                free.insert((item, VecDeque::new()));
            }
            Entry::Occupied(mut here) => here.get_mut().1.push_back(item),
        }
        self.count += 1;
    }

    /// Takes the oldest matching one at a location.
    fn take(&mut self, place: (DeviceNumber, u64), mut fits: impl FnMut(&T) -> bool) -> Option<T> {
        let Entry::Occupied(mut here) = self.by_place.entry(place) else {
            return None;
        };
        let (first, behind) = here.get_mut();
        let taken = if !fits(first) {
            let at = behind.iter().position(fits)?;
            behind.remove(at)?
        } else if let Some(second) = behind.pop_front() {
            std::mem::replace(first, second)
        } else {
            here.remove().0
        };
        self.count -= 1;
        Some(taken)
    }

    /// Drops everything; returns how much.
    fn clear(&mut self) -> u64 {
        self.by_place.clear();
        std::mem::take(&mut self.count) as u64
    }
}

/// A bio without an issued request so far.
#[derive(Clone, Copy, Debug)]
struct Bio {
    at_ns: u64,
    entered_ns: Option<u64>,
    sectors: u32,
    direction: Direction,
    pid: i32,
    comm: Comm,
    /// Part of it was already issued.
    is_rest: bool,
}

/// A request that was not issued yet.
#[derive(Clone, Copy, Debug)]
struct Start {
    at_ns: u64,
    direction: Direction,
    pid: i32,
    comm: Comm,
}

/// An operation at the device.
#[derive(Clone, Copy, Debug)]
struct Issued {
    operation: Operation,
    direction: Direction,
    sectors_left: u32,
    pid: i32,
    comm: Comm,
}

/// The flushes of a device.
#[derive(Debug, Default)]
struct Flushes {
    /// At the device, oldest first.
    issued: VecDeque<Issued>,
    /// When the last one completed.
    done_ns: u64,
    /// Of the requests that the last one served, so many have not completed.
    served: u32,
}

/// A system call that has not returned.
#[derive(Debug, Default)]
struct Call {
    entered_ns: u64,
    done: Vec<Operation>,
}

/// Time-ordered events in; operations out, as each completes or its call returns.
#[derive(Debug)]
pub struct Pairer {
    /// The tasks.
    pub tasks: Tasks,
    bios: Open<Bio>,
    starts: Open<Start>,
    issued: Open<Issued>,
    flushes: HashMap<DeviceNumber, Flushes>,
    open_flushes: usize,
    calls: HashMap<i32, Call>,
    /// The last completions: the event with the thread follows later.
    recent: VecDeque<(i32, Operation)>,
    ready: VecDeque<Operation>,
    report: PairingReport,
}

impl Default for Pairer {
    fn default() -> Self {
        Pairer {
            tasks: Tasks::default(),
            bios: Open::new(),
            starts: Open::new(),
            issued: Open::new(),
            flushes: HashMap::new(),
            open_flushes: 0,
            calls: HashMap::new(),
            recent: VecDeque::new(),
            ready: VecDeque::new(),
            report: PairingReport::default(),
        }
    }
}

impl Pairer {
    /// Statistics so far.
    pub const fn report(&self) -> PairingReport {
        self.report
    }

    /// Events were lost: drops everything open.
    pub fn lose(&mut self) {
        self.report.losses += 1;
        self.settle(0);
        self.bios.clear();
        self.starts.clear();
        self.drop_issued();
        self.release(Vec::new());
    }

    /// Releases these and those waiting for returns of calls, in the order of arrival.
    fn release(&mut self, mut operations: Vec<Operation>) {
        let calls = std::mem::take(&mut self.calls).into_values();
        operations.extend(calls.flat_map(|call| call.done));
        operations.sort_unstable_by_key(|one| (one.arrived_ns, one.device, one.offset_bytes));
        self.ready.extend(operations);
    }

    fn drop_issued(&mut self) {
        self.flushes.clear();
        let flushes = std::mem::take(&mut self.open_flushes) as u64;
        self.report.dropped += self.issued.clear() + flushes;
    }

    /// The next complete operation.
    pub fn next_operation(&mut self) -> Option<Operation> {
        self.ready.pop_front()
    }

    /// Ends the trace: operations in flight are returned without a completion.
    pub fn finish(&mut self) {
        self.settle(0);
        let data = std::mem::replace(&mut self.issued, Open::new());
        let flushes = std::mem::take(&mut self.flushes);
        let data = data.by_place.into_values();
        let data = data.flat_map(|(first, behind)| std::iter::once(first).chain(behind));
        let all = data.chain(flushes.into_values().flat_map(|one| one.issued));
        let open: Vec<Operation> = all.map(|issued| issued.operation).collect();
        self.report.in_flight += open.len() as u64;
        self.release(open);
    }

    /// Adds an event. Events of a trace must be in the order of time.
    pub fn event(&mut self, event: &Event) {
        match event.step {
            Step::Enter => self.enter(event),
            Step::Exit => self.exit(event, Some(event.at_ns)),
            Step::Queue => self.queue(event),
            Step::Remap {
                from_device,
                from_sector,
            } => {
                let from = (from_device, from_sector);
                let direction = direction_of(event);
                if let Some(bio) = self.bios.take(from, |bio| bio.direction == direction) {
                    self.bios.add(place_of(event), bio);
                }
            }
            Step::Start => {
                let start = Start {
                    at_ns: event.at_ns,
                    direction: direction_of(event),
                    pid: event.pid,
                    comm: event.comm,
                };
                self.starts.add(place_of(event), start);
            }
            Step::Issue => self.issue(event),
            Step::Requeue => self.requeue(event),
            Step::Complete => self.complete(event),
            Step::Done => self.done(event),
            Step::Insert => {}
        }
        // Bios that were merged, or remapped to an untraced device.
        if self.bios.count > OPEN_MAX {
            self.bios.clear();
        }
        if self.starts.count > OPEN_MAX {
            self.starts.clear();
        }
        if self.issued.count + self.open_flushes > OPEN_MAX {
            self.drop_issued();
        }
    }

    fn enter(&mut self, event: &Event) {
        // A call entered again without returning has lost its return.
        self.exit(event, None);
        if self.calls.len() < CALLS_MAX {
            let call = Call {
                entered_ns: event.at_ns,
                done: Vec::new(),
            };
            self.calls.insert(event.pid, call);
        }
    }

    fn exit(&mut self, event: &Event, returned_ns: Option<u64>) {
        self.settle(0);
        if let Some(call) = self.calls.remove(&event.pid) {
            let done = call.done.into_iter().map(|operation| Operation {
                returned_ns,
                ..operation
            });
            self.ready.extend(done);
        }
    }

    fn queue(&mut self, event: &Event) {
        self.report.demands += 1;
        self.report.demand_bytes += u64::from(event.sectors) * SECTOR_SIZE_BYTES;
        let bio = Bio {
            at_ns: event.at_ns,
            entered_ns: self.calls.get(&event.pid).map(|call| call.entered_ns),
            sectors: event.sectors,
            direction: direction_of(event),
            pid: event.pid,
            comm: event.comm,
            is_rest: false,
        };
        self.bios.add(place_of(event), bio);
    }

    /// The bios of an issue: the earliest, and how many begin in it. One flush serves several.
    fn take_bios(&mut self, event: &Event, direction: Direction) -> Option<(Bio, u32)> {
        let mut first: Option<Bio> = None;
        let mut count = 0;
        let (device, mut at) = place_of(event);
        let end = at.saturating_add(u64::from(event.sectors));
        let oldest_ns = event.at_ns.saturating_sub(BIO_AGE_NS_MAX);
        while count < MERGED_MAX {
            // Beside the first, a flush serves those that waited when the one before it completed.
            let newest_ns = match direction == Direction::Flush && first.is_some() {
                true => self.last_flush_ns(device),
                false => u64::MAX,
            };
            let fits = |bio: &Bio| {
                bio.direction == direction && (oldest_ns..=newest_ns).contains(&bio.at_ns)
            };
            let Some(bio) = self.bios.take((device, at), fits) else {
                break;
            };
            count += u32::from(!bio.is_rest);
            if first.is_none_or(|first| bio.at_ns < first.at_ns) {
                first = Some(bio);
            }
            at = at.saturating_add(u64::from(bio.sectors));
            if at > end {
                let rest = Bio {
                    sectors: u32::try_from(at - end).unwrap_or(u32::MAX),
                    is_rest: true,
                    ..bio
                };
                self.bios.add((device, end), rest);
            }
            if direction != Direction::Flush && (at >= end || bio.sectors == 0) {
                break;
            }
        }
        first.map(|bio| (bio, count))
    }

    fn issue(&mut self, event: &Event) {
        let direction = direction_of(event);
        let Some(kind) = kind_of(direction) else {
            return;
        };
        let place = place_of(event);
        let bios = self.take_bios(event, direction);
        let bio = bios.map(|(bio, _)| bio);
        // One older than its bio is left over from a merged request.
        let start = self.starts.take(place, |start| {
            start.direction == direction && bio.is_none_or(|bio| start.at_ns >= bio.at_ns)
        });
        if direction == Direction::Flush {
            self.drop_served_starts(place);
        }
        let who = bio.map(|bio| (bio.pid, bio.comm));
        let who = who.or(start.map(|start| (start.pid, start.comm)));
        let (pid, comm) = who.unwrap_or((event.pid, event.comm));
        let mut flags = event.letters.flags;
        if bio.is_some_and(|bio| bio.comm.is_worker()) {
            flags = flags.with(Flags::DEFERRED);
        }
        let arrived = bio
            .map(|bio| bio.at_ns)
            .or(start.map(|start| start.at_ns))
            .unwrap_or(event.at_ns);
        let offset = place.1.saturating_mul(SECTOR_SIZE_BYTES);
        let size = u64::from(event.sectors) * SECTOR_SIZE_BYTES;
        let operation = Operation {
            device: event.device,
            task: self.tasks.id(pid, comm),
            flags,
            demands: bios.map_or(1, |(_, count)| count),
            entered_ns: bio.and_then(|bio| bio.entered_ns),
            started_ns: start.map(|start| start.at_ns),
            issued_ns: Some(event.at_ns),
            ..Operation::at(arrived, kind, offset, size)
        };
        let issued = Issued {
            operation,
            direction,
            sectors_left: event.sectors,
            pid,
            comm,
        };
        if direction == Direction::Flush {
            self.open_flushes += 1;
            let flushes = self.flushes.entry(event.device).or_default();
            flushes.issued.push_back(issued);
        } else {
            self.issued.add(place, issued);
        }
    }

    fn last_flush_ns(&self, device: DeviceNumber) -> u64 {
        self.flushes.get(&device).map_or(0, |one| one.done_ns)
    }

    /// Requests that this flush serves beside the first: no later one began with them.
    fn drop_served_starts(&mut self, place: (DeviceNumber, u64)) {
        let last_ns = self.last_flush_ns(place.0);
        let served = |start: &Start| start.direction == Direction::Flush && start.at_ns <= last_ns;
        while self.starts.take(place, served).is_some() {}
    }

    /// A request that waited for a flush has completed. More of them than the flush was known to
    /// serve have not waited for the next one, which may come seconds later.
    fn serve(&mut self, device: DeviceNumber) {
        let Some(flushes) = self.flushes.get_mut(&device) else {
            return;
        };
        if flushes.served > 0 {
            flushes.served -= 1;
            return;
        }
        let place = (device, 0);
        self.bios
            .take(place, |bio| bio.direction == Direction::Flush);
        self.starts
            .take(place, |start| start.direction == Direction::Flush);
    }

    /// The operation will be issued again, as the same one.
    fn requeue(&mut self, event: &Event) {
        let direction = direction_of(event);
        let Some(issued) = self.take_issued(event, direction) else {
            return;
        };
        let operation = issued.operation;
        let bio = Bio {
            at_ns: operation.arrived_ns,
            entered_ns: operation.entered_ns,
            sectors: issued.sectors_left,
            direction,
            pid: issued.pid,
            comm: issued.comm,
            is_rest: operation.demands == 0,
        };
        self.bios.add(place_of(event), bio);
        if let Some(at_ns) = operation.started_ns {
            let start = Start {
                at_ns,
                direction,
                pid: issued.pid,
                comm: issued.comm,
            };
            self.starts.add(place_of(event), start);
        }
    }

    fn take_issued(&mut self, event: &Event, direction: Direction) -> Option<Issued> {
        if direction == Direction::Flush {
            let issued = self.flushes.get_mut(&event.device)?.issued.pop_front()?;
            self.open_flushes -= 1;
            return Some(issued);
        }
        let place = place_of(event);
        let is_same = |one: &Issued| one.direction == direction;
        let is_exact = |one: &Issued| is_same(one) && one.sectors_left == event.sectors;
        let exact = self.issued.take(place, is_exact);
        let is_part = |one: &Issued| is_same(one) && one.sectors_left > event.sectors;
        exact.or_else(|| self.issued.take(place, is_part))
    }

    fn complete(&mut self, event: &Event) {
        let direction = direction_of(event);
        let is_flush = direction == Direction::Flush;
        if event.sectors == 0 && direction == Direction::Write {
            self.report.repeated_completions += 1;
            self.serve(event.device);
            return;
        }
        let Some(mut issued) = self.take_issued(event, direction) else {
            if event.letters.flags.has(Flags::PREFLUSH) && !is_flush {
                self.report.repeated_completions += 1;
            } else if kind_of(direction).is_some() {
                self.report.unmatched_completions += 1;
            }
            return;
        };
        if !is_flush && issued.sectors_left > event.sectors {
            issued.sectors_left -= event.sectors;
            let end = event.sector.saturating_add(u64::from(event.sectors));
            self.issued.add((event.device, end), issued);
            return;
        }
        if is_flush && let Some(flushes) = self.flushes.get_mut(&event.device) {
            flushes.done_ns = event.at_ns;
            flushes.served = issued.operation.demands;
        }
        self.report.paired += 1;
        let operation = Operation {
            completed_ns: Some(event.at_ns),
            ..issued.operation
        };
        self.recent.push_back((issued.pid, operation));
        self.settle(RECENT_MAX);
    }

    /// Releases all but this many of the last completions.
    fn settle(&mut self, keep: usize) {
        while self.recent.len() > keep {
            let Some((pid, operation)) = self.recent.pop_front() else {
                return;
            };
            match self.calls.get_mut(&pid) {
                Some(call)
                    if operation.entered_ns == Some(call.entered_ns)
                        && call.done.len() < PER_CALL_MAX =>
                {
                    call.done.push(operation);
                }
                _ => self.ready.push_back(operation),
            }
        }
    }

    /// Marks a completion as made by a kernel thread. The name in any other such event is that of
    /// the interrupted task.
    fn done(&mut self, event: &Event) {
        if !event.comm.completes_for_others() {
            return;
        }
        let offset = place_of(event).1.saturating_mul(SECTOR_SIZE_BYTES);
        let same = |one: &&mut (i32, Operation)| {
            one.1.device == event.device && one.1.offset_bytes == offset
        };
        if let Some((_, operation)) = self.recent.iter_mut().rev().find(same) {
            operation.flags = operation.flags.with(Flags::COMPLETED_BY_THREAD);
        }
    }
}

/// A write of nothing with a preflush is a flush alone.
fn direction_of(event: &Event) -> Direction {
    let letters = event.letters;
    if letters.direction == Direction::Write
        && event.sectors == 0
        && letters.flags.has(Flags::PREFLUSH)
    {
        return Direction::Flush;
    }
    letters.direction
}

/// Flushes have no location: issues have sector 0, completions 2^64-1.
fn place_of(event: &Event) -> (DeviceNumber, u64) {
    let is_flush = direction_of(event) == Direction::Flush || event.sector == NO_SECTOR;
    (event.device, if is_flush { 0 } else { event.sector })
}

const fn kind_of(direction: Direction) -> Option<Kind> {
    Some(match direction {
        Direction::Read => Kind::Read,
        Direction::Write => Kind::Write,
        Direction::Discard => Kind::Discard,
        Direction::Flush => Kind::Sync,
        Direction::Other => return None,
    })
}

#[cfg(test)]
mod tests;
