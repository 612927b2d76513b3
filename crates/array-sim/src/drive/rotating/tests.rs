use super::*;

/// 10,000 rpm, 1,000 sectors on every track, no skew; w and depth as given.
fn drive(scheduling: Scheduling, rotation_weight: f64, queue_depth: usize) -> RotatingDrive {
    let model = DiskModel {
        geometry: geometry(),
        seek: SeekCurve::through(1_000, 0.3e6, 4.5e6, 9.5e6).unwrap(),
        head_switch_ns: 0.0,
        write_settle_ns: 0.5e6,
        occupancy_ns: 0.2e6,
        scheduling,
        rotation_weight,
        queue_depth,
        wait_limit_ns: u64::MAX,
        read_ahead_sectors: 0,
        segments: 1,
        placement: 1.0,
        placement_unit_bytes: 65_536,
    };
    RotatingDrive::new(Arc::new(model), 6e6, 0.0, 64)
}

/// The model of a drive that shares it with no other.
fn model(drive: &mut RotatingDrive) -> &mut DiskModel {
    Arc::get_mut(&mut drive.model).unwrap()
}

/// Where sectors lie on these drives.
fn geometry() -> Geometry {
    Geometry::new(1_000, 1, 1_000, 1_000, 0.0)
}

/// An access of eight sectors.
fn access(index: u32, sector: u64, write: bool) -> DriveAccess {
    DriveAccess::new(index, 4_096, write, geometry().position(sector))
}

/// Serves what has arrived and returns (index, end) in order of service.
fn serve(drive: &mut RotatingDrive, mut at_ns: u64) -> Vec<(u32, u64)> {
    let mut served = Vec::new();
    loop {
        let (index, next_ns) = drive.ends(at_ns);
        served.push((index, at_ns));
        match next_ns {
            Some(next_ns) => at_ns = next_ns,
            None => return served,
        }
    }
}

/// What an arrival leads to.
#[derive(Debug, PartialEq, Eq)]
enum Arrival {
    /// It waits in the drive's queue.
    Queued,
    /// The drive was idle and has started it: it will be done at this time.
    Started(u64),
}

impl RotatingDrive {
    fn arrive(&mut self, now_ns: u64, mut access: DriveAccess, stretch: f64) -> Arrival {
        access.arrives = Key::from(now_ns) << 64 | Key::from(access.index);
        if self.is_serving() {
            self.arrive_busy(&access);
            return Arrival::Queued;
        }
        Arrival::Started(self.arrive_idle(access, stretch))
    }

    /// What it serves ends, behind all that arrives by then.
    fn ends(&mut self, at_ns: u64) -> (u32, Option<u64>) {
        self.done(Key::from(at_ns) << 64 | Key::from(u64::MAX), |_| 1.0)
    }
}

fn started(arrival: Arrival) -> u64 {
    match arrival {
        Arrival::Started(done_ns) => done_ns,
        other => panic!("expected a start, got {other:?}"),
    }
}

#[test]
fn service_is_seek_settle_occupancy_wait_and_transfer() {
    // On the arm's own track: wait to 0.25 of a turn, 8 of 1,000 sectors.
    let mut same = drive(Scheduling::Blend, 1.0, 4);
    let end = started(same.arrive(0, access(0, 250, false), 1.0));
    assert_eq!(end, 1_500_000 + 48_000);
    // One cylinder on: 0.3 ms + 0.2 ms, then on to 0.25 of a turn.
    let mut next = drive(Scheduling::Blend, 1.0, 4);
    let end = started(next.arrive(0, access(0, 1_250, false), 1.0));
    assert_eq!(end, 1_500_000 + 48_000, "the seek is hidden in the wait");
    let mut early = drive(Scheduling::Blend, 1.0, 4);
    let end = started(early.arrive(0, access(0, 1_050, false), 1.0));
    assert_eq!(
        end,
        6_000_000 + 300_000 + 48_000,
        "0.5 ms is too late for 0.3 ms"
    );
    // A write settles for another 0.5 ms and misses 0.15 of a turn (0.9 ms).
    let mut write = drive(Scheduling::Blend, 1.0, 4);
    let end = started(write.arrive(0, access(0, 1_150, true), 1.0));
    assert_eq!(
        end,
        6_000_000 + 900_000 + 48_000 - 1,
        "truncated to whole nanoseconds"
    );
    // Drift stretches the whole.
    let mut slow = drive(Scheduling::Blend, 1.0, 4);
    assert_eq!(
        started(slow.arrive(0, access(0, 250, false), 2.0)),
        2 * 1_548_000
    );
}

#[test]
fn the_blend_chooses_by_seek_alone_or_by_access_time() {
    let order = |weight: f64| {
        let mut drive = drive(Scheduling::Blend, weight, 8);
        // Busy with the first; then a near track just missed, and a farther one
        // that comes under the head at once.
        let end = started(drive.arrive(0, access(0, 0, false), 1.0));
        assert_eq!(end, 48_000);
        drive.arrive(1_000, access(1, 2_010, false), 1.0);
        drive.arrive(2_000, access(2, 60_600, false), 1.0);
        serve(&mut drive, end)
            .iter()
            .map(|(index, _)| *index)
            .collect::<Vec<_>>()
    };
    assert_eq!(order(0.0), [0, 1, 2], "shortest seek first");
    assert_eq!(order(1.0), [0, 2, 1], "shortest access time first");
}

#[test]
fn first_come_ignores_where_things_are() {
    let mut drive = drive(Scheduling::FirstCome, 1.0, 1);
    let end = started(drive.arrive(0, access(0, 0, false), 1.0));
    for (index, sector) in [(1, 900_000), (2, 5_000), (3, 800_000), (4, 4_000)] {
        assert_eq!(
            drive.arrive(1, access(index, sector, false), 1.0),
            Arrival::Queued
        );
    }
    assert_eq!(drive.load(|_| true), 5);
    let order: Vec<_> = serve(&mut drive, end)
        .iter()
        .map(|(index, _)| *index)
        .collect();
    assert_eq!(order, [0, 1, 2, 3, 4]);
    assert_eq!(drive.load(|_| true), 0);
}

#[test]
fn what_does_not_fit_the_window_waits_in_order_of_address() {
    let mut drive = drive(Scheduling::Blend, 0.0, 1);
    let end = started(drive.arrive(0, access(0, 400_000, false), 1.0));
    for (index, sector) in [(1, 900_000), (2, 100_000), (3, 500_000), (4, 700_000)] {
        drive.arrive(1, access(index, sector, false), 1.0);
    }
    let order: Vec<_> = serve(&mut drive, end)
        .iter()
        .map(|(index, _)| *index)
        .collect();
    // The sweep starts at address 0: nothing has been taken from the backlog yet.
    assert_eq!(order, [0, 2, 3, 4, 1]);
}

#[test]
fn an_access_that_has_waited_too_long_goes_first() {
    let order = |limit_ns| {
        let mut drive = drive(Scheduling::Blend, 0.0, 16);
        model(&mut drive).wait_limit_ns = limit_ns;
        let end = started(drive.arrive(0, access(0, 0, false), 1.0));
        drive.arrive(1, access(1, 999_000, false), 1.0);
        for index in 2..8 {
            drive.arrive(2, access(index, u64::from(index) * 1_000, false), 1.0);
        }
        let served = serve(&mut drive, end);
        served.iter().position(|(index, _)| *index == 1)
    };
    assert_eq!(order(u64::MAX), Some(7));
    assert!(order(10_000_000) < Some(5));
}

#[test]
fn a_wider_placement_keeps_units_whole_and_spreads_them() {
    let mut drive = drive(Scheduling::Blend, 0.0, 1);
    assert_eq!(drive.model.sector(65_536 * 10 + 1_024), 1_282);
    model(&mut drive).placement = 1.5;
    assert_eq!(drive.model.sector(65_536 * 10 + 1_024), 15 * 128 + 2);
    assert_eq!(drive.model.sector(65_536 * 3 + 512), 4 * 128 + 1);
}

#[test]
fn reads_that_follow_each_other_come_from_the_read_ahead() {
    let mut drive = drive(Scheduling::Blend, 1.0, 4);
    drive.ahead = ReadAhead::new(100, 1);
    let end = started(drive.arrive(0, access(0, 0, false), 1.0));
    drive.ends(end);
    // Half of the next 8 sectors have passed the head when it arrives.
    let next = started(drive.arrive(end + 24_000, access(1, 8, false), 1.0));
    assert_eq!(next, end + 48_000);
    drive.ends(next);
    // Long after, the segment is full: it is there at once, but not a thing else.
    let later = started(drive.arrive(next + 10_000_000, access(2, 16, false), 1.0));
    assert_eq!(later, next + 10_000_000);
    drive.ends(later);
    let on_other_cylinder = started(drive.arrive(later, access(3, 500, false), 1.0));
    assert!(on_other_cylinder > later + 48_000);
}

#[test]
fn a_hit_in_another_segment_leaves_the_arm_where_it_is() {
    let mut drive = drive(Scheduling::Blend, 1.0, 8);
    model(&mut drive).read_ahead_sectors = 64;
    drive.ahead = ReadAhead::new(64, 2);
    // Two streams far apart; the head reads on behind the second.
    let first = started(drive.arrive(0, access(1, 1_000, false), 1.0));
    drive.ends(first);
    let second = started(drive.arrive(first + 2_000_000, access(2, 900_000, false), 1.0));
    drive.ends(second);
    let arm = drive.arm.cylinder;
    // What the first stream had read on is in its segment, at once.
    let again = started(drive.arrive(second + 1_000, access(3, 1_008, false), 1.0));
    assert_eq!(again, second + 1_000);
    assert_eq!(drive.arm.cylinder, arm);
}

#[test]
fn an_access_that_waited_outside_the_window_is_looked_up_when_it_enters() {
    // One place in the window, the access in service included: the second read waits
    // outside while the first is under way.
    let mut drive = drive(Scheduling::Blend, 1.0, 1);
    model(&mut drive).read_ahead_sectors = 64;
    drive.ahead = ReadAhead::new(64, 2);
    let first = started(drive.arrive(0, access(1, 1_000, false), 1.0));
    assert_eq!(
        drive.arrive(1, access(2, 1_004, false), 1.0),
        Arrival::Queued
    );
    let (_, second) = drive.ends(first);
    // Half of it is in the buffer, and the head is at the rest: no turn of the platter.
    assert_eq!(second, Some(first + 4 * 6_000));
}

#[test]
fn the_arm_stays_and_nothing_is_in_service_until_the_access_has_arrived() {
    let mut drive = drive(Scheduling::Blend, 1.0, 4);
    drive.arrive(1_000, access(0, 50_000, false), 1.0);
    let arrives = Key::from(1_000_u64) << 64;
    let before = |key: Key| key < arrives;
    let after = |key: Key| key <= arrives;
    assert_eq!((drive.load(before), drive.load(after)), (0, 1));
    let distances = (drive.distance(50, before), drive.distance(50, after));
    assert_eq!(distances, (50, 0));
}
