//! Which copies of a mirror serve reads.

use crate::accuracy::{Load, Positions, closed_loop};
use crate::{request, target};
use stripewise_array_sim::random::{Entity, below, draw};
use stripewise_array_sim::{Array, Kind, Simulate};

/// Random or sequential 8K reads in a closed loop, on an array that may have worked
/// before: operations a second.
fn reads(array: &mut Array, positions: Positions, outstanding: u32, operations: u64) -> f64 {
    let load = Load {
        kind: Kind::Read,
        positions,
        block_bytes: 8_192,
        outstanding,
        warm_up: operations / 10,
        operations,
        seed: 3,
    };
    closed_loop(array, &load).iops()
}

/// How long the least busy drive worked, of the time of the busiest.
fn evenness(busy_ns: &[u64]) -> f64 {
    let least = busy_ns.iter().min().copied().unwrap_or(0);
    let most = busy_ns.iter().max().copied().unwrap_or(0);
    least as f64 / most as f64
}

fn busy_ns(array: &Array) -> Vec<u64> {
    array.drives_busy_ns().collect()
}

#[test]
fn all_copies_serve_random_reads_wherever_they_go() {
    for (layout, outstanding) in [
        ("", 1),
        ("", 4),
        ("", 32),
        ("", 256),
        ("&mirror_read=nearest-idle", 1),
        ("&mirror_read=nearest-idle", 32),
        ("&level=1&disks=2", 16),
        ("&level=1&disks=3", 1),
        ("&level=1&disks=3", 32),
    ] {
        let mut first_iops = 0.0;
        for offset in ["1M", "70G", "120G"] {
            let name = format!("raid10-10k?offset={offset}&size=20G{layout}");
            let mut array = target(&name).build();
            let iops = reads(&mut array, Positions::Random, outstanding, 12_000);
            let busy = busy_ns(&array);
            assert!(
                evenness(&busy) > 0.85,
                "{name}, {outstanding} outstanding: {busy:?}"
            );
            if first_iops == 0.0 {
                first_iops = iops;
            }
            // Tracks hold less farther in, so that 20G are more of them.
            let ratio = iops / first_iops;
            assert!(
                (0.9..1.1).contains(&ratio),
                "{name}, {outstanding} outstanding: {ratio:.3} of what it is at 1M"
            );
        }
    }
}

/// Random 8K reads inside a region, each of `outstanding` followed by the next, from
/// `now_ns` on; returns when the last one ended.
fn reads_within(
    array: &mut Array,
    now_ns: u64,
    region: std::ops::Range<u64>,
    outstanding: u64,
    operations: u64,
) -> u64 {
    let blocks = (region.end - region.start) / 8_192;
    let read = |number: u64| {
        let block = below(draw(5, Entity::Load, 0, number), blocks);
        request(Kind::Read, region.start + block * 8_192)
    };
    for number in 0..outstanding {
        array.submit(now_ns, read(number));
    }
    let (mut issued, mut last_ns, mut ended) = (outstanding, now_ns, Vec::new());
    while let Some(next_ns) = array.next_event_ns() {
        array.advance(next_ns, &mut |finished| ended.push(finished.at_ns));
        for at_ns in ended.drain(..) {
            last_ns = at_ns;
            if issued < operations {
                array.submit(at_ns, read(issued));
                issued += 1;
            }
        }
    }
    last_ns
}

#[test]
fn all_copies_follow_a_load_that_moves_elsewhere() {
    const GIB: u64 = 1 << 30;
    for (layout, outstanding) in [("", 1), ("", 2), ("", 32), ("&level=1&disks=3", 8)] {
        let mut array = target(&format!("raid10-10k?offset=1M{layout}")).build();
        let near = 0..20 * GIB;
        let then_ns = reads_within(&mut array, 0, near, outstanding, 4_000);
        let before = busy_ns(&array);
        let far = 100 * GIB..101 * GIB;
        reads_within(&mut array, then_ns, far, outstanding, 8_000);
        let since: Vec<_> = busy_ns(&array)
            .iter()
            .zip(&before)
            .map(|(now, before)| now - before)
            .collect();
        let even = evenness(&since);
        assert!(even > 0.8, "{layout}, {outstanding} outstanding: {since:?}");
    }
}

#[test]
fn a_sequential_stream_stays_with_the_copies_that_read_it() {
    let mut array = target("raid10-10k?offset=1M&size=60G").build();
    reads(&mut array, Positions::Sequential, 32, 20_000);
    let busy = busy_ns(&array);
    assert!(busy[1] == 0 && busy[3] == 0, "{busy:?}");
}

#[test]
fn mirrored_flash_reads_from_all_copies() {
    let iops = |name: &str| {
        let mut array = target(name).build();
        let iops = reads(&mut array, Positions::Random, 256, 40_000);
        (iops, evenness(&busy_ns(&array)))
    };
    let (one, _) = iops("nvme?ssd.channels=4");
    for name in [
        "nvme?ssd.channels=4&level=1&disks=2",
        "nvme?ssd.channels=4&level=10&disks=2",
    ] {
        let (two, even) = iops(name);
        assert!(even > 0.9, "{name}: {even}");
        assert!(two > 1.4 * one, "{name}: {two} for {one} of one drive");
    }
}
