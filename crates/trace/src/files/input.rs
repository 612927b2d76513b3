//! The bytes of a file, by line or by record, in bounded memory.

use super::compression::Bytes;
use super::text::{Utf16, encoding, without_padding};
use std::io::{self, BufRead, BufReader, Read};

/// Bytes examined to detect the format.
const HEAD_BYTES: usize = 64 << 10;
/// Longer lines do not belong to a trace.
const LINE_BYTES_MAX: usize = 4 << 10;

/// Reads a file.
pub(crate) struct Input<'a> {
    bytes: BufReader<Bytes<'a>>,
    line: Vec<u8>,
    /// Lines or records taken so far.
    pub taken: u64,
}

/// A line of a file.
pub(crate) enum Line<'b> {
    /// Its bytes, without the end.
    Bytes(&'b [u8]),
    /// Longer than any line of a trace.
    TooLong,
}

impl<'a> Input<'a> {
    /// Reads the beginning without consuming it; text becomes UTF-8.
    pub fn new(bytes: Bytes<'a>) -> io::Result<(Self, Vec<u8>)> {
        let (mut head, mut rest) = beginning(bytes)?;
        let (mark, unit) = encoding(&head);
        head.drain(..mark);
        if let Some(unit) = unit {
            (head, rest) = beginning(Box::new(Utf16::new(joined(&head, rest), unit)))?;
        }
        let input = Input {
            bytes: BufReader::with_capacity(HEAD_BYTES, joined(&head, rest)),
            line: Vec::new(),
            taken: 0,
        };
        Ok((input, head))
    }

    /// The next line; None at the end.
    ///
    /// # Errors
    /// If the file is truncated or damaged; the incomplete line is lost.
    pub fn line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut is_long = false;
        loop {
            let part = self.bytes.fill_buf()?;
            if part.is_empty() {
                if self.line.is_empty() && !is_long {
                    return Ok(None);
                }
                break;
            }
            let end = part.iter().position(|&byte| byte == b'\n');
            let length = end.unwrap_or(part.len());
            let text = without_padding(&part[..length]);
            is_long |= self.line.len() + text.len() > LINE_BYTES_MAX;
            if !is_long {
                self.line.extend_from_slice(text);
            }
            self.bytes.consume(end.map_or(length, |end| end + 1));
            if end.is_some() {
                break;
            }
        }
        self.taken += 1;
        Ok(Some(if is_long {
            Line::TooLong
        } else {
            Line::Bytes(self.line.trim_ascii())
        }))
    }

    /// The next record of this length; None at the end.
    ///
    /// # Errors
    /// `UnexpectedEof` if the file ends within it; others if it is damaged.
    pub fn record(&mut self, bytes: &mut [u8]) -> io::Result<Option<()>> {
        if self.bytes.fill_buf()?.is_empty() {
            return Ok(None);
        }
        self.bytes.read_exact(bytes)?;
        self.taken += 1;
        Ok(Some(()))
    }

    /// Payload of the last record: the first `keep` of `length` bytes.
    pub fn rest_of_record(&mut self, length: usize, keep: usize) -> io::Result<Vec<u8>> {
        let mut retained = vec![0; length.min(keep)];
        self.bytes.read_exact(&mut retained)?;
        let left = (length - retained.len()) as u64;
        let skipped = io::copy(&mut self.bytes.by_ref().take(left), &mut io::sink())?;
        if skipped < left {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(retained)
    }
}

/// The first bytes of a file, and those behind them.
fn beginning(mut bytes: Bytes<'_>) -> io::Result<(Vec<u8>, Bytes<'_>)> {
    let mut head = Vec::new();
    let ended = bytes
        .by_ref()
        .take(HEAD_BYTES as u64)
        .read_to_end(&mut head);
    // A file truncated within its first bytes still has them.
    match ended {
        Ok(_) => Ok((head, bytes)),
        Err(error) if head.is_empty() => Err(error),
        Err(error) => {
            let rest: Bytes<'_> = Box::new(Broken(Some(error)));
            Ok((head, rest))
        }
    }
}

fn joined<'a>(head: &[u8], rest: Bytes<'a>) -> Bytes<'a> {
    Box::new(io::Cursor::new(head.to_vec()).chain(rest))
}

/// A file that failed while its beginning was being read.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(self.0.take().unwrap_or(io::ErrorKind::UnexpectedEof.into()))
    }
}
