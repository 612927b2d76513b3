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

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Bound::AtMost(most) => value <= most,
            Bound::AtLeast(least) => value >= least,
            Bound::None => true,
        }
    }
}

#[derive(Clone, Debug)]
struct Line {
    claim: String,
    bound: Bound,
    decimals: usize,
    values: Vec<f64>,
}

/// Filled seed by seed: every seed reports the same claims.
#[derive(Clone, Debug)]
pub struct Table {
    seeds: Vec<u64>,
    lines: Vec<Line>,
}

impl Table {
    pub fn new(seeds: &[u64]) -> Self {
        Table {
            seeds: seeds.to_vec(),
            lines: Vec::new(),
        }
    }

    /// One seed's figure.
    pub fn state(&mut self, claim: &str, value: f64, decimals: usize, bound: Bound) {
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
        self.lines
            .iter()
            .all(|line| line.values.iter().all(|&value| line.bound.holds(value)))
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
                write!(f, " {value:>9.*}", line.decimals)?;
            }
            match line.bound {
                Bound::AtMost(most) => write!(f, "  at most {most}")?,
                Bound::AtLeast(least) => write!(f, "  at least {least}")?,
                Bound::None => {}
            }
            let missed = line.values.iter().any(|&value| !line.bound.holds(value));
            writeln!(f, "{}", if missed { "  MISSED" } else { "" })?;
        }
        Ok(())
    }
}
