//! Decodes a file as text from any source: UTF-8 with or without BOM, UTF-16 as written by
//! PowerShell's `>`, and the old code pages, of which only the ASCII half is certain. A file whose
//! encoding changes midway, because two shells wrote to it, is refused: half of it would be lost.

use crate::Error;
use std::borrow::Cow;
use stripewise_units::{utf16_text, utf16_units};

/// Decodes the text of a file.
///
/// # Errors
/// If it is empty, or not text.
pub(crate) fn decode<'a>(bytes: &'a [u8], source_name: &str) -> Result<Cow<'a, str>, Error> {
    let refuse = |problem: &str, hint: &str| Err(Error::new(source_name, problem, hint));
    if let Some(problem) = packed_form(bytes) {
        return refuse(problem, "unpack it, and give what is in it");
    }
    if let Some(at) = mixed_at(bytes) {
        return Err(Error::new(
            source_name,
            format!(
                "changes its encoding at byte {at}: UTF-16 and 8-bit text are in one file, as two shells write it (PowerShell's `>` and then cmd's `>>`)"
            ),
            "split it there into two files, or save all of it as UTF-8; nothing was read",
        ));
    }
    let text = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => narrow(rest),
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16_text(utf16_units(rest, u16::from_le_bytes))),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16_text(utf16_units(rest, u16::from_be_bytes))),
        _ => narrow(bytes),
    };
    // A crash leaves zeros behind the last line.
    let text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches('\0')),
        Cow::Owned(mut text) => {
            text.truncate(text.trim_end_matches('\0').len());
            Cow::Owned(text)
        }
    };
    if text.trim().is_empty() {
        let hint = "was the tool's output really sent there?";
        return refuse("is empty", hint);
    }
    if text.contains('\0') {
        if is_wide_without_mark(bytes) {
            let hint = "save it as UTF-8, or as UTF-16 with a mark (BOM)";
            return refuse("is UTF-16 without a byte order mark", hint);
        }
        let hint = "give the tool's output as text, XML or JSON";
        return refuse("is not text: it contains zero bytes", hint);
    }
    if text.contains('\u{fffe}') {
        let hint = "split it into files of one encoding, or save all of it as UTF-8";
        return refuse(
            "changes its byte order on the way: files of two encodings were joined",
            hint,
        );
    }
    // Files joined with `copy /b` have BOMs in the middle.
    if text.contains('\u{feff}') {
        return Ok(Cow::Owned(text.replace('\u{feff}', "")));
    }
    Ok(text)
}

/// Text of results in any mix of encodings.
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Lines at which the encoding changes.
    pub(crate) changes: Vec<u64>,
}

/// Most encoding changes in one file.
const CHANGES_MAX: usize = 64;

/// Decodes a file that several shells may have written to: where it changes between UTF-16 and
/// 8-bit text, each part is decoded in its own encoding.
///
/// # Errors
/// As [`decode`], except for the changes.
pub(crate) fn decode_parts<'a>(bytes: &'a [u8], source_name: &str) -> Result<Decoded<'a>, Error> {
    let Some(first) = mixed_at(bytes) else {
        let text = decode(bytes, source_name)?;
        return Ok(Decoded {
            text,
            changes: Vec::new(),
        });
    };
    let mut text = decode(&bytes[..first], source_name)?.into_owned();
    let mut changes = Vec::new();
    let (mut counted, mut line) = (0, 1);
    let mut is_wide = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    let mut rest = &bytes[first..];
    while !rest.is_empty() {
        if changes.len() >= CHANGES_MAX {
            let hint = "save it as UTF-8";
            return Err(Error::new(
                source_name,
                "changes its encoding too often",
                hint,
            ));
        }
        line += line_feeds(&text[counted..]);
        counted = text.len();
        changes.push(line);
        is_wide = !is_wide;
        // Windows shells append UTF-16 little-endian, with or without a BOM.
        let marked: Cow<'_, [u8]> = match (is_wide, rest) {
            (true, [0xff, 0xfe, ..]) | (false, _) => Cow::Borrowed(rest),
            (true, _) => Cow::Owned([&[0xff, 0xfe], rest].concat()),
        };
        let added = marked.len() - rest.len();
        let length = mixed_at(&marked)
            .filter(|at| *at > added)
            .unwrap_or(marked.len());
        let part = &marked[..length];
        if !part.iter().all(u8::is_ascii_whitespace) {
            text.push_str(&decode(part, source_name)?);
        }
        rest = &rest[length - added..];
    }
    Ok(Decoded {
        text: Cow::Owned(text),
        changes,
    })
}

/// Whether the bytes are in one of the old code pages: neither UTF-16 nor UTF-8.
pub(crate) fn is_of_a_code_page(bytes: &[u8]) -> bool {
    !matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) && std::str::from_utf8(bytes).is_err()
}

/// Consecutive characters of this number leave no doubt about the encoding.
const SURE: usize = 16;

/// ASCII letters, digits, punctuation, spaces and line endings.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | 0x20..=0x7e)
}

/// Where the text changes between UTF-16 and 8-bit; `None` if the file has one encoding. 8-bit text
/// read as UTF-16 is a sequence of characters with both halves ASCII; UTF-16 read as 8-bit text has
/// a zero after each character.
fn mixed_at(bytes: &[u8]) -> Option<usize> {
    let run_of = |bytes: &[u8], sound: fn(&[u8]) -> bool| -> Option<usize> {
        let mut length = 0;
        for (number, two) in bytes.chunks_exact(2).enumerate() {
            length = if sound(two) { length + 1 } else { 0 };
            if length == SURE {
                return Some(2 * (number + 1 - SURE));
            }
        }
        None
    };
    let narrow: fn(&[u8]) -> bool = |two| is_plain(two[0]) && is_plain(two[1]);
    // After an extra byte each zero is in the other half.
    let shifted: Option<fn(&[u8]) -> bool> = match bytes {
        [0xff, 0xfe, ..] => Some(|two| two[0] == 0 && is_plain(two[1])),
        [0xfe, 0xff, ..] => Some(|two| is_plain(two[0]) && two[1] == 0),
        _ => None,
    };
    if let Some(shifted) = shifted {
        // Appended text may begin at an odd byte.
        let rest = &bytes[2..];
        // A BOM of the other byte order is explicit.
        let marked = rest.chunks_exact(2).any(|two| *two == [bytes[1], bytes[0]]);
        let found = [
            run_of(rest, narrow),
            run_of(rest, shifted).filter(|_| !marked),
            narrow_tail(rest),
        ];
        return found.into_iter().flatten().min().map(|at| at + 2);
    }
    let first = bytes.iter().position(|byte| *byte == 0)?;
    let text = bytes[..first]
        .iter()
        .filter(|byte| is_plain(**byte))
        .count()
        >= SURE;
    let from = first.saturating_sub(1);
    let wide: fn(&[u8]) -> bool = |two| is_plain(two[0]) && two[1] == 0;
    (text && run_of(&bytes[from..], wide) == Some(0)).then_some(from)
}

/// Where trailing 8-bit text begins after UTF-16, however short: tool output ends in a line feed,
/// never in characters with both halves ASCII. Losing only spaces is harmless.
fn narrow_tail(bytes: &[u8]) -> Option<usize> {
    let pairs = bytes.chunks_exact(2);
    let odd = pairs.remainder();
    let is_narrow = |two: &&[u8]| is_plain(two[0]) && is_plain(two[1]);
    let length = pairs.rev().take_while(is_narrow).count();
    let at = (bytes.len() / 2 - length) * 2;
    let tail = &bytes[at..];
    let is_text = tail.iter().any(|byte| !byte.is_ascii_whitespace());
    ((length > 0 || odd.iter().any(|byte| is_plain(*byte))) && is_text).then_some(at)
}

/// How the file is packed, by its first bytes; `None` if it is not.
fn packed_form(bytes: &[u8]) -> Option<&'static str> {
    Some(match bytes {
        [0x1f, 0x8b, ..] => "is packed by gzip",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "is packed by zstd",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "is packed by xz",
        [b'B', b'Z', b'h', _, 0x31, 0x41, 0x59, 0x26, ..] => "is packed by bzip2",
        [b'P', b'K', 3, 4, ..] => "is a ZIP archive",
        _ => return None,
    })
}

/// Whether the file begins with ASCII characters separated by zeros.
fn is_wide_without_mark(bytes: &[u8]) -> bool {
    let begin = &bytes[..bytes.len().min(2 * SURE)];
    let mut pairs = begin.chunks_exact(2);
    let little = pairs.clone().all(|two| is_plain(two[0]) && two[1] == 0);
    let big = pairs.all(|two| two[0] == 0 && is_plain(two[1]));
    little || big
}

/// UTF-8; otherwise each byte above 127 is decoded as Latin-1: numbers and keywords are ASCII in
/// all code pages.
fn narrow(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

/// The text without the quote marks of mail or Markdown (`> `); `None` if no line has one.
pub(crate) fn without_quotation(text: &str) -> Option<String> {
    if !text.lines().any(|line| line.starts_with('>')) {
        return None;
    }
    let mut bare = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while let Some(behind) = rest.strip_prefix('>') {
            rest = behind.strip_prefix(' ').unwrap_or(behind);
        }
        bare.push_str(rest);
    }
    Some(bare)
}

/// One line of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: u64,
    /// Without its line ending.
    pub(crate) text: &'a str,
}

/// A part of a text that keeps its line numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) text: &'a str,
    /// From 1, in the whole text.
    pub(crate) first_line: u64,
}

impl<'a> Part<'a> {
    /// Its lines, with any of the three line endings; carriage returns by which a console
    /// overwrites a line also end it.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        let mut number = self.first_line - 1;
        self.text.split('\n').flat_map(move |line| {
            number += 1;
            let line = line.strip_suffix('\r').unwrap_or(line);
            line.split('\r').map(move |text| Line { number, text })
        })
    }
}

/// The lines of a whole text.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let whole = Part {
        text,
        first_line: 1,
    };
    whole.lines()
}

pub(crate) fn line_feeds(text: &str) -> u64 {
    text.bytes().filter(|byte| *byte == b'\n').count() as u64
}

/// The words of a line separated by single spaces: web pages and mail replace formatting by tabs,
/// non-breaking spaces and runs of spaces.
pub(crate) fn squeezed(line: &str) -> Cow<'_, str> {
    if is_squeezed(line) {
        return Cow::Borrowed(line);
    }
    let mut squeezed = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
    }
    Cow::Owned(squeezed)
}

/// Whether a line's only white space is single spaces between words.
fn is_squeezed(line: &str) -> bool {
    let mut blank = true;
    for byte in line.bytes() {
        match byte {
            b' ' if blank => return false,
            b' ' => blank = true,
            b'!'..=b'~' => blank = false,
            _ => return false,
        }
    }
    !blank || line.is_empty()
}

/// 64-bit FNV-1a: ids of imported records are derived from it, so the same text has the same id on
/// every machine.
pub(crate) fn fingerprint(text: &str) -> u64 {
    fingerprint_on(0xcbf2_9ce4_8422_2325, text)
}

/// Continues the fingerprint of a text's first part.
pub(crate) fn fingerprint_on(first: u64, text: &str) -> u64 {
    text.bytes().fold(first, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, mark: [u8; 2], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let numbers = text.encode_utf16().flat_map(bytes);
        mark.into_iter().chain(numbers).collect()
    }

    #[test]
    fn the_same_text_comes_out_of_every_encoding() {
        let text = "IOs/sec: 421.88\r\nfür Ä\r\n";
        let cases = [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf".as_slice(), text.as_bytes()].concat(),
            utf16(text, [0xff, 0xfe], u16::to_le_bytes),
            utf16(text, [0xfe, 0xff], u16::to_be_bytes),
            text.chars().map(|sign| sign as u8).collect(),
        ];
        for bytes in cases {
            assert_eq!(decode(&bytes, "x").unwrap(), text, "{bytes:x?}");
            let padded = [&bytes[..], &[0; 64]].concat();
            assert_eq!(decode(&padded, "x").unwrap(), text, "{bytes:x?}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for (bytes, problem) in [
            (b"".as_slice(), "is empty"),
            (b" \r\n\t", "is empty"),
            (b"\xff\xfe", "is empty"),
            (b"MZ\x00\x01", "zero bytes"),
            (b"\x1f\x8b\x08\x00", "packed by gzip"),
            (b"PK\x03\x04\x14\x00", "ZIP archive"),
        ] {
            let error = decode(bytes, "x.txt").unwrap_err();
            assert!(error.to_string().contains(problem), "{error}");
            assert!(error.to_string().starts_with("x.txt: "));
            assert!(!error.hint().is_empty());
        }
    }

    #[test]
    fn lines_are_counted_by_line_feeds() {
        let found: Vec<(u64, &str)> = lines("a\r\nb\rc\nd")
            .map(|line| (line.number, line.text))
            .collect();
        assert_eq!(found, [(1, "a"), (2, "b"), (2, "c"), (3, "d")]);
        assert_eq!(
            squeezed("\t using \u{a0} 8KB  random IOs"),
            "using 8KB random IOs"
        );
    }
}
