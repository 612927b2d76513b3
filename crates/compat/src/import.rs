//! Results of other tools in, records out: recognises who wrote them.

use crate::{Error, diskspd, fio, sqlio, text};
use std::fmt;
use stripewise_results::RunRecord;

/// Who wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Output of sqlio.exe, or of something that prints the same.
    Sqlio,
    /// DiskSpd's text.
    DiskspdText,
    /// DiskSpd's `-Rxml`.
    DiskspdXml,
    /// fio's JSON, json+ included.
    FioJson,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Sqlio => "SQLIO output",
            Format::DiskspdText => "DiskSpd text",
            Format::DiskspdXml => "DiskSpd XML",
            Format::FioJson => "fio JSON",
        })
    }
}

/// Something about a source that its reader should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// From 1, where it is about one line.
    pub line: Option<u64>,
    /// A sentence without its full stop.
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// What was in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedFile {
    /// Who wrote it.
    pub format: Format,
    /// In the order of the file; at least one. Their ids follow from their
    /// content, so the same result has the same id wherever it is found.
    pub runs: Vec<RunRecord>,
    /// What was passed over, and what to keep in mind.
    pub notes: Vec<Note>,
}

/// Reads the results of another tool; `source_name` is the file as the user
/// named it. All of it, or nothing.
///
/// # Errors
/// When nobody known wrote it, or lines of it cannot be read.
pub fn import(bytes: &[u8], source_name: &str) -> Result<ImportedFile, Error> {
    let text = text::decode(bytes, source_name)?;
    match format_of(&text) {
        Some(Format::Sqlio) => sqlio::import_text(&text, source_name),
        Some(Format::DiskspdText) => diskspd::import_text(&text, source_name),
        Some(Format::DiskspdXml) => diskspd::import_xml(&text, source_name),
        Some(Format::FioJson) => fio::import_text(&text, source_name),
        None => Err(Error::new(
            source_name,
            "was not written by a tool that is known here",
            "results of SQLIO, DiskSpd (text or -Rxml) and fio (--output-format=json or json+) are read",
        )),
    }
}

/// Who wrote these bytes, where that is to be seen: says whether [`import`] is
/// the right door, not whether it will open.
#[must_use]
pub fn recognise(bytes: &[u8]) -> Option<Format> {
    format_of(&text::decode(bytes, "").ok()?)
}

/// The id of a result with this content; `copies`: how many of the same content
/// stand before it in its file. Ids of runs made here begin with a date, so the
/// two are never mixed up.
pub(crate) fn imported_id(tool: &str, content: u64, copies: u64) -> String {
    match copies {
        0 => format!("{tool}-{content:016x}"),
        _ => format!("{tool}-{content:016x}-{}", copies + 1),
    }
}

/// Where a line `sqlio v1.5...` begins, whatever white space is in it.
fn sqlio_at(text: &str) -> Option<usize> {
    text.match_indices("v1.5").find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let start = before.len().checked_sub("sqlio".len())?;
        let name = before.get(start..)?;
        (before.len() < at && name.eq_ignore_ascii_case("sqlio")).then_some(start)
    })
}

fn format_of(text: &str) -> Option<Format> {
    // Whoever's mark comes first: a batch log may quote another tool's.
    let marks = [
        (Format::Sqlio, sqlio_at(text)),
        (Format::DiskspdXml, text.find("<Results>")),
        (Format::DiskspdText, text.find("Input parameters:")),
        (Format::FioJson, text.find("\"fio version\"")),
    ];
    let found = marks
        .into_iter()
        .filter_map(|(format, at)| Some((at?, format)));
    found.min_by_key(|(at, _)| *at).map(|(_, format)| format)
}
