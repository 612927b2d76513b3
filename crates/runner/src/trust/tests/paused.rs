//! Pauses of the program are cut out of its rates, and so they are of what warnings hold
//! these rates against.

use super::clean::*;
use crate::trust::{Code, Evidence, judge};
use stripewise_results::{Pause, Warning};

const SECOND_NS: u64 = 1_000_000_000;

/// The run was paused for this many seconds, which only the machine's clock counted.
fn paused(mut evidence: Evidence, seconds: u64) -> Evidence {
    evidence.outcome.pauses.push(Pause {
        at_ns: SECOND_NS,
        duration_ns: seconds * SECOND_NS,
    });
    observed_mut(&mut evidence).elapsed_ns += seconds * SECOND_NS;
    evidence
}

fn found(evidence: &Evidence, code: Code) -> Option<Warning> {
    let mut all = judge(evidence).into_iter();
    all.find(|warning| warning.code == code.as_str())
}

#[test]
fn others_are_seen_however_long_the_program_was_paused() {
    let mut evidence = clean();
    observed_mut(&mut evidence).devices[0].read_bytes = 62_000 * 8192;
    for seconds in [20, 600] {
        let evidence = paused(evidence.clone(), seconds);
        let warning = found(&evidence, Code::OtherLoad).expect("other load");
        assert!(warning.message.contains("156.3 MiB"), "{}", warning.message);
        assert!(
            warning.message.contains("or the pauses"),
            "{}",
            warning.message
        );
    }
    assert!(found(&paused(clean(), 600), Code::OtherLoad).is_none());
}

#[test]
fn depth_and_processor_time_are_of_the_time_that_it_ran() {
    let mut busy = clean();
    let processors = u64::from(busy.host.cpu.count);
    observed_mut(&mut busy).own_cpu_user_ns = 20 * SECOND_NS * processors;
    assert!(found(&busy, Code::CpuBound).is_some());
    assert!(found(&paused(busy, 600), Code::CpuBound).is_some());
    let mut quiet = clean();
    quiet.in_flight.clear();
    assert!(found(&quiet, Code::DeviceDepthBelowAsked).is_none());
    assert!(found(&paused(quiet, 600), Code::DeviceDepthBelowAsked).is_none());
}
