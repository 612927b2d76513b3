//! `disks` predicts the cost of an offset, `align` explains the measured cost: for the same
//! layout they must agree.

use stripewise_disk_inspect::verdict::{
    Boundary, Cost, Judgement, Subject, UnitSource, Usage, judge,
};
use stripewise_lab::experiment::{Cause, CauseQuestion, LayoutFacts, Unexplained, judge_cause};

const K: u64 = 1024;

/// The prediction of `disks` for a volume at this offset of an array.
fn foretold(offset_bytes: u64, unit_bytes: u64, block_size_bytes: u64) -> Judgement {
    let boundary = Boundary {
        first_unit_bytes: 0,
        layer: "md0".to_owned(),
        level: Some("raid0".to_owned()),
        unit_bytes,
        source: UnitSource::Array,
        offset_bytes,
        volume_bytes: 0,
        piece_bytes: None,
        full_stripe_bytes: None,
        parity: false,
    };
    let subject = Subject {
        boundaries: vec![boundary],
        usage: Usage::FileSystem,
        ..Subject::default()
    };
    judge(&subject, &[block_size_bytes])
}

/// The explanation of `align` if this offset was slower than a boundary of units, by
/// no more than the law allows.
fn explained(offset_bytes: u64, unit_bytes: u64, block_size_bytes: u64) -> Cause {
    let facts = LayoutFacts {
        start_bytes: Some(0),
        stripe_unit_bytes: Some(unit_bytes),
        parity: Some(false),
        ..LayoutFacts::default()
    };
    let question = CauseQuestion {
        slow_bytes: offset_bytes,
        fast_bytes: 0,
        block_size_bytes,
        writes: false,
        random: true,
        gain_percent_low: 0.5,
        probe: None,
    };
    judge_cause(&facts, &question)
}

fn cost(judgement: &Judgement) -> &Cost {
    judgement.costs.first().expect("the cost of one size")
}

#[test]
fn what_disks_foretells_is_what_align_explains() {
    let mut crossed = 0;
    let mut harmless = 0;
    for unit in [16 * K, 48 * K, 64 * K, 256 * K] {
        for block in [512, 4 * K, 8 * K, 12 * K, 64 * K, 96 * K, 256 * K, 1000] {
            for offset in [
                0,
                512,
                4 * K,
                63 * 512,
                32 * K,
                36 * K,
                64 * K,
                1024 * K,
                777,
            ] {
                let place = format!("{block} on {unit} at {offset}");
                let judgement = foretold(offset, unit, block);
                let cost = cost(&judgement);
                let costs = cost.here.units_touched > cost.aligned.units_touched;
                match explained(offset, unit, block) {
                    Cause::StripeCrossing { share } => {
                        assert!(costs, "{place}: only align sees a cost");
                        assert_eq!(share, Some(cost.here.excess()), "{place}");
                        crossed += 1;
                    }
                    Cause::Unknown {
                        because: Unexplained::NothingExpected,
                    } => {
                        assert!(!costs, "{place}: only disks sees a cost");
                        harmless += 1;
                    }
                    other => panic!("{place}: {other:?}"),
                }
            }
        }
    }
    assert!(crossed > 50 && harmless > 50, "{crossed} and {harmless}");
}

#[test]
fn a_size_that_never_crosses_for_disks_is_no_cause_for_align() {
    for unit in [64 * K, 128 * K] {
        for offset in [63 * 512, 36 * K, 4 * K, 512] {
            let judgement = foretold(offset, unit, 64 * K);
            let above = judgement
                .verdict
                .bytes()
                .expect("a size from which it splits");
            let harmless = explained(offset, unit, above);
            let because = Unexplained::NothingExpected;
            assert_eq!(harmless, Cause::Unknown { because }, "{above} at {offset}");
            let larger = explained(offset, unit, 2 * above);
            assert!(
                matches!(larger, Cause::StripeCrossing { .. }),
                "{} at {offset}: {larger:?}",
                2 * above
            );
        }
    }
}
