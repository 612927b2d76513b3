//! Measures the latency of reads and writes batch by batch: on a simulated
//! array in virtual time, or on a file or device through an engine.

use super::limit_watch::{FastestRates, RateMeter};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;
use stripewise_array_sim::{Array, Finished, Request, Simulate};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::measure::engine_of;
use stripewise_conductor::observer::{Progress, left_at_rate};
use stripewise_conductor::targets::OpenTarget;
use stripewise_io_engine::backend::linux_io_uring::Uring;
use stripewise_io_engine::backend::portable_threads::Threads;
use stripewise_io_engine::backend::windows_iocp::Iocp;
use stripewise_io_engine::{
    Clock, Completion, Engine, EngineName, Kind, Next, OpenPlan, Operation, Source, error_name,
};
use stripewise_surface::{Device, ProbeIo, ProbeResult, StopReason};
use stripewise_targets::{Access, Target};
use stripewise_workload::CacheMode;

/// Maximum number of operations of a batch.
const SLOTS: u32 = 64;
/// A batch that takes longer than this has hit an unresponsive device.
const STALL_NS: u64 = 60_000_000_000;
/// How long to wait for operations in flight at the end.
const CLOSE_NS: u64 = 5_000_000_000;
/// How often a wait checks for an interrupt.
const LOOK_NS: u64 = 100_000_000;

/// A target that is probed batch by batch.
pub struct ProbeDevice<'a> {
    device: Box<dyn Device + 'a>,
    is_simulated: bool,
}

/// How to probe a target.
#[derive(Clone, Debug)]
pub struct ProbeOptions {
    /// Bytes of the largest operation.
    pub length_bytes_max: u32,
    /// Whether there are writes.
    pub writes: bool,
    /// Seed of written data.
    pub seed: u64,
}

impl<'a> ProbeDevice<'a> {
    /// Opens it for probing. A simulated array is idle at time 0.
    ///
    /// # Errors
    /// If the target cannot be opened, or no engine works here.
    pub fn open(context: &'a Context, target: &OpenTarget, how: &ProbeOptions) -> Outcome<Self> {
        let device: Box<dyn Device + 'a> = match target {
            OpenTarget::Simulated(simulated) => Box::new(VirtualDevice {
                context,
                array: simulated.build(),
                now_ns: 0,
            }),
            OpenTarget::Real { target } => {
                let choice = engine_of(&stripewise_workload::Request::default())?.choose();
                match choice.engine {
                    EngineName::Threads => {
                        Box::new(RealDevice::<Threads>::open(context, target, how)?)
                    }
                    EngineName::Iocp => Box::new(RealDevice::<Iocp>::open(context, target, how)?),
                    _ => Box::new(RealDevice::<Uring>::open(context, target, how)?),
                }
            }
            OpenTarget::Nothing { name, .. } => {
                return Err(Failure::usage(
                    format!("{name} cannot be read"),
                    "name a device, a file or sim:NAME",
                ));
            }
        };
        Ok(ProbeDevice {
            device,
            is_simulated: target.simulated().is_some(),
        })
    }

    /// Whether time is virtual.
    pub fn is_simulated(&self) -> bool {
        self.is_simulated
    }
}

impl Device for ProbeDevice<'_> {
    fn size_bytes(&self) -> u64 {
        self.device.size_bytes()
    }

    fn sector_bytes(&self) -> u32 {
        self.device.sector_bytes()
    }

    fn now_ns(&self) -> u64 {
        self.device.now_ns()
    }

    fn run_batch(
        &mut self,
        requests: &[ProbeIo],
        answers: &mut Vec<ProbeResult>,
    ) -> Result<(), StopReason> {
        self.device.run_batch(requests, answers)
    }

    fn rest(&mut self, rest_ns: u64) -> Result<(), StopReason> {
        self.device.rest(rest_ns)
    }
}

fn unanswered(requests: &[ProbeIo], answers: &mut Vec<ProbeResult>) {
    let none = ProbeResult {
        latency_ns: 0,
        whole: false,
        medium_error: false,
    };
    answers.clear();
    answers.resize(requests.len(), none);
}

/// Whether a result means that the medium failed: an unreadable place, as opposed to a read
/// that was rejected or timed out.
fn is_medium_error(result: i32) -> bool {
    const LINUX: [&str; 5] = ["EIO", "EREMOTEIO", "EILSEQ", "ENODATA", "EBADMSG"];
    const WINDOWS: [&str; 4] = [
        "ERROR_CRC",
        "ERROR_SECTOR_NOT_FOUND",
        "ERROR_READ_FAULT",
        "ERROR_IO_DEVICE",
    ];
    if result >= 0 {
        return false;
    }
    let name = error_name(result.saturating_neg());
    LINUX.contains(&name.as_str()) || WINDOWS.contains(&name.as_str())
}

/// Why a measurement was cut short.
pub fn why(stop_reason: &StopReason) -> String {
    match stop_reason {
        StopReason::Interrupted => "interrupted".to_owned(),
        StopReason::OutOfTime => "the time limit was reached".to_owned(),
        StopReason::Gone(why) => why.clone(),
    }
}

fn stop_requested(context: &Context) -> Result<(), StopReason> {
    match context.signal() {
        Some(_) => Err(StopReason::Interrupted),
        None => Ok(()),
    }
}

/// A simulated array with its virtual time.
struct VirtualDevice<'a> {
    context: &'a Context,
    array: Array,
    now_ns: u64,
}

impl Device for VirtualDevice<'_> {
    fn size_bytes(&self) -> u64 {
        self.array.size_bytes()
    }

    fn sector_bytes(&self) -> u32 {
        self.array.sector_bytes()
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn run_batch(
        &mut self,
        requests: &[ProbeIo],
        answers: &mut Vec<ProbeResult>,
    ) -> Result<(), StopReason> {
        stop_requested(self.context)?;
        unanswered(requests, answers);
        let begun_ns = self.now_ns;
        for (token, io) in requests.iter().enumerate() {
            let request = Request {
                token: token as u64,
                kind: if io.write { Kind::Write } else { Kind::Read },
                durable: false,
                offset_bytes: io.offset_bytes,
                length_bytes: io.length_bytes,
            };
            self.array.submit(begun_ns, request);
        }
        let (mut waiting, mut last_ns) = (requests.len(), begun_ns);
        while waiting > 0 {
            let Some(next_ns) = self.array.next_event_ns() else {
                return Err(StopReason::Gone(
                    "the simulated array made no progress".to_owned(),
                ));
            };
            self.array.advance(next_ns, &mut |done: Finished| {
                let token = done.token as usize;
                answers[token] = ProbeResult {
                    latency_ns: done.at_ns - begun_ns,
                    whole: u32::try_from(done.result) == Ok(requests[token].length_bytes),
                    medium_error: is_medium_error(done.result),
                };
                last_ns = done.at_ns;
                waiting -= 1;
            });
        }
        self.now_ns = last_ns;
        Ok(())
    }

    fn rest(&mut self, rest_ns: u64) -> Result<(), StopReason> {
        self.now_ns += rest_ns;
        self.array.advance(self.now_ns, &mut |_| {});
        Ok(())
    }
}

/// A file or device behind an engine on the calling thread.
struct RealDevice<'a, E: Engine> {
    context: &'a Context,
    /// `None` only while it is being closed.
    engine: Option<E>,
    size_bytes: u64,
    sector_bytes: u32,
    seed: u64,
}

impl<'a, E: Engine> RealDevice<'a, E> {
    fn open(context: &'a Context, target: &Target, how: &ProbeOptions) -> Outcome<Self> {
        let access = match how.writes {
            true => Access::ReadWrite,
            false => Access::Read,
        };
        let file = target.open(CacheMode::Direct, access)?;
        let clock = Clock::start();
        let plan = OpenPlan::new(vec![Arc::new(file)], SLOTS, how.length_bytes_max, clock);
        let engine = E::open(&plan).map_err(|error| {
            let hint = "`stripewise doctor` shows which engines work here";
            Failure::of(crate::Exit::Target, error).hinted(hint)
        })?;
        Ok(RealDevice {
            context,
            engine: Some(engine),
            size_bytes: target.size_bytes(),
            sector_bytes: target.logical_sector_bytes(),
            seed: how.seed,
        })
    }
}

impl<E: Engine> Device for RealDevice<'_, E> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn sector_bytes(&self) -> u32 {
        self.sector_bytes
    }

    fn now_ns(&self) -> u64 {
        self.engine.as_ref().map_or(0, Engine::now_ns)
    }

    fn run_batch(
        &mut self,
        requests: &[ProbeIo],
        answers: &mut Vec<ProbeResult>,
    ) -> Result<(), StopReason> {
        stop_requested(self.context)?;
        unanswered(requests, answers);
        let Some(engine) = &mut self.engine else {
            return Err(StopReason::Gone("the engine is closed".to_owned()));
        };
        let begun_ns = engine.now_ns();
        let mut batch = Batch {
            requests,
            answers,
            next: 0,
            waiting: requests.len(),
            begun_ns,
            seed: self.seed,
        };
        while batch.waiting > 0 {
            let now_ns = engine.now_ns();
            engine.fill(&mut batch, now_ns);
            engine
                .submit_and_wait(1, Some(now_ns + LOOK_NS))
                .map_err(|error| StopReason::Gone(error.to_string()))?;
            engine.reap(&mut batch);
            stop_requested(self.context)?;
            if now_ns - begun_ns > STALL_NS {
                return Err(StopReason::Gone(format!(
                    "{} of {} operations have not ended after {} s",
                    batch.waiting,
                    requests.len(),
                    STALL_NS / 1_000_000_000
                )));
            }
        }
        Ok(())
    }

    fn rest(&mut self, rest_ns: u64) -> Result<(), StopReason> {
        let end_ns = self.now_ns() + rest_ns;
        while self.now_ns() < end_ns {
            stop_requested(self.context)?;
            let left_ns = end_ns.saturating_sub(self.now_ns());
            std::thread::sleep(Duration::from_nanos(left_ns.min(LOOK_NS)));
        }
        Ok(())
    }
}

impl<E: Engine> Drop for RealDevice<'_, E> {
    fn drop(&mut self) {
        // Only an interrupted batch leaves operations in flight; an unresponsive device
        // must not block the program.
        if let Some(engine) = self.engine.take() {
            engine.close(CLOSE_NS);
        }
    }
}

/// A batch in progress on an engine: the slot is the index.
struct Batch<'b> {
    requests: &'b [ProbeIo],
    answers: &'b mut Vec<ProbeResult>,
    next: usize,
    waiting: usize,
    begun_ns: u64,
    seed: u64,
}

impl Source for Batch<'_> {
    fn next(&mut self, _now_ns: u64) -> Next {
        let Some(io) = self.requests.get(self.next) else {
            return Next::Finished;
        };
        let slot = self.next as u32;
        self.next += 1;
        Next::Operation(Operation {
            slot,
            file: 0,
            kind: if io.write { Kind::Write } else { Kind::Read },
            offset_bytes: io.offset_bytes,
            length_bytes: io.length_bytes,
        })
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        incompressible(self.seed, operation.offset_bytes, buffer);
    }

    fn complete(&mut self, done: Completion) {
        let slot = done.slot as usize;
        self.answers[slot] = ProbeResult {
            latency_ns: done.at_ns.saturating_sub(self.begun_ns),
            whole: u32::try_from(done.result) == Ok(self.requests[slot].length_bytes),
            medium_error: is_medium_error(done.result),
        };
        self.waiting -= 1;
    }
}

/// Incompressible data, different for every position: xorshift64* from the offset.
fn incompressible(seed: u64, offset_bytes: u64, buffer: &mut [u8]) {
    let mut state = (seed ^ offset_bytes.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1;
    for chunk in buffer.chunks_mut(8) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let word = state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
}

/// A wrapper of a device that reports progress.
pub struct ProgressDevice<'a, D> {
    device: &'a mut D,
    progress: &'a Progress<'a>,
    title: &'a Cell<&'static str>,
    issued: u64,
    expected: u64,
    begun_ns: u64,
    shown_ns: u64,
    meter: RateMeter,
}

impl<'a, D: Device> ProgressDevice<'a, D> {
    /// `expected`: usual number of operations; `title`: text of the progress line.
    pub fn new(
        device: &'a mut D,
        progress: &'a Progress<'a>,
        expected: u64,
        title: &'a Cell<&'static str>,
    ) -> Self {
        let begun_ns = device.now_ns();
        ProgressDevice {
            device,
            progress,
            title,
            issued: 0,
            expected,
            begun_ns,
            shown_ns: begun_ns,
            meter: RateMeter::new(begun_ns),
        }
    }

    /// Its highest rates.
    pub fn rates(&self) -> FastestRates {
        self.meter.fastest(self.device.now_ns())
    }
}

impl<D: Device> Device for ProgressDevice<'_, D> {
    fn size_bytes(&self) -> u64 {
        self.device.size_bytes()
    }

    fn sector_bytes(&self) -> u32 {
        self.device.sector_bytes()
    }

    fn now_ns(&self) -> u64 {
        self.device.now_ns()
    }

    fn run_batch(
        &mut self,
        requests: &[ProbeIo],
        answers: &mut Vec<ProbeResult>,
    ) -> Result<(), StopReason> {
        self.device.run_batch(requests, answers)?;
        self.issued += requests.len() as u64;
        let now_ns = self.device.now_ns();
        self.meter.count(requests, now_ns);
        if now_ns - self.shown_ns > LOOK_NS {
            self.shown_ns = now_ns;
            self.progress.update(
                self.issued.min(self.expected),
                self.title.get(),
                left_at_rate(now_ns - self.begun_ns, self.issued, self.expected),
            );
        }
        Ok(())
    }

    fn rest(&mut self, rest_ns: u64) -> Result<(), StopReason> {
        self.device.rest(rest_ns)
    }
}
