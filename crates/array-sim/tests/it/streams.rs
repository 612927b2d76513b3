//! Reads and writes that follow each other: what drives and controllers read ahead.

use crate::accuracy::{Load, Positions, closed_loop};
use crate::{drain, one, request, target};
use stripewise_array_sim::{Kind, Simulate};

/// MB/s of sequential reads in a closed loop.
fn stream(array: &str, block_bytes: u64, outstanding: u32) -> f64 {
    let load = Load {
        kind: Kind::Read,
        positions: Positions::Sequential,
        block_bytes,
        outstanding,
        warm_up: 500,
        operations: 4_000,
        seed: 1,
    };
    let measured = closed_loop(&mut target(array).build(), &load);
    measured.iops() * block_bytes as f64 / 1e6
}

#[test]
fn a_stream_passes_over_parity_without_losing_revolutions() {
    // Four disks pass 4 units of which 3 are data: as much as three disks hold.
    let one = stream("raid5-7k2?level=single&disks=1", 65_536, 16);
    let raid_5 = stream("raid5-7k2", 65_536, 64);
    let disks = raid_5 / one;
    assert!((2.7..3.05).contains(&disks), "{raid_5} for {one} MB/s");
}

#[test]
fn each_of_several_streams_has_a_segment_of_its_own() {
    // Reads of 8K in turn from places far apart: with a segment for each, the drive
    // brings many at a time; with one, every read is a seek.
    let rate = |segments: &str| {
        let mut array = target(&format!("disk-7k2?segments={segments}")).build();
        let mut at_ns = 0;
        for number in 0..2_000u64 {
            let (stream, step) = (number % 4, number / 4);
            let offset = stream * (10 << 30) + step * 8_192;
            // A reader that thinks for a while: the head reads on meanwhile.
            at_ns += 2_000_000;
            let finished = one(&mut array, at_ns, request(Kind::Read, offset));
            at_ns = finished[0].at_ns;
        }
        2_000.0 / ((at_ns - 2_000 * 2_000_000) as f64 / 1e9)
    };
    let (each, shared) = (rate("8"), rate("1"));
    assert!(
        each > 3.0 * shared,
        "{each} against {shared} reads a second"
    );
}

#[test]
fn a_prefetching_controller_answers_a_stream_from_memory_and_random_reads_as_before() {
    let latency_ns = |prefetch: &str, positions| {
        let load = Load {
            kind: Kind::Read,
            positions,
            block_bytes: 8_192,
            outstanding: 1,
            warm_up: 100,
            operations: 2_000,
            seed: 1,
        };
        let array = format!("raid10-10k?prefetch={prefetch}");
        closed_loop(&mut target(&array).build(), &load).latency_ns_mean()
    };
    let (without, with) = (
        latency_ns("0", Positions::Sequential),
        latency_ns("1M", Positions::Sequential),
    );
    assert!(with < without * 0.6, "{with} ns against {without} ns");
    let random = |prefetch| latency_ns(prefetch, Positions::Random);
    assert_eq!(random("0"), random("1M"));
}

#[test]
fn what_is_written_into_a_stream_is_read_from_the_drives_and_everything_completes() {
    let mut array = target("raid10-10k?prefetch=1M&cache=16M").build();
    let mut submitted = 0;
    for number in 0..2_000u64 {
        let kind = if number % 7 == 3 {
            Kind::Write
        } else {
            Kind::Read
        };
        // Writes go where the stream is going to read.
        let ahead = if kind == Kind::Write { 64 } else { 0 };
        array.submit(number * 40_000, request(kind, (number + ahead) * 8_192));
        submitted += 1;
    }
    let finished = drain(&mut array);
    assert_eq!(finished.len(), submitted);
    assert!(finished.iter().all(|done| done.result == 8_192));
}
