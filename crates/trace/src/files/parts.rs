//! `blktrace` writes a file for each CPU: `sda.blktrace.0`, `sda.blktrace.1` and so on. An operation
//! begins in one and completes in another, so that each by itself says little: here they become
//! one, in the order of time.

use super::blktrace::Layout;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// Behind it is the number of the CPU.
const MARK: &str = ".blktrace.";
/// Bytes of a part that are read at once.
const BUFFER_BYTES: usize = 64 << 10;

/// The name that all parts of a trace begin with, and the number of this one; `None` for the name
/// of another file.
pub fn part_of(name: &str) -> Option<(&str, u32)> {
    let at = name.rfind(MARK)? + MARK.len();
    let (common, number) = name.split_at(at);
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    Some((common, number.parse().ok().filter(|_| is_number)?))
}

/// Reads the parts of a trace as one. What is in no order within a part stays so.
#[derive(Debug)]
pub struct JoinedParts<R> {
    parts: Vec<Part<R>>,
    /// The record that is being read out.
    record: Cursor<Vec<u8>>,
    /// Why a part ended early, to be returned behind that record.
    failure: Option<io::Error>,
}

#[derive(Debug)]
struct Part<R> {
    bytes: BufReader<R>,
    /// The next record with what follows it; empty at the end.
    next: Vec<u8>,
    at_ns: u64,
}

impl<R: Read> JoinedParts<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// If one of them cannot be read, or is cut within its first record.
    pub fn new(parts: Vec<R>) -> io::Result<Self> {
        let begun = parts.into_iter().map(|bytes| -> io::Result<Part<R>> {
            let mut part = Part {
                bytes: BufReader::with_capacity(BUFFER_BYTES, bytes),
                next: Vec::new(),
                at_ns: 0,
            };
            part.read_on()?;
            Ok(part)
        });
        Ok(JoinedParts {
            parts: begun.collect::<io::Result<_>>()?,
            record: Cursor::default(),
            failure: None,
        })
    }
}

impl<R: Read> Part<R> {
    /// Reads the next record, after the last one was taken.
    fn read_on(&mut self) -> io::Result<()> {
        if self.bytes.fill_buf()?.is_empty() {
            return Ok(());
        }
        let mut start = [0; 4];
        self.bytes.read_exact(&mut start)?;
        let layout = Layout::recognise(&start).ok_or_else(|| {
            let why = "a record does not begin as records do";
            io::Error::new(io::ErrorKind::InvalidData, why)
        })?;
        let mut record = start.to_vec();
        record.resize(layout.record_bytes(), 0);
        self.bytes.read_exact(&mut record[start.len()..])?;
        let length = record.len();
        record.resize(length + layout.bytes_behind(&record), 0);
        self.bytes.read_exact(&mut record[length..])?;
        self.at_ns = layout.time_ns(&record);
        self.next = record;
        Ok(())
    }
}

impl<R: Read> JoinedParts<R> {
    /// Takes the earliest record of all parts; false at the end.
    fn read_on(&mut self) -> bool {
        let waiting = self.parts.iter_mut().filter(|part| !part.next.is_empty());
        let Some(first) = waiting.min_by_key(|part| part.at_ns) else {
            return false;
        };
        self.record = Cursor::new(std::mem::take(&mut first.next));
        self.failure = first.read_on().err();
        true
    }
}

impl<R: Read> Read for JoinedParts<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let length = self.record.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            if !self.read_on() {
                return Ok(0);
            }
        }
    }
}
