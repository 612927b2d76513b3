//! A program that gets no memory ends with a sentence.

use std::process::Command;
use stripewise_machine::Memory;

#[global_allocator]
static MEMORY: Memory = Memory;

#[test]
#[ignore = "the child of another test"]
fn child_that_wants_too_much() {
    // More than any address space has, however generous the system is.
    let wanted = isize::MAX as usize / 2;
    let growing = std::env::var("STRIPEWISE_TEST_GROWS").is_ok();
    let mut bytes: Vec<u8> = match growing {
        true => vec![1],
        false => Vec::with_capacity(wanted),
    };
    bytes.reserve_exact(wanted);
    // Not reached; and the allocation is not optimised away.
    std::hint::black_box(&bytes);
}

#[test]
fn what_is_refused_is_named_and_the_process_ends() {
    let program = std::env::current_exe().expect("this test");
    for grows in [false, true] {
        let mut child = Command::new(&program);
        child.args([
            "--exact",
            "--ignored",
            "--nocapture",
            "memory::child_that_wants_too_much",
        ]);
        if grows {
            child.env("STRIPEWISE_TEST_GROWS", "1");
        }
        // The standard library's own way would want memory for a backtrace.
        let output = child.env("RUST_BACKTRACE", "1").output().expect("a child");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{grows}: {stderr}");
        let sentence = "error: out of memory: the system refused 46116860184273879";
        assert!(stderr.contains(sentence), "{grows}: {stderr}");
        assert!(
            stderr.contains("more bytes\nhint: raise the limit"),
            "{grows}: {stderr}"
        );
    }
}
