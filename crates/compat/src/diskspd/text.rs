//! DiskSpd's text: `Input parameters:`, and `Results` for each time span.
//!
//! Written by versions 2.0.11 to 2.2, whose lines differ: units, which latencies have a heading,
//! how caches are named. One file may contain several results. A result that lacks a table or a
//! row, or whose numbers contradict each other, is an error with its line; lines that are not
//! needed are skipped.

use super::consistency::{TotalRow, contradiction, of_totals, total_row};
use super::parameters::{count, span_parameter, target_parameter};
use super::record::{
    Counted, Frame, LATENCIES, Target, TimeSpan, milliseconds, record, seconds_ns,
};
use crate::out::{LineReader, Out};
use crate::text::{Line, fingerprint, squeezed};
use crate::time::from_slashes;

/// Of one invocation, over all of its time spans.
const TARGETS_MAX: usize = 4_096;
const SPANS_MAX: usize = 1_000;

/// The part of the text a line belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    /// Before any DiskSpd output.
    Outside,
    Parameters,
    Results,
}

/// The table a row belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Table {
    None,
    Total,
    Read,
    Write,
    Percentiles,
    /// Percentiles of one of several targets come before those of all.
    OneTarget,
}

impl Table {
    /// The index of a table that has a row per thread.
    fn of_rows(self) -> Option<usize> {
        match self {
            Table::Total => Some(0),
            Table::Read => Some(1),
            Table::Write => Some(2),
            Table::None | Table::Percentiles | Table::OneTarget => None,
        }
    }
}

/// Reads DiskSpd's text.
pub(crate) struct Reader {
    frame: Frame,
    part: Part,
    table: Table,
    /// Requested parameters, by time span.
    requested: Vec<TimeSpan>,
    /// The result being read, and the line of its heading.
    open: Option<(u64, Open)>,
    /// Text of the result so far, for its id.
    content: String,
    number: u64,
}

#[derive(Default)]
struct Open {
    span: TimeSpan,
    /// The last rows of the tables for all operations, reads and writes.
    totals: [Option<TotalRow>; 3],
    /// Sums of the threads' bytes and I/Os in those tables.
    of_threads: [Option<(u64, u64)>; 3],
    /// Number of cells in a row of the table between `thread` and `file`.
    columns: usize,
    /// Latencies were measured: percentiles must follow.
    latencies: bool,
    /// The maximum latencies of reads, of writes and of all, once the percentile table is complete.
    longest_ms: Option<[Option<f64>; 3]>,
    /// DiskSpd reports that it was stopped before it measured.
    interrupted: bool,
    /// Index of the mean latency in a `total:` row; its presence depends on `-L`, other columns on
    /// `-D`.
    mean_at: Option<usize>,
}

impl Reader {
    pub(crate) fn new(source_name: &str) -> Reader {
        Reader {
            frame: Frame {
                source: source_name.to_owned(),
                ..Frame::default()
            },
            part: Part::Outside,
            table: Table::None,
            requested: Vec::new(),
            open: None,
            content: String::new(),
            number: 0,
        }
    }
}

impl LineReader for Reader {
    fn line(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        let words = squeezed(line.text);
        if words.is_empty() || words.len() > 4_096 {
            return;
        }
        if let Some(command) = words.strip_prefix("Command Line:") {
            self.begin(line.number, out);
            self.frame.command = command.split_whitespace().map(str::to_owned).collect();
            // Its text does not name the version; some switches imply it.
            if let Some(switch) = self.frame.command.iter().find(|word| is_of_2_3(word)) {
                out.note(line.number, format!("has {switch}, a switch of DiskSpd 2.3, which puts threads on fast cores first and separates buffers: compare with results of the same version only"));
                self.frame.version = Some("2.3+".to_owned());
            }
            return;
        }
        if words == "Input parameters:" {
            if self.part != Part::Parameters {
                self.begin(line.number, out);
            }
            return;
        }
        if words.starts_with("Results for job ") {
            (self.part, self.open) = (Part::Outside, None);
            return out.problem(
                line.number,
                "begins results of DiskSpd for Linux, whose tables are others and are not read",
            );
        }
        if words.starts_with("Results") && words.ends_with(':') {
            return self.begin_result(line.number, out);
        }
        match self.part {
            Part::Outside => {}
            Part::Parameters => self.parameter(line.number, &words, out),
            Part::Results => self.result(line.number, &words, out),
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.close_invocation(out);
    }
}

impl Reader {
    /// Checks that results of all requested time spans are present, and reports missing ones.
    fn close_invocation(&mut self, out: &mut Out<'_>) {
        self.close_result(out);
        let (requested, found) = (self.requested.len() as u64, self.number);
        if self.part == Part::Results && found > 0 && found < requested {
            out.note(self.frame.line, format!(
                    "begins an output that asks for {requested} time spans and has results of {found}: it is truncated"
                ));
        }
    }

    /// Begins a result of another invocation.
    fn begin(&mut self, line: u64, out: &mut Out<'_>) {
        self.close_invocation(out);
        self.frame = Frame {
            source: std::mem::take(&mut self.frame.source),
            line,
            ..Frame::default()
        };
        self.part = Part::Parameters;
        self.requested.clear();
        self.number = 0;
    }

    fn begin_result(&mut self, line: u64, out: &mut Out<'_>) {
        self.close_result(out);
        if self.part == Part::Outside {
            return out.problem(
                line,
                "begins results without `Input parameters:` before them",
            );
        }
        self.part = Part::Results;
        self.table = Table::None;
        self.content.clear();
        let span = self
            .requested
            .get(self.number as usize)
            .or(self.requested.last());
        let span = span.cloned().unwrap_or_default();
        let open = Open {
            latencies: span.measures_latency,
            span,
            ..Open::default()
        };
        self.open = Some((line, open));
    }

    fn close_result(&mut self, out: &mut Out<'_>) {
        let Some((line, open)) = self.open.take() else {
            return;
        };
        if open.interrupted {
            out.note(
                line,
                "begins an empty result: the test was interrupted before it measured anything",
            );
            self.number += 1;
            return;
        }
        if let Err(reason) = whole(&open) {
            return out.problem(line, format!("begins results that {reason}"));
        }
        let mut frame = self.frame.clone();
        frame.line = line;
        frame.content = fingerprint(&self.content);
        let silent = open
            .span
            .targets
            .iter()
            .any(|target| target.cache_by_default);
        if silent {
            out.note(line, "begins results whose parameters mention the software cache and not write-through, as in versions before 2.0.17: write-through counts as off".to_owned());
        }
        out.give(record(&frame, &open.span, self.number));
        self.number += 1;
    }

    fn parameter(&mut self, line: u64, words: &str, out: &mut Out<'_>) {
        if words.starts_with("timespan:") {
            if self.requested.len() >= SPANS_MAX {
                return out.problem(line, "exceeds the maximum number of time spans");
            }
            self.requested.push(TimeSpan::default());
            return;
        }
        if let Some(name) = words.strip_prefix("computer name:") {
            self.frame.host = Some(name.trim().to_owned());
            return;
        }
        if let Some(time) = words.strip_prefix("start time:") {
            self.frame.started_at = from_slashes(time.trim());
            return;
        }
        if self.requested.is_empty() {
            self.requested.push(TimeSpan::default());
        }
        let targets: usize = self.requested.iter().map(|span| span.targets.len()).sum();
        let Some(span) = self.requested.last_mut() else {
            return;
        };
        if let Some(path) = words.strip_prefix("path:") {
            if targets >= TARGETS_MAX {
                return out.problem(line, "exceeds the maximum number of targets");
            }
            span.targets.push(Target {
                path: path.trim().trim_matches('\'').to_owned(),
                ..Target::default()
            });
        } else if !span_parameter(span, words)
            && let Some(target) = span.targets.last_mut()
        {
            target_parameter(target, words);
        }
    }

    fn result(&mut self, line: u64, words: &str, out: &mut Out<'_>) {
        let Some((_, open)) = &mut self.open else {
            return;
        };
        self.content.push_str(words);
        self.content.push('\n');
        if let Some(time) = words.strip_prefix("actual test time:") {
            open.span.measured_ns = seconds_ns(time.trim().trim_end_matches('s'));
            if open.span.measured_ns.is_none() {
                out.problem(line, "has no seconds after `actual test time:`");
            }
            return;
        }
        if let Some(threads) = words.strip_prefix("thread count:") {
            // Before 2.1 a thread pool (-F) is not mentioned anywhere else.
            if open
                .span
                .targets
                .iter()
                .all(|target| target.threads.is_none())
            {
                open.span.threads_in_all = open.span.threads_in_all.or(count(threads));
            }
            return;
        }
        if let Some(requests) = words.strip_prefix("request count:") {
            open.span.requests_of_thread = count(requests);
            return;
        }
        if words == "Total IO" && open.totals[0].is_some() {
            return self.second_total(line, out);
        }
        match words {
            "Total IO" => self.table = Table::Total,
            "Read IO" => self.table = Table::Read,
            "Write IO" => self.table = Table::Write,
            // A caption of percentiles since 2.0.18.
            "total:" => self.table = Table::None,
            _ if words.starts_with("Total latency distribution:") => self.table = Table::None,
            _ if words.starts_with("Latency distribution:") || is_path(open, words) => {
                self.table = Table::OneTarget;
            }
            _ if words.starts_with("%-ile") && self.table != Table::OneTarget => {
                self.table = Table::Percentiles;
            }
            _ if words.starts_with("thread |") => {
                open.columns = words.split('|').count().saturating_sub(2);
                open.mean_at = mean_at(words);
                open.latencies |= open.mean_at.is_some();
            }
            _ if words.starts_with("total:") => self.total(line, words, out),
            _ if self.table.of_rows().is_some() => {
                if let Some(row) = thread_row(words) {
                    self.thread(line, row, out);
                }
            }
            _ if words.starts_with("The test was interrupted before") => open.interrupted = true,
            _ if self.table == Table::Percentiles => {
                if let Err(reason) = percentile(open, words) {
                    out.problem(line, reason);
                }
            }
            _ => {}
        }
    }

    /// A thread's row: the last row must be the sum.
    fn thread(&mut self, line: u64, [bytes, operations]: [Option<u64>; 2], out: &mut Out<'_>) {
        let Some((_, open)) = &mut self.open else {
            return;
        };
        let Some(of) = self.table.of_rows() else {
            return;
        };
        let (all_bytes, all_operations) = open.of_threads[of].unwrap_or((0, 0));
        let sum = |all: u64, one: Option<u64>| all.checked_add(one?);
        match (sum(all_bytes, bytes), sum(all_operations, operations)) {
            (Some(bytes), Some(operations)) => {
                open.of_threads[of] = Some((bytes, operations));
            }
            _ => out.problem(line, "has no bytes and I/Os of a thread: it is truncated"),
        }
    }

    /// The last row of a table: bytes, I/Os, MB/s, I/O per s, AvgLat...
    fn total(&mut self, line: u64, words: &str, out: &mut Out<'_>) {
        let cells: Vec<&str> = words["total:".len()..].split('|').map(str::trim).collect();
        let Some((_, open)) = &mut self.open else {
            return;
        };
        let Some(of) = self.table.of_rows() else {
            return;
        };
        if open.totals[of].is_some() {
            return out.problem(line, "is a second last row of the same table");
        }
        let Some(row) = total_row(&cells, open.columns) else {
            return out.problem(
                line,
                "does not have a number after `total:` for each column of its table: it is truncated or was changed",
            );
        };
        open.totals[of] = Some(row);
        let sums = (row.bytes, row.operations);
        if open.of_threads[of].is_some_and(|of_threads| of_threads != sums) {
            out.problem(
                line,
                "is not the sum of the rows above it: a row is missing or was changed",
            );
        }
        let mean = open.mean_at.and_then(|at| cells.get(at));
        let mean = mean.and_then(|cell| milliseconds(cell));
        let counted = match of {
            0 => {
                open.span.mib_per_s = Some(row.mib_per_s);
                open.span.iops = Some(row.iops);
                return;
            }
            1 => &mut open.span.read,
            _ => &mut open.span.write,
        };
        (counted.bytes, counted.operations) = (row.bytes, row.operations);
        counted.latency_ms[1] = mean;
    }

    /// Tables of another result begin without the heading `Results`, as in excerpts quoted in
    /// articles.
    fn second_total(&mut self, line: u64, out: &mut Out<'_>) {
        self.close_result(out);
        self.part = Part::Outside;
        out.note(line, "begins a second `Total IO` table in one result: it is skipped with what follows, as no heading says which run it belongs to".to_owned());
    }
}

/// Whether a switch is new in version 2.3: `IoRing`, bypass, affinity by core type, buffer
/// separation, completion port depth, system information.
fn is_of_2_3(word: &str) -> bool {
    let Some(switch) = word.strip_prefix(['-', '/']) else {
        return false;
    };
    let exact = ["Sy", "SY", "ac", "as", "ap", "aP", "ae", "aE", "aup", "Rs"];
    let numbered = |name: &str| {
        switch
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit() || sign == 'n'))
    };
    exact.contains(&switch)
        || switch.starts_with("bs")
        || numbered("u")
        || numbered("oc")
        || switch.starts_with("Sy")
        || switch.starts_with("SY")
}

/// Whether a result has everything that it announces, and is consistent.
fn whole(open: &Open) -> Result<(), String> {
    let Some(measured_ns) = open.span.measured_ns else {
        return Err("have no `actual test time:`: they are truncated".to_owned());
    };
    let [Some(total), Some(read), Some(write)] = &open.totals else {
        let names = ["Total IO", "Read IO", "Write IO"];
        let missing = names
            .iter()
            .zip(&open.totals)
            .find(|(_, row)| row.is_none());
        let name = missing.map_or("Total IO", |(name, _)| name);
        return Err(format!(
            "have no last row (`total:`) of the table `{name}`: they are truncated"
        ));
    };
    if open.latencies && total.operations > 0 {
        let Some([read, write, all]) = open.longest_ms else {
            return Err(
                "measured latencies and have no percentiles up to `max`: they are truncated"
                    .to_owned(),
            );
        };
        let longest = read.into_iter().chain(write).fold(0.0, f64::max);
        if all != Some(longest) {
            return Err("have a longest latency (`max`) of all that is not the longer one of reads and writes: they are truncated or were changed".to_owned());
        }
    }
    let contradiction =
        contradiction(&open.span).or_else(|| of_totals(measured_ns, [total, read, write]));
    contradiction.map_or(Ok(()), Err)
}

/// Bytes and I/Os of `0 | 327680000 | 5000 | 20.83 | ...`; `None` if the line is not a thread's.
fn thread_row(words: &str) -> Option<[Option<u64>; 2]> {
    let mut cells = words.split('|').map(str::trim);
    let thread = cells.next()?;
    let is_number = !thread.is_empty() && thread.bytes().all(|byte| byte.is_ascii_digit());
    let mut number = || cells.next().and_then(|cell| cell.parse().ok());
    is_number.then(|| [number(), number()])
}

/// Index of the mean in the rows of a table headed
/// `thread | bytes | I/Os | MiB/s | I/O per s | AvgLat ...`, which have no first cell after
/// `total:`.
fn mean_at(heading: &str) -> Option<usize> {
    let at = heading
        .split('|')
        .position(|cell| cell.trim() == "AvgLat")?;
    at.checked_sub(1)
}

/// Whether the line is a target's name alone, the caption of its percentiles.
fn is_path(open: &Open, words: &str) -> bool {
    let targets = &open.span.targets;
    targets.len() > 1 && targets.iter().any(|target| target.path == words)
}

/// `50th | 0.1 | 0.2 | 0.1`: read, write, total; `N/A` if there were none.
fn percentile(open: &mut Open, words: &str) -> Result<(), &'static str> {
    let span = &mut open.span;
    let mut cells = words.split('|').map(str::trim);
    let name = match cells.next() {
        Some("min") => "min",
        Some("50th") => "p50",
        Some("90th") => "p90",
        Some("95th") => "p95",
        Some("99th") => "p99",
        Some("3-nines") => "p999",
        Some("max") => "max",
        _ => return Ok(()),
    };
    let Some(at) = LATENCIES.iter().position(|known| *known == name) else {
        return Ok(());
    };
    let values: Vec<&str> = cells.collect();
    let sound = |cell: &&str| *cell == "N/A" || milliseconds(cell).is_some();
    let &[read, write, all] = values.as_slice() else {
        return Err("does not have a percentile of reads, writes and all: it is truncated");
    };
    if !values.iter().all(sound) {
        return Err("has a percentile that is neither milliseconds nor N/A");
    }
    if name == "max" {
        // The very last row: `71` may have been `71.500`.
        let decimals = |cell: &str| cell.split_once('.').map_or(0, |(_, after)| after.len());
        if all != "N/A" && decimals(all) < 3 {
            return Err("has a longest latency without three decimals: it is truncated");
        }
        open.longest_ms = Some([read, write, all].map(milliseconds));
    }
    let set = |counted: &mut Counted, cell: &str| {
        if let Some(value) = milliseconds(cell) {
            counted.latency_ms[at] = Some(value);
        }
    };
    set(&mut span.read, read);
    set(&mut span.write, write);
    Ok(())
}
