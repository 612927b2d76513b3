//! Simulated operations a second on one core, at several depths: what a
//! simulation costs in real time.
//!
//! ```text
//! cargo run --release -p stripewise-array-sim --example speed
//! ```

use std::time::Instant;
use stripewise_array_sim::accuracy::{Load, Positions, closed_loop};
use stripewise_array_sim::{ArraySpec, Kind};

fn main() {
    println!("array                      outstanding   operations/s of real time");
    for name in [
        "oja-nisula-2007",
        "oja-nisula-2007?offset=63s",
        "raid10-10k",
        "raid5-7k2",
        "nvme",
    ] {
        for outstanding in [1, 32, 256] {
            let spec = ArraySpec::bundled(name).unwrap_or_else(|error| panic!("{error}"));
            let load = Load {
                kind: Kind::Read,
                positions: Positions::Random,
                block_bytes: 8_192,
                outstanding,
                warm_up: 0,
                operations: 400_000,
                seed: 1,
            };
            // The best of five: what the machine can do when nobody disturbs it.
            let best = (0..5)
                .map(|_| {
                    let mut array = spec.build();
                    let started = Instant::now();
                    closed_loop(&mut array, &load);
                    load.operations as f64 / started.elapsed().as_secs_f64()
                })
                .fold(0.0, f64::max);
            println!("{name:26} {outstanding:11}   {best:>12.0}");
        }
    }
}
