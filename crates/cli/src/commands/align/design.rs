//! From switches to the design: operations, cells and levels.

use crate::switches::align::{AlignWhat, Study};
use stripewise_lab::experiment::Cell;
use stripewise_lab::offsets::{OFFSET_1M, OFFSET_36K, OFFSET_63_SECTORS, offsets_unasked};
use stripewise_units::{ByteSize, counted};
use stripewise_workload::{CursorKind, Distribution, Pattern, Workload};

/// Thread counts and outstanding of the article of 2007, and those of the EVA's.
const THREADS_2007: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const THREADS_EVA: [u32; 6] = [1, 2, 4, 8, 16, 32];
const THREADS_UNASKED: [u32; 3] = [1, 8, 64];
const OUTSTANDING_2007: u32 = 4;
const OUTSTANDING_EVA: u32 = 32;
const BLOCK_UNASKED: u64 = 8 << 10;
/// More threads than this say little: queues are full. The primary hypothesis is
/// about the largest count up to here.
const THREADS_PRIMARY_MAX: u32 = 64;

/// Everything about the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    pub reads: bool,
    pub writes: bool,
    pub sequential: bool,
    pub threads: Vec<u32>,
    pub outstanding: u32,
    pub blocks_bytes: Vec<u64>,
    /// Offsets of the disk, where they are named.
    pub offsets_bytes: Option<Vec<u64>>,
    pub cause: bool,
    /// Threads or outstanding were given by number.
    pub load_given: bool,
}

impl Design {
    /// What the switches say, with the defaults of a study.
    pub fn of(what: &AlignWhat) -> Design {
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
        let offsets_bytes = match (what.offsets.as_slice(), study) {
            ([], Some(Study::Year2007)) => Some(vec![OFFSET_63_SECTORS, 64 << 10]),
            ([], Some(Study::Eva)) => Some(vec![
                OFFSET_63_SECTORS,
                64 << 10,
                128 << 10,
                OFFSET_1M,
                2 << 20,
            ]),
            ([], None) => None,
            (given, _) => Some(given.iter().map(|offset| offset.bytes()).collect()),
        };
        Design {
            reads: !what.write,
            writes: !what.read,
            sequential: what.sequential || study == Some(Study::Year2007),
            threads,
            outstanding,
            blocks_bytes: match what.block.as_slice() {
                [] => vec![BLOCK_UNASKED],
                given => given.iter().map(|block| block.bytes()).collect(),
            },
            offsets_bytes,
            cause: what.cause,
            load_given: !what.threads.is_empty() || what.outstanding.is_some(),
        }
    }

    /// Operations in flight at most.
    pub fn outstanding_total(&self) -> u32 {
        let threads = self.threads.iter().copied().max().unwrap_or(1);
        threads.saturating_mul(self.outstanding)
    }

    pub fn block_bytes_max(&self) -> u64 {
        self.blocks_bytes
            .iter()
            .copied()
            .max()
            .unwrap_or(BLOCK_UNASKED)
    }

    /// The levels: those named, or those that follow from where it starts.
    pub fn offsets(&self, start_bytes: Option<u64>) -> Vec<u64> {
        let named = self.offsets_bytes.clone();
        let mut offsets = named.unwrap_or_else(|| offsets_unasked(start_bytes).to_vec());
        if let [only] = offsets.as_slice() {
            // One offset is held against the one that is always right.
            offsets = vec![*only, OFFSET_1M];
        }
        if self.cause && !offsets.contains(&OFFSET_36K) {
            offsets.insert(1, OFFSET_36K);
        }
        offsets
    }

    /// The rows in the order of the articles: reads before writes, random before
    /// sequential, then by block size and threads.
    pub fn cells(&self, ramp_ns: u64, duration_ns: u64) -> Vec<Cell> {
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

/// The primary hypothesis: random writes where there are any (both sides of a
/// mirror work for them), else random reads, with full queues.
pub fn primary(cells: &[Cell]) -> Option<usize> {
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
    use clap::Parser;

    fn design(arguments: &[&str]) -> Design {
        #[derive(Parser)]
        struct Words {
            #[command(flatten)]
            what: AlignWhat,
        }
        let words = ["align"].iter().chain(arguments);
        Design::of(&Words::parse_from(words).what)
    }

    #[test]
    fn unasked_there_are_three_loads_of_random_reads_and_writes() {
        let design = design(&[]);
        assert_eq!(
            design.offsets(Some(OFFSET_63_SECTORS)),
            [OFFSET_63_SECTORS, OFFSET_1M]
        );
        assert_eq!(design.outstanding_total(), 256);
        let cells = design.cells(0, 1);
        assert_eq!(cells.len(), 6);
        assert_eq!(cells[0].name, "random read, 1 thread");
        assert_eq!(
            cells[primary(&cells).unwrap()].name,
            "random write, 64 threads"
        );
    }

    #[test]
    fn the_studies_have_the_rows_of_their_articles() {
        let year_2007 = design(&["--study", "2007"]);
        assert_eq!(year_2007.cells(0, 1).len(), 36);
        assert_eq!(year_2007.offsets(None), [OFFSET_63_SECTORS, 64 << 10]);
        let eva = design(&["--study", "eva", "--cause"]);
        assert_eq!(eva.cells(0, 1).len(), 12);
        assert_eq!(eva.offsets(None)[..2], [OFFSET_63_SECTORS, OFFSET_36K]);
        assert_eq!(eva.offsets(None).len(), 6);
        assert_eq!(eva.outstanding_total(), 1024);
        assert!(!eva.load_given);
    }

    #[test]
    fn switches_narrow_the_rows() {
        let reads = design(&[
            "--read",
            "--threads",
            "4",
            "--sequential",
            "--offsets",
            "36K",
        ]);
        assert!(!reads.writes);
        assert_eq!(reads.cells(0, 1).len(), 2);
        assert_eq!(reads.offsets(None), [OFFSET_36K, OFFSET_1M]);
    }
}
