//! Removes what cannot be drawn from charts: imported records may contain any
//! number, and labels any text.

use crate::chart::{Annotation, Chart, Panel, Point, Scale};
use crate::plain::plain;

/// Keeps only values with a position on their axes, series and panels with
/// values, charts with panels, and text without control characters.
pub(super) fn keep(charts: &mut Vec<Chart>) {
    for chart in charts.iter_mut() {
        let x_scale = chart.x.scale.clone();
        for panel in &mut chart.panels {
            keep_of(panel, &x_scale);
        }
        chart.panels.retain(|panel| !panel.series.is_empty());
        words(chart);
    }
    charts.retain(|chart| !chart.panels.is_empty());
}

fn keep_of(panel: &mut Panel, x_scale: &Scale) {
    let y_scale = panel.y.scale.clone();
    let drawn = |point: &Point| {
        let of_cell = point.value.is_none_or(f64::is_finite);
        has_place(x_scale, point.x) && has_place(&y_scale, point.y) && of_cell
    };
    for series in &mut panel.series {
        series.points.retain(drawn);
        for point in &mut series.points {
            let ends = point.span;
            point.span = ends.filter(|ends| ends.iter().all(|end| end.is_finite()));
        }
    }
    panel.series.retain(|series| !series.points.is_empty());
    panel.annotations.retain(|annotation| match annotation {
        Annotation::AtX { x, .. } => has_place(x_scale, *x),
        Annotation::RangeX { from, to, .. } => has_place(x_scale, *from) && has_place(x_scale, *to),
        Annotation::AtY { y, .. } | Annotation::AboveY { y } => has_place(&y_scale, *y),
        Annotation::AtPoint { x, y, .. } | Annotation::Bound { x, y, .. } => {
            has_place(x_scale, *x) && has_place(&y_scale, *y)
        }
    });
}

fn has_place(scale: &Scale, value: f64) -> bool {
    let positive = value > 0.0 || !matches!(scale, Scale::Log10 | Scale::Log2);
    value.is_finite() && positive
}

fn words(chart: &mut Chart) {
    let clean = |text: &mut String| *text = plain(text);
    clean(&mut chart.title);
    clean(&mut chart.summary);
    let axes =
        std::iter::once(&mut chart.x).chain(chart.panels.iter_mut().map(|panel| &mut panel.y));
    for axis in axes {
        clean(&mut axis.title);
        if let Scale::Names(names) = &mut axis.scale {
            names.iter_mut().for_each(clean);
        }
    }
    for panel in &mut chart.panels {
        panel
            .series
            .iter_mut()
            .for_each(|series| clean(&mut series.name));
        for annotation in &mut panel.annotations {
            match annotation {
                Annotation::AtX { label, .. }
                | Annotation::RangeX { label, .. }
                | Annotation::AtY { label, .. }
                | Annotation::Bound { label, .. }
                | Annotation::AtPoint { label, .. } => clean(label),
                Annotation::AboveY { .. } => {}
            }
        }
    }
}
