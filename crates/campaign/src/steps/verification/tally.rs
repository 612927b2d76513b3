//! Measurements of workers in a phase, and its totals: overall, and per target.

use super::document::{PhaseOutcome, TargetOutcome};
use stripewise_results::{KindOutcome, KindParts};
use stripewise_stats::Histogram;

/// A worker's measurements in a phase.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Latencies of reads.
    pub read: Histogram,
    /// And of writes.
    pub write: Histogram,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// When its last operation ended, on the workers' clock; 0: there was none.
    pub ended_ns: u64,
}

impl Measured {
    /// Adds a completed operation.
    pub fn add(&mut self, writes: bool, bytes: u64, latency_ns: u64, at_ns: u64) {
        let (histogram, sum) = match writes {
            true => (&mut self.write, &mut self.write_bytes),
            false => (&mut self.read, &mut self.read_bytes),
        };
        histogram.record(latency_ns);
        *sum += bytes;
        self.ended_ns = self.ended_ns.max(at_ns);
    }

    /// Adds another worker's measurements.
    pub fn merge(&mut self, other: &Measured) {
        self.read.merge(&other.read);
        self.write.merge(&other.write);
        self.read_bytes += other.read_bytes;
        self.write_bytes += other.write_bytes;
        self.ended_ns = self.ended_ns.max(other.ended_ns);
    }
}

/// The result of a phase, from the measurements on each target. A target that finished
/// before the others is not as slow as they are: its rates are over its own time.
pub fn outcome(
    name: &str,
    cache: &str,
    started_ns: u64,
    duration_ns: u64,
    targets: Vec<Measured>,
) -> PhaseOutcome {
    let mut all = Measured::default();
    for measured in &targets {
        all.merge(measured);
    }
    let by_target = match targets.len() {
        0 | 1 => Vec::new(),
        _ => (0..)
            .zip(targets)
            .map(|(target, own)| {
                let own_ns = own.ended_ns.saturating_sub(started_ns);
                let [read, write] = both(own);
                TargetOutcome::of(target, own_ns.min(duration_ns), read, write)
            })
            .collect(),
    };
    let [read, write] = both(all);
    PhaseOutcome {
        by_target,
        ..PhaseOutcome::of(name, cache, duration_ns, read, write)
    }
}

fn both(measured: Measured) -> [KindOutcome; 2] {
    [
        kind_of(measured.read, measured.read_bytes),
        kind_of(measured.write, measured.write_bytes),
    ]
}

/// Operations of one kind.
pub fn kind_of(histogram: Histogram, bytes: u64) -> KindOutcome {
    KindOutcome::from(KindParts {
        operations: histogram.count(),
        bytes,
        histogram,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;
    const MIB: u64 = 1 << 20;

    /// Writes of 1 MiB, `per_s` per second, from the first second on.
    fn writes(count: u64, per_s: u64) -> Measured {
        let mut measured = Measured::default();
        for number in 1..=count {
            let at_ns = SECOND_NS + number * SECOND_NS / per_s;
            measured.add(true, MIB, SECOND_NS / per_s, at_ns);
        }
        measured
    }

    #[test]
    fn a_slow_target_does_not_hide_behind_a_fast_one() {
        let pair = vec![writes(200, 100), writes(200, 10)];
        let phase = outcome("fill", "direct", SECOND_NS, 20 * SECOND_NS, pair);
        assert_eq!(phase.write.operations, 400);
        assert_eq!(phase.mib_per_s, 20.0);
        let each: Vec<_> = phase
            .by_target
            .iter()
            .map(|own| (own.target, own.duration_ns, own.mib_per_s, own.iops))
            .collect();
        let expected = [
            (0, 2 * SECOND_NS, 100.0, 100.0),
            (1, 20 * SECOND_NS, 10.0, 10.0),
        ];
        assert_eq!(each, expected);
        let sum: u64 = phase.by_target.iter().map(|own| own.write.bytes).sum();
        assert_eq!(sum, phase.write.bytes);
    }

    #[test]
    fn of_one_target_nothing_is_said_twice() {
        let phase = outcome("fill", "direct", 0, SECOND_NS, vec![writes(3, 10)]);
        assert!(phase.by_target.is_empty());
        assert_eq!((phase.write.operations, phase.iops), (3, 3.0));
    }
}
