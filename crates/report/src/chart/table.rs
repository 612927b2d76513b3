//! The table behind a chart: the same values, in words.

use super::{Chart, Form, Panel, Point, Scale, Series};

/// Headings and cells, all text; the first column is the x axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartTable {
    /// One for each column, with units.
    pub headings: Vec<String>,
    /// As many cells as there are headings; empty where there is no value.
    pub rows: Vec<Vec<String>>,
}

impl Chart {
    /// All values of the chart: a row for each x, a column for each series of
    /// each panel. A heat map has a row for each x and a column for each y.
    #[must_use]
    pub fn table(&self) -> ChartTable {
        match self
            .panels
            .first()
            .map(|panel| (panel, panel.series.first()))
        {
            Some((panel, Some(series))) if matches!(series.form, Form::Cells { .. }) => {
                self.cells(panel, series)
            }
            Some((panel, Some(series))) if series.form == Form::Intervals => self.rows(panel),
            _ => self.lines(),
        }
    }

    fn lines(&self) -> ChartTable {
        let mut headings = vec![self.x.title.clone()];
        let mut places: Vec<f64> = Vec::new();
        for panel in &self.panels {
            for series in &panel.series {
                headings.push(heading(self, panel, series));
                places.extend(series.points.iter().map(|point| point.x));
            }
        }
        places.sort_by(f64::total_cmp);
        places.dedup();
        let rows = places
            .iter()
            .flat_map(|&x| (0..self.points_at(x)).map(move |turn| self.line(x, turn)));
        ChartTable {
            headings,
            rows: rows.collect(),
        }
    }

    /// A row for each name of the y axis, from the top.
    fn rows(&self, panel: &Panel) -> ChartTable {
        let mut headings = vec![panel.y.title.clone()];
        headings.extend(panel.series.iter().map(|series| series.name.clone()));
        let mut places: Vec<f64> = panel
            .series
            .iter()
            .flat_map(|series| series.points.iter().map(|point| point.y))
            .collect();
        places.sort_by(|a, b| b.total_cmp(a));
        places.dedup();
        let quantity = self.x.quantity;
        let row = |y: f64| {
            let mut cells = vec![name_of(&panel.y.scale, y).unwrap_or_default()];
            cells.extend(panel.series.iter().map(|series| {
                let point = series.points.iter().find(|point| point.y == y);
                point.map_or_else(String::new, |point| match point.span {
                    Some([low, high]) => format!(
                        "{} [{}, {}]",
                        quantity.format(point.x),
                        quantity.format(low),
                        quantity.format(high)
                    ),
                    None => quantity.format(point.x),
                })
            }));
            cells
        };
        ChartTable {
            headings,
            rows: places.into_iter().map(row).collect(),
        }
    }

    /// The most points that a series has at one x: as many rows it takes. Two
    /// loads may give the same throughput.
    fn points_at(&self, x: f64) -> usize {
        let series = self.panels.iter().flat_map(|panel| &panel.series);
        let counts = series.map(|one| one.points.iter().filter(|point| point.x == x).count());
        counts.max().unwrap_or(0)
    }

    /// The values at an x, of each series the one whose turn it is.
    fn line(&self, x: f64, turn: usize) -> Vec<String> {
        let mut cells =
            vec![name_of(&self.x.scale, x).unwrap_or_else(|| self.x.quantity.format(x))];
        for panel in &self.panels {
            for series in &panel.series {
                let mut at_x = series.points.iter().filter(|point| point.x == x);
                let point = at_x.nth(turn);
                cells.push(
                    point
                        .map(|point| value_of(panel, point))
                        .unwrap_or_default(),
                );
            }
        }
        cells
    }

    fn cells(&self, panel: &Panel, series: &Series) -> ChartTable {
        let sorted = |axis: fn(&Point) -> f64| {
            let mut places: Vec<f64> = series.points.iter().map(axis).collect();
            places.sort_by(f64::total_cmp);
            places.dedup();
            places
        };
        let (columns, rows) = (sorted(|point| point.y), sorted(|point| point.x));
        let quantity = series.value.unwrap_or(panel.y.quantity);
        let mut headings = vec![format!("{} \\ {}", self.x.title, panel.y.title)];
        headings.extend(
            columns
                .iter()
                .map(|&y| name_of(&panel.y.scale, y).unwrap_or_else(|| panel.y.quantity.format(y))),
        );
        let row = |&x: &f64| {
            let mut cells =
                vec![name_of(&self.x.scale, x).unwrap_or_else(|| self.x.quantity.format(x))];
            cells.extend(columns.iter().map(|&y| {
                let cell = series
                    .points
                    .iter()
                    .find(|point| point.x == x && point.y == y);
                let value = cell.and_then(|cell| cell.value);
                value
                    .map(|value| quantity.format(value))
                    .unwrap_or_default()
            }));
            cells
        };
        ChartTable {
            headings,
            rows: rows.iter().map(row).collect(),
        }
    }
}

fn name_of(scale: &Scale, value: f64) -> Option<String> {
    match scale {
        Scale::Names(names) => names.get(value.round().max(0.0) as usize).cloned(),
        _ => None,
    }
}

/// Series and unit; the panel's title where several panels have that series.
fn heading(chart: &Chart, panel: &Panel, series: &Series) -> String {
    let repeated = chart
        .panels
        .iter()
        .filter(|other| other.series.iter().any(|other| other.name == series.name))
        .count()
        > 1;
    let unit = panel.y.quantity.unit();
    match (
        series.name.is_empty() || series.name == panel.y.title,
        repeated,
    ) {
        (true, _) => panel.y.title.clone(),
        (false, true) => format!("{}: {}", panel.y.title, series.name),
        (false, false) if unit.is_empty() || series.name.contains(unit) => series.name.clone(),
        (false, false) => format!("{}, {unit}", series.name),
    }
}

fn value_of(panel: &Panel, point: &Point) -> String {
    let quantity = panel.y.quantity;
    let value = quantity.format(point.y);
    match point.span {
        Some([low, high]) => {
            format!(
                "{value} [{}, {}]",
                quantity.format(low),
                quantity.format(high)
            )
        }
        None => value,
    }
}
