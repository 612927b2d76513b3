//! Reads files that the user names: results, plans, workloads.
//!
//! The source is a regular file or a pipe, read up to a limit: a mistyped name may
//! be a whole disk. A separate thread opens and reads it, because both may block
//! forever (a pipe without a writer, a dead file server) and Ctrl-C must end that
//! wait; the thread then dies with the process.

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome, no_thread};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
use stripewise_units::{NameText, format_bytes};

/// Limit for results: days of another tool's output, or documents of many thousands of runs.
/// All of it is in memory while it is parsed.
pub const RESULTS_BYTES_MAX: u64 = 4 << 30;
/// Limit for anything of unknown length that is not a regular file: `/dev/zero`, a disk.
const ENDLESS_BYTES_MAX: u64 = 256 << 20;
/// Limit for plans and workloads, which people write by hand.
pub const PLAN_BYTES_MAX: u64 = 16 << 20;

/// How often a wait checks for an interrupt.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Checks before a status line says what is waited for: two seconds.
const LOOKS_UNTOLD: u32 = 100;

/// Why reading failed.
enum Problem {
    System(std::io::Error),
    /// The source is larger than this many bytes.
    TooLarge(u64),
}

/// Reads all bytes of a file or pipe. `hint` says what to do if it cannot be
/// read.
pub fn read(context: &Context, path: &Path, bytes_max: u64, hint: &str) -> Outcome<Vec<u8>> {
    let (sender, receiver) = channel();
    let name = path.to_owned();
    let look = move || {
        // The receiver is gone after an interruption.
        let _ = sender.send(read_here(&name, bytes_max));
    };
    std::thread::Builder::new()
        .spawn(look)
        .map_err(|error| no_thread(&format!("to read {}", path.as_text()), &error))?;
    let mut looks = 0;
    loop {
        match receiver.recv_timeout(LOOK_EVERY) {
            Ok(Ok(bytes)) => return Ok(bytes),
            Ok(Err(problem)) => return Err(failure(path, bytes_max, &problem, hint)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let problem = Problem::System(std::io::Error::other("the reading thread failed"));
                return Err(failure(path, bytes_max, &problem, hint));
            }
        }
        if let Some(signal) = context.signal() {
            return Err(Failure::new(
                Exit::Interrupted(signal),
                format!("interrupted while reading {}", path.as_text()),
                "nothing was measured or changed; name a file, or a pipe that somebody writes to",
            ));
        }
        looks += 1;
        if looks == LOOKS_UNTOLD {
            context.status(format!(
                "Waiting for {} to be written to; Ctrl-C ends it.",
                path.as_text()
            ));
        }
    }
}

/// As [`read`], returning text.
pub fn read_text(context: &Context, path: &Path, bytes_max: u64, hint: &str) -> Outcome<String> {
    String::from_utf8(read(context, path, bytes_max, hint)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::usage(
            format!("cannot read {}: no UTF-8 text at byte {at}", path.as_text()),
            hint,
        )
    })
}

fn read_here(path: &Path, bytes_max: u64) -> Result<Vec<u8>, Problem> {
    let file = File::open(path).map_err(Problem::System)?;
    // A regular file's length is known in advance; for a pipe or device, read one byte more.
    let metadata = file.metadata().map_err(Problem::System)?;
    let bytes_max = match metadata.is_file() {
        true if metadata.len() > bytes_max => return Err(Problem::TooLarge(bytes_max)),
        true => bytes_max,
        false => bytes_max.min(ENDLESS_BYTES_MAX),
    };
    let mut bytes = Vec::new();
    file.take(bytes_max + 1)
        .read_to_end(&mut bytes)
        .map_err(Problem::System)?;
    if bytes.len() as u64 > bytes_max {
        return Err(Problem::TooLarge(bytes_max));
    }
    Ok(bytes)
}

fn failure(path: &Path, bytes_max: u64, problem: &Problem, hint: &str) -> Failure {
    let path = path.as_text();
    match problem {
        Problem::System(error) => Failure::usage(format!("cannot read {path}: {error}"), hint),
        Problem::TooLarge(limit) => {
            let limit = format_bytes(*limit);
            let hint = match bytes_max {
                RESULTS_BYTES_MAX => format!(
                    "at most {limit} are read from it; write the results to a file, or split them into several"
                ),
                // No one writes a plan that large: this is probably the wrong file.
                _ => format!("{hint} (at most {limit} are read)"),
            };
            Failure::usage(
                format!("cannot read {path}: it is larger than {limit}"),
                hint,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit_and_not_beyond() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results");
        std::fs::write(&path, b"12345678").unwrap();
        assert_eq!(read_here(&path, 8).ok().unwrap(), b"12345678");
        assert!(matches!(read_here(&path, 7), Err(Problem::TooLarge(7))));
        // The device reports no length and has no end.
        let endless = Path::new("/dev/zero");
        if endless.exists() {
            assert!(matches!(
                read_here(endless, 1_000),
                Err(Problem::TooLarge(_))
            ));
        }
        assert!(matches!(
            read_here(directory.path(), 8),
            Err(Problem::System(_))
        ));
    }
}
