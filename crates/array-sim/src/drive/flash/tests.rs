use super::*;
use crate::geometry::Position;

fn model() -> FlashModel {
    FlashModel {
        channels: 4,
        page_bytes: 4_096,
        read_ns: 100.0,
        program_ns: 1_000.0,
        erase_ns: 10_000.0,
        suspend_ns: 50,
        pages_per_block: 8,
        buffer_pages: 0,
        fast_bytes: 0,
        fast_program_ns: 0.0,
        fast_refill_bytes_per_ns: 0.0,
        collection_burst_bytes: 0,
        jitter: 0.0,
        capacity_bytes: 1 << 20,
        spare: 0.25,
        preconditioned: false,
        page_map: false,
        seed: 1,
    }
}

fn access(page: u64, length_bytes: u64, write: bool) -> DriveAccess {
    access_from(page * 8, length_bytes, write)
}

fn access_from(sector: u64, length_bytes: u64, write: bool) -> DriveAccess {
    let position = Position {
        sector,
        ..Position::default()
    };
    DriveAccess::new(0, length_bytes, write, position)
}

#[test]
fn channels_work_at_once_and_one_channel_in_order() {
    let mut drive = FlashDrive::new(model(), 0);
    assert_eq!(
        drive.arrive(0, access(0, 4 * 4_096, false), 1.0),
        100,
        "four channels"
    );
    assert_eq!(
        drive.arrive(0, access(4, 4_096, false), 1.0),
        200,
        "the first again"
    );
    assert_eq!(drive.arrive(0, access(5, 2 * 4_096, false), 1.0), 200);
    assert_eq!(drive.load(|_| true), 3);
}

#[test]
fn a_read_waits_for_a_program_no_longer_than_it_takes_to_suspend_it() {
    let mut drive = FlashDrive::new(model(), 0);
    assert_eq!(drive.arrive(0, access(0, 4_096, true), 1.0), 1_000);
    assert_eq!(drive.arrive(0, access(4, 4_096, false), 1.0), 150);
    // The program ends later by the read.
    assert_eq!(drive.arrive(0, access(8, 4_096, true), 1.0), 2_100);
}

#[test]
fn a_write_of_part_of_a_page_reads_it_first_and_one_across_two_costs_both() {
    let mut drive = FlashDrive::new(model(), 0);
    assert_eq!(drive.arrive(0, access(0, 512, true), 1.0), 1_100);
    let mut drive = FlashDrive::new(model(), 0);
    let misaligned = access_from(1, 4_096, true);
    assert_eq!(drive.arrive(0, misaligned, 1.0), 1_100);
    assert_eq!(drive.busy_ns(), 2 * 1_100);
}

#[test]
fn the_buffer_acknowledges_writes_until_it_is_full() {
    let mut drive = FlashDrive::new(
        FlashModel {
            buffer_pages: 12,
            ..model()
        },
        0,
    );
    let acknowledged: Vec<u64> = (0..6)
        .map(|_| drive.arrive(0, access(0, 4_096, true), 1.0))
        .collect();
    // Three pages of buffer for each of the four channels.
    assert_eq!(acknowledged, [0, 0, 0, 1_000, 2_000, 3_000]);
}

#[test]
fn sustained_writes_slow_down_when_collection_begins() {
    let mut drive = FlashDrive::new(model(), 0);
    let pages = (1u64 << 20) * 5 / 4 / 4_096;
    let mut now_ns = 0;
    let mut round = |drive: &mut FlashDrive| {
        let start_ns = now_ns;
        for page in 0..pages {
            now_ns = now_ns.max(drive.arrive(now_ns, access(page, 4_096, true), 1.0));
        }
        now_ns - start_ns
    };
    let (fresh, steady) = (round(&mut drive), round(&mut drive));
    // (1 + r)/(2r) = 2.5 at r = 0.25: 1.5 pages moved for each written, and an
    // erase of 10,000 for each 8 pages.
    let expected = (1_000.0 + 1.5 * 1_100.0 + 10_000.0 / 8.0) / 1_000.0;
    let ratio = steady as f64 / fresh as f64;
    assert!((ratio / expected - 1.0).abs() < 0.02, "{ratio} {expected}");
}

#[test]
fn the_fast_part_fills_and_becomes_free_while_the_drive_rests() {
    let fast = FlashModel {
        fast_bytes: 8 * 4_096,
        fast_program_ns: 100.0,
        // Two pages in a microsecond.
        fast_refill_bytes_per_ns: 8.192,
        ..model()
    };
    let mut drive = FlashDrive::new(fast, 0);
    let mut now_ns = 0;
    let mut took = |rest_ns: u64, page: u64| {
        now_ns += rest_ns;
        let begun_ns = now_ns;
        now_ns = drive.arrive(now_ns, access(page, 4_096, true), 1.0);
        now_ns - begun_ns
    };
    let times: Vec<u64> = (0..10).map(|page| took(0, page)).collect();
    assert_eq!(
        times,
        [100, 100, 100, 100, 100, 100, 100, 100, 1_000, 1_000]
    );
    let rested = [took(1_000, 0), took(0, 1), took(0, 2)];
    assert_eq!(rested, [100, 100, 1_000]);
}

#[test]
fn collection_that_is_put_off_stops_writes_at_even_distances() {
    let model = FlashModel {
        collection_burst_bytes: 32 * 4_096,
        preconditioned: true,
        ..model()
    };
    let mut drive = FlashDrive::new(model, 0);
    let mut now_ns = 0;
    let mut took = Vec::new();
    for page in 0..200 {
        let done_ns = drive.arrive(now_ns, access(page, 4_096, true), 1.0);
        took.push(done_ns - now_ns);
        now_ns = done_ns;
    }
    let pauses: Vec<usize> = (0..200).filter(|page| took[*page] > 2_000).collect();
    assert_eq!(pauses, [31, 63, 95, 127, 159, 191]);
    // 1.5 pages moved for each of 32, and 4 blocks erased, by four channels.
    let pause_ns = 32.0 * (1.5 * 1_100.0 + 10_000.0 / 8.0) / 4.0;
    assert!(
        (took[31] as f64 - 1_000.0 - pause_ns).abs() < 2.0,
        "{}",
        took[31]
    );
}

#[test]
fn the_part_of_a_page_at_the_end_is_mapped() {
    let model = FlashModel {
        capacity_bytes: 10 * 4_096 + 512,
        page_map: true,
        ..model()
    };
    let mut drive = FlashDrive::new(model, 0);
    drive.arrive(0, access(10, 512, true), 1.0);
    assert_eq!(drive.mapped_pages().written, 1);
}
