//! CrystalDiskMark's and KDiskMark's text: a line for each test in a section of reads, of writes
//! and, if selected, of a mix.
//!
//! ```text
//! [Read]
//!   SEQ    1MiB (Q=  8, T= 1):   512.000 MB/s [    488.3 IOPS] < 16320.11 us>
//! ```
//!
//! Every section contains the same tests, so a missing heading is detected: its tests appear a
//! second time.

use crate::Format;
use crate::foreign_result::{ForeignResult, Origin, agrees, number};
use crate::out::{LineReader, Out};
use crate::text::{Line, fingerprint, fingerprint_on, squeezed};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Tolerance between MB/s and IOPS times the block, as a fraction: KDiskMark takes the best of
/// each, which may come from two passes.
const RATES_OFF: f64 = 0.01;

/// The program whose output begins with this line, if any.
pub(crate) fn begins(line: &str) -> Option<Format> {
    let words = squeezed(unquoted(line).0);
    if words.starts_with("CrystalDiskMark ") && words.contains("hiyohiyo") {
        return Some(Format::CrystalDiskMark);
    }
    (words.starts_with("KDiskMark (") && words.contains("): ")).then_some(Format::KDiskMark)
}

/// A line of a page's source as the page shows it.
fn unescaped(line: &str) -> Cow<'_, str> {
    if !line.contains('&') {
        return Cow::Borrowed(line);
    }
    let signs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    let shown = signs.iter().fold(line.to_owned(), |line, (escape, sign)| {
        line.replace(escape, sign)
    });
    Cow::Owned(shown)
}

/// A line without the quote marks of mail or Markdown (`> `), and their number.
fn unquoted(line: &str) -> (&str, usize) {
    let is_mark = |sign: char| sign == '>' || sign.is_whitespace();
    let text = line.trim_start_matches(is_mark);
    let marks = &line[..line.len() - text.len()];
    (text, marks.matches('>').count())
}

/// Whether a line ends text embedded in a page.
fn closes(words: &str) -> bool {
    ["```", "~~~", "</pre>", "</code>"]
        .iter()
        .any(|mark| words.starts_with(mark))
}

/// Operations of the tests in a section.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Section {
    Read,
    Write,
    /// Percentage of reads.
    Mix(u8),
}

/// The result line of a test.
#[derive(Clone, Debug)]
struct Row {
    line: u64,
    section: Section,
    text: String,
    result: ForeignResult,
}

/// Reads outputs of both programs.
#[derive(Default)]
pub(crate) struct Reader {
    /// The output that is being read.
    open: Option<Output>,
    read_any: bool,
    of_1024: bool,
}

struct Output {
    format: Format,
    version: Option<String>,
    /// Quote marks before each of its lines.
    quoted: usize,
    content: String,
    section: Option<Section>,
    rows: Vec<Row>,
    seen: BTreeSet<(Section, String)>,
    details: Map<String, Value>,
    size_bytes: Option<u64>,
    asked_ns: Option<u64>,
}

impl LineReader for Reader {
    fn line(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        let text = unescaped(line.text);
        let (text, quoted) = unquoted(&text);
        if text.len() > 4_096 {
            return;
        }
        let words = squeezed(text);
        if let Some(format) = begins(&words) {
            self.close(out);
            self.begin(format, &words, quoted, line.number, out);
            return;
        }
        let Some(open) = &mut self.open else {
            return;
        };
        if quoted < open.quoted || closes(&words) {
            return self.close(out);
        }
        if !words.is_empty() {
            self.of_1024 |= open.line(line.number, &words, out);
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.close(out);
        if self.read_any {
            out.note_once("each number is the best of several passes, not their mean: compare it with numbers of the same kind only");
        }
        if self.of_1024 {
            out.note_once("its MB/s are KiB/s over 1,000 (1,024,000 bytes), as its IOPS and block sizes show; they are converted as such");
        }
    }
}

impl Reader {
    fn begin(&mut self, format: Format, words: &str, quoted: usize, line: u64, out: &mut Out<'_>) {
        let version = version(words);
        let major = version
            .as_deref()
            .and_then(|version| version.split('.').next()?.parse::<u32>().ok());
        if format == Format::CrystalDiskMark && major.is_some_and(|major| major < 7) {
            let version = version.unwrap_or_default();
            return out.refuse(
                line,
                format!("begins a text of CrystalDiskMark {version}: versions before 7 are not supported, whose tests have no sections, and mostly no IOPS"),
                "measure again with CrystalDiskMark 7 or later, and import its text",
            );
        }
        self.open = Some(Output {
            format,
            version,
            quoted,
            content: format!("{words}\n"),
            section: None,
            rows: Vec::new(),
            seen: BTreeSet::new(),
            details: Map::new(),
            size_bytes: None,
            asked_ns: None,
        });
    }

    fn close(&mut self, out: &mut Out<'_>) {
        if let Some(open) = self.open.take() {
            self.read_any |= !open.rows.is_empty();
            open.give(out);
        }
    }
}

impl Output {
    /// Parses one line; returns whether it shows that its MB are 1,024,000 bytes.
    fn line(&mut self, line: u64, words: &str, out: &mut Out<'_>) -> bool {
        self.content.push_str(words);
        self.content.push('\n');
        if words.starts_with('[') && !words.contains("MB/s") {
            // After the last item, the surrounding page continues.
            let is_over = ["date", "os"]
                .iter()
                .any(|name| self.details.contains_key(*name));
            if !is_over {
                self.section = section(words);
                if self.section.is_none() {
                    out.problem(line, "is an unknown section");
                }
            }
            return false;
        }
        if words.contains(" MB/s") && words.contains(':') && !words.starts_with('*') {
            return self.row(line, words, out);
        }
        let Some((name, value)) = words.split_once(": ") else {
            return false;
        };
        match name {
            "Test" => self.size_bytes = size(value),
            "Profile" | "Date" | "OS" | "Mode" | "Time" | "Target" | "Comment" => {}
            _ => return false,
        }
        let requested = value.split_once("Measure").map(|(_, rest)| rest);
        if let Some(rest) = requested {
            self.asked_ns = seconds_ns(rest.trim_start_matches(':'));
        }
        self.details.insert(name.to_lowercase(), Value::from(value));
        false
    }

    fn row(&mut self, line: u64, words: &str, out: &mut Out<'_>) -> bool {
        let Some(section) = self.section else {
            out.problem(
                line,
                "is a test without a section (`[Read]`, `[Write]`) above it",
            );
            return false;
        };
        let Some((label, result, of_1024)) = result(words, section) else {
            out.problem(
                line,
                "is a test without MB/s, or whose MB/s and IOPS contradict each other: it is truncated or was changed",
            );
            return false;
        };
        if !self.seen.insert((section, label)) {
            out.problem(
                line,
                "repeats a test of its section: a heading is missing, or a line is duplicated",
            );
        } else if result.mib_per_s == Some(0.0) {
            out.note(line, "is a test that was not run; left out");
        } else {
            self.rows.push(Row {
                line,
                section,
                text: words.to_owned(),
                result,
            });
        }
        of_1024
    }

    fn give(self, out: &mut Out<'_>) {
        let content = fingerprint(&self.content);
        for row in self.rows {
            let origin = Origin {
                tool: match self.format {
                    Format::KDiskMark => "kdiskmark",
                    _ => "crystaldiskmark",
                },
                version: self.version.clone(),
                source: out.source,
                line: row.line,
                content: fingerprint_on(content, &format!("{:?}{}", row.section, row.text)),
                details: self.details.clone(),
                ..Origin::default()
            };
            let result = ForeignResult {
                size_bytes: self.size_bytes,
                asked_ns: self.asked_ns,
                ..row.result
            };
            out.give(result.record(&origin));
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

/// The label of a test, its values, and whether its MB are 1,024,000 bytes.
fn result(words: &str, section: Section) -> Option<(String, ForeignResult, bool)> {
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
    // Small rates fit both units; then the program's own declaration decides.
    let mut result = ForeignResult {
        job: words.split("):").next().unwrap_or_default().to_owned() + ")",
        random: Some(random),
        block_bytes: Some(block),
        threads: count(threads, "T="),
        outstanding: count(queues, "Q="),
        iops: Some(iops),
        mib_per_s: Some(mb * unit / 1_048_576.0),
        ..ForeignResult::default()
    };
    let latency = (us > 0.0).then_some(us * 1e3);
    match section {
        Section::Read => {
            result.read_percent = Some(100);
            result.read.latency_mean = latency;
            result.write = crate::foreign_result::ForeignKind::none();
        }
        Section::Write => {
            result.read_percent = Some(0);
            result.write.latency_mean = latency;
            result.read = crate::foreign_result::ForeignKind::none();
        }
        // A mix gives no latency of either direction.
        Section::Mix(reads) => result.read_percent = Some(reads),
    }
    Some((label.to_owned(), result, unit > 1e6))
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
