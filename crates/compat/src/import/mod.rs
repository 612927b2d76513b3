//! Imports other tools' results as records, detecting the tool.

use crate::format_detection::{
    Segment, Start, alone, anywhere, are_several_forms, segments, starts,
};
use crate::jobs_read::JobsRead;
use crate::log_prefix::{Logged, without_prefix};
use crate::out::{Out, PROBLEMS_MAX, read_lines};
use crate::text::Part;
use crate::unsupported_formats::unsupported_format;
use crate::work::{Watch, Work};
use crate::{Error, crystal, diskspd, elbencho, fio, iometer, sqlio, text, vdbench};
use std::fmt;
use std::ops::ControlFlow;
use stripewise_results::RunRecord;

/// Tool and format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Output of sqlio.exe, or of something compatible.
    Sqlio,
    /// DiskSpd's text.
    DiskspdText,
    /// DiskSpd's `-Rxml`.
    DiskspdXml,
    /// fio's JSON, including json+ and client mode.
    FioJson,
    /// fio's default format.
    FioNormal,
    /// fio's `--minimal`.
    FioTerse,
    /// Iometer's results file.
    IometerCsv,
    /// vdbench's `flatfile.html`.
    VdbenchFlatfile,
    /// vdbench's `summary.html`, or its standard output.
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

impl Format {
    /// Of fio's forms, the number of those that say more; `None` for other tools.
    pub(crate) const fn form_of_fio(self) -> Option<u8> {
        match self {
            Format::FioJson => Some(0),
            Format::FioNormal => Some(1),
            Format::FioTerse => Some(2),
            _ => None,
        }
    }
}

/// Something about a source that users should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// From 1, if it is about one line.
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

/// The contents of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedFile {
    /// Tool and format; the first if there are several.
    pub format: Format,
    /// In file order; at least one. Ids are derived from the content, so the same result has the
    /// same id wherever it is found.
    pub runs: Vec<RunRecord>,
    /// What was skipped, and caveats.
    pub notes: Vec<Note>,
}

/// A file to be read.
///
/// The number of passes over the text is fixed, whatever it contains: one to decode it, one to find
/// which tool wrote which part, one to parse it; two more with [`Import::whole_results`] if it is
/// not complete. Records are returned one by one, so that beyond the file, memory use is that of
/// its largest result.
#[derive(Clone, Copy)]
pub struct Import<'a> {
    bytes: &'a [u8],
    source_name: &'a str,
    whole_results: bool,
    watch: Watch<'a>,
}

/// Everything read except the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    /// Tool and format; the first if there are several.
    pub format: Format,
    /// What was skipped, and caveats.
    pub notes: Vec<Note>,
}

/// Receives the results of a file while it is read.
pub trait Receiver {
    /// The next one, in file order.
    fn receive(&mut self, run: RunRecord);
    /// Those received so far are void: the file is read again, without what is not complete.
    fn void(&mut self);
}

impl Receiver for Vec<RunRecord> {
    fn receive(&mut self, run: RunRecord) {
        self.push(run);
    }

    fn void(&mut self) {
        self.clear();
    }
}

impl<'a> Import<'a> {
    /// Reads all of a file or nothing; `source_name` is the file as the user named it.
    pub fn new(bytes: &'a [u8], source_name: &'a str) -> Self {
        Import {
            bytes,
            source_name,
            whole_results: false,
            watch: &|_| ControlFlow::Continue(()),
        }
    }

    /// Reads only complete results: an unreadable one is left out with a note of which and why.
    #[must_use]
    pub fn whole_results(self) -> Self {
        Import {
            whole_results: true,
            ..self
        }
    }

    /// Sets a progress callback.
    #[must_use]
    pub fn watched(self, watch: Watch<'a>) -> Self {
        Import { watch, ..self }
    }

    /// Returns all records.
    ///
    /// # Errors
    /// If the tool is unknown, lines cannot be read, or the watch stopped the import.
    pub fn all(&self) -> Result<ImportedFile, Error> {
        let mut runs = Vec::new();
        let ReadFile { format, notes } = self.each(&mut runs)?;
        Ok(ImportedFile {
            format,
            runs,
            notes,
        })
    }

    /// Passes on the records one by one. If this returns an error, those already passed on are
    /// void.
    pub fn each(&self, to: &mut dyn Receiver) -> Result<ReadFile, Error> {
        self.each_of(&Work::new(self.bytes.len(), self.watch), to)
    }

    fn each_of(&self, work: &Work<'_>, to: &mut dyn Receiver) -> Result<ReadFile, Error> {
        work.visit(self.bytes.len());
        let decoded = text::decode_parts(self.bytes, self.source_name);
        let decoded = decoded.map_err(Error::of_no_tool)?;
        let mut text = &*decoded.text;
        if vdbench::is_other_report(text) {
            let problem = "is vdbench's report of one host, disk or workload, or one without rates";
            let hint = "give flatfile.html or summary.html in its output folder";
            return Err(Error::new(self.source_name, problem, hint).of_no_tool());
        }
        let mut all = starts(text, work);
        // Results may be quoted in mail and on pages; those of disk benchmarks are read as they
        // are.
        let is_bare = |start: &Start| {
            let is_mark = matches!(start.format, Format::CrystalDiskMark | Format::KDiskMark);
            is_mark || !text[start.place.at..].starts_with('>')
        };
        let logged = without_prefix(text);
        let quoted;
        let bare = match &logged {
            Some(Logged::Whole(bare)) => Some(bare.as_str()),
            _ if !all.first().is_some_and(is_bare) => {
                quoted = text::without_quotation(text);
                quoted.as_deref()
            }
            _ => None,
        };
        let mut notes = self.of_file(&decoded);
        if let Some(bare) = bare {
            let of_bare = starts(bare, work);
            if !of_bare.is_empty() || all.is_empty() {
                (text, all) = (bare, of_bare);
                if let Some(Logged::Whole(_)) = logged {
                    notes.push(of_all(OF_LOG.to_owned()));
                }
            }
        }
        let read = self.each_in(text, &all, notes, work, to);
        read.map_err(|error| match logged {
            // A table of another tool may begin its rows with a date.
            Some(Logged::Partly(line)) if unsupported_format(text).is_none() => error.of_log(line),
            _ => error,
        })
    }

    fn each_in(
        &self,
        text: &str,
        all: &[Start],
        mut notes: Vec<Note>,
        work: &Work<'_>,
        to: &mut dyn Receiver,
    ) -> Result<ReadFile, Error> {
        let every = segments(text, all, |_| true);
        let problems_max = match self.whole_results {
            true => 1,
            false => PROBLEMS_MAX,
        };
        let mut take = |run| to.receive(run);
        let read = match self.read(text, &every, problems_max, work, &mut take) {
            Err(_) if self.whole_results => {
                to.void();
                let mut take = |run| to.receive(run);
                match self.whole_segments(text, all, work, &mut notes) {
                    Some(whole) => self.read(text, &whole, PROBLEMS_MAX, work, &mut take),
                    // Once more, for all of its problems.
                    None => self.read(text, &every, PROBLEMS_MAX, work, &mut |_| {}),
                }
            }
            read => read,
        };
        let (format, mut of_reading) = read?;
        notes.append(&mut of_reading);
        Ok(ReadFile { format, notes })
    }

    /// The results that can be read individually; `None` if none of several can.
    fn whole_segments<'t>(
        &self,
        text: &'t str,
        starts: &[Start],
        work: &Work<'_>,
        notes: &mut Vec<Note>,
    ) -> Option<Vec<Segment<'t>>> {
        let mut is_whole = vec![false; starts.len()];
        for (number, start) in starts.iter().enumerate() {
            let alone = [alone(text, starts, number)];
            let Err(error) = self.read(text, &alone, PROBLEMS_MAX, work, &mut |_| {}) else {
                is_whole[number] = true;
                continue;
            };
            let why = match error.lines().first() {
                Some(problem) => format!("line {} {}", problem.line, problem.reason),
                None => error.to_string(),
            };
            notes.push(Note {
                line: Some(start.place.line),
                message: format!("begins a result that is left out: {why}"),
            });
        }
        let whole = segments(text, starts, |number| is_whole[number]);
        (!whole.is_empty()).then_some(whole)
    }

    /// All results of a text; ends after this many problems.
    fn read(
        &self,
        text: &str,
        segments: &[Segment<'_>],
        problems_max: usize,
        work: &Work<'_>,
        take: &mut dyn FnMut(RunRecord),
    ) -> Result<(Format, Vec<Note>), Error> {
        let mut out = Out::new(self.source_name, problems_max, work, take);
        let unmarked;
        let segments = match segments {
            [] => {
                unmarked = [Segment::whole(self.unmarked(text, work)?, text)];
                &unmarked
            }
            segments => segments,
        };
        if are_several_forms(segments.iter().map(|segment| segment.format)) {
            out.jobs = Some(JobsRead::default());
        }
        let mut formats_found = Vec::new();
        for segment in segments {
            let before = out.results();
            read_as(segment.format, &segment.parts, &mut out);
            out.close(segment.format, before)?;
            formats_found.push(format!("{} from line {} on", segment.format, segment.line));
        }
        let mut notes = out.into_notes();
        if formats_found.len() > 1 {
            let message = format!(
                "results in several formats are in this file: {}",
                formats_found.join(", ")
            );
            notes.insert(0, of_all(message));
        }
        Ok((segments[0].format, notes))
    }

    /// The tool of a text in which no result begins on a line of its own.
    fn unmarked(&self, text: &str, work: &Work<'_>) -> Result<Format, Error> {
        if work.is_stopped() {
            return Err(Error::interruption(self.source_name));
        }
        anywhere(text, work).ok_or_else(|| {
            let (problem, hint) = unsupported_format(text).unwrap_or((
                "was not written by a known tool",
                "give results of SQLIO, DiskSpd, fio, Iometer, vdbench, elbencho, CrystalDiskMark or KDiskMark",
            ));
            Error::new(self.source_name, problem, hint).of_no_tool()
        })
    }

    /// Notes about the file as a whole.
    fn of_file(&self, decoded: &text::Decoded<'_>) -> Vec<Note> {
        let message = match decoded.changes.first() {
            Some(line) => format!(
                "changes its encoding at line {line}: UTF-16 and 8-bit text are in one file, as two shells write it (PowerShell's `>` and cmd's `>>`); each part is decoded in its own"
            ),
            None if text::is_of_a_code_page(self.bytes) => "is not UTF-8: bytes above 127 are read as Latin-1, so letters such as umlauts in names may be wrong; numbers are not affected".to_owned(),
            None => return Vec::new(),
        };
        vec![of_all(message)]
    }
}

/// Reads other tools' results; `source_name` is the file as the user named it. All of it, or
/// nothing.
///
/// # Errors
/// If the tool is unknown, or lines cannot be read.
pub fn import(bytes: &[u8], source_name: &str) -> Result<ImportedFile, Error> {
    Import::new(bytes, source_name).all()
}

const OF_LOG: &str =
    "what a log puts before each line (a time, or the name of a container) is left out";

fn of_all(message: String) -> Note {
    Note {
        line: None,
        message,
    }
}

fn read_as(format: Format, parts: &[Part<'_>], out: &mut Out<'_>) {
    match format {
        Format::Sqlio => read_lines(&mut sqlio::Reader::default(), parts, out),
        Format::DiskspdText => read_lines(&mut diskspd::Reader::new(out.source), parts, out),
        Format::DiskspdXml => diskspd::read_xml(parts, out),
        Format::FioJson => fio::read_json(parts, out),
        Format::FioNormal => read_lines(&mut fio::normal::Reader::default(), parts, out),
        Format::FioTerse => read_lines(&mut fio::terse::Reader::default(), parts, out),
        Format::IometerCsv => read_lines(&mut iometer::Reader::default(), parts, out),
        Format::VdbenchFlatfile => read_lines(&mut vdbench::Reader::flatfile(), parts, out),
        Format::VdbenchSummary => read_lines(&mut vdbench::Reader::summary_of_runs(), parts, out),
        Format::ElbenchoCsv => read_lines(&mut elbencho::CsvReader::default(), parts, out),
        Format::ElbenchoJson => elbencho::read_json(parts, out),
        Format::CrystalDiskMark | Format::KDiskMark => {
            read_lines(&mut crystal::Reader::default(), parts, out);
        }
    }
}

/// Messages for a file that cannot be read.
pub(crate) struct Words {
    /// Hint for lines that cannot be read.
    pub(crate) bad_hint: &'static str,
    /// Message for a file without results.
    pub(crate) none: &'static str,
    /// Example of a result.
    pub(crate) none_hint: &'static str,
}

impl Format {
    pub(crate) const fn words(self) -> Words {
        let [bad_hint, none, none_hint] = match self {
            Format::Sqlio => [
                "fix these lines, or remove the results that they belong to from the file",
                "contains no result of SQLIO",
                "a result begins with a line `sqlio v1.5.SG`",
            ],
            Format::DiskspdText => [
                "fix these lines, or remove the results that they belong to from the file",
                "contains no result of DiskSpd",
                "a result has a heading `Results` with tables below; -Rxml is read, too",
            ],
            Format::DiskspdXml => [
                "remove the document that it belongs to from the file",
                "contains no result of DiskSpd",
                "make it with `diskspd -Rxml`",
            ],
            Format::FioJson => [
                "give fio's output as it was written",
                "contains no result of fio",
                "make it with `fio --output-format=json`",
            ],
            Format::FioNormal => [
                "give fio's output as it was written, or its JSON (--output-format=json)",
                "contains no result of fio",
                "make it with `fio --output-format=json`",
            ],
            Format::FioTerse => [
                "give fio's lines as they were written",
                "contains no result of fio",
                "make it with `fio --output-format=json`, which has more detail",
            ],
            Format::IometerCsv => [
                "give Iometer's file of results as it was written",
                "contains no result of Iometer",
                "a table of results has a row that begins with `ALL,All,`",
            ],
            Format::VdbenchFlatfile | Format::VdbenchSummary => [
                "give vdbench's file as it was written",
                "contains no average of a vdbench run",
                "an average has `avg_` in its column of intervals; a run that was stopped has none",
            ],
            Format::ElbenchoCsv | Format::ElbenchoJson => [
                "give elbencho's file as it was written",
                "contains no phase of elbencho that reads or writes",
                "phases that read or write are READ, WRITE and RWMIX",
            ],
            Format::CrystalDiskMark | Format::KDiskMark => [
                "give the text as the program saved it (File, Save)",
                "contains no test result",
                "save the text once the tests have run",
            ],
        };
        Words {
            bad_hint,
            none,
            none_hint,
        }
    }
}

#[cfg(test)]
mod tests;
