//! A closed loop: a fixed number of operations always outstanding, each
//! completion followed at once by the next operation, at random block-aligned
//! positions. The load of all the published random tables.

use crate::random::{Entity, below, draw};
use crate::{Kind, Request, Simulate};

/// What the loop does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Reads or writes.
    pub kind: Kind,
    /// Bytes of one operation.
    pub block_bytes: u64,
    /// Operations outstanding, over all threads.
    pub outstanding: u32,
    /// Operations before measuring starts.
    pub warm_up: u64,
    /// Operations measured.
    pub operations: u64,
    /// Seed of the positions.
    pub seed: u64,
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Operations measured.
    pub operations: u64,
    /// Virtual time they took, completion to completion.
    pub elapsed_ns: u64,
    /// Sum of their latencies.
    pub latency_ns_sum: u128,
    /// Operations that ended in an error.
    pub errors: u64,
}

impl Measured {
    /// Operations a second.
    #[must_use]
    pub fn iops(&self) -> f64 {
        self.operations as f64 * 1e9 / self.elapsed_ns as f64
    }

    /// Mean latency in nanoseconds.
    #[must_use]
    pub fn latency_ns_mean(&self) -> f64 {
        self.latency_ns_sum as f64 / self.operations as f64
    }

    /// Outstanding operations by Little's law: rate times latency.
    #[must_use]
    pub fn outstanding(&self) -> f64 {
        self.iops() * self.latency_ns_mean() / 1e9
    }
}

/// Runs the loop on an array that is at rest.
pub fn closed_loop(array: &mut impl Simulate, load: &Load) -> Measured {
    let blocks = (array.size_bytes() / load.block_bytes).max(1);
    let mut issued = 0;
    let mut next_request = |slot: u64| {
        let block = below(draw(load.seed, Entity::Load, 0, issued), blocks);
        issued += 1;
        Request {
            token: slot,
            kind: load.kind,
            durable: false,
            offset_bytes: block * load.block_bytes,
            length_bytes: load.block_bytes as u32,
        }
    };
    let mut started_ns = vec![0; load.outstanding as usize];
    for slot in 0..u64::from(load.outstanding) {
        array.submit(0, next_request(slot));
    }
    let mut batch = Vec::with_capacity(load.outstanding as usize);
    let (mut completed, mut from_ns) = (0, 0);
    let mut measured = Measured {
        operations: 0,
        elapsed_ns: 0,
        latency_ns_sum: 0,
        errors: 0,
    };
    while measured.operations < load.operations {
        let Some(next_ns) = array.next_event_ns() else {
            break;
        };
        array.advance(next_ns, &mut |finished| batch.push(finished));
        for finished in batch.drain(..) {
            let slot = finished.token as usize;
            completed += 1;
            if completed <= load.warm_up {
                from_ns = finished.at_ns;
            } else if measured.operations < load.operations {
                measured.operations += 1;
                measured.elapsed_ns = finished.at_ns - from_ns;
                measured.latency_ns_sum += u128::from(finished.at_ns - started_ns[slot]);
                measured.errors += u64::from(finished.result < 0);
            }
            started_ns[slot] = finished.at_ns;
            array.submit(finished.at_ns, next_request(finished.token));
        }
    }
    measured
}
