//! The engine for Windows: overlapped I/O and a completion port.
//!
//! Every engine has its own port and takes completions from it in batches
//! (`GetQueuedCompletionStatusEx`). Each operation is a separate system call, made on the worker's
//! thread. One that completes within that call is timestamped at once and queues no packet, where
//! the system supports that.
//!
//! Invariants: a file object belongs permanently to one port, so files are opened for each engine;
//! a slot has at most one operation in flight (checked, because its buffer and its OVERLAPPED
//! belong to the system until then); both are leaked rather than freed while the system may still
//! write to them.
//!
//! Not supported: registered buffers and rings (IoRing, Windows 11), scattered I/O.

mod flusher;
mod port;
mod slots;

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::windows::io::AsRawHandle;
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::Duration;

use windows_sys::Win32::Foundation::{
    ERROR_HANDLE_EOF, ERROR_INVALID_PARAMETER, ERROR_INVALID_USER_BUFFER, ERROR_IO_PENDING,
    ERROR_NO_SYSTEM_RESOURCES, ERROR_NOT_ENOUGH_MEMORY, ERROR_NOT_ENOUGH_QUOTA,
    ERROR_NOT_SUPPORTED, ERROR_WORKING_SET_QUOTA, GetLastError,
};
use windows_sys::Win32::Storage::FileSystem::{ReadFile, WriteFile};
use windows_sys::Win32::System::IO::OVERLAPPED_ENTRY;

use super::buffers::Buffers;
use super::intake::{self, Batches, Intake};
use super::sys;
use crate::{
    Abandoned, Capabilities, Clock, Completion, Engine, Error, ErrorKind, Filled, Kind, OpenPlan,
    Operation, Result, Source,
};
use flusher::Flusher;
use port::{KEY_POSTED, Port};
use slots::{Slots, failure};

const NAME: &str = "iocp";
/// Most packets taken at once.
const BATCH_MAX: usize = 1024;
/// How long the system may lack memory for a single operation before the run fails: this many naps
/// of [`SHORTAGE_NAP`].
const SHORTAGE_NAPS_MAX: u32 = 5_000;
const SHORTAGE_NAP: Duration = Duration::from_millis(1);
/// Extra time for cancelling at the end, beyond the caller's limit.
const CANCEL_LIMIT_NS: u64 = 20_000_000;
/// Waits are whole ticks of a millisecond and may be one too long, so the last part of a timed wait
/// is spent polling.
const TICK_NS: u64 = 1_000_000;
/// Waits for an hour at a time if there is no limit.
const TIMEOUT_MS_MAX: u64 = 3_600_000;

/// A completion port and the buffers of its slots.
pub struct Iocp {
    port: Port,
    files: Vec<Adopted>,
    flusher: Option<Flusher>,
    buffers: ManuallyDrop<Buffers>,
    slots: ManuallyDrop<Slots>,
    intake: Intake,
    /// Ended, not yet reaped.
    done: Vec<Completion>,
    entries: Box<[OVERLAPPED_ENTRY]>,
    /// Number in flight, started, and not known to have completed.
    with_system: u32,
    shortages: u32,
    clock: Clock,
    capabilities: Capabilities,
}

/// A file bound to the port.
struct Adopted {
    file: Arc<File>,
    /// An operation that completes within its call queues no packet.
    skips: bool,
}

/// Result of a call that starts an operation.
enum Started {
    /// Its completion will be queued to the port.
    Pending,
    /// It has completed.
    Ended(i32),
    /// The system currently lacks memory for it.
    Shortage(u32),
}

impl Iocp {
    /// Starts filled operations, as far as the system accepts them.
    fn submit(&mut self) -> Result<()> {
        let mut taken = 0;
        while let Some(&operation) = self.intake.filled.get(taken) {
            let started = match self.start(&operation) {
                Ok(started) => started,
                Err(error) => {
                    // Started operations must not be started again.
                    self.intake.filled.drain(..taken);
                    return Err(error);
                }
            };
            match started {
                Started::Pending => self.with_system += 1,
                Started::Ended(result) => self.done.push(Completion {
                    slot: operation.slot,
                    result,
                    at_ns: self.clock.now_ns(),
                }),
                Started::Shortage(code) => {
                    self.intake.filled.drain(..taken);
                    return self.endure(code);
                }
            }
            taken += 1;
        }
        self.intake.filled.clear();
        self.shortages = 0;
        Ok(())
    }

    /// With others in flight their completion helps against a shortage; otherwise only waiting.
    fn endure(&mut self, code: u32) -> Result<()> {
        if self.with_system > 0 || !self.done.is_empty() {
            return Ok(());
        }
        if self.shortages == SHORTAGE_NAPS_MAX {
            let os = std::io::Error::from_raw_os_error(code.cast_signed());
            return Err(broken("the system took no operations", os));
        }
        self.shortages += 1;
        std::thread::sleep(SHORTAGE_NAP);
        Ok(())
    }

    /// Starts one operation, whose slot has nothing else in flight.
    fn start(&mut self, operation: &Operation) -> Result<Started> {
        let Some(adopted) = self.files.get(usize::from(operation.file)) else {
            return Ok(Started::Ended(-sys::BAD_HANDLE));
        };
        let slot = operation.slot;
        if operation.kind == Kind::Sync {
            let address = self.slots.address(slot).addr();
            let file = Arc::clone(&adopted.file);
            self.flusher()?.flush(file, address);
            return Ok(Started::Pending);
        }
        if operation.kind == Kind::Discard {
            // `targets` refuses them earlier.
            return Ok(Started::Ended(failure(ERROR_NOT_SUPPORTED)));
        }
        let handle = adopted.file.as_raw_handle();
        let buffer = self.buffers.address(slot).as_ptr();
        let length = operation.length_bytes;
        // SAFETY: nothing is in flight on the slot (checked in `Intake`). Structure and buffer, of
        // at least `length` bytes (likewise), stay in place and are not accessed until the
        // operation has completed.
        let (done, code) = unsafe {
            let overlapped = self.slots.prepare(slot, operation.offset_bytes);
            let done = match operation.kind {
                Kind::Write => WriteFile(handle, buffer, length, null_mut(), overlapped),
                _ => ReadFile(handle, buffer, length, null_mut(), overlapped),
            };
            (done != 0, if done == 0 { GetLastError() } else { 0 })
        };
        Ok(match code {
            0 if done && adopted.skips => {
                // SAFETY: the call reported that the operation has completed.
                Started::Ended(unsafe { self.slots.result(slot) })
            }
            0 | ERROR_IO_PENDING => Started::Pending,
            ERROR_HANDLE_EOF => Started::Ended(0),
            ERROR_INVALID_USER_BUFFER
            | ERROR_NO_SYSTEM_RESOURCES
            | ERROR_NOT_ENOUGH_MEMORY
            | ERROR_NOT_ENOUGH_QUOTA
            | ERROR_WORKING_SET_QUOTA => Started::Shortage(code),
            code => Started::Ended(failure(code)),
        })
    }

    fn flusher(&mut self) -> Result<&Flusher> {
        if self.flusher.is_none() {
            let flusher = Flusher::start(self.port.clone())
                .map_err(|os| broken("no helper thread for syncs could be started", os))?;
            self.flusher = Some(flusher);
        }
        self.flusher
            .as_ref()
            .ok_or_else(|| broken("no helper thread", std::io::ErrorKind::Other.into()))
    }

    /// Takes packets, waiting up to `timeout_ms` for the first.
    fn take(&mut self, timeout_ms: u32) -> Result<()> {
        let count = self
            .port
            .take(&mut self.entries, timeout_ms)
            .map_err(|os| broken("the completion port returned no completions", os))?;
        if count == 0 {
            return Ok(());
        }
        let at_ns = self.clock.now_ns();
        for entry in &self.entries[..count] {
            let Some(slot) = self.slots.slot_of(entry.lpOverlapped) else {
                continue;
            };
            let result = match (entry.lpCompletionKey, entry.dwNumberOfBytesTransferred) {
                (KEY_POSTED, 0) => 0,
                (KEY_POSTED, code) => failure(code),
                // SAFETY: the packet reports that the operation has completed.
                _ => unsafe { self.slots.result(slot) },
            };
            self.with_system -= 1;
            self.done.push(Completion {
                slot,
                result,
                at_ns,
            });
        }
        Ok(())
    }

    /// Takes packets until `wanted` operations have completed, or until `until_ns`.
    fn wait(&mut self, wanted: usize, until_ns: Option<u64>) -> Result<()> {
        loop {
            if self.done.len() >= wanted {
                // Others may have completed too.
                return if self.with_system > 0 {
                    self.take(0)
                } else {
                    Ok(())
                };
            }
            let left_ns = until_ns.map(|until_ns| until_ns.saturating_sub(self.clock.now_ns()));
            match left_ns {
                None => self.take(TIMEOUT_MS_MAX as u32)?,
                Some(0) => return self.take(0),
                Some(left_ns) if left_ns < 2 * TICK_NS => {
                    self.take(0)?;
                    std::thread::yield_now();
                }
                Some(left_ns) => {
                    let timeout_ms = left_ns / TICK_NS - 1;
                    self.take(timeout_ms.min(TIMEOUT_MS_MAX) as u32)?;
                }
            }
        }
    }

    /// Waits for operations in the system, until `until_ns`.
    fn wait_out(&mut self, until_ns: u64) {
        while self.with_system > 0 {
            let before = self.with_system;
            let wanted = self.done.len() + 1;
            if self.wait(wanted, Some(until_ns)).is_err()
                || (self.with_system == before && self.clock.now_ns() >= until_ns)
            {
                return;
            }
        }
    }

    /// Cancels operations still in the system, and waits briefly for that.
    fn cancel(&mut self) {
        if self.with_system > 0 {
            for adopted in &self.files {
                port::cancel(&adopted.file);
            }
            self.wait_out(self.clock.now_ns() + CANCEL_LIMIT_NS);
        }
    }
}

fn broken(what: &str, os: std::io::Error) -> Error {
    Error {
        kind: ErrorKind::Broken,
        engine: NAME,
        what: what.to_owned(),
        hint: "",
        os: Some(os),
    }
}

fn lacking(what: String, hint: &'static str, os: Option<std::io::Error>) -> Error {
    Error {
        kind: ErrorKind::Resources,
        engine: NAME,
        what,
        hint,
        os,
    }
}

/// Whether this system supports completion ports; cheap, called before choosing.
///
/// # Errors
/// Why it does not.
pub fn probe() -> Result<()> {
    new_port().map(drop)
}

fn new_port() -> Result<Port> {
    Port::new().map_err(|os| {
        let what = "the system did not create a completion port".to_owned();
        lacking(what, "use <--engine> threads", Some(os))
    })
}

/// Binds the plan's files to the port.
fn adopt(port: &Port, plan: &OpenPlan, capabilities: &mut Capabilities) -> Result<Vec<Adopted>> {
    let adopt_one = |file: &Arc<File>| {
        let skips = port.adopt(file).map_err(|os| {
            let what = match os.raw_os_error().map(i32::cast_unsigned) {
                Some(ERROR_INVALID_PARAMETER) => {
                    "a file was not opened for overlapped I/O, or another engine has it"
                }
                _ => "a file could not be attached to the completion port",
            };
            lacking(what.to_owned(), "use <--engine> threads", Some(os))
        })?;
        let file = Arc::clone(file);
        Ok(Adopted { file, skips })
    };
    let files = plan
        .files
        .iter()
        .map(adopt_one)
        .collect::<Result<Vec<_>>>()?;
    if files.iter().any(|adopted| !adopted.skips) {
        capabilities.fallbacks.push(
            "operations that complete within their call also go through the completion port, \
             which costs CPU: the system refused to skip it"
                .to_owned(),
        );
    }
    Ok(files)
}

impl Engine for Iocp {
    fn open(plan: &OpenPlan) -> Result<Self> {
        if plan.slots == 0 || plan.slots > crate::SLOTS_MAX {
            let what = format!(
                "{} outstanding operations are too few or too many",
                plan.slots
            );
            return Err(lacking(what, "use more threads with fewer each", None));
        }
        if plan.features.poll {
            return Err(crate::error::refuse_polling(NAME));
        }
        let mut capabilities = Capabilities {
            name: NAME,
            ..Capabilities::default()
        };
        let port = new_port()?;
        let files = adopt(&port, plan, &mut capabilities)?;
        let buffers = Buffers::new(plan.slots, plan.slot_size_bytes).map_err(|os| {
            lacking(
                "no memory for buffers".to_owned(),
                "use fewer outstanding operations or a smaller block size",
                Some(os),
            )
        })?;
        sys::minimise_timer_slack();
        let slots = plan.slots as usize;
        Ok(Iocp {
            port,
            files,
            flusher: None,
            buffers: ManuallyDrop::new(buffers),
            slots: ManuallyDrop::new(Slots::new(plan.slots)),
            intake: Intake::new(plan),
            done: Vec::with_capacity(slots),
            entries: vec![OVERLAPPED_ENTRY::default(); slots.min(BATCH_MAX)].into_boxed_slice(),
            with_system: 0,
            shortages: 0,
            clock: plan.clock,
            capabilities,
        })
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    fn fill(&mut self, source: &mut impl Source, now_ns: u64) -> Filled {
        intake::fill(self, source, now_ns)
    }

    fn submit_and_wait(&mut self, at_least: u32, until_ns: Option<u64>) -> Result<()> {
        self.submit()?;
        if self.intake.in_flight == 0 {
            // A wait that cannot be satisfied ends at `until_ns`.
            return match until_ns {
                Some(_) => self.wait(1, until_ns),
                None => Ok(()),
            };
        }
        // Operations that the system had no memory for cannot be waited for.
        let possible = self.intake.in_flight as usize - self.intake.filled.len();
        self.wait(possible.min(at_least as usize), until_ns)
    }

    fn reap(&mut self, source: &mut impl Source) -> u32 {
        self.intake.reap(self.done.drain(..), &self.buffers, source)
    }

    fn close(mut self, limit_ns: u64) -> Abandoned {
        self.intake.filled.clear();
        self.wait_out(self.clock.now_ns().saturating_add(limit_ns));
        self.cancel();
        Abandoned {
            operations: self.with_system,
        }
    }
}

impl Batches for Iocp {
    fn intake(&mut self) -> &mut Intake {
        &mut self.intake
    }

    fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    fn submit_early(&mut self) {
        let _ = self.submit();
    }
}

impl Drop for Iocp {
    fn drop(&mut self) {
        self.cancel();
        if self.with_system == 0 {
            // SAFETY: dropped only here, and they are unused: nothing is in flight.
            unsafe {
                ManuallyDrop::drop(&mut self.buffers);
                ManuallyDrop::drop(&mut self.slots);
            }
        }
    }
}
