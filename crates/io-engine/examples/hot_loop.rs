//! Measures the engine's own cost: random reads with a minimal source.
//!
//! `hot_loop ENGINE PATH OUTSTANDING SECONDS [BLOCK_BYTES [OPERATIONS [AT_LEAST]]]` with ENGINE one
//! of uring, threads, null. PATH is opened read-only, bypassing the page cache if possible. Prints
//! operations, rate and batch size as JSON. With OPERATIONS it stops after that many, for counting
//! instructions: `valgrind --tool=callgrind hot_loop uring /dev/zram0 128 60 8192 1000000`.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::sync::Arc;

use stripewise_io_engine::backend::{linux_io_uring::Uring, null::Null, portable_threads::Threads};
use stripewise_io_engine::{
    Clock, Completion, Engine, Error, Kind, Next, OpenPlan, Operation, Source,
};

/// A source with a free list and a multiplicative generator, nothing else.
struct RandomReads {
    state: u64,
    blocks: u64,
    block_bytes: u32,
    free: Vec<u32>,
    stop_ns: u64,
    left: u64,
    completed: u64,
    failed: u64,
}

impl Source for RandomReads {
    #[inline]
    fn next(&mut self, now_ns: u64) -> Next {
        if now_ns >= self.stop_ns || self.left == 0 {
            return Next::Finished;
        }
        let Some(slot) = self.free.pop() else {
            return Next::Full;
        };
        self.left -= 1;
        self.state = self
            .state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        let block = (u128::from(self.state) * u128::from(self.blocks)) >> 64;
        Next::Operation(Operation {
            slot,
            file: 0,
            kind: Kind::Read,
            offset_bytes: block as u64 * u64::from(self.block_bytes),
            length_bytes: self.block_bytes,
        })
    }

    fn data(&mut self, _operation: &Operation, _buffer: &mut [u8]) {}

    #[inline]
    fn complete(&mut self, done: Completion) {
        self.free.push(done.slot);
        self.completed += 1;
        self.failed += u64::from(done.result != self.block_bytes.cast_signed());
    }
}

/// Runs the loop to its end; returns the number of batches.
fn drive<E: Engine>(engine: &mut E, source: &mut RandomReads, at_least: u32) -> Result<u64, Error> {
    let mut in_flight = 0;
    let mut batches = 0;
    loop {
        let filled = engine.fill(source, engine.now_ns());
        in_flight += filled.taken;
        if in_flight == 0 {
            return Ok(batches);
        }
        engine.submit_and_wait(at_least, None)?;
        in_flight -= engine.reap(source);
        batches += 1;
    }
}

fn measure<E: Engine>(
    plan: &OpenPlan,
    mut source: RandomReads,
    at_least: u32,
) -> Result<(), Error> {
    let mut engine = E::open(plan)?;
    let start_ns = engine.now_ns();
    source.stop_ns += start_ns;
    let batches = drive(&mut engine, &mut source, at_least)?;
    let elapsed_ns = (engine.now_ns() - start_ns).max(1);
    println!(
        "{{\"operations\":{},\"iops\":{:.0},\"ns_per_operation\":{:.1},\"failed\":{},\"per_batch\":{:.1}}}",
        source.completed,
        source.completed as f64 * 1e9 / elapsed_ns as f64,
        elapsed_ns as f64 / source.completed.max(1) as f64,
        source.failed,
        source.completed as f64 / batches.max(1) as f64,
    );
    for fallback in &engine.capabilities().fallbacks {
        eprintln!("fallback: {fallback}");
    }
    engine.close(1_000_000_000);
    Ok(())
}

fn open(path: &str) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_DIRECT);
    options.open(path)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, name, path, outstanding, seconds, rest @ ..] = &arguments[..] else {
        return Err(
            "usage: hot_loop ENGINE PATH OUTSTANDING SECONDS [BLOCK_BYTES [OPERATIONS [AT_LEAST]]]"
                .into(),
        );
    };
    let mut rest = rest.iter();
    let block_bytes = rest.next().map_or(Ok(8192), |text| text.parse())?;
    let left = rest.next().map_or(Ok(u64::MAX), |text| text.parse())?;
    let at_least = rest.next().map_or(Ok(1), |text| text.parse())?;
    let outstanding: u32 = outstanding.parse()?;
    let mut file = open(path)?;
    let size_bytes = file.seek(SeekFrom::End(0))?;
    let plan = OpenPlan::new(
        vec![Arc::new(file)],
        outstanding,
        block_bytes,
        Clock::start(),
    );
    let source = RandomReads {
        state: 1,
        blocks: size_bytes / u64::from(block_bytes),
        block_bytes,
        free: (0..outstanding).rev().collect(),
        stop_ns: (seconds.parse::<f64>()? * 1e9) as u64,
        left,
        completed: 0,
        failed: 0,
    };
    match &name[..] {
        "uring" => measure::<Uring>(&plan, source, at_least)?,
        "threads" => measure::<Threads>(&plan, source, at_least)?,
        _ => measure::<Null>(&plan, source, at_least)?,
    }
    Ok(())
}
