//! The conformance suite over every back end, plain and wrapped.

use stripewise_io_engine::Engine;
use stripewise_io_engine::backend::faulty::Faulty;
use stripewise_io_engine::backend::linux_io_uring::Uring;
use stripewise_io_engine::backend::null::Null;
use stripewise_io_engine::backend::portable_threads::Threads;
use stripewise_io_engine::backend::timed::Timed;
#[cfg(windows)]
use stripewise_io_engine::backend::windows_iocp::Iocp;
use stripewise_io_engine::conformance::{Scope, run};

use crate::fixture::{Files, skip};

fn check<E: Engine>(engine: &str, scope: Scope) {
    match run::<E>(&Files, scope) {
        Err(reason) => skip(engine, &reason),
        Ok(report) => {
            assert!(report.passed.len() >= 8, "too few cases: {report:?}");
            for (case, needs) in &report.skipped {
                skip(&format!("{engine}: {case}"), needs);
            }
        }
    }
}

#[test]
fn io_uring_conforms() {
    check::<Uring>("io_uring", Scope::Full);
}

#[cfg(windows)]
#[test]
fn iocp_conforms() {
    check::<Iocp>("iocp", Scope::Full);
}

#[cfg(windows)]
#[test]
fn a_wrapper_without_faults_conforms_over_iocp() {
    check::<Faulty<Iocp>>("faulty iocp", Scope::Full);
}

#[test]
fn threads_conform() {
    check::<Threads>("threads", Scope::Full);
}

#[test]
fn null_conforms() {
    check::<Null>("null", Scope::MovesNoData);
}

#[test]
fn a_wrapper_without_faults_conforms_over_io_uring() {
    check::<Faulty<Uring>>("faulty io_uring", Scope::Full);
}

#[test]
fn a_wrapper_without_faults_conforms_over_threads() {
    check::<Faulty<Threads>>("faulty threads", Scope::Full);
}

#[test]
fn timing_hand_overs_conforms_over_io_uring() {
    check::<Timed<Uring>>("timed io_uring", Scope::SubmitsInFill);
}

#[test]
fn timing_hand_overs_conforms_over_threads() {
    check::<Timed<Threads>>("timed threads", Scope::SubmitsInFill);
}
