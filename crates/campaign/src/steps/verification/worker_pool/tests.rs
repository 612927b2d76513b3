//! Tests of the code that runs a worker on threads.

use super::*;
use stripewise_verify::{Plan, Role, VerifyTargets, WorkerSet};

const FILE_BYTES: usize = 2 << 20;

/// Carries out the worker's operations on a file in memory, one at a time, at most
/// `operations` of them.
fn drive(operator: &mut Operator, file: &mut [u8], phase: Phase, operations: u32) {
    operator.slot.worker.begin(phase);
    operator.signals.stop.store(false, Ordering::Relaxed);
    for done in 1.. {
        operator
            .signals
            .stop
            .store(done > operations, Ordering::Relaxed);
        let operation = match operator.next(0) {
            Next::Operation(operation) => operation,
            Next::Finished => return,
            other => panic!("nothing is in flight: {other:?}"),
        };
        let at = operation.offset_bytes as usize;
        let place = at..at + operation.length_bytes as usize;
        let mut buffer = vec![0; place.len()];
        match operation.kind {
            Kind::Write => {
                operator.data(&operation, &mut buffer);
                file[place].copy_from_slice(&buffer);
            }
            _ => {
                operator.before_read(&operation, &mut buffer);
                buffer.copy_from_slice(&file[place]);
            }
        }
        operator.look(operation.slot, &buffer);
        operator.complete(Completion {
            slot: operation.slot,
            result: operation.length_bytes as i32,
            at_ns: 0,
        });
    }
}

#[test]
fn a_file_that_could_not_be_cut_holds_what_it_held_and_no_zeros() {
    let plan = Plan {
        grows: true,
        ..Plan::of_pages(1, 4, 60)
    };
    let mut worker_set = WorkerSet::new(3);
    let layout = worker_set.layout(0, FILE_BYTES as u64, 512, &plan);
    let verify_targets = VerifyTargets::new(
        7,
        vec![layout.expect("room")],
        1_000,
        worker_set.all.len() as u16,
    );
    let grows =
        |identity: &stripewise_verify::WorkerIdentity| matches!(identity.role, Role::Grows { .. });
    let identity = worker_set
        .all
        .into_iter()
        .find(grows)
        .expect("one that grows");
    let mut operator = Operator {
        open: vec![None; identity.slots as usize],
        // The length of its file cannot be changed.
        slot: WorkerSlot::new(Worker::new(Arc::new(verify_targets), identity), 0),
        signals: Arc::default(),
        now_ns: 0,
    };
    let mut file = vec![0; FILE_BYTES];
    drive(&mut operator, &mut file, Phase::Fill, u32::MAX);
    drive(&mut operator, &mut file, Phase::Work, 2_000);
    drive(&mut operator, &mut file, Phase::Check, u32::MAX);
    assert_eq!(operator.slot.worker.take_faults(), []);
    let counts = operator.slot.worker.counts();
    assert!(counts.operations >= 2_000);
    assert_eq!(counts.errors, 1, "tried once, and said so");
}
