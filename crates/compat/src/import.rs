//! Results of other tools in, records out: recognises who wrote them.

use crate::elsewhere::known_elsewhere;
use crate::marks::{Start, anywhere, starts};
use crate::{Error, crystal, diskspd, elbencho, fio, iometer, sqlio, text, vdbench};
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
    /// fio's JSON, json+ and that of its client mode included.
    FioJson,
    /// What fio prints where no other form is asked for.
    FioNormal,
    /// fio's `--minimal`.
    FioTerse,
    /// Iometer's file of results.
    IometerCsv,
    /// vdbench's `flatfile.html`.
    VdbenchFlatfile,
    /// vdbench's `summary.html`, or what it prints.
    VdbenchSummary,
    /// elbencho's `--csvfile`.
    ElbenchoCsv,
    /// elbencho's `--jsonfile`.
    ElbenchoJson,
    /// CrystalDiskMark's text.
    CrystalDiskMark,
    /// KDiskMark's text.
    KDiskMark,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Sqlio => "SQLIO output",
            Format::DiskspdText => "DiskSpd text",
            Format::DiskspdXml => "DiskSpd XML",
            Format::FioJson => "fio JSON",
            Format::FioNormal => "fio normal output",
            Format::FioTerse => "fio terse output",
            Format::IometerCsv => "Iometer CSV",
            Format::VdbenchFlatfile => "vdbench flatfile",
            Format::VdbenchSummary => "vdbench summary",
            Format::ElbenchoCsv => "elbencho CSV",
            Format::ElbenchoJson => "elbencho JSON",
            Format::CrystalDiskMark => "CrystalDiskMark text",
            Format::KDiskMark => "KDiskMark text",
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
    /// Who wrote it; of several tools, the first.
    pub format: Format,
    /// In the order of the file; at least one. Their ids follow from their
    /// content, so the same result has the same id wherever it is found.
    pub runs: Vec<RunRecord>,
    /// What was passed over, and what to keep in mind.
    pub notes: Vec<Note>,
}

/// Reads the results of other tools; `source_name` is the file as the user
/// named it. All of it, or nothing.
///
/// # Errors
/// When nobody known wrote it, or lines of it cannot be read.
pub fn import(bytes: &[u8], source_name: &str) -> Result<ImportedFile, Error> {
    let decoded = text::decode_parts(bytes, source_name)?;
    let mut file = read(&decoded.text, &starts(&decoded.text), source_name)?;
    finish(&mut file, bytes, &decoded);
    Ok(file)
}

/// As [`import`], but takes what is whole: a result that cannot be read is left out,
/// and a note says which and why.
///
/// # Errors
/// When nobody known wrote the file, or none of its results is whole.
pub fn import_whole_results(bytes: &[u8], source_name: &str) -> Result<ImportedFile, Error> {
    let decoded = text::decode_parts(bytes, source_name)?;
    let all = starts(&decoded.text);
    let mut file = match read(&decoded.text, &all, source_name) {
        Ok(file) => file,
        Err(error) => read_whole(&decoded.text, &all, source_name).ok_or(error)?,
    };
    finish(&mut file, bytes, &decoded);
    Ok(file)
}

/// The results that can be read alone, together; `None` where that is none of several.
fn read_whole(text: &str, starts: &[Start], source_name: &str) -> Option<ImportedFile> {
    let mut rest = text.to_owned();
    let mut whole = Vec::new();
    let mut notes = Vec::new();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).map_or(text.len(), |next| next.at);
        let alone = below(text, start.at, end);
        let Err(error) = read(&alone, &[*start], source_name) else {
            whole.push(*start);
            continue;
        };
        blank_out(&mut rest, start.at, end);
        let first = error.lines().first();
        notes.push(Note {
            line: Some(line_at(text, start.at)),
            message: match first {
                Some(problem) => format!(
                    "begins a result that is left out: line {} {}",
                    problem.line, problem.reason
                ),
                None => format!("begins a result that is left out: {error}"),
            },
        });
    }
    let mut file = read(&rest, &whole, source_name)
        .ok()
        .filter(|_| !whole.is_empty())?;
    notes.append(&mut file.notes);
    file.notes = notes;
    Some(file)
}

/// All results of a text, whose beginnings are known.
fn read(text: &str, starts: &[Start], source_name: &str) -> Result<ImportedFile, Error> {
    let segments = segments(text, starts);
    let (first, others) = match segments.as_slice() {
        [] => {
            let format = anywhere(text).ok_or_else(|| {
                let (problem, hint) = known_elsewhere(text).unwrap_or((
                    "was not written by a known tool",
                    "give results of SQLIO, DiskSpd, fio, Iometer, vdbench, elbencho, CrystalDiskMark or KDiskMark",
                ));
                Error::new(source_name, problem, hint)
            })?;
            return read_as(format, text, source_name);
        }
        [(format, ..)] => return read_as(*format, text, source_name),
        [first, others @ ..] => (first, others),
    };
    let mut file = read_as(first.0, &below(text, first.1, first.2), source_name)?;
    let mut said = vec![format!(
        "{} from line {} on",
        first.0,
        line_at(text, first.1)
    )];
    for (format, from, to) in others {
        let mut more = read_as(*format, &below(text, *from, *to), source_name)?;
        file.runs.append(&mut more.runs);
        file.notes.append(&mut more.notes);
        said.push(format!("{format} from line {} on", line_at(text, *from)));
    }
    let message = format!(
        "results of several tools are in this file: {}",
        said.join(", ")
    );
    file.notes.insert(
        0,
        Note {
            line: None,
            message,
        },
    );
    Ok(file)
}

/// Neighbouring results of one tool, with the text before the first of all.
fn segments(text: &str, starts: &[Start]) -> Vec<(Format, usize, usize)> {
    let mut segments: Vec<(Format, usize, usize)> = Vec::new();
    for start in starts {
        match segments.last_mut() {
            Some((format, ..)) if *format == start.format => {}
            Some(last) => {
                last.2 = start.at;
                segments.push((start.format, start.at, text.len()));
            }
            None => segments.push((start.format, 0, text.len())),
        }
    }
    segments
}

fn read_as(format: Format, text: &str, source_name: &str) -> Result<ImportedFile, Error> {
    match format {
        Format::Sqlio => sqlio::import_text(text, source_name),
        Format::DiskspdText => diskspd::import_text(text, source_name),
        Format::DiskspdXml => diskspd::import_xml(text, source_name),
        Format::FioJson => fio::import_text(text, source_name),
        Format::FioNormal => fio::normal::import_text(text, source_name),
        Format::FioTerse => fio::terse::import_text(text, source_name),
        Format::IometerCsv => iometer::import_text(text, source_name),
        Format::VdbenchFlatfile => vdbench::import_flatfile(text, source_name),
        Format::VdbenchSummary => vdbench::import_summary(text, source_name),
        Format::ElbenchoCsv => elbencho::import_csv(text, source_name),
        Format::ElbenchoJson => elbencho::import_json(text, source_name),
        Format::CrystalDiskMark | Format::KDiskMark => crystal::import_text(text, source_name),
    }
}

/// A part of a text below as many empty lines as are above it, so that its lines keep
/// their numbers.
fn below(text: &str, from: usize, to: usize) -> String {
    let mut part = "\n".repeat(line_at(text, from) as usize - 1);
    part.push_str(&text[from..to]);
    part
}

/// Leaves nothing of a part but its lines.
fn blank_out(text: &mut String, from: usize, to: usize) {
    let blanks: String = text[from..to]
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect();
    text.replace_range(from..to, &blanks);
}

/// What is said of a file as a whole.
fn finish(file: &mut ImportedFile, bytes: &[u8], decoded: &text::Decoded<'_>) {
    let mut of_file = Vec::new();
    if let Some(line) = decoded.changes.first() {
        of_file.push(format!(
            "changes its encoding at line {line}: UTF-16 and 8-bit text are in one file, as two shells write it (PowerShell's `>` and cmd's `>>`); each part is decoded in its own"
        ));
    }
    if decoded.changes.is_empty() && text::is_of_a_code_page(bytes) {
        of_file.push("is not UTF-8: bytes above 127 are read as Latin-1, so letters such as umlauts in names may be wrong; numbers are not affected".to_owned());
    }
    for message in of_file {
        file.notes.insert(
            0,
            Note {
                line: None,
                message,
            },
        );
    }
    leave_out_copies(file);
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
    let text = text::decode_parts(bytes, "").ok()?.text;
    let first = starts(&text).first().map(|start| start.format);
    first.or_else(|| anywhere(&text))
}

/// The number of the line at a byte, from 1.
fn line_at(text: &str, at: usize) -> u64 {
    text[..at].bytes().filter(|byte| *byte == b'\n').count() as u64 + 1
}
