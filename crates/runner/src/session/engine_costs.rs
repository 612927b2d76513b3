//! The machine's part in an engine's cost: reading the clock, a system call, the lateness of a
//! timed wait, and how many operations one wait returns. These differ between machines on which the
//! same disk seems to cost more CPU.

use std::sync::Arc;
use stripewise_io_engine::backend::{
    linux_io_uring::Uring, portable_threads::Threads, windows_iocp::Iocp,
};
use stripewise_io_engine::{
    Clock, Completion, Engine, EngineName, Kind, Next, OpenPlan, Operation, Source,
};
use stripewise_targets::{Access, Target};
use stripewise_workload::{CacheMode, derived_seed};

/// Clock reads and system calls per mean.
const CALLS: u32 = 100_000;
/// Number of timed waits; their length is about a fast disk's latency.
const WAITS: usize = 200;
/// Length of each wait in nanoseconds.
pub const WAIT_NS: u64 = 100_000;
/// In flight while batches are counted.
pub const OUTSTANDING: u32 = 128;
/// Bytes of each of these reads.
pub const READ_BYTES: u32 = 8192;
/// How long to wait for reads at the end.
const CLOSE_NS: u64 = 1_000_000_000;

/// Costs independent of any disk, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineCosts {
    /// Reading the clock once.
    pub clock_ns: f64,
    /// Getting the process id: on Linux the shortest system call, on Windows none.
    pub call_ns: f64,
    /// How late a wait of [`WAIT_NS`] ends: median and 99th percentile. `None` if the engine does
    /// not open.
    pub late_ns: Option<[u64; 2]>,
}

/// Measures the costs; takes about 50 ms.
pub fn machine_costs() -> MachineCosts {
    let clock = Clock::start();
    let mean = |mut call: Box<dyn FnMut()>| {
        let start_ns = clock.now_ns();
        (0..CALLS).for_each(|_| call());
        (clock.now_ns() - start_ns) as f64 / f64::from(CALLS)
    };
    let clock_ns = mean(Box::new(|| {
        std::hint::black_box(clock.now_ns());
    }));
    let call_ns = mean(Box::new(|| {
        std::hint::black_box(std::process::id());
    }));
    let late_ns = match EngineName::Auto.choose().engine {
        EngineName::Uring => lateness::<Uring>(clock),
        EngineName::Iocp => lateness::<Iocp>(clock),
        _ => lateness::<Threads>(clock),
    };
    MachineCosts {
        clock_ns,
        call_ns,
        late_ns,
    }
}

fn lateness<E: Engine>(clock: Clock) -> Option<[u64; 2]> {
    let plan = OpenPlan::new(Vec::new(), 1, READ_BYTES, clock);
    let mut engine = E::open(&plan).ok()?;
    let mut late_ns = Vec::with_capacity(WAITS);
    while late_ns.len() < WAITS {
        let until_ns = engine.now_ns() + WAIT_NS;
        engine.submit_and_wait(1, Some(until_ns)).ok()?;
        // A signal ends a wait early.
        late_ns.extend(engine.now_ns().checked_sub(until_ns));
    }
    engine.close(CLOSE_NS);
    late_ns.sort_unstable();
    Some([late_ns[WAITS / 2], late_ns[WAITS * 99 / 100]])
}

/// Random reads of [`READ_BYTES`], with [`OUTSTANDING`] in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadBatches {
    /// Completed reads.
    pub operations: u64,
    /// How often completions were fetched, once after each wait.
    pub waits: u64,
    /// Elapsed time.
    pub elapsed_ns: u64,
}

/// Reads the target for this long through the engine that a run would choose. Nothing is written.
///
/// # Errors
/// Why it cannot be read this way.
pub fn read_batches(target: &Target, duration_ns: u64) -> Result<ReadBatches, String> {
    let blocks = target.size_bytes() / u64::from(READ_BYTES);
    if blocks == 0 {
        return Err(format!("it is smaller than {READ_BYTES} bytes"));
    }
    let file = target.open(CacheMode::Direct, Access::Read);
    let file = Arc::new(file.map_err(|error| error.to_string())?);
    let plan = OpenPlan::new(vec![file], OUTSTANDING, READ_BYTES, Clock::start());
    match EngineName::Auto.choose().engine {
        EngineName::Uring => batches_of::<Uring>(&plan, blocks, duration_ns),
        EngineName::Iocp => batches_of::<Iocp>(&plan, blocks, duration_ns),
        _ => batches_of::<Threads>(&plan, blocks, duration_ns),
    }
}

fn batches_of<E: Engine>(
    plan: &OpenPlan,
    blocks: u64,
    duration_ns: u64,
) -> Result<ReadBatches, String> {
    let text = |error: stripewise_io_engine::Error| error.to_string();
    let mut engine = E::open(plan).map_err(text)?;
    let start_ns = engine.now_ns();
    let until_ns = start_ns + duration_ns;
    let mut reads = RandomReads::new(blocks, until_ns);
    let mut done = ReadBatches::default();
    while engine.now_ns() < until_ns && reads.failed.is_none() {
        let now_ns = engine.now_ns();
        engine.fill(&mut reads, now_ns);
        engine.submit_and_wait(1, Some(until_ns)).map_err(text)?;
        done.operations += u64::from(engine.reap(&mut reads));
        done.waits += 1;
    }
    done.elapsed_ns = engine.now_ns() - start_ns;
    engine.close(CLOSE_NS);
    match reads.failed {
        Some(number) => Err(format!(
            "read {}",
            stripewise_io_engine::error_name(number.saturating_neg())
        )),
        None => Ok(done),
    }
}

/// Reads random blocks until a time.
struct RandomReads {
    blocks: u64,
    until_ns: u64,
    free: Vec<u32>,
    issued: u64,
    failed: Option<i32>,
}

impl RandomReads {
    fn new(blocks: u64, until_ns: u64) -> RandomReads {
        RandomReads {
            blocks,
            until_ns,
            free: (0..OUTSTANDING).collect(),
            issued: 0,
            failed: None,
        }
    }
}

impl Source for RandomReads {
    fn next(&mut self, now_ns: u64) -> Next {
        if now_ns >= self.until_ns {
            return Next::Finished;
        }
        let Some(slot) = self.free.pop() else {
            return Next::Full;
        };
        self.issued += 1;
        Next::Operation(Operation {
            slot,
            file: 0,
            kind: Kind::Read,
            offset_bytes: derived_seed(0, self.issued) % self.blocks * u64::from(READ_BYTES),
            length_bytes: READ_BYTES,
        })
    }

    fn data(&mut self, _operation: &Operation, _buffer: &mut [u8]) {}

    fn complete(&mut self, done: Completion) {
        if done.result < 0 {
            self.failed = Some(done.result);
        }
        self.free.push(done.slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_above_nothing() {
        let costs = machine_costs();
        assert!(costs.clock_ns > 0.0 && costs.call_ns > 0.0);
        let [half, most] = costs.late_ns.expect("an engine opens");
        assert!(half <= most);
    }

    #[test]
    fn reads_are_whole_blocks_of_the_target_and_end_with_the_time() {
        let mut reads = RandomReads::new(3, 10);
        for _ in 0..OUTSTANDING {
            let Next::Operation(read) = reads.next(0) else {
                panic!("a slot is free");
            };
            assert!(read.offset_bytes < 3 * u64::from(READ_BYTES));
            assert_eq!(read.offset_bytes % u64::from(READ_BYTES), 0);
        }
        assert_eq!(reads.next(0), Next::Full);
        reads.complete(Completion {
            slot: 7,
            result: 8192,
            at_ns: 1,
        });
        assert!(matches!(reads.next(9), Next::Operation(read) if read.slot == 7));
        assert_eq!(reads.next(10), Next::Finished);
        assert_eq!(reads.failed, None);
    }
}
