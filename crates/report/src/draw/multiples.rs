//! Small multiples: maps with a common scale side by side, with one legend of shades.

use super::canvas::{Anchor, Canvas};
use super::palette::INK;
use super::scale::Frame;
use super::{Area, Head, LINE, Look, MARGIN, SMALL_SIZE, SUMMARY_LINES, TEXT_SIZE, WIDTH};
use super::{canvas_size, draw_foot, draw_ticks, font, label, marks, with_unit, y_values};
use crate::attribution::Attribution;
use crate::chart::{Chart, ticks};
use crate::picture::Multiples;

/// Minimum width and height of a map with its name and ticks.
const MAP_MIN: (f64, f64) = (130.0, 96.0);
/// Above the inside of a map: its name. Below: its ticks.
const NAME: f64 = 20.0;
const TICKS: f64 = 22.0;
/// Gap between maps.
const GAP: f64 = 14.0;
/// The line with axis titles and shades.
const AXES: f64 = 26.0;

/// Columns and rows for this many maps in a given room, maps a little wider than high.
fn grid(count: usize, width: f64, height: f64) -> (usize, usize) {
    const SHAPE: f64 = 1.35;
    /// Up to this many are in one row.
    const ROW: usize = 3;
    if count <= ROW && width > height {
        return (count.max(1), 1);
    }
    let columns = (count as f64 * width / height / SHAPE).sqrt().round() as usize;
    let columns = columns.clamp(1, count.max(1));
    let rows = count.div_ceil(columns).max(1);
    // Keep the last row as full as possible.
    (count.div_ceil(rows).max(1), rows)
}

pub(crate) fn draw(all: &Multiples, about: &Attribution, look: &Look) -> Canvas {
    let foot = about.foot();
    let foot_height = foot.len() as f64 * LINE + MARGIN * 0.6;
    let head = Head::of(&all.head, about, WIDTH, SUMMARY_LINES);
    let [wide, high] = look.size.map(f64::from);
    let (columns, rows) = grid(all.maps.len(), wide, high * 0.7);
    let least = (
        WIDTH.max(2.0 * MARGIN + columns as f64 * (MAP_MIN.0 + GAP)),
        head.height + AXES + rows as f64 * (MAP_MIN.1 + GAP) + foot_height,
    );
    let (width, height) = canvas_size(look.size, (least.0, least.1.max(440.0)));
    let head = Head::of(&all.head, about, width, SUMMARY_LINES);
    let mut canvas = Canvas::new(width, height, look.theme);
    head.draw(&mut canvas);
    axes(&mut canvas, &all.head, head.height);
    let top = head.height + AXES;
    let room = (
        (width - 2.0 * MARGIN + GAP) / columns as f64,
        (height - foot_height - top) / rows as f64,
    );
    for (index, (name, chart)) in all.maps.iter().enumerate() {
        let corner = (
            MARGIN + (index % columns) as f64 * room.0,
            top + (index / columns) as f64 * room.1,
        );
        map(&mut canvas, (name.as_str(), chart), corner, room);
    }
    draw_foot(&mut canvas, &foot, height);
    canvas
}

/// The axis titles of all maps, and the meaning of their shades.
fn axes(canvas: &mut Canvas, head: &Chart, top: f64) {
    let Some(panel) = head.panels.first() else {
        return;
    };
    let words = format!(
        "Across: {}. Up: {}.",
        with_unit(&head.x).to_lowercase(),
        with_unit(&panel.y).to_lowercase()
    );
    canvas.text((MARGIN, top), &words, TEXT_SIZE, INK, Anchor::Start);
    let area = Area {
        left: MARGIN,
        right: canvas.width() - MARGIN,
        top: top + 26.0,
        bottom: top + 27.0,
    };
    let range = [0.0, 1.0];
    let frame = Frame::new(&area, (&head.x.scale, range), (&panel.y.scale, range));
    label::legend(canvas, panel, &frame);
}

fn map(
    canvas: &mut Canvas,
    (name, chart): (&str, &Chart),
    (left, top): (f64, f64),
    room: (f64, f64),
) {
    let Some(panel) = chart.panels.first() else {
        return;
    };
    let (x_range, x_ticks) = ticks(&chart.x, super::x_values(panel), usize::MAX);
    let (y_range, y_ticks) = ticks(&panel.y, y_values(panel), usize::MAX);
    let widest = y_ticks
        .iter()
        .map(|tick| font::width(&tick.label, SMALL_SIZE));
    let area = Area {
        left: left + widest.fold(8.0, f64::max) + 8.0,
        right: left + room.0 - GAP,
        top: top + NAME,
        bottom: top + room.1 - TICKS,
    };
    let frame = Frame::new(&area, (&chart.x.scale, x_range), (&panel.y.scale, y_range));
    let name = font::cut(name, TEXT_SIZE, room.0 - GAP);
    canvas.text((left, top), &name, TEXT_SIZE, INK, Anchor::Start);
    draw_ticks(canvas, &frame, &x_ticks, &y_ticks, (panel, true));
    marks::draw(canvas, panel, &frame);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_fill_the_room_that_they_have() {
        for (count, columns, rows) in [(2, 2, 1), (3, 3, 1), (8, 4, 2), (12, 4, 3), (24, 6, 4)] {
            assert_eq!(grid(count, 1_920.0, 756.0), (columns, rows), "{count}");
        }
        assert_eq!(grid(1, 100.0, 100.0), (1, 1));
    }
}
