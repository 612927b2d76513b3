//! The program for its own tests on a disk that is nearly full: of every file system it has
//! to leave free what it would of one of 4 GiB. Tests start it where the program that users
//! have would make no file; there is no switch, file or variable for that.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use stripewise_cli::{FileSystemSize, Output, Surroundings, run};

#[global_allocator]
static MEMORY: stripewise_machine::Memory = stripewise_machine::Memory;

fn main() -> ExitCode {
    stripewise_machine::describe_out_of_memory();
    let surroundings = Surroundings {
        serve: stripewise_server::serve,
        file_system_size: FileSystemSize::AtMost { bytes: 4 << 30 },
        ..Surroundings::of_process()
    };
    let arguments = std::env::args_os().collect();
    ExitCode::from(run(arguments, surroundings, Output::of_process()).code())
}
