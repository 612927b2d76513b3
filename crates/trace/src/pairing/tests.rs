//! Each rule of pairing, with events as kernels were seen to write them.

use super::*;
use crate::event::RequestLetters;

fn event(at_ns: u64, step: Step, sector: u64, sectors: u32, letters: &str) -> Event {
    Event {
        at_ns,
        step,
        device: DeviceNumber { major: 7, minor: 0 },
        sector,
        sectors,
        letters: RequestLetters::parse(letters.as_bytes()),
        pid: 100,
        comm: Comm::new(b"fio"),
    }
}

fn by(pid: i32, comm: &str, event: Event) -> Event {
    Event {
        pid,
        comm: Comm::new(comm.as_bytes()),
        ..event
    }
}

/// All operations of these events, and the pairer behind them.
fn pair(events: &[Event]) -> (Vec<Operation>, Pairer) {
    let mut pairer = Pairer::default();
    for event in events {
        pairer.event(event);
    }
    pairer.finish();
    let all = std::iter::from_fn(|| pairer.next_operation()).collect();
    (all, pairer)
}

use Step::{Complete, Done, Enter, Exit, Issue, Queue, Requeue, Start};

#[test]
fn stages_of_one_operation() {
    let call = |at, step| event(at, step, 0, 0, "");
    let (all, pairer) = pair(&[
        call(5, Enter),
        event(10, Queue, 8, 16, "R"),
        event(12, Start, 8, 16, "R"),
        by(7, "kworker/1:1H", event(15, Issue, 8, 16, "R")),
        by(0, "swapper/0", event(115, Complete, 8, 16, "R")),
        call(120, Exit),
    ]);
    assert_eq!(all.len(), 1);
    let stages = all[0].stages();
    assert_eq!(stages.held, Some(5));
    assert_eq!(stages.tag, Some(2));
    assert_eq!(stages.scheduler, Some(3));
    assert_eq!(stages.device, Some(100));
    assert_eq!(stages.wakeup, Some(5));
    assert_eq!((all[0].offset_bytes, all[0].size_bytes), (4_096, 8_192));
    // The task that queued it, not the one that issued it.
    assert_eq!(pairer.tasks.name(all[0].task).as_deref(), Some("fio"));
    assert_eq!(pairer.report().paired, 1);
}

#[test]
fn only_issue_and_complete_are_enough() {
    let (all, pairer) = pair(&[
        event(15, Issue, 8, 16, "W"),
        by(0, "", event(115, Complete, 8, 16, "W")),
    ]);
    assert_eq!(all[0].latency_ns(), Some(100));
    assert_eq!((all[0].demands, all[0].kind), (1, Kind::Write));
    assert_eq!(pairer.tasks.pid(all[0].task), Some(100));
}

#[test]
fn flushes_are_first_in_first_out_whatever_their_sector() {
    let (all, pairer) = pair(&[
        event(10, Issue, 0, 0, "FF"),
        event(20, Issue, 0, 0, "FF"),
        event(30, Complete, NO_SECTOR, 0, "FF"),
        event(45, Complete, NO_SECTOR, 0, "FF"),
    ]);
    let latencies: Vec<_> = all.iter().filter_map(Operation::latency_ns).collect();
    assert_eq!(latencies, [20, 25]);
    assert!(
        all.iter()
            .all(|one| one.kind == Kind::Sync && one.size_bytes == 0)
    );
    assert_eq!(pairer.report().paired, 2);
}

#[test]
fn one_flush_serves_all_that_wait_and_names_who_asked_first() {
    let (all, pairer) = pair(&[
        event(1, Issue, 0, 0, "FF"),
        by(200, "postgres", event(5, Queue, 0, 0, "FWS")),
        by(300, "jbd2/sda1-8", event(7, Queue, NO_SECTOR, 0, "FWS")),
        event(8, Complete, NO_SECTOR, 0, "FF"),
        by(9, "kworker/0:1H", event(10, Issue, 0, 0, "FF")),
        event(30, Complete, NO_SECTOR, 0, "FF"),
    ]);
    assert_eq!((all.len(), all[1].demands), (2, 2));
    assert_eq!(all[1].latency_ns(), Some(25));
    assert_eq!(pairer.tasks.name(all[1].task).as_deref(), Some("postgres"));
}

#[test]
fn what_waits_for_the_next_flush_is_left_to_it_and_no_later_one_begins_with_what_was_served() {
    let (all, _) = pair(&[
        event(5, Queue, 0, 0, "FWS"),
        event(6, Start, 0, 0, "FWS"),
        // It came once the flush was on its way.
        event(7, Queue, 0, 0, "FWS"),
        event(8, Start, 0, 0, "FWS"),
        event(10, Issue, 0, 0, "FF"),
        event(30, Complete, NO_SECTOR, 0, "FF"),
        event(31, Complete, 0, 0, "WS"),
        event(32, Issue, 0, 0, "FF"),
        // Served as well, as its completion shows.
        event(33, Queue, 0, 0, "FWS"),
        event(34, Start, 0, 0, "FWS"),
        event(50, Complete, NO_SECTOR, 0, "FF"),
        event(51, Complete, 0, 0, "WS"),
        event(52, Complete, 0, 0, "WS"),
        // A write asks for this one.
        event(9_000, Issue, 0, 0, "FF"),
        event(9_020, Complete, NO_SECTOR, 0, "FF"),
    ]);
    let latencies: Vec<_> = all.iter().filter_map(Operation::latency_ns).collect();
    assert_eq!(latencies, [25, 43, 20]);
    assert!(all.iter().all(|one| one.demands == 1));
}

#[test]
fn a_write_with_a_flush_completes_twice_and_loses_nothing() {
    let (all, pairer) = pair(&[
        event(10, Issue, 64, 8, "FWFSM"),
        event(20, Complete, 64, 8, "FWFSM"),
        event(30, Complete, 64, 8, "FWFSM"),
        event(40, Complete, 96, 8, "W"),
    ]);
    assert_eq!(all.len(), 1);
    assert!(all[0].flags.has(Flags::PREFLUSH.with(Flags::FUA)));
    let report = pairer.report();
    assert_eq!(report.repeated_completions, 1);
    assert_eq!(report.unmatched_completions, 1);
}

#[test]
fn a_flush_that_a_program_asked_for_completes_again_as_an_empty_write() {
    let (all, pairer) = pair(&[
        event(10, Issue, 0, 8, "WS"),
        event(21, Queue, 0, 0, "FWS"),
        event(24, Start, 0, 0, "FWS"),
        by(9, "kworker/1:1H", event(32, Issue, 0, 0, "FF")),
        by(0, "", event(72, Complete, NO_SECTOR, 0, "FF")),
        by(0, "", event(73, Complete, 0, 0, "WS")),
        by(0, "", event(90, Complete, 0, 8, "WS")),
    ]);
    let seen: Vec<_> = all.iter().map(|one| (one.kind, one.latency_ns())).collect();
    let expected = [(Kind::Sync, Some(51)), (Kind::Write, Some(80))];
    assert_eq!(seen, expected);
    let report = pairer.report();
    assert_eq!(
        (report.repeated_completions, report.unmatched_completions),
        (1, 0)
    );
    assert_eq!(pairer.tasks.name(all[0].task).as_deref(), Some("fio"));
}

#[test]
fn a_loss_drops_all_that_is_open() {
    let mut pairer = Pairer::default();
    pairer.event(&event(10, Issue, 8, 8, "R"));
    pairer.event(&event(11, Issue, 0, 0, "FF"));
    pairer.lose();
    // The same sector again: were the first still open, it would be paired with this.
    pairer.event(&event(1_000, Complete, 8, 8, "R"));
    pairer.event(&event(1_010, Issue, 8, 8, "R"));
    pairer.event(&event(1_030, Complete, 8, 8, "R"));
    pairer.finish();
    assert_eq!(pairer.next_operation().unwrap().latency_ns(), Some(20));
    assert_eq!(pairer.next_operation(), None);
    let report = pairer.report();
    assert_eq!((report.dropped, report.losses), (2, 1));
    assert_eq!(report.unmatched_completions, 1);
}

#[test]
fn two_at_one_sector_are_told_apart_by_length_then_by_age() {
    let (all, _) = pair(&[
        event(10, Issue, 8, 8, "R"),
        event(11, Issue, 8, 32, "R"),
        event(12, Issue, 8, 8, "R"),
        event(13, Issue, 8, 8, "W"),
        event(20, Complete, 8, 32, "R"),
        event(30, Complete, 8, 8, "R"),
        event(50, Complete, 8, 8, "R"),
        event(51, Complete, 8, 8, "W"),
    ]);
    let seen: Vec<_> = all.iter().map(|one| one.latency_ns().unwrap()).collect();
    assert_eq!(seen, [9, 20, 38, 38]);
}

#[test]
fn a_part_that_completes_leaves_the_rest_open() {
    let (all, pairer) = pair(&[
        event(10, Issue, 8, 24, "R"),
        event(20, Complete, 8, 8, "R"),
        event(30, Complete, 16, 16, "R"),
    ]);
    assert_eq!((all.len(), all[0].latency_ns()), (1, Some(20)));
    assert_eq!(all[0].size_bytes, 24 * 512);
    assert_eq!(pairer.report().unmatched_completions, 0);
}

#[test]
fn bios_are_merged_into_one_request_and_split_into_several() {
    let (all, pairer) = pair(&[
        event(1, Queue, 0, 8, "W"),
        event(2, Queue, 8, 8, "W"),
        event(3, Queue, 16, 8, "W"),
        event(5, Issue, 0, 24, "W"),
        event(9, Complete, 0, 24, "W"),
        event(11, Queue, 100, 50, "R"),
        event(12, Issue, 100, 20, "R"),
        event(13, Issue, 120, 30, "R"),
        event(19, Complete, 100, 20, "R"),
        event(22, Complete, 120, 30, "R"),
    ]);
    let demands: Vec<_> = all.iter().map(|one| one.demands).collect();
    assert_eq!(demands, [3, 1, 0]);
    let arrived: Vec<_> = all.iter().map(|one| one.arrived_ns).collect();
    assert_eq!(arrived, [1, 11, 11]);
    let report = pairer.report();
    assert_eq!((report.demands, report.demand_bytes), (4, 74 * 512));
}

#[test]
fn a_partition_s_bio_is_followed_to_its_disk() {
    let disk = event(0, Queue, 0, 0, "").device;
    let partition = DeviceNumber { major: 259, ..disk };
    let remap = Step::Remap {
        from_device: partition,
        from_sector: 8,
    };
    let on_partition = Event {
        device: partition,
        ..event(1, Queue, 8, 8, "R")
    };
    let (all, _) = pair(&[
        on_partition,
        event(2, remap, 2_056, 8, "R"),
        event(5, Issue, 2_056, 8, "R"),
        event(9, Complete, 2_056, 8, "R"),
    ]);
    assert_eq!((all[0].arrived_ns, all[0].device), (1, disk));
}

#[test]
fn requeued_operations_are_the_same_ones() {
    let (all, pairer) = pair(&[
        event(1, Queue, 8, 8, "R"),
        event(2, Start, 8, 8, "R"),
        event(5, Issue, 8, 8, "R"),
        by(0, "", event(6, Requeue, 8, 8, "R")),
        by(0, "", event(60, Issue, 8, 8, "R")),
        event(90, Complete, 8, 8, "R"),
    ]);
    assert_eq!(all.len(), 1);
    let stages = all[0].stages();
    assert_eq!(
        (stages.tag, stages.scheduler, stages.device),
        (Some(1), Some(58), Some(30))
    );
    assert_eq!(pairer.tasks.name(all[0].task).as_deref(), Some("fio"));
}

#[test]
fn what_was_held_back_and_what_completed_in_a_thread_is_flagged() {
    let (all, _) = pair(&[
        by(7, "kworker/0:2", event(10, Queue, 8, 8, "R")),
        event(11, Issue, 8, 8, "R"),
        by(9, "ksoftirqd/0", event(20, Complete, 8, 8, "R")),
        by(9, "ksoftirqd/0", event(21, Done, 8, 8, "R")),
        event(30, Issue, 64, 8, "R"),
        event(40, Complete, 64, 8, "R"),
        by(1, "bystander", event(41, Done, 64, 8, "R")),
    ]);
    assert!(
        all[0]
            .flags
            .has(Flags::DEFERRED.with(Flags::COMPLETED_BY_THREAD))
    );
    assert_eq!(all[1].flags, Flags::NONE);
}

#[test]
fn a_call_that_returns_before_its_operation_does_not_wait_for_it() {
    let call = |at, step| event(at, step, 0, 0, "");
    let (all, _) = pair(&[
        call(1, Enter),
        event(2, Queue, 8, 8, "R"),
        event(3, Issue, 8, 8, "R"),
        call(4, Exit),
        event(50, Complete, 8, 8, "R"),
    ]);
    assert_eq!((all[0].entered_ns, all[0].returned_ns), (Some(1), None));
    assert_eq!(all[0].stages().wakeup, None);
}

#[test]
fn what_is_in_flight_at_the_end_has_no_completion() {
    let (all, pairer) = pair(&[event(3, Issue, 8, 8, "R"), event(2, Issue, 0, 0, "FF")]);
    let seen: Vec<_> = all
        .iter()
        .map(|one| (one.arrived_ns, one.completed_ns))
        .collect();
    assert_eq!(seen, [(2, None), (3, None)]);
    assert_eq!(pairer.report().in_flight, 2);
}

#[test]
fn bios_that_are_never_issued_do_not_fill_memory_or_drop_others() {
    let mut pairer = Pairer::default();
    pairer.event(&event(1, Issue, 8, 8, "R"));
    for k in 0..3 * OPEN_MAX as u64 {
        pairer.event(&event(2 + k, Queue, 1_000 + k, 1, "W"));
        assert!(pairer.bios.count <= OPEN_MAX);
    }
    pairer.event(&event(900_000, Complete, 8, 8, "R"));
    assert_eq!((pairer.report().paired, pairer.report().dropped), (1, 0));
}

#[test]
fn old_bios_of_a_place_are_not_taken_for_new_ones() {
    let later = BIO_AGE_NS_MAX + 100;
    let (all, _) = pair(&[
        event(1, Queue, 8, 8, "W"),
        event(later, Queue, 8, 8, "W"),
        event(later + 5, Issue, 8, 8, "W"),
        event(later + 9, Complete, 8, 8, "W"),
    ]);
    assert_eq!(all[0].latency_ns(), Some(9));
}
