//! The design: operations, cells and levels.

use stripewise_lab::experiment::Cell;
use stripewise_lab::offsets::{OFFSET_1M, OFFSET_36K, OFFSET_63_SECTORS, default_offsets};
use stripewise_units::{ByteSize, counted};
use stripewise_workload::{CursorKind, Distribution, Pattern, Workload};

/// Thread counts and outstanding of the article of 2007, and of the EVA's.
const THREADS_2007: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const THREADS_EVA: [u32; 6] = [1, 2, 4, 8, 16, 32];
const THREADS_UNASKED: [u32; 3] = [1, 8, 64];
const OUTSTANDING_2007: u32 = 4;
const OUTSTANDING_EVA: u32 = 32;
const BLOCK_UNASKED: u64 = 8 << 10;
/// More threads than this add little: queues are full. The primary hypothesis is
/// about the largest count up to here.
const THREADS_PRIMARY_MAX: u32 = 64;

/// Published designs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Study {
    /// Oja and Nisula 2007.
    Year2007,
    /// EVA8100, 2009.
    Eva,
}

/// Operations the user selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operations {
    /// Both if writing is allowed.
    #[default]
    Unasked,
    /// Only reads.
    Reads,
    /// Only writes.
    Writes,
    /// Both; fails if writing is not allowed.
    Both,
}

/// What to compare, as far as the user specified it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DesignOptions {
    /// Offsets from the start of the disk; the others are compared with the first.
    pub offsets_bytes: Vec<u64>,
    /// Include 36K among the offsets.
    pub cause: bool,
    /// Thread counts.
    pub threads: Vec<u32>,
    /// Operations that each thread keeps in flight.
    pub outstanding: Option<u32>,
    /// Block sizes.
    pub blocks_bytes: Vec<u64>,
    /// Reads or writes.
    pub operations: Operations,
    /// Add sequential rows.
    pub sequential: bool,
    /// The study whose defaults apply.
    pub study: Option<Study>,
}

/// The design of the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Design {
    pub(super) reads: bool,
    pub(super) writes: bool,
    sequential: bool,
    threads: Vec<u32>,
    outstanding: u32,
    blocks_bytes: Vec<u64>,
    /// Offsets on the disk, if named.
    pub(super) offsets_bytes: Option<Vec<u64>>,
    cause: bool,
    /// Threads or outstanding were given explicitly.
    pub(super) load_given: bool,
}

impl Design {
    /// The user's options, with the defaults of a study.
    pub(super) fn of(what: &DesignOptions) -> Design {
        let study = what.study;
        let threads = match (what.threads.as_slice(), study) {
            ([], Some(Study::Year2007)) => THREADS_2007.to_vec(),
            ([], Some(Study::Eva)) => THREADS_EVA.to_vec(),
            ([], None) => THREADS_UNASKED.to_vec(),
            (given, _) => given.to_vec(),
        };
        let outstanding = what.outstanding.unwrap_or(match study {
            Some(Study::Eva) => OUTSTANDING_EVA,
            _ => OUTSTANDING_2007,
        });
        let offsets_bytes = match (what.offsets_bytes.as_slice(), study) {
            ([], Some(Study::Year2007)) => Some(vec![OFFSET_63_SECTORS, 64 << 10]),
            ([], Some(Study::Eva)) => Some(vec![
                OFFSET_63_SECTORS,
                64 << 10,
                128 << 10,
                OFFSET_1M,
                2 << 20,
            ]),
            ([], None) => None,
            (given, _) => Some(given.to_vec()),
        };
        Design {
            reads: what.operations != Operations::Writes,
            writes: what.operations != Operations::Reads,
            sequential: what.sequential || study == Some(Study::Year2007),
            threads,
            outstanding,
            blocks_bytes: match what.blocks_bytes.as_slice() {
                [] => vec![BLOCK_UNASKED],
                given => given.to_vec(),
            },
            offsets_bytes,
            cause: what.cause,
            load_given: !what.threads.is_empty() || what.outstanding.is_some(),
        }
    }

    /// Maximum number of operations in flight.
    pub(super) fn outstanding_total(&self) -> u32 {
        let threads = self.threads.iter().copied().max().unwrap_or(1);
        threads.saturating_mul(self.outstanding)
    }

    pub(super) fn block_bytes_max(&self) -> u64 {
        self.blocks_bytes
            .iter()
            .copied()
            .max()
            .unwrap_or(BLOCK_UNASKED)
    }

    /// The levels: those named, or those derived from the start.
    pub(super) fn offsets(&self, start_bytes: Option<u64>) -> Vec<u64> {
        let named = self.offsets_bytes.clone();
        let mut offsets = named.unwrap_or_else(|| default_offsets(start_bytes).to_vec());
        if let [only] = offsets.as_slice() {
            // A single offset is compared with the one that is always right, and that one with
            // the one that old partitions have.
            offsets = match *only {
                OFFSET_1M => vec![OFFSET_63_SECTORS, OFFSET_1M],
                only => vec![only, OFFSET_1M],
            };
        }
        if self.cause && !offsets.contains(&OFFSET_36K) {
            offsets.insert(1, OFFSET_36K);
        }
        offsets
    }

    /// The rows in the order of the articles: reads before writes, random before
    /// sequential, then by block size and threads.
    pub(super) fn cells(&self, (ramp_ns, duration_ns): (u64, u64)) -> Vec<Cell> {
        let mut cells = Vec::new();
        let operations = [(self.reads, 100), (self.writes, 0)];
        for (_, read_percent) in operations.into_iter().filter(|(wanted, _)| *wanted) {
            for sequential in [false, true] {
                if sequential && !self.sequential {
                    continue;
                }
                for &block_size_bytes in &self.blocks_bytes {
                    for &threads in &self.threads {
                        let workload = Workload {
                            read_percent,
                            pattern: pattern(sequential),
                            block_size_bytes,
                            threads,
                            outstanding: self.outstanding,
                            ramp_ns,
                            duration_ns,
                            ..Workload::default()
                        };
                        cells.push(Cell {
                            name: self.cell_name(&workload, sequential),
                            workload,
                        });
                    }
                }
            }
        }
        cells
    }

    fn cell_name(&self, workload: &Workload, sequential: bool) -> String {
        let block = if self.blocks_bytes.len() > 1 {
            format!(" of {}", ByteSize(workload.block_size_bytes))
        } else {
            String::new()
        };
        format!(
            "{} {}{block}, {}",
            if sequential { "sequential" } else { "random" },
            if workload.read_percent == 100 {
                "read"
            } else {
                "write"
            },
            counted(workload.threads as usize, "thread", "threads")
        )
    }
}

/// The primary hypothesis: random writes if there are any (they use both sides of a
/// mirror), else random reads, with full queues.
pub(super) fn primary(cells: &[Cell]) -> Option<usize> {
    let rank = |cell: &Cell| {
        let random = matches!(cell.workload.pattern, Pattern::Random { .. });
        let threads = cell.workload.threads;
        let full = if threads <= THREADS_PRIMARY_MAX {
            threads
        } else {
            0
        };
        (random, cell.workload.read_percent == 0, full)
    };
    (0..cells.len()).max_by_key(|&index| (rank(&cells[index]), std::cmp::Reverse(index)))
}

fn pattern(sequential: bool) -> Pattern {
    if sequential {
        Pattern::Sequential {
            cursor: CursorKind::Own,
        }
    } else {
        Pattern::Random {
            distribution: Distribution::Uniform,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unasked_there_are_three_loads_of_random_reads_and_writes() {
        let design = Design::of(&DesignOptions::default());
        assert_eq!(
            design.offsets(Some(OFFSET_63_SECTORS)),
            [OFFSET_63_SECTORS, OFFSET_1M]
        );
        assert_eq!(design.outstanding_total(), 256);
        let cells = design.cells((0, 1));
        assert_eq!(cells.len(), 6);
        assert_eq!(cells[0].name, "random read, 1 thread");
        assert_eq!(
            cells[primary(&cells).unwrap()].name,
            "random write, 64 threads"
        );
    }

    #[test]
    fn the_studies_have_the_rows_of_their_articles() {
        let year_2007 = Design::of(&DesignOptions {
            study: Some(Study::Year2007),
            ..DesignOptions::default()
        });
        assert_eq!(year_2007.cells((0, 1)).len(), 36);
        assert_eq!(year_2007.offsets(None), [OFFSET_63_SECTORS, 64 << 10]);
        let eva = Design::of(&DesignOptions {
            study: Some(Study::Eva),
            cause: true,
            ..DesignOptions::default()
        });
        assert_eq!(eva.cells((0, 1)).len(), 12);
        assert_eq!(eva.offsets(None)[..2], [OFFSET_63_SECTORS, OFFSET_36K]);
        assert_eq!(eva.offsets(None).len(), 6);
        assert_eq!(eva.outstanding_total(), 1024);
        assert!(!eva.load_given);
    }

    #[test]
    fn what_is_asked_narrows_the_rows() {
        let reads = Design::of(&DesignOptions {
            operations: Operations::Reads,
            threads: vec![4],
            sequential: true,
            offsets_bytes: vec![OFFSET_36K],
            ..DesignOptions::default()
        });
        assert!(!reads.writes && reads.load_given);
        assert_eq!(reads.cells((0, 1)).len(), 2);
        assert_eq!(reads.offsets(None), [OFFSET_36K, OFFSET_1M]);
        let right = Design::of(&DesignOptions {
            offsets_bytes: vec![OFFSET_1M],
            ..DesignOptions::default()
        });
        assert_eq!(right.offsets(None), [OFFSET_63_SECTORS, OFFSET_1M]);
    }
}
