//! Draws series: lines, bars, cells, and the intervals around their values.

use super::canvas::{Anchor, Canvas, Colour};
use super::palette::{INK, pale, shade, tone};
use super::scale::Frame;
use super::{SMALL_SIZE, font};
use crate::chart::{Form, Panel, Point, Series};

pub(crate) fn draw(canvas: &mut Canvas, panel: &Panel, frame: &Frame<'_>) {
    for series in &panel.series {
        match series.form {
            Form::Line => line(canvas, series, frame),
            Form::Trace => trace(canvas, series, frame, 1.5),
            Form::Steps => steps(canvas, series, frame),
            Form::Intervals => intervals(canvas, series, frame),
            Form::Bars { slot, slots } => bars(canvas, (panel, series), frame, slot, slots),
            Form::Cells { labelled } => cells(canvas, series, frame, labelled),
        }
    }
}

fn trace(canvas: &mut Canvas, series: &Series, frame: &Frame<'_>, width: f64) {
    let mut stretches: Vec<Vec<(f64, f64)>> = Vec::new();
    for point in &series.points {
        let place = (frame.x(point.x), frame.y(point.y));
        match stretches.last_mut().filter(|_| !point.apart) {
            Some(stretch) => stretch.push(place),
            None => stretches.push(vec![place]),
        }
    }
    for places in stretches {
        if places.len() > 1 {
            canvas.line(&places, tone(series.tone), width);
        } else {
            canvas.disc(places[0], 3.0, tone(series.tone));
        }
    }
}

fn line(canvas: &mut Canvas, series: &Series, frame: &Frame<'_>) {
    for point in &series.points {
        whisker(canvas, point, frame, frame.x(point.x), tone(series.tone));
    }
    trace(canvas, series, frame, 2.0);
    for point in &series.points {
        mark(canvas, (frame.x(point.x), frame.y(point.y)), series.tone);
    }
}

/// The mark of a tone: eight shapes, so that each of eight series has its own.
pub(crate) fn mark(canvas: &mut Canvas, (x, y): (f64, f64), number: usize) {
    let colour = tone(number);
    let mut shape = |places: &[(f64, f64)]| {
        let places: Vec<(f64, f64)> = places.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        canvas.fill(&places, colour);
    };
    match number % 8 {
        0 => canvas.disc((x, y), 3.5, colour),
        1 => shape(&[(-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)]),
        2 => shape(&[(0.0, -4.5), (4.5, 3.5), (-4.5, 3.5)]),
        3 => shape(&[(0.0, -4.8), (4.8, 0.0), (0.0, 4.8), (-4.8, 0.0)]),
        4 => shape(&[(0.0, 4.5), (4.5, -3.5), (-4.5, -3.5)]),
        5 => canvas.ring((x, y), 3.4, colour),
        6 => shape(&[
            (-1.4, -4.4),
            (1.4, -4.4),
            (1.4, -1.4),
            (4.4, -1.4),
            (4.4, 1.4),
            (1.4, 1.4),
            (1.4, 4.4),
            (-1.4, 4.4),
            (-1.4, 1.4),
            (-4.4, 1.4),
            (-4.4, -1.4),
            (-1.4, -1.4),
        ]),
        _ => shape(&[
            (-4.6, 0.0),
            (-2.3, -4.0),
            (2.3, -4.0),
            (4.6, 0.0),
            (2.3, 4.0),
            (-2.3, 4.0),
        ]),
    }
}

fn steps(canvas: &mut Canvas, series: &Series, frame: &Frame<'_>) {
    let mut places: Vec<(f64, f64)> = Vec::new();
    for point in &series.points {
        let place = (frame.x(point.x), frame.y(point.y));
        if let Some(&(_, before)) = places.last() {
            places.push((place.0, before));
        }
        places.push(place);
    }
    canvas.line(&places, tone(series.tone), 2.0);
}

/// Marks with intervals along the x axis; those not distinguishable from 0 are pale.
fn intervals(canvas: &mut Canvas, series: &Series, frame: &Frame<'_>) {
    let colour = tone(series.tone);
    for point in &series.points {
        let colour = if point.pale { pale(colour) } else { colour };
        let (x, y) = (frame.x(point.x), frame.y(point.y));
        if let Some([low, high]) = point.span {
            let (low, high) = (frame.x(low), frame.x(high));
            canvas.line(&[(low, y), (high, y)], colour, 1.5);
            for x in [low, high] {
                canvas.line(&[(x, y - 4.0), (x, y + 4.0)], colour, 1.5);
            }
        }
        canvas.disc((x, y), 3.5, colour);
    }
}

fn whisker(canvas: &mut Canvas, point: &Point, frame: &Frame<'_>, x: f64, colour: Colour) {
    let Some([low, high]) = point.span else {
        return;
    };
    let (low, high) = (frame.y(low), frame.y(high));
    canvas.line(&[(x, low), (x, high)], colour, 1.5);
    for y in [low, high] {
        canvas.line(&[(x - 4.0, y), (x + 4.0, y)], colour, 1.5);
    }
}

/// Left and right edge of a bar on the x axis.
pub(crate) fn bar_edges(x: f64, slot: usize, slots: usize) -> [f64; 2] {
    const GROUP: f64 = 0.76;
    let width = GROUP / slots.max(1) as f64;
    let left = x - GROUP / 2.0 + width * slot as f64;
    [left, left + width]
}

fn bars(
    canvas: &mut Canvas,
    (panel, series): (&Panel, &Series),
    frame: &Frame<'_>,
    slot: usize,
    slots: usize,
) {
    let colour = tone(series.tone);
    for point in &series.points {
        let [left, right] = bar_edges(point.x, slot, slots).map(|x| frame.x(x));
        let gap = ((right - left) * 0.08).min(2.0);
        let (y, zero) = (frame.y(point.y), frame.y(0.0));
        let fill = if point.pale { pale(colour) } else { colour };
        canvas.rectangle(
            [(left + gap, y.min(zero)), (right - gap, y.max(zero))],
            fill,
            1.0,
        );
        let middle = (left + right) / 2.0;
        whisker(canvas, point, frame, middle, INK);
        // The value on top, if there is room and no whisker.
        let value = panel.y.quantity.format(point.y);
        if point.span.is_none() && font::width(&value, SMALL_SIZE) <= right - left + 4.0 {
            let away = if point.y < 0.0 { 9.0 } else { -9.0 };
            let place = (middle, y + away);
            canvas.text_centred(place, &value, SMALL_SIZE, INK, Anchor::Middle);
        }
    }
}

fn cells(canvas: &mut Canvas, series: &Series, frame: &Frame<'_>, labelled: bool) {
    let largest = series.darkest();
    let quantity = series.value.unwrap_or(crate::Quantity::Count);
    for cell in &series.points {
        let Some(value) = cell.value else { continue };
        let ([left, right], [low, high]) = match cell.span {
            Some([right, high]) => ([cell.x, right], [cell.y, high]),
            None => ([cell.x - 0.5, cell.x + 0.5], [cell.y - 0.5, cell.y + 0.5]),
        };
        let (left, right, low, high) = (frame.x(left), frame.x(right), frame.y(low), frame.y(high));
        let gap = if labelled { 1.0 } else { 0.0 };
        let share = cell_share(value, largest, labelled);
        let corners = [(left + gap, high + gap), (right - gap, low - gap)];
        canvas.rectangle(corners, shade(share), 1.0);
        let text = quantity.format(value);
        if labelled && font::width(&text, SMALL_SIZE) < right - left - 4.0 && low - high > 16.0 {
            let ink = if share > 0.6 {
                Colour::OnDark
            } else {
                Colour::OnLight
            };
            let middle = ((left + right) / 2.0, (low + high) / 2.0);
            canvas.text_centred(middle, &text, SMALL_SIZE, ink, Anchor::Middle);
        }
    }
}

/// How dark a cell is. Counts of latencies span orders of magnitude, so
/// their shade follows the cube root; the rare slow ones are of interest.
fn cell_share(value: f64, largest: f64, even: bool) -> f64 {
    let share = if largest > 0.0 { value / largest } else { 0.0 };
    if even { share } else { share.max(0.0).cbrt() }
}

/// The share of the largest value with this darkness, 0 to 1.
pub(crate) fn share_of_value(darkness: f64, even: bool) -> f64 {
    if even { darkness } else { darkness.powi(3) }
}
