//! Places, order, lateness and larger loads, by tables.

use super::mapping::EXTENT_BYTES;
use super::*;
use crate::model::Request;
use stripewise_units::Kind;

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
fn overlaps_keep_the_order_of_the_recording_and_nothing_else_waits() {
    let mut order = OverlapOrder::default();
    let write = |at, offset| request(at, Kind::Write, offset, 8_192);
    let read = |at, offset| request(at, Kind::Read, offset, 4_096);
    assert!(order.arrive(1, &write(0, 0), Some(10)));
    // Another place; the same place while the first was in flight; the same afterwards.
    assert!(order.arrive(2, &read(20, 8_192), Some(25)));
    assert!(order.arrive(3, &read(5, 4_096), Some(30)));
    assert!(!order.arrive(4, &read(11, 4_096), Some(40)));
    // A read after a read does not wait; a write waits for both reads and the write.
    assert!(order.arrive(5, &read(31, 8_192), Some(50)));
    assert!(!order.arrive(6, &write(60, 4_096), Some(70)));
    assert_eq!(order.complete(1), [4]);
    assert_eq!(order.complete(3), [0; 0]);
    assert_eq!(order.complete(4), [0; 0]);
    assert_eq!(order.complete(2), [0; 0]);
    assert_eq!(order.complete(5), [6]);
    assert_eq!(order.complete(6), [0; 0]);
    assert_eq!(order.complete(6), [0; 0]);
    assert!((order.held_share() - 2.0 / 6.0).abs() < 1e-12);
    // What the recording does not say is not ordered; syncs never are.
    assert!(order.arrive(7, &write(80, 0), None));
    assert!(order.arrive(8, &read(90, 0), Some(95)));
    assert!(order.arrive(9, &request(91, Kind::Sync, 0, 0), None));
    assert!(order.arrive(10, &request(92, Kind::Write, u64::MAX - 5, 5), None));
}

#[test]
fn a_chain_of_overlaps_is_released_link_by_link() {
    let mut order = OverlapOrder::default();
    let write = |at| request(at, Kind::Write, 0, 4_096);
    assert!(order.arrive(0, &write(0), Some(1)));
    for k in 1..5 {
        assert!(!order.arrive(k, &write(10 * k), Some(10 * k + 1)));
    }
    // Each waits for all before it, so that none may overtake.
    assert_eq!(
        (0..5).map(|k| order.complete(k)).collect::<Vec<_>>(),
        [vec![1], vec![2], vec![3], vec![4], vec![]]
    );
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
    let said = judge(&|at| at, 1_000_000);
    assert_eq!(
        (said.punctuality, said.max_ns, said.late_share),
        (Punctuality::Valid, 0, 0.0)
    );
    assert_eq!(said.dispersion_rise, 0.0);
    let said = judge(&|at| at + 200_000, 1_000_000);
    assert_eq!(said.punctuality, Punctuality::Valid);
    assert_eq!(
        (said.p50_ns, said.p99_ns, said.late_share),
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
    let said = judge(&|at| at.next_multiple_of(5_000_000), 100_000_000);
    assert!(said.dispersion_rise > 1.0, "{said:?}");
    assert_eq!(said.punctuality, Punctuality::Void);
    assert_eq!(lateness(&[], &[], 1), None);
}

#[test]
fn more_users_are_copies_and_a_part_and_faster_is_less_time() {
    let all: Vec<Request> = (0..10_000)
        .map(|k| request(k * 1_000, Kind::Read, k * 512, 512))
        .collect();
    let duration = 10_000_000;
    let more = more_users(&all, duration, 2.25, 7);
    assert!(more.len().abs_diff(22_500) < 200, "{}", more.len());
    assert!(more.is_sorted_by_key(|one| one.at_ns));
    assert!(more.iter().all(|one| one.at_ns < duration));
    // Copies do not march in step.
    let at = |offset: u64| more.iter().filter(move |one| one.offset_bytes == offset);
    let times: Vec<u64> = at(0).map(|one| one.at_ns).collect();
    assert!(times.len() >= 2 && times[0] != times[1]);
    assert_eq!(more_users(&all, duration, 1.0, 7).len(), 10_000);
    assert!(more_users(&all, duration, f64::NAN, 7).is_empty());
    assert!(more_users(&[], 0, 2.0, 7).is_empty());
    let fast: Vec<u64> = faster(all.into_iter(), 2.0).map(|one| one.at_ns).collect();
    assert_eq!((fast.len(), fast[9_999]), (10_000, 4_999_500));
    let same = faster(std::iter::once(request(8, Kind::Read, 0, 1)), 0.0);
    assert_eq!(same.map(|one| one.at_ns).collect::<Vec<_>>(), [8]);
}
