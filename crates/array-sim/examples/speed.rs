//! Simulated operations per second on one core, at several depths: the real-time cost of a
//! simulation.
//!
//! ```text
//! cargo run --release -p stripewise-array-sim --example speed [NAME OUTSTANDING OPERATIONS [MIX]]
//! ```
//! With arguments: one run, once, for counting its instructions with callgrind. MIX is
//! `random-read` (the default), `random-write`, `sequential-read` or `sequential-write`.
//! Measures CPU time where the kernel reports it, so that other load on the machine disturbs less.

// Few targets use the published tables; all use the code that drives an array.
#[allow(dead_code, unused_imports)]
#[path = "../tests/accuracy/mod.rs"]
mod accuracy;

use accuracy::{Load, Positions, closed_loop};
use std::time::Instant;
use stripewise_array_sim::{ArraySpec, Kind};

const NAMES: [&str; 5] = [
    "oja-nisula-2007",
    "oja-nisula-2007?offset=63s",
    "raid10-10k",
    "raid5-7k2",
    "nvme",
];

/// CPU time of this thread in nanoseconds; `None` except on Linux.
fn on_processor_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Seconds for one closed loop.
fn seconds(spec: &ArraySpec, mix: &str, outstanding: u32, operations: u64) -> f64 {
    let (positions, kind) = mix.split_once('-').expect("a mix is two words");
    let load = Load {
        kind: match kind {
            "read" => Kind::Read,
            "write" => Kind::Write,
            other => panic!("`{other}` is neither read nor write"),
        },
        positions: match positions {
            "random" => Positions::Random,
            "sequential" => Positions::Sequential,
            other => panic!("`{other}` is neither random nor sequential"),
        },
        block_bytes: 8_192,
        outstanding,
        warm_up: 0,
        operations,
        seed: 1,
    };
    let mut array = spec.build();
    let (started, before) = (Instant::now(), on_processor_ns());
    closed_loop(&mut array, &load);
    match (before, on_processor_ns()) {
        (Some(before), Some(after)) => (after - before) as f64 / 1e9,
        _ => started.elapsed().as_secs_f64(),
    }
}

fn bundled(target: &str) -> ArraySpec {
    ArraySpec::bundled(target).unwrap_or_else(|error| panic!("{error}"))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [name, outstanding, operations, mix @ ..] = arguments.as_slice() {
        let outstanding = outstanding
            .parse()
            .expect("a number of outstanding operations");
        let operations = operations.parse().expect("a number of operations");
        let mix = mix.first().map_or("random-read", String::as_str);
        let seconds = seconds(&bundled(name), mix, outstanding, operations);
        println!("{:.0} operations/s", operations as f64 / seconds);
        return;
    }
    println!("array                      outstanding   operations/s of processor time");
    for name in NAMES {
        for outstanding in [1, 32, 256] {
            // The best of five: the least disturbed run.
            let best = (0..5)
                .map(|_| 300_000.0 / seconds(&bundled(name), "random-read", outstanding, 300_000))
                .fold(0.0, f64::max);
            println!("{name:26} {outstanding:11}   {best:>12.0}");
        }
    }
}
