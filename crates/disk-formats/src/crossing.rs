//! The crossing law: how many operations touch more than one stripe unit.
//!
//! Operations of `s` bytes start at multiples of `s` in a volume that starts `o` bytes into an
//! array with stripe unit `U`. Their starts modulo `U` run through `r, r + d, r + 2d...` with
//! `d = gcd(s, U)` and `r = o mod d`, each equally often, in a period of `U/d` operations. One
//! crosses a boundary when its start modulo `U` is above `U - s`; all do where `s > U`. So the
//! share is also exact where `s` does not divide `U`. For `s` that divides `U` and `r = 0` it is 0;
//! for other `r` it is `s/U`: 8K on 64K, one in 8.
//!
//! This is the only implementation: `disks` predicts the cost of an offset with it, and `align` and
//! `lab` compare measured costs to it.

use serde::Serialize;

/// Page size of Linux md's parity, and the usual page size elsewhere.
pub const PARITY_PAGE_BYTES: u64 = 4096;

/// Operations of one size against one stripe unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Crossing {
    /// Bytes of an operation.
    pub block_size_bytes: u64,
    /// Operations after which the pattern repeats.
    pub period: u64,
    /// Of those, operations that touch more than one stripe unit.
    pub crossing: u64,
    /// Stripe units touched by all operations of a period.
    pub units_touched: u128,
    /// Minimum stripe units for an operation of this size.
    pub units_least: u64,
}

impl Crossing {
    /// For operations of `block_size_bytes` at multiples of their size, where the volume starts
    /// `offset_bytes` into units of `unit_bytes`. `None` if a size is 0.
    pub fn new(block_size_bytes: u64, unit_bytes: u64, offset_bytes: u64) -> Option<Self> {
        if block_size_bytes == 0 || unit_bytes == 0 {
            return None;
        }
        let (size, unit) = (block_size_bytes, unit_bytes);
        let step = gcd(size, unit);
        let period = unit / step;
        let first = offset_bytes % step;
        // Number of starts first + j * step, j < period, above `limit`.
        let above = |limit: u64| {
            if limit >= first {
                period.saturating_sub((limit - first) / step + 1)
            } else {
                period
            }
        };
        let crossing = if size > unit {
            period
        } else {
            above(unit - size)
        };
        // An operation of a*U + b bytes touches a units, or one more if its last b bytes extend
        // into another: sum of floor((start + size - 1) / U) + 1.
        let (whole, rest) = (u128::from(size / unit), size % unit);
        let reaches_on = if rest == 0 {
            // Only a start on a boundary limits it to `whole` units.
            u128::from(period - u64::from(first == 0))
        } else {
            u128::from(period) + u128::from(above(unit - rest))
        };
        Some(Crossing {
            block_size_bytes,
            period,
            crossing,
            units_touched: whole * u128::from(period) + reaches_on,
            units_least: size.div_ceil(unit),
        })
    }

    /// Share of operations that cross, 0 to 1.
    pub fn share(&self) -> f64 {
        self.crossing as f64 / self.period as f64
    }

    /// Mean stripe units touched per operation.
    pub fn units_mean(&self) -> f64 {
        self.units_touched as f64 / self.period as f64
    }

    /// Mean stripe units touched per operation beyond the minimum for its size. Up to the stripe
    /// unit it is the share that crosses.
    pub fn excess(&self) -> f64 {
        let least = u128::from(self.units_least) * u128::from(self.period);
        (self.units_touched - least) as f64 / self.period as f64
    }

    /// `none`, `every`, `1 in 8`, `3 in 8`.
    pub fn words(&self) -> String {
        let step = gcd(self.crossing, self.period).max(1);
        match (self.crossing / step, self.period / step) {
            (0, _) => "none".to_owned(),
            (1, 1) => "every one".to_owned(),
            (some, all) => format!("{some} in {all}"),
        }
    }
}

/// Greatest common divisor.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The largest power of two that divides a number; `None` for 0, which every power divides.
pub fn power_of_two_in(number: u64) -> Option<u64> {
    (number != 0).then(|| 1 << number.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(size: u64, unit: u64, offset: u64) -> (u64, u64, u128) {
        let period = unit / gcd(size, unit);
        let mut crossing = 0;
        let mut touched = 0;
        for index in 0..period {
            let start = offset + index * size;
            let units = (start + size - 1) / unit - start / unit + 1;
            crossing += u64::from(units > 1);
            touched += u128::from(units);
        }
        (period, crossing, touched)
    }

    #[test]
    fn the_closed_form_is_what_counting_gives() {
        let mut cases = 0;
        for size in [1, 2, 3, 5, 8, 12, 16, 24, 64, 96, 128, 129] {
            for unit in [1, 4, 7, 16, 48, 64, 128] {
                for offset in (0..130).step_by(7).chain([63, 64, 36]) {
                    let found = Crossing::new(size, unit, offset).unwrap();
                    assert_eq!(
                        (found.period, found.crossing, found.units_touched),
                        counted(size, unit, offset),
                        "{size} on {unit} at {offset}"
                    );
                    let beyond = found.units_mean() - found.units_least as f64;
                    assert!((found.excess() - beyond).abs() < 1e-9);
                    if size <= unit {
                        assert_eq!(found.excess(), found.share());
                    }
                    cases += 1;
                }
            }
        }
        assert!(cases > 1_000);
    }

    #[test]
    fn the_cases_of_the_law_come_out_in_words() {
        const K: u64 = 1024;
        for (size, unit, offset, words) in [
            (8 * K, 64 * K, 63 * 512, "1 in 8"),
            (64 * K, 64 * K, 63 * 512, "every one"),
            (8 * K, 64 * K, 1 << 20, "none"),
            (8 * K, 64 * K, 36 * K, "1 in 8"),
            (4 * K, 64 * K, 36 * K, "none"),
            (8 * K, 16 * K, 63 * 512, "1 in 2"),
            (64 * K, 256 * K, 64 * K, "none"),
            (128 * K, 256 * K, 64 * K, "1 in 2"),
            // 24K does not divide 64K: 3 of 8 starts are above 40K.
            (24 * K, 64 * K, 0, "1 in 4"),
            (24 * K, 64 * K, 512, "3 in 8"),
        ] {
            let found = Crossing::new(size, unit, offset).unwrap();
            assert_eq!(found.words(), words, "{size} on {unit} at {offset}");
        }
        // Five units instead of four.
        assert_eq!(Crossing::new(64 * K, 16 * K, 0).unwrap().units_mean(), 4.0);
        assert_eq!(
            Crossing::new(64 * K, 16 * K, 512).unwrap().units_mean(),
            5.0
        );
    }

    #[test]
    fn what_is_touched_beyond_the_least_is_that_of_counting() {
        for (offset, block, unit, excess) in [
            (63 * 512, 8192, 65_536, 0.125),
            (63 * 512, 8192, 131_072, 0.0625),
            (65_536, 8192, 65_536, 0.0),
            (63 * 512, 512, 65_536, 0.0),
            (512, 12_288, 65_536, 0.1875),
            (4096, 65_536, 65_536, 1.0),
            // 256K over units of 64K must touch four; misaligned it touches five.
            (63 * 512, 262_144, 65_536, 1.0),
            (65_536, 262_144, 65_536, 0.0),
        ] {
            let found = Crossing::new(block, unit, offset).unwrap();
            assert_eq!(found.excess(), excess, "{block} on {unit} at {offset}");
        }
    }

    #[test]
    fn sizes_of_nothing_and_of_everything_do_no_harm() {
        assert_eq!(Crossing::new(0, 1, 1), None);
        assert_eq!(Crossing::new(1, 0, 1), None);
        for (size, unit) in [(u64::MAX, 1), (1, u64::MAX), (u64::MAX, u64::MAX)] {
            let found = Crossing::new(size, unit, u64::MAX).unwrap();
            assert!(found.crossing <= found.period);
            assert!((0.0..=1.0).contains(&found.excess()), "{size} on {unit}");
        }
        assert_eq!(power_of_two_in(0), None);
        assert_eq!(power_of_two_in(32_256), Some(512));
    }
}
