//! The only way to stdout and stderr: nothing else in the program prints
//! (`cargo xtask tidy` holds that). What cannot be written never ends the program,
//! because a measurement that is under way is worth more than the words about it.
//!
//! | stream | a reader that went away | any other error |
//! |---|---|---|
//! | stderr | nothing more is written | [`farewell`] says on stdout that words are missing |
//! | stdout | nothing more is written | reported on stderr at the end, with exit code 3 |
//!
//! A stream that was closed when the program began is as good as `/dev/null`: the
//! standard library opens that in its place, so that no file of ours gets its number.

use crate::exit_codes::Exit;
use crate::failure::Failure;
use crate::show::style::printable;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A line on stderr; written as `eprintln!` is.
macro_rules! say {
    ($($words:tt)*) => {
        $crate::show::terminal::tell(&format!("{}\n", format_args!($($words)*)))
    };
}

/// Text on stderr without a line end of its own; written as `eprint!` is.
macro_rules! say_part {
    ($($words:tt)*) => {
        $crate::show::terminal::tell(&format!($($words)*))
    };
}

pub(crate) use {say, say_part};

/// How long a stream that takes nothing at the moment is left alone.
const AGAIN_AFTER: Duration = Duration::from_millis(5);

/// Why a stream takes no more; the first reason counts.
static STDOUT: OnceLock<std::io::Error> = OnceLock::new();
static STDERR: OnceLock<std::io::Error> = OnceLock::new();

/// Whether stdout holds, or will hold, something that a program reads.
static DOCUMENT: AtomicBool = AtomicBool::new(false);

/// Whether something was measured and is kept, so that it can be shown again.
static KEPT: AtomicBool = AtomicBool::new(false);

/// What was measured is kept, whatever becomes of the words about it.
pub fn expect_no_loss() {
    KEPT.store(true, Ordering::Relaxed);
}

/// From now on only the document that was asked for goes to stdout, and no words
/// that found stderr closed to them.
pub fn expect_document() {
    DOCUMENT.store(true, Ordering::Relaxed);
}

/// Writes words for people to stderr, without control characters of others.
/// What cannot be written is lost.
pub fn tell(text: &str) {
    let _ = to_stderr(text);
}

/// Writes what must be heard: to stderr, and where that is impossible to stdout,
/// unless a document is expected there.
pub fn insist(text: &str) {
    if to_stderr(text).is_none() && takes_words() {
        print(printable(text).as_bytes());
    }
}

/// Writes bytes to stdout as they are. Whether all of them arrived is known to
/// [`unwritten`].
pub fn print(bytes: &[u8]) {
    write(&STDOUT, &mut std::io::stdout().lock(), bytes);
}

/// Prints what the parser of the command line has to say, in its colours.
pub fn print_clap(error: &clap::Error) {
    if !error.use_stderr() {
        // clap decides about colour by the stream; a cut text is no help.
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        note_error(&STDOUT, printed);
    } else if note_error(&STDERR, error.print()).is_none() && takes_words() {
        print(error.render().to_string().as_bytes());
    }
}

/// stdout as a stream, for documents that are too large to be one text. The first
/// error is returned, and is known to [`unwritten`].
#[derive(Debug)]
pub struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match write(&STDOUT, &mut std::io::stdout().lock(), bytes) {
            Some(()) => Ok(bytes.len()),
            None => Err(STDOUT.get().map_or(ErrorKind::Other.into(), again)),
        }
    }

    /// Everything was flushed when it was written.
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The failure of a command whose answer could not be printed in full. A reader
/// that went away has seen enough and is none.
pub fn unwritten() -> Option<Failure> {
    let error = STDOUT.get().filter(|error| is_loss(error))?;
    let room = match KEPT.load(Ordering::Relaxed) {
        true => {
            "make room where it goes; nothing that was measured is lost: `stripewise history` lists it"
        }
        false => "make room where it goes, and run the command again",
    };
    let hint = crate::output::hint_of(error, room);
    Some(Failure::new(
        Exit::Target,
        format!("cannot write to stdout: {error}"),
        hint,
    ))
}

/// Says on stdout that stderr lost words, if it did.
pub fn farewell() {
    let lost = STDERR.get().filter(|error| is_loss(error));
    if let Some(error) = lost
        && takes_words()
    {
        let text = format!("note: messages are missing: cannot write to stderr: {error}\n");
        print(text.as_bytes());
    }
}

/// Whether stdout is a terminal.
pub fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether stderr is a terminal.
pub fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// The same error once more; errors cannot be copied.
fn again(error: &std::io::Error) -> std::io::Error {
    match error.raw_os_error() {
        Some(number) => std::io::Error::from_raw_os_error(number),
        None => error.kind().into(),
    }
}

fn takes_words() -> bool {
    !DOCUMENT.load(Ordering::Relaxed) || stdout_is_terminal()
}

fn is_loss(error: &std::io::Error) -> bool {
    error.kind() != ErrorKind::BrokenPipe
}

fn to_stderr(text: &str) -> Option<()> {
    let text = printable(text);
    write(&STDERR, &mut std::io::stderr().lock(), text.as_bytes())
}

/// Writes everything, or nothing more to a stream that failed before.
fn write(stream: &OnceLock<std::io::Error>, out: &mut dyn Write, bytes: &[u8]) -> Option<()> {
    if stream.get().is_some() {
        return None;
    }
    note_error(stream, write_whole(out, bytes))
}

fn note_error<T>(stream: &OnceLock<std::io::Error>, result: std::io::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let _ = stream.set(error);
            None
        }
    }
}

/// `write_all` and `flush`, which waits for a pipe that somebody made non-blocking.
fn write_whole(out: &mut dyn Write, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match retry(|| out.write(bytes))? {
            0 => return Err(ErrorKind::WriteZero.into()),
            written => bytes = &bytes[written..],
        }
    }
    retry(|| out.flush())
}

fn retry<T>(mut attempt: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    loop {
        match attempt() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(AGAIN_AFTER),
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers one call after the other; then takes a byte at a time.
    struct Scripted {
        errors: Vec<ErrorKind>,
        taken: Vec<u8>,
    }

    impl Write for Scripted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            match self.errors.pop() {
                Some(ErrorKind::WriteZero) => Ok(0),
                Some(kind) => Err(kind.into()),
                None => {
                    self.taken.push(bytes[0]);
                    Ok(1)
                }
            }
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stream_that_is_busy_gets_everything() {
        let mut out = Scripted {
            errors: vec![ErrorKind::WouldBlock, ErrorKind::Interrupted],
            taken: Vec::new(),
        };
        let stream = OnceLock::new();
        assert_eq!(write(&stream, &mut out, b"words"), Some(()));
        assert_eq!(out.taken, b"words");
    }

    #[test]
    fn a_stream_that_failed_gets_nothing_more_and_its_first_reason_counts() {
        for kind in [
            ErrorKind::StorageFull,
            ErrorKind::BrokenPipe,
            ErrorKind::WriteZero,
        ] {
            let mut out = Scripted {
                errors: vec![kind],
                taken: Vec::new(),
            };
            let stream = OnceLock::new();
            assert_eq!(write(&stream, &mut out, b"one"), None);
            assert_eq!(write(&stream, &mut out, b"two"), None);
            assert_eq!(stream.get().unwrap().kind(), kind);
            assert_eq!(out.taken, b"");
        }
    }
}
