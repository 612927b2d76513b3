//! fio's options as in its JSON (`job options`) and job files: names and strings, with the
//! documented defaults of fio.

pub(crate) use super::option_names::name_of;
use crate::quantity::number_and_unit;
use std::collections::{BTreeMap, HashSet};
use stripewise_workload::{Arrivals, CacheMode, Rate, ThinkTime};

/// `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rw {
    pub(crate) random: bool,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// Options of one job: its own over the global ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// By name.
    pub(crate) all: BTreeMap<String, String>,
    /// Only the few that fio prints in its normal output: an absent option need not have its
    /// default.
    pub(crate) of_header: bool,
}

impl From<BTreeMap<String, String>> for Options {
    fn from(all: BTreeMap<String, String>) -> Self {
        Options {
            all,
            of_header: false,
        }
    }
}

/// Options that set the same: the one given last counts.
const INVERSE: [[&str; 2]; 2] = [["rwmixread", "rwmixwrite"], ["direct", "buffered"]];

/// Sets an option. Each `filename` adds to earlier ones, including those of `[global]`.
pub(crate) fn put(options: &mut BTreeMap<String, String>, name: String, value: String) {
    if let Some(pair) = INVERSE.iter().find(|pair| pair.contains(&name.as_str())) {
        pair.iter().for_each(|one| drop(options.remove(*one)));
    }
    match options.get_mut("filename").filter(|_| name == "filename") {
        Some(names) if !value.is_empty() => {
            names.push(':');
            names.push_str(&value);
        }
        Some(_) => {}
        None => drop(options.insert(name, value)),
    }
}

impl Options {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.all.get(name).map(String::as_str)
    }

    /// Whether an option is on: without a value, or with a true one.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| !matches!(value.trim(), "0" | "no" | "false"))
    }

    pub(crate) fn count(&self, name: &str) -> Option<u32> {
        self.get(name)?.trim().parse().ok()
    }

    /// `rw` or `readwrite`; reads are the default. A number after a colon is how often a new
    /// position is drawn, not a separate type.
    pub(crate) fn rw(&self) -> Option<Rw> {
        let text = self.get("rw").unwrap_or("read");
        let text = text.split(':').next().unwrap_or(text).trim();
        let (random, rest) = match text.strip_prefix("rand") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (reads, writes) = match rest {
            "read" => (true, false),
            "write" => (false, true),
            "rw" | "readwrite" => (true, true),
            _ => return None,
        };
        Some(Rw {
            random,
            reads,
            writes,
        })
    }

    /// Percentage of reads.
    pub(crate) fn read_percent(&self) -> Option<u8> {
        let rw = self.rw()?;
        match (rw.reads, rw.writes) {
            (true, false) => Some(100),
            (false, true) => Some(0),
            _ => {
                if let Some(write) = self.get("rwmixwrite") {
                    let write: u8 = write.trim().parse().ok()?;
                    return 100_u8.checked_sub(write);
                }
                let read = self
                    .get("rwmixread")
                    .map_or(Ok(50), |text| text.trim().parse());
                read.ok().filter(|percent| *percent <= 100)
            }
        }
    }

    /// The single block size of reads and writes; `None` if there are several.
    pub(crate) fn block_size(&self) -> Option<u64> {
        if self.all.contains_key("bssplit") || self.is_on("bs_unaligned") {
            return None;
        }
        let range = self.get("bsrange");
        let text = match range.map(|range| range.split_once(['-', ':'])) {
            // A range from a size to itself is one size.
            Some(Some((from, to))) if size(from).is_some() && size(from) == size(to) => from,
            Some(_) => return None,
            None => self.get("bs").unwrap_or("4k"),
        };
        let rw = self.rw()?;
        let parts: Vec<&str> = text.split(',').collect();
        let read = parts.first().and_then(|part| size(part));
        // An omitted part has the value of the preceding one.
        let write = match parts.get(1) {
            None | Some(&"") => read,
            Some(part) => size(part),
        };
        match (rw.reads, rw.writes) {
            (true, false) => read,
            (false, true) => write,
            _ => read.filter(|read| Some(*read) == write),
        }
    }

    /// A time, in seconds without a unit.
    pub(crate) fn time_ns(&self, name: &str) -> Option<u64> {
        self.time_in(name, 1_000_000_000)
    }

    /// A time, in units of `bare_ns` nanoseconds without a unit.
    pub(crate) fn time_in(&self, name: &str, bare_ns: u64) -> Option<u64> {
        time_ns(self.get(name)?, bare_ns)
    }
}

/// The cache mode for `direct` and `sync`.
pub(crate) fn cache(options: &Options) -> CacheMode {
    // `buffered` is the opposite of `direct`.
    let direct = options.is_on("direct")
        || (options.get("buffered").is_some() && !options.is_on("buffered"));
    let sync = options
        .get("sync")
        .is_some_and(|value| !matches!(value.trim(), "0" | "none"));
    CacheMode::of(direct, sync)
}

/// Bytes skipped after each block of a sequential job.
pub(crate) fn gap(options: &Options) -> Option<u64> {
    let (_, gap) = options.get("rw")?.split_once(':')?;
    size(gap).filter(|bytes| *bytes > 0)
}

/// `thinktime`: a plan's threads pause as fio's jobs do, after a number of operations *issued*,
/// once they have completed. fio by default counts completed ones, which differs when several are
/// in flight.
///
/// # Errors
/// The end of a sentence about the job.
pub(crate) fn think(options: &Options, depth: u64) -> Result<Option<ThinkTime>, String> {
    let Some(text) = options.get("thinktime") else {
        return Ok(None);
    };
    let bad = |name: &str| format!("has no time in {name}={}", options.get(name).unwrap_or(""));
    let pause_ns = options
        .time_in("thinktime", 1_000)
        .ok_or_else(|| bad("thinktime"))?;
    if pause_ns == 0 {
        return Ok(None);
    }
    for (name, why) in [
        ("thinktime_spin", "a plan's threads sleep while they pause"),
        (
            "thinktime_iotime",
            "a plan counts operations between two pauses, not time",
        ),
    ] {
        if options.get(name).is_some() && options.time_in(name, 1_000) != Some(0) {
            return Err(format!("has {name}: {why}"));
        }
    }
    let every = match options.get("thinktime_blocks") {
        None => 1,
        Some(_) => options
            .count("thinktime_blocks")
            .filter(|every| *every > 0)
            .ok_or("has no number in thinktime_blocks")?,
    };
    if depth > 1 && options.get("thinktime_blocks_type") != Some("issue") {
        return Err(format!(
            "has thinktime={text} with iodepth={depth}, counted by what completed: a plan counts what was issued (thinktime_blocks_type=issue)"
        ));
    }
    Ok(Some(ThinkTime { pause_ns, every }))
}

/// The rate limit of `rate_iops` or `rate` for a job of one direction, over all of its processes.
/// fio's operations still wait for each other, unlike those of an open loop.
///
/// # Errors
/// The end of a sentence about the job, if the rate is not for one direction.
pub(crate) fn rate(
    options: &Options,
    block: Option<u64>,
    processes: u32,
) -> Result<Option<Rate>, &'static str> {
    let given = ["rate_iops", "rate"].map(|name| options.get(name));
    let (text, unit) = match given {
        [None, None] => return Ok(None),
        [Some(iops), None] => (iops, 1),
        [None, Some(bytes)] => (
            bytes,
            block.ok_or("it has a rate of bytes and no block size of its own")?,
        ),
        _ => return Err("it has two rates"),
    };
    let rw = options.rw().ok_or("it has a rate of something else")?;
    let mut parts = text.split(',');
    let first = parts.next().unwrap_or_default();
    let part = match (rw.reads, rw.writes) {
        (true, true) => return Err("it has a rate for each direction"),
        (true, false) => first,
        _ => parts.next().unwrap_or(first),
    };
    let amount = size(part).ok_or("its rate cannot be parsed")?;
    let iops = amount as f64 / unit as f64 * f64::from(processes);
    let arrivals = match options.get("rate_process") {
        Some("poisson") => Arrivals::Poisson,
        _ => Arrivals::Fixed,
    };
    Ok((iops > 0.0).then_some(Rate { iops, arrivals }))
}

/// `filename`: names separated by colons; a backslash before a colon makes it part of a name.
pub(crate) fn names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if signs.peek() == Some(&':') => {
                signs.next();
                names.last_mut().expect("never empty").push(':');
            }
            ':' => names.push(String::new()),
            sign => names.last_mut().expect("never empty").push(sign),
        }
    }
    let mut seen = HashSet::new();
    names.retain(|name| !name.is_empty() && seen.insert(name.clone()));
    names.truncate(256);
    names
}

/// `4k`, `1M`, `1048576`, `0x1000`, `1g`, `4ki`, `4kb`: units of 1,024 in all spellings, as with
/// fio's default `kb_base`. Percentages of a file (`50%`) are not sizes.
pub(crate) fn size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let (number, unit) = number_and_unit(&text)?;
    let shift = match unit {
        "" | "b" => 0,
        "k" | "kb" | "ki" | "kib" => 10,
        "m" | "mb" | "mi" | "mib" => 20,
        "g" | "gb" | "gi" | "gib" => 30,
        "t" | "tb" | "ti" | "tib" => 40,
        "p" | "pb" | "pi" | "pib" => 50,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

/// `60`, `60s`, `5m`, `1h`, `100ms`, `500us`; a bare number is in units of `bare_ns`.
fn time_ns(text: &str, bare_ns: u64) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let (number, unit) = number_and_unit(&text)?;
    let unit: u64 = match unit {
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "" => bare_ns,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(pairs: &[(&str, &str)]) -> Options {
        let owned = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Options::from(owned.collect::<BTreeMap<_, _>>())
    }

    #[test]
    fn sizes_and_times_are_read_as_fio_does() {
        for (text, bytes) in [
            ("4k", Some(4096)),
            ("1M", Some(1 << 20)),
            ("512", Some(512)),
            ("2GiB", Some(2 << 30)),
            ("0x4000", Some(16 << 10)),
            ("0x", None),
            ("50%", None),
            ("", None),
            ("99999999999999999999", None),
            ("18446744073709551615k", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
        assert_eq!(
            options(&[("runtime", "5m")]).time_ns("runtime"),
            Some(300_000_000_000)
        );
        assert_eq!(
            options(&[("runtime", "60")]).time_ns("runtime"),
            Some(60_000_000_000)
        );
    }

    #[test]
    fn kinds_mixes_and_blocks_follow_the_options() {
        let read = options(&[]);
        assert_eq!(
            (read.read_percent(), read.block_size()),
            (Some(100), Some(4096))
        );
        let mixed = options(&[("rw", "randrw"), ("rwmixread", "70"), ("bs", "8k")]);
        assert_eq!(
            (mixed.read_percent(), mixed.block_size()),
            (Some(70), Some(8192))
        );
        assert!(mixed.rw().unwrap().random);
        let two = options(&[("rw", "rw"), ("bs", "8k,16k")]);
        assert_eq!((two.read_percent(), two.block_size()), (Some(50), None));
        assert_eq!(
            options(&[("rw", "write"), ("bs", "8k,16k")]).block_size(),
            Some(16_384)
        );
        assert_eq!(options(&[("rw", "trim")]).rw(), None);
        assert_eq!(
            cache(&options(&[("direct", "1"), ("sync", "dsync")])),
            CacheMode::DirectSync
        );
        assert_eq!(cache(&options(&[])), CacheMode::Buffered);
    }
}
