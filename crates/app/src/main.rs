//! Stripewise: find out what a disk can do, and whether it is laid out right.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use stripewise_cli::{Output, Surroundings, run};

/// Ends with a sentence, and exit code 3, when memory runs out.
#[global_allocator]
static MEMORY: stripewise_machine::Memory = stripewise_machine::Memory;

fn main() -> ExitCode {
    stripewise_machine::describe_out_of_memory();
    let surroundings = Surroundings {
        commit: option_env!("STRIPEWISE_COMMIT"),
        serve: stripewise_server::serve,
        ..Surroundings::of_process()
    };
    let arguments = std::env::args_os().collect();
    ExitCode::from(run(arguments, surroundings, Output::of_process()).code())
}
