//! Programs whose stdout and stderr lead somewhere else than to a reader.

use super::machine::append;
use super::{Answer, code_of};
use std::fs::OpenOptions;
use std::process::{Command, Stdio};

/// Where a stream leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// To the test, which reads all of it.
    Read,
    /// To a full disk.
    Full,
    /// To a reader that went away.
    Gone,
    /// Nowhere: its number is free when the program starts.
    Closed,
}

impl Stream {
    fn stdio(self) -> Stdio {
        match self {
            Stream::Read => Stdio::piped(),
            Stream::Full => {
                let full = OpenOptions::new().write(true).open("/dev/full");
                full.expect("/dev/full").into()
            }
            Stream::Gone => {
                let (_, writer) = std::io::pipe().expect("a pipe");
                writer.into()
            }
            // The shell between closes it.
            Stream::Closed => Stdio::null(),
        }
    }
}

/// Runs a command to its end with these streams; what is not read is empty.
pub fn answer(command: &Command, stdout: Stream, stderr: Stream) -> Answer {
    let close = |stream, words| if stream == Stream::Closed { words } else { "" };
    let mut shell = Command::new("/bin/sh");
    shell.args([
        "-c",
        &format!(
            "exec \"$@\" {} {}",
            close(stdout, ">&-"),
            close(stderr, "2>&-")
        ),
        "sh",
    ]);
    append(&mut shell, command);
    let child = shell.stdout(stdout.stdio()).stderr(stderr.stdio()).spawn();
    // A pipe's writer in the command would keep its reader waiting.
    let line = format!("{shell:?} stdout {stdout:?}, stderr {stderr:?}");
    drop(shell);
    let output = child.expect("a shell").wait_with_output().expect("an end");
    let text = |bytes| String::from_utf8(bytes).expect("the program prints text");
    let answer = Answer {
        code: code_of(output.status),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        line,
    };
    answer.unbroken()
}
