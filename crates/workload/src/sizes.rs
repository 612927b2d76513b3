//! Several block sizes in one job, each with its share of the operations.
//!
//! Each operation is aligned to the largest power of two that divides its size: 8K and 24K to 8K,
//! 60K to 4K. Databases place pages and extents that way, and the law of crossings assumes it.
//!
//! Not supported: sizes that depend on whether an operation reads or writes; use two jobs.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use stripewise_units::{ByteSize, ParseError, parse_count};

/// Most sizes in one distribution.
pub(crate) const SIZES_MAX: usize = 64;

const HINT: &str =
    "give sizes with their shares of the operations in per cent, 100 in all: 4K:60,64K:40";

/// One size and its share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShare {
    /// Bytes of an operation.
    pub size_bytes: u64,
    /// Share of the operations, 1 to 100.
    pub percent: u8,
}

/// The sizes of a job's operations, in ascending order; empty: all operations have the
/// job's block size. Typed, printed and serialised as `4K:60,64K:40`.
///
/// ```
/// use stripewise_workload::BlockSizes;
///
/// let sizes: BlockSizes = "64K:40,4K:60".parse()?;
/// assert_eq!(sizes.to_string(), "4K:60,64K:40");
/// assert_eq!(sizes.largest_bytes(), Some(65_536));
/// # Ok::<(), stripewise_units::ParseError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(into = "String", from = "String")]
pub struct BlockSizes(Vec<BlockShare>);

impl BlockSizes {
    /// Builds the distribution and sorts it by size.
    ///
    /// # Errors
    /// If there are no sizes or more than 64, a size occurs twice, or the shares are not whole per
    /// cent above 0 that add up to 100.
    pub fn new(mut shares: Vec<BlockShare>) -> Result<BlockSizes, ParseError> {
        let text = || print(&shares);
        if shares.is_empty() || shares.len() > SIZES_MAX {
            return Err(ParseError::new(&text(), "has no or too many sizes", HINT));
        }
        let sum: u32 = shares.iter().map(|share| u32::from(share.percent)).sum();
        if sum != 100 || shares.iter().any(|share| share.percent == 0) {
            let problem = format!("has shares that make {sum} %, not 100");
            return Err(ParseError::new(&text(), problem, HINT));
        }
        shares.sort_by_key(|share| share.size_bytes);
        if shares
            .windows(2)
            .any(|pair| pair[0].size_bytes == pair[1].size_bytes)
        {
            return Err(ParseError::new(&print(&shares), "names a size twice", HINT));
        }
        Ok(BlockSizes(shares))
    }

    /// All operations have the job's block size.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sizes, smallest first.
    pub fn shares(&self) -> &[BlockShare] {
        &self.0
    }

    /// The largest size, if any.
    pub fn largest_bytes(&self) -> Option<u64> {
        self.0.last().map(|share| share.size_bytes)
    }

    /// The mean size of an operation.
    pub fn mean_bytes(&self) -> Option<u64> {
        let sum = |share: &BlockShare| share.size_bytes.saturating_mul(u64::from(share.percent));
        let sums = self.0.iter().map(sum).fold(0, u64::saturating_add);
        (!self.0.is_empty()).then_some(sums / 100)
    }

    /// Splits off the sizes that are not multiples of a sector, which are dropped; the others keep
    /// their proportions. `None` if no size is left.
    pub fn for_sector(&self, sector_bytes: u64) -> Option<(BlockSizes, Vec<u64>)> {
        let fits = |share: &&BlockShare| share.size_bytes.is_multiple_of(sector_bytes.max(1));
        let fitting: Vec<BlockShare> = self.0.iter().filter(fits).copied().collect();
        let gone = self.0.iter().filter(|share| !fits(share));
        let gone: Vec<u64> = gone.map(|share| share.size_bytes).collect();
        if gone.is_empty() {
            return Some((self.clone(), gone));
        }
        let sum: u32 = fitting.iter().map(|share| u32::from(share.percent)).sum();
        // The rounding difference goes to the most frequent size.
        let scaled = |share: &BlockShare| BlockShare {
            percent: (u32::from(share.percent) * 100 / sum.max(1)).max(1) as u8,
            ..*share
        };
        let mut fitting: Vec<BlockShare> = fitting.iter().map(scaled).collect();
        let given: i32 = fitting.iter().map(|share| i32::from(share.percent)).sum();
        let most = fitting.iter_mut().max_by_key(|share| share.percent)?;
        most.percent = u8::try_from(i32::from(most.percent) + 100 - given).ok()?;
        Some((BlockSizes(fitting), gone))
    }
}

/// Alignment of operations of this size, in bytes.
pub const fn alignment_bytes(size_bytes: u64) -> u64 {
    if size_bytes == 0 {
        return 1;
    }
    1 << size_bytes.trailing_zeros()
}

fn print(shares: &[BlockShare]) -> String {
    let each = shares
        .iter()
        .map(|share| format!("{}:{}", ByteSize(share.size_bytes), share.percent));
    each.collect::<Vec<_>>().join(",")
}

impl fmt::Display for BlockSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&print(&self.0))
    }
}

impl FromStr for BlockSizes {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let shares = typed.split(',').map(|word| {
            let Some((size, percent)) = word.split_once(':') else {
                return Err(ParseError::new(word, "has no share after a colon", HINT));
            };
            let size: ByteSize = size.trim().parse()?;
            let percent = percent.trim();
            let number = parse_count(percent.strip_suffix('%').unwrap_or(percent))
                .ok()
                .and_then(|count| u8::try_from(count).ok())
                .filter(|count| (1..=100).contains(count));
            Ok(BlockShare {
                size_bytes: size.bytes(),
                percent: number
                    .ok_or_else(|| ParseError::new(word, "has no share of 1 to 100 %", HINT))?,
            })
        });
        BlockSizes::new(shares.collect::<Result<_, _>>()?)
    }
}

impl Serialize for BlockSizes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for BlockSizes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_reads_back() {
        for text in ["4K:60,64K:40", "512:10,1K:5,60K:85", "8K:100"] {
            let sizes: BlockSizes = text.parse().unwrap();
            assert_eq!(sizes.to_string(), text);
        }
    }

    #[test]
    fn shares_that_do_not_make_a_hundred_are_refused() {
        for text in [
            "4K:60,64K:30",
            "4K:60,64K",
            "4K:0,8K:100",
            "4K:50,4K:50",
            "4K:x",
            "",
            "4K:300",
        ] {
            let error = text.parse::<BlockSizes>().unwrap_err();
            assert!(
                error.hint().contains("4K:60,64K:40") || !error.hint().is_empty(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_larger_sector_takes_small_sizes_away_and_keeps_proportions() {
        let sizes: BlockSizes = "512:10,1K:5,2K:5,4K:60,8K:2,16K:4,32K:4,64K:10"
            .parse()
            .unwrap();
        let (fitting, gone) = sizes.for_sector(4096).unwrap();
        assert_eq!(gone, [512, 1024, 2048]);
        assert_eq!(fitting.to_string(), "4K:76,8K:2,16K:5,32K:5,64K:12");
        assert_eq!(sizes.for_sector(512), Some((sizes.clone(), Vec::new())));
        let small: BlockSizes = "512:100".parse().unwrap();
        assert_eq!(small.for_sector(4096), None);
    }

    #[test]
    fn operations_lie_at_the_largest_power_of_two_in_their_size() {
        for (size, alignment) in [(512, 512), (8192, 8192), (24 << 10, 8192), (60 << 10, 4096)] {
            assert_eq!(alignment_bytes(size), alignment);
        }
    }
}
