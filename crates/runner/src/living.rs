//! Simulated arrays that persist from run to run, as disks do: caches stay full, token buckets
//! refill, platters keep turning.

use crate::Error;
use crate::journal::{JournaledArray, growing_workers};
use crate::session::{Job, Listener, Settings, run_simulated};
use std::sync::atomic::AtomicU8;
use stripewise_array_sim::{Array, Finished, Request, Simulate};
use stripewise_results::RunRecord;
use stripewise_workload::derived_seed;

/// Stream of the times at which runs begin; nothing else of a workload uses it.
const STALLS: u64 = 1 << 40;
/// As many intervals, each with its stall at another place.
const INTERVALS: u64 = 64;

/// Arrays and their age.
pub struct LivingArrays {
    arrays: Vec<Array>,
    age_ns: u64,
}

impl LivingArrays {
    /// Starts with new arrays.
    pub fn new(arrays: Vec<Array>) -> LivingArrays {
        LivingArrays { arrays, age_ns: 0 }
    }

    /// Runs jobs on them. The first run on arrays that stall begins at a time drawn from its seed:
    /// on a device, too, each run meets a stall at another time, or none.
    pub fn run(
        &mut self,
        jobs: &[Job<'_>],
        settings: &Settings,
        listener: &mut dyn Listener,
        stop: &AtomicU8,
    ) -> Result<RunRecord, Error> {
        if self.age_ns == 0 {
            let interval_ns = self.arrays.iter().map(Array::stall_interval_ns).max();
            let seed = jobs.first().map_or(0, |job| job.workload.seed);
            self.age_ns = begins_ns(interval_ns.unwrap_or(0), seed);
        }
        let from_ns = self.age_ns;
        let arrays = self.arrays.iter_mut();
        let mut later: Vec<DelayedArray<'_>> = arrays
            .map(|array| DelayedArray::of(array, from_ns))
            .collect();
        let record = match settings.growing.contains(&true) {
            true => {
                let growing = growing_workers(jobs, &settings.growing);
                let arrays = later.iter_mut();
                let mut journaled: Vec<_> = arrays
                    .map(|array| JournaledArray::of(array, &growing))
                    .collect();
                run_simulated(jobs, &mut journaled, settings, listener, stop)
            }
            false => run_simulated(jobs, &mut later, settings, listener, stop),
        };
        let reached = later.iter().map(|array| array.reached_ns).max();
        self.age_ns = from_ns.saturating_add(reached.unwrap_or(0));
        record
    }

    /// Leaves them idle for this long.
    pub fn rest(&mut self, length_ns: u64) {
        self.age_ns = self.age_ns.saturating_add(length_ns);
    }
}

/// When the first run on arrays begins: anywhere in an interval. Short runs that all began with
/// one would meet fewer stalls than there are, and never one that is under way.
fn begins_ns(stall_interval_ns: u64, seed: u64) -> u64 {
    let all_ns = INTERVALS.saturating_mul(stall_interval_ns);
    derived_seed(seed, STALLS).checked_rem(all_ns).unwrap_or(0)
}

/// An array whose clock is at `from_ns` when a run begins.
struct DelayedArray<'a> {
    array: &'a mut Array,
    from_ns: u64,
    /// How far the run has advanced, on its own clock.
    reached_ns: u64,
}

impl DelayedArray<'_> {
    fn of(array: &mut Array, from_ns: u64) -> DelayedArray<'_> {
        DelayedArray {
            array,
            from_ns,
            reached_ns: 0,
        }
    }

    /// The array's time for a run time that has been reached.
    fn reach(&mut self, run_ns: u64) -> u64 {
        self.reached_ns = self.reached_ns.max(run_ns);
        self.of_array(run_ns)
    }

    /// Keeps the end of time (`u64::MAX`) unchanged.
    fn of_array(&self, run_ns: u64) -> u64 {
        run_ns.saturating_add(self.from_ns)
    }
}

impl Simulate for DelayedArray<'_> {
    fn size_bytes(&self) -> u64 {
        self.array.size_bytes()
    }

    fn sector_bytes(&self) -> u32 {
        self.array.sector_bytes()
    }

    fn submit(&mut self, now_ns: u64, request: Request) {
        let at_ns = self.reach(now_ns);
        self.array.submit(at_ns, request);
    }

    fn next_event_ns(&self) -> Option<u64> {
        let next_ns = self.array.next_event_ns()?;
        Some(next_ns.saturating_sub(self.from_ns))
    }

    fn settle(&mut self, until_ns: u64) -> Option<u64> {
        let next_ns = self.array.settle(self.of_array(until_ns))?;
        let next_ns = next_ns.saturating_sub(self.from_ns);
        // Internal events up to then have been handled: the next run begins later.
        self.reached_ns = self.reached_ns.max(next_ns.min(until_ns));
        Some(next_ns)
    }

    fn advance(&mut self, until_ns: u64, finished: &mut impl FnMut(Finished)) {
        let until_ns = self.reach(until_ns);
        let from_ns = self.from_ns;
        self.array.advance(until_ns, &mut |done| {
            finished(Finished {
                at_ns: done.at_ns.saturating_sub(from_ns),
                ..done
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use stripewise_array_sim::{ArraySpec, Kind};

    /// Otherwise a stall would be in all runs of a load, or in none.
    #[test]
    fn runs_begin_anywhere_in_the_intervals_of_stalls() {
        let interval_ns = |target: &str| {
            let spec = ArraySpec::from_target(target, |_| unreachable!("it is bundled"));
            spec.expect("an array").build().stall_interval_ns()
        };
        assert_eq!(interval_ns("sata-ssd"), 0);
        let stalls_ns = interval_ns("sata-ssd?faults.stall=300ms&faults.stall_interval=20s");
        assert_eq!(stalls_ns, 20_000_000_000);
        let begins: BTreeSet<u64> = (0..50).map(|seed| begins_ns(stalls_ns, seed)).collect();
        assert!(begins.len() > 25, "{begins:?}");
        for quarter in 0..4 {
            let mut phases = begins.iter().map(|begin| begin % stalls_ns);
            let found = phases.any(|phase_ns| 4 * phase_ns / stalls_ns == quarter);
            assert!(found, "{quarter}: {begins:?}");
        }
        assert_eq!(begins_ns(0, 7), 0);
    }

    #[test]
    fn a_later_run_has_a_clock_of_its_own() {
        const FROM_NS: u64 = 3_600_000_000_000;
        let mut array = ArraySpec::default().build();
        let mut later = DelayedArray::of(&mut array, FROM_NS);
        later.submit(
            1_000,
            Request {
                token: 7,
                kind: Kind::Read,
                durable: false,
                offset_bytes: 1 << 30,
                length_bytes: 8_192,
            },
        );
        let next_ns = later.settle(1_000_000_000).expect("a completion");
        assert!(next_ns > 1_000 && next_ns < 1_000_000_000, "{next_ns}");
        let mut finished = Vec::new();
        later.advance(next_ns, &mut |done| finished.push((done.token, done.at_ns)));
        assert_eq!(finished, [(7, next_ns)]);
        assert_eq!(later.reached_ns, next_ns);
    }
}
