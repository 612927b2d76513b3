//! A job in fio's normal output, starting with its `groupid=` line.

use super::header::Header;
use super::job::{self, Job, PERCENTS, percent_at};
use super::printed::{self, PrintedNumber};
use std::collections::BTreeMap;

/// Directions that records are made of.
pub(super) const SIDES: [&str; 2] = ["read", "write"];

/// Its syncs, as a direction behind [`SIDES`].
const SYNCS: usize = 2;

/// A job's printed lines.
pub(super) struct JobText {
    pub(super) line: u64,
    pub(super) name: String,
    pub(super) group: u64,
    pub(super) pid: String,
    processes: u64,
    error: i64,
    pub(super) sides: [Option<Side>; 2],
    syncs: Latencies,
    /// Reads, writes, trims.
    issued: Option<[u64; 3]>,
    /// `None` in versions that do not count them.
    issued_syncs: Option<u64>,
    /// A line of it cannot be read.
    pub(super) is_refused: bool,
    /// No operation was short or dropped.
    whole: bool,
    at: LineContext,
    form: OutputQuirks,
}

/// Version-specific output quirks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct OutputQuirks {
    /// From 2.20 to 3.25 numbers lose a carry: 24.98 is printed as 24.0.
    pub(super) loses_carry: bool,
    /// Before 2.20 decimals lack leading zeros and are in 1,024ths: 2063.99 is printed as 2063.2.
    pub(super) garbles_decimals: bool,
    /// Before 2.1.14 counts do not include dropped operations.
    pub(super) without_drops: bool,
}

impl OutputQuirks {
    /// The value of a number printed in this format.
    pub(super) fn of(self, printed: PrintedNumber) -> PrintedNumber {
        match self.garbles_decimals {
            true => printed.without_decimals(),
            false => printed.with_lost_carry(self.loses_carry),
        }
    }

    /// The format of a version, `3.1`, `2.1.11`, `3.33-dirty`; for an unknown one, any.
    pub(super) fn of_version(version: Option<&str>) -> OutputQuirks {
        let Some(version) = version else {
            return OutputQuirks {
                loses_carry: true,
                garbles_decimals: true,
                without_drops: true,
            };
        };
        let mut numbers = version
            .split(['.', '-'])
            .map(|part| part.parse::<u32>().unwrap_or(0));
        let mut next = || numbers.next().unwrap_or(0);
        let version = (next(), next(), next());
        OutputQuirks {
            loses_carry: ((2, 20, 0)..(3, 26, 0)).contains(&version),
            garbles_decimals: version < (2, 20, 0),
            without_drops: version < (2, 1, 14),
        }
    }
}

/// Reads or writes of a job.
pub(super) struct Side {
    pub(super) runtime_ms: u64,
    bytes: PrintedNumber,
    iops: PrintedNumber,
    bandwidth: PrintedNumber,
    /// By type: `clat`, `lat`.
    latencies: BTreeMap<&'static str, Latencies>,
}

#[derive(Default)]
struct Latencies {
    /// Minimum, maximum and mean, nanoseconds.
    values: Option<[f64; 3]>,
    percentiles: Option<[Option<f64>; PERCENTS.len()]>,
    /// Nanoseconds of the last printed digit.
    step_ns: f64,
}

/// What the next lines describe.
#[derive(Clone, Copy, PartialEq)]
enum LineContext {
    /// Nothing of interest.
    Nothing,
    Side(usize),
    /// Percentiles of a direction: latency type, if records use it, and nanoseconds per unit.
    Percentiles(usize, Option<&'static str>, f64),
    /// A direction that records do not use.
    Others,
}

/// The latency types that records use of a direction: completion and total.
const fn kinds_of(side: usize) -> &'static [&'static str] {
    match side {
        SYNCS => &["sync"],
        _ => &["clat", "lat"],
    }
}

impl JobText {
    /// `name: (groupid=0, jobs=1): err= 0: pid=18430: Sun Nov 22 19:59:45 2026`.
    pub(super) fn begin(line: u64, words: &str, form: OutputQuirks) -> Option<JobText> {
        let (name, rest) = words.split_once(": (groupid=")?;
        let (group, rest) = rest.split_once(", jobs=")?;
        let (processes, rest) = rest.split_once("): err=")?;
        let error: String = rest
            .trim_start()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let pid = rest.split_once(": pid=").map_or("", |(_, rest)| rest);
        let pid = pid.split(':').next().unwrap_or_default();
        Some(JobText {
            line,
            name: name.to_owned(),
            group: group.parse().ok()?,
            pid: pid.to_owned(),
            processes: processes.parse().ok()?,
            error: error.parse().ok()?,
            sides: [None, None],
            syncs: Latencies::default(),
            issued: None,
            issued_syncs: None,
            is_refused: false,
            whole: false,
            at: LineContext::Nothing,
            form,
        })
    }

    /// Whether a line can only be part of a job.
    pub(super) fn is_part(words: &str) -> bool {
        side_line(words).is_some() || words.starts_with("issued rwt")
    }

    /// Parses one of its lines.
    ///
    /// # Errors
    /// The end of a sentence about the line.
    pub(super) fn line(&mut self, words: &str) -> Result<(), String> {
        if words.starts_with('|') {
            return self.percentiles(words);
        }
        if let LineContext::Percentiles(side, ..) = self.at {
            self.at = LineContext::Side(side);
        }
        if let Some((name, rest)) = side_line(words) {
            return self.side(name, rest);
        }
        if let Some((kind, unit_ns, rest)) = latency_line(words) {
            return match (rest, self.at) {
                (Some(rest), LineContext::Side(side)) => self.latency(side, kind, unit_ns, rest),
                (None, LineContext::Side(side)) => self.begin_percentiles(side, kind, unit_ns),
                _ => {
                    self.at = LineContext::Others;
                    Ok(())
                }
            };
        }
        if words.starts_with("fsync/fdatasync") {
            self.at = LineContext::Side(SYNCS);
        } else if words.starts_with("cpu ") {
            self.at = LineContext::Nothing;
        }
        let issued = words.strip_prefix("issued");
        match issued.and_then(|rest| rest.split_once("total=")) {
            Some((_, rest)) => self.issued(rest),
            None => Ok(()),
        }
    }

    fn side(&mut self, name: &str, rest: &str) -> Result<(), String> {
        let Some(at) = SIDES.iter().position(|side| *side == name) else {
            self.at = LineContext::Others;
            let is_only = self.sides.iter().all(Option::is_none);
            return match name {
                // With `unified_rw_reporting=both` reads and writes are above it.
                "mixed" if is_only => Err("adds up reads and writes (unified_rw_reporting), so neither is known: run fio without that option".to_owned()),
                _ => Ok(()),
            };
        };
        if self.sides[at].is_some() {
            return Err(format!(
                "is a second line of {name}s in one job: the first line of another job is missing, or a line is duplicated"
            ));
        }
        let side = side_of(rest, self.form).ok_or_else(|| {
            format!("has no rates, bytes and time of its job's {name}s: it is truncated")
        })?;
        self.sides[at] = Some(side);
        self.at = LineContext::Side(at);
        Ok(())
    }

    fn latencies(&mut self, side: usize, kind: &'static str) -> &mut Latencies {
        if side == SYNCS {
            return &mut self.syncs;
        }
        let side = self.sides[side].as_mut().expect("read before");
        side.latencies.entry(kind).or_default()
    }

    /// `min=36, max=16712, avg=146.25, stdev=827.39`.
    fn latency(&mut self, side: usize, kind: &str, unit_ns: f64, rest: &str) -> Result<(), String> {
        let Some(&kind) = kinds_of(side).iter().find(|known| **known == kind) else {
            return Ok(());
        };
        let value = |name: &str| {
            let parts = rest.split(',').map(str::trim);
            let text = parts.filter_map(|part| part.strip_prefix(name)).next()?;
            Some(printed::count(text)?.times(unit_ns))
        };
        let [Some(min), Some(max), Some(mean), Some(_)] =
            ["min=", "max=", "avg=", "stdev="].map(value)
        else {
            return Err("has no least, largest and mean latency: it is truncated".to_owned());
        };
        let latencies = self.latencies(side, kind);
        if latencies.values.is_some() {
            return Err(format!("is a second line of {kind} of the same direction"));
        }
        latencies.values = Some([min.value, max.value, mean.value]);
        latencies.step_ns = latencies.step_ns.max(min.step).max(max.step);
        Ok(())
    }

    fn begin_percentiles(&mut self, side: usize, kind: &str, unit_ns: f64) -> Result<(), String> {
        // Those of submission, or of one priority, are left out.
        let kind = kinds_of(side).iter().find(|known| **known == kind);
        self.at = LineContext::Percentiles(side, kind.copied(), unit_ns);
        let Some(&kind) = kind else { return Ok(()) };
        let latencies = self.latencies(side, kind);
        if latencies.percentiles.is_some() {
            return Err(format!("begins percentiles of {kind} for a second time"));
        }
        latencies.percentiles = Some([None; PERCENTS.len()]);
        latencies.step_ns = latencies.step_ns.max(unit_ns);
        Ok(())
    }

    /// `| 1.00th=[ 38], 5.00th=[ 39],`.
    fn percentiles(&mut self, words: &str) -> Result<(), String> {
        let (side, kind, unit_ns) = match self.at {
            LineContext::Percentiles(side, Some(kind), unit_ns) => (side, kind, unit_ns),
            LineContext::Percentiles(_, None, _) | LineContext::Others => return Ok(()),
            _ => return Err("has percentiles, but no line says of what".to_owned()),
        };
        let cut = "has a percentile without a value: it is truncated";
        for part in words.trim_start_matches('|').split("],") {
            let part = part.trim().trim_end_matches(']');
            if part.is_empty() {
                continue;
            }
            let (name, value) = part.split_once("th=[").ok_or(cut)?;
            let name: f64 = name.trim().parse().map_err(|_| cut)?;
            let value = value.trim().trim_start_matches(">=");
            let value = printed::count(value).ok_or(cut)?.times(unit_ns);
            let values = self.latencies(side, kind).percentiles.as_mut();
            if let Some((values, at)) = values.zip(percent_at(name))
                && values[at].replace(value.value).is_some()
            {
                return Err(format!("has the {name} % of {kind} for a second time"));
            }
        }
        if words.ends_with(',') || words.ends_with(']') {
            Ok(())
        } else {
            Err(cut.to_owned())
        }
    }

    /// `1077,459,0,0 short=0,0,0,0 dropped=0,0,0,0`, in version 2
    /// `r=0/w=4096/d=0, short=r=0/w=0/d=0, drop=...`, before 2.1.14 without the last.
    fn issued(&mut self, rest: &str) -> Result<(), String> {
        self.at = LineContext::Nothing;
        let without_drops = self.form.without_drops && !rest.contains("drop");
        let parts = rest.split_once("short=").and_then(|(total, rest)| {
            let (short, dropped) = match without_drops {
                true => (rest, "0/0/0"),
                false => rest.split_once("drop")?,
            };
            Some([total, short, dropped])
        });
        let syncs = parts.and_then(|[total, ..]| numbers(total).nth(3));
        let counts = parts.map(|parts| parts.map(counts));
        let Some([Some(total), Some(short), Some(dropped)]) = counts else {
            return Err("has no counts of reads, writes and trims: it is truncated".to_owned());
        };
        if self.issued.is_some() {
            return Err("is a second line of counts in one job".to_owned());
        }
        self.issued = Some(total);
        self.issued_syncs = syncs.and_then(|count| count.parse().ok());
        self.whole = short.iter().chain(&dropped).all(|count| *count == 0);
        Ok(())
    }

    /// Converts to fio's JSON representation.
    ///
    /// # Errors
    /// The end of a sentence about the job.
    pub(super) fn value(&self, header: Option<&Header>) -> Result<Job, String> {
        let issued = self
            .issued
            .ok_or("has no line `issued rwts`: it is truncated")?;
        let mut sides = [None, None];
        for (at, name) in SIDES.into_iter().enumerate() {
            let block = header.and_then(|header| header.blocks[at]);
            let side = match &self.sides[at] {
                None if issued[at] > 0 => {
                    return Err(format!(
                        "has {} {name}s, but the line with their latencies is missing",
                        issued[at]
                    ));
                }
                None => nothing(),
                Some(side) => side
                    .value(issued[at], block.filter(|_| self.whole))
                    .map_err(|reason| format!("reports of its {name}s {reason}: a line is truncated, was changed, or belongs to another job"))?,
            };
            sides[at] = Some(Box::new(side));
        }
        let [read, write] = sides;
        let trim = job::Side {
            total_ios: Some(issued[2]),
            ..job::Side::default()
        };
        let syncs = self.syncs.values.and(self.issued_syncs);
        let sync = syncs.map(|count| job::Side {
            total_ios: Some(count),
            lat_ns: Some(self.syncs.value()),
            ..job::Side::default()
        });
        let options = header.map(|header| {
            let mut options = header.options.clone();
            options.insert("numjobs".to_owned(), self.processes.to_string());
            options
        });
        Ok(Job {
            name: Some(self.name.clone()),
            group: Some(self.group),
            error: Some(self.error),
            of_header: options.is_some(),
            options,
            read,
            write,
            trim: Some(Box::new(trim)),
            sync: sync.map(Box::new),
            ..Job::default()
        })
    }
}

/// A direction without operations.
fn nothing() -> job::Side {
    job::Side {
        total_ios: Some(0),
        io_bytes: Some(0),
        io_kbytes: Some(0),
        iops: Some(0.0),
        bw_bytes: Some(0.0),
        runtime_ms: Some(0),
        ..job::Side::default()
    }
}

impl Side {
    fn value(&self, operations: u64, block: Option<u64>) -> Result<job::Side, String> {
        let seconds = self.runtime_ms as f64 / 1e3;
        if operations == 0 || seconds <= 0.0 {
            return Err("a rate, but no operations or no time".to_owned());
        }
        let iops = operations as f64 / seconds;
        if !self.iops.fits_within(iops, 1.0) {
            return Err(format!(
                "{} operations a second, but {operations} in {} ms are {iops:.0}",
                self.iops.value, self.runtime_ms
            ));
        }
        // If all were of one size, their bytes are known exactly.
        let exact = block.and_then(|block| operations.checked_mul(block));
        let exact = exact.filter(|bytes| self.bytes.fits(*bytes as f64));
        let by_rate = self.bytes.nearest(self.bandwidth.value * seconds);
        let count = exact.map_or(by_rate.value, |bytes| bytes as f64);
        let follows = count / seconds;
        let off = self.bytes.step / seconds + follows * 1e-3;
        if !self.bandwidth.fits_within(follows, off) {
            return Err(format!(
                "{:.0} bytes a second, but {count:.0} in {} ms are {follows:.0}",
                self.bandwidth.value, self.runtime_ms
            ));
        }
        let latencies = |kind: &str| self.latencies.get(kind).map(Latencies::value);
        Ok(job::Side {
            io_bytes: Some(count.round() as u64),
            io_kbytes: Some(count.round() as u64 / 1024),
            bw_bytes: Some(follows),
            iops: Some(iops),
            runtime_ms: Some(self.runtime_ms),
            total_ios: Some(operations),
            clat_ns: latencies("clat"),
            lat_ns: latencies("lat"),
            is_rounded: exact.is_none(),
            ..job::Side::default()
        })
    }

    /// Its bytes, where a rate distinguishes between two possible amounts.
    pub(super) fn amount(&self) -> PrintedNumber {
        let seconds = self.runtime_ms as f64 / 1e3;
        self.bytes.nearest(self.bandwidth.value * seconds)
    }
}

impl Latencies {
    fn value(&self) -> job::Latencies {
        let [min, max, mean] = match self.values {
            Some(values) => values.map(Some),
            None => [None; 3],
        };
        job::Latencies {
            min,
            max,
            mean,
            percentiles: self.percentiles,
            step: Some(self.step_ns),
            ..job::Latencies::default()
        }
    }
}

/// The name of a direction and the text after its colon: `read: IOPS=...`, in version 2
/// `read : io=...`.
fn side_line(words: &str) -> Option<(&str, &str)> {
    let (name, rest) = words.split_once(':')?;
    let rest = rest.trim_start();
    let known = ["read", "write", "trim", "mixed"].contains(&name.trim_end());
    (known && (rest.starts_with("IOPS=") || rest.starts_with("io=")))
        .then(|| (name.trim_end(), rest))
}

/// `IOPS=6689, BW=26.1MiB/s (27.4MB/s)(4308KiB/161msec)`, in version 2
/// `io=1024.0MB, bw=26099KB/s, iops=101 , runt= 40177msec`.
fn side_of(rest: &str, form: OutputQuirks) -> Option<Side> {
    let (iops, bandwidth, amount, runtime) = match rest.strip_prefix("IOPS=") {
        Some(rest) => {
            let (iops, rest) = rest.split_once(", BW=")?;
            let (bandwidth, rest) = rest.split_once(" (")?;
            let (_, rest) = rest.split_once(")(")?;
            let (amount, rest) = rest.split_once('/')?;
            let (runtime, _) = rest.split_once("msec)")?;
            (iops, bandwidth, printed::bytes(amount, false)?, runtime)
        }
        None => {
            let value = |name: &str| {
                let parts = rest.split(',').map(str::trim);
                parts.filter_map(|part| part.strip_prefix(name)).next()
            };
            let runtime = value("runt=")?.trim().strip_suffix("msec")?;
            let amount = printed::bytes(value("io=")?, true)?;
            (value("iops=")?, value("bw=")?, amount, runtime)
        }
    };
    let old = rest.starts_with("io=");
    Some(Side {
        runtime_ms: runtime.trim().parse().ok()?,
        bytes: form.of(amount),
        iops: form.of(printed::count(iops)?),
        bandwidth: form.of(printed::bytes(bandwidth, old)?),
        latencies: BTreeMap::new(),
    })
}

/// Type, nanoseconds per unit, and remainder of `clat (usec): min=36, ...`; the remainder of
/// `clat percentiles (usec):` is empty.
fn latency_line(words: &str) -> Option<(&str, f64, Option<&str>)> {
    // `clat prio 1/0 (50.00% of IOs) percentiles (usec):`.
    let (kind, rest) = words.rsplit_once(" (")?;
    let (unit, rest) = rest.split_once("):")?;
    let unit_ns = match unit {
        "nsec" => 1.0,
        "usec" => 1e3,
        "msec" => 1e6,
        "sec" => 1e9,
        _ => return None,
    };
    match kind.strip_suffix(" percentiles") {
        Some(kind) if rest.trim().is_empty() => Some((kind, unit_ns, None)),
        None if rest.trim_start().starts_with("min=") => Some((kind, unit_ns, Some(rest.trim()))),
        _ => None,
    }
}

/// The numbers of `1077,459,0,0` or `r=0/w=4096/d=0,`.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let is_mark = |sign: char| !sign.is_ascii_digit();
    text.split(is_mark).filter(|part| !part.is_empty())
}

/// The first three of them.
fn counts(text: &str) -> Option<[u64; 3]> {
    let mut numbers = numbers(text);
    let mut next = || numbers.next()?.parse().ok();
    Some([next()?, next()?, next()?])
}
