//! The only access to stdout and stderr: nothing else in the program prints
//! (`cargo xtask tidy` enforces that). A failed write never ends the program,
//! because a measurement in progress is worth more than the text about it.
//!
//! | stream | a reader that went away | any other error |
//! |---|---|---|
//! | stderr | nothing more is written | [`Output::flush_and_report`] says on stdout that words are missing |
//! | stdout | nothing more is written | reported on stderr at the end, with exit code 3 |
//!
//! A stream that was closed when the program began behaves like `/dev/null`: the
//! standard library opens that in its place, so that no other file gets its number.

use crate::failure::Failure;
use crate::show::style::printable;
use crate::switches::hints::Words;
use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::rc::Rc;
use std::time::Duration;

/// Prints a line on stderr; used like `eprintln!`, with the [`Output`] first.
macro_rules! say {
    ($output:expr, $($words:tt)*) => {
        $output.tell(&format!("{}\n", format_args!($($words)*)))
    };
}

/// Prints text on stderr without a line ending; used like `eprint!`.
macro_rules! say_part {
    ($output:expr, $($words:tt)*) => {
        $output.tell(&format!($($words)*))
    };
}

pub(crate) use {say, say_part};

/// Delay before retrying a stream that currently accepts nothing.
const AGAIN_AFTER: Duration = Duration::from_millis(5);

/// Assumed columns of a terminal of unknown width.
const COLUMNS_USUAL: usize = 100;
/// Minimum columns of text.
const COLUMNS_MIN: usize = 40;

/// The two output streams, and what is known about their readers.
pub struct Output {
    stdout: Stream,
    stderr: Stream,
    /// These are the streams of the process, which the command-line parser and the
    /// progress bar know by themselves.
    is_of_process: bool,
    /// stdout holds, or will hold, output for a program.
    document: Cell<bool>,
    /// stdout holds JSON lines, with the document as the last one.
    events: Cell<bool>,
    /// Something was measured and stored, so that it can be shown again.
    stored: Cell<bool>,
    /// The parsed command's names for the options of a run.
    words: OnceCell<Words>,
    /// Columns at which text is wrapped, if requested.
    columns: Cell<Option<usize>>,
}

/// One of the streams.
struct Stream {
    writer: RefCell<Box<dyn Write>>,
    is_terminal: bool,
    /// Why it accepts no more; the first reason counts.
    error: OnceCell<std::io::Error>,
}

impl Output {
    /// stdout and stderr of this process.
    pub fn of_process() -> Output {
        let (stdout, stderr) = (std::io::stdout(), std::io::stderr());
        let are_terminals = [stdout.is_terminal(), stderr.is_terminal()];
        Output::over(Box::new(stdout), Box::new(stderr), are_terminals, true)
    }

    /// Output to streams that are not terminals.
    pub fn new(stdout: Box<dyn Write>, stderr: Box<dyn Write>) -> Output {
        Output::over(stdout, stderr, [false; 2], false)
    }

    fn over(
        stdout: Box<dyn Write>,
        stderr: Box<dyn Write>,
        are_terminals: [bool; 2],
        is_of_process: bool,
    ) -> Output {
        Output {
            stdout: Stream::new(stdout, are_terminals[0]),
            stderr: Stream::new(stderr, are_terminals[1]),
            is_of_process,
            document: Cell::new(false),
            events: Cell::new(false),
            stored: Cell::new(false),
            words: OnceCell::new(),
            columns: Cell::new(None),
        }
    }

    /// Results are stored, even if the text about them is lost.
    pub fn expect_no_loss(&self) {
        self.stored.set(true);
    }

    /// From now on, only the requested document goes to stdout, and no text
    /// that could not be written to stderr.
    pub fn expect_document(&self) {
        self.document.set(true);
    }

    /// From now on, stdout holds JSON lines.
    pub fn expect_events(&self) {
        self.events.set(true);
    }

    /// Whether stdout holds JSON lines.
    pub fn expects_events(&self) -> bool {
        self.events.get()
    }

    /// From now on, hints are worded for the parsed command.
    pub fn reworded(&self, words: Words) {
        let _ = self.words.set(words);
    }

    /// The words for hints; before a command is known, the default ones.
    pub fn words(&self) -> Words {
        self.words.get().cloned().unwrap_or_default()
    }

    /// From now on, text is wrapped to the columns given by `COLUMNS`, else to those of the
    /// terminal. A pipe gets lines as they are, unless their width is given.
    pub fn fit(&self, variable: &dyn Fn(&str) -> Option<OsString>) {
        let requested = || variable("COLUMNS")?.into_string().ok()?.trim().parse().ok();
        let columns: Option<usize> = requested().or_else(|| self.terminal_columns());
        self.columns
            .set(columns.map(|columns| columns.max(COLUMNS_MIN)));
    }

    /// Columns of the reader, or [`COLUMNS_USUAL`] if unknown.
    pub fn width(&self) -> usize {
        self.columns.get().unwrap_or(COLUMNS_USUAL)
    }

    /// Text as displayed: without foreign control characters, and no wider than
    /// requested.
    pub fn shown(&self, text: &str) -> String {
        let text = printable(text);
        match self.columns.get() {
            Some(columns) => fitted(&text, columns, None),
            None => text.into_owned(),
        }
    }

    /// Text wrapped to the reader's width, or to [`COLUMNS_USUAL`] if unknown; continuation
    /// lines start in column `hanging`, else slightly indented.
    pub fn broken(&self, text: &str, hanging: Option<usize>) -> String {
        fitted(&printable(text), self.width(), hanging)
    }

    /// Writes sentences for people to stderr, wrapped.
    pub fn explain(&self, text: &str) {
        self.tell(&self.broken(text, None));
    }

    /// Writes text for people to stderr, without foreign control characters.
    /// Text that cannot be written is lost.
    pub fn tell(&self, text: &str) {
        let _ = self.to_stderr(text);
    }

    /// Writes text that must be seen: to stderr or, if that fails, to stdout,
    /// unless a document is expected there.
    pub fn insist(&self, text: &str) {
        if self.to_stderr(text).is_none() && self.takes_words() {
            self.print(self.shown(text).as_bytes());
        }
    }

    /// Writes bytes to stdout unchanged. [`Output::unwritten`] reports whether all of them
    /// arrived.
    pub fn print(&self, bytes: &[u8]) {
        let _ = self.stdout.write(bytes);
    }

    /// Prints what the user requested from the command-line parser, in its colours.
    pub fn print_clap(&self, requested: &clap::Error) {
        let text = requested.render().to_string();
        // The parser does not wrap the list of commands.
        let is_wide = text.lines().any(|line| width_of(line) > self.width());
        if !self.is_of_process || is_wide {
            return self.print(fitted(&text, self.width(), None).as_bytes());
        }
        // clap decides on colour by stream; truncated text is no help.
        let printed = requested.print().and_then(|()| std::io::stdout().flush());
        self.stdout.note_error(printed);
    }

    /// Columns that help is wrapped to; `None` if the command-line parser determines
    /// them.
    pub fn columns(&self) -> Option<usize> {
        (!self.is_of_process).then_some(COLUMNS_USUAL)
    }

    /// Columns of the terminal behind stdout, if it is one.
    fn terminal_columns(&self) -> Option<usize> {
        if !self.is_of_process || !self.stdout.is_terminal {
            return None;
        }
        terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0.into())
    }

    /// The failure of a command whose answer could not be printed in full. A closed
    /// pipe is not a failure: its reader has enough.
    pub fn unwritten(&self) -> Option<Failure> {
        let error = self.stdout.loss()?;
        let room = match self.stored.get() {
            true => {
                "make room where it goes; nothing that was measured is lost: `stripewise history` lists it"
            }
            false => "make room where it goes, and run the command again",
        };
        let hint = crate::output::hint_of(error, room);
        Some(Failure::target(
            format!("cannot write to stdout: {error}"),
            hint,
        ))
    }

    /// Reports on stdout that stderr lost text, if it did.
    pub fn flush_and_report(&self) {
        if let Some(error) = self.stderr.loss()
            && self.takes_words()
        {
            let text = format!("note: messages are missing: cannot write to stderr: {error}\n");
            self.print(text.as_bytes());
        }
    }

    /// Whether stdout is a terminal.
    pub fn stdout_is_terminal(&self) -> bool {
        self.stdout.is_terminal
    }

    /// Whether stderr is a terminal.
    pub fn stderr_is_terminal(&self) -> bool {
        self.stderr.is_terminal
    }

    fn takes_words(&self) -> bool {
        !self.document.get() || self.stdout.is_terminal
    }

    fn to_stderr(&self, text: &str) -> Option<()> {
        self.stderr.write(self.shown(text).as_bytes())
    }
}

/// Wraps overlong lines between words; continuation lines start in column `hanging`, else
/// slightly indented.
fn fitted(text: &str, columns: usize, hanging: Option<usize>) -> String {
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if width_of(line.trim_end()) <= columns {
            fitted.push_str(line);
            continue;
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let behind = hanging.unwrap_or(indent + 2);
        let mut width = indent;
        fitted.push_str(&line[..indent]);
        for (number, word) in line.trim().split(' ').enumerate() {
            let more = width_of(word) + usize::from(number > 0);
            if number > 0 && width + more > columns && width > behind {
                fitted.push('\n');
                fitted.push_str(&" ".repeat(behind));
                width = behind + width_of(word);
            } else {
                fitted.push_str(if number > 0 { " " } else { "" });
                width += more;
            }
            fitted.push_str(word);
        }
        if line.ends_with('\n') {
            fitted.push('\n');
        }
    }
    fitted
}

/// Columns of a line; colour escapes take none.
fn width_of(line: &str) -> usize {
    let mut parts = line.split("\x1b[");
    let first = parts.next().map_or(0, |part| part.chars().count());
    let behind = |part: &str| {
        let (_, words) = part.split_once('m').unwrap_or(("", part));
        words.chars().count()
    };
    first + parts.map(behind).sum::<usize>()
}

/// stdout as a stream, for documents too large for one string. The first
/// error is returned, and [`Output::unwritten`] reports it too.
pub struct Stdout(pub Rc<Output>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let stream = &self.0.stdout;
        match stream.write(bytes) {
            Some(()) => Ok(bytes.len()),
            None => Err(stream.error.get().map_or(ErrorKind::Other.into(), again)),
        }
    }

    /// Every write has already been flushed.
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Recreates the error; errors cannot be cloned.
fn again(error: &std::io::Error) -> std::io::Error {
    match error.raw_os_error() {
        Some(number) => std::io::Error::from_raw_os_error(number),
        None => error.kind().into(),
    }
}

impl Stream {
    fn new(writer: Box<dyn Write>, is_terminal: bool) -> Stream {
        Stream {
            writer: RefCell::new(writer),
            is_terminal,
            error: OnceCell::new(),
        }
    }

    /// Writes everything; writes nothing more to a stream that failed before.
    fn write(&self, bytes: &[u8]) -> Option<()> {
        if self.error.get().is_some() {
            return None;
        }
        self.note_error(write_whole(&mut **self.writer.borrow_mut(), bytes))
    }

    fn note_error(&self, result: std::io::Result<()>) -> Option<()> {
        result.map_err(|error| self.error.set(error)).ok()
    }

    /// Why it lost something. A reader that closed the pipe lost nothing.
    fn loss(&self) -> Option<&std::io::Error> {
        let error = self.error.get();
        error.filter(|error| error.kind() != ErrorKind::BrokenPipe)
    }
}

/// `write_all` and `flush`; waits if another process made the pipe non-blocking.
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

    /// Returns one scripted result per call; then accepts a byte at a time.
    #[derive(Clone, Default)]
    struct Scripted {
        errors: Vec<ErrorKind>,
        taken: Rc<RefCell<Vec<u8>>>,
    }

    impl Write for Scripted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            match self.errors.pop() {
                Some(ErrorKind::WriteZero) => Ok(0),
                Some(kind) => Err(kind.into()),
                None => {
                    self.taken.borrow_mut().push(bytes[0]);
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
        let out = Scripted {
            errors: vec![ErrorKind::WouldBlock, ErrorKind::Interrupted],
            ..Scripted::default()
        };
        let stream = Stream::new(Box::new(out.clone()), false);
        assert_eq!(stream.write(b"words"), Some(()));
        assert_eq!(*out.taken.borrow(), b"words");
    }

    #[test]
    fn a_stream_that_failed_gets_nothing_more_and_its_first_reason_counts() {
        for kind in [
            ErrorKind::StorageFull,
            ErrorKind::BrokenPipe,
            ErrorKind::WriteZero,
        ] {
            let out = Scripted {
                errors: vec![kind],
                ..Scripted::default()
            };
            let stream = Stream::new(Box::new(out.clone()), false);
            assert_eq!(stream.write(b"one"), None);
            assert_eq!(stream.write(b"two"), None);
            assert_eq!(stream.error.get().unwrap().kind(), kind);
            assert_eq!(*out.taken.borrow(), b"");
        }
    }

    #[test]
    fn long_lines_are_broken_between_words_and_colours_take_no_room() {
        let text = "short\n  one two three four\n";
        assert_eq!(
            fitted(text, 12, None),
            "short\n  one two\n    three\n    four\n"
        );
        assert_eq!(fitted("  a one two\n", 7, Some(4)), "  a one\n    two\n");
        let coloured = "\u{1b}[1mone two\u{1b}[0m three\n";
        assert_eq!(fitted(coloured, 13, None), coloured);
        assert_eq!(fitted("averylongword\n", 5, None), "averylongword\n");
    }
}
