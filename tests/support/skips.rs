//! Tests that cannot run here are named and counted, never silent. Integration
//! tests of several crates include this file by its path, so each leaves a part of
//! it unused.
//!
//! The lines go past the test harness, which shows what passing tests print with
//! `eprintln!` to nobody: `skipped: TEST: needs WHAT`.

#![allow(dead_code)]

use std::io::Write;

/// Says that a test cannot run here. Fails instead where everything is required.
#[track_caller]
pub fn skip(test: &str, needs: &str) {
    assert!(
        std::env::var_os("STRIPEWISE_REQUIRE_TOOLS").is_none_or(|value| value != "1"),
        "{test} needs {needs}, and STRIPEWISE_REQUIRE_TOOLS=1 forbids skips"
    );
    say(test, needs);
}

/// Says that a test cannot run on this kernel, for want of what nobody can install.
pub fn skip_kernel(test: &str, needs: &str) {
    say(test, &format!("{needs} in the kernel"));
}

/// Says that a test was not asked for: it needs something that only a person can give.
pub fn skip_unasked(test: &str, needs: &str) {
    say(test, needs);
}

/// One write for each line, so that lines of several tests do not mix.
fn say(test: &str, needs: &str) {
    let line = format!("skipped: {test}: needs {needs}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}
