//! The data written: bytes that a device cannot compress or deduplicate, or only by a set share.
//!
//! Every write takes fresh bytes from eight xorshift generators (Marsaglia, 2003; shifts 13, 7, 17)
//! that run side by side, so that the compiler can use the widest registers available. Each has a
//! period of 2^64 - 1 and never restarts, so no block of a source repeats within 2^64 steps, even
//! when the same offset is rewritten; another thread's block is identical only if all eight states
//! coincide. Compressibility and deduplication work on the 4 KiB blocks of the target (offset /
//! 4096), whatever the size of the write.

use crate::DataPattern;
use crate::random::{Generator, Purpose, threshold};

/// The granularity of compressibility and deduplication.
pub(crate) const GRAIN_BYTES: usize = 4096;
/// Generators that run in parallel.
const LANES: usize = 8;
/// Bytes per step of all lanes.
pub(crate) const STEP_BYTES: usize = LANES * size_of::<u64>();
/// Distinct blocks in the dedupable share.
const TEMPLATES: u64 = 16;

/// A source of data to write.
///
/// ```
/// use stripewise_workload::{DataPattern, DataSource};
///
/// let mut source = DataSource::new(DataPattern::default(), 1, 0);
/// let (mut first, mut second) = ([0; 8192], [0; 8192]);
/// source.fill(0, &mut first);
/// source.fill(0, &mut second);
/// assert_ne!(first, second, "a rewrite of the same place has new data");
/// ```
#[derive(Clone, Debug)]
pub struct DataSource {
    lanes: [u64; LANES],
    /// Non-zero bytes at the start of each 4 KiB block.
    dense_bytes: usize,
    dedupable: Option<Box<Dedupable>>,
}

/// State for the dedupable share.
#[derive(Clone, Debug)]
struct Dedupable {
    /// All blocks are copies; otherwise `threshold` decides.
    always: bool,
    threshold: u64,
    generator: Generator,
    templates: Vec<[u8; GRAIN_BYTES]>,
}

impl DataSource {
    /// The `thread` for filling test files, so that no thread of a run rewrites the same data as
    /// the fill.
    pub const FILL_THREAD: u32 = 1_000;

    /// The source of `thread`. The dedupable blocks are the same for all threads
    /// of a seed.
    pub fn new(pattern: DataPattern, seed: u64, thread: u32) -> Self {
        let mut generator = Generator::new(seed, Purpose::Data, thread + 1);
        let compressible = usize::from(pattern.compressible_percent.min(100));
        let mut source = DataSource {
            lanes: lanes(&mut generator),
            dense_bytes: dense_bytes(compressible),
            dedupable: None,
        };
        if pattern.dedupable_percent > 0 {
            source.dedupable = Some(Box::new(Dedupable {
                always: pattern.dedupable_percent >= 100,
                threshold: threshold(pattern.dedupable_percent.min(99)),
                generator,
                templates: templates(seed, source.dense_bytes),
            }));
        }
        source
    }

    /// Fills all of `buffer`, which will be written at `offset_bytes`.
    pub fn fill(&mut self, offset_bytes: u64, buffer: &mut [u8]) {
        if self.dedupable.is_none() && self.dense_bytes == GRAIN_BYTES {
            noise(&mut self.lanes, buffer);
            return;
        }
        let mut inside = (offset_bytes % GRAIN_BYTES as u64) as usize;
        let mut rest = buffer;
        while !rest.is_empty() {
            let length = rest.len().min(GRAIN_BYTES - inside);
            let (piece, after) = rest.split_at_mut(length);
            self.fill_piece(inside, piece);
            rest = after;
            inside = 0;
        }
    }

    /// Fills `piece`, which begins `inside` bytes into its 4 KiB block and does
    /// not go past its end.
    fn fill_piece(&mut self, inside: usize, piece: &mut [u8]) {
        if let Some(dedupable) = &mut self.dedupable {
            let copied = dedupable.always || dedupable.generator.chance(dedupable.threshold);
            if copied {
                let number = dedupable.generator.below(TEMPLATES) as usize;
                let template = &dedupable.templates[number];
                piece.copy_from_slice(&template[inside..inside + piece.len()]);
                return;
            }
        }
        let dense = self.dense_bytes.saturating_sub(inside).min(piece.len());
        noise(&mut self.lanes, &mut piece[..dense]);
        piece[dense..].fill(0);
    }
}

/// Fresh lanes; xorshift must not start at 0.
fn lanes(generator: &mut Generator) -> [u64; LANES] {
    std::array::from_fn(|_| generator.word().max(1))
}

/// The blocks that the dedupable share repeats.
fn templates(seed: u64, dense_bytes: usize) -> Vec<[u8; GRAIN_BYTES]> {
    let mut lanes = lanes(&mut Generator::new(seed, Purpose::Data, 0));
    let template = |_| {
        let mut block = [0; GRAIN_BYTES];
        noise(&mut lanes, &mut block[..dense_bytes]);
        block
    };
    (0..TEMPLATES).map(template).collect()
}

/// Fills `buffer` with incompressible bytes; takes only whole steps from the lanes, also for a
/// remainder.
fn noise(lanes: &mut [u64; LANES], buffer: &mut [u8]) {
    // A local copy stays in registers.
    let mut state = *lanes;
    let (steps, remainder) = buffer.as_chunks_mut::<STEP_BYTES>();
    for target in steps {
        *target = step(&mut state);
    }
    if !remainder.is_empty() {
        let length = remainder.len();
        remainder.copy_from_slice(&step(&mut state)[..length]);
    }
    *lanes = state;
}

/// One step of all lanes.
#[inline(always)]
fn step(state: &mut [u64; LANES]) -> [u8; STEP_BYTES] {
    let mut bytes = [0; STEP_BYTES];
    for (lane, target) in state.iter_mut().zip(bytes.as_chunks_mut::<8>().0) {
        *lane = next_word(*lane);
        *target = lane.to_le_bytes();
    }
    bytes
}

/// The word of a lane that follows `word`.
#[inline(always)]
pub(crate) const fn next_word(mut word: u64) -> u64 {
    word ^= word << 13;
    word ^= word >> 7;
    word ^ word << 17
}

/// Non-zero bytes at the start of each 4 KiB block.
pub(crate) const fn dense_bytes(compressible_percent: usize) -> usize {
    GRAIN_BYTES * (100 - compressible_percent) / 100
}
