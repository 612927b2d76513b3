//! Finds where each tool's results begin in a text.

use crate::text::{Part, lines};
use crate::work::Work;
use crate::{Format, crystal, elbencho, fio, iometer, vdbench};

/// Most lines between a command line and DiskSpd's `Input parameters:`.
const ABOVE_DISKSPD: usize = 4;

/// A line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Its first byte.
    pub(crate) at: usize,
    /// Its number, from 1.
    pub(crate) line: u64,
}

/// The beginning of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) place: Place,
    pub(crate) format: Format,
    /// Where earlier lines of it begin, and end.
    head: Option<(Place, usize)>,
}

/// Where results begin, in order. Only marks that are alone on their line count: a log may quote
/// another tool.
///
/// The first byte of a line says which tools it can be of, so most lines are looked at
/// for a few nanoseconds only.
pub(crate) fn starts(text: &str, work: &Work<'_>) -> Vec<Start> {
    let mut scan = Scan::default();
    for line in lines(text) {
        if !work.visit(line.text.len() + 1) {
            break;
        }
        let at = line.text.as_ptr() as usize - text.as_ptr() as usize;
        let place = Place {
            at,
            line: line.number,
        };
        scan.line(place, line.text);
    }
    let mut starts = scan.starts;
    starts.sort_by_key(|start| start.place);
    starts.dedup();
    starts
}

#[derive(Default)]
struct Scan {
    starts: Vec<Start>,
    /// The last line with an opening brace.
    brace: Option<Place>,
    /// DiskSpd's `Command Line:`, and how many lines ago.
    command: Option<(Place, usize)>,
    /// The first Iometer heading since the last result row.
    iometer: Option<Place>,
    /// The first line of fio's normal output since its last summary.
    fio: Option<Place>,
    fio_jobs: bool,
}

impl Scan {
    fn line(&mut self, here: Place, line: &str) {
        let mut text = line.trim_ascii();
        // Other white space, from web pages.
        if !text.as_bytes().first().is_some_and(u8::is_ascii) {
            text = text.trim();
        }
        let Some(&first) = text.as_bytes().first() else {
            return;
        };
        if let Some(format) = self.format(text, first) {
            let place = match format {
                Format::DiskspdText => self.command.take().map(|(place, _)| place),
                Format::FioJson | Format::ElbenchoJson => self.brace.filter(|_| first != b'{'),
                Format::IometerCsv => self.iometer,
                _ => None,
            };
            let place = place.unwrap_or(here);
            // What fio says above its JSON.
            let head = self.fio.filter(|first| {
                let is_next = self.starts.last().is_none_or(|last| last.place < *first);
                format == Format::FioJson && !self.fio_jobs && is_next
            });
            self.starts.push(Start {
                place,
                format,
                head: head.map(|first| (first, place.at)),
            });
        }
        if text.as_bytes().contains(&b'(') {
            self.fio_line(here, text);
        }
        self.remember(here, text, first);
    }

    /// The format of the result that begins with this non-empty line.
    fn format(&self, text: &str, first: u8) -> Option<Format> {
        let of = |is_so: bool, format: Format| is_so.then_some(format);
        match first {
            b's' | b'S' => of(sqlio_at(text) == Some(0), Format::Sqlio),
            b'"' | b'{' => of(is_key(text, "\"fio version\""), Format::FioJson)
                .or_else(|| of(is_key(text, elbencho::MARK), Format::ElbenchoJson)),
            b'I' => of(text == "Input parameters:", Format::DiskspdText)
                .or_else(|| of(elbencho::is_heading(text), Format::ElbenchoCsv)),
            b'\'' => of(iometer::is_heading(text), Format::IometerCsv),
            b't' => of(vdbench::is_flatfile(text), Format::VdbenchFlatfile),
            b'C' | b'K' | b'>' => crystal::begins(text),
            b'<' => of(text.starts_with("<Results>"), Format::DiskspdXml)
                .or_else(|| of(vdbench::begins_run(text), Format::VdbenchSummary)),
            b'0'..=b'9' => of(fio::terse::is_terse(text), Format::FioTerse)
                .or_else(|| of(vdbench::begins_run(text), Format::VdbenchSummary)),
            _ => None,
        }
    }

    fn fio_line(&mut self, here: Place, text: &str) {
        let header = text.contains(": (g=") && text.contains("ioengine=");
        let job = text.contains(": (groupid=") && text.contains("): err=");
        if header && self.fio_jobs {
            self.fio = None;
            self.fio_jobs = false;
        }
        if !header && !job {
            return;
        }
        let first = *self.fio.get_or_insert(here);
        if !job {
            return;
        }
        // Terse lines and JSON of the same run stand between its header and its jobs.
        let others = self.starts.iter().rev();
        let others =
            others.take_while(|start| start.place > first && start.format != Format::FioNormal);
        let others_at = others.map(|start| start.place.at).min();
        if others_at.is_some() || !self.fio_jobs {
            let head = others_at.filter(|_| !self.fio_jobs);
            self.starts.push(Start {
                place: others_at.map_or(first, |_| here),
                format: Format::FioNormal,
                head: head.map(|end| (first, end)),
            });
        }
        self.fio_jobs = true;
    }

    /// Remembers lines that a later mark may belong to.
    fn remember(&mut self, here: Place, text: &str, first: u8) {
        if text.ends_with('{') {
            self.brace = Some(here);
        }
        if first == b'C' && text.starts_with("Command Line:") {
            self.command = Some((here, 0));
        } else if let Some((_, ago)) = &mut self.command {
            *ago += 1;
            if *ago > ABOVE_DISKSPD {
                self.command = None;
            }
        }
        match first {
            b'\'' => drop(self.iometer.get_or_insert(here)),
            b'A' | b'M' | b'P' | b'W' | b'D'
                if ["ALL,", "MANAGER,", "PROCESSOR,", "WORKER,", "DISK,"]
                    .iter()
                    .any(|kind| text.starts_with(kind)) =>
            {
                self.iometer = None;
            }
            _ => {}
        }
    }
}

/// Whether a line has this JSON key first, or after its opening brace.
fn is_key(text: &str, key: &str) -> bool {
    text.trim_start_matches('{').trim_start().starts_with(key)
}

/// The tool of a text without a mark alone on a line, as on web pages: the first one found.
pub(crate) fn anywhere(text: &str, work: &Work<'_>) -> Option<Format> {
    work.visit(4 * text.len());
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

/// Where a line `sqlio v1.5...` begins, regardless of white space.
fn sqlio_at(text: &str) -> Option<usize> {
    text.match_indices("v1.5").find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let start = before.len().checked_sub("sqlio".len())?;
        let name = before.get(start..)?;
        (before.len() < at && name.eq_ignore_ascii_case("sqlio")).then_some(start)
    })
}

/// Whether results of fio are there in more than one form.
pub(crate) fn are_several_forms(formats: impl Iterator<Item = Format>) -> bool {
    let mut forms = formats.filter_map(Format::form_of_fio);
    let first = forms.next();
    forms.any(|form| Some(form) != first)
}

/// Adjacent results of one tool; of fio all in one form, where there are several forms.
#[derive(Clone, Debug)]
pub(crate) struct Segment<'a> {
    pub(crate) format: Format,
    /// Line on which its first result begins: other text may stand above it in the first part.
    pub(crate) line: u64,
    pub(crate) parts: Vec<Part<'a>>,
    /// Where the last part ends.
    end: usize,
}

/// The results that begin at those of `starts` that `is_wanted`, by number, plus the text before
/// the first of all. Consecutive parts are merged. fio can print a run in several forms: then the
/// one that says most comes first.
pub(crate) fn segments<'a>(
    text: &'a str,
    starts: &[Start],
    is_wanted: impl Fn(usize) -> bool,
) -> Vec<Segment<'a>> {
    let mut segments: Vec<Segment<'a>> = Vec::new();
    let mut numbers: Vec<usize> = (0..starts.len()).filter(|at| is_wanted(*at)).collect();
    if are_several_forms(starts.iter().map(|start| start.format)) {
        numbers.sort_by_key(|at| starts[*at].format.form_of_fio().unwrap_or(0));
    }
    for number in numbers {
        let start = &starts[number];
        let is_first = segments.is_empty();
        if segments
            .last()
            .is_none_or(|last| last.format != start.format)
        {
            segments.push(Segment::of(start));
        }
        let Some(segment) = segments.last_mut() else {
            continue;
        };
        if is_first {
            let whole = Place { at: 0, line: 1 };
            segment.add(text, whole, starts[0].place.at);
        }
        segment.add_result(text, starts, number);
    }
    segments
}

/// The result that begins at one of `starts`, by number.
pub(crate) fn alone<'a>(text: &'a str, starts: &[Start], number: usize) -> Segment<'a> {
    let mut segment = Segment::of(&starts[number]);
    segment.add_result(text, starts, number);
    segment
}

fn end_of(text: &str, starts: &[Start], number: usize) -> usize {
    let next = starts.get(number + 1);
    next.map_or(text.len(), |next| next.place.at)
}

impl<'a> Segment<'a> {
    /// The whole text.
    pub(crate) fn whole(format: Format, text: &'a str) -> Segment<'a> {
        let first_line = 1;
        Segment {
            format,
            line: first_line,
            parts: vec![Part { text, first_line }],
            end: text.len(),
        }
    }

    /// Without text yet.
    fn of(start: &Start) -> Segment<'a> {
        Segment {
            format: start.format,
            line: start.head.map_or(start.place, |(head, _)| head).line,
            parts: Vec::new(),
            end: 0,
        }
    }

    /// Adds the result that begins at one of `starts`.
    fn add_result(&mut self, text: &'a str, starts: &[Start], number: usize) {
        let Start { place, head, .. } = starts[number];
        if let Some((from, end)) = head.filter(|(from, _)| from.at >= self.end) {
            self.add(text, from, end);
        }
        self.add(text, place, end_of(text, starts, number));
    }

    /// Adds the text from a line to a byte offset.
    fn add(&mut self, text: &'a str, from: Place, end: usize) {
        match self.parts.last_mut().filter(|_| self.end == from.at) {
            Some(last) => last.text = &text[from.at - last.text.len()..end],
            None if from.at < end => self.parts.push(Part {
                text: &text[from.at..end],
                first_line: from.line,
            }),
            None => {}
        }
        self.end = end;
    }
}
