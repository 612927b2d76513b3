//! Stripewise: find out what a disk can do, and whether it is laid out right.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    stripewise_cli::main(option_env!("STRIPEWISE_COMMIT"), stripewise_server::serve)
}
