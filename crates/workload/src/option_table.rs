//! The table of a workload's options: the single source of their names, value placeholders,
//! one-line descriptions and parsers. Switches, plan files and experiments read it.

use crate::{Arrivals, BlockSizes, CacheMode, CursorKind, Distribution, SyncPolicy, ThinkTime};
use stripewise_units::{ByteSize, Nanoseconds, ParseError, nearest, parse_count};

/// Groups of options, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionSubject {
    /// The load itself.
    Workload,
    /// How long to measure.
    Measuring,
}

/// An option of a workload.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadOption {
    /// The name of its switch, which is also its key in plans.
    pub name: &'static str,
    /// Placeholder for its value; `None` for a switch without one.
    pub value: Option<&'static str>,
    /// One-line description.
    pub about: &'static str,
    /// The group it belongs to.
    pub subject: OptionSubject,
    /// Options with the same choice exclude each other.
    pub choice: Option<&'static str>,
    /// Commands that run a grid accept a list of values.
    pub is_list: bool,
    read: Read,
}

impl WorkloadOption {
    /// Sets it from text; a switch without a value takes `true`.
    pub fn set(&self, options: &mut WorkloadOptions, text: &str) -> Result<(), ParseError> {
        (self.read)(options, text)
    }

    /// Splits a list into its values, each to be set separately. Sizes with shares form one value.
    pub fn values<'a>(&self, text: &'a str) -> Vec<&'a str> {
        match self.is_list && !text.contains(':') {
            true => text.split(',').collect(),
            false => vec![text],
        }
    }
}

/// How an option is set from text.
type Read = fn(&mut WorkloadOptions, &str) -> Result<(), ParseError>;

const fn option(
    name: &'static str,
    value: Option<&'static str>,
    about: &'static str,
    read: Read,
) -> WorkloadOption {
    WorkloadOption {
        name,
        value,
        about,
        subject: OptionSubject::Workload,
        choice: None,
        is_list: false,
        read,
    }
}

impl WorkloadOption {
    const fn choice(mut self, choice: &'static str) -> WorkloadOption {
        self.choice = Some(choice);
        self
    }

    const fn list(mut self) -> WorkloadOption {
        self.is_list = true;
        self
    }

    const fn measuring(mut self) -> WorkloadOption {
        self.subject = OptionSubject::Measuring;
        self
    }
}

/// A row of the table: `field; name: about` of a switch, and of an option with a value
/// `field = parser; name placeholder: about`.
macro_rules! row {
    ($field:ident; $name:literal: $about:literal) => {
        option($name, None, $about, |options, text| {
            options.$field = flag($name, text)?;
            Ok(())
        })
    };
    ($field:ident = $read:path; $name:literal $value:literal: $about:literal) => {
        option($name, Some($value), $about, |options, text| {
            options.$field = Some($read(text)?);
            Ok(())
        })
    };
}

/// Every option of a workload.
pub const OPTIONS: [WorkloadOption; 29] = [
    row!(read; "read": "Only reads (the default)").choice("operation"),
    row!(write; "write": "Only writes").choice("operation"),
    row!(read_percent = percent; "read-percent" "N":
        "This share of reads, the rest writes")
    .choice("operation"),
    row!(discard; "discard": "Only discards: what they hit is lost").choice("operation"),
    row!(discard_percent = percent; "discard-percent" "N":
        "This share of discards, taken from the writes, or from the reads of a load that only reads"),
    row!(random; "random": "Random positions (the default)").choice("where"),
    row!(sequential; "sequential": "One block after the other").choice("where"),
    row!(stride = str::parse; "stride" "SIZE":
        "From each block to one that starts SIZE further")
    .choice("where"),
    option(
        "block",
        Some("SIZE"),
        "Block size, or a list; with shares, several sizes in one run: 4K:60,64K:40 [default: 8K]",
        read_block,
    )
    .list(),
    row!(threads = count; "threads" "N": "Threads, or a list [default: 1]").list(),
    row!(outstanding = count; "outstanding" "N":
        "Queue depth of each thread, or a list [default: 1; with --rate 256 over all threads]")
    .list(),
    row!(in_turn; "in-turn":
        "Of several targets a thread visits one after the other, with --outstanding over all of them"),
    row!(base_offset = str::parse; "base-offset" "SIZE":
        "First byte to use, or a list: 63s, 64K, 1M [default: 0]")
    .list(),
    row!(size = str::parse; "size" "SIZE":
        "How much of the target to use; size of the test file in a directory"),
    row!(cache = str::parse; "cache" "MODE":
        "direct, direct-sync, buffered, buffered-sync or dontcache"),
    row!(sync = str::parse; "sync" "CALL[:N]":
        "fdatasync or fsync after every N writes of a thread (N defaults to 1)"),
    row!(atomic; "atomic": "Writes that are never torn, not even by a loss of power (RWF_ATOMIC)"),
    row!(dsync; "dsync":
        "Writes that are each durable when they complete, by a flag of their own (RWF_DSYNC)"),
    row!(poll; "poll": "Poll for completions instead of waiting for interrupts (IOPOLL)"),
    row!(think_time = str::parse; "think-time" "TIME[:N]":
        "Pause of each thread after every N operations, once they have completed (N defaults to 1)"),
    row!(rate = parse_rate; "rate" "IOPS":
        "Open loop: operations arrive at this rate, regardless of completions"),
    row!(arrivals = str::parse; "arrivals" "HOW": "How they arrive: fixed or poisson"),
    row!(distribution = str::parse; "distribution" "NAME":
        "uniform, covering (every block once before any comes again), zipf:THETA, hot:SPACE/OPERATIONS (percent), or one-pass:PERCENT (writes that precondition an empty SSD with this much spare flash), for --random"),
    row!(cursor = str::parse; "cursor" "WHOSE":
        "Whether each thread keeps its own position (own) or all share one (shared), for --sequential and --stride"),
    row!(compressible = percent; "compressible" "PERCENT":
        "Share of each 4 KiB block that a compressing device can save"),
    row!(dedupable = percent; "dedupable" "PERCENT":
        "Share of 4 KiB blocks that are copies of others"),
    row!(seed = parse_count; "seed" "N": "Seed of all streams"),
    row!(duration = str::parse; "duration" "TIME":
        "Measured time [default: 10s; on sim: until 30,000 operations too]")
    .measuring(),
    row!(ramp = str::parse; "ramp" "TIME": "Time before measuring starts").measuring(),
];

/// The options of a workload; each has the name of its switch, with `_` for `-`.
///
/// ```
/// use stripewise_workload::{Workload, WorkloadOptions};
///
/// let mut options = WorkloadOptions::default();
/// options.set("read-percent", "70")?;
/// options.set("block", "64K")?;
/// let workload = options.build(&Workload::default())?;
/// assert_eq!((workload.read_percent, workload.block_size_bytes), (70, 65_536));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkloadOptions {
    /// Reads only; excludes `write`, `read_percent` and `discard`.
    pub read: bool,
    /// Writes only; excludes `read`, `read_percent` and `discard`.
    pub write: bool,
    /// Share of reads, 0 to 100; excludes `read`, `write` and `discard`.
    pub read_percent: Option<u8>,
    /// Discards only; excludes all other mix options.
    pub discard: bool,
    /// Share of discards, 0 to 100; excludes `discard`.
    pub discard_percent: Option<u8>,
    /// Random positions; excludes `sequential` and `stride`.
    pub random: bool,
    /// One block after the other; excludes `random` and `stride`.
    pub sequential: bool,
    /// Bytes from start to start; excludes `random` and `sequential`.
    pub stride: Option<ByteSize>,
    /// How random positions are drawn; only with random positions.
    pub distribution: Option<Distribution>,
    /// Whether each thread keeps its own position (own) or all share one (shared); only with `sequential` and `stride`.
    pub cursor: Option<CursorKind>,
    /// Bytes of an operation; excludes `block_sizes`.
    pub block: Option<ByteSize>,
    /// Several sizes with their shares; excludes `block`. Both are `block` in text.
    pub block_sizes: Option<BlockSizes>,
    /// Threads.
    pub threads: Option<u32>,
    /// Operations in flight of each thread.
    pub outstanding: Option<u32>,
    /// With several targets, `outstanding` is the total over all of them.
    pub in_turn: bool,
    /// Length of the measurement.
    pub duration: Option<Nanoseconds>,
    /// Time before measuring.
    pub ramp: Option<Nanoseconds>,
    /// Bytes in use.
    pub size: Option<ByteSize>,
    /// First byte in use.
    pub base_offset: Option<ByteSize>,
    /// Cache mode.
    pub cache: Option<CacheMode>,
    /// Explicit syncs.
    pub sync: Option<SyncPolicy>,
    /// Writes that are never torn; only with writes.
    pub atomic: bool,
    /// Each write is durable on completion, by a per-write flag; only with writes.
    pub dsync: bool,
    /// Poll for completions.
    pub poll: bool,
    /// Pauses of a thread; excludes `rate`.
    pub think_time: Option<ThinkTime>,
    /// Operations per second of an open loop.
    pub rate: Option<f64>,
    /// Spacing of the arrivals; only with `rate`.
    pub arrivals: Option<Arrivals>,
    /// Share of zeros in written blocks.
    pub compressible: Option<u8>,
    /// Share of written blocks that are copies.
    pub dedupable: Option<u8>,
    /// Seed of all streams.
    pub seed: Option<u64>,
}

impl WorkloadOptions {
    /// The names that [`WorkloadOptions::set`] takes: those of the table.
    pub const NAMES: [&'static str; OPTIONS.len()] = {
        let mut names = [""; OPTIONS.len()];
        let mut at = 0;
        while at < OPTIONS.len() {
            names[at] = OPTIONS[at].name;
            at += 1;
        }
        names
    };

    /// Sets the option `name` from `text`, as the switch `--name text` would;
    /// switches without a value take `true`.
    ///
    /// # Errors
    /// If there is no such option, or the text is not a valid value.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), ParseError> {
        if let Some(option) = OPTIONS.iter().find(|option| option.name == name) {
            return option.set(self, text);
        }
        let hint = match nearest(name, Self::NAMES) {
            Some(known) => format!("did you mean `{known}`?"),
            None => format!("the options are {}", Self::NAMES.join(", ")),
        };
        Err(ParseError::new(
            name,
            "is not an option of a workload",
            hint,
        ))
    }
}

/// A size, or several with their shares.
fn read_block(options: &mut WorkloadOptions, text: &str) -> Result<(), ParseError> {
    match text.contains(':') {
        true => {
            options.block_sizes = Some(text.parse()?);
            options.block = None;
        }
        false => {
            options.block = Some(text.parse()?);
            options.block_sizes = None;
        }
    }
    Ok(())
}

/// A switch without a value.
fn flag(name: &str, text: &str) -> Result<bool, ParseError> {
    if text == "true" {
        return Ok(true);
    }
    let hint = format!("{name} = true, or leave it out");
    Err(ParseError::new(
        text,
        format!("is not a valid value for {name}"),
        hint,
    ))
}

fn percent(text: &str) -> Result<u8, ParseError> {
    let number = text.trim().strip_suffix('%').unwrap_or(text);
    parse_count(number)
        .ok()
        .and_then(|count| u8::try_from(count).ok())
        .filter(|&percent| percent <= 100)
        .ok_or_else(|| {
            ParseError::new(
                text,
                "is not a valid percentage",
                "a percentage is a whole number from 0 to 100",
            )
        })
}

fn count(text: &str) -> Result<u32, ParseError> {
    parse_count(text).and_then(|count| {
        let hint = "a count such as 1, 16 or 256";
        u32::try_from(count).map_err(|_| ParseError::new(text, "is too large", hint))
    })
}

/// Parses operations per second; the range is checked with the workload.
///
/// # Errors
/// If the text is not a number above 0.
pub fn parse_rate(text: &str) -> Result<f64, ParseError> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|iops| iops.is_finite() && *iops > 0.0)
        .ok_or_else(|| {
            let hint = "a rate is a number of operations a second above 0, such as 5000 or 0.5";
            ParseError::new(text, "is not a valid rate", hint)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_sets_something_of_its_own() {
        let typed = |option: &WorkloadOption| match option.name {
            "read-percent" | "discard-percent" | "compressible" | "dedupable" => "30",
            "stride" | "block" | "base-offset" | "size" => "64K",
            "cache" => "buffered",
            "sync" => "fdatasync:4",
            "rate" => "500",
            "arrivals" => "poisson",
            "distribution" => "zipf:1.1",
            "cursor" => "shared",
            "duration" | "ramp" => "5s",
            "think-time" => "5ms:3",
            _ if option.value.is_none() => "true",
            _ => "7",
        };
        let mut seen: Vec<WorkloadOptions> = Vec::new();
        for option in &OPTIONS {
            let mut options = WorkloadOptions::default();
            option.set(&mut options, typed(option)).expect(option.name);
            assert!(!seen.contains(&options), "{}", option.name);
            assert_ne!(options, WorkloadOptions::default(), "{}", option.name);
            assert!(option.set(&mut options, "?").is_err(), "{}", option.name);
            seen.push(options);
        }
    }

    #[test]
    fn lists_are_values_one_by_one_and_shares_one_value() {
        let block = OPTIONS.iter().find(|option| option.name == "block");
        let block = block.expect("there is one");
        assert_eq!(block.values("4K,64K"), ["4K", "64K"]);
        assert_eq!(block.values("4K:60,64K:40"), ["4K:60,64K:40"]);
    }
}
