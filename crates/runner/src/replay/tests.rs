//! Order, think times and due times of a replay, step by step.

use super::*;

fn operation(due_ns: u64, kind: Kind, block: u64) -> RecordedOperation {
    RecordedOperation {
        due_ns,
        offset_bytes: block * 4_096,
        lasted_ns: 10,
        length_bytes: 4_096,
        after: AFTER_NONE,
        copy: 0,
        kind,
    }
}

fn replay(operations: &[RecordedOperation], is_closed: bool) -> Replay {
    let load = RecordedLoad::new(operations.to_vec(), is_closed);
    let mut replay = Replay::new(Arc::new(load), 8);
    replay.begin(1_000);
    replay
}

/// The block that is offered, and when it was due.
fn offered(replay: &mut Replay, now_ns: u64, slot: u32) -> Option<(u64, u64)> {
    match replay.offer(now_ns, slot) {
        NextOperation::Operation(operation, due_ns, _) => {
            Some((operation.offset_bytes / 4_096, due_ns))
        }
        _ => None,
    }
}

#[test]
fn operations_leave_when_they_are_due() {
    let operations = [operation(5, Kind::Read, 1), operation(5, Kind::Read, 2)];
    let mut replay = replay(&operations, false);
    assert_eq!(replay.offer(1_004, 0), NextOperation::NotBefore(1_005));
    assert_eq!(offered(&mut replay, 1_007, 0), Some((1, 1_005)));
    assert_eq!(offered(&mut replay, 1_007, 1), Some((2, 1_005)));
    assert_eq!(replay.offer(1_007, 2), NextOperation::Nothing);
    assert_eq!(replay.load.left(1), Some((7, false)));
}

#[test]
fn what_overlaps_keeps_its_order_and_nothing_else_waits() {
    let operations = [
        operation(0, Kind::Write, 7),
        // Issued while the first was in flight: may go at once.
        operation(5, Kind::Read, 7),
        // Issued when the first had completed.
        operation(20, Kind::Read, 7),
        operation(21, Kind::Read, 8),
        // Waits for all three before it.
        operation(40, Kind::Write, 7),
    ];
    let mut replay = replay(&operations, false);
    let mut take = |slot| offered(&mut replay, 1_050, slot);
    assert_eq!([take(0), take(1)], [Some((7, 1_000)), Some((7, 1_005))]);
    assert_eq!(take(2), Some((8, 1_021)));
    assert_eq!(take(3), None);
    replay.completed(0, 1_060);
    assert_eq!(offered(&mut replay, 1_060, 0), Some((7, 1_020)));
    replay.completed(1, 1_070);
    assert_eq!(offered(&mut replay, 1_070, 1), None);
    replay.completed(0, 1_080);
    assert_eq!(offered(&mut replay, 1_080, 0), Some((7, 1_040)));
    assert_eq!(replay.load.left(4), Some((80, true)));
    assert_eq!(replay.load.left(1), Some((50, false)));
}

#[test]
fn a_closed_load_thinks_after_each_completion() {
    let after = |after, think_ns| RecordedOperation {
        after,
        ..operation(think_ns, Kind::Read, 1)
    };
    let operations = [
        operation(0, Kind::Read, 1),
        operation(3, Kind::Read, 2),
        after(0, 100),
        after(2, 50),
    ];
    let mut replay = replay(&operations, true);
    assert_eq!(offered(&mut replay, 1_000, 0), Some((1, 1_000)));
    assert_eq!(replay.offer(1_000, 1), NextOperation::NotBefore(1_003));
    assert_eq!(offered(&mut replay, 1_004, 1), Some((2, 1_003)));
    assert_eq!(replay.offer(1_004, 2), NextOperation::Nothing);
    replay.completed(0, 2_000);
    assert_eq!(replay.offer(2_000, 0), NextOperation::NotBefore(2_100));
    assert_eq!(offered(&mut replay, 2_100, 0), Some((1, 2_100)));
    let mut given_up = 0;
    replay.give_up_arrivals(u64::MAX, |_| given_up += 1);
    assert_eq!(given_up, 0, "the last was not due");
}

#[test]
fn what_never_left_is_known_by_its_due_time() {
    let operations = [
        operation(0, Kind::Write, 7),
        operation(20, Kind::Write, 7),
        operation(30, Kind::Read, 1),
        operation(90, Kind::Read, 1),
    ];
    let mut replay = replay(&operations, false);
    assert_eq!(offered(&mut replay, 1_025, 0), Some((7, 1_000)));
    assert_eq!(offered(&mut replay, 1_025, 1), None);
    let mut given_up = Vec::new();
    replay.give_up_arrivals(1_090, |due_ns| given_up.push(due_ns));
    assert_eq!(given_up, [1_020, 1_030]);
}
