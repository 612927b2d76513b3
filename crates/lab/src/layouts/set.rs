//! Factors, and the set of their combinations.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stripewise_results::{FactorRecord, LayoutLevels};
use stripewise_units::{InputError, with_raid_words};

/// Maximum number of layouts in one experiment; far more than can be made in a night.
const COMBINATIONS_MAX: usize = 256;

/// What is varied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Factor {
    /// `offset`, `stripe-unit`.
    pub name: String,
    /// As typed; at least two.
    pub levels: Vec<String>,
}

/// A combination that cannot exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LeftOut {
    /// Its levels.
    pub layout: LayoutLevels,
    /// Why.
    pub why: String,
}

/// The layouts of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LayoutSet {
    /// What is varied.
    pub factors: Vec<Factor>,
    /// Of each layout, the index of a level for each factor.
    pub layouts: Vec<Vec<usize>>,
    /// Combinations that cannot exist.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

impl LayoutSet {
    /// All combinations except those for which `cannot` returns a reason, the last factor fastest.
    ///
    /// # Errors
    /// If a factor has only one level, two equal ones, or appears twice; if there are more
    /// than 256 combinations, or fewer than two can exist.
    pub fn full(
        factors: Vec<Factor>,
        cannot: impl Fn(&LayoutLevels) -> Option<String>,
    ) -> Result<LayoutSet, InputError> {
        check(&factors)?;
        let counts = factors.iter().map(|factor| factor.levels.len());
        let combinations = counts.fold(1, usize::saturating_mul);
        if combinations > COMBINATIONS_MAX {
            return Err(InputError::new(
                format!("the factors have {combinations} combinations"),
                format!("leave levels out: at most {COMBINATIONS_MAX} can be tried"),
            ));
        }
        let mut set = LayoutSet {
            factors,
            layouts: Vec::new(),
            left_out: Vec::new(),
        };
        for number in 0..combinations {
            let levels = set.combination(number);
            let named = set.named(&levels);
            match cannot(&named) {
                None => set.layouts.push(levels),
                Some(why) => set.left_out.push(LeftOut { layout: named, why }),
            }
        }
        if set.layouts.len() < 2 {
            let why = set.left_out.first().map_or("", |left| left.why.as_str());
            return Err(InputError::new(
                format!("fewer than two of the layouts can exist: {why}"),
                "name levels that can be made here",
            ));
        }
        Ok(set)
    }

    /// The levels of combination `number`, the last factor fastest.
    fn combination(&self, number: usize) -> Vec<usize> {
        let mut rest = number;
        let mut levels = vec![0; self.factors.len()];
        for (level, factor) in levels.iter_mut().zip(&self.factors).rev() {
            *level = rest % factor.levels.len();
            rest /= factor.levels.len();
        }
        levels
    }

    fn named(&self, levels: &[usize]) -> LayoutLevels {
        let pairs = self.factors.iter().zip(levels);
        pairs
            .map(|(factor, &level)| (factor.name.clone(), factor.levels[level].clone()))
            .collect()
    }

    /// Number of layouts.
    pub fn len(&self) -> usize {
        self.layouts.len()
    }

    /// There are none; a checked plan always has some.
    pub fn is_empty(&self) -> bool {
        self.layouts.is_empty()
    }

    /// Levels that no layout has, each with the reason: `offset 63: ...`.
    pub fn levels_left_out(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (number, factor) in self.factors.iter().enumerate() {
            for (index, level) in factor.levels.iter().enumerate() {
                let has_layout = self.layouts.iter().any(|layout| layout[number] == index);
                let mut left_out = self.left_out.iter();
                let of_level = left_out.find(|left| left.layout.get(&factor.name) == Some(level));
                if let Some(left) = of_level.filter(|_| !has_layout) {
                    let name = factor.name.replace('-', " ");
                    let level = with_raid_words(&format!("{name} {level}"));
                    all.push(format!("{level}: {}", left.why));
                }
            }
        }
        all
    }

    /// The level names of a layout.
    pub fn levels(&self, layout: usize) -> LayoutLevels {
        self.named(&self.layouts[layout])
    }

    /// A layout as text: `offset 1M, stripe unit 64K`.
    pub fn words(&self, layout: usize) -> String {
        words_of(&self.factors, &self.levels(layout))
    }

    /// The layout with these levels.
    pub fn position(&self, levels: &LayoutLevels) -> Option<usize> {
        (0..self.len()).find(|&layout| self.levels(layout) == *levels)
    }

    /// The layout that differs from this one in these factors' levels only.
    pub(super) fn varied(&self, layout: usize, factors: &[usize], to: &[usize]) -> Option<usize> {
        let mut wanted = self.layouts[layout].clone();
        for (&factor, &level) in factors.iter().zip(to) {
            wanted[factor] = level;
        }
        self.layouts.iter().position(|levels| *levels == wanted)
    }

    /// The levels of a layout for all factors but these.
    pub(super) fn other_levels(&self, layout: usize, factors: &[usize]) -> LayoutLevels {
        let mut levels = self.levels(layout);
        for &factor in factors {
            levels.remove(&self.factors[factor].name);
        }
        levels
    }

    /// The factors as records.
    pub fn records(&self) -> Vec<FactorRecord> {
        let record = |factor: &Factor| FactorRecord {
            name: factor.name.clone(),
            levels: factor.levels.clone(),
        };
        self.factors.iter().map(record).collect()
    }
}

/// Levels as text, in the order of the factors.
pub(super) fn words_of(factors: &[Factor], levels: &BTreeMap<String, String>) -> String {
    let each = factors.iter().filter_map(|factor| {
        let level = levels.get(&factor.name)?;
        Some(format!("{} {level}", factor.name.replace('-', " ")))
    });
    each.collect::<Vec<_>>().join(", ")
}

fn check(factors: &[Factor]) -> Result<(), InputError> {
    if factors.is_empty() {
        return Err(InputError::new(
            "there is no factor, so nothing would differ",
            "name one with two levels or more: offset = [\"63s\", \"1M\"]",
        ));
    }
    for (number, factor) in factors.iter().enumerate() {
        let name = &factor.name;
        if factors[..number].iter().any(|other| other.name == *name) {
            return Err(InputError::new(
                format!("the factor {name} is given twice"),
                "put all its levels into one list",
            ));
        }
        if factor.levels.len() < 2 {
            return Err(InputError::new(
                format!("the factor {name} has one level only"),
                "give it two levels or more, or leave it out",
            ));
        }
        for (index, level) in factor.levels.iter().enumerate() {
            if factor.levels[..index].contains(level) {
                return Err(InputError::new(
                    format!("the factor {name} has the level {level} twice"),
                    "name each level once",
                ));
            }
        }
    }
    Ok(())
}
