//! The table of results: a line per claim, a column per seed.

use std::fmt;

/// A bound on a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
    /// Reported without a bound.
    None,
}

/// Of few trials, a share misses its bound where a truth at the bound would give such a one in
/// fewer of all cases than this: a study has a hundred shares.
const CHANCE_MIN: f64 = 1e-3;

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Bound::AtMost(most) => value <= most,
            Bound::AtLeast(least) => value >= least,
            Bound::None => true,
        }
    }

    /// Whether a truth at the bound gives this share, in per cent, or a worse one by chance.
    fn gives_by_chance(self, value: f64, trials: usize) -> bool {
        let wrong = |percent: f64| match self {
            Bound::AtLeast(_) => 1.0 - percent / 100.0,
            Bound::AtMost(_) | Bound::None => percent / 100.0,
        };
        let (Bound::AtMost(bound) | Bound::AtLeast(bound)) = self else {
            return true;
        };
        let count = (wrong(value) * trials as f64).round() as usize;
        at_least(count, trials, wrong(bound)) >= CHANCE_MIN
    }
}

/// Probability of so many of some trials, or more, each with this probability between 0 and 1.
fn at_least(count: usize, trials: usize, each: f64) -> f64 {
    let mut log = trials as f64 * (-each).ln_1p();
    let mut fewer = 0.0;
    for number in 0..count {
        fewer += log.exp();
        log += ((trials - number) as f64 / (number + 1) as f64).ln() + (each / (1.0 - each)).ln();
    }
    1.0 - fewer
}

#[derive(Clone, Debug)]
struct Value {
    value: f64,
    /// It misses the bound.
    is_miss: bool,
}

#[derive(Clone, Debug)]
struct Line {
    claim: String,
    bound: Bound,
    decimals: usize,
    values: Vec<Value>,
}

/// Filled seed by seed: every seed reports the same claims.
#[derive(Clone, Debug)]
pub struct Table {
    seeds: Vec<u64>,
    /// Only a part of the trials is made.
    is_part: bool,
    lines: Vec<Line>,
}

impl Table {
    pub fn new(seeds: &[u64], is_part: bool) -> Self {
        Table {
            seeds: seeds.to_vec(),
            is_part,
            lines: Vec::new(),
        }
    }

    /// One seed's figure.
    pub fn state(&mut self, claim: &str, value: f64, decimals: usize, bound: Bound) {
        let is_miss = !bound.holds(value);
        self.add(claim, Value { value, is_miss }, decimals, bound);
    }

    /// One seed's share of so many trials that do not depend on each other, in per cent. Where
    /// only a part of them is made, chance alone misses no bound.
    pub fn state_share(&mut self, claim: &str, value: f64, trials: usize, bound: Bound) {
        let by_chance = self.is_part && bound.gives_by_chance(value, trials);
        let is_miss = !bound.holds(value) && !by_chance;
        self.add(claim, Value { value, is_miss }, 1, bound);
    }

    fn add(&mut self, claim: &str, value: Value, decimals: usize, bound: Bound) {
        match self.lines.iter_mut().find(|line| line.claim == claim) {
            Some(line) => line.values.push(value),
            None => self.lines.push(Line {
                claim: claim.to_owned(),
                bound,
                decimals,
                values: vec![value],
            }),
        }
    }

    pub fn passed(&self) -> bool {
        let mut values = self.lines.iter().flat_map(|line| &line.values);
        !values.any(|value| value.is_miss)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = |line: &Line| line.claim.chars().count();
        let width = self.lines.iter().map(widest).max().unwrap_or(0);
        write!(f, "{:width$}", "")?;
        for seed in &self.seeds {
            write!(f, " {:>9}", format!("#{seed}"))?;
        }
        writeln!(f, "  must be")?;
        for line in &self.lines {
            write!(f, "{:width$}", line.claim)?;
            for value in &line.values {
                write!(f, " {:>9.*}", line.decimals, value.value)?;
            }
            match line.bound {
                Bound::AtMost(most) => write!(f, "  at most {most}")?,
                Bound::AtLeast(least) => write!(f, "  at least {least}")?,
                Bound::None => {}
            }
            let missed = line.values.iter().any(|value| value.is_miss);
            writeln!(f, "{}", if missed { "  MISSED" } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_has_its_binomial_probability() {
        for (count, trials, each, expected) in [
            (0, 10, 0.5, 1.0),
            (10, 10, 0.5, 1.0 / 1_024.0),
            (1, 20, 0.02, 1.0 - 0.98_f64.powi(20)),
            (2, 3, 0.1, 0.028),
        ] {
            let found = at_least(count, trials, each);
            assert!(
                (found - expected).abs() < 1e-9,
                "{count} of {trials}: {found}"
            );
        }
        // Thousands of trials, whose probabilities are too small by themselves.
        assert!((at_least(500, 1_000, 0.5) - 0.5126).abs() < 1e-3);
    }

    #[test]
    fn few_trials_miss_no_bound_by_chance_and_all_of_them_keep_it() {
        let missed = |is_part, value, trials, bound| {
            let mut table = Table::new(&[1], is_part);
            table.state_share("share", value, trials, bound);
            !table.passed()
        };
        let least = Bound::AtLeast(95.0);
        assert!(!missed(true, 90.0, 20, least) && missed(false, 90.0, 20, least));
        assert!(missed(true, 70.0, 20, least));
        assert!(!missed(true, 100.0, 20, least));
        let most = Bound::AtMost(3.0);
        assert!(!missed(true, 10.0, 20, most) && missed(false, 10.0, 20, most));
        assert!(missed(true, 40.0, 20, most));
        assert!(missed(false, 94.9, 1_000, least));
        assert!(!missed(true, 5.0, 20, Bound::None));
    }
}
