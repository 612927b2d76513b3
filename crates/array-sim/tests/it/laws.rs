//! What physics demands of every array, whatever its level, drives and units: arrays
//! that no table describes must obey it, too.

use crate::accuracy::{Load, Positions, closed_loop};
use crate::target;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use stripewise_array_sim::Kind;

fn fixed() -> Config {
    Config {
        cases: 24,
        rng_seed: RngSeed::Fixed(2007),
        failure_persistence: None,
        ..Config::default()
    }
}

/// An array without its offset, by parts that a reader of a failure can type.
#[derive(Clone, Debug)]
struct Shape {
    drive: &'static str,
    level: &'static str,
    disks: u64,
    unit_bytes: u64,
}

impl Shape {
    /// The target's text, with further settings.
    fn target(&self, settings: &str) -> String {
        let Shape {
            drive,
            level,
            disks,
            unit_bytes,
        } = self;
        format!(
            "{drive}?level={level}&disks={disks}&stripe_unit={unit_bytes}&cache.size=0&{settings}"
        )
    }

    /// Starts where a stripe does.
    fn aligned(&self) -> String {
        self.target(&format!("offset={}", self.stripe_bytes()))
    }

    fn stripe_bytes(&self) -> u64 {
        let data = match self.level {
            "0" => self.disks,
            "10" => self.disks / 2,
            "5" => self.disks - 1,
            "6" => self.disks - 2,
            _ => 1,
        };
        data * self.unit_bytes
    }

    /// Bytes a second that pass the heads of all disks on their outermost tracks.
    fn media_rate(&self) -> f64 {
        let spec = target(&self.aligned());
        let turns = f64::from(spec.disk.rpm as u32) / 60.0;
        turns * spec.disk.sectors_per_track_outer as f64 * 512.0 * self.disks as f64
    }
}

/// Arrays of rotating disks.
fn shapes(levels: &'static [&'static str]) -> impl Strategy<Value = Shape> {
    let drives = prop::sample::select(&["disk-7k2", "raid10-10k", "disk-15k"][..]);
    let levels = prop::sample::select(levels);
    (drives, levels, 0..6u64, 14..=18u32).prop_map(|(drive, level, more, unit)| Shape {
        drive,
        level,
        disks: match level {
            "single" => 1,
            "1" => 2 + more % 2,
            "10" => 4 + 2 * (more % 3),
            "6" => 4 + more,
            "5" => 4 + more % 4,
            _ => 2 + more,
        },
        unit_bytes: 1 << unit,
    })
}

const ALL: &[&str] = &["single", "0", "1", "10", "5", "6"];

/// Operations a second in a closed loop.
fn iops(array: &str, kind: Kind, positions: Positions, block_bytes: u64, outstanding: u32) -> f64 {
    let load = Load {
        kind,
        positions,
        block_bytes,
        outstanding,
        warm_up: 1_000,
        operations: 4_000,
        seed: 1,
    };
    closed_loop(&mut target(array).build(), &load).iops()
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn streams_are_bound_by_the_medium_and_more_in_flight_never_slows_reads(
        shape in shapes(ALL), block in prop::sample::select(&[8_192u64, 65_536][..]),
    ) {
        let mut before = 0.0;
        for outstanding in [1, 4, 16, 64] {
            let rate = iops(&shape.aligned(), Kind::Read, Positions::Sequential, block, outstanding);
            prop_assert!(rate * block as f64 <= shape.media_rate() * 1.01, "{outstanding}: {rate}");
            prop_assert!(rate >= before * 0.97, "{outstanding}: {rate} after {before}");
            before = rate;
        }
        let writes = iops(&shape.aligned(), Kind::Write, Positions::Sequential, block, 16);
        prop_assert!(writes * block as f64 <= shape.media_rate() * 1.01, "writes: {writes}");
    }

    #[test]
    fn reading_ahead_helps_one_reader_and_leaves_random_reads_as_they_are(shape in shapes(ALL)) {
        let stream = |settings: &str| {
            let array = shape.target(&format!("offset={}&{settings}", shape.stripe_bytes()));
            iops(&array, Kind::Read, Positions::Sequential, 8_192, 1)
        };
        let (none, drives) = (stream("read_ahead=0"), stream("read_ahead=1M"));
        let both = stream("read_ahead=1M&prefetch=1M");
        prop_assert!(drives >= none && both > drives, "{none} {drives} {both}");
        let random = |settings: &str| {
            let array = shape.target(settings);
            iops(&array, Kind::Read, Positions::Random, 8_192, 8)
        };
        let (without, with) = (random("read_ahead=0"), random("read_ahead=1M&prefetch=1M"));
        prop_assert!((with / without - 1.0).abs() < 0.03, "{without} {with}");
    }

    /// A 3 per cent more for chance: both sides share their random numbers, but not
    /// the order in which drives serve them.
    #[test]
    fn random_operations_gain_nothing_from_crossing_units(
        shape in shapes(&["0", "10", "5", "6"]),
        offset in prop::sample::select(&["63s", "64.5K", "36K", "100K"][..]),
        outstanding in prop::sample::select(&[4u32, 16, 64][..]),
    ) {
        let crossing = shape.target(&format!("offset={offset}"));
        for kind in [Kind::Read, Kind::Write] {
            let [odd, even] = [&crossing, &shape.aligned()]
                .map(|array| iops(array, kind, Positions::Random, 8_192, outstanding));
            prop_assert!(odd <= even * 1.03, "{kind:?}: {odd} at {offset}, {even} aligned");
        }
    }

    #[test]
    fn whole_stripes_are_written_faster_than_parts(shape in shapes(&["5", "6"])) {
        let stripe = shape.stripe_bytes();
        let rate = |array: &str, block: u64, outstanding| {
            block as f64 * iops(array, Kind::Write, Positions::Sequential, block, outstanding)
        };
        let shifted = shape.target(&format!("offset={}", stripe + shape.unit_bytes));
        for outstanding in [1, 8] {
            let whole = rate(&shape.aligned(), stripe, outstanding);
            let unit = rate(&shape.aligned(), shape.unit_bytes, outstanding);
            let astride = rate(&shifted, stripe, outstanding);
            prop_assert!(whole > unit, "{outstanding}: {whole} against {unit} of one unit");
            prop_assert!(whole > astride, "{outstanding}: {whole} against {astride} astride");
        }
    }
}

#[test]
fn reading_ahead_does_not_slow_writes_that_split_pages_of_parity() {
    // Each write reads three neighbouring pages on two disks. A head that takes the
    // third before the second loses a revolution on the way back.
    let rate = |read_ahead: &str| {
        let array = format!("raid5-7k2?offset=63s&read_ahead={read_ahead}");
        iops(&array, Kind::Write, Positions::Random, 8_192, 256)
    };
    let (without, with) = (rate("0"), rate("1M"));
    assert!((with / without - 1.0).abs() < 0.02, "{without} {with}");
}
