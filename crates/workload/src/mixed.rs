//! Positions for operations of several sizes.
//!
//! Invariant: every operation lies entirely inside the span: at a multiple of its size's alignment
//! from the span's start where positions are random, directly after the previous one where they are
//! sequential.

use crate::cursor::SharedCursor;
use crate::random::{Generator, Purpose};
use crate::scatter::Scatter;
use crate::sizes::alignment_bytes;
use crate::zipf::Zipf;
use crate::{BlockSizes, CursorKind, Distribution, Pattern, Span, Workload};

/// How positions are generated.
#[derive(Clone, Debug)]
enum Placing {
    Uniform,
    /// Within one of the pieces of the span that are as long as the largest size.
    Pieces(Pieces),
    Own(u64),
    Shared(SharedCursor),
}

/// How a piece is drawn.
#[derive(Clone, Debug)]
enum Pieces {
    Zipf(Box<(Zipf, Scatter)>),
    Hot { hot: u64, percent: u8 },
}

/// Sizes and positions of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Mixed {
    /// An operation has this size if its number out of 100 is below the bound.
    sizes: Vec<(u64, u64)>,
    size: Generator,
    position: Generator,
    place: Placing,
    span_bytes: u64,
    piece_bytes: u64,
    pieces: u64,
}

impl Mixed {
    /// For thread `index`; `None` where all operations have one size.
    pub(crate) fn new(
        workload: &Workload,
        span: Span,
        index: u32,
        shared: &SharedCursor,
    ) -> Option<Box<Mixed>> {
        if workload.block_sizes.is_empty() {
            return None;
        }
        let place = match workload.pattern {
            Pattern::Random { distribution } => random(distribution, workload.seed, span.blocks),
            Pattern::Sequential {
                cursor: CursorKind::Shared,
            } => Placing::Shared(shared.clone()),
            // Strides and columns with several sizes were rejected earlier.
            _ => Placing::Own(first(&workload.block_sizes, span, index, workload.threads)),
        };
        let mut below = 0;
        let sizes = workload.block_sizes.shares().iter().map(|share| {
            below += u64::from(share.percent);
            (below, share.size_bytes)
        });
        Some(Box::new(Mixed {
            sizes: sizes.collect(),
            size: Generator::new(workload.seed, Purpose::Size, index),
            position: Generator::new(workload.seed, Purpose::Position, index),
            place,
            span_bytes: span.size_bytes(),
            piece_bytes: span.block_size_bytes,
            pieces: span.blocks,
        }))
    }

    /// The next operation: its offset from the start of the span, and its size.
    pub(crate) fn next(&mut self) -> (u64, u64) {
        let drawn = self.size.below(100);
        let known = self.sizes.iter().find(|(below, _)| drawn < *below);
        let size = known.map_or(self.piece_bytes, |(_, size)| *size);
        let offset = match &mut self.place {
            Placing::Uniform => within(self.span_bytes, size, &mut self.position),
            Placing::Pieces(pieces) => {
                let piece = pieces.draw(self.pieces, &mut self.position);
                let start = piece * self.piece_bytes;
                let inside = within(self.piece_bytes, size, &mut self.position);
                // A piece need not begin at a multiple of the alignment.
                let alignment = alignment_bytes(size);
                (start + inside) / alignment * alignment
            }
            Placing::Own(next) => {
                let offset = fitting(*next, size, self.span_bytes);
                *next = offset + size;
                offset
            }
            Placing::Shared(cursor) => fitting(
                cursor.take_bytes(size) % self.span_bytes,
                size,
                self.span_bytes,
            ),
        };
        (offset, size)
    }
}

impl Pieces {
    fn draw(&self, pieces: u64, generator: &mut Generator) -> u64 {
        match self {
            Pieces::Zipf(zipf) => zipf.1.place(zipf.0.draw(generator)),
            Pieces::Hot { hot, percent } => {
                if generator.below(100) < u64::from(*percent) {
                    generator.below(*hot)
                } else {
                    hot + generator.below(pieces - hot)
                }
            }
        }
    }
}

fn random(distribution: Distribution, seed: u64, pieces: u64) -> Placing {
    match distribution {
        _ if pieces == 1 => Placing::Uniform,
        // Covering and passes with several sizes were rejected earlier.
        Distribution::Uniform | Distribution::Covering | Distribution::OnePass { .. } => {
            Placing::Uniform
        }
        Distribution::Zipf { theta } => Placing::Pieces(Pieces::Zipf(Box::new((
            Zipf::new(pieces, theta),
            Scatter::new(seed, pieces),
        )))),
        Distribution::Hot {
            space_percent,
            operations_percent,
        } => {
            let hot = u128::from(pieces) * u128::from(space_percent) / 100;
            Placing::Pieces(Pieces::Hot {
                hot: (hot as u64).clamp(1, pieces - 1),
                percent: operations_percent,
            })
        }
    }
}

/// A random multiple of the size's alignment at which it fits into `room`.
fn within(room: u64, size: u64, generator: &mut Generator) -> u64 {
    let alignment = alignment_bytes(size);
    let places = (room - size) / alignment + 1;
    generator.below(places) * alignment
}

/// The offset, or the start of the span where the operation would pass its end.
fn fitting(offset: u64, size: u64, span_bytes: u64) -> u64 {
    if offset + size > span_bytes {
        0
    } else {
        offset
    }
}

/// Where thread `index` of `threads` starts: at its share of the span, at a multiple of
/// the smallest alignment among the sizes.
fn first(sizes: &BlockSizes, span: Span, index: u32, threads: u32) -> u64 {
    let grain = sizes
        .shares()
        .iter()
        .map(|share| alignment_bytes(share.size_bytes))
        .min()
        .unwrap_or(1);
    let share = u128::from(span.size_bytes()) * u128::from(index) / u128::from(threads.max(1));
    (share as u64) / grain * grain
}
