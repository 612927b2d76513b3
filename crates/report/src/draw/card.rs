//! Draws the summary card: a row for each series, all of it legible when a forum shows it at
//! a third of its size.

use super::canvas::{Anchor, Canvas, Colour};
use super::palette::{CAUTION, FAINT, INK, MUTED, tone};
use super::{Look, MARGIN, canvas_size, draw_foot, font};
use crate::attribution::Attribution;
use crate::card::{Card, CardAnswer, CardFigures, CardRow, Curve};
use crate::sheet::Judgement;

const TITLE: f64 = 25.0;
/// Distance between lines of a long title.
const TITLE_LINE: f64 = 31.0;
const NUMBER: f64 = 29.0;
const NAME: f64 = 18.0;
const SMALL: f64 = 13.0;
/// Minimum height of a row.
const ROW_MIN: f64 = 76.0;

/// Left edges of the columns in a drawing of minimum width.
const NUMBER_AT: f64 = 190.0;
const BAR_AT: f64 = 404.0;
const LATENCY_AT: f64 = 592.0;
const CURVE_AT: f64 = 776.0;
const WIDTH: f64 = 960.0;
/// Gap between columns.
const GAP: f64 = 16.0;

/// Left edges in a drawing that may be wider.
struct Columns {
    stretch: f64,
    right: f64,
}

impl Columns {
    fn at(&self, place: f64) -> f64 {
        MARGIN + (place - MARGIN) * self.stretch
    }
}

pub(crate) fn draw(card: &Card, about: &Attribution, look: &Look) -> Canvas {
    let rows = card.rows.len().max(1) as f64;
    let foot = about.foot();
    let below = foot.len() as f64 * super::LINE + MARGIN * 0.4 + 26.0;
    let head = |width: f64| {
        let room = width - 2.0 * MARGIN;
        let title = font::wrapped_to(&about.title, TITLE, room, 2);
        let measured = font::wrapped_to(&about.measured, 14.0, room, 2);
        let cautions: Vec<String> = card
            .cautions
            .iter()
            .flat_map(|caution| font::wrapped(caution, 15.0, room))
            .collect();
        (title, measured, cautions)
    };
    let (title, measured, cautions) = head(WIDTH);
    let titled = title.len().saturating_sub(1) as f64 * TITLE_LINE;
    let above = 64.0 + titled + (measured.len() + cautions.len()) as f64 * 20.0;
    let least = above + rows * ROW_MIN + below;
    let (width, height) = canvas_size(look.size, (WIDTH, least.max(500.0)));
    let mut canvas = Canvas::new(width, height, look.theme);
    for (line, words) in title.iter().enumerate() {
        let y = 24.0 + line as f64 * TITLE_LINE;
        canvas.text((MARGIN, y), words, TITLE, INK, Anchor::Start);
    }
    let mut y = 59.0 + titled;
    for (lines, colour, size) in [(&measured, MUTED, 14.0), (&cautions, CAUTION, 15.0)] {
        for line in lines {
            canvas.text((MARGIN, y), line, size, colour, Anchor::Start);
            y += 20.0;
        }
    }
    let columns = Columns {
        stretch: (width - 2.0 * MARGIN) / (WIDTH - 2.0 * MARGIN),
        right: width - MARGIN,
    };
    let row_height = ((height - above - below) / rows).min(130.0);
    for (index, row) in card.rows.iter().enumerate() {
        let top = above + index as f64 * row_height;
        canvas.line(&[(MARGIN, top), (columns.right, top)], Colour::Grid, 1.0);
        draw_row(&mut canvas, row, card, &columns, (top, row_height));
    }
    let explained = legend(card, &columns);
    let explained = font::cut(&explained, 12.0, columns.right - MARGIN);
    let under = above + rows * row_height;
    canvas.line(
        &[(MARGIN, under), (columns.right, under)],
        Colour::Grid,
        1.0,
    );
    canvas.text(
        (MARGIN, under + 7.0),
        &explained,
        12.0,
        MUTED,
        Anchor::Start,
    );
    draw_foot(&mut canvas, &foot, height);
    canvas
}

/// What the signs of this card mean; those that it does not have are left out.
fn legend(card: &Card, columns: &Columns) -> String {
    let found = card.rows.iter().filter_map(|row| match &row.answer {
        CardAnswer::CardFigures(found) if !row.is_log => Some(found),
        _ => None,
    });
    let all = || found.clone();
    let has_bracket = |found: &CardFigures| {
        let scale = Scale::of(found, card, columns);
        scale.bracket(found).is_some()
    };
    let signs = [
        (
            all().any(|found| found.judgement == Judgement::Bad),
            "red: limit or requirement missed",
        ),
        (
            all().any(|found| found.ceiling.is_some()),
            "pale: up to the ceiling",
        ),
        (
            all().any(|found| has_bracket(found)),
            "bracket: 95 % interval",
        ),
        (
            card.rows.iter().any(|row| row.curve.mark.is_some()),
            "ring: answer on the curve",
        ),
    ];
    let mut words = vec!["Bar: answer, one scale for IOPS and one for MiB/s"];
    words.extend(
        signs
            .iter()
            .filter(|(is_there, _)| *is_there)
            .map(|(_, word)| *word),
    );
    format!("{}.", words.join("; "))
}

fn draw_row(
    canvas: &mut Canvas,
    row: &CardRow,
    card: &Card,
    columns: &Columns,
    (top, height): (f64, f64),
) {
    // Two lines of text, and a third one if limits are listed.
    let third = matches!(&row.answer, CardAnswer::CardFigures(found) if !found.others.is_empty());
    let block = if third { 62.0 } else { 46.0 };
    let top = top + (height - block) / 2.0;
    let (first, second) = (top, top + 31.0);
    let room = columns.at(NUMBER_AT) - MARGIN - GAP;
    let name = font::cut(&row.name, NAME, room);
    canvas.text((MARGIN, first + 7.0), &name, NAME, INK, Anchor::Start);
    let load = match &row.answer {
        CardAnswer::CardFigures(found) => found.load.as_str(),
        CardAnswer::Nothing(_) => "",
    };
    let of: Vec<&str> = [row.of.as_str(), load]
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect();
    small(canvas, (MARGIN, second), &of.join(" \u{b7} "), MUTED, room);
    match &row.answer {
        CardAnswer::Nothing(reason) => {
            let left = columns.at(NUMBER_AT);
            let room = columns.at(CURVE_AT) - left - GAP;
            canvas.text(
                (left, first + 7.0),
                "No answer",
                NAME,
                CAUTION,
                Anchor::Start,
            );
            let reason = font::cut(reason, SMALL, room);
            canvas.text((left, second), &reason, SMALL, MUTED, Anchor::Start);
        }
        CardAnswer::CardFigures(found) => {
            number(canvas, found, columns, (first, second));
            if !row.is_log {
                bar(canvas, found, card, columns, (first, second));
            }
            latency(canvas, found, columns, (first, second));
            if third {
                let left = columns.at(NUMBER_AT);
                let room = columns.at(CURVE_AT) - left - GAP;
                let others = font::cut(&found.others, 12.0, room);
                canvas.text((left, second + 17.0), &others, 12.0, MUTED, Anchor::Start);
            }
        }
    }
    let left = columns.at(CURVE_AT);
    curve(
        canvas,
        &row.curve,
        [(left, top), (columns.right, top + block)],
    );
}

fn number(
    canvas: &mut Canvas,
    found: &CardFigures,
    columns: &Columns,
    (first, second): (f64, f64),
) {
    let left = columns.at(NUMBER_AT);
    let room = columns.at(BAR_AT) - left - GAP;
    let mut x = left;
    if !found.bound.is_empty() {
        canvas.text((x, first + 10.0), found.bound, SMALL, MUTED, Anchor::Start);
        x += font::width(found.bound, SMALL) + 6.0;
    }
    let text = &found.amount_words;
    canvas.text((x, first), text, NUMBER, INK, Anchor::Start);
    x += font::width(text, NUMBER) + 6.0;
    canvas.text((x, first + 10.0), found.unit, 15.0, MUTED, Anchor::Start);
    let words = font::cut(&found.interval_words, SMALL, room);
    canvas.text((left, second), &words, SMALL, MUTED, Anchor::Start);
}

/// The longest bar of the rows with the same unit.
fn longest(card: &Card, in_bytes: bool) -> f64 {
    let found = card.rows.iter().filter_map(|row| match &row.answer {
        CardAnswer::CardFigures(found) if (found.unit == "MiB/s") == in_bytes => Some(found),
        _ => None,
    });
    found
        .map(|found| {
            let ceiling = found.ceiling.as_ref().map_or(0.0, |(value, _)| *value);
            let high = found.interval.map_or(0.0, |[_, high]| high);
            found.amount.max(ceiling).max(high)
        })
        .fold(f64::MIN_POSITIVE, f64::max)
}

/// The places of rates in the column of bars.
struct Scale {
    left: f64,
    right: f64,
    longest: f64,
}

impl Scale {
    fn of(found: &CardFigures, card: &Card, columns: &Columns) -> Scale {
        Scale {
            left: columns.at(BAR_AT),
            right: columns.at(LATENCY_AT) - 2.0 * GAP,
            longest: longest(card, found.unit == "MiB/s"),
        }
    }

    fn place(&self, value: f64) -> f64 {
        self.left + (self.right - self.left) * (value / self.longest).clamp(0.0, 1.0)
    }

    /// The ends of the interval. A bracket narrower than its own lines would be a blot.
    fn bracket(&self, found: &CardFigures) -> Option<[f64; 2]> {
        let ends = found.interval?.map(|end| self.place(end));
        Some(ends).filter(|[low, high]| high - low >= 5.0)
    }
}

fn bar(
    canvas: &mut Canvas,
    found: &CardFigures,
    card: &Card,
    columns: &Columns,
    (first, second): (f64, f64),
) {
    let scale = Scale::of(found, card, columns);
    let left = scale.left;
    let (top, bottom) = (first + 6.0, first + 22.0);
    // Neither is the green of what is met nor the red of what is missed.
    let tone_of = if found.unit == "MiB/s" { 3 } else { 0 };
    let colour = match found.judgement {
        Judgement::Bad => CAUTION,
        Judgement::Good | Judgement::Open => tone(tone_of),
    };
    if let Some((ceiling, _)) = &found.ceiling {
        canvas.rectangle(
            [(left, top), (scale.place(*ceiling), bottom)],
            Colour::Pale(tone_of),
            0.55,
        );
    }
    // A rate stays visible next to a much larger one.
    let end = scale.place(found.amount).max(left + 2.0);
    canvas.rectangle([(left, top), (end, bottom)], colour, 1.0);
    if let Some([low, high]) = scale.bracket(found) {
        let middle = bottom + 4.0;
        canvas.line(&[(low, middle), (high, middle)], INK, 1.5);
        for x in [low, high] {
            canvas.line(&[(x, middle - 3.0), (x, middle + 3.0)], INK, 1.5);
        }
    }
    let words = match &found.ceiling {
        Some((_, words)) => words.clone(),
        None => String::new(),
    };
    let words = font::cut(&words, SMALL, columns.at(LATENCY_AT) - left - GAP);
    canvas.text((left, second), &words, SMALL, MUTED, Anchor::Start);
}

fn latency(
    canvas: &mut Canvas,
    found: &CardFigures,
    columns: &Columns,
    (first, second): (f64, f64),
) {
    let left = columns.at(LATENCY_AT);
    let room = columns.at(CURVE_AT) - left - GAP;
    let mut words = found.verdict.clone();
    if let Some(one) = &found.latency {
        canvas.text((left, first + 3.0), &one.value, 22.0, INK, Anchor::Start);
        let x = left + font::width(&one.value, 22.0) + 6.0;
        small(
            canvas,
            (x, first + 10.0),
            &one.label,
            MUTED,
            left + room - x,
        );
        if let Some(judged) = &one.judged {
            words = format!("{judged}: {words}");
        }
    }
    let colour = super::sheet::colour_of(found.judgement);
    small(canvas, (left, second), &words, colour, room);
}

/// Small text, made a little smaller if it then fits.
fn small(canvas: &mut Canvas, place: (f64, f64), words: &str, colour: Colour, room: f64) {
    let share = room / font::width(words, SMALL).max(1.0);
    let size = (SMALL * share).clamp(11.5, SMALL);
    let words = font::cut(words, size, room);
    canvas.text(place, &words, size, colour, Anchor::Start);
}

fn curve(canvas: &mut Canvas, curve: &Curve, [(left, top), (right, bottom)]: [(f64, f64); 2]) {
    let floor = bottom - 17.0;
    let place = |(x, y): (f64, f64)| {
        (
            left + 5.0 + (right - left - 10.0) * x,
            floor - (floor - top) * y,
        )
    };
    if curve.points.is_empty() {
        return;
    }
    canvas.line(&[(left, floor), (right, floor)], FAINT, 1.0);
    let points: Vec<(f64, f64)> = curve.points.iter().copied().map(place).collect();
    canvas.line(&points, tone(0), 2.0);
    for point in &points {
        canvas.disc(*point, 2.2, tone(0));
    }
    if let Some(mark) = curve.mark {
        canvas.ring(place(mark), 5.5, INK);
    }
    let caption = font::cut(&curve.caption, 12.0, right - left);
    canvas.text((left, floor + 4.0), &caption, 12.0, MUTED, Anchor::Start);
}
