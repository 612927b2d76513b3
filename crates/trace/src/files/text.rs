//! Encodings of text: UTF-8, with a byte order mark or without, and UTF-16, as PowerShell's `>` and
//! SQL Server Management Studio write it. The zero bytes that a crash leaves behind a file's last
//! line are no text.

use super::compression::Bytes;
use std::borrow::Cow;
use std::io::{self, Read};
use stripewise_units::{utf16_text, utf16_units};

/// Bytes of UTF-16 without a mark that leave no doubt.
const SURE_BYTES: usize = 32;
/// Bytes decoded at a time; even.
const CHUNK_BYTES: u64 = 16 << 10;

/// The number of two bytes.
pub(crate) type Unit = fn([u8; 2]) -> u16;

const LITTLE: Unit = u16::from_le_bytes;
const BIG: Unit = u16::from_be_bytes;

/// The length of the byte order mark that a file begins with, and how its UTF-16 is read; `None` for
/// UTF-8 and for what is no text.
pub(crate) fn encoding(head: &[u8]) -> (usize, Option<Unit>) {
    // Behind a mark, two bytes are enough: binary records may begin with the same ones.
    let is_wide = |unit: Unit, bytes: &[u8], least: usize| {
        let mut signs = utf16_units(bytes, unit).take(least / 2);
        let is_plain = |sign: u16| matches!(sign, 9 | 10 | 13 | 0x20..=0x7e);
        bytes.len() >= least && signs.all(is_plain)
    };
    match head {
        [0xef, 0xbb, 0xbf, ..] => (3, None),
        [0xff, 0xfe, rest @ ..] if is_wide(LITTLE, rest, 2) => (2, Some(LITTLE)),
        [0xfe, 0xff, rest @ ..] if is_wide(BIG, rest, 2) => (2, Some(BIG)),
        _ if is_wide(LITTLE, head, SURE_BYTES) => (0, Some(LITTLE)),
        _ if is_wide(BIG, head, SURE_BYTES) => (0, Some(BIG)),
        _ => (0, None),
    }
}

/// The text of a file.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let (mark, unit) = encoding(bytes);
    let bytes = &bytes[mark..];
    match unit {
        None => String::from_utf8_lossy(without_padding(bytes)),
        Some(unit) => {
            let mut text = utf16_text(utf16_units(bytes, unit));
            text.truncate(text.trim_end_matches('\0').len());
            Cow::Owned(text)
        }
    }
}

/// Bytes without the zeros behind them.
pub(crate) fn without_padding(bytes: &[u8]) -> &[u8] {
    let last = bytes.iter().rposition(|byte| *byte != 0);
    &bytes[..last.map_or(0, |last| last + 1)]
}

/// UTF-16, read as UTF-8.
pub(crate) struct Utf16<'a> {
    bytes: Bytes<'a>,
    unit: Unit,
    text: io::Cursor<Vec<u8>>,
    /// The first half of a sign whose other half follows.
    half: Option<u16>,
    /// To be returned behind what was read before it.
    failure: Option<io::Error>,
    is_ended: bool,
}

impl<'a> Utf16<'a> {
    pub fn new(bytes: Bytes<'a>, unit: Unit) -> Self {
        Utf16 {
            bytes,
            unit,
            text: io::Cursor::default(),
            half: None,
            failure: None,
            is_ended: false,
        }
    }
}

impl Read for Utf16<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let taken = self.text.read(buffer)?;
            if taken > 0 || buffer.is_empty() || self.is_ended {
                return Ok(taken);
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            let mut raw = Vec::new();
            let read = self.bytes.by_ref().take(CHUNK_BYTES).read_to_end(&mut raw);
            match read {
                Err(failure) if raw.is_empty() => return Err(failure),
                read => self.failure = read.err(),
            }
            let mut all: Vec<u16> = self.half.take().into_iter().collect();
            all.extend(utf16_units(&raw, self.unit));
            self.is_ended = raw.is_empty();
            if !self.is_ended && matches!(all.last(), Some(0xd800..=0xdbff)) {
                self.half = all.pop();
            }
            self.text = io::Cursor::new(utf16_text(all).into_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `>` of PowerShell writes it, and as programs of other machines do.
    fn wide(text: &str, mark: bool, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let mark = mark.then_some(0xfeff);
        let units = mark.into_iter().chain(text.encode_utf16());
        units.flat_map(bytes).collect()
    }

    #[test]
    fn the_same_text_comes_out_of_every_encoding() {
        // Signs of two halves, one of which is at the end of a chunk.
        let text = format!(
            "{}{}\r\n",
            "Timestamp,Hostname\r\n",
            "\u{1f4be}".repeat(9_000)
        );
        for bytes in [
            text.clone().into_bytes(),
            format!("\u{feff}{text}").into_bytes(),
            wide(&text, true, u16::to_le_bytes),
            wide(&text, true, u16::to_be_bytes),
            wide(&text, false, u16::to_le_bytes),
            wide(&text, false, u16::to_be_bytes),
        ] {
            assert_eq!(decoded(&bytes), text);
            assert_eq!(decoded(&[&bytes[..], &[0; 64]].concat()), text);
            let (mark, unit) = encoding(&bytes);
            let Some(unit) = unit else { continue };
            let mut read = String::new();
            let source = Box::new(&bytes[mark..]) as Bytes;
            let mut wide = Utf16::new(source, unit);
            wide.read_to_string(&mut read).unwrap();
            assert_eq!(read, text);
        }
    }

    #[test]
    fn records_that_begin_like_a_mark_are_no_text() {
        let records: [&[u8]; 4] = [
            &[0xff, 0xfe, 0, 0, 8, 0, 0, 0],
            &[0xfe, 0xff],
            &[b'a', 0, b'b', 0],
            &[],
        ];
        for bytes in records {
            assert_eq!(encoding(bytes).0, 0, "{bytes:x?}");
            assert!(encoding(bytes).1.is_none(), "{bytes:x?}");
        }
    }
}
