//! A command line of SQLIO, and its parameter file behind it: refused with a hint,
//! or a setup with a report.
#![no_main]

// Its other functions are of other targets.
#[allow(dead_code)]
#[path = "../../crates/compat/tests/it/anything.rs"]
mod anything;

use anything::check_error;
use libfuzzer_sys::fuzz_target;
use stripewise_compat::sqlio::{Command, param_file, setup};

fuzz_target!(|bytes: &[u8]| command_line(bytes));

/// What stands behind `sqlio`, and its parameter file at once.
fn command_line(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines();
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let command = match Command::parse(&words) {
        Ok(command) => command,
        Err(error) => return check_error(&error),
    };
    let rest: String = lines.map(|line| format!("{line}\r\n")).collect();
    let targets = param_file::read(rest.as_bytes(), "fuzz", &command);
    match setup(&command, targets.as_deref().ok()) {
        Ok(setup) => {
            assert!(setup.threads() > 0);
            let _ = setup.report(&command, 1).to_string();
        }
        Err(error) => check_error(&error),
    }
}
