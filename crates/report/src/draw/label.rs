//! Names of series: at the ends of lines, else in a row above the panel. Limits are labelled
//! next to the names at line ends, where nothing is drawn.

use super::canvas::{Anchor, Canvas, Colour};
use super::marks::{mark, share_of_value};
use super::palette::{INK, MUTED, shade, tone};
use super::scale::Frame;
use super::{MARGIN, SMALL_SIZE, font};
use crate::chart::{Annotation, Form, Panel};

/// Minimum distance between two labels.
const APART: f64 = 15.0;

/// Names at line ends, moved apart if they would overlap.
pub(crate) fn at_ends(canvas: &mut Canvas, panel: &Panel, frame: &Frame<'_>) {
    let area = frame.area;
    let names = panel.series.iter().filter_map(|series| {
        let last = series.points.last()?;
        let (x, y) = (frame.x(last.x), frame.y(last.y));
        Some((y, x, tone(series.tone), series.name.as_str()))
    });
    let limits = limits(panel).map(|(y, of, label)| {
        let colour = of.map_or(INK, tone);
        (frame.y(y), area.right, colour, label)
    });
    let mut labels: Vec<(f64, f64, Colour, &str)> = names.chain(limits).collect();
    labels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut places: Vec<f64> = Vec::with_capacity(labels.len());
    for label in &labels {
        let above = places.last().map_or(f64::NEG_INFINITY, |y| y + APART);
        places.push(label.0.max(above));
    }
    // Labels pushed below the panel move up again, and push the others.
    let mut below = area.bottom + 4.0;
    for place in places.iter_mut().rev() {
        *place = place.min(below);
        below = *place - APART;
    }
    for ((line_y, line_x, colour, name), y) in labels.into_iter().zip(places) {
        let x = area.right + 12.0;
        if (line_y - y).abs() > 3.0 || line_x < area.right - 12.0 {
            canvas.line(
                &[(line_x + 5.0, line_y), (x - 3.0, y)],
                super::palette::FAINT,
                0.5,
            );
        }
        let name = font::cut(name, SMALL_SIZE, canvas.width() - MARGIN / 2.0 - x);
        canvas.text_centred((x, y), &name, SMALL_SIZE, colour, Anchor::Start);
    }
}

/// Limits that span a panel: position, tone, label.
pub(crate) fn limits(panel: &Panel) -> impl Iterator<Item = (f64, Option<usize>, &str)> {
    let each = panel.annotations.iter();
    each.filter_map(|annotation| match annotation {
        Annotation::AtY { y, tone, label } => Some((*y, *tone, label.as_str())),
        _ => None,
    })
}

/// A longer name is cut in a legend.
const NAME_MAX: f64 = 160.0;

/// The width of the row of [`legend`].
pub(crate) fn legend_width(panel: &Panel) -> f64 {
    let names = panel.series.iter();
    names
        .map(|series| font::width(&series.name, SMALL_SIZE).min(NAME_MAX) + 32.0)
        .sum()
}

/// A row of marks and names above the panel, right-aligned; for cells, their shades.
pub(crate) fn legend(canvas: &mut Canvas, panel: &Panel, frame: &Frame<'_>) {
    let area = frame.area;
    let y = area.top - 18.0;
    if let [only] = &panel.series[..] {
        if let Form::Cells { labelled } = only.form {
            shades(canvas, panel, (area.right, y), labelled);
        }
        return;
    }
    let mut x = area.right;
    for series in panel.series.iter().rev() {
        let name = font::cut(&series.name, SMALL_SIZE, NAME_MAX);
        x -= font::width(&name, SMALL_SIZE);
        canvas.text_centred((x, y), &name, SMALL_SIZE, MUTED, Anchor::Start);
        x -= 12.0;
        match series.form {
            Form::Bars { .. } => {
                canvas.rectangle(
                    [(x - 5.0, y - 5.0), (x + 5.0, y + 5.0)],
                    tone(series.tone),
                    1.0,
                );
            }
            _ => mark(canvas, (x, y), series.tone),
        }
        x -= 20.0;
    }
}

/// The values of light, middle and dark shades. Counts of latencies use the cube root, so
/// the middle shade is far below half of the maximum.
fn shades(canvas: &mut Canvas, panel: &Panel, (right, y): (f64, f64), even: bool) {
    let series = &panel.series[0];
    let largest = series.darkest();
    let quantity = series.value.unwrap_or(crate::Quantity::Count);
    let high = format!("{} {}", quantity.format(largest), quantity.unit());
    let high = format!(
        "{} {}",
        high.trim_end(),
        if even { "" } else { series.name.as_str() }
    );
    let middle = quantity.format(largest * share_of_value(0.5, even));
    let mut x = right;
    for (words, steps) in [(high.trim_end(), 10..20), (middle.as_str(), 0..10)] {
        x -= font::width(words, SMALL_SIZE);
        canvas.text_centred((x, y), words, SMALL_SIZE, MUTED, Anchor::Start);
        x -= 6.0;
        for step in steps.rev() {
            let share = f64::from(step) / 19.0;
            canvas.rectangle([(x - 5.0, y - 5.0), (x, y + 5.0)], shade(share), 1.0);
            x -= 5.0;
        }
        x -= 6.0;
    }
    canvas.text_centred((x, y), "0", SMALL_SIZE, MUTED, Anchor::End);
}
