//! Results of other tools in, records out: recognises who wrote them.

use crate::elsewhere::known_elsewhere;
use crate::{Error, diskspd, fio, sqlio, text};
use std::collections::HashSet;
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
/// When nobody known wrote it, several tools did, or lines of it cannot be read.
pub fn import(bytes: &[u8], source_name: &str) -> Result<ImportedFile, Error> {
    let text = text::decode(bytes, source_name)?;
    let marks = marks_of(&text);
    if let [(first, of_first), .., (last, of_last)] = marks.as_slice() {
        return Err(Error::new(
            source_name,
            format!(
                "has results of several tools: {of_first} from line {} on and {of_last} from line {} on",
                line_at(&text, *first),
                line_at(&text, *last),
            ),
            "cut it into a file for each tool; nothing was imported",
        ));
    }
    let mut file = match format_of(&text) {
        Some(Format::Sqlio) => sqlio::import_text(&text, source_name),
        Some(Format::DiskspdText) => diskspd::import_text(&text, source_name),
        Some(Format::DiskspdXml) => diskspd::import_xml(&text, source_name),
        Some(Format::FioJson) => fio::import_text(&text, source_name),
        None => {
            let (problem, hint) = known_elsewhere(&text).unwrap_or((
                "was not written by a tool that is known here",
                "give results of SQLIO, DiskSpd (text or -Rxml) or fio (--output-format=json or json+)",
            ));
            Err(Error::new(source_name, problem, hint))
        }
    }?;
    if text::is_of_a_code_page(bytes) {
        let message = "is not UTF-8: bytes above 127 are read as Latin-1, so letters such as umlauts in names may be wrong; numbers are not affected";
        file.notes.insert(
            0,
            Note {
                line: None,
                message: message.to_owned(),
            },
        );
    }
    leave_out_copies(&mut file);
    Ok(file)
}

/// Copies of one result are one result, however often a file has it.
fn leave_out_copies(file: &mut ImportedFile) {
    let mut seen = HashSet::new();
    let before = file.runs.len();
    file.runs.retain(|run| seen.insert(run.id.clone()));
    let copies = before - file.runs.len();
    if copies > 0 {
        let message = match copies {
            1 => "1 result is a copy of another one in this file and is left out".to_owned(),
            _ => format!("{copies} results are copies of others in this file and are left out"),
        };
        file.notes.push(Note {
            line: None,
            message,
        });
    }
}

/// Who wrote these bytes, where that is to be seen: says whether [`import`] is
/// the right door, not whether it will open.
#[must_use]
pub fn recognise(bytes: &[u8]) -> Option<Format> {
    format_of(&text::decode(bytes, "").ok()?)
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

/// The tools whose results stand in a text, with where the first of each begins,
/// in that order. Only marks that stand alone count: a log may quote another tool.
fn marks_of(text: &str) -> Vec<(usize, Format)> {
    let alone = |at: usize, mark: &str, to_its_end: bool| {
        let before = text[..at].rsplit(['\n', '\r']).next().unwrap_or_default();
        let after = text[at + mark.len()..].split(['\n', '\r']).next();
        let rest = after.unwrap_or_default();
        before.trim().is_empty() && (!to_its_end || rest.trim().is_empty())
    };
    let first = |mark: &str, to_its_end: bool| {
        let mut found = text.match_indices(mark).map(|(at, _)| at);
        found.find(|at| alone(*at, mark, to_its_end))
    };
    let marks = [
        (
            sqlio_at(text).filter(|at| alone(*at, "", false)),
            Format::Sqlio,
        ),
        (first("<Results>", false), Format::DiskspdXml),
        (first("Input parameters:", true), Format::DiskspdText),
        (first("\"fio version\"", false), Format::FioJson),
    ];
    let mut found: Vec<(usize, Format)> = marks
        .into_iter()
        .filter_map(|(at, format)| Some((at?, format)))
        .collect();
    found.sort_by_key(|(at, _)| *at);
    found
}

/// The number of the line at a byte, from 1.
fn line_at(text: &str, at: usize) -> u64 {
    text[..at].bytes().filter(|byte| *byte == b'\n').count() as u64 + 1
}

fn format_of(text: &str) -> Option<Format> {
    if let Some((_, format)) = marks_of(text).first() {
        return Some(*format);
    }
    // On web pages marks do not stand alone; whoever's comes first.
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
