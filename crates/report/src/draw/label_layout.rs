//! Places text so that it avoids drawn elements and other text, if possible.

use super::canvas::{Anchor, Canvas, Colour};
use super::palette::BACKGROUND;
use super::scale::Frame;
use super::{Area, SMALL_SIZE, font};
use crate::chart::{Form, Panel, Series};

/// Distance between sampled positions of a line.
const STEP: f64 = 4.0;
/// Cost of overlapping other text, relative to covering a sampled position.
const ON_WORDS: usize = 12;
/// The same for leaving the panel.
const OUTSIDE: usize = 60;

/// Occupied space in a panel.
pub(crate) struct LabelSpace {
    area: Area,
    /// Positions on lines and bars.
    drawn: Vec<(f64, f64)>,
    words: Vec<[(f64, f64); 2]>,
}

/// A possible position of text, and which end of it is there.
pub(crate) type Spot = ((f64, f64), Anchor);

impl LabelSpace {
    pub(crate) fn of(panel: &Panel, frame: &Frame<'_>) -> LabelSpace {
        let mut room = LabelSpace {
            area: frame.area,
            drawn: Vec::new(),
            words: Vec::new(),
        };
        for series in &panel.series {
            room.take(series, frame);
        }
        room
    }

    fn take(&mut self, series: &Series, frame: &Frame<'_>) {
        let places: Vec<(f64, f64)> = series
            .points
            .iter()
            .map(|point| (frame.x(point.x), frame.y(point.y)))
            .collect();
        match series.form {
            Form::Bars { slot, slots } => {
                for point in &series.points {
                    let [left, right] =
                        super::marks::bar_edges(point.x, slot, slots).map(|x| frame.x(x));
                    let (top, foot) = (frame.y(point.y), frame.y(0.0));
                    let middle = (left + right) / 2.0;
                    for x in [left, middle, right] {
                        self.take_line((x, top), (x, foot));
                    }
                }
            }
            Form::Intervals => {
                for point in &series.points {
                    let y = frame.y(point.y);
                    let [low, high] = point.span.unwrap_or([point.x; 2]);
                    self.take_line((frame.x(low), y), (frame.x(high), y));
                }
            }
            // They fill the panel: no position is better than another.
            Form::Cells { .. } => {}
            _ => {
                for two in places.windows(2) {
                    self.take_line(two[0], two[1]);
                }
                self.drawn.extend(places);
            }
        }
    }

    /// Marks a line that text avoids as well.
    pub(crate) fn take_line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let steps = ((length / STEP).ceil() as usize).clamp(1, 2_000);
        for step in 0..=steps {
            let share = step as f64 / steps as f64;
            let x = from.0 + (to.0 - from.0) * share;
            let y = from.1 + (to.1 - from.1) * share;
            self.drawn.push((x, y));
        }
    }

    /// Writes text at the first free one of these spots, else at the best.
    pub(crate) fn write(
        &mut self,
        canvas: &mut Canvas,
        label: &str,
        colour: Colour,
        spots: &[Spot],
    ) {
        if label.is_empty() {
            return;
        }
        let width = font::width(label, SMALL_SIZE);
        let best = spots
            .iter()
            .map(|spot| (self.cost(corners(*spot, width)), *spot))
            .min_by_key(|(cost, _)| *cost);
        let Some((_, spot)) = best else { return };
        let [(left, top), (right, foot)] = corners(spot, width);
        // If overlap is unavoidable, the text stays legible.
        canvas.rectangle([(left, top), (right, foot)], BACKGROUND, 0.82);
        canvas.text(spot.0, label, SMALL_SIZE, colour, spot.1);
        self.words.push([(left, top), (right, foot)]);
    }

    fn cost(&self, [(left, top), (right, foot)]: [(f64, f64); 2]) -> usize {
        let inside = |(x, y): &(f64, f64)| {
            (left - 2.0..=right + 2.0).contains(x) && (top - 2.0..=foot + 2.0).contains(y)
        };
        let meets = |other: &[(f64, f64); 2]| {
            left < other[1].0 && other[0].0 < right && top < other[1].1 && other[0].1 < foot
        };
        let area = self.area;
        let leaves = left < area.left - 4.0
            || right > area.right + 6.0
            || top < area.top - 4.0
            || foot > area.bottom + 2.0;
        self.drawn.iter().filter(|place| inside(place)).count()
            + self.words.iter().filter(|other| meets(other)).count() * ON_WORDS
            + usize::from(leaves) * OUTSIDE
    }
}

/// The bounding box of text at a spot.
fn corners(((x, y), anchor): Spot, width: f64) -> [(f64, f64); 2] {
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    [
        (left - 2.0, y - 2.0),
        (left + width + 2.0, y + SMALL_SIZE + 1.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Theme;

    #[test]
    fn words_keep_off_lines_and_off_each_other() {
        let area = Area {
            left: 0.0,
            right: 400.0,
            top: 0.0,
            bottom: 200.0,
        };
        let mut room = LabelSpace {
            area,
            drawn: Vec::new(),
            words: Vec::new(),
        };
        room.take_line((0.0, 100.0), (400.0, 100.0));
        let mut canvas = Canvas::new(400.0, 200.0, Theme::Light);
        let spots = [
            ((200.0, 94.0), Anchor::Middle),
            ((200.0, 40.0), Anchor::Middle),
            ((200.0, 150.0), Anchor::Middle),
        ];
        for expected in [40.0, 150.0] {
            room.write(&mut canvas, "some words", Colour::Ink, &spots);
            let [(_, top), _] = *room.words.last().expect("words");
            assert!((top - (expected - 2.0)).abs() < 1e-9, "{top}");
        }
    }
}
