//! Turns the options of a command line or plan into a workload: defaults, and one set of rules for
//! both.

use crate::option_table::{WorkloadOption, WorkloadOptions};
use crate::validate::check;
use crate::{
    Arrivals, BlockSizes, CursorKind, DataPattern, Distribution, Pattern, Rate, Workload,
    WorkloadError,
};
use stripewise_units::{ByteSize, Nanoseconds, ParseError};

/// Default for the operations in flight over all threads in an open loop.
const OPEN_LOOP_IN_FLIGHT: u32 = 256;

/// The options of a grid, slowest-changing first.
const GRID: [&str; 4] = ["block", "base-offset", "threads", "outstanding"];

impl WorkloadOptions {
    /// Every combination of the options given as lists: block sizes change slowest, then offsets,
    /// threads, outstanding.
    ///
    /// # Errors
    /// If a text is not a valid value of its option.
    pub fn grid(
        given: &[(&'static WorkloadOption, String)],
    ) -> Result<Vec<WorkloadOptions>, ParseError> {
        let mut given: Vec<_> = given.iter().collect();
        let place = |name: &str| GRID.iter().position(|known| *known == name);
        given.sort_by_key(|(option, _)| place(option.name).map_or(0, |place| place + 1));
        let mut cells = vec![WorkloadOptions::default()];
        for (option, text) in given {
            let mut more = Vec::new();
            for cell in cells {
                for value in option.values(text) {
                    let mut cell = cell.clone();
                    option.set(&mut cell, value)?;
                    more.push(cell);
                }
            }
            cells = more;
        }
        Ok(cells)
    }

    /// These options, filled in from `defaults`. Options that exclude each other are one choice: a
    /// job with `write` does not take `read-percent` from its defaults, nor a sequential one the
    /// distribution. Defaults that do not apply to a job (syncs where it only reads, arrivals where
    /// it has no rate) are dropped.
    #[must_use]
    pub fn or(self, defaults: &WorkloadOptions) -> WorkloadOptions {
        let mix = if self.specifies_mix() {
            &self
        } else {
            defaults
        };
        let specifies_pattern = self.specifies_pattern();
        let pattern = if specifies_pattern { &self } else { defaults };
        let random = !pattern.sequential && pattern.stride.is_none();
        let writes = mix.specifies_writes();
        // Think time and rate exclude each other: a job that sets one does not inherit the other.
        let specifies_pace = self.rate.is_some() || self.think_time.is_some();
        let pace = if specifies_pace { &self } else { defaults };
        let (rate, think_time) = (pace.rate, pace.think_time);
        let specifies_block = self.block.is_some() || self.block_sizes.is_some();
        let block = if specifies_block { &self } else { defaults };
        WorkloadOptions {
            read: mix.read,
            write: mix.write,
            read_percent: mix.read_percent,
            discard: mix.discard,
            discard_percent: mix.discard_percent,
            random: pattern.random,
            sequential: pattern.sequential,
            stride: pattern.stride,
            distribution: self.distribution.or(defaults
                .distribution
                .filter(|_| random || !specifies_pattern)),
            cursor: self
                .cursor
                .or(defaults.cursor.filter(|_| !random || !specifies_pattern)),
            block: block.block,
            block_sizes: block.block_sizes.clone(),
            threads: self.threads.or(defaults.threads),
            outstanding: self.outstanding.or(defaults.outstanding),
            in_turn: self.in_turn || (defaults.in_turn && rate.is_none()),
            duration: self.duration.or(defaults.duration),
            ramp: self.ramp.or(defaults.ramp),
            size: self.size.or(defaults.size),
            base_offset: self.base_offset.or(defaults.base_offset),
            cache: self.cache.or(defaults.cache),
            sync: self.sync.or(defaults.sync.filter(|_| writes)),
            atomic: self.atomic || (defaults.atomic && writes),
            dsync: self.dsync || (defaults.dsync && writes),
            poll: self.poll || defaults.poll,
            think_time,
            rate,
            arrivals: self
                .arrivals
                .or(defaults.arrivals.filter(|_| rate.is_some())),
            compressible: self.compressible.or(defaults.compressible),
            dedupable: self.dedupable.or(defaults.dedupable),
            seed: self.seed.or(defaults.seed),
        }
    }

    /// The workload, with `base` for all options not given.
    ///
    /// # Errors
    /// If options exclude each other, lack the one that they depend on, or are out of range.
    pub fn build(self, base: &Workload) -> Result<Workload, WorkloadError> {
        let (block_size_bytes, block_sizes) = self.block_sizes(base)?;
        let (read_percent, discard_percent) = self.mix(base)?;
        let workload = Workload {
            read_percent,
            discard_percent,
            pattern: self.pattern(base)?,
            block_size_bytes,
            block_sizes,
            threads: self.threads.unwrap_or(base.threads),
            outstanding: self.outstanding.unwrap_or(base.outstanding),
            in_turn: self.in_turn || base.in_turn,
            duration_ns: self.duration.map_or(base.duration_ns, Nanoseconds::ns),
            ramp_ns: self.ramp.map_or(base.ramp_ns, Nanoseconds::ns),
            base_offset_bytes: self
                .base_offset
                .map_or(base.base_offset_bytes, ByteSize::bytes),
            size_bytes: self.size.map(ByteSize::bytes).or(base.size_bytes),
            cache: self.cache.unwrap_or(base.cache),
            sync: self.sync.or(base.sync),
            atomic: self.atomic || base.atomic,
            dsync: self.dsync || base.dsync,
            poll: self.poll || base.poll,
            think_time: self.think_time.or(base.think_time),
            recorded: base.recorded.clone(),
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

    /// These options; an open loop without a given number of outstanding operations gets enough of
    /// them: with few, arrivals would wait for one another and not for the disk alone.
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

    /// Threads or outstanding operations are set explicitly.
    pub const fn specifies_load(&self) -> bool {
        self.threads.is_some() || self.outstanding.is_some()
    }

    fn specifies_mix(&self) -> bool {
        let only_one = self.read || self.write || self.discard;
        only_one || self.read_percent.is_some() || self.discard_percent.is_some()
    }

    /// The mix has writes.
    fn specifies_writes(&self) -> bool {
        let discards = self.discard_percent.unwrap_or(0);
        let others = self
            .read_percent
            .map(|reads| reads.saturating_add(discards));
        match others {
            Some(others) => others < 100,
            None => self.write && discards < 100,
        }
    }

    fn specifies_pattern(&self) -> bool {
        self.random || self.sequential || self.stride.is_some()
    }

    /// The shares of reads and of discards.
    fn mix(&self, base: &Workload) -> Result<(u8, u8), WorkloadError> {
        only_one(&[
            ("read", self.read),
            ("write", self.write),
            ("read-percent", self.read_percent.is_some()),
            ("discard", self.discard),
        ])?;
        if self.discard {
            return match self.discard_percent {
                None => Ok((0, 100)),
                Some(percent) => {
                    let why = "cannot be combined with discard, which is all of them";
                    let hint = "leave out <--discard>, or the share";
                    Err(WorkloadError::new("discard-percent", percent, why, hint))
                }
            };
        }
        let says_others = self.read || self.write || self.read_percent.is_some();
        let inherited = if says_others { 0 } else { base.discard_percent };
        let discards = self.discard_percent.unwrap_or(inherited);
        // Shares above 100 are rejected with the rest of the workload.
        Ok(match self.read_percent {
            Some(percent) => (percent, discards),
            None if self.write => (0, discards),
            None if self.read || base.read_percent == 100 => {
                (100_u8.saturating_sub(discards), discards)
            }
            None => (base.read_percent, discards),
        })
    }

    fn pattern(&self, base: &Workload) -> Result<Pattern, WorkloadError> {
        only_one(&[
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
                let why = "applies to sequential and strided positions only";
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
                    let why = "needs a rate";
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

/// Rejects more than one of a set of mutually exclusive options.
fn only_one(options: &[(&'static str, bool)]) -> Result<(), WorkloadError> {
    let mut given = options.iter().filter(|(_, given)| *given);
    if let (Some((first, _)), Some((second, _))) = (given.next(), given.next()) {
        let value = format!("and {second}");
        let names: Vec<&str> = options.iter().map(|(name, _)| *name).collect();
        let [rest @ .., last] = names.as_slice() else {
            return Ok(());
        };
        let hint = format!("give one of {} and {last}", rest.join(", "));
        return Err(WorkloadError::new(first, value, "exclude each other", hint));
    }
    Ok(())
}
