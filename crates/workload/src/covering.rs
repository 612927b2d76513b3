//! A random order that covers every block exactly once, pass after pass.
//!
//! Each pass is a seeded bijection of the blocks onto themselves ([`Scatter`]), so no state is kept
//! per block, whatever their number; each pass has its own key, and so its own order. The threads
//! of a job take numbers from one counter: number n is block `order(n mod blocks)` of pass
//! `n / blocks`. So they share a pass without overlap, and the next one begins only once every
//! block of this one has been handed out.

use crate::cursor::SharedCursor;
use crate::random::{Generator, Purpose, derived_seed};
use crate::scatter::Scatter;

/// Rounds of mixing. Three, enough to spread Zipf ranks, leave a visible pattern in successive
/// blocks: the distances of neighbours in a pass are uneven (chi-square up to 120 per degree of
/// freedom at 131,068 blocks), and with four in some places. With five or more no pattern was seen.
const ROUNDS: usize = 6;

/// One thread's view of the order.
#[derive(Clone, Debug)]
pub(crate) struct Covering {
    taken: SharedCursor,
    key: u64,
    blocks: u64,
    /// The number at which the thread's current pass began.
    pass_first: u64,
    order: Scatter<ROUNDS>,
}

impl Covering {
    /// The order of `blocks` (at least 1), determined by `seed`; all threads share the counter
    /// `taken`.
    pub(crate) fn new(seed: u64, blocks: u64, taken: SharedCursor) -> Self {
        let key = Generator::new(seed, Purpose::Scatter, 0).word();
        Covering {
            taken,
            key,
            blocks,
            pass_first: 0,
            order: order(key, 0, blocks),
        }
    }

    /// The next block.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let number = self.taken.take();
        if number - self.pass_first >= self.blocks {
            self.turn(number / self.blocks);
        }
        self.order.place(number - self.pass_first)
    }

    /// Advances to `pass`. A thread sees its numbers in rising order, so it never goes back.
    #[cold]
    fn turn(&mut self, pass: u64) {
        self.pass_first = pass * self.blocks;
        self.order = order(self.key, pass, self.blocks);
    }
}

/// The order of one pass.
fn order(key: u64, pass: u64, blocks: u64) -> Scatter<ROUNDS> {
    Scatter::from_generator(Generator::plain(derived_seed(key, pass)), blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uneven distances between successive blocks would be a pattern that read-ahead or a spinning
    /// disk can exploit.
    #[test]
    fn blocks_that_follow_one_another_lie_at_random_distances() {
        for (seed, blocks) in [(1, 1_000), (2, 4_096), (3, 131_068), (4, (1 << 41) + 7)] {
            let mut covering = Covering::new(seed, blocks, SharedCursor::new());
            let mut before = covering.next();
            let mut sixteenths = [0_u32; 16];
            // Several passes where there are few blocks.
            for _ in 0..16_000 {
                let block = covering.next();
                let distance = (block + blocks - before) % blocks;
                sixteenths[(u128::from(distance) * 16 / u128::from(blocks)) as usize] += 1;
                before = block;
            }
            let chi_square: f64 = sixteenths
                .iter()
                .map(|&hits| (f64::from(hits) - 1000.0).powi(2) / 1000.0)
                .sum();
            // 15 degrees of freedom: 0.1 % lie above 37.7.
            assert!(chi_square < 37.7, "{blocks} blocks: {sixteenths:?}");
        }
    }
}
