//! The journal of a file system, which a simulated array does not have: what a commit to a file
//! that grows costs beyond its data.

use crate::drive::virtual_time::worker_of;
use crate::session::Job;
use stripewise_array_sim::{Finished, Kind, Request, Simulate};

/// One block of the journal.
const BLOCK_BYTES: u32 = 4_096;
/// The journal is the end of the array, and begins again once it is full.
const JOURNAL_BYTES: u64 = 64 << 20;

/// A commit on its way.
struct Commit {
    token: u64,
    step: Step,
    /// The result of the operation that the worker issued.
    result: i32,
}

/// The step of a commit that is under way.
enum Step {
    /// A write that is durable by itself.
    Data,
    Journal,
    Flush,
}

/// An array on which the commits of some workers write a block of a journal and flush it: each of
/// their syncs, and each write that must be durable when it completes.
pub(crate) struct JournaledArray<'a, A> {
    array: &'a mut A,
    /// For each worker, whether its file grows.
    growing: &'a [bool],
    /// Blocks written to the journal.
    written: u64,
    commits: Vec<Commit>,
    /// Buffer for completions.
    done: Vec<Finished>,
}

/// For each worker, whether its file grows. `growing` says so for each job in order; files of jobs
/// past its end do not.
pub(crate) fn growing_workers(jobs: &[Job<'_>], growing: &[bool]) -> Vec<bool> {
    let growing = growing.iter().copied().chain(std::iter::repeat(false));
    let workers = jobs.iter().zip(growing);
    workers
        .flat_map(|(job, grows)| std::iter::repeat_n(grows, job.workload.threads as usize))
        .collect()
}

impl<'a, A: Simulate> JournaledArray<'a, A> {
    pub(crate) fn of(array: &'a mut A, growing: &'a [bool]) -> JournaledArray<'a, A> {
        JournaledArray {
            array,
            growing,
            written: 0,
            commits: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Whether an operation makes data of a growing file durable.
    fn is_commit(&self, request: &Request) -> bool {
        let is_durable = match request.kind {
            Kind::Sync => true,
            Kind::Write => request.durable,
            Kind::Read | Kind::Discard => false,
        };
        let worker = worker_of(request.token) as usize;
        is_durable && self.growing.get(worker) == Some(&true)
    }

    /// Writes the next block of the journal. Blocks follow each other.
    fn write_block(&mut self, now_ns: u64, token: u64) {
        let block_bytes = u64::from(BLOCK_BYTES);
        let all = self.array.size_bytes() / block_bytes;
        let blocks = all.clamp(1, JOURNAL_BYTES / block_bytes);
        let block = all.saturating_sub(blocks) + self.written % blocks;
        self.written += 1;
        let request = Request {
            token,
            kind: Kind::Write,
            durable: false,
            offset_bytes: block * block_bytes,
            length_bytes: BLOCK_BYTES,
        };
        self.array.submit(now_ns, request);
    }

    /// Takes the next step of a commit after a completion, or returns what the worker sees.
    fn next_step(&mut self, done: Finished) -> Option<Finished> {
        let (now_ns, token) = (done.at_ns, done.token);
        let mut commits = self.commits.iter();
        let Some(index) = commits.position(|commit| commit.token == token) else {
            return Some(done);
        };
        if done.result < 0 {
            self.commits.swap_remove(index);
            return Some(done);
        }
        let commit = &mut self.commits[index];
        match commit.step {
            Step::Data => {
                commit.step = Step::Journal;
                commit.result = done.result;
                self.write_block(now_ns, token);
                None
            }
            Step::Journal => {
                commit.step = Step::Flush;
                let flush = Request {
                    token,
                    kind: Kind::Sync,
                    durable: false,
                    offset_bytes: 0,
                    length_bytes: 0,
                };
                self.array.submit(now_ns, flush);
                None
            }
            Step::Flush => {
                let Commit { result, .. } = self.commits.swap_remove(index);
                Some(Finished { result, ..done })
            }
        }
    }
}

impl<A: Simulate> Simulate for JournaledArray<'_, A> {
    fn size_bytes(&self) -> u64 {
        self.array.size_bytes()
    }

    fn sector_bytes(&self) -> u32 {
        self.array.sector_bytes()
    }

    fn submit(&mut self, now_ns: u64, request: Request) {
        if !self.is_commit(&request) {
            return self.array.submit(now_ns, request);
        }
        let token = request.token;
        let is_sync = request.kind == Kind::Sync;
        self.commits.push(Commit {
            token,
            step: if is_sync { Step::Journal } else { Step::Data },
            result: 0,
        });
        match is_sync {
            true => self.write_block(now_ns, token),
            false => self.array.submit(now_ns, request),
        }
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.array.next_event_ns()
    }

    /// Event by event: the next step of a commit begins when the one before has ended.
    fn advance(&mut self, until_ns: u64, finished: &mut impl FnMut(Finished)) {
        while let Some(next_ns) = self.array.next_event_ns()
            && next_ns <= until_ns
        {
            let mut all = std::mem::take(&mut self.done);
            self.array.advance(next_ns, &mut |done| all.push(done));
            for done in all.drain(..) {
                if let Some(done) = self.next_step(done) {
                    finished(done);
                }
            }
            self.done = all;
        }
        self.array.advance(until_ns, finished);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_array_sim::{Array, ArraySpec};

    const COMMITS: u64 = 50;
    /// Without a write cache, and with one that a flush empties.
    const TARGETS: [&str; 3] = ["disk-15k", "disk-7k2", "nvme"];

    fn array(target: &str) -> Array {
        let spec = ArraySpec::bundled(target);
        spec.expect("it is bundled").build()
    }

    fn request(kind: Kind, durable: bool, offset_bytes: u64) -> Request {
        Request {
            token: 3 << 32 | 1,
            kind,
            durable,
            offset_bytes,
            length_bytes: if kind == Kind::Sync { 0 } else { 4_096 },
        }
    }

    /// Issues one operation and waits for it.
    fn wait_for(array: &mut impl Simulate, now_ns: &mut u64, request: Request) -> Finished {
        array.submit(*now_ns, request);
        let mut ended = None;
        while ended.is_none() {
            let next_ns = array.next_event_ns().expect("it is on its way");
            array.advance(next_ns, &mut |done| ended = Some(done));
        }
        let ended = ended.expect("it has ended");
        *now_ns = ended.at_ns;
        ended
    }

    /// Ends of commits of 4 KiB, one after the other, with what each operation returned.
    fn commits(array: &mut impl Simulate, is_durable: bool) -> Vec<Finished> {
        let mut now_ns = 0;
        let mut ends = Vec::new();
        for number in 0..COMMITS {
            let data = request(Kind::Write, is_durable, number * 4_096);
            ends.push(wait_for(array, &mut now_ns, data));
            if !is_durable {
                ends.push(wait_for(array, &mut now_ns, request(Kind::Sync, false, 0)));
            }
        }
        ends
    }

    fn journaled(target: &str, growing: &[bool], is_durable: bool) -> Vec<Finished> {
        commits(
            &mut JournaledArray::of(&mut array(target), growing),
            is_durable,
        )
    }

    #[test]
    fn a_commit_to_a_growing_file_is_its_data_a_block_of_the_journal_and_a_flush() {
        for target in TARGETS {
            for is_durable in [false, true] {
                let grown = journaled(target, &[false, false, false, true], is_durable);
                // The same, written out.
                let mut plain = array(target);
                let journal_bytes = plain.size_bytes() / 4_096 * 4_096 - JOURNAL_BYTES;
                let mut now_ns = 0;
                let mut ends = Vec::new();
                for number in 0..COMMITS {
                    let data = request(Kind::Write, is_durable, number * 4_096);
                    let data = wait_for(&mut plain, &mut now_ns, data);
                    let block = request(Kind::Write, false, journal_bytes + number * 4_096);
                    wait_for(&mut plain, &mut now_ns, block);
                    let flush = wait_for(&mut plain, &mut now_ns, request(Kind::Sync, false, 0));
                    match is_durable {
                        true => ends.push(Finished {
                            result: data.result,
                            ..flush
                        }),
                        false => ends.extend([data, flush]),
                    }
                }
                assert_eq!(grown, ends, "{target} {is_durable}");
                // The same again.
                let again = journaled(target, &[false, false, false, true], is_durable);
                assert_eq!(grown, again, "{target} {is_durable}");
            }
        }
    }

    #[test]
    fn a_journal_makes_commits_slower_and_is_nothing_to_a_file_that_does_not_grow() {
        for target in TARGETS {
            let plain = commits(&mut array(target), false);
            assert_eq!(journaled(target, &[], false), plain, "{target}");
            assert_eq!(journaled(target, &[true, true, true], false), plain);
            let grown = journaled(target, &[true; 4], false);
            let results =
                |all: &[Finished]| -> Vec<i32> { all.iter().map(|one| one.result).collect() };
            assert_eq!(results(&grown), results(&plain), "{target}");
            let [end, plain_end] = [&grown, &plain].map(|all| all[all.len() - 1].at_ns);
            let more_ns = (end - plain_end) / COMMITS;
            // The arm goes to the journal and back.
            let least_ns = if target == "nvme" { 1_000 } else { 2_000_000 };
            assert!(more_ns > least_ns, "{target}: {more_ns} ns");
        }
    }

    #[test]
    fn steps_follow_each_other_however_far_the_array_is_advanced() {
        let growing = [true; 4];
        let mut disk = array("disk-15k");
        let mut disk = JournaledArray::of(&mut disk, &growing);
        disk.submit(0, request(Kind::Sync, false, 0));
        let mut ends = Vec::new();
        disk.advance(1_000_000_000, &mut |done| ends.push(done));
        let mut other = array("disk-15k");
        let mut other = JournaledArray::of(&mut other, &growing);
        let one = wait_for(&mut other, &mut 0, request(Kind::Sync, false, 0));
        assert_eq!(ends, [one]);
        assert_eq!((disk.written, disk.commits.len()), (1, 0));
    }

    #[test]
    fn a_block_of_the_journal_that_fails_fails_the_sync() {
        let mut disk = array("disk-15k?faults.failed_per_million=1000000");
        let mut disk = JournaledArray::of(&mut disk, &[true; 4]);
        let sync = wait_for(&mut disk, &mut 0, request(Kind::Sync, false, 0));
        assert!(sync.result < 0, "{sync:?}");
        assert!(disk.commits.is_empty());
    }
}
