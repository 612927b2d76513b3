//! What is worth pointing at: limits, knees, steady windows, steps.

use super::canvas::{Anchor, Canvas, Colour};
use super::palette::{GROUND, INK, MUTED, SHADE};
use super::place::Frame;
use super::{SMALL_SIZE, font};
use crate::chart::{Annotation, Panel};

/// Half of the bar of a limit that holds at one place.
const BOUND: f64 = 16.0;

/// Stretches, under everything else.
pub(crate) fn behind(canvas: &mut Canvas, panel: &Panel, frame: &Frame<'_>) {
    let area = frame.area;
    for annotation in &panel.annotations {
        if let Annotation::RangeX { from, to, .. } = annotation {
            let (from, to) = (frame.x(*from).max(area.left), frame.x(*to).min(area.right));
            canvas.rectangle(
                [(from, area.top), (to.max(from + 2.0), area.bottom)],
                SHADE,
                0.10,
            );
        }
    }
}

/// Lines, rings and all words.
pub(crate) fn before(canvas: &mut Canvas, panel: &Panel, frame: &Frame<'_>) {
    let area = frame.area;
    let mut row = 0.0;
    let mut points = 0;
    for annotation in &panel.annotations {
        match annotation {
            Annotation::RangeX { from, to, label } => {
                let middle = (frame.x(*from) + frame.x(*to)) / 2.0;
                let half = font::width(label, SMALL_SIZE) / 2.0;
                let middle =
                    middle.clamp(area.left + half, (area.right - half).max(area.left + half));
                // At the foot, where curves of rates are not.
                backed(canvas, (middle, area.bottom - 18.0), label, Anchor::Middle);
            }
            Annotation::AtX { x, label } => {
                let x = frame.x(*x);
                canvas.dashes((x, area.top), (x, area.bottom), MUTED);
                words(canvas, x, area.top + 4.0 + row * 16.0, label, frame);
                row += 1.0;
            }
            Annotation::AtY { y, label, tone } => {
                let y = frame.y(*y);
                let colour = tone.map_or(INK, super::palette::tone);
                canvas.dashes((area.left, y), (area.right, y), colour);
                // At the right end and below: loads grow to the right, and latencies up.
                let place = (area.right - 6.0, y + 4.0);
                coloured(canvas, place, label, colour, Anchor::End);
            }
            Annotation::Bound { x, y, label } => {
                let (x, y) = (frame.x(*x), frame.y(*y));
                canvas.line(&[(x - BOUND, y), (x + BOUND, y)], INK, 2.5);
                // Curves of percentiles come from the left and below.
                let room = x - BOUND - 6.0 - font::width(label, SMALL_SIZE) > area.left;
                if room {
                    backed(canvas, (x - BOUND - 6.0, y - 12.0), label, Anchor::End);
                } else {
                    backed(canvas, (x + BOUND + 6.0, y - 12.0), label, Anchor::Start);
                }
            }
            Annotation::AtPoint { x, y, label } => {
                let (x, y) = (frame.x(*x), frame.y(*y));
                canvas.ring((x, y), 7.0, INK);
                let half = font::width(label, SMALL_SIZE) / 2.0;
                let middle = x.clamp(area.left + half, (area.right - half).max(area.left + half));
                // Below, where lines of a ladder are not; but above their end.
                let all = panel.series.iter().flat_map(|series| &series.points);
                let last = all.map(|point| frame.x(point.x)).all(|other| other <= x);
                let below = !(last || points % 2 == 1) && y + 28.0 < area.bottom;
                points += 1;
                let y = if below { y + 12.0 } else { y - 26.0 };
                backed(canvas, (middle, y), label, Anchor::Middle);
            }
        }
    }
}

/// Words at a vertical line: on the side where there is room.
fn words(canvas: &mut Canvas, x: f64, y: f64, label: &str, frame: &Frame<'_>) {
    let width = font::width(label, SMALL_SIZE);
    if x + 6.0 + width <= frame.area.right {
        backed(canvas, (x + 6.0, y), label, Anchor::Start);
    } else {
        backed(canvas, (x - 6.0, y), label, Anchor::End);
    }
}

/// Words on a light ground, readable over lines.
fn backed(canvas: &mut Canvas, place: (f64, f64), label: &str, anchor: Anchor) {
    coloured(canvas, place, label, INK, anchor);
}

fn coloured(canvas: &mut Canvas, (x, y): (f64, f64), label: &str, colour: Colour, anchor: Anchor) {
    let width = font::width(label, SMALL_SIZE);
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    let ground = [
        (left - 2.0, y - 2.0),
        (left + width + 2.0, y + SMALL_SIZE + 1.0),
    ];
    canvas.rectangle(ground, GROUND, 0.82);
    canvas.text((x, y), label, SMALL_SIZE, colour, anchor);
}
