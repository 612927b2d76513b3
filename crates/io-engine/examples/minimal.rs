//! A minimal example: reads a file's blocks, sixteen at a time, and prints how long they took.
//! `minimal FILE`; the file is only read.

use std::fs::File;
use std::sync::Arc;

use stripewise_io_engine::backend::portable_threads::Threads;
use stripewise_io_engine::{Clock, Completion, Engine, Kind, Next, OpenPlan, Operation, Source};

const OUTSTANDING: u32 = 16;
const BLOCK_BYTES: u32 = 4096;

/// Returns what to do next, and handles what was done.
struct EveryBlock {
    next_block: u64,
    blocks: u64,
    free: Vec<u32>,
    issued_ns: [u64; OUTSTANDING as usize],
    latency_ns_sum: u64,
}

impl Source for EveryBlock {
    fn next(&mut self, now_ns: u64) -> Next {
        if self.next_block == self.blocks {
            return Next::Finished;
        }
        let Some(slot) = self.free.pop() else {
            return Next::Full;
        };
        let offset_bytes = self.next_block * u64::from(BLOCK_BYTES);
        self.next_block += 1;
        self.issued_ns[slot as usize] = now_ns;
        Next::Operation(Operation {
            slot,
            file: 0,
            kind: Kind::Read,
            offset_bytes,
            length_bytes: BLOCK_BYTES,
        })
    }

    fn data(&mut self, _operation: &Operation, _buffer: &mut [u8]) {
        unreachable!("there are no writes");
    }

    fn complete(&mut self, done: Completion) {
        // A negative result would be an error number: data, not a failure.
        self.latency_ns_sum += done.at_ns - self.issued_ns[done.slot as usize];
        self.free.push(done.slot);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: minimal FILE")?;
    let file = File::open(path)?;
    let blocks = file.metadata()?.len() / u64::from(BLOCK_BYTES);
    let plan = OpenPlan::new(
        vec![Arc::new(file)],
        OUTSTANDING,
        BLOCK_BYTES,
        Clock::start(),
    );
    // `Uring` where io_uring works: see `EngineName::choose`.
    let mut engine = Threads::open(&plan)?;
    let mut source = EveryBlock {
        next_block: 0,
        blocks,
        free: (0..OUTSTANDING).collect(),
        issued_ns: [0; OUTSTANDING as usize],
        latency_ns_sum: 0,
    };
    let mut in_flight = 0;
    loop {
        in_flight += engine.fill(&mut source, engine.now_ns()).taken;
        if in_flight == 0 {
            break;
        }
        engine.submit_and_wait(1, None)?;
        in_flight -= engine.reap(&mut source);
    }
    let mean_ns = source.latency_ns_sum / blocks.max(1);
    println!("{blocks} reads of {BLOCK_BYTES} bytes, {mean_ns} ns each on average");
    engine.close(1_000_000_000);
    Ok(())
}
