//! Bytes of a file as text, whatever wrote them: UTF-8 with and without mark,
//! UTF-16 as PowerShell's `>` writes it, and the old code pages, of which only
//! the ASCII half is sure.

use crate::Error;
use std::borrow::Cow;

/// Files beyond this are not results of anything.
pub(crate) const SIZE_MAX: usize = 256 << 20;

/// The text of a file.
///
/// # Errors
/// When it is too large, empty, or no text.
pub(crate) fn decode<'a>(bytes: &'a [u8], source_name: &str) -> Result<Cow<'a, str>, Error> {
    let refuse = |problem: &str, hint: &str| Err(Error::new(source_name, problem, hint));
    if bytes.len() > SIZE_MAX {
        let hint = "cut it into files of less than 256 MiB, between results";
        return refuse("is larger than 256 MiB", hint);
    }
    let text = match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => narrow(rest),
        [0xff, 0xfe, rest @ ..] => Cow::Owned(wide(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(wide(rest, u16::from_be_bytes)),
        _ => narrow(bytes),
    };
    if text.trim().is_empty() {
        let hint = "was the tool's output really sent there?";
        return refuse("is empty", hint);
    }
    if text.contains('\0') {
        let hint = "give the tool's output as text, XML or JSON";
        return refuse("is no text: it contains zero bytes", hint);
    }
    Ok(text)
}

/// UTF-8; else every byte above 127 stands for the sign of that number, as in
/// Latin-1: numbers and key words are ASCII in all code pages.
fn narrow(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

/// UTF-16; halves of a pair that stand alone become the replacement sign.
fn wide(bytes: &[u8], number: fn([u8; 2]) -> u16) -> String {
    let numbers = bytes.chunks_exact(2).map(|two| number([two[0], two[1]]));
    char::decode_utf16(numbers)
        .map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// One line of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: u64,
    /// Without its end.
    pub(crate) text: &'a str,
}

/// Lines, whichever of the three ends they have; the carriage returns that a
/// console rewrote a line with are ends, too.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut number = 0;
    text.split('\n').flat_map(move |line| {
        number += 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        line.split('\r').map(move |text| Line { number, text })
    })
}

/// The words of a line with one blank between them: tabs, non-breaking spaces
/// and runs of blanks are what web pages and mail make of a format.
pub(crate) fn squeezed(line: &str) -> String {
    let mut squeezed = String::with_capacity(line.len());
    for word in line.split_whitespace() {
        if !squeezed.is_empty() {
            squeezed.push(' ');
        }
        squeezed.push_str(word);
    }
    squeezed
}

/// FNV-1a in 64 bits: ids of imported records are made from it, so that the same
/// text has the same id on every machine.
pub(crate) fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
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
        }
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for (bytes, problem) in [
            (b"".as_slice(), "is empty"),
            (b" \r\n\t", "is empty"),
            (b"\xff\xfe", "is empty"),
            (b"MZ\x00\x01", "zero bytes"),
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
