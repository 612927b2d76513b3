//! Tests that need a process of their own. Tests of several crates include this
//! file by its path, as `own_process` at the crate's root, before the modules that
//! use the macro.
//!
//! A test needs one when it changes what belongs to the whole process (limits,
//! capabilities, the current directory), and when it claims a file or device, or
//! judges who has it open: a child that another test starts holds everything that
//! this process has open until it runs its own program, which takes a while on a
//! busy machine, whatever was closed in the meantime.

use std::process::{Command, Stdio};

/// Holds the name of the test that has the process for itself.
const OWNER: &str = "STRIPEWISE_TEST_OWN_PROCESS";

/// At the start of a test: runs the rest of it in a process of its own, and passes
/// when it passes there.
macro_rules! own_process {
    () => {
        fn here() {}
        if !$crate::own_process::is_own(std::any::type_name_of_val(&here)) {
            return;
        }
    };
}

/// Whether this is the process of the test in which `function` is. If not, runs that
/// test in one of its own.
#[track_caller]
pub fn is_own(function: &str) -> bool {
    // The harness names tests without their crate.
    let (_, test) = function.split_once("::").expect("the crate's name");
    let (test, _) = test.rsplit_once("::").expect("the function's own name");
    if std::env::var_os(OWNER).is_some_and(|owner| owner == test) {
        // A refusal by another test that names this process says which test it is.
        let name = test.rsplit("::").next().unwrap_or(test);
        let _ = std::fs::write("/proc/self/comm", name);
        return true;
    }
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--include-ignored", "--test-threads=1"])
        .env(OWNER, test)
        .stdin(Stdio::null())
        // Where skips are named.
        .stderr(Stdio::inherit())
        .output()
        .expect("this program starts");
    // Indented, so that nobody takes its lines for those of this process.
    let text = String::from_utf8_lossy(&output.stdout).replace('\n', "\n    ");
    assert!(output.status.success(), "{}:\n    {text}", output.status);
    assert!(text.contains("1 passed"), "{test} did not run:\n    {text}");
    false
}
