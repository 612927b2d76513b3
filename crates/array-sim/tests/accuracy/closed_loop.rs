//! A closed loop: a fixed number of operations always outstanding, each
//! completion followed at once by the next operation. The load of all the
//! published tables.

use stripewise_array_sim::random::{Entity, below, draw};
use stripewise_array_sim::{Kind, Request, Simulate};

/// Where operations go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positions {
    /// Block-aligned, uniform over the volume.
    Random,
    /// One after the other from the start, all threads sharing the position.
    Sequential,
}

/// What the loop does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Reads or writes.
    pub kind: Kind,
    /// Where.
    pub positions: Positions,
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
    pub fn iops(&self) -> f64 {
        self.operations as f64 * 1e9 / self.elapsed_ns as f64
    }

    /// Mean latency in nanoseconds.
    pub fn latency_ns_mean(&self) -> f64 {
        self.latency_ns_sum as f64 / self.operations as f64
    }

    /// Outstanding operations by Little's law: rate times latency.
    pub fn outstanding(&self) -> f64 {
        self.iops() * self.latency_ns_mean() / 1e9
    }
}

impl Load {
    /// The n-th operation of the loop on a volume of `size_bytes`.
    fn request(&self, number: u64, token: u64, size_bytes: u64) -> Request {
        let blocks = (size_bytes / self.block_bytes).max(1);
        let block = match self.positions {
            Positions::Random => below(draw(self.seed, Entity::Load, 0, number), blocks),
            Positions::Sequential => number % blocks,
        };
        Request {
            token,
            kind: self.kind,
            durable: false,
            offset_bytes: block * self.block_bytes,
            length_bytes: self.block_bytes as u32,
        }
    }
}

/// Runs the loop on an array that is at rest.
pub fn closed_loop(array: &mut impl Simulate, load: &Load) -> Measured {
    let size_bytes = array.size_bytes();
    // Each slot always has one operation in flight; its number is the token.
    let mut issued = u64::from(load.outstanding);
    for slot in 0..issued {
        array.submit(0, load.request(slot, slot, size_bytes));
    }
    let mut started_ns = vec![0; load.outstanding as usize];
    let mut batch = Vec::with_capacity(load.outstanding as usize);
    let (mut completed, mut from_ns) = (0, 0);
    let mut measured = Measured {
        operations: 0,
        elapsed_ns: 0,
        latency_ns_sum: 0,
        errors: 0,
    };
    while measured.operations < load.operations {
        let Some(next_ns) = array.settle(u64::MAX) else {
            break;
        };
        array.advance(next_ns, &mut |finished| batch.push(finished));
        for finished in batch.drain(..) {
            let slot = finished.token as usize;
            completed += 1;
            // The clock starts with the last completion of the warm-up: rate and
            // latency then refer to the same operations.
            if completed <= load.warm_up {
                from_ns = finished.at_ns;
            } else if measured.operations < load.operations {
                measured.operations += 1;
                measured.elapsed_ns = finished.at_ns - from_ns;
                measured.latency_ns_sum += u128::from(finished.at_ns - started_ns[slot]);
                measured.errors += u64::from(finished.result < 0);
            }
            started_ns[slot] = finished.at_ns;
            let request = load.request(issued, finished.token, size_bytes);
            issued += 1;
            array.submit(finished.at_ns, request);
        }
    }
    measured
}
