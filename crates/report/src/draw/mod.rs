//! The static renderer: a chart as SVG through plotters, and from it PNG.
//!
//! What plotters is used for is drawing: its SVG back end takes lines, areas and
//! text. Where things go is decided here, from [`crate::Chart`] and the widths of
//! the embedded font, so that no label runs into another. The same chart gives
//! the same bytes.

mod annotate;
mod canvas;
mod font;
mod label;
mod marks;
mod palette;
mod picture;
mod place;

pub use palette::{PALETTE_DARK, PALETTE_LIGHT};
pub use picture::{PictureError, png};

use crate::chart::{Axis, Chart, Form, Panel, Tick, ticks};
use canvas::{Anchor, Canvas};
use palette::{CAUTION, FAINT, GRID, INK, MUTED};
use place::Frame;

/// Width of a picture in pixels.
const WIDTH: f64 = 960.0;
const MARGIN: f64 = 28.0;
const TITLE_SIZE: f64 = 19.0;
const CAUTION_SIZE: f64 = 16.0;
const TEXT_SIZE: f64 = 13.0;
const SMALL_SIZE: f64 = 12.0;
const LINE: f64 = 18.0;

/// A chart as an SVG picture, 960 pixels wide, on white.
#[must_use]
pub fn svg(chart: &Chart) -> String {
    let summary = font::wrapped(&chart.summary, TEXT_SIZE, WIDTH - 2.0 * MARGIN);
    let title = font::wrapped(&chart.title, TITLE_SIZE, WIDTH - 2.0 * MARGIN);
    let cautions: Vec<String> = chart
        .cautions
        .iter()
        .flat_map(|caution| font::wrapped(caution, CAUTION_SIZE, WIDTH - 2.0 * MARGIN))
        .collect();
    let warned = MARGIN + title.len() as f64 * (TITLE_SIZE + 6.0);
    let under = warned + cautions.len() as f64 * (CAUTION_SIZE + 6.0);
    let head = under + summary.len() as f64 * LINE;
    let heights = panel_heights(chart);
    let height = head + heights.iter().sum::<f64>() + MARGIN * 0.5;
    let mut canvas = Canvas::new(WIDTH, height);
    for (index, line) in title.iter().enumerate() {
        let y = MARGIN + index as f64 * (TITLE_SIZE + 6.0);
        canvas.text((MARGIN, y), line, TITLE_SIZE, INK, Anchor::Start);
    }
    for (index, line) in cautions.iter().enumerate() {
        let y = warned + index as f64 * (CAUTION_SIZE + 6.0);
        canvas.text((MARGIN, y), line, CAUTION_SIZE, CAUTION, Anchor::Start);
    }
    for (index, line) in summary.iter().enumerate() {
        let y = under + index as f64 * LINE;
        canvas.text((MARGIN, y), line, TEXT_SIZE, MUTED, Anchor::Start);
    }
    let (left, right) = sides(chart);
    let mut top = head;
    for (index, (panel, height)) in chart.panels.iter().zip(&heights).enumerate() {
        let last = index + 1 == chart.panels.len();
        let area = Area {
            left: MARGIN + left,
            right: WIDTH - MARGIN - right,
            top: top + 40.0,
            bottom: top + height - if last { 50.0 } else { 14.0 },
        };
        draw_panel(&mut canvas, chart, panel, &area, last);
        top += height;
    }
    canvas.finish(&chart.title, &chart.summary)
}

/// Charts as one SVG picture, one below the other.
#[must_use]
pub fn svg_of_all(charts: &[Chart]) -> String {
    let pictures: Vec<String> = charts.iter().map(svg).collect();
    let height_of = |picture: &str| -> f64 {
        let height = picture
            .split(" height=\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        height.and_then(|height| height.parse().ok()).unwrap_or(0.0)
    };
    let total: f64 = pictures.iter().map(|picture| height_of(picture)).sum();
    let mut all = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{total}\" role=\"img\">\n"
    );
    let mut top = 0.0;
    for picture in &pictures {
        all.push_str(&picture.replacen("<svg ", &format!("<svg y=\"{top}\" "), 1));
        top += height_of(picture);
    }
    all.push_str("</svg>\n");
    all
}

/// The inside of a panel in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

fn panel_heights(chart: &Chart) -> Vec<f64> {
    let last = chart.panels.len().saturating_sub(1);
    (0..chart.panels.len())
        .map(|index| {
            let inside = match chart.panels.len() {
                1 => 340.0,
                2 => 220.0,
                _ => 165.0,
            };
            inside + 40.0 + if index == last { 50.0 } else { 14.0 }
        })
        .collect()
}

/// Room for the labels of the y axes on the left and of the lines on the right,
/// the same for all panels.
fn sides(chart: &Chart) -> (f64, f64) {
    let mut left: f64 = 24.0;
    let mut right: f64 = 16.0;
    for panel in &chart.panels {
        let (_, ticks) = ticks(&panel.y, y_values(panel), TICKS_Y);
        for tick in &ticks {
            left = left.max(font::width(&tick.label, SMALL_SIZE) + 10.0);
        }
        if is_labelled_directly(panel) {
            for series in &panel.series {
                right = right.max(font::width(&series.name, SMALL_SIZE) + 20.0);
            }
        }
    }
    (left.min(180.0), right.min(230.0))
}

const TICKS_Y: usize = 5;

/// Lines carry their names at their ends; too many of them have a legend.
fn is_labelled_directly(panel: &Panel) -> bool {
    let lines = |form: Form| matches!(form, Form::Line | Form::Trace | Form::Steps);
    panel.series.len() > 1
        && panel.series.len() <= 8
        && panel.series.iter().all(|series| lines(series.form))
}

fn draw_panel(canvas: &mut Canvas, chart: &Chart, panel: &Panel, area: &Area, last: bool) {
    let all_x = chart.panels.iter().flat_map(x_values);
    let wanted = if matches!(chart.x.scale, crate::Scale::Names(_)) {
        names_that_fit(&chart.x, area)
    } else {
        9
    };
    let (x_range, x_ticks) = ticks(&chart.x, all_x, wanted);
    let (y_range, y_ticks) = ticks(&panel.y, y_values(panel), TICKS_Y);
    let frame = Frame::new(area, (&chart.x.scale, x_range), (&panel.y.scale, y_range));
    canvas.text(
        (MARGIN, area.top - 26.0),
        &with_unit(&panel.y),
        TEXT_SIZE,
        INK,
        Anchor::Start,
    );
    annotate::behind(canvas, panel, &frame);
    draw_ticks(canvas, &frame, &x_ticks, &y_ticks, (panel, last));
    marks::draw(canvas, panel, &frame);
    annotate::before(canvas, panel, &frame);
    if is_labelled_directly(panel) {
        label::at_ends(canvas, panel, &frame);
    } else {
        label::legend(canvas, panel, &frame);
    }
    if last {
        let middle = (area.left + area.right) / 2.0;
        canvas.text(
            (middle, area.bottom + 28.0),
            &with_unit(&chart.x),
            TEXT_SIZE,
            INK,
            Anchor::Middle,
        );
    }
}

fn draw_ticks(
    canvas: &mut Canvas,
    frame: &Frame<'_>,
    x_ticks: &[Tick],
    y_ticks: &[Tick],
    (panel, last): (&Panel, bool),
) {
    let area = frame.area;
    let cells = panel
        .series
        .iter()
        .any(|series| matches!(series.form, Form::Cells { .. }));
    for tick in y_ticks {
        let y = frame.y(tick.value);
        if !cells {
            let colour = if tick.value == 0.0 { FAINT } else { GRID };
            canvas.line(&[(area.left, y), (area.right, y)], colour, 1.0);
        }
        canvas.text_centred(
            (area.left - 8.0, y),
            &tick.label,
            SMALL_SIZE,
            MUTED,
            Anchor::End,
        );
    }
    canvas.line(
        &[(area.left, area.bottom), (area.right, area.bottom)],
        FAINT,
        1.0,
    );
    let mut free_from = f64::NEG_INFINITY;
    for tick in x_ticks {
        let x = frame.x(tick.value);
        if !(area.left - 0.5..=area.right + 0.5).contains(&x) {
            continue;
        }
        canvas.line(&[(x, area.bottom), (x, area.bottom + 4.0)], FAINT, 1.0);
        let half = font::width(&tick.label, SMALL_SIZE) / 2.0;
        if last && x - half > free_from {
            canvas.text(
                (x, area.bottom + 8.0),
                &tick.label,
                SMALL_SIZE,
                MUTED,
                Anchor::Middle,
            );
            free_from = x + half + 4.0;
        }
    }
}

/// How many of the names of an axis fit beside each other.
fn names_that_fit(axis: &Axis, area: &Area) -> usize {
    let crate::Scale::Names(names) = &axis.scale else {
        return 9;
    };
    let widest = names
        .iter()
        .map(|name| font::width(name, SMALL_SIZE))
        .fold(1.0, f64::max);
    (((area.right - area.left) / (widest + 8.0)) as usize).max(1)
}

/// `Latency`, `Throughput (IOPS)`.
fn with_unit(axis: &Axis) -> String {
    let unit = axis.quantity.unit();
    if unit.is_empty() || axis.title.contains(unit) {
        axis.title.clone()
    } else {
        format!("{} ({unit})", axis.title)
    }
}

/// All places that the x axis has to show.
pub(crate) fn x_values(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    panel.series.iter().flat_map(|series| {
        let cells = matches!(series.form, Form::Cells { .. });
        series.points.iter().flat_map(move |point| {
            let right = point.span.filter(|_| cells).map(|[right, _]| right);
            [Some(point.x), right].into_iter().flatten()
        })
    })
}

/// All places that the y axis has to show: values, their intervals, and limits
/// that are not too far off.
pub(crate) fn y_values(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    let points = panel.series.iter().flat_map(|series| {
        let cells = matches!(series.form, Form::Cells { .. });
        series.points.iter().flat_map(move |point| {
            let span = point.span.map_or(
                [point.y; 2],
                |[low, high]| {
                    if cells { [high; 2] } else { [low, high] }
                },
            );
            [point.y, span[0], span[1]]
        })
    });
    let limits = panel
        .annotations
        .iter()
        .filter_map(|annotation| match annotation {
            crate::Annotation::AtY { y, .. } | crate::Annotation::Bound { y, .. } => Some(*y),
            _ => None,
        });
    points.chain(limits)
}
