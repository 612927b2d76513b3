//! The pictures of a report: the summary card where there is a bench, and the charts.

use crate::card::{Card, card};
use crate::chart::Chart;
use crate::material::Material;

/// Something that is drawn as a picture of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// The summary of a bench.
    Card(Box<Card>),
    /// A chart.
    Chart(Box<Chart>),
}

impl Picture {
    /// Its name, unique in its report.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Picture::Card(_) => "summary",
            Picture::Chart(chart) => &chart.name,
        }
    }
}

/// The pictures of a report, the most telling first.
#[must_use]
pub fn pictures(material: &Material) -> Vec<Picture> {
    // A comparison answers more than the benches that it compares.
    let has_card = material.document.comparisons.is_empty();
    let card = card(material).filter(|_| has_card);
    let card = card.map(|card| Picture::Card(Box::new(card)));
    let charts = crate::charts(material).into_iter();
    card.into_iter()
        .chain(charts.map(|chart| Picture::Chart(Box::new(chart))))
        .collect()
}
