//! What was given on a command line or in a plan, before defaults: one set of
//! fields, one reading of their text, one set of rules for both.

use crate::nearest::nearest;
use crate::validate::check;
use crate::{
    Arrivals, BlockSizes, CacheMode, CursorKind, DataPattern, Distribution, Pattern, Rate,
    SyncPolicy, Workload, WorkloadError,
};
use stripewise_units::{ByteSize, Nanoseconds, ParseError, parse_count};

/// Operations that an open loop may have in flight over all threads where no number is
/// given.
const OPEN_LOOP_IN_FLIGHT: u32 = 256;

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
    /// Only reads; excludes `write` and `read_percent`.
    pub read: bool,
    /// Only writes; excludes `read` and `read_percent`.
    pub write: bool,
    /// Share of reads, 0 to 100; excludes `read` and `write`.
    pub read_percent: Option<u8>,
    /// Random positions; excludes `sequential` and `stride`.
    pub random: bool,
    /// One block after the other; excludes `random` and `stride`.
    pub sequential: bool,
    /// Bytes from start to start; excludes `random` and `sequential`.
    pub stride: Option<ByteSize>,
    /// How random positions are drawn; only with random positions.
    pub distribution: Option<Distribution>,
    /// Whose position it is; only with `sequential` and `stride`.
    pub cursor: Option<CursorKind>,
    /// Bytes of an operation; excludes `block_sizes`.
    pub block: Option<ByteSize>,
    /// Several sizes with their shares; excludes `block`. Both are `block` in text.
    pub block_sizes: Option<BlockSizes>,
    /// Threads.
    pub threads: Option<u32>,
    /// Operations in flight of each thread.
    pub outstanding: Option<u32>,
    /// Measured time.
    pub duration: Option<Nanoseconds>,
    /// Time before measuring.
    pub ramp: Option<Nanoseconds>,
    /// Bytes in use.
    pub size: Option<ByteSize>,
    /// First byte in use.
    pub base_offset: Option<ByteSize>,
    /// Treatment of caches.
    pub cache: Option<CacheMode>,
    /// Explicit syncs.
    pub sync: Option<SyncPolicy>,
    /// Operations a second of an open loop.
    pub rate: Option<f64>,
    /// How they are spaced; only with `rate`.
    pub arrivals: Option<Arrivals>,
    /// Share of zeros in written blocks.
    pub compressible: Option<u8>,
    /// Share of written blocks that are copies.
    pub dedupable: Option<u8>,
    /// Seed of all streams.
    pub seed: Option<u64>,
}

impl WorkloadOptions {
    /// The names that [`WorkloadOptions::set`] takes: those of the switches.
    pub const NAMES: [&'static str; 22] = [
        "read",
        "write",
        "read-percent",
        "random",
        "sequential",
        "stride",
        "distribution",
        "cursor",
        "block",
        "threads",
        "outstanding",
        "duration",
        "ramp",
        "size",
        "base-offset",
        "cache",
        "sync",
        "rate",
        "arrivals",
        "compressible",
        "dedupable",
        "seed",
    ];

    /// Sets the option `name` from `text`, as the switch `--name text` would;
    /// switches without a value take `true`.
    ///
    /// # Errors
    /// Where there is no such option, or the text is not a value of it.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), ParseError> {
        match name {
            "read" => self.read = flag(name, text)?,
            "write" => self.write = flag(name, text)?,
            "read-percent" => self.read_percent = Some(percent(text)?),
            "random" => self.random = flag(name, text)?,
            "sequential" => self.sequential = flag(name, text)?,
            "stride" => self.stride = Some(text.parse()?),
            "distribution" => self.distribution = Some(text.parse()?),
            "cursor" => self.cursor = Some(text.parse()?),
            "block" if text.contains(':') => {
                self.block_sizes = Some(text.parse()?);
                self.block = None;
            }
            "block" => {
                self.block = Some(text.parse()?);
                self.block_sizes = None;
            }
            "threads" => self.threads = Some(count(text)?),
            "outstanding" => self.outstanding = Some(count(text)?),
            "duration" => self.duration = Some(text.parse()?),
            "ramp" => self.ramp = Some(text.parse()?),
            "size" => self.size = Some(text.parse()?),
            "base-offset" => self.base_offset = Some(text.parse()?),
            "cache" => self.cache = Some(text.parse()?),
            "sync" => self.sync = Some(text.parse()?),
            "rate" => self.rate = Some(parse_rate(text)?),
            "arrivals" => self.arrivals = Some(text.parse()?),
            "compressible" => self.compressible = Some(percent(text)?),
            "dedupable" => self.dedupable = Some(percent(text)?),
            "seed" => self.seed = Some(parse_count(text)?),
            _ => {
                let hint = match nearest(name, Self::NAMES) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None => format!("the options are {}", Self::NAMES.join(", ")),
                };
                return Err(ParseError::new(
                    name,
                    "is not an option of a workload",
                    hint,
                ));
            }
        }
        Ok(())
    }

    /// These options, and those of `defaults` where these say nothing. Options
    /// that exclude each other are one choice: a job that says `write` does not
    /// take `read-percent` from its defaults, nor a sequential one the
    /// distribution. Defaults that do not apply to a job (syncs where it only
    /// reads, arrivals where it has no rate) are dropped.
    #[must_use]
    pub fn or(self, defaults: &WorkloadOptions) -> WorkloadOptions {
        let mix = if self.says_mix() { &self } else { defaults };
        let says_pattern = self.says_pattern();
        let pattern = if says_pattern { &self } else { defaults };
        let random = !pattern.sequential && pattern.stride.is_none();
        let writes = mix.write || mix.read_percent.is_some_and(|percent| percent < 100);
        let rate = self.rate.or(defaults.rate);
        let says_block = self.block.is_some() || self.block_sizes.is_some();
        let block = if says_block { &self } else { defaults };
        WorkloadOptions {
            read: mix.read,
            write: mix.write,
            read_percent: mix.read_percent,
            random: pattern.random,
            sequential: pattern.sequential,
            stride: pattern.stride,
            distribution: self
                .distribution
                .or(defaults.distribution.filter(|_| random || !says_pattern)),
            cursor: self
                .cursor
                .or(defaults.cursor.filter(|_| !random || !says_pattern)),
            block: block.block,
            block_sizes: block.block_sizes.clone(),
            threads: self.threads.or(defaults.threads),
            outstanding: self.outstanding.or(defaults.outstanding),
            duration: self.duration.or(defaults.duration),
            ramp: self.ramp.or(defaults.ramp),
            size: self.size.or(defaults.size),
            base_offset: self.base_offset.or(defaults.base_offset),
            cache: self.cache.or(defaults.cache),
            sync: self.sync.or(defaults.sync.filter(|_| writes)),
            rate,
            arrivals: self
                .arrivals
                .or(defaults.arrivals.filter(|_| rate.is_some())),
            compressible: self.compressible.or(defaults.compressible),
            dedupable: self.dedupable.or(defaults.dedupable),
            seed: self.seed.or(defaults.seed),
        }
    }

    /// The workload, with `base` for all that was not given.
    ///
    /// # Errors
    /// Where options exclude each other, lack the one that they belong to, or
    /// have values out of range.
    pub fn build(self, base: &Workload) -> Result<Workload, WorkloadError> {
        let (block_size_bytes, block_sizes) = self.block_sizes(base)?;
        let workload = Workload {
            read_percent: self.mix(base)?,
            pattern: self.pattern(base)?,
            block_size_bytes,
            block_sizes,
            threads: self.threads.unwrap_or(base.threads),
            outstanding: self.outstanding.unwrap_or(base.outstanding),
            in_turn: base.in_turn,
            duration_ns: self.duration.map_or(base.duration_ns, Nanoseconds::ns),
            ramp_ns: self.ramp.map_or(base.ramp_ns, Nanoseconds::ns),
            base_offset_bytes: self
                .base_offset
                .map_or(base.base_offset_bytes, ByteSize::bytes),
            size_bytes: self.size.map(ByteSize::bytes).or(base.size_bytes),
            cache: self.cache.unwrap_or(base.cache),
            sync: self.sync.or(base.sync),
            rate: self.open_loop(base)?,
            data: DataPattern {
                compressible_percent: self.compressible.unwrap_or(base.data.compressible_percent),
                dedupable_percent: self.dedupable.unwrap_or(base.data.dedupable_percent),
            },
            seed: self.seed.unwrap_or(base.seed),
        };
        check(&workload)?;
        Ok(workload)
    }

    /// These options; an open loop for which no number of outstanding is given gets
    /// enough of them: with few, arrivals would wait for one another and not for the
    /// disk alone.
    #[must_use]
    pub fn with_room_for_arrivals(self) -> WorkloadOptions {
        if self.rate.is_none() || self.outstanding.is_some() {
            return self;
        }
        let threads = self.threads.unwrap_or(1).max(1);
        WorkloadOptions {
            outstanding: Some((OPEN_LOOP_IN_FLIGHT / threads).max(1)),
            ..self
        }
    }

    /// Threads or outstanding are given by number.
    #[must_use]
    pub const fn says_load(&self) -> bool {
        self.threads.is_some() || self.outstanding.is_some()
    }

    fn says_mix(&self) -> bool {
        self.read || self.write || self.read_percent.is_some()
    }

    fn says_pattern(&self) -> bool {
        self.random || self.sequential || self.stride.is_some()
    }

    fn mix(&self, base: &Workload) -> Result<u8, WorkloadError> {
        only_one([
            ("read", self.read),
            ("write", self.write),
            ("read-percent", self.read_percent.is_some()),
        ])?;
        Ok(match self.read_percent {
            Some(percent) => percent,
            None if self.read => 100,
            None if self.write => 0,
            None => base.read_percent,
        })
    }

    fn pattern(&self, base: &Workload) -> Result<Pattern, WorkloadError> {
        only_one([
            ("random", self.random),
            ("sequential", self.sequential),
            ("stride", self.stride.is_some()),
        ])?;
        let mut pattern = match (base.pattern, self.stride) {
            (_, Some(stride)) => Pattern::Stride {
                stride_bytes: stride.bytes(),
                cursor: CursorKind::Own,
            },
            _ if self.sequential => Pattern::Sequential {
                cursor: CursorKind::Own,
            },
            _ if self.random => Pattern::Random {
                distribution: Distribution::Uniform,
            },
            (inherited, None) => inherited,
        };
        match (&mut pattern, self.distribution, self.cursor) {
            (_, None, None) => {}
            (Pattern::Random { distribution }, Some(given), None) => *distribution = given,
            (
                Pattern::Sequential { cursor } | Pattern::Stride { cursor, .. },
                None,
                Some(given),
            ) => *cursor = given,
            (Pattern::Random { .. }, _, Some(given)) => {
                let why = "has no place to keep: positions are random";
                let hint = "add <--sequential> or <--stride>, or leave it out";
                return Err(WorkloadError::new("cursor", given, why, hint));
            }
            (_, Some(given), _) => {
                let why = "needs random positions";
                let hint = "leave out <--sequential> or <--stride>, or the distribution";
                return Err(WorkloadError::new("distribution", given, why, hint));
            }
        }
        Ok(pattern)
    }

    /// The largest size, and the distribution where there are several.
    fn block_sizes(&self, base: &Workload) -> Result<(u64, BlockSizes), WorkloadError> {
        match (self.block, &self.block_sizes) {
            (Some(block), Some(sizes)) => {
                let why = "excludes a distribution of block sizes";
                let hint = format!("leave out {block}, or {sizes}");
                Err(WorkloadError::new("block", block, why, hint))
            }
            (Some(block), None) => Ok((block.bytes(), BlockSizes::default())),
            (None, Some(sizes)) => {
                let largest = sizes.largest_bytes().unwrap_or(base.block_size_bytes);
                Ok((largest, sizes.clone()))
            }
            (None, None) => Ok((base.block_size_bytes, base.block_sizes.clone())),
        }
    }

    fn open_loop(&self, base: &Workload) -> Result<Option<Rate>, WorkloadError> {
        let iops = self.rate.or(base.rate.map(|rate| rate.iops));
        let Some(iops) = iops else {
            return match self.arrivals {
                None => Ok(None),
                Some(arrivals) => {
                    let why = "has no rate to space";
                    let hint = "add <--rate> IOPS, or leave it out";
                    Err(WorkloadError::new("arrivals", arrivals, why, hint))
                }
            };
        };
        let inherited = base.rate.map_or(Arrivals::Fixed, |rate| rate.arrivals);
        let arrivals = self.arrivals.unwrap_or(inherited);
        Ok(Some(Rate { iops, arrivals }))
    }
}

/// Refuses more than one of options that exclude each other.
fn only_one(options: [(&'static str, bool); 3]) -> Result<(), WorkloadError> {
    let mut given = options.iter().filter(|(_, given)| *given);
    if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
        let value = format!("and {second}");
        let hint = format!(
            "give one of {}, {} and {}",
            options[0].0, options[1].0, options[2].0
        );
        return Err(WorkloadError::new(first, value, "exclude each other", hint));
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
        format!("is no value for {name}"),
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
                "is not a share",
                "a share is a whole number from 0 to 100",
            )
        })
}

fn count(text: &str) -> Result<u32, ParseError> {
    parse_count(text).and_then(|count| {
        let hint = "a count such as 1, 16 or 256";
        u32::try_from(count).map_err(|_| ParseError::new(text, "is too large", hint))
    })
}

/// Reads operations a second; the range is checked with the workload.
///
/// # Errors
/// Where the text is not a number above 0.
pub fn parse_rate(text: &str) -> Result<f64, ParseError> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|iops| iops.is_finite() && *iops > 0.0)
        .ok_or_else(|| {
            let hint = "a rate is a number of operations a second above 0, such as 5000 or 0.5";
            ParseError::new(text, "is not a rate", hint)
        })
}
