//! The stream of operations of one thread: kind and position.
//!
//! Invariant: every operation lies entirely inside the span, at the span's start plus a multiple of
//! the block size (of the stride, for strides that are not multiples of it). A stream never ends.
//! It depends on the workload's pattern, block size, read share and seed, on the number of blocks,
//! and on the thread's index; not on where the span starts. So two runs with one seed at different
//! base offsets, and with the same `size`, see the same relative positions.

use crate::covering::Covering;
use crate::cursor::{Cursor, Cycle, SharedCursor};
use crate::mixed::Mixed;
use crate::one_pass::OnePass;
use crate::random::{Generator, Purpose, threshold};
use crate::scatter::Scatter;
use crate::zipf::Zipf;
use crate::{ArrivalSchedule, CursorKind, DataSource, Distribution, Pattern, Workload};
use stripewise_units::Kind;

/// The bytes of a target that a job uses: whole blocks only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Where it begins, from the start of the target.
    pub start_bytes: u64,
    /// Bytes of one block, above 0.
    pub block_size_bytes: u64,
    /// Blocks in it, at least 1.
    pub blocks: u64,
}

impl Span {
    /// Bytes in use, without the rest of the target.
    pub const fn size_bytes(&self) -> u64 {
        self.blocks * self.block_size_bytes
    }

    /// The first byte after it.
    pub const fn end_bytes(&self) -> u64 {
        self.start_bytes + self.size_bytes()
    }
}

/// All streams of one job. Threads with a shared cursor, and those that cover the span together,
/// must be made from the same `Streams`.
///
/// ```
/// use stripewise_workload::{Kind, Span, Streams, Workload};
///
/// let span = Span { start_bytes: 1 << 20, block_size_bytes: 8192, blocks: 1000 };
/// let mut stream = Streams::new(&Workload::default(), span).stream(0);
/// let (kind, offset_bytes) = stream.next();
/// assert_eq!(kind, Kind::Read);
/// assert!((span.start_bytes..span.end_bytes()).contains(&offset_bytes));
/// ```
#[derive(Clone, Debug)]
pub struct Streams {
    workload: Workload,
    span: Span,
    shared: SharedCursor,
}

impl Streams {
    /// The streams of `workload` (already validated) over `span`.
    pub fn new(workload: &Workload, span: Span) -> Self {
        Streams {
            workload: workload.clone(),
            span,
            shared: SharedCursor::new(),
        }
    }

    /// The operations of thread `index`, below the number of threads.
    pub fn stream(&self, index: u32) -> Stream {
        Stream::new(&self.workload, self.span, index, &self.shared)
    }

    /// The arrivals of thread `index`; `None` for a closed loop.
    pub fn arrivals(&self, index: u32) -> Option<ArrivalSchedule> {
        let rate = self.workload.rate?;
        Some(ArrivalSchedule::new(
            rate,
            self.workload.threads,
            index,
            self.workload.seed,
        ))
    }

    /// The data that thread `index` writes. `salt` distinguishes runs: with the same salt and seed
    /// a second run over the same file would rewrite identical data, which a deduplicating device
    /// need not store.
    pub fn data(&self, index: u32, salt: u64) -> DataSource {
        DataSource::new(self.workload.data, self.workload.seed ^ salt, index)
    }
}

/// How positions are generated.
#[derive(Clone, Debug)]
enum Position {
    Uniform,
    Covering(Box<Covering>),
    OnePass(Box<OnePass>),
    Zipf(Box<(Zipf, Scatter)>),
    Hot { hot_blocks: u64, threshold: u64 },
    Cycle(Cycle, Cursor),
}

/// How kinds are chosen.
#[derive(Clone, Debug, PartialEq)]
enum Mix {
    Only(Kind),
    Reads {
        threshold: u64,
        generator: Generator,
    },
    /// Out of 100, numbers below `reads` read, and those below `unwritten` do not write.
    Discards {
        reads: u64,
        unwritten: u64,
        generator: Generator,
    },
}

/// The operations of one thread.
#[derive(Clone, Debug)]
pub struct Stream {
    start_bytes: u64,
    block_size_bytes: u64,
    blocks: u64,
    generator: Generator,
    /// `position` is `Uniform`: a single byte to test in the most common case.
    uniform: bool,
    position: Position,
    mix: Mix,
    /// Sizes and positions, where operations have several sizes.
    mixed: Option<Box<Mixed>>,
}

impl Stream {
    /// The stream of thread `index` over `span`; `shared` is used only by patterns with a shared
    /// cursor and by covering positions.
    pub fn new(workload: &Workload, span: Span, index: u32, shared: &SharedCursor) -> Self {
        let cycle = |cycle: Cycle, kind| match kind {
            CursorKind::Own => Position::Cycle(cycle, cycle.own(index, workload.threads)),
            CursorKind::Shared => Position::Cycle(cycle, Cursor::Shared(shared.clone())),
            CursorKind::Columns => Position::Cycle(cycle, cycle.part(index, workload.threads)),
        };
        let (block, blocks) = (span.block_size_bytes, span.blocks);
        let position = match workload.pattern {
            Pattern::Random { distribution } => random(distribution, workload.seed, blocks, shared),
            Pattern::Sequential { cursor } => cycle(Cycle::sequential(block, blocks), cursor),
            Pattern::Stride {
                stride_bytes,
                cursor,
            } => cycle(Cycle::stride(block, blocks, stride_bytes), cursor),
        };
        let kinds = || Generator::new(workload.seed, Purpose::Kind, index);
        let mix = match (workload.read_percent, workload.discard_percent) {
            (0, 0) => Mix::Only(Kind::Write),
            (_, 100) => Mix::Only(Kind::Discard),
            (percent @ 1..=99, 0) => Mix::Reads {
                threshold: threshold(percent),
                generator: kinds(),
            },
            (_, 0) => Mix::Only(Kind::Read),
            (reads, discards) => Mix::Discards {
                reads: u64::from(reads),
                unwritten: u64::from(reads) + u64::from(discards),
                generator: kinds(),
            },
        };
        Stream {
            start_bytes: span.start_bytes,
            block_size_bytes: block,
            blocks,
            generator: Generator::new(workload.seed, Purpose::Position, index),
            uniform: matches!(position, Position::Uniform),
            position,
            mix,
            mixed: Mixed::new(workload, span, index, shared),
        }
    }

    /// Operations have several sizes: call only [`Stream::next_sized`].
    pub fn is_mixed(&self) -> bool {
        self.mixed.is_some()
    }

    /// The next operation's kind, absolute byte offset in the target, and length.
    pub fn next_sized(&mut self) -> (Kind, u64, u64) {
        let Some(mixed) = &mut self.mixed else {
            let (kind, offset_bytes) = self.next();
            return (kind, offset_bytes, self.block_size_bytes);
        };
        let (relative, size_bytes) = mixed.next();
        (self.kind(), self.start_bytes + relative, size_bytes)
    }

    /// The next operation's kind and absolute byte offset in the target, where all
    /// operations have one size.
    ///
    /// Always inlined: it is a third of the program's cost per operation, and a call adds a quarter
    /// to it.
    #[inline(always)]
    #[expect(
        clippy::should_implement_trait,
        reason = "it never ends, so an iterator's Option would only cost time"
    )]
    pub fn next(&mut self) -> (Kind, u64) {
        let relative = if self.uniform {
            self.generator.below(self.blocks) * self.block_size_bytes
        } else {
            self.not_uniform()
        };
        (self.kind(), self.start_bytes + relative)
    }

    /// The next operation's kind.
    #[inline(always)]
    fn kind(&mut self) -> Kind {
        match &mut self.mix {
            Mix::Only(kind) => *kind,
            Mix::Reads {
                threshold,
                generator,
            } => {
                if generator.chance(*threshold) {
                    Kind::Read
                } else {
                    Kind::Write
                }
            }
            Mix::Discards {
                reads,
                unwritten,
                generator,
            } => match generator.below(100) {
                drawn if drawn < *reads => Kind::Read,
                drawn if drawn < *unwritten => Kind::Discard,
                _ => Kind::Write,
            },
        }
    }

    /// A view of a stream of uniform reads only, with its state where the compiler can keep it in
    /// registers; `None` for other streams.
    #[inline(always)]
    pub fn uniform_reads(&mut self) -> Option<UniformReads<'_>> {
        let only = self.uniform && self.mix == Mix::Only(Kind::Read) && self.mixed.is_none();
        only.then_some(UniformReads {
            start_bytes: self.start_bytes,
            block_size_bytes: self.block_size_bytes,
            blocks: self.blocks,
            generator: self.generator.clone(),
            home: &mut self.generator,
        })
    }

    /// The relative offset where positions are not uniform; kept out of the fast path.
    fn not_uniform(&mut self) -> u64 {
        match &mut self.position {
            Position::Cycle(cycle, cursor) => cycle.next(cursor),
            Position::Covering(covering) => covering.next() * self.block_size_bytes,
            Position::OnePass(pass) => pass.next() * self.block_size_bytes,
            _ => self.skewed() * self.block_size_bytes,
        }
    }

    /// A block of the skewed distributions.
    fn skewed(&mut self) -> u64 {
        let generator = &mut self.generator;
        match &self.position {
            Position::Zipf(zipf) => zipf.1.place(zipf.0.draw(generator)),
            Position::Hot {
                hot_blocks,
                threshold,
            } => {
                if generator.chance(*threshold) {
                    generator.below(*hot_blocks)
                } else {
                    hot_blocks + generator.below(self.blocks - hot_blocks)
                }
            }
            Position::Uniform
            | Position::Covering(_)
            | Position::OnePass(_)
            | Position::Cycle(..) => generator.below(self.blocks),
        }
    }
}

/// The operations of a [`Stream`] of uniform reads only. On drop, the stream continues where this
/// ended.
#[derive(Debug)]
pub struct UniformReads<'a> {
    start_bytes: u64,
    block_size_bytes: u64,
    blocks: u64,
    generator: Generator,
    home: &'a mut Generator,
}

impl UniformReads<'_> {
    /// The next operation's absolute byte offset in the target.
    #[inline(always)]
    pub fn next_offset(&mut self) -> u64 {
        self.start_bytes + self.generator.below(self.blocks) * self.block_size_bytes
    }
}

impl Drop for UniformReads<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.home = self.generator.clone();
    }
}

/// The position of a random pattern.
fn random(distribution: Distribution, seed: u64, blocks: u64, shared: &SharedCursor) -> Position {
    match distribution {
        // A single block leaves no choice.
        _ if blocks == 1 => Position::Uniform,
        Distribution::Uniform => Position::Uniform,
        Distribution::Covering => {
            Position::Covering(Box::new(Covering::new(seed, blocks, shared.clone())))
        }
        Distribution::OnePass { spare_percent } => {
            Position::OnePass(Box::new(OnePass::new(seed, blocks, spare_percent)))
        }
        Distribution::Zipf { theta } => Position::Zipf(Box::new((
            Zipf::new(blocks, theta),
            Scatter::new(seed, blocks),
        ))),
        Distribution::Hot {
            space_percent,
            operations_percent,
        } => {
            let hot = u128::from(blocks) * u128::from(space_percent) / 100;
            Position::Hot {
                hot_blocks: (hot as u64).clamp(1, blocks - 1),
                threshold: threshold(operations_percent),
            }
        }
    }
}
