//! Reads SQLIO's output, many runs one after the other, with surrounding text: prompts, command
//! lines, a batch file's own messages.
//!
//! White space does not matter: results are often taken from web pages and mail, which lose tabs
//! and padding. A result that cannot be read completely is an error with its lines; nothing is
//! imported then. An undocumented line within a result is kept verbatim, and noted.

use super::record::{LocatedReport, record};
use super::report::{AccessPattern, Growth, Latencies, Operation, Pool, Prepared, Report, Timer};
use super::{HISTOGRAM_BINS, consistency, report};
use crate::out::{LineReader, Out};
use crate::text::{Line, squeezed};
use std::collections::BTreeSet;

/// Longer lines belong to no result.
const LINE_MAX: usize = 4_096;
/// Most unknown lines kept of one result.
const OTHERS_MAX: usize = 64;
/// Most threads, and most outstanding of each: their product fits 32 bits.
const COUNT_MAX: u32 = 65_535;
/// Reads output of SQLIO.
#[derive(Default)]
pub(crate) struct Reader {
    command: Option<String>,
    open: Option<Open>,
    defaults: Defaults,
}

/// SQLIO prints nothing for options not given, indistinguishable from removed lines: counts how
/// many results are assumed to have its defaults.
#[derive(Default)]
struct Defaults {
    results: usize,
    without_outstanding: usize,
    without_buffering: usize,
}

impl Defaults {
    fn of(&mut self, report: &Report) {
        self.results += 1;
        self.without_outstanding += usize::from(report.outstanding.is_none());
        self.without_buffering += usize::from(report.buffering.is_none());
    }

    fn note(&self, out: &mut Out<'_>) {
        for (silent, what) in [
            (
                self.without_outstanding,
                "outstanding I/Os, which is SQLIO's default: one per thread",
            ),
            (
                self.without_buffering,
                "buffering, which is SQLIO's default: none (-BN)",
            ),
        ] {
            if silent > 0 {
                let results = self.results;
                out.note_once(format!(
                    "{silent} of {results} results do not mention {what}"
                ));
            }
        }
    }
}

/// A result being read.
#[derive(Default)]
struct Open {
    line: u64,
    version: String,
    command: Option<String>,
    timer: Option<Timer>,
    parameter_file: Option<String>,
    pools: Vec<Pool>,
    load: Option<(u32, Operation, u64, Vec<String>)>,
    block: Option<(u64, AccessPattern)>,
    outstanding: Option<u32>,
    buffering: Option<String>,
    needed: Option<(String, u64)>,
    current: Option<u64>,
    by: Option<u64>,
    prepared: Vec<Prepared>,
    other: Vec<String>,
    iops: Option<u64>,
    mib: Option<u64>,
    initiation: [Option<u64>; 3],
    latency: [Option<u64>; 3],
    histogram: Option<Vec<u8>>,
    other_results: Vec<String>,
    seen: BTreeSet<&'static str>,
    /// One of its lines could not be read, and was reported.
    wrong: bool,
}

/// How a line was classified.
enum LineMatch {
    /// Part of the result.
    Yes,
    /// Not known.
    No,
    /// It begins like a known one but continues differently.
    Wrong(String),
}

impl LineReader for Reader {
    fn line(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        if line.text.len() > LINE_MAX {
            let reason = format!("is longer than {LINE_MAX} bytes, as no line of SQLIO is");
            return out.note(line.number, reason);
        }
        let words = squeezed(line.text);
        if words.is_empty() {
            return;
        }
        if let Some(version) = version_of(&words) {
            self.close(out);
            self.open = Some(Open {
                line: line.number,
                version: version.to_owned(),
                command: self.command.take(),
                ..Open::default()
            });
            return;
        }
        if let Some(command) = command_in(&words) {
            self.close(out);
            self.command = Some(command);
            return;
        }
        let taken = self
            .open
            .as_mut()
            .map_or(LineMatch::No, |open| open.take(&words));
        match taken {
            LineMatch::Yes => {}
            LineMatch::Wrong(reason) => {
                if let Some(open) = &mut self.open {
                    open.wrong = true;
                }
                out.problem(line.number, reason);
            }
            LineMatch::No => self.unknown(line, out),
        }
    }

    fn end(&mut self, out: &mut Out<'_>) {
        self.close(out);
        self.defaults.note(out);
    }
}

impl Reader {
    /// A line that is not part of any known format.
    fn unknown(&mut self, line: Line<'_>, out: &mut Out<'_>) {
        let text = line.text.trim_end();
        // A result is complete with its histogram; what follows belongs to the batch.
        let Some(open) = self.open.as_mut().filter(|open| open.histogram.is_none()) else {
            let shown: String = text.chars().take(60).collect();
            let message = format!("is not part of a result and is skipped: {shown}");
            return out.note(line.number, message);
        };
        let retained = if open.iops.is_none() {
            &mut open.other
        } else {
            &mut open.other_results
        };
        if retained.len() >= OTHERS_MAX {
            let reason = "exceeds the number of unknown lines allowed in a result";
            return out.problem(line.number, reason);
        }
        retained.push(text.to_owned());
        out.note(line.number, format!("is unknown and kept as it is: {text}"));
    }

    /// Ends the result being read.
    fn close(&mut self, out: &mut Out<'_>) {
        let Some(open) = self.open.take() else {
            return;
        };
        let (line, wrong) = (open.line, open.wrong);
        match open.finish() {
            Ok(found) => {
                if let Some(remark) = consistency::remark(&found.report) {
                    out.note(line, format!("begins a result in which {remark}"));
                }
                self.defaults.of(&found.report);
                out.give(record(found, out.source));
            }
            // The reported line is what it lacks.
            Err(_) if wrong => {}
            Err(reason) => out.problem(line, reason),
        }
    }
}

/// `v1.5.SG` from `sqlio v1.5.SG`.
fn version_of(words: &str) -> Option<&str> {
    let (name, version) = words.split_once(' ')?;
    let known = name.eq_ignore_ascii_case("sqlio") && version.starts_with("v1.5");
    (known && !version.contains(' ')).then_some(version)
}

/// Whether the name is in a line, looked for by its rarest letter: this is asked of every line.
fn names_sqlio(line: &[u8]) -> bool {
    let is_name = |word: &[u8]| word.eq_ignore_ascii_case(b"sqlio");
    let letters = line.iter().enumerate();
    let mut places = letters.filter(|(_, letter)| matches!(letter, b'q' | b'Q'));
    places.any(|(at, _)| {
        let from = at.checked_sub(1);
        from.and_then(|from| line.get(from..from + 5))
            .is_some_and(is_name)
    })
}

/// `sqlio` and its switches in a line that calls it, with or without a prompt, a directory and
/// quotation marks around its name.
pub(crate) fn command_in(words: &str) -> Option<String> {
    if !names_sqlio(words.as_bytes()) {
        return None;
    }
    let lower = words.to_ascii_lowercase();
    let (at, after) = lower.match_indices("sqlio").find_map(|(at, name)| {
        let begins =
            at == 0 || lower[..at].ends_with(['>', '\\', '/', ' ', '"', '$', '#', '.', ':', '@']);
        let after = &lower[at + name.len()..];
        let after = after.strip_prefix(".exe").unwrap_or(after);
        let after = after.strip_prefix('"').unwrap_or(after);
        (begins && after.starts_with(" -")).then_some((at, after))
    })?;
    // In prose, no switches follow.
    let switch = after.trim_start().as_bytes().get(1)?;
    let name = &words[at..at + "sqlio".len()];
    let rest = &words[words.len() - after.len()..];
    switch
        .is_ascii_alphabetic()
        .then(|| format!("{name}{rest}"))
}

impl Open {
    fn take(&mut self, words: &str) -> LineMatch {
        let requested = self.take_requested(words);
        if !matches!(requested, LineMatch::No) {
            return requested;
        }
        let prepared = self.take_prepared(words);
        if !matches!(prepared, LineMatch::No) {
            return prepared;
        }
        self.take_results(words)
    }

    /// Marks a value that a result has once.
    fn once(&mut self, what: &'static str) -> LineMatch {
        if self.seen.insert(what) {
            LineMatch::Yes
        } else {
            LineMatch::Wrong(format!(
                "is a second `{what}` in the result that begins on line {}",
                self.line
            ))
        }
    }

    /// Lines about the request.
    fn take_requested(&mut self, words: &str) -> LineMatch {
        if let Some(rest) = words.strip_prefix("parameter file used:") {
            self.parameter_file = Some(rest.trim_start().to_owned());
            return self.once("parameter file used:");
        }
        if let Some(timer) = timer_of(words) {
            let Some(timer) = timer else {
                return LineMatch::Wrong("has no number of counts per second".to_owned());
            };
            self.timer = Some(timer);
            return self.once("counter for latency timings");
        }
        if words.starts_with("file ") && words.contains(" using mask ") {
            return match pool_of(words) {
                Some(_) if self.pools.len() >= 256 => {
                    LineMatch::Wrong("exceeds the maximum of 256 files".to_owned())
                }
                Some(pool) => {
                    self.pools.push(pool);
                    LineMatch::Yes
                }
                None => LineMatch::Wrong(
                    "does not continue as `file NAME with N threads (A-B) using mask 0xM (M)`"
                        .to_owned(),
                ),
            };
        }
        let is_load = || words.contains(" reading for ") || words.contains(" writing for ");
        if words.contains("ing for ") && is_load() {
            return match load_of(words) {
                Some(load) => {
                    self.load = Some(load);
                    self.once("threads reading or writing")
                }
                None => LineMatch::Wrong(
                    "does not continue as `N threads reading for S secs from file NAME`".to_owned(),
                ),
            };
        }
        if let Some(rest) = words.strip_prefix("using ")
            && rest.starts_with(|sign: char| sign.is_ascii_digit())
        {
            return match block_of(rest) {
                Some(block) => {
                    self.block = Some(block);
                    self.once("using NKB")
                }
                None => {
                    LineMatch::Wrong("has no block size as in `using 8KB random IOs`".to_owned())
                }
            };
        }
        if let Some(rest) = words.strip_prefix("enabling multiple I/Os per thread with ") {
            let number = rest.strip_suffix(" outstanding").and_then(whole::<u32>);
            if number.is_none() {
                return LineMatch::Wrong("has no number of outstanding I/Os".to_owned());
            }
            self.outstanding = number;
            return self.once("enabling multiple I/Os");
        }
        if let Some(rest) = words.strip_prefix("buffering set to ") {
            self.buffering = Some(rest.to_owned());
            return self.once("buffering set to");
        }
        LineMatch::No
    }

    /// Lines about files being prepared.
    fn take_prepared(&mut self, words: &str) -> LineMatch {
        let bytes = |rest: &str| whole::<u64>(rest.trim().strip_suffix(" bytes")?);
        let no_bytes = || LineMatch::Wrong("has no number of bytes".to_owned());
        if let Some(rest) = words.strip_prefix("size of file ")
            && let Some((file, needed)) = rest.rsplit_once(" needs to be:")
        {
            let Some(needed) = bytes(needed) else {
                return no_bytes();
            };
            self.needed = Some((file.to_owned(), needed));
            return LineMatch::Yes;
        }
        if let Some(rest) = words.strip_prefix("current file size:") {
            self.current = bytes(rest);
            return self.current.map_or_else(no_bytes, |_| LineMatch::Yes);
        }
        if let Some(rest) = words.strip_prefix("need to expand by:") {
            self.by = bytes(rest);
            return self.by.map_or_else(no_bytes, |_| LineMatch::Yes);
        }
        if words.starts_with("expanding ") {
            return match words.ends_with("... done.") {
                true => LineMatch::Yes,
                false => LineMatch::Wrong("reports that a file was not fully expanded".to_owned()),
            };
        }
        for (which, specified) in [
            ("using specified size:", true),
            ("using current size:", false),
        ] {
            if let Some(rest) = words.strip_prefix(which) {
                return self.file_ready(rest, specified);
            }
        }
        if words == "initialization done" {
            return self.once("initialization done");
        }
        LineMatch::No
    }

    fn file_ready(&mut self, rest: &str, specified: bool) -> LineMatch {
        let parts = rest.trim_start().split_once(" MB for file: ");
        let Some((Some(megabytes), file)) =
            parts.map(|(number, file)| (whole::<u64>(number), file))
        else {
            return LineMatch::Wrong("does not continue as `N MB for file: NAME`".to_owned());
        };
        if self.prepared.len() >= 256 {
            return LineMatch::Wrong("exceeds the maximum of 256 files".to_owned());
        }
        let growth = match (self.needed.take(), self.current.take(), self.by.take()) {
            (Some((_, needed_bytes)), Some(current_bytes), Some(by_bytes)) => Some(Growth {
                needed_bytes,
                current_bytes,
                by_bytes,
            }),
            (None, None, None) => None,
            _ => {
                return LineMatch::Wrong(
                    "comes after only some of the lines about expanding".to_owned(),
                );
            }
        };
        self.prepared.push(Prepared {
            file: file.to_owned(),
            growth,
            specified,
            megabytes,
        });
        LineMatch::Yes
    }

    /// Lines about the results.
    fn take_results(&mut self, words: &str) -> LineMatch {
        const HEADINGS: [&str; 4] = [
            "CUMULATIVE DATA:",
            "throughput metrics:",
            "latency metrics:",
            "histogram:",
        ];
        if HEADINGS.contains(&words) {
            return LineMatch::Yes;
        }
        for name in ["IOs/sec:", "MBs/sec:"] {
            let Some(rest) = words.strip_prefix(name) else {
                continue;
            };
            let value = hundredths_of(rest);
            if value.is_none() {
                return LineMatch::Wrong(format!("has no number such as 421.88 after `{name}`"));
            }
            let field = if name == "IOs/sec:" {
                &mut self.iops
            } else {
                &mut self.mib
            };
            *field = value;
            return self.once(name);
        }
        if let Some((name, rest)) = words.split_once(':')
            && let Some(taken) = self.take_latency(name, rest)
        {
            return taken;
        }
        if let Some(rest) = words.strip_prefix("ms:") {
            let edges: Vec<&str> = rest.split_whitespace().collect();
            let known = edges.len() == HISTOGRAM_BINS && edges.last() == Some(&"24+");
            return match known {
                true => LineMatch::Yes,
                false => {
                    LineMatch::Wrong("is not the histogram's heading from 0 to 24+".to_owned())
                }
            };
        }
        if let Some(rest) = words.strip_prefix("%:") {
            let shares: Option<Vec<u8>> = rest.split_whitespace().map(whole::<u8>).collect();
            let Some(shares) = shares.filter(|shares| {
                shares.len() == HISTOGRAM_BINS && shares.iter().all(|&share| share <= 100)
            }) else {
                return LineMatch::Wrong(
                    "does not have the histogram's 25 whole percents".to_owned(),
                );
            };
            self.histogram = Some(shares);
            return self.once("%:");
        }
        LineMatch::No
    }

    fn take_latency(&mut self, name: &str, rest: &str) -> Option<LineMatch> {
        const NAMES: [(&str, usize, bool); 6] = [
            ("Min_Latency(ms)", 0, false),
            ("Avg_Latency(ms)", 1, false),
            ("Max_Latency(ms)", 2, false),
            ("Min_Init_Latency(us)", 0, true),
            ("Avg_Init_Latency(us)", 1, true),
            ("Max_Init_Latency(us)", 2, true),
        ];
        // Markdown escapes underscores.
        let signs = || name.chars().filter(|sign| *sign != '\\');
        let mut names = NAMES.iter();
        let &(name, at, initiation) = names.find(|(known, ..)| known.chars().eq(signs()))?;
        let value = whole::<u64>(rest.trim());
        if value.is_none() {
            return Some(LineMatch::Wrong(format!(
                "has no whole number after `{name}:`"
            )));
        }
        let values = if initiation {
            &mut self.initiation
        } else {
            &mut self.latency
        };
        values[at] = value;
        Some(self.once(name))
    }

    fn finish(self) -> Result<LocatedReport, String> {
        let lacks = |what: &str| format!("the result that begins here has no {what}");
        let (threads, operation, seconds, files) = self
            .load
            .ok_or_else(|| lacks("line `N threads reading for S secs from file NAME`"))?;
        let (block_kib, pattern) = self
            .block
            .ok_or_else(|| lacks("line such as `using 8KB random IOs`"))?;
        let iops_hundredths = self.iops.ok_or_else(|| {
            lacks("`IOs/sec:`: the run did not finish, or its output is truncated")
        })?;
        let mib_hundredths = self.mib.ok_or_else(|| lacks("`MBs/sec:`"))?;
        for (what, number) in [
            ("threads", u64::from(threads)),
            ("outstanding", u64::from(self.outstanding.unwrap_or(0))),
        ] {
            if number > u64::from(COUNT_MAX) {
                return Err(format!(
                    "the result that begins here has {number} {what}: more than {COUNT_MAX} is not plausible"
                ));
            }
        }
        let report = Report {
            version: self.version,
            timer: self.timer,
            parameter_file: self.parameter_file,
            pools: self.pools,
            threads,
            operation,
            seconds,
            files,
            block_kib,
            pattern,
            outstanding: self.outstanding,
            buffering: self.buffering,
            prepared: self.prepared,
            other: self.other,
            iops_hundredths,
            mib_hundredths,
            initiation_us: three(self.initiation, "initiation latencies")?,
            latency_ms: three(self.latency, "latencies")?,
            histogram_percent: self.histogram,
            other_results: self.other_results,
        };
        if let Some(contradiction) = consistency::contradiction(&report) {
            return Err(format!("the result that begins here {contradiction}"));
        }
        Ok(LocatedReport {
            report,
            line: self.line,
            command: self.command,
        })
    }
}

/// All three, or none.
fn three(values: [Option<u64>; 3], what: &str) -> Result<Option<Latencies>, String> {
    match values {
        [Some(min), Some(avg), Some(max)] => Ok(Some(report::Latencies { min, avg, max })),
        [None, None, None] => Ok(None),
        _ => Err(format!(
            "the result that begins here has only some of its {what}"
        )),
    }
}

/// Digits only: no sign, no space.
fn whole<T: std::str::FromStr>(text: &str) -> Option<T> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// `421.88` in hundredths; web pages drop a trailing zero.
fn hundredths_of(text: &str) -> Option<u64> {
    let (before, after) = match text.trim().split_once('.') {
        Some((before, after)) => (before, after),
        None => (text.trim(), "0"),
    };
    let part: u64 = match after.len() {
        1 => whole::<u64>(after)? * 10,
        2 => whole(after)?,
        _ => return None,
    };
    whole::<u64>(before)?.checked_mul(100)?.checked_add(part)
}

/// Outer `None`: another line. Inner `None`: no number.
fn timer_of(words: &str) -> Option<Option<Timer>> {
    let rest = words.strip_prefix("using ")?;
    let (name, counts) = rest.split_once(" counter for latency timings, ")?;
    let counts = counts.strip_suffix(" counts per second").and_then(whole);
    Some(counts.map(|counts_per_second| Timer {
        name: name.to_owned(),
        counts_per_second,
    }))
}

/// `file NAME with N threads (A-B) using mask 0xM (M)`.
fn pool_of(words: &str) -> Option<Pool> {
    let (before, mask) = words.strip_prefix("file ")?.rsplit_once(" using mask ")?;
    let (file, threads) = before.rsplit_once(" with ")?;
    let (count, range) = threads.split_once(" thread")?;
    let range = range.trim_start_matches('s').trim();
    let range = range.strip_prefix('(')?.strip_suffix(')')?;
    let (first, last) = range.split_once('-').unwrap_or((range, range));
    let hexadecimal = mask.split_whitespace().next()?.strip_prefix("0x")?;
    Some(Pool {
        file: file.to_owned(),
        threads: whole(count)?,
        first: whole(first)?,
        last: whole(last)?,
        mask: u64::from_str_radix(hexadecimal, 16).ok()?,
    })
}

/// `N threads reading for S secs from file NAME`, `... to files A, B and C`.
fn load_of(words: &str) -> Option<(u32, Operation, u64, Vec<String>)> {
    let (threads, rest) = words.split_once(" thread")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).trim_start();
    let (operation, rest) = match rest.split_once(' ')? {
        ("reading", rest) => (Operation::Read, rest),
        ("writing", rest) => (Operation::Write, rest),
        _ => return None,
    };
    let (seconds, rest) = rest.strip_prefix("for ")?.split_once(" sec")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).trim_start();
    let rest = rest
        .strip_prefix("from ")
        .or_else(|| rest.strip_prefix("to "))?;
    let files = match (rest.strip_prefix("file "), rest.strip_prefix("files ")) {
        (Some(one), _) => vec![one.to_owned()],
        (_, Some(several)) => files_of(several),
        _ => return None,
    };
    Some((whole(threads)?, operation, whole(seconds)?, files))
}

/// `A, B and C`.
fn files_of(list: &str) -> Vec<String> {
    let (before, last) = list.rsplit_once(" and ").unwrap_or(("", list));
    let before = before.split(", ").filter(|name| !name.is_empty());
    before.chain([last]).take(256).map(str::to_owned).collect()
}

/// `8KB random IOs`.
fn block_of(rest: &str) -> Option<(u64, AccessPattern)> {
    let (number, pattern) = rest.split_once("KB ")?;
    let pattern = match pattern {
        "random IOs" => AccessPattern::Random,
        "sequential IOs" => AccessPattern::Sequential,
        other => AccessPattern::Other(other.to_owned()),
    };
    Some((whole(number)?, pattern))
}
