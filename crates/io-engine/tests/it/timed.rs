//! Hand-overs are counted one by one, whatever is in flight meanwhile.

use std::sync::Arc;

use stripewise_io_engine::backend::portable_threads::Threads;
use stripewise_io_engine::backend::timed::{HandOverLog, Timed};
use stripewise_io_engine::conformance::Fixture;
use stripewise_io_engine::{Clock, Completion, Engine, Kind, Next, OpenPlan, Operation, Source};

use crate::fixture::Files;

/// Reads one block after the other, as many at once as there are slots.
struct Reads {
    left: u64,
    free: Vec<u32>,
}

impl Source for Reads {
    fn next(&mut self, _now_ns: u64) -> Next {
        if self.left == 0 {
            return Next::Finished;
        }
        let Some(slot) = self.free.pop() else {
            return Next::Full;
        };
        self.left -= 1;
        Next::Operation(Operation {
            slot,
            file: 0,
            kind: Kind::Read,
            offset_bytes: self.left * 4096,
            length_bytes: 4096,
        })
    }

    fn data(&mut self, _operation: &Operation, _buffer: &mut [u8]) {}

    fn complete(&mut self, done: Completion) {
        assert_eq!(done.result, 4096);
        self.free.push(done.slot);
    }
}

#[test]
fn every_operation_is_handed_over_once_and_timed() {
    for slots in [1, 4, 32] {
        let log = HandOverLog::default();
        let file = Files.file(50 * 4096);
        let mut plan = OpenPlan::new(vec![Arc::new(file)], slots, 4096, Clock::start());
        plan.hand_overs = Some(log.clone());
        let mut reads = Reads {
            left: 50,
            free: (0..slots).collect(),
        };
        let mut engine = Timed::<Threads>::open(&plan).expect("opens");
        let mut in_flight = 0;
        loop {
            let filled = engine.fill(&mut reads, engine.now_ns());
            in_flight += filled.taken;
            if in_flight == 0 {
                assert_eq!(filled.then, Next::Finished);
                break;
            }
            engine.submit_and_wait(1, None).expect("works");
            in_flight -= engine.reap(&mut reads);
        }
        engine.close(0);
        let seen = log.total();
        assert_eq!(seen.operations, 50, "{slots} slots");
        assert!(seen.min_ns <= seen.max_ns && seen.sum_ns >= seen.max_ns);
    }
}
