//! Bounded reads of data that may be damaged or hostile: a device, an image, a part of either.
//!
//! A [`Medium`] knows its length and a budget. Bytes outside are absent; reads beyond the budget
//! are refused. So a parser over a medium may follow any number it finds, at a cost limited by the
//! budget.

use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use stripewise_units::in_one_row;

/// The largest single piece.
pub const PIECE_BYTES_MAX: usize = 8 << 20;
/// Default limit for the total of all pieces of one medium.
pub const BUDGET_BYTES: u64 = 64 << 20;

/// Bytes with random access.
pub trait Bytes {
    /// Total length.
    fn size_bytes(&self) -> u64;

    /// Reads a whole piece.
    ///
    /// # Errors
    /// `UnexpectedEof` if any of it lies outside; `InvalidInput` if it is larger than
    /// [`PIECE_BYTES_MAX`] or the budget is used up; otherwise the operating system's error.
    fn piece(&mut self, offset_bytes: u64, length: usize) -> Result<Vec<u8>>;
}

/// A bounded reader. Reads whole sectors of 4 KiB, so that raw character devices and direct
/// descriptors would work as well.
#[derive(Debug)]
pub struct Medium<R> {
    reader: R,
    size_bytes: u64,
    budget_bytes: u64,
}

impl<R: Read + Seek> Medium<R> {
    /// For a reader of this many bytes.
    pub fn new(reader: R, size_bytes: u64) -> Self {
        Medium {
            reader,
            size_bytes,
            budget_bytes: BUDGET_BYTES,
        }
    }
}

impl<R: Read + Seek> Bytes for Medium<R> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn piece(&mut self, offset_bytes: u64, length: usize) -> Result<Vec<u8>> {
        check(self.size_bytes, offset_bytes, length)?;
        self.budget_bytes = self
            .budget_bytes
            .checked_sub(length as u64)
            .ok_or_else(|| Error::new(ErrorKind::InvalidInput, "too much to look at"))?;
        self.reader.seek(SeekFrom::Start(offset_bytes))?;
        let mut bytes = vec![0; length];
        self.reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

fn check(size_bytes: u64, offset_bytes: u64, length: usize) -> Result<()> {
    if length > PIECE_BYTES_MAX {
        return Err(Error::new(ErrorKind::InvalidInput, "too large a piece"));
    }
    match offset_bytes.checked_add(length as u64) {
        Some(end) if end <= size_bytes => Ok(()),
        _ => Err(Error::new(ErrorKind::UnexpectedEof, "it is past the end")),
    }
}

/// A part of something: a partition of an image.
pub struct Part<'a> {
    whole: &'a mut dyn Bytes,
    start_bytes: u64,
    size_bytes: u64,
}

impl<'a> Part<'a> {
    /// The part that starts at `start_bytes`, limited to the end of the whole.
    pub fn new(whole: &'a mut dyn Bytes, start_bytes: u64, size_bytes: u64) -> Self {
        let left = whole.size_bytes().saturating_sub(start_bytes);
        Part {
            whole,
            start_bytes,
            size_bytes: size_bytes.min(left),
        }
    }
}

impl Bytes for Part<'_> {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn piece(&mut self, offset_bytes: u64, length: usize) -> Result<Vec<u8>> {
        check(self.size_bytes, offset_bytes, length)?;
        self.whole.piece(self.start_bytes + offset_bytes, length)
    }
}

/// Whether an error means that the bytes are absent, as opposed to unreadable.
pub fn is_absent(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::UnexpectedEof | ErrorKind::InvalidInput
    )
}

/// Little-endian numbers at an offset in a piece; zero beyond its end, which no parser takes for a
/// value.
pub(crate) mod le {
    pub fn u16(bytes: &[u8], at: usize) -> u16 {
        bytes
            .get(at..at.saturating_add(2))
            .map_or(0, |word| u16::from_le_bytes([word[0], word[1]]))
    }

    pub fn u32(bytes: &[u8], at: usize) -> u32 {
        u32::from(u16(bytes, at)) | u32::from(u16(bytes, at.saturating_add(2))) << 16
    }

    pub fn u64(bytes: &[u8], at: usize) -> u64 {
        u64::from(u32(bytes, at)) | u64::from(u32(bytes, at.saturating_add(4))) << 32
    }
}

/// Big-endian ones likewise.
pub(crate) mod be {
    pub fn u16(bytes: &[u8], at: usize) -> u16 {
        super::le::u16(bytes, at).swap_bytes()
    }

    pub fn u32(bytes: &[u8], at: usize) -> u32 {
        super::le::u32(bytes, at).swap_bytes()
    }

    pub fn u64(bytes: &[u8], at: usize) -> u64 {
        super::le::u64(bytes, at).swap_bytes()
    }
}

/// Fixed-length text up to its first zero; control characters and invalid UTF-8 are replaced, so
/// that it can be printed. Absent when empty.
pub(crate) fn text(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|byte| *byte == 0);
    let text = String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())]);
    printable(text.trim())
}

/// Text without terminal control characters; absent when empty.
pub fn printable(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| in_one_row(text).into_owned())
}

/// A UUID in byte order: `0f5c...`, as printed by file systems.
pub(crate) fn uuid(bytes: &[u8]) -> Option<String> {
    let bytes: &[u8; 16] = bytes.try_into().ok()?;
    if bytes.iter().all(|byte| *byte == 0) {
        return None;
    }
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn pieces_outside_too_large_or_past_the_budget_are_refused() {
        let mut medium = Medium::new(Cursor::new(vec![7u8; 100]), 100);
        assert_eq!(medium.piece(98, 2).unwrap(), [7, 7]);
        for (offset, length) in [(99, 2), (101, 0), (u64::MAX, 1), (u64::MAX, 0)] {
            let error = medium.piece(offset, length).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{offset}+{length}");
        }
        let error = medium.piece(0, PIECE_BYTES_MAX + 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        medium.budget_bytes = 5;
        assert!(medium.piece(0, 5).is_ok());
        assert!(medium.piece(0, 1).is_err());
    }

    #[test]
    fn a_part_shows_nothing_outside_itself() {
        let mut medium = Medium::new(Cursor::new((0..100).collect::<Vec<u8>>()), 100);
        let mut part = Part::new(&mut medium, 90, 1000);
        assert_eq!(part.size_bytes(), 10);
        assert_eq!(part.piece(9, 1).unwrap(), [99]);
        assert!(part.piece(9, 2).is_err());
        assert_eq!(Part::new(&mut medium, 200, 10).size_bytes(), 0);
    }

    #[test]
    fn numbers_past_the_end_are_zero_and_text_is_printable() {
        assert_eq!(le::u32(&[1, 2, 3, 4], 0), 0x0403_0201);
        assert_eq!(be::u32(&[1, 2, 3, 4], 0), 0x0102_0304);
        assert_eq!(le::u64(&[1], 0), 0);
        assert_eq!(le::u16(&[1, 2], usize::MAX), 0);
        assert_eq!(text(b"a\x1b[31mb\0c").as_deref(), Some("a\u{fffd}[31mb"));
        assert_eq!(text(b"\0\0"), None);
    }
}
