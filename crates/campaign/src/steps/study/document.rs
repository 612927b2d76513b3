//! Published and new figures side by side.

use super::designs::{Study, StudyDesign, words};
use serde::Serialize;
use stripewise_results::SCHEMA_VERSION;

/// A repeated study.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StudyDocument {
    /// Version of the document.
    pub schema_version: u32,
    /// The series that its runs are kept under.
    pub id: String,
    /// Its name.
    pub study: String,
    /// What it is, in a line.
    pub about: String,
    /// What it was repeated on.
    pub target: String,
    /// `complete`, or `partial` where it was interrupted.
    pub status: &'static str,
    /// Its tables.
    pub tables: Vec<StudyTable>,
    /// What the model does not explain; empty on real targets.
    pub unexplained: Vec<String>,
    /// What must be known.
    pub notes: Vec<String>,
}

/// A table of a study.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StudyTable {
    /// What its levels are.
    pub factor: String,
    /// Its levels; the last is held against the first.
    pub levels: Vec<String>,
    /// A row for each workload.
    pub rows: Vec<StudyRow>,
    /// Mean of the absolute differences of own rates from published ones, per cent;
    /// absent where none was printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_difference_percent: Option<f64>,
}

/// A row of a table.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StudyRow {
    /// The workload in words.
    pub cell: String,
    /// By level.
    pub rates: Vec<StudyRate>,
    /// Of the last level over the first, as printed or from printed rates.
    pub published_gain_percent: Option<f64>,
    /// The same of own rates.
    pub own_gain_percent: Option<f64>,
}

/// A rate beside the printed one.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StudyRate {
    /// Operations a second, as printed.
    pub published_iops: Option<f64>,
    /// Operations a second here; absent where it was not measured.
    pub own_iops: Option<f64>,
    /// Own less published, per cent of published.
    pub difference_percent: Option<f64>,
}

fn percent(new: Option<f64>, old: Option<f64>) -> Option<f64> {
    let (new, old) = new.zip(old).filter(|(_, old)| *old > 0.0)?;
    Some(100.0 * (new / old - 1.0))
}

impl StudyTable {
    /// From new rates by row, then by level.
    pub fn of(design: &StudyDesign, own: &[Vec<Option<f64>>]) -> StudyTable {
        let rows: Vec<StudyRow> = design
            .rows
            .iter()
            .zip(own)
            .map(|(row, own)| {
                let rate = |(published, own): (&Option<f64>, &Option<f64>)| StudyRate {
                    published_iops: *published,
                    own_iops: *own,
                    difference_percent: percent(*own, *published),
                };
                let gain = |rates: &[Option<f64>]| {
                    let several = rates.len() > 1;
                    let (first, last) = (rates.first()?, rates.last()?);
                    several.then(|| percent(*last, *first)).flatten()
                };
                StudyRow {
                    cell: words(&row.workload),
                    rates: row.published.iter().zip(own).map(rate).collect(),
                    published_gain_percent: row.gain_percent.or_else(|| gain(&row.published)),
                    own_gain_percent: gain(own),
                }
            })
            .collect();
        let differences: Vec<f64> = rows
            .iter()
            .flat_map(|row| &row.rates)
            .filter_map(|rate| rate.difference_percent.map(f64::abs))
            .collect();
        let count = differences.len() as f64;
        StudyTable {
            factor: design.factor.name().to_owned(),
            levels: design.levels.clone(),
            mean_difference_percent: (!differences.is_empty())
                .then(|| differences.iter().sum::<f64>() / count),
            rows,
        }
    }
}

impl StudyDocument {
    /// Whether anything was measured.
    pub fn has_figures(&self) -> bool {
        let rows = self.tables.iter().flat_map(|table| &table.rows);
        rows.flat_map(|row| &row.rates)
            .any(|rate| rate.own_iops.is_some())
    }

    /// Without tables yet.
    pub fn new(study: &Study, id: &str, target: &str, is_simulated: bool) -> StudyDocument {
        let unexplained = study.unexplained.iter().filter(|_| is_simulated);
        StudyDocument {
            schema_version: SCHEMA_VERSION,
            id: id.to_owned(),
            study: study.name.to_owned(),
            about: study.about.to_owned(),
            target: target.to_owned(),
            status: "complete",
            tables: Vec::new(),
            unexplained: unexplained.map(|text| (*text).to_owned()).collect(),
            notes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::designs::study;
    use super::*;

    #[test]
    fn own_figures_stand_beside_the_printed_ones_with_their_differences() {
        let study = study("oja-nisula-2007", false).unwrap();
        let design = &study.tables[0];
        let own: Vec<Vec<Option<f64>>> = design
            .rows
            .iter()
            .map(|row| row.published.iter().map(|p| p.map(|p| 1.1 * p)).collect())
            .collect();
        let table = StudyTable::of(design, &own);
        assert!((table.mean_difference_percent.unwrap() - 10.0).abs() < 1e-9);
        let first = &table.rows[0];
        assert!((first.published_gain_percent.unwrap() - 47.11).abs() < 0.01);
        assert!((first.own_gain_percent.unwrap() - 47.11).abs() < 0.01);
        let none = vec![vec![None; 2]; design.rows.len()];
        let table = StudyTable::of(design, &none);
        assert_eq!(table.mean_difference_percent, None);
        assert_eq!(table.rows[0].own_gain_percent, None);
    }
}
