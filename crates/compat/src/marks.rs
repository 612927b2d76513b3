//! Where the results of each tool begin in a text.

use crate::{Format, crystal, elbencho, fio, iometer, vdbench};

/// Lines that a command line may stand above `Input parameters:` of DiskSpd.
const ABOVE_DISKSPD: usize = 4;

/// The beginning of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// Byte of the text, at the beginning of a line.
    pub(crate) at: usize,
    pub(crate) format: Format,
}

/// Where results begin, in order. Only marks that stand alone on their line count: a
/// log may quote another tool.
pub(crate) fn starts(text: &str) -> Vec<Start> {
    let mut scan = Scan::default();
    let mut at = 0;
    for line in text.split_inclusive(['\n', '\r']) {
        scan.line(at, line.trim_end_matches(['\n', '\r']));
        at += line.len();
    }
    let mut starts = scan.starts;
    starts.sort_by_key(|start| start.at);
    starts.dedup();
    // Of one run fio prints several forms at once; the JSON has most.
    for (best, others) in [
        (Format::FioJson, [Format::FioNormal, Format::FioTerse]),
        (Format::FioNormal, [Format::FioTerse, Format::FioTerse]),
    ] {
        if starts.iter().any(|start| start.format == best) {
            starts.retain(|start| !others.contains(&start.format));
        }
    }
    starts
}

#[derive(Default)]
struct Scan {
    starts: Vec<Start>,
    /// The last line with an opening brace.
    brace: Option<usize>,
    /// `Command Line:` of DiskSpd, and how many lines ago.
    command: Option<(usize, usize)>,
    /// The first heading of Iometer since the last row of its results.
    iometer: Option<usize>,
    /// The first line of fio's normal output since its last sums.
    fio: Option<usize>,
    fio_jobs: bool,
}

impl Scan {
    fn line(&mut self, at: usize, line: &str) {
        let text = line.trim();
        if text.is_empty() {
            return;
        }
        let mut start = |at: usize, format: Format| self.starts.push(Start { at, format });
        if sqlio_at(text) == Some(0) {
            start(at, Format::Sqlio);
        } else if text.starts_with("<Results>") {
            start(at, Format::DiskspdXml);
        } else if text == "Input parameters:" {
            let from = self.command.take().map_or(at, |(from, _)| from);
            start(from, Format::DiskspdText);
        } else if is_key(text, "\"fio version\"") {
            start(self.brace.unwrap_or(at), Format::FioJson);
        } else if is_key(text, elbencho::MARK) {
            let open = if text.starts_with('{') {
                at
            } else {
                self.brace.unwrap_or(at)
            };
            start(open, Format::ElbenchoJson);
        } else if elbencho::is_heading(text) {
            start(at, Format::ElbenchoCsv);
        } else if iometer::is_heading(text) {
            start(self.iometer.unwrap_or(at), Format::IometerCsv);
        } else if vdbench::is_flatfile(text) {
            start(at, Format::VdbenchFlatfile);
        } else if vdbench::begins_run(text) {
            start(at, Format::VdbenchSummary);
        } else if let Some(format) = crystal::begins(text) {
            start(at, format);
        } else if fio::terse::is_terse(text) {
            start(at, Format::FioTerse);
        }
        self.fio_line(at, text);
        self.remember(at, text);
    }

    fn fio_line(&mut self, at: usize, text: &str) {
        let header = text.contains(": (g=") && text.contains("ioengine=");
        let job = text.contains(": (groupid=") && text.contains("): err=");
        if header && self.fio_jobs {
            self.fio = None;
            self.fio_jobs = false;
        }
        if header || job {
            let first = *self.fio.get_or_insert(at);
            if job && !self.fio_jobs {
                self.starts.push(Start {
                    at: first,
                    format: Format::FioNormal,
                });
            }
            self.fio_jobs |= job;
        }
    }

    /// What a mark below it may belong to.
    fn remember(&mut self, at: usize, text: &str) {
        if text.ends_with('{') {
            self.brace = Some(at);
        }
        if text.starts_with("Command Line:") {
            self.command = Some((at, 0));
        } else if let Some((_, ago)) = &mut self.command {
            *ago += 1;
            if *ago > ABOVE_DISKSPD {
                self.command = None;
            }
        }
        let is_row = ["ALL,", "MANAGER,", "PROCESSOR,", "WORKER,", "DISK,"]
            .iter()
            .any(|kind| text.starts_with(kind));
        if is_row {
            self.iometer = None;
        } else if text.starts_with('\'') {
            self.iometer.get_or_insert(at);
        }
    }
}

/// Whether a line has this key of JSON, first on it or behind its opening brace.
fn is_key(text: &str, key: &str) -> bool {
    text.trim_start_matches('{').trim_start().starts_with(key)
}

/// Who wrote a text in which no mark stands alone, as on web pages: whoever's comes first.
pub(crate) fn anywhere(text: &str) -> Option<Format> {
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

/// Where a line `sqlio v1.5...` begins, whatever white space is in it.
fn sqlio_at(text: &str) -> Option<usize> {
    text.match_indices("v1.5").find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let start = before.len().checked_sub("sqlio".len())?;
        let name = before.get(start..)?;
        (before.len() < at && name.eq_ignore_ascii_case("sqlio")).then_some(start)
    })
}
