//! CrystalDiskMark's and KDiskMark's text: a line for each test in a section of reads,
//! of writes and, where asked for, of both.
//!
//! ```text
//! [Read]
//!   SEQ    1MiB (Q=  8, T= 1):   512.000 MB/s [    488.3 IOPS] < 16320.11 us>
//! ```
//!
//! The same tests stand in each section, so a heading that was cut out is seen: its
//! tests are there a second time.

use crate::text::{Line, fingerprint, lines, squeezed};
use crate::told::{Origin, Told, agrees, number};
use crate::{Error, Format, ImportedFile, LineProblem, Note};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const RUNS_MAX: usize = 10_000;
/// How far MB/s and IOPS times the block may be apart, as a share: KDiskMark takes the
/// best of each, which may be of two passes.
const RATES_OFF: f64 = 0.01;

/// Whether a line begins such an output, and which program's.
pub(crate) fn begins(line: &str) -> Option<Format> {
    let words = squeezed(line);
    if words.starts_with("CrystalDiskMark ") && words.contains("hiyohiyo") {
        return Some(Format::CrystalDiskMark);
    }
    (words.starts_with("KDiskMark (") && words.contains("): ")).then_some(Format::KDiskMark)
}

pub(crate) fn import_text(text: &str, source_name: &str) -> Result<ImportedFile, Error> {
    let mut reader = Reader::default();
    for line in lines(text) {
        reader.line(line);
    }
    reader.close(source_name);
    if !reader.problems.is_empty() {
        let hint = "give the text as the program saved it (File, Save); nothing was imported";
        return Err(Error::of_lines(source_name, reader.problems, hint));
    }
    let (Some(format), false) = (reader.format, reader.runs.is_empty()) else {
        let hint = "save the text once the tests have run";
        return Err(Error::new(source_name, "contains no test result", hint));
    };
    let best = "each number is the best of several passes, not their mean: compare it with numbers of the same kind only";
    reader.notes.push(Note {
        line: None,
        message: best.to_owned(),
    });
    if reader.of_1024 {
        let message = "its MB/s are KiB/s over 1,000 (1,024,000 bytes), as its IOPS and block sizes show; they are converted as such";
        reader.notes.push(Note {
            line: None,
            message: message.to_owned(),
        });
    }
    Ok(ImportedFile {
        format,
        runs: reader.runs,
        notes: reader.notes,
    })
}

/// What the tests of a section do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Section {
    Read,
    Write,
    /// Per cent of reads.
    Mix(u8),
}

/// A test's line.
#[derive(Clone, Debug)]
struct Row {
    line: u64,
    section: Section,
    text: String,
    told: Told,
}

#[derive(Default)]
struct Reader {
    format: Option<Format>,
    /// The output that is being read: tool and version.
    head: Option<(Format, Option<String>)>,
    content: String,
    section: Option<Section>,
    rows: Vec<Row>,
    seen: BTreeSet<(Section, String)>,
    details: Map<String, Value>,
    size_bytes: Option<u64>,
    asked_ns: Option<u64>,
    of_1024: bool,
    runs: Vec<stripewise_results::RunRecord>,
    notes: Vec<Note>,
    problems: Vec<LineProblem>,
    source: String,
}

impl Reader {
    fn problem(&mut self, line: u64, reason: impl Into<String>) {
        self.problems.push(LineProblem {
            line,
            reason: reason.into(),
        });
    }

    fn line(&mut self, line: Line<'_>) {
        let words = squeezed(line.text);
        if words.is_empty() || words.len() > 4_096 {
            return;
        }
        if let Some(format) = begins(&words) {
            let source = std::mem::take(&mut self.source);
            self.close(&source);
            self.format.get_or_insert(format);
            self.head = Some((format, version(&words)));
        }
        if self.head.is_none() {
            return;
        }
        self.content.push_str(&words);
        self.content.push('\n');
        if words.starts_with('[') && !words.contains("MB/s") {
            self.section = section(&words);
            if self.section.is_none() {
                self.problem(line.number, "is an unknown section");
            }
            return;
        }
        if words.contains(" MB/s") && words.contains(':') && !words.starts_with('*') {
            return self.row(line.number, words);
        }
        let Some((name, value)) = words.split_once(": ") else {
            return;
        };
        match name {
            "Test" => self.size_bytes = size(value),
            "Profile" | "Date" | "OS" | "Mode" | "Time" | "Target" | "Comment" => {}
            _ => return,
        }
        let asked = value.split_once("Measure").map(|(_, rest)| rest);
        if let Some(rest) = asked {
            self.asked_ns = seconds_ns(rest.trim_start_matches(':'));
        }
        self.details.insert(name.to_lowercase(), Value::from(value));
    }

    fn row(&mut self, line: u64, words: String) {
        let Some(section) = self.section else {
            return self.problem(
                line,
                "is a test without a section (`[Read]`, `[Write]`) above it",
            );
        };
        let Some((label, told, of_1024)) = told(&words, section) else {
            return self.problem(
                line,
                "is a test without MB/s, or whose MB/s and IOPS contradict each other: it is truncated or was changed",
            );
        };
        if !self.seen.insert((section, label)) {
            return self.problem(
                line,
                "repeats a test of its section: a heading is missing, or a line is duplicated",
            );
        }
        self.of_1024 |= of_1024;
        if told.mib_per_s == Some(0.0) {
            self.notes.push(Note {
                line: Some(line),
                message: "is a test that was not run; left out".to_owned(),
            });
            return;
        }
        self.rows.push(Row {
            line,
            section,
            text: words,
            told,
        });
    }

    fn close(&mut self, source_name: &str) {
        source_name.clone_into(&mut self.source);
        let head = self.head.take();
        let rows = std::mem::take(&mut self.rows);
        let content = std::mem::take(&mut self.content);
        let details = std::mem::take(&mut self.details);
        let (size_bytes, asked_ns) = (self.size_bytes.take(), self.asked_ns.take());
        self.section = None;
        self.seen.clear();
        let Some((format, version)) = head else {
            return;
        };
        if self.runs.len() + rows.len() > RUNS_MAX {
            let line = rows.first().map_or(1, |row| row.line);
            return self.problem(line, "exceeds the maximum number of results");
        }
        for row in rows {
            let origin = Origin {
                tool: match format {
                    Format::KDiskMark => "kdiskmark",
                    _ => "crystaldiskmark",
                },
                version: version.clone(),
                source: source_name,
                line: row.line,
                content: fingerprint(&format!("{content}{:?}{}", row.section, row.text)),
                details: details.clone(),
                ..Origin::default()
            };
            let told = Told {
                size_bytes,
                asked_ns,
                ..row.told
            };
            self.runs.push(told.record(&origin));
        }
    }
}

/// `CrystalDiskMark 8.0.4 x64 (C) ...`, `KDiskMark (3.2.0): ...`.
fn version(words: &str) -> Option<String> {
    let rest = words.split_once(' ')?.1;
    let version = rest.trim_start_matches('(').split([' ', ')']).next()?;
    let sound = version.starts_with(|sign: char| sign.is_ascii_digit());
    sound.then(|| version.to_owned())
}

/// `[Read]`, `[Write]`, `[Mix] Read 70%/Write 30%`.
fn section(words: &str) -> Option<Section> {
    match words {
        "[Read]" => Some(Section::Read),
        "[Write]" => Some(Section::Write),
        _ => {
            let rest = words.strip_prefix("[Mix] Read ")?;
            let (reads, writes) = rest.split_once("%/Write ")?;
            let reads: u8 = reads.parse().ok()?;
            let writes: u8 = writes.trim_end_matches('%').parse().ok()?;
            (reads.checked_add(writes) == Some(100)).then_some(Section::Mix(reads))
        }
    }
}

/// The label of a test, what it says, and whether its MB are 1,024,000 bytes.
fn told(words: &str, section: Section) -> Option<(String, Told, bool)> {
    let (label, rest) = words.split_once("):")?;
    let (name, load) = label.split_once('(')?;
    let random = match name.split(' ').next()? {
        "RND" | "Random" => true,
        "SEQ" | "Sequential" => false,
        _ => return None,
    };
    let block = name
        .split_once(' ')
        .and_then(|(_, size)| block_bytes(size))?;
    let (queues, threads) = load.split_once(',')?;
    let count = |text: &str, mark: &str| -> Option<u64> {
        text.trim().strip_prefix(mark)?.trim().parse().ok()
    };
    let (mb, rest) = rest.split_once(" MB/s")?;
    let mb = number(mb)?;
    let iops = rest
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once("IOPS"))
        .and_then(|(iops, _)| number(iops))?;
    let us = rest
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once("us>"))
        .and_then(|(us, _)| number(us))?;
    let follows = iops * block as f64;
    let fits = |unit: f64| agrees(mb * unit, follows, RATES_OFF, 600.0 + 0.06 * block as f64);
    let unit = [1e6, 1_024_000.0].into_iter().find(|unit| fits(*unit))?;
    // Small rates fit both; what the program says of itself holds then.
    let mut told = Told {
        job: words.split("):").next().unwrap_or_default().to_owned() + ")",
        random: Some(random),
        block_bytes: Some(block),
        threads: count(threads, "T="),
        outstanding: count(queues, "Q="),
        iops: Some(iops),
        mib_per_s: Some(mb * unit / 1_048_576.0),
        ..Told::default()
    };
    let latency = (us > 0.0).then_some(us * 1e3);
    match section {
        Section::Read => {
            told.read_percent = Some(100);
            told.read.latency_mean = latency;
            told.write = crate::told::ToldKind::none();
        }
        Section::Write => {
            told.read_percent = Some(0);
            told.write.latency_mean = latency;
            told.read = crate::told::ToldKind::none();
        }
        // Of both together no latency of either is known.
        Section::Mix(reads) => told.read_percent = Some(reads),
    }
    Some((label.to_owned(), told, unit > 1e6))
}

/// `1MiB`, `4 KiB`, `128KiB`.
fn block_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, shift) = match text.strip_suffix("MiB") {
        Some(digits) => (digits, 20),
        None => (text.strip_suffix("KiB")?, 10),
    };
    let number: u64 = digits.trim().parse().ok()?;
    number.checked_mul(1 << shift)
}

/// `1 GiB (x5) [C: 45 % ...]`.
fn size(text: &str) -> Option<u64> {
    let mut words = text.split(' ');
    let number: u64 = words.next()?.parse().ok()?;
    let shift = match words.next()? {
        "MiB" => 20,
        "GiB" => 30,
        "TiB" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

/// ` 5 sec / Interval 5 sec`.
fn seconds_ns(text: &str) -> Option<u64> {
    let mut words = text.trim().split(' ');
    let number: u64 = words.next()?.parse().ok()?;
    let unit = match words.next()? {
        "sec" => 1,
        "min" => 60,
        _ => return None,
    };
    number.checked_mul(unit * 1_000_000_000)
}
