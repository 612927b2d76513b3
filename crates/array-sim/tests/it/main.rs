//! Tests of the simulated arrays through their public interface.

// Published tables are looked at by few; what drives an array, by all.
#[allow(dead_code, unused_imports)]
#[path = "../accuracy/mod.rs"]
mod accuracy;
mod allocation;
mod analytic;
mod anything;
mod behaviour;
mod determinism;
mod laws;
mod mirrors;
mod parser;
mod pinned;
mod streams;

use accuracy::{Load, Measured, Positions, closed_loop};
use stripewise_array_sim::{Array, ArraySpec, Finished, Kind, Request, Simulate};

/// An array from lines of an array file.
pub fn spec(text: &str) -> ArraySpec {
    ArraySpec::parse(text, "test.toml").unwrap_or_else(|error| panic!("{error}: {}", error.hint()))
}

/// A bundled array with overrides.
pub fn target(target: &str) -> ArraySpec {
    ArraySpec::bundled(target).unwrap_or_else(|error| panic!("{error}: {}", error.hint()))
}

/// Random operations of one kind in a closed loop.
pub fn run(
    spec: &ArraySpec,
    kind: Kind,
    block_bytes: u64,
    outstanding: u32,
    operations: u64,
) -> Measured {
    let load = Load {
        kind,
        positions: Positions::Random,
        block_bytes,
        outstanding,
        warm_up: operations,
        operations,
        seed: 3,
    };
    closed_loop(&mut spec.build(), &load)
}

/// Submits one operation at `now_ns` and runs the array until it is idle.
pub fn one(array: &mut Array, now_ns: u64, request: Request) -> Vec<Finished> {
    array.submit(now_ns, request);
    drain(array)
}

/// Runs the array until it is idle.
pub fn drain(array: &mut Array) -> Vec<Finished> {
    let mut all = Vec::new();
    while let Some(next_ns) = array.next_event_ns() {
        array.advance(next_ns, &mut |finished| all.push(finished));
    }
    all
}

/// A request of 8K unless changed.
pub fn request(kind: Kind, offset_bytes: u64) -> Request {
    Request {
        token: offset_bytes,
        kind,
        durable: false,
        offset_bytes,
        length_bytes: 8_192,
    }
}
