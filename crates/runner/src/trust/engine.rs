//! Warnings about the engine used.

use super::code::Code;
use super::evidence::Evidence;
use stripewise_results::{Severity, TargetKind, Warning};

/// Not the preferred engine, or one without some feature.
pub fn engine_fallback(evidence: &Evidence) -> Option<Warning> {
    let engine = &evidence.engine;
    if !evidence.is_real() || engine.fallbacks.is_empty() {
        return None;
    }
    let reasons = engine.fallbacks.join("; ");
    // Another engine affects the result; plain buffers cost a little CPU time.
    let other = engine.name == "threads" && engine.requested != "threads";
    let severity = if other {
        Severity::Warning
    } else {
        Severity::Note
    };
    let message = if other {
        format!(
            "the {} engine was used instead of io_uring: {reasons}",
            engine.name
        )
    } else {
        format!(
            "the {} engine works with reduced features: {reasons}",
            engine.name
        )
    };
    Some(Code::EngineFallback.warning(severity, message, advice(&reasons)))
}

/// What to change, depending on the reason.
fn advice(reasons: &str) -> &'static str {
    let reasons = reasons.to_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| reasons.contains(word));
    if names(&["io_uring_disabled", "sysctl"]) {
        "sysctl kernel.io_uring_disabled=0 (2 disables it for everyone, 1 for ordinary users)"
    } else if names(&["seccomp", "eperm", "not permitted"]) {
        "the container forbids io_uring: allow it in its seccomp profile, or run outside"
    } else if names(&["memlock", "enomem", "locked memory", "cannot allocate"]) {
        "raise the limit of locked memory: ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit"
    } else if names(&["enosys", "kernel"]) {
        "use a newer kernel; 6.1 or later has everything"
    } else {
        "`stripewise doctor` shows what this machine supports and what to change"
    }
}

/// Faults were injected to test the program itself.
pub fn faults_injected(evidence: &Evidence) -> Option<Warning> {
    if !evidence.faults_injected {
        return None;
    }
    let message = "faults were injected on purpose: errors and delays are the program's own";
    let hint = "leave out <--inject> to measure the disk";
    Some(Code::FaultsInjected.warning(Severity::Void, message, hint))
}

/// The null engine does nothing, fast.
pub fn null_engine(evidence: &Evidence) -> Option<Warning> {
    if evidence.target.kind != TargetKind::Null && evidence.engine.name != "null" {
        return None;
    }
    let message = "the null engine completes everything at once: this is the program's own speed, not a disk's";
    let hint = "leave out <--engine> null to measure a disk";
    Some(Code::NullEngine.warning(Severity::Void, message, hint))
}
