//! Annotations: limits, knees, steady windows, steps.

use super::SMALL_SIZE;
use super::canvas::{Anchor, Canvas};
use super::label_layout::{LabelSpace, Spot};
use super::palette::{INK, MUTED, SHADE};
use super::scale::Frame;
use crate::chart::{Annotation, Panel};

/// Half the length of the bar of a limit that applies at one place.
const BOUND: f64 = 16.0;
/// Height of a line of text.
const LINE: f64 = SMALL_SIZE + 4.0;

/// Ranges, below everything else.
pub(crate) fn behind(canvas: &mut Canvas, panel: &Panel, frame: &Frame<'_>) {
    let area = frame.area;
    for annotation in &panel.annotations {
        match annotation {
            Annotation::RangeX { from, to, .. } => {
                let (from, to) = (frame.x(*from).max(area.left), frame.x(*to).min(area.right));
                let corners = [(from, area.top), (to.max(from + 2.0), area.bottom)];
                canvas.rectangle(corners, SHADE, 0.10);
            }
            Annotation::AboveY { y } => {
                let foot = frame.y(*y).clamp(area.top, area.bottom);
                canvas.rectangle([(area.left, area.top), (area.right, foot)], SHADE, 0.10);
            }
            _ => {}
        }
    }
}

/// Lines and rings first, then all labels, each where nothing is drawn.
pub(crate) fn before(canvas: &mut Canvas, panel: &Panel, frame: &Frame<'_>) {
    let area = frame.area;
    let mut room = LabelSpace::of(panel, frame);
    for annotation in &panel.annotations {
        match annotation {
            Annotation::AtX { x, .. } => {
                let x = frame.x(*x);
                canvas.dashes((x, area.top), (x, area.bottom), MUTED);
                room.take_line((x, area.top), (x, area.bottom));
            }
            Annotation::AtY { y, tone, .. } => {
                let y = frame.y(*y);
                let colour = tone.map_or(INK, super::palette::tone);
                canvas.dashes((area.left, y), (area.right, y), colour);
                room.take_line((area.left, y), (area.right, y));
            }
            Annotation::Bound { x, y, .. } => {
                let (x, y) = (frame.x(*x), frame.y(*y));
                canvas.line(&[(x - BOUND, y), (x + BOUND, y)], INK, 2.5);
                room.take_line((x - BOUND, y), (x + BOUND, y));
            }
            Annotation::AtPoint { x, y, .. } => {
                canvas.ring((frame.x(*x), frame.y(*y)), 7.0, INK);
            }
            Annotation::RangeX { .. } | Annotation::AboveY { .. } => {}
        }
    }
    let in_margin = super::is_labelled_directly(panel);
    for annotation in &panel.annotations {
        let (label, colour) = match annotation {
            // Drawn next to the names of the lines.
            Annotation::AtY { .. } if in_margin => continue,
            Annotation::AtY { label, tone, .. } => (label, tone.map_or(INK, super::palette::tone)),
            Annotation::AtX { label, .. }
            | Annotation::RangeX { label, .. }
            | Annotation::Bound { label, .. }
            | Annotation::AtPoint { label, .. } => (label, INK),
            // The line at its edge has the label.
            Annotation::AboveY { .. } => continue,
        };
        room.write(canvas, label, colour, &spots(annotation, frame));
    }
}

/// Possible positions of an annotation's label, the usual one first.
fn spots(annotation: &Annotation, frame: &Frame<'_>) -> Vec<Spot> {
    let area = frame.area;
    match annotation {
        Annotation::AtX { x, .. } => {
            let x = frame.x(*x);
            let rows = (0..6).map(|row| area.top + 4.0 + f64::from(row) * LINE);
            let sides = [(x + 6.0, Anchor::Start), (x - 6.0, Anchor::End)];
            rows.flat_map(|y| sides.map(|(x, anchor)| ((x, y), anchor)))
                .collect()
        }
        Annotation::RangeX { from, to, .. } => {
            let from = frame.x(*from).max(area.left);
            let to = frame.x(*to).min(area.right);
            let middle = (from + to) / 2.0;
            let heights = [
                area.bottom - 18.0,
                area.top + 4.0,
                (area.top + area.bottom) / 2.0,
            ];
            let mut spots = Vec::new();
            for y in heights {
                spots.push(((middle, y), Anchor::Middle));
                // A range at the edge has its label inside.
                spots.push(((area.right - 4.0, y), Anchor::End));
                spots.push(((area.left + 4.0, y), Anchor::Start));
            }
            spots
        }
        Annotation::AtY { y, .. } => {
            let y = frame.y(*y);
            let mut spots = Vec::new();
            for y in [y + 4.0, y - LINE] {
                spots.push(((area.right - 4.0, y), Anchor::End));
                spots.push(((area.left + 4.0, y), Anchor::Start));
                for share in [0.25, 0.5, 0.75] {
                    let x = area.left + (area.right - area.left) * share;
                    spots.push(((x, y), Anchor::Middle));
                }
            }
            spots
        }
        Annotation::Bound { x, y, .. } => {
            let (x, y) = (frame.x(*x), frame.y(*y));
            let (left, right) = (x - BOUND - 6.0, x + BOUND + 6.0);
            let mut spots = vec![
                ((left, y - 8.0), Anchor::End),
                ((right, y - 8.0), Anchor::Start),
            ];
            for y in [y - LINE - 4.0, y + 6.0] {
                spots.push(((x, y), Anchor::Middle));
            }
            spots
        }
        Annotation::AtPoint { x, y, .. } => around((frame.x(*x), frame.y(*y))),
        Annotation::AboveY { .. } => Vec::new(),
    }
}

/// Around a ring: below, above and beside it, then farther away.
fn around((x, y): (f64, f64)) -> Vec<Spot> {
    let mut spots = Vec::new();
    for away in [0.0, LINE, 2.0 * LINE] {
        for (y, beside) in [
            (y + 12.0 + away, 0.0),
            (y - 26.0 - away, 0.0),
            (y - 7.0, 12.0 + away),
        ] {
            if beside == 0.0 {
                spots.push(((x, y), Anchor::Middle));
                spots.push(((x + 8.0, y), Anchor::End));
                spots.push(((x - 8.0, y), Anchor::Start));
            } else {
                spots.push(((x + beside, y), Anchor::Start));
                spots.push(((x - beside, y), Anchor::End));
            }
        }
    }
    spots
}
