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
    read: fn(&mut WorkloadOptions, &str) -> Result<(), ParseError>,
}

impl WorkloadOption {
    /// Sets it from text; a switch without a value takes `true`.
    ///
    /// # Errors
    /// If the text is not a valid value.
    pub fn set(&self, options: &mut WorkloadOptions, text: &str) -> Result<(), ParseError> {
        (self.read)(options, text)
    }

    /// Splits a list into its values, each to be set separately. Sizes with shares form one value.
    #[must_use]
    pub fn values<'a>(&self, text: &'a str) -> Vec<&'a str> {
        match self.is_list && !text.contains(':') {
            true => text.split(',').collect(),
            false => vec![text],
        }
    }
}

const SAID: WorkloadOption = WorkloadOption {
    name: "",
    value: None,
    about: "",
    subject: OptionSubject::Workload,
    choice: None,
    is_list: false,
    read: |_, _| Ok(()),
};

/// Every option of a workload.
pub const OPTIONS: [WorkloadOption; 29] = [
    WorkloadOption {
        name: "read",
        about: "Only reads (the default)",
        choice: Some("operation"),
        read: |options, text| {
            options.read = flag("read", text)?;
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "write",
        about: "Only writes",
        choice: Some("operation"),
        read: |options, text| {
            options.write = flag("write", text)?;
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "read-percent",
        value: Some("N"),
        about: "This share of reads, the rest writes",
        choice: Some("operation"),
        read: |options, text| {
            options.read_percent = Some(percent(text)?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "discard",
        about: "Only discards: what they hit is lost",
        choice: Some("operation"),
        read: |options, text| {
            options.discard = flag("discard", text)?;
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "discard-percent",
        value: Some("N"),
        about: "This share of discards, taken from the writes, or from the reads of a load that only reads",
        read: |options, text| {
            options.discard_percent = Some(percent(text)?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "random",
        about: "Random positions (the default)",
        choice: Some("where"),
        read: |options, text| {
            options.random = flag("random", text)?;
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "sequential",
        about: "One block after the other",
        choice: Some("where"),
        read: |options, text| {
            options.sequential = flag("sequential", text)?;
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "stride",
        value: Some("SIZE"),
        about: "From each block to one that starts SIZE further",
        choice: Some("where"),
        read: |options, text| {
            options.stride = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "block",
        value: Some("SIZE"),
        about: "Block size, or a list; with shares, several sizes in one run: 4K:60,64K:40 [default: 8K]",
        is_list: true,
        read: read_block,
        ..SAID
    },
    WorkloadOption {
        name: "threads",
        value: Some("N"),
        about: "Threads, or a list [default: 1]",
        is_list: true,
        read: |options, text| {
            options.threads = Some(count(text)?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "outstanding",
        value: Some("N"),
        about: "Queue depth of each thread, or a list [default: 1; with --rate 256 over all threads]",
        is_list: true,
        read: |options, text| {
            options.outstanding = Some(count(text)?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "in-turn",
        about: "Of several targets a thread visits one after the other, with --outstanding over all of them",
        read: |options, text| {
            options.in_turn = flag("in-turn", text)?;
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "base-offset",
        value: Some("SIZE"),
        about: "First byte to use, or a list: 63s, 64K, 1M [default: 0]",
        is_list: true,
        read: |options, text| {
            options.base_offset = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "size",
        value: Some("SIZE"),
        about: "How much of the target to use; size of the test file in a directory",
        read: |options, text| {
            options.size = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "cache",
        value: Some("MODE"),
        about: "direct, direct-sync, buffered, buffered-sync or dontcache",
        read: |options, text| {
            options.cache = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "sync",
        value: Some("CALL[:N]"),
        about: "fdatasync or fsync after every N writes of a thread (N defaults to 1)",
        read: |options, text| {
            options.sync = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "atomic",
        about: "Writes that are never torn, not even by a loss of power (RWF_ATOMIC)",
        read: |options, text| {
            options.atomic = flag("atomic", text)?;
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "dsync",
        about: "Writes that are each durable when they complete, by a flag of their own (RWF_DSYNC)",
        read: |options, text| {
            options.dsync = flag("dsync", text)?;
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "poll",
        about: "Poll for completions instead of waiting for interrupts (IOPOLL)",
        read: |options, text| {
            options.poll = flag("poll", text)?;
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "think-time",
        value: Some("TIME[:N]"),
        about: "Pause of each thread after every N operations, once they have completed (N defaults to 1)",
        read: |options, text| {
            options.think_time = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "rate",
        value: Some("IOPS"),
        about: "Open loop: operations arrive at this rate, regardless of completions",
        read: |options, text| {
            options.rate = Some(parse_rate(text)?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "arrivals",
        value: Some("HOW"),
        about: "How they arrive: fixed or poisson",
        read: |options, text| {
            options.arrivals = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "distribution",
        value: Some("NAME"),
        about: "uniform, covering (every block once before any comes again), zipf:THETA, hot:SPACE/OPERATIONS (percent), or one-pass:PERCENT (writes that precondition an empty SSD with this much spare flash), for --random",
        read: |options, text| {
            options.distribution = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "cursor",
        value: Some("WHOSE"),
        about: "Whether each thread keeps its own position (own) or all share one (shared), for --sequential and --stride",
        read: |options, text| {
            options.cursor = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "compressible",
        value: Some("PERCENT"),
        about: "Share of each 4 KiB block that a compressing device can save",
        read: |options, text| {
            options.compressible = Some(percent(text)?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "dedupable",
        value: Some("PERCENT"),
        about: "Share of 4 KiB blocks that are copies of others",
        read: |options, text| {
            options.dedupable = Some(percent(text)?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "seed",
        value: Some("N"),
        about: "Seed of all streams",
        read: |options, text| {
            options.seed = Some(parse_count(text)?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "duration",
        value: Some("TIME"),
        about: "Measured time [default: 10s; on sim: until 30,000 operations too]",
        subject: OptionSubject::Measuring,
        read: |options, text| {
            options.duration = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
    WorkloadOption {
        name: "ramp",
        value: Some("TIME"),
        about: "Time before measuring starts",
        subject: OptionSubject::Measuring,
        read: |options, text| {
            options.ramp = Some(text.parse()?);
            Ok(())
        },
        ..SAID
    },
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
