//! The published tables as cells: an array, a load and a figure each.

use super::{Load, Positions, closed_loop};
use stripewise_array_sim::{ArraySpec, Kind};

/// The published 2007 table of two partition offsets.
pub const OJA_NISULA_2007_OFFSET: &str =
    include_str!("../../../../datasets/oja-nisula-2007-offset.csv");
/// The published 2007 table of two allocation units.
pub const OJA_NISULA_2007_ALLOCATION_UNIT: &str =
    include_str!("../../../../datasets/oja-nisula-2007-allocation-unit.csv");
/// The published 2009 table of five partition offsets.
pub const EVA8100_2009_OFFSET: &str = include_str!("../../../../datasets/eva8100-2009-offset.csv");
/// The published series of tip 2127.
pub const MSSQLTIPS_2127: &str = include_str!("../../../../datasets/mssqltips-2127.csv");

/// Thread counts that are scored of random rows: beyond 64, the 2007 table repeats
/// itself, because the host's queue is full.
pub const THREADS_MAX: u32 = 64;

/// One published figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Reads or writes.
    pub kind: Kind,
    /// Where.
    pub positions: Positions,
    /// Threads, or outstanding operations where the table counts those.
    pub threads: u32,
    /// Operations outstanding in all.
    pub outstanding: u32,
    /// Bytes of one operation.
    pub block_bytes: u64,
    /// Partition offset.
    pub offset_bytes: u64,
    /// Operations a second, as published.
    pub published: f64,
}

/// A cell with what the model says.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The published figure.
    pub cell: Cell,
    /// The model's operations a second.
    pub predicted: f64,
    /// Outstanding by Little's law over the same run.
    pub outstanding: f64,
}

impl Scored {
    /// Predicted against published, in percent.
    pub fn error_percent(&self) -> f64 {
        (self.predicted / self.cell.published - 1.0) * 100.0
    }
}

/// Rows of a table as lists of fields, with its header first.
fn rows(text: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    text.lines()
        .filter(|line| !line.is_empty())
        .map(|line| line.split(',').collect())
}

fn number(text: &str) -> f64 {
    text.parse()
        .unwrap_or_else(|_| panic!("a published table contains `{text}`, which is not a number"))
}

fn kind(text: &str) -> Kind {
    if text == "read" {
        Kind::Read
    } else {
        Kind::Write
    }
}

fn of(row: &[&str], positions: Positions) -> bool {
    let wanted = match positions {
        Positions::Random => "random",
        Positions::Sequential => "sequential",
    };
    row[1] == wanted
}

/// Cells of a table with one column per offset.
fn offset_cells(
    text: &'static str,
    positions: Positions,
    columns: &[(usize, u64)],
    outstanding_per_thread: u32,
) -> Vec<Cell> {
    let scored = |threads| threads <= THREADS_MAX || positions == Positions::Sequential;
    let mut cells = Vec::new();
    for row in rows(text).skip(1).filter(|row| of(row, positions)) {
        let threads = number(row[2]) as u32;
        if !scored(threads) {
            continue;
        }
        for &(column, offset_bytes) in columns {
            cells.push(Cell {
                kind: kind(row[0]),
                positions,
                threads,
                outstanding: threads * outstanding_per_thread,
                block_bytes: 8_192,
                offset_bytes,
                published: number(row[column]),
            });
        }
    }
    cells
}

/// Columns of the 2007 table and their offsets.
const COLUMNS_2007: [(usize, u64); 2] = [(3, 32_256), (4, 65_536)];

/// The random cells of the 2007 offset table: four outstanding per thread.
pub fn oja_nisula_2007() -> Vec<Cell> {
    offset_cells(OJA_NISULA_2007_OFFSET, Positions::Random, &COLUMNS_2007, 4)
}

/// The sequential cells of the 2007 offset table: all threads share one position.
pub fn oja_nisula_2007_sequential() -> Vec<Cell> {
    offset_cells(
        OJA_NISULA_2007_OFFSET,
        Positions::Sequential,
        &COLUMNS_2007,
        4,
    )
}

/// (kind, threads, published difference in percent) of the random rows of the
/// 2007 table of two allocation units.
pub fn published_allocation_unit_differences() -> Vec<(Kind, u32, f64)> {
    rows(OJA_NISULA_2007_ALLOCATION_UNIT)
        .skip(1)
        .filter(|row| row[1] == "random")
        .map(|row| (kind(row[0]), number(row[2]) as u32, number(row[5])))
        .filter(|(_, threads, _)| *threads <= THREADS_MAX)
        .collect()
}

/// The one cell that our models do not explain: 31.5K, random read, one thread (the 47 %
/// difference). Reported, never fitted.
pub fn is_unexplained(cell: &Cell) -> bool {
    cell.kind == Kind::Read && cell.threads == 1 && cell.offset_bytes == 32_256
}

/// The random read cells of the EVA 8100: 32 outstanding per thread, five offsets.
pub fn eva8100_2009(of: Kind) -> Vec<Cell> {
    let offsets = [
        (3, 32_256),
        (4, 64 << 10),
        (5, 128 << 10),
        (6, 1 << 20),
        (7, 2 << 20),
    ];
    let mut cells = offset_cells(EVA8100_2009_OFFSET, Positions::Random, &offsets, 32);
    cells.retain(|cell| cell.kind == of);
    cells
}

/// The random 64K series of tip 2127.
pub fn mssqltips_2127(kind: Kind) -> Vec<Cell> {
    series_2127(kind, Positions::Random)
}

/// The sequential series of tip 2127: 64K reads, 8K writes.
pub fn mssqltips_2127_sequential(kind: Kind) -> Vec<Cell> {
    series_2127(kind, Positions::Sequential)
}

fn series_2127(wanted: Kind, positions: Positions) -> Vec<Cell> {
    rows(MSSQLTIPS_2127)
        .skip(1)
        .filter(|row| of(row, positions) && kind(row[0]) == wanted)
        .map(|row| Cell {
            kind: wanted,
            positions,
            threads: number(row[3]) as u32,
            outstanding: number(row[3]) as u32,
            block_bytes: number(row[2].trim_end_matches('K')) as u64 * 1_024,
            offset_bytes: 32_256,
            published: number(row[4]),
        })
        .collect()
}

/// Runs one cell on an array of this specification, its offset replaced.
pub fn run_cell(spec: &ArraySpec, cell: &Cell, operations: u64) -> Scored {
    let mut spec = spec.clone();
    spec.offset_bytes = cell.offset_bytes;
    let cached = spec.cache.size_bytes / cell.block_bytes;
    let load = Load {
        kind: cell.kind,
        positions: cell.positions,
        block_bytes: cell.block_bytes,
        outstanding: cell.outstanding,
        // Long enough to fill queues and, for writes, the cache.
        warm_up: 2_000
            + if cell.kind == Kind::Write {
                2 * cached
            } else {
                0
            },
        operations,
        seed: 1,
    };
    let measured = closed_loop(&mut spec.build(), &load);
    Scored {
        cell: cell.clone(),
        predicted: measured.iops(),
        outstanding: measured.outstanding(),
    }
}

/// Runs all cells.
pub fn run_cells(spec: &ArraySpec, cells: &[Cell], operations: u64) -> Vec<Scored> {
    cells
        .iter()
        .map(|cell| run_cell(spec, cell, operations))
        .collect()
}

/// Mean absolute error in percent; 0 of nothing.
pub fn mean_absolute_error<'a>(scored: impl IntoIterator<Item = &'a Scored>) -> f64 {
    let (mut sum, mut count) = (0.0, 0u32);
    for scored in scored {
        sum += scored.error_percent().abs();
        count += 1;
    }
    if count == 0 {
        0.0
    } else {
        sum / f64::from(count)
    }
}

/// The largest absolute error in percent.
pub fn largest_error<'a>(scored: impl IntoIterator<Item = &'a Scored>) -> f64 {
    scored
        .into_iter()
        .map(|scored| scored.error_percent().abs())
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_tables_have_the_cells_that_are_scored() {
        let oja = oja_nisula_2007();
        assert_eq!(oja.len(), 28);
        assert_eq!(oja.iter().filter(|cell| is_unexplained(cell)).count(), 1);
        assert_eq!(oja_nisula_2007_sequential().len(), 36);
        assert_eq!(mssqltips_2127_sequential(Kind::Read).len(), 11);
        assert_eq!(mssqltips_2127_sequential(Kind::Write).len(), 7);
        assert!(oja.iter().all(|cell| cell.outstanding == 4 * cell.threads));
        assert_eq!(eva8100_2009(Kind::Read).len(), 30);
        assert_eq!(mssqltips_2127(Kind::Read).len(), 11);
        assert_eq!(mssqltips_2127(Kind::Write).len(), 4);
        assert_eq!(published_allocation_unit_differences().len(), 14);
    }

    #[test]
    fn the_published_differences_follow_from_the_published_rates() {
        for row in rows(OJA_NISULA_2007_OFFSET).skip(1) {
            let (a, b) = (number(row[3]), number(row[4]));
            let difference = (b / a - 1.0) * 100.0;
            assert!(
                (difference - number(row[5])).abs() < 0.0051,
                "{row:?}: {difference}"
            );
        }
    }

    #[test]
    fn errors_are_relative_to_the_published_figure() {
        let scored = |published, predicted| Scored {
            cell: Cell {
                published,
                ..oja_nisula_2007()[0].clone()
            },
            predicted,
            outstanding: 4.0,
        };
        let all = [scored(100.0, 110.0), scored(200.0, 190.0)];
        assert!((mean_absolute_error(&all) - 7.5).abs() < 1e-9);
        assert!((largest_error(&all) - 10.0).abs() < 1e-9);
        assert!(mean_absolute_error(&[]).abs() < 1e-9);
    }
}
