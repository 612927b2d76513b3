//! Runs: operations of one kind, each of which begins where the preceding one ended. Up to 32 are
//! tracked at once per device, because several streams interleave.

use stripewise_units::Kind;

/// Most open runs; the least recently used one ends.
const OPEN_MAX: usize = 32;

/// An operation's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlace {
    /// The number of its run, from 0.
    pub run: u64,
    /// Whether it is the first of its run.
    pub is_first: bool,
}

/// Tracks runs.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Kind, next offset and number; the most recently used is last.
    open: Vec<(Kind, u64, u64)>,
    count: u64,
}

impl Runs {
    /// The run of the next operation.
    pub fn next(&mut self, kind: Kind, offset_bytes: u64, end_bytes: u64) -> RunPlace {
        let is_it = |one: &(Kind, u64, u64)| one.0 == kind && one.1 == offset_bytes;
        let known = self.open.iter().rposition(is_it);
        let run = match known {
            Some(at) => self.open.remove(at).2,
            None => {
                self.count += 1;
                self.count - 1
            }
        };
        if self.open.len() == OPEN_MAX {
            self.open.remove(0);
        }
        self.open.push((kind, end_bytes, run));
        RunPlace {
            run,
            is_first: known.is_none(),
        }
    }

    /// Number of runs.
    pub const fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_that_interleave_are_told_apart() {
        let mut runs = Runs::default();
        let mut next = |kind, at: u64| runs.next(kind, at * 8, at * 8 + 8).run;
        assert_eq!(next(Kind::Read, 0), 0);
        assert_eq!(next(Kind::Read, 100), 1);
        assert_eq!(next(Kind::Read, 1), 0);
        // The same location, but a write.
        assert_eq!(next(Kind::Write, 101), 2);
        assert_eq!(next(Kind::Read, 101), 1);
        // 32 others end the open one.
        for k in 0..32 {
            assert_eq!(next(Kind::Read, 1_000 + 10 * k), 3 + k);
        }
        assert_eq!(next(Kind::Read, 2), 35);
        assert_eq!(runs.count(), 36);
    }
}
