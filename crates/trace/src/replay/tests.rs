//! Places, order, lateness and larger loads, by tables.

use super::mapping::EXTENT_BYTES;
use super::*;
use crate::model::Request;
use crate::operation::Operation;
use crate::tasks::TaskId;
use stripewise_stats::Random;
use stripewise_units::{DeviceNumber, Kind};

const MIB: u64 = 1 << 20;

fn request(at_ns: u64, kind: Kind, offset_bytes: u64, size_bytes: u64) -> Request {
    Request {
        at_ns,
        kind,
        offset_bytes,
        size_bytes,
    }
}

fn uses(requests: &[Request]) -> ExtentUse {
    let mut extents = ExtentUse::default();
    requests.iter().for_each(|one| extents.add(one).unwrap());
    extents
}

fn read(offset_bytes: u64, size_bytes: u64) -> Request {
    request(0, Kind::Read, offset_bytes, size_bytes)
}

#[test]
fn what_fits_stays_and_what_is_far_apart_moves_together() {
    let extents = uses(&[
        read(500 * MIB + 4_096, 512),
        read(100 * MIB, 512),
        read(500 * MIB, 512),
    ]);
    assert_eq!(extents.end_bytes(), 500 * MIB + 4_608);
    let same = Mapping::new(&extents, 501 * MIB).unwrap();
    assert!(same.is_identity);
    assert_eq!(same.offset(123_456_789), 123_456_789);
    let packed = Mapping::new(&extents, 2 * MIB).unwrap();
    // In the order of first touch; places inside an extent stay.
    assert_eq!(packed.offset(500 * MIB + 4_096), 4_096);
    assert_eq!(packed.offset(100 * MIB + 7), MIB + 7);
    assert_eq!(packed.collision_share, 0.0);
}

#[test]
fn runs_stay_together_whether_they_cross_extents_inside_or_between_requests() {
    let crossing = [read(20 * MIB - 4_096, 8_192), read(10 * MIB, 512)];
    let packed = Mapping::new(&uses(&crossing), 3 * MIB).unwrap();
    assert_eq!(packed.offset(19 * MIB), 0);
    assert_eq!(packed.offset(20 * MIB), MIB);
    // The second touches what follows the first before anything else is at that border.
    let between = [
        read(20 * MIB - 4_096, 4_096),
        read(10 * MIB, 512),
        read(20 * MIB, 4_096),
    ];
    let packed = Mapping::new(&uses(&between), 3 * MIB).unwrap();
    assert_eq!(packed.offset(20 * MIB), packed.offset(19 * MIB) + MIB);
    // Neighbours that no run joins go where their first touch says.
    let apart = [
        read(20 * MIB, 512),
        read(10 * MIB, 512),
        read(21 * MIB, 512),
    ];
    let packed = Mapping::new(&uses(&apart), 3 * MIB).unwrap();
    assert_eq!(
        [20, 10, 21].map(|at| packed.offset(at * MIB)),
        [0, MIB, 2 * MIB]
    );
}

#[test]
fn cold_places_are_folded_and_hot_ones_are_not() {
    // 1,000 hot extents with 100 references each, and 300 cold ones with one.
    let mut all = Vec::new();
    for k in 0..1_000 {
        all.extend((0..100).map(|_| read(2 * k * MIB, 512)));
    }
    all.extend((0..300).map(|k| read((10_000 + 2 * k) * MIB, 512)));
    let extents = uses(&all);
    assert_eq!(extents.touched_bytes(), 1_300 * MIB);
    let folded = Mapping::new(&extents, 1_100 * MIB).unwrap();
    let mut hot: Vec<u64> = (0..1_000).map(|k| folded.offset(2 * k * MIB)).collect();
    hot.sort_unstable();
    hot.dedup();
    assert_eq!(hot.len(), 1_000);
    let is_inside = |one: &Request| folded.offset(one.offset_bytes) < 1_100 * MIB;
    assert!(all.iter().all(is_inside));
    // Of 100,300 references all 300 cold ones share a place.
    assert!((folded.collision_share - 300.0 / 100_300.0).abs() < 1e-12);
    // Without room for the hot ones.
    let error = Mapping::new(&extents, 900 * MIB).unwrap_err();
    assert_eq!(
        error,
        MappingError::TooSmall {
            needed_bytes: 1_300 * MIB
        }
    );
}

#[test]
fn too_many_collisions_are_refused() {
    let all: Vec<Request> = (0..3_000).map(|k| read(2 * k * MIB, 512)).collect();
    let error = Mapping::new(&uses(&all), 2_000 * MIB).unwrap_err();
    let MappingError::Collisions {
        percent,
        needed_bytes,
    } = error
    else {
        panic!("{error:?}");
    };
    assert!(
        (percent - 100.0 * 2_000.0 / 3_000.0).abs() < 0.1,
        "{percent}"
    );
    assert_eq!(needed_bytes, 3_000 * MIB);
}

#[test]
fn anonymous_places_keep_groups_and_nothing_else() {
    let mut all = vec![read(20 * MIB - 4_096, 8_192)];
    all.extend((0..50).map(|k| read((100 + 3 * k) * MIB, 512)));
    let extents = uses(&all);
    let anonymous = Mapping::anonymous(&extents, 1);
    let mut places: Vec<u64> = (0..50)
        .map(|k| anonymous.offset((100 + 3 * k) * MIB))
        .collect();
    let in_order = places.is_sorted();
    places.extend([anonymous.offset(19 * MIB), anonymous.offset(20 * MIB)]);
    places.sort_unstable();
    let expected: Vec<u64> = (0..52).map(|k| k * EXTENT_BYTES).collect();
    assert!(places == expected && !in_order);
    assert_eq!(anonymous.offset(20 * MIB), anonymous.offset(19 * MIB) + MIB);
}

#[test]
fn impossible_extents_are_refused() {
    let mut extents = ExtentUse::default();
    let endless = read(0, u64::MAX);
    assert_eq!(extents.add(&endless), Err(MappingError::TooManyExtents));
    let sync = request(0, Kind::Sync, 0, 0);
    assert_eq!((extents.add(&sync), extents.touched_bytes()), (Ok(()), 0));
}

#[test]
fn lateness_that_is_common_counts_more_than_what_is_not() {
    let due: Vec<u64> = (0..20_000u64)
        .map(|k| k * 1_000_000 + k * 7_919 % 900_000)
        .collect();
    let judge = |late: &dyn Fn(u64) -> u64, p50| {
        let left: Vec<u64> = due.iter().map(|&at| late(at)).collect();
        lateness(&due, &left, p50).unwrap()
    };
    let message = judge(&|at| at, 1_000_000);
    assert_eq!(
        (message.punctuality, message.max_ns, message.late_share),
        (Punctuality::Valid, 0, 0.0)
    );
    assert_eq!(message.dispersion_rise, 0.0);
    let message = judge(&|at| at + 200_000, 1_000_000);
    assert_eq!(message.punctuality, Punctuality::Valid);
    assert_eq!(
        (message.p50_ns, message.p99_ns, message.late_share),
        (200_000, 200_000, 1.0)
    );
    assert_eq!(
        judge(&|at| at + 400_000, 1_000_000).punctuality,
        Punctuality::Late
    );
    assert_eq!(
        judge(&|at| at + 600_000, 1_000_000).punctuality,
        Punctuality::Void
    );
    // Ticks of 5 ms: harmless for a latency of 100 ms, were they not common.
    let message = judge(&|at| at.next_multiple_of(5_000_000), 100_000_000);
    assert!(message.dispersion_rise > 1.0, "{message:?}");
    assert_eq!(message.punctuality, Punctuality::Void);
    assert_eq!(lateness(&[], &[], 1), None);
}

fn operation(at_ns: u64, task: usize, offset_bytes: u64) -> Operation {
    Operation {
        task: TaskId::from_index(task),
        completed_ns: Some(at_ns + 100),
        ..Operation::at(at_ns, Kind::Read, offset_bytes, 512)
    }
}

fn recording(operations: impl Iterator<Item = Operation>) -> Recording {
    Recording::of_operations(operations.collect(), (None, 0.0)).unwrap()
}

#[test]
fn more_users_are_copies_and_a_part_and_faster_is_less_time() {
    let all = recording((0..10_000).map(|k| operation(k * 1_000, 1, k * 512)));
    assert_eq!(all.duration_ns(), 10_000_000);
    let scale = Scale {
        copies: 2.25,
        speed: 1.0,
        from_ns: 0,
        length_ns: 10_000_000,
        seed: 7,
    };
    let more = scale.open(&all);
    assert!(more.len().abs_diff(22_500) < 200, "{}", more.len());
    assert_eq!(scale.operations(&all).round(), 22_500.0);
    assert!(more.is_sorted_by_key(|one| one.request.at_ns));
    // Copies do not march in step.
    let of_first = more.iter().filter(|one| one.request.offset_bytes == 0);
    let times: Vec<u64> = of_first.map(|one| one.request.at_ns).collect();
    assert!(times.len() >= 2 && times[0] != times[1]);
    let none = Scale {
        copies: f64::NAN,
        ..scale
    };
    assert!(none.open(&all).is_empty());
    let fast = Scale {
        copies: 1.0,
        speed: 2.0,
        length_ns: 8_000_000,
        ..scale
    };
    let fast = fast.open(&all);
    // The recording is over after 5 ms, and begins again.
    let at = |k: usize| (fast[k].request.at_ns, fast[k].request.offset_bytes / 512);
    assert_eq!(
        [at(9_999), at(10_001)],
        [(4_999_500, 9_999), (5_000_500, 1)]
    );
    assert_eq!(fast.len(), 16_000);
    assert_eq!(fast[3].lasted_ns, Some(50));
}

#[test]
fn a_closed_load_waits_for_its_own_task_alone() {
    // Two tasks, each of which thinks for 400 after 100 of work, half a period apart.
    let all = (0..1_000u64).map(|k| operation(k * 250, (k % 2) as usize, k * 512));
    let all = recording(all);
    let scale = Scale {
        copies: 1.0,
        speed: 1.0,
        from_ns: 500,
        length_ns: 400,
        seed: 1,
    };
    let closed = scale.closed(&all);
    let waits: Vec<_> = closed
        .iter()
        .map(|one| (one.after, one.request.at_ns))
        .collect();
    // Five times the length of the run.
    assert_eq!(waits.len(), 8);
    assert_eq!(
        waits[..4],
        [(None, 0), (None, 250), (Some(0), 400), (Some(1), 400)]
    );
    let half = Scale {
        copies: 1.5,
        ..scale
    };
    assert_eq!(half.closed(&all).len(), 12, "one task of two more");
}

#[test]
fn idle_time_is_cut_only_where_nothing_is_in_flight() {
    const S: u64 = 1_000_000_000;
    let at = |at_s: u64, lasted_s: u64| Operation {
        completed_ns: Some((at_s + lasted_s) * S),
        ..operation(at_s * S, 1, 0)
    };
    let mut all = recording([at(0, 1), at(30, 40), at(65, 1), at(100, 1)].into_iter());
    all.cut_idle(S);
    let times: Vec<u64> = all
        .requests
        .iter()
        .map(|one| one.request.at_ns / S)
        .collect();
    assert_eq!(times, [0, 11, 46, 61]);
    assert_eq!(all.idle_cut_ns, 39 * S);
}

#[test]
fn what_no_disk_and_no_clock_has_is_refused() {
    const YEAR_NS: u64 = 366 * 86_400 * 1_000_000_000;
    const LAST: u64 = i64::MAX.unsigned_abs();
    let error = |at_ns: u64, offset_bytes: u64, size_bytes: u64| {
        let last = Operation {
            size_bytes,
            ..operation(at_ns, 1, offset_bytes)
        };
        Recording::of_operations(vec![operation(0, 1, 0), last], (None, 0.0)).unwrap_err()
    };
    assert_eq!(error(0, 0, 512), RecordingError::OneTime);
    assert_eq!(error(YEAR_NS + 1, 0, 512), RecordingError::TooLong);
    for (offset_bytes, size_bytes) in [(0, 1 << 32), (u64::MAX - 512, 512), (LAST, 1)] {
        let expected = RecordingError::NoPlace {
            offset_bytes,
            size_bytes,
        };
        assert_eq!(error(1, offset_bytes, size_bytes), expected);
    }
}

#[test]
fn a_recording_of_several_devices_is_that_of_the_busiest() {
    let other = DeviceNumber { major: 8, minor: 1 };
    let mut all: Vec<Operation> = (0..10).map(|k| operation(k, 1, 0)).collect();
    all.extend((0..3).map(|k| Operation {
        device: other,
        ..operation(k, 1, 0)
    }));
    let all = recording(all.into_iter());
    assert_eq!((all.requests.len(), all.left_out), (10, 3));
    let whole = Recording::of_operations(vec![operation(0, 1, 0)], (Some(1_000_000_000), 0.0));
    assert_eq!(whole.unwrap_err(), RecordingError::WholeSeconds);
    let none = Recording::of_operations(Vec::new(), (None, 0.0));
    assert_eq!(none.unwrap_err(), RecordingError::Empty);
}

#[test]
fn runs_are_as_long_as_bursts_need_and_the_busiest_part_can_be_kept() {
    const S: u64 = 1_000_000_000;
    let mut random = Random::new(3);
    let mut steady = Vec::new();
    let mut bursty = Vec::new();
    for second in 0..400u64 {
        let rate = if second / 20 % 2 == 0 { 5 } else { 60 };
        for (all, count) in [(&mut steady, 30), (&mut bursty, rate)] {
            for _ in 0..count {
                let at_ns = second * S + (random.uniform() * S as f64) as u64;
                all.push(operation(at_ns, 1, 0));
            }
        }
    }
    let steady = recording(steady.into_iter());
    assert_eq!(run_length(&steady).run_ns, 10 * S);
    assert!(!run_length(&steady).varies_slowly);
    let mut bursty = recording(bursty.into_iter());
    let length = run_length(&bursty);
    assert_eq!((length.run_ns, length.varies_slowly), (40 * S, true));
    let from_ns = bursty.keep_busiest(20 * S).unwrap();
    // Busy spans begin at 20 s, 60 s, ...
    assert!((from_ns / S + 1 - 20) % 40 <= 2, "{from_ns}");
    assert!(bursty.requests.len() > 1_150);
    assert_eq!(bursty.requests[0].request.at_ns, 0);
}
