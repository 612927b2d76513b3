//! The definition of a workload, complete and plain: what one job does to one target.

use crate::recorded::Recorded;
use crate::sizes::BlockSizes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stripewise_units::ByteSize;

/// One job's load. Serialised as the `workload` object of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Workload {
    /// Share of reads among all operations, 0 to 100. Operations that neither read nor discard are
    /// writes, so a load that discards anything has less than 100 here, and counts as one that
    /// writes wherever that matters.
    pub read_percent: u8,
    /// Share of discards among all operations, 0 to 100 with the reads.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub discard_percent: u8,
    /// Where operations go.
    #[serde(flatten)]
    pub pattern: Pattern,
    /// Bytes of one operation, 512 to 64 MiB; a multiple of the logical sector in
    /// the direct modes.
    pub block_size_bytes: u64,
    /// Sizes and their shares where operations have several. `block_size_bytes` is then the largest
    /// of them.
    #[serde(default, skip_serializing_if = "BlockSizes::is_empty")]
    pub block_sizes: BlockSizes,
    /// Threads, 1 to 4,096.
    pub threads: u32,
    /// Operations each thread keeps in flight, 1 to 4,096.
    pub outstanding: u32,
    /// With several targets: a thread visits them in turn and has `outstanding` in flight over all
    /// of them, as SQLIO does without `-o`; otherwise it has `outstanding` on each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_turn: bool,
    /// Measured time, after the ramp; above 0.
    pub duration_ns: u64,
    /// Time before measuring starts.
    pub ramp_ns: u64,
    /// First byte in use, from the start of the target; a multiple of the
    /// logical sector in the direct modes, not necessarily of the block.
    pub base_offset_bytes: u64,
    /// Bytes in use from `base_offset_bytes` on; `None`: up to the target's end.
    /// A part of a block at the end is not used.
    pub size_bytes: Option<u64>,
    /// How the caches of the operating system and of the device are used.
    pub cache: CacheMode,
    /// Explicit syncs between writes.
    pub sync: Option<SyncPolicy>,
    /// Writes are never torn, not even by a loss of power (`RWF_ATOMIC`, Linux 6.11): all or
    /// nothing. Direct modes and one block size only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub atomic: bool,
    /// Each write is durable when it completes, by a per-write flag (`RWF_DSYNC`) instead of one of
    /// the file (`O_DSYNC`). Not with the modes that are durable anyway.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dsync: bool,
    /// Completions are polled for, without interrupts (`IORING_SETUP_IOPOLL`). Direct modes
    /// without syncs only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub poll: bool,
    /// Pauses of each thread, as of a user who thinks between requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_time: Option<ThinkTime>,
    /// Open loop: operations arrive on a schedule whatever the disk does.
    /// The rate is that of the whole job, split evenly over its threads.
    pub rate: Option<Rate>,
    /// Operations come from a recording: kinds, positions, sizes and times. The fields above then
    /// summarise them: shares of kinds, the largest block. One thread issues them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Box<Recorded>>,
    /// What written data looks like to a compressing or deduplicating device.
    pub data: DataPattern,
    /// Seed of all of the job's streams.
    pub seed: u64,
}

impl Default for Workload {
    /// The default of `run`: uniform random reads of 8 KiB by one thread with one outstanding,
    /// direct, for 10 s.
    fn default() -> Self {
        Workload {
            read_percent: 100,
            discard_percent: 0,
            pattern: Pattern::Random {
                distribution: Distribution::Uniform,
            },
            block_size_bytes: 8 * 1024,
            block_sizes: BlockSizes::default(),
            threads: 1,
            outstanding: 1,
            in_turn: false,
            duration_ns: 10_000_000_000,
            ramp_ns: 0,
            base_offset_bytes: 0,
            size_bytes: None,
            cache: CacheMode::Direct,
            sync: None,
            atomic: false,
            dsync: false,
            poll: false,
            think_time: None,
            rate: None,
            recorded: None,
            data: DataPattern::default(),
            seed: Workload::SEED,
        }
    }
}

impl Workload {
    /// The default seed, fixed so that runs are the same unless requested otherwise: the letters
    /// STRIPE.
    pub const SEED: u64 = 0x5354_5249_5045;

    /// Writes and the sync that follows them are a commit, whose latency is the target's: the load
    /// itself makes no write of a commit wait, neither for its arrival nor for the end of a pause.
    pub fn has_commits(&self) -> bool {
        let Some(policy) = self.sync.filter(|_| self.writes()) else {
            return false;
        };
        let writes_only = self.read_percent == 0 && self.discard_percent == 0;
        let is_within =
            |think: ThinkTime| !writes_only || !think.every.is_multiple_of(policy.every);
        policy.every <= 1 || self.rate.is_none() && !self.think_time.is_some_and(is_within)
    }

    /// [`operation_name`] of its shares.
    pub fn operation_name(&self) -> String {
        operation_name(self.read_percent, self.discard_percent)
    }

    /// [`operation_shares`] for its shares.
    pub fn operation_shares(&self) -> impl Iterator<Item = (u8, &'static str)> {
        operation_shares(self.read_percent, self.discard_percent)
    }

    /// The load writes; see [`Workload::discards`] for one that only destroys.
    pub const fn writes(&self) -> bool {
        self.read_percent.saturating_add(self.discard_percent) < 100
    }

    /// Operations have intended starts, or come from a recording, whose latencies count from due
    /// times too: operations due but not issued are known.
    pub const fn has_due_times(&self) -> bool {
        self.rate.is_some() || self.recorded.is_some()
    }

    /// The load discards.
    pub const fn discards(&self) -> bool {
        self.discard_percent > 0
    }

    /// The block size in words: `8K`; `4K-64K` for several sizes.
    pub fn block_text(&self) -> String {
        match self.block_sizes.shares() {
            [] if self.recorded.is_some() => format!("up to {}", ByteSize(self.block_size_bytes)),
            [] => ByteSize(self.block_size_bytes).to_string(),
            [one] => ByteSize(one.size_bytes).to_string(),
            [first, .., last] => {
                format!(
                    "{}-{}",
                    ByteSize(first.size_bytes),
                    ByteSize(last.size_bytes)
                )
            }
        }
    }

    /// Its non-default properties, each as typed or in a word or two: `zipf:0.99`, `direct-sync`,
    /// `fdatasync`, `1000 a second`. Excludes the kinds of operations, their size and number in
    /// flight, and the size of the part in use.
    ///
    /// ```
    /// use stripewise_workload::{SyncPolicy, Workload};
    ///
    /// assert!(Workload::default().particulars().is_empty());
    /// let log = Workload { sync: Some(SyncPolicy::fdatasync(1)), atomic: true, ..Workload::default() };
    /// assert_eq!(log.particulars(), ["fdatasync", "atomic"]);
    /// ```
    pub fn particulars(&self) -> Vec<String> {
        let DataPattern {
            compressible_percent,
            dedupable_percent,
        } = self.data;
        let share = |percent: u8, what: &str| (percent > 0).then(|| format!("{percent} % {what}"));
        let word_if = |condition: bool, word: &str| condition.then(|| word.to_owned());
        let sizes = self.block_sizes.shares().len();
        let all = [
            self.pattern.particular(),
            (sizes > 1).then(|| self.block_sizes.to_string()),
            word_if(self.in_turn, "targets in turn"),
            (self.base_offset_bytes > 0).then(|| format!("@{}", ByteSize(self.base_offset_bytes))),
            (self.cache != CacheMode::Direct).then(|| self.cache.to_string()),
            self.sync.map(|sync| sync.to_string()),
            word_if(self.atomic, "atomic"),
            word_if(self.dsync, "dsync"),
            word_if(self.poll, "polled"),
            self.think_time.map(|think| format!("think {think}")),
            self.rate.map(Rate::in_words),
            self.recorded.as_ref().map(|recorded| recorded.in_words()),
            share(compressible_percent, "compressible"),
            share(dedupable_percent, "dedupable"),
        ];
        all.into_iter().flatten().collect()
    }

    /// Each write is durable when it completes, without a sync.
    pub const fn is_write_durable(&self) -> bool {
        self.cache.is_durable() || self.dsync
    }

    /// The mean size of an operation, bytes.
    pub fn block_bytes_mean(&self) -> u64 {
        self.block_sizes
            .mean_bytes()
            .unwrap_or(self.block_size_bytes)
    }

    /// Nanoseconds that a run takes: ramp and duration; saturates at `u64::MAX`.
    pub const fn length_ns(&self) -> u64 {
        self.ramp_ns.saturating_add(self.duration_ns)
    }
}

fn is_zero(percent: &u8) -> bool {
    *percent == 0
}

/// The non-zero shares of a load, in per cent: reads, writes, discards. What is neither read nor
/// discarded is written.
///
/// ```
/// use stripewise_workload::operation_shares;
///
/// let shares: Vec<_> = operation_shares(0, 30).collect();
/// assert_eq!(shares, [(70, "write"), (30, "discard")]);
/// ```
pub fn operation_shares(
    read_percent: u8,
    discard_percent: u8,
) -> impl Iterator<Item = (u8, &'static str)> {
    let written = 100_u8
        .saturating_sub(read_percent)
        .saturating_sub(discard_percent);
    let all = [
        (read_percent, "read"),
        (written, "write"),
        (discard_percent, "discard"),
    ];
    all.into_iter().filter(|(percent, _)| *percent > 0)
}

/// `read`, `write`, `discard`, or the shares of a mixed load. For reads and writes alone the share
/// of reads is enough; with discards each share is listed.
///
/// ```
/// use stripewise_workload::operation_name;
///
/// assert_eq!(operation_name(0, 0), "write");
/// assert_eq!(operation_name(70, 0), "70 % read");
/// assert_eq!(operation_name(50, 30), "50 % read, 20 % write, 30 % discard");
/// assert_eq!(operation_name(0, 30), "70 % write, 30 % discard");
/// ```
pub fn operation_name(read_percent: u8, discard_percent: u8) -> String {
    let shares: Vec<(u8, &str)> = operation_shares(read_percent, discard_percent).collect();
    match shares.as_slice() {
        [(_, only)] => (*only).to_owned(),
        [(percent, "read"), (_, "write")] => format!("{percent} % read"),
        several => {
            let each = several
                .iter()
                .map(|(percent, kind)| format!("{percent} % {kind}"));
            each.collect::<Vec<_>>().join(", ")
        }
    }
}

impl Pattern {
    /// `random`, `sequential` or `stride`: the `pattern` of a workload in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Pattern::Random { .. } => "random",
            Pattern::Sequential { .. } => "sequential",
            Pattern::Stride { .. } => "stride",
        }
    }

    /// How positions follow each other, if not the default.
    fn particular(self) -> Option<String> {
        let of_threads = |cursor: CursorKind| match cursor {
            CursorKind::Own => None,
            other => Some(format!("cursor {other}")),
        };
        match self {
            Pattern::Random {
                distribution: Distribution::Uniform,
            } => None,
            Pattern::Random { distribution } => Some(distribution.to_string()),
            Pattern::Sequential { cursor } => of_threads(cursor),
            Pattern::Stride {
                stride_bytes,
                cursor,
            } => {
                let stride = format!("every {}", ByteSize(stride_bytes));
                Some(match of_threads(cursor) {
                    None => stride,
                    Some(cursor) => format!("{stride}, {cursor}"),
                })
            }
        }
    }
}

impl Rate {
    /// `1000 a second`; `1000 a second, poisson`.
    fn in_words(self) -> String {
        match self.arrivals {
            Arrivals::Fixed => format!("{} a second", self.iops),
            Arrivals::Poisson => format!("{} a second, {}", self.iops, self.arrivals),
        }
    }
}

/// Where operations go.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "pattern", rename_all = "lowercase")]
pub enum Pattern {
    /// Block-aligned (relative to the base offset) random positions.
    Random {
        /// How positions are drawn.
        distribution: Distribution,
    },
    /// Each operation follows the previous one; wraps at the end of the span.
    Sequential {
        /// Whether each thread keeps its own position or all share one.
        cursor: CursorKind,
    },
    /// Each operation starts `stride_bytes` after the previous one. At the end of the span the next
    /// pass begins one block after the start of the previous pass, until a pass would begin at the
    /// first stride; then the cycle restarts. With a multiple of the block size, every block is
    /// touched once before any is touched twice.
    Stride {
        /// Bytes from start to start.
        stride_bytes: u64,
        /// Whether each thread keeps its own position or all share one.
        cursor: CursorKind,
    },
}

/// Which threads share a sequential position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CursorKind {
    /// Each thread has its own, thread i of n starting at i/n of the span.
    Own,
    /// All threads of the job share one, as SQLIO does.
    Shared,
    /// Each thread repeats its own part: thread i of n the i-th n-th of a stride's passes, as SQLIO
    /// assigns the columns of its stripes, or of a sequential span. Parts are empty where there are
    /// more threads than passes: such threads walk all of it.
    Columns,
}

/// How random positions are drawn. Printed and typed as `uniform`,
/// `covering`, `zipf:THETA`, `hot:PERCENT/PERCENT`, `one-pass:PERCENT`; serialised as that
/// text.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema)]
#[schemars(into = "String", from = "String")]
pub enum Distribution {
    /// Every block equally often.
    Uniform,
    /// Every block exactly once before any is repeated: a random order of all blocks, then another
    /// one. All threads of the job share the order, so that together they cover the span.
    Covering,
    /// Zipf: the k-th most popular block has a share proportional to k^-theta. The seed scatters
    /// popularity over the whole span, the same for all threads.
    Zipf {
        /// The exponent, above 0 and at most 5; 1 is allowed.
        theta: f64,
    },
    /// `space_percent` of the blocks get `operations_percent` of the operations; within each part,
    /// blocks are equally likely. The hot part is contiguous at the start of the span, like a hot
    /// table, so that on a spinning disk its seeks are short too.
    Hot {
        /// Share of the span that is hot, 1 to 99.
        space_percent: u8,
        /// Share of operations that go there, 1 to 99.
        operations_percent: u8,
    },
    /// Writes of one thread in a random order that reaches every block at least once and leaves an
    /// empty solid-state drive in the state of endless random writes.
    OnePass {
        /// Spare flash of the drive in per cent of its usable capacity, 1 to 100.
        spare_percent: u8,
    },
}

/// How caches are used. SQLIO's -BN, -BH/-BY/-BS in Linux terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CacheMode {
    /// `O_DIRECT`: bypasses the page cache; the device's own cache may hold writes.
    Direct,
    /// `O_DIRECT|O_DSYNC`: every write is durable when it completes, as SQL Server writes.
    DirectSync,
    /// Through the page cache.
    Buffered,
    /// Through the page cache, `O_DSYNC`.
    BufferedSync,
    /// Through the page cache, which drops the data right after the read or write (`RWF_DONTCACHE`,
    /// Linux 6.14 and file systems that support it).
    Dontcache,
}

/// A sync after every `every` writes of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncPolicy {
    /// Writes between two syncs, at least 1.
    pub every: u32,
    /// The system call used to sync.
    #[serde(default, skip_serializing_if = "SyncCall::is_fdatasync")]
    pub call: SyncCall,
}

/// A call that makes a file's earlier writes durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SyncCall {
    /// The data, and the metadata that is needed to read it.
    #[default]
    Fdatasync,
    /// All metadata too, such as the modification time. Windows has only this one.
    Fsync,
}

/// After every `every` operations a thread waits until all its operations in flight have completed,
/// and then pauses for `pause_ns`. Typed and printed as `10ms` and `10ms:32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThinkTime {
    /// The pause in nanoseconds, above 0.
    pub pause_ns: u64,
    /// Reads and writes that a thread issues between two pauses, at least 1.
    pub every: u32,
}

/// An open-loop rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// Operations per second of the whole job; above 0.
    pub iops: f64,
    /// How arrivals are spaced.
    pub arrivals: Arrivals,
}

/// How open-loop arrivals are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Equal gaps; threads are offset against each other.
    Fixed,
    /// Exponential gaps, as of independent clients.
    Poisson,
}

/// What written data looks like. Both 0: incompressible and unique per 4 KiB block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DataPattern {
    /// Share of each 4 KiB block that is zeros, 0 to 100.
    pub compressible_percent: u8,
    /// Share of duplicate 4 KiB blocks, 0 to 100.
    pub dedupable_percent: u8,
}
