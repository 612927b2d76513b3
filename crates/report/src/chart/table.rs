//! The table behind a chart: the same values as text.

use super::{Chart, Form, Panel, Point, Scale, Series};

/// Headings and cells as text; the first column is the x axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartTable {
    /// One per column, with units.
    pub headings: Vec<String>,
    /// As many cells as headings; empty if there is no value.
    pub rows: Vec<Vec<String>>,
}

impl Chart {
    /// Whether it is a map whose shades share a scale with others.
    pub(crate) fn is_map(&self) -> bool {
        let mut series = self.panels.iter().flat_map(|panel| &panel.series);
        series.any(|series| series.darkest.is_some())
    }

    /// All values of the chart: a row for each x, a column for each series of
    /// each panel. A heat map has a row for each x and a column for each y.
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
        let series = self.panels.iter().flat_map(|panel| {
            let of_panel = panel.series.iter();
            of_panel.map(move |series| (panel, Sorted::by(&series.points, |point| point.x)))
        });
        let series: Vec<(&Panel, Sorted<'_>)> = series.collect();
        let rows = places.into_iter().flat_map(|x| self.lines_at(x, &series));
        ChartTable {
            headings,
            rows: rows.collect(),
        }
    }

    /// As many rows as the series with the most points at this x: two loads may have the same
    /// throughput.
    fn lines_at(&self, x: f64, series: &[(&Panel, Sorted<'_>)]) -> Vec<Vec<String>> {
        let at_x = series.iter().map(|(panel, points)| (panel, points.at(x)));
        let at_x: Vec<(&&Panel, &[&Point])> = at_x.collect();
        let count = at_x.iter().map(|(_, points)| points.len()).max();
        let name = || name_of(&self.x.scale, x).unwrap_or_else(|| self.x.quantity.format(x));
        let line = |turn: usize| {
            let values = at_x.iter().map(|(panel, points)| {
                let point = points.get(turn);
                point
                    .map(|point| value_of(panel, point))
                    .unwrap_or_default()
            });
            std::iter::once(name()).chain(values).collect()
        };
        (0..count.unwrap_or(0)).map(line).collect()
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
        let series = panel.series.iter();
        let series: Vec<Sorted<'_>> = series
            .map(|one| Sorted::by(&one.points, |point| point.y))
            .collect();
        let row = |y: f64| {
            let mut cells = vec![name_of(&panel.y.scale, y).unwrap_or_default()];
            cells.extend(series.iter().map(|points| {
                points
                    .at(y)
                    .first()
                    .map_or_else(String::new, |point| match point.span {
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

    fn cells(&self, panel: &Panel, series: &Series) -> ChartTable {
        let sorted = |axis: fn(&Point) -> f64| {
            let mut places: Vec<f64> = series.points.iter().map(axis).collect();
            places.sort_by(f64::total_cmp);
            places.dedup();
            places
        };
        let (columns, rows) = (sorted(|point| point.y), sorted(|point| point.x));
        let quantity = series.value.unwrap_or(panel.y.quantity);
        let points = Sorted::by(&series.points, |point| point.x);
        let mut headings = vec![format!("{} \\ {}", self.x.title, panel.y.title)];
        headings.extend(
            columns
                .iter()
                .map(|&y| name_of(&panel.y.scale, y).unwrap_or_else(|| panel.y.quantity.format(y))),
        );
        let row = |&x: &f64| {
            let mut cells =
                vec![name_of(&self.x.scale, x).unwrap_or_else(|| self.x.quantity.format(x))];
            let of_row = Sorted::by(points.at(x).iter().copied(), |point| point.y);
            cells.extend(columns.iter().map(|&y| {
                let cell = of_row.at(y).first();
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

/// Points sorted by position on an axis, stable for equal positions. A table searches for
/// each position, and a history has tens of thousands.
struct Sorted<'a> {
    points: Vec<&'a Point>,
    axis: fn(&Point) -> f64,
}

impl<'a> Sorted<'a> {
    fn by(points: impl IntoIterator<Item = &'a Point>, axis: fn(&Point) -> f64) -> Sorted<'a> {
        let mut points: Vec<&Point> = points.into_iter().collect();
        points.sort_by(|a, b| axis(a).total_cmp(&axis(b)));
        Sorted { points, axis }
    }

    /// The points at this position.
    fn at(&self, place: f64) -> &[&'a Point] {
        let from = self
            .points
            .partition_point(|point| (self.axis)(point) < place);
        let behind = self
            .points
            .partition_point(|point| (self.axis)(point) <= place);
        self.points.get(from..behind).unwrap_or_default()
    }
}

fn name_of(scale: &Scale, value: f64) -> Option<String> {
    match scale {
        Scale::Names(names) => names.get(value.round().max(0.0) as usize).cloned(),
        _ => None,
    }
}

/// Series and unit; the panel's title if several panels have that series.
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
