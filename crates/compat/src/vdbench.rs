//! vdbench: `flatfile.html`, a row of columns for each interval and an average of each run, and
//! `summary.html`, the same in readable form.
//!
//! The average of a run (`avg_2-60`) is its result. vdbench does not print counts, so a record has
//! rates and latencies; MB/s must equal the rate times the size.

use crate::foreign_result::{ForeignKind, ForeignResult, Origin, agrees, number};
use crate::out::{LineReader, Out};
use crate::text::{Line, fingerprint};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Tolerance between MB/s and rate times size, as a fraction; both are rounded.
const RATES_OFF: f64 = 0.005;

/// Whether a line is the heading of a flatfile. In older versions the second column is not
/// `timestamp`.
pub(crate) fn is_flatfile(line: &str) -> bool {
    let mut words = line.split_whitespace();
    matches!(
        (words.next(), words.next()),
        (Some("tod"), Some("timestamp" | "Run"))
    )
}

/// Whether a line begins a run in a summary.
pub(crate) fn begins_run(line: &str) -> bool {
    line.contains("Starting RD=") && run_name(&plain(line)).is_some()
}

/// Second lines of vdbench's reports of one host, disk or workload, and of those without rates.
const OTHER_REPORTS: [&str; 12] = [
    "Host summary report",
    "Slave summary report",
    "SD report for",
    "Workload Report for",
    "Report for fsd",
    "Report for fwd",
    "Performance histogram for",
    "Total response time histogram",
    "SD response time histogram",
    "stdout/stderr for slave",
    "Anchor status report",
    "Workload skew report",
];

/// Whether a text is another report of vdbench than those of whole runs: rates of a host are not
/// those of the run whose name it has.
pub(crate) fn is_other_report(text: &str) -> bool {
    let mut first = text.lines().take(4).map(str::trim_start);
    first.any(|line| {
        let of_workload = line.starts_with("wd=") && line.contains(" response time histogram");
        of_workload || OTHER_REPORTS.iter().any(|words| line.starts_with(*words))
    })
}

/// Cells by column name.
type Row<'a> = BTreeMap<&'a str, &'a str>;

/// Reads a flatfile or a summary.
#[derive(Default)]
pub(crate) struct Reader {
    is_flat: bool,
    columns: Vec<String>,
    /// For a flatfile: runs with intervals, and runs with an average.
    seen: BTreeSet<String>,
    averaged: BTreeSet<String>,
    /// For a summary: the open run.
    open: Option<OpenRun>,
}

struct OpenRun {
    line: u64,
    name: String,
    options: String,
    last_interval: u64,
    average: bool,
    /// The first line of a two-line heading.
    heading: Option<Vec<String>>,
    columns: Vec<String>,
}

impl LineReader for Reader {
    fn line(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        if line.text.is_empty() {
            return;
        }
        match self.is_flat {
            true => self.flat(line, out),
            false => self.summary(line, out),
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.end_run(out);
        for name in self.seen.difference(&self.averaged) {
            out.note_once(format!("run {name} has intervals and no average: it was stopped, or a line is missing; left out"));
        }
    }
}

impl Reader {
    pub(crate) fn flatfile() -> Self {
        Reader {
            is_flat: true,
            ..Reader::default()
        }
    }

    pub(crate) fn summary_of_runs() -> Self {
        Reader::default()
    }

    fn flat(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        let text = plain(line.text);
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.is_empty() || words[0].starts_with('*') {
            return;
        }
        if is_flatfile(&text) {
            self.columns = words.iter().map(|word| (*word).to_owned()).collect();
            return;
        }
        if !is_time_of_day(words[0]) {
            return;
        }
        if self.columns.is_empty() {
            return out.problem(line.number, "is a row without a heading above it");
        }
        if words.len() != self.columns.len() {
            let (found, wanted) = (words.len(), self.columns.len());
            return out.problem(
                line.number,
                format!("has {found} values for {wanted} columns: it is truncated"),
            );
        }
        let cell = |name: &str| Some(words[self.columns.iter().position(|column| column == name)?]);
        let Some((name, interval)) = cell("Run").zip(cell("Interval")) else {
            return out.problem(line.number, "is below a heading without Run and Interval");
        };
        if !self.seen.contains(name) {
            self.seen.insert(name.to_owned());
        }
        if interval.starts_with("avg_") {
            self.averaged.insert(name.to_owned());
            let columns = self.columns.iter().map(String::as_str);
            let row: Row<'_> = columns.zip(words.iter().copied()).collect();
            average(line.number, &text, name, &row, Map::new(), out);
        }
    }

    fn summary(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        let text = plain(line.text);
        if let Some((name, options)) = run_name(&text) {
            self.end_run(out);
            self.open = Some(OpenRun {
                line: line.number,
                name: name.to_owned(),
                options: options.to_owned(),
                last_interval: 0,
                average: false,
                heading: None,
                columns: Vec::new(),
            });
            return;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some(first) = words.first() else { return };
        let Some(open) = &mut self.open else {
            if is_time_of_day(first) && words.len() > 10 && words[1].starts_with("avg_") {
                out.problem(line.number, "is an average without `Starting RD=` above it");
            }
            return;
        };
        // `Nov 22, 2026 interval i/o MB/sec ...`, and below it `rate 1024**2 ...`.
        if words.get(3) == Some(&"interval") {
            open.heading = Some(words[4..].iter().map(|word| (*word).to_owned()).collect());
            return;
        }
        if let Some(above) = open.heading.take() {
            if above.len() != words.len() || is_time_of_day(first) {
                return out.problem(
                    line.number,
                    "is not the second line of the heading above it",
                );
            }
            let pairs = above.iter().zip(&words);
            open.columns = pairs
                .map(|(above, below)| format!("{above} {below}"))
                .collect();
            self.columns.clone_from(&open.columns);
            return;
        }
        if let Some(columns) = columns_of_files(&words) {
            open.columns = columns;
            self.columns.clone_from(&open.columns);
            return;
        }
        if is_time_of_day(first) && words.len() > 10 {
            self.summary_row(line.number, &text, &words, out);
        }
    }

    fn summary_row(&mut self, line: u64, text: &str, words: &[&str], out: &mut Out<'_>) {
        let Some(open) = &mut self.open else { return };
        let range = words[1].strip_prefix("avg_");
        let interval: Option<u64> = match range {
            Some(range) => range
                .split_once('-')
                .and_then(|(_, last)| last.parse().ok()),
            None => words[1].parse().ok(),
        };
        // Messages have a time, too.
        let Some(interval) = interval else { return };
        // totals.html, in which runs have no intervals, has a heading above the first of them.
        if open.columns.is_empty() && range.is_some() && open.last_interval == 0 {
            open.columns.clone_from(&self.columns);
        }
        if open.columns.is_empty() {
            return out.problem(line, "is a row without a heading above it");
        }
        // Interval rows may have trailing columns of other reports.
        if words.len() < open.columns.len() + 2 {
            return out.problem(line, "has fewer values than its heading: it is truncated");
        }
        if range.is_none() {
            open.last_interval = interval;
            return;
        }
        if open.average || (open.last_interval > 0 && open.last_interval != interval) {
            return out.problem(
                line,
                "is an average of other intervals than those above it, or a second one: a neighbouring line is missing",
            );
        }
        open.average = true;
        let (name, columns) = (open.name.clone(), open.columns.clone());
        let mut details = Map::new();
        details.insert("options".to_owned(), Value::from(open.options.as_str()));
        let named: Row<'_> = columns
            .iter()
            .map(String::as_str)
            .zip(words[2..].iter().copied())
            .collect();
        let is_of_files = named.contains_key("Read_rate");
        let row = of_summary(&named).or_else(|| is_of_files.then(|| named.clone()));
        let Some(row) = row else {
            return out.note(
                line,
                format!("is the average of run {name}, whose table is not one of reads and writes (a file system workload); left out"),
            );
        };
        average(line, text, &name, &row, details, out);
    }

    fn end_run(&mut self, out: &mut Out<'_>) {
        let Some(open) = self.open.take() else { return };
        if !open.average {
            out.note(
                open.line,
                format!("begins run {}, which has no average: it was stopped, or a line is missing; left out", open.name),
            );
        }
    }
}

/// An average, by the flatfile's columns.
fn average(
    line: u64,
    text: &str,
    name: &str,
    row: &Row<'_>,
    mut details: Map<String, Value>,
    out: &mut Out<'_>,
) {
    let of_files;
    let mut as_raw;
    let row = match row.get("read%") {
        Some(_) => row,
        None => {
            let Some(found) = reads_and_writes(row) else {
                return out.note(
                    line,
                    format!("is the average of run {name}, whose columns are not those of reads and writes; left out"),
                );
            };
            out.note_once("file system workloads: what is done with names and attributes (create, open, getattr ...) is left out");
            of_files = found;
            as_raw = row.clone();
            for (theirs, raw) in OF_FILES {
                as_raw.extend(row.get(theirs).map(|cell| (raw, *cell)));
            }
            let own = of_files.iter();
            as_raw.extend(own.map(|(column, cell)| (*column, cell.as_str())));
            &as_raw
        }
    };
    if row.get("rate").and_then(|cell| number(cell)) == Some(0.0) {
        return out.note(
            line,
            format!("is the average of run {name}, which neither read nor wrote; left out"),
        );
    }
    for column in [
        "Interval", "reqrate", "threads", "seekpct", "rhpct", "whpct", "lunsize", "resp_std",
    ] {
        if let Some(value) = row.get(column).filter(|value| **value != "n/a") {
            details.insert(column.to_owned(), Value::from(*value));
        }
    }
    let foreign_result = match foreign_result(name, row) {
        Ok(foreign_result) => foreign_result,
        Err(reason) => {
            return out.problem(
                line,
                format!("is an average that {reason}: it is truncated or was changed"),
            );
        }
    };
    let version = row.get("version").filter(|text| **text != "n/a");
    let origin = Origin {
        tool: "vdbench",
        version: version.map(|text| (*text).to_owned()),
        source: out.source,
        line,
        content: fingerprint(text.trim()),
        details,
        ..Origin::default()
    };
    out.give(foreign_result.record(&origin));
}

fn foreign_result(name: &str, row: &Row<'_>) -> Result<ForeignResult, String> {
    let of = |column: &str| row.get(column).and_then(|cell| number(cell));
    let need = |column: &str| of(column).ok_or_else(|| format!("has no number in {column}"));
    let (rate, mb) = (need("rate")?, need("MB/sec")?);
    let (size, read_share) = (need("bytes/io")?, need("read%")?);
    let resp = need("resp")?;
    if read_share > 100.0 {
        return Err(format!("reports {read_share} % reads"));
    }
    let follows = rate * size;
    // Sizes are whole bytes and rates have few decimals.
    let fits = |unit: f64| agrees(mb * unit, follows, RATES_OFF, unit * 0.006 + rate * 0.5);
    let Some(unit) = [1_048_576.0, 1e6].into_iter().find(|unit| fits(*unit)) else {
        return Err(format!(
            "reports {mb} MB/s, but {rate} operations of {size} bytes a second are {:.2}",
            follows / 1_048_576.0
        ));
    };
    let ms = |column: &str| of(column).map(|ms| ms * 1e6);
    let mut foreign_result = ForeignResult {
        job: name.to_owned(),
        iops: Some(rate),
        mib_per_s: Some(mb * unit / 1_048_576.0),
        // That of a file system workload may be a mean: files end within a block.
        block_bytes: of("xfersize")
            .filter(|bytes| bytes % 512.0 == 0.0)
            .map(|bytes| bytes as u64),
        read_percent: of("rdpct")
            .filter(|share| *share <= 100.0)
            .map(|share| share as u8),
        threads: of("threads").map(|threads| threads as u64),
        random: match row.get("seekpct").copied() {
            Some("100.0000" | "100") => Some(true),
            Some("0.0000" | "0" | "eof" | "seqnz") => Some(false),
            _ => None,
        },
        outstanding_mean: of("queue_depth"),
        ..ForeignResult::default()
    };
    let longest = ms("resp_max");
    let alone = |kind: &mut ForeignKind, max: &str| {
        kind.latency_mean = Some(resp * 1e6);
        kind.latency_max = longest.or(ms(max).filter(|max| *max > 0.0));
    };
    if read_share >= 100.0 {
        alone(&mut foreign_result.read, "read_max");
        foreign_result.write = ForeignKind::none();
    } else if read_share <= 0.0 {
        alone(&mut foreign_result.write, "write_max");
        foreign_result.read = ForeignKind::none();
    } else {
        // The maximum of a mix is that of either direction.
        foreign_result.read.latency_mean = ms("read_resp");
        foreign_result.write.latency_mean = ms("write_resp");
        foreign_result.read.latency_max = ms("read_max");
        foreign_result.write.latency_max = ms("write_max");
        // Columns of file system workloads.
        foreign_result.read.iops = of("Read_rate");
        foreign_result.write.iops = of("Write_rate");
    }
    for kind in [&foreign_result.read, &foreign_result.write] {
        if kind
            .latency_mean
            .zip(kind.latency_max)
            .is_some_and(|(mean, max)| mean > max * 1.001 + 1e4)
        {
            return Err("reports a mean response time above the longest".to_owned());
        }
    }
    Ok(foreign_result)
}

/// Columns of file system workloads, which flatfiles capitalise, and their raw equivalents.
const OF_FILES: [(&str, &str); 9] = [
    ("Xfersize", "bytes/io"),
    ("Xfersize", "xfersize"),
    ("Threads", "threads"),
    ("Reqrate", "reqrate"),
    ("Resp", "resp"),
    ("Read_resp", "read_resp"),
    ("Read_resp_max", "read_max"),
    ("Write_resp", "write_resp"),
    ("Write_resp_max", "write_max"),
];

/// The second line of a file system workload's heading in a summary, and the flatfile's names of
/// its columns. Further ones are of names and attributes; old versions have no `pct`.
const FILES_IN_SUMMARY: [(&str, &str); 13] = [
    ("rate", "rate"),
    ("resp", "resp"),
    ("total", "cpu_used"),
    ("sys", "cpu_sys"),
    ("pct", "pct"),
    ("rate", "Read_rate"),
    ("resp", "Read_resp"),
    ("rate", "Write_rate"),
    ("resp", "Write_resp"),
    ("read", "MB_read"),
    ("write", "MB_write"),
    ("total", "MB/sec"),
    ("size", "Xfersize"),
];

/// The columns of a summary of a file system workload below this second line of its heading.
fn columns_of_files(words: &[&str]) -> Option<Vec<String>> {
    let has_share = words.get(4) == Some(&"pct");
    let known = FILES_IN_SUMMARY.iter();
    let known: Vec<_> = known
        .filter(|(below, _)| has_share || *below != "pct")
        .collect();
    let fits = words.len() >= known.len()
        && known
            .iter()
            .zip(words)
            .all(|((below, _), word)| below == word);
    fits.then(|| known.iter().map(|(_, name)| (*name).to_owned()).collect())
}

/// Columns of the raw table for what a row of a file system workload read and wrote: its own rate
/// and response time are also of names and attributes. `None` for other rows.
fn reads_and_writes(row: &Row<'_>) -> Option<Vec<(&'static str, String)>> {
    let rate = |column: &str| number(row.get(column)?);
    let (reads, writes) = (rate("Read_rate")?, rate("Write_rate")?);
    let all = reads + writes;
    let share = if all > 0.0 { 100.0 * reads / all } else { 0.0 };
    let mut found = vec![("rate", all.to_string()), ("read%", share.to_string())];
    let alone = match (reads > 0.0, writes > 0.0) {
        (true, false) => row.get("Read_resp"),
        (false, true) => row.get("Write_resp"),
        _ => None,
    };
    found.extend(alone.map(|cell| ("resp", (*cell).to_owned())));
    Some(found)
}

/// The columns of a summary under the flatfile's names; `None` if they differ.
fn of_summary<'a>(named: &Row<'a>) -> Option<Row<'a>> {
    let names = [
        ("i/o rate", "rate"),
        ("MB/sec 1024**2", "MB/sec"),
        ("MB/sec 1000**2", "MB/sec"),
        ("bytes i/o", "bytes/io"),
        ("read pct", "read%"),
        ("resp time", "resp"),
        ("read resp", "read_resp"),
        ("write resp", "write_resp"),
        ("read max", "read_max"),
        ("write max", "write_max"),
        ("resp max", "resp_max"),
        ("queue depth", "queue_depth"),
    ];
    named.get("i/o rate")?;
    let found = names
        .into_iter()
        .filter_map(|(summary, flat)| Some((flat, *named.get(summary)?)));
    Some(found.collect())
}

/// A line without HTML tags.
fn plain(line: &str) -> Cow<'_, str> {
    if !line.contains('<') {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let mut inside = false;
    for sign in line.chars() {
        match sign {
            '<' => inside = true,
            '>' if inside => inside = false,
            sign if !inside => text.push(sign),
            _ => {}
        }
    }
    Cow::Owned(text)
}

/// The name and the options of `15:41:39.002 Starting RD=rd1; I/O rate: 100; ...`.
fn run_name(text: &str) -> Option<(&str, &str)> {
    let (time, rest) = text.trim().split_once(" Starting RD=")?;
    if !is_time_of_day(time.trim()) {
        return None;
    }
    let (name, options) = rest.split_once(';').unwrap_or((rest, ""));
    Some((name.trim(), options.trim()))
}

/// `15:41:39.002`.
fn is_time_of_day(word: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    word.starts_with(|sign: char| sign.is_ascii_digit())
        && word.split([':', '.']).all(is_number)
        && word.split([':', '.']).count() >= 3
}
