//! The pictures of a report: the summary card of a bench, small multiples of
//! maps with a common scale, and the charts.

use crate::card::{Card, card};
use crate::chart::Chart;
use crate::crystaldiskmark::are_like_runs;
use crate::material::Material;
use crate::sheet::Sheet;
use crate::sheets::{RunsLook, checked_sheet, runs_sheet};

/// A standalone picture.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// The summary of a bench.
    Card(Box<Card>),
    /// A verdict with its table.
    Sheet(Box<Sheet>),
    /// A chart.
    Chart(Box<Chart>),
    /// All maps with a common scale side by side.
    Multiples(Box<Multiples>),
}

/// Maps with a common scale in one picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Multiples {
    /// The chart whose text and cautions apply to all of them.
    pub(crate) head: Chart,
    /// Name and map of each.
    pub(crate) maps: Vec<(String, Chart)>,
}

impl Picture {
    /// Its name, unique in its report.
    pub fn name(&self) -> &str {
        match self {
            Picture::Card(_) | Picture::Sheet(_) => "summary",
            Picture::Chart(chart) => &chart.name,
            Picture::Multiples(all) => &all.head.name,
        }
    }
}

/// The pictures of a report, the most telling first.
pub fn pictures(material: &Material) -> Vec<Picture> {
    let card = summary(material);
    let charts = crate::charts(material);
    let multiples = multiples(&charts);
    let first_map = charts.iter().position(Chart::is_map);
    let mut pictures: Vec<Picture> = card.into_iter().collect();
    for (index, chart) in charts.into_iter().enumerate() {
        if first_map == Some(index) {
            pictures.extend(multiples.iter().cloned());
        }
        pictures.push(Picture::Chart(Box::new(chart)));
    }
    pictures
}

/// Maximum number of rows of comparisons in one picture.
const COMPARED_MAX: usize = 16;

/// The main result: for a bench its card. A comparison takes precedence over the benches that
/// it compares.
fn summary(material: &Material) -> Option<Picture> {
    let document = &material.document;
    let sheet = |sheet: Sheet| Some(Picture::Sheet(Box::new(sheet)));
    let comparisons = &document.comparisons;
    let rows: usize = comparisons.iter().map(|one| one.rows.len()).sum();
    match rows {
        0 if document.series.is_empty() && are_like_runs(&document.runs) => {
            sheet(runs_sheet(document, &RunsLook::default()))
        }
        0 => card(material).map(|card| Picture::Card(Box::new(card))),
        1..=COMPARED_MAX => {
            // Requirements matter as much as changes.
            let required = &document.requirements;
            sheet(checked_sheet(comparisons, required, &document.runs, false))
        }
        _ => None,
    }
}

/// All maps with a common scale, if there are several.
fn multiples(charts: &[Chart]) -> Option<Picture> {
    let maps: Vec<&Chart> = charts.iter().filter(|chart| chart.is_map()).collect();
    let [first, _, ..] = maps[..] else {
        return None;
    };
    let parts = |chart: &Chart| {
        let parts = chart.title.rsplit_once(": ");
        parts.map_or_else(
            || (chart.title.clone(), chart.title.clone()),
            |(name, what)| (name.to_owned(), what.to_owned()),
        )
    };
    let what = stripewise_units::capitalised(&parts(first).1);
    let best = maps.iter().copied().map(|map| (map, most(map)));
    let (best, _) = best.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let summary = format!(
        "{}: {}. The same shade is the same rate in all maps.",
        parts(best).0,
        best.summary
            .split(". ")
            .next()
            .unwrap_or_default()
            .trim_end_matches('.')
    );
    let head = Chart {
        name: "small-multiples".to_owned(),
        title: format!("{what}, {} kinds of I/O", maps.len()),
        summary,
        ..first.clone()
    };
    let maps = maps.into_iter().map(|map| (parts(map).0, map.clone()));
    Some(Picture::Multiples(Box::new(Multiples {
        head,
        maps: maps.collect(),
    })))
}

/// The largest value of a map.
fn most(map: &Chart) -> f64 {
    let series = map.panels.iter().flat_map(|panel| &panel.series);
    let cells = series.flat_map(|series| &series.points);
    cells.filter_map(|cell| cell.value).fold(0.0, f64::max)
}
