//! One pass of preconditioning on simulated flash whose layer maps every page and collects
//! greedily: what random writes meet after it is what they would meet for ever.

use stripewise_array_sim::{Array, ArraySpec, Kind, Request, Simulate};
use stripewise_workload::{Distribution, Pattern, Span, Streams, Workload, one_pass_writes};

const PAGE_BYTES: u64 = 4096;
const PAGES: u64 = 40_960;

/// Capacity of an array's drive in addition to the volume.
const BESIDE_BYTES: u64 = 64 << 10;

/// A new drive, written in any order.
struct Drive {
    array: Array,
    now_ns: u64,
}

/// What some writes took.
#[derive(Clone, Copy, Debug)]
struct Seen {
    amplification: f64,
    iops: f64,
}

impl Drive {
    fn new(spare_percent: u8) -> Drive {
        let size_bytes = PAGES * PAGE_BYTES;
        let text = format!(
            "nvme?offset=0&ssd.size={}&ssd.page_map=true&ssd.page_size=4K&ssd.pages_per_block=32&ssd.buffer=0\
             &ssd.spare_percent={spare_percent}",
            size_bytes + BESIDE_BYTES
        );
        let spec = ArraySpec::bundled(&text).unwrap();
        let array = spec.build();
        assert_eq!(array.size_bytes(), size_bytes);
        Drive { array, now_ns: 0 }
    }

    /// Writes `count` pages of `pattern`, 64 at a time.
    fn write(&mut self, pattern: Pattern, seed: u64, count: u64) -> Seen {
        let workload = Workload {
            read_percent: 0,
            pattern,
            block_size_bytes: PAGE_BYTES,
            seed,
            ..Workload::default()
        };
        let span = Span {
            start_bytes: 0,
            block_size_bytes: PAGE_BYTES,
            blocks: PAGES,
        };
        let mut stream = Streams::new(&workload, span).stream(0);
        let (before, start_ns) = (self.array.totals(), self.now_ns);
        let (mut issued, mut done) = (0, 0);
        while done < count {
            while issued < count && issued - done < 64 {
                let (kind, offset_bytes) = stream.next();
                assert_eq!(kind, Kind::Write);
                let request = Request {
                    token: issued,
                    kind,
                    durable: false,
                    offset_bytes,
                    length_bytes: PAGE_BYTES as u32,
                };
                self.array.submit(self.now_ns, request);
                issued += 1;
            }
            self.now_ns = self.array.next_event_ns().expect("writes are under way");
            self.array.advance(self.now_ns, &mut |finished| {
                assert_eq!(finished.result, PAGE_BYTES as i32);
                done += 1;
            });
        }
        let after = self.array.totals();
        let written = (after.pages_written - before.pages_written) as f64;
        let moved = (after.pages_moved - before.pages_moved) as f64;
        Seen {
            amplification: (written + moved) / written,
            iops: count as f64 * 1e9 / (self.now_ns - start_ns) as f64,
        }
    }
}

const SEQUENTIAL: Pattern = Pattern::Sequential {
    cursor: stripewise_workload::CursorKind::Own,
};

const RANDOM: Pattern = Pattern::Random {
    distribution: Distribution::Uniform,
};

fn one_pass(spare_percent: u8) -> Pattern {
    Pattern::Random {
        distribution: Distribution::OnePass { spare_percent },
    }
}

/// What sixteen times the drive's size leaves behind: SNIA's two sequential passes, then
/// random writes for longer than any of these layers takes to settle.
const ORDINARY_WRITES: u64 = 16 * PAGES;

fn ordinary(drive: &mut Drive) -> (Seen, Seen) {
    drive.write(SEQUENTIAL, 1, 2 * PAGES);
    let first = drive.write(RANDOM, 2, PAGES / 2);
    drive.write(RANDOM, 3, ORDINARY_WRITES - 2 * PAGES - PAGES / 2);
    (first, drive.write(RANDOM, 4, 4 * PAGES))
}

fn off_percent(seen: f64, settled: f64) -> f64 {
    (seen / settled - 1.0).abs() * 100.0
}

#[test]
fn a_drive_after_one_pass_is_as_after_sixteen_times_its_size() {
    for spare_percent in [7, 15, 28, 50] {
        let (first, settled) = ordinary(&mut Drive::new(spare_percent));
        let mut drive = Drive::new(spare_percent);
        let writes = one_pass_writes(PAGES, spare_percent);
        assert!(
            writes * 10 <= ORDINARY_WRITES,
            "{spare_percent} %: {writes}"
        );
        let pass = drive.write(one_pass(spare_percent), 5, writes);
        assert!(pass.amplification < 1.01, "{spare_percent} %: {pass:?}");
        for round in 0..4 {
            let seen = drive.write(RANDOM, 6 + round, PAGES / 2);
            let amplification = off_percent(seen.amplification, settled.amplification);
            let iops = off_percent(seen.iops, settled.iops);
            assert!(
                amplification < 3.0 && iops < 4.0,
                "{spare_percent} %, round {round}: {seen:?}, settled {settled:?}"
            );
        }
        // Sequential passes alone leave something else.
        let off = off_percent(first.amplification, settled.amplification);
        assert!(
            off > 8.0,
            "{spare_percent} %: {first:?}, settled {settled:?}"
        );
    }
}

/// What one pass saves on a layer as simple as this: settled it is after fewer than sixteen,
/// where two sequential passes come first, and after some six where none does.
#[test]
fn the_ordinary_way_settles_here_within_three_times_the_size_and_without_it_within_six() {
    for (spare_percent, quarters) in [(7, 1), (50, 4)] {
        let (_, settled) = ordinary(&mut Drive::new(spare_percent));
        // No stream comes twice: the same order of blocks again is not what chance does.
        let off = |drive: &mut Drive, seed| {
            let seen = drive.write(RANDOM, seed, PAGES / 2);
            off_percent(seen.amplification, settled.amplification)
        };
        let mut drive = Drive::new(spare_percent);
        drive.write(SEQUENTIAL, 1, 2 * PAGES);
        drive.write(RANDOM, 7, quarters * PAGES / 4);
        let after = off(&mut drive, 8);
        assert!(after < 4.0, "{spare_percent} %: {after}");
        let mut drive = Drive::new(spare_percent);
        for (seed, is_settled) in [(9, false), (10, true)] {
            drive.write(RANDOM, seed, 3 * PAGES - PAGES / 2);
            let after = off(&mut drive, seed + 10);
            assert_eq!(after < 4.0, is_settled, "{spare_percent} %: {after}");
        }
    }
}
