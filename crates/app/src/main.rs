//! Stripewise: find out what a disk can do, and whether it is laid out right.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Ends with a sentence, and exit code 3, when memory runs out.
#[global_allocator]
static MEMORY: stripewise_machine::Memory = stripewise_machine::Memory;

fn main() -> ExitCode {
    stripewise_machine::explain_lack_of_memory();
    stripewise_cli::main(option_env!("STRIPEWISE_COMMIT"), stripewise_server::serve)
}
