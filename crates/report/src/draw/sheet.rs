//! A sheet as a picture: what was measured, the verdict with its answer, cautions, the first
//! tables and notes. Its numbers are those of the text.

use super::canvas::{Anchor, Canvas, Colour};
use super::palette::{CAUTION, FAINT, GRID, INK, MUTED, tone};
use super::{LINE, Look, MARGIN, WIDTH, canvas_size, draw_foot, font};
use crate::attribution::Attribution;
use crate::sheet::{Caution, Cell, Judgement, Sheet, SheetTable};
use stripewise_results::Severity;
use stripewise_units::{capitalised, counted};

const TITLE: f64 = 24.0;
const ANSWER: f64 = 18.0;
const TEXT: f64 = 14.0;
/// Maximum number of rows over all tables.
const ROWS_MAX: usize = 16;
const ROW: f64 = 26.0;
/// Maximum number of lines of a text.
const LINES_MAX: usize = 3;
const DETAILS_MAX: usize = 4;
const CAUTIONS_MAX: usize = 3;
const NOTES_MAX: usize = 3;
/// Gap between columns.
const GAP: f64 = 22.0;
/// Width of the intervals that are drawn next to a table.
const TRACK: f64 = 170.0;
/// Pixels per character of a bar.
const BAR_SIGN: f64 = 7.0;

/// A line of text, or a table with the shown rows.
enum Part<'a> {
    Words(String, f64, Colour),
    Table(&'a SheetTable, usize),
    Gap,
}

pub(crate) fn draw(sheet: &Sheet, about: &Attribution, look: &Look) -> Canvas {
    let foot = about.foot();
    let below = foot.len() as f64 * LINE + MARGIN;
    let needed = |parts: &[Part<'_>]| {
        let heights = parts.iter().map(Part::height);
        MARGIN + heights.sum::<f64>() + below
    };
    // Short content is drawn large.
    let fits = |least: &f64| {
        let parts = parts(sheet, about, *least);
        let is_wide_enough = parts
            .iter()
            .all(|part| part.width() <= least - 2.0 * MARGIN);
        is_wide_enough && needed(&parts) <= least * 0.55
    };
    let least = [680.0, 760.0, 860.0].into_iter().find(fits);
    let least = least.unwrap_or(WIDTH);
    let parts = parts(sheet, about, least);
    let (width, height) = canvas_size(look.size, (least, needed(&parts).max(least * 0.45)));
    let mut canvas = Canvas::new(width, height, look.theme);
    let mut y = MARGIN;
    for part in &parts {
        match part {
            Part::Words(words, size, colour) => {
                canvas.text((MARGIN, y), words, *size, *colour, Anchor::Start);
            }
            Part::Table(table, rows) => draw_table(&mut canvas, table, *rows, y),
            Part::Gap => {}
        }
        y += part.height();
    }
    draw_foot(&mut canvas, &foot, height);
    canvas
}

/// All of it as text.
pub(crate) fn description(sheet: &Sheet) -> String {
    let mut words = vec![crate::sheet_text::sheet_words(sheet)];
    words.extend(sheet.details.iter().cloned());
    words.extend(sheet.cautions.iter().map(Caution::line));
    words.extend(sheet.notes.iter().cloned());
    words.join(". ")
}

impl Part<'_> {
    /// Width of a table with all its columns.
    fn width(&self) -> f64 {
        let Part::Table(table, count) = self else {
            return 0.0;
        };
        let rows = &table.rows[..*count];
        let columns = table.used_columns();
        let track_width = Track::of(rows).map_or(0.0, |_| TRACK + GAP);
        columns_width(table, rows, &columns, TEXT) + track_width
    }

    fn height(&self) -> f64 {
        match self {
            Part::Words(_, size, _) => size * 1.4,
            Part::Table(table, rows) => {
                let headings = usize::from(has_headings(table));
                (rows + headings) as f64 * ROW + 8.0
            }
            Part::Gap => 10.0,
        }
    }
}

fn parts<'a>(sheet: &'a Sheet, about: &Attribution, width: f64) -> Vec<Part<'a>> {
    let room = width - 2.0 * MARGIN;
    let mut parts = Vec::new();
    let words = |parts: &mut Vec<Part<'a>>, text: &str, size: f64, colour: Colour| {
        let lines = font::wrapped_to(text, size, room, LINES_MAX);
        parts.extend(
            lines
                .into_iter()
                .map(|line| Part::Words(line, size, colour)),
        );
    };
    let title = match about.title.as_str() {
        "" => sheet.title.as_str(),
        title => title,
    };
    words(&mut parts, title, TITLE, INK);
    // The title takes several lines here, so that a long name of a target is seen in it.
    let measured = match about.measured.as_str() {
        measured if measured.is_empty() || measured == title => sheet.subtitle.as_str(),
        measured => measured,
    };
    words(&mut parts, measured, TEXT, MUTED);
    parts.push(Part::Gap);
    match &sheet.verdict {
        Some((judgement, word)) if sheet.answer.is_empty() => {
            words(&mut parts, word, ANSWER, colour_of(*judgement));
        }
        Some((judgement, word)) => {
            let text = format!("{word}: {}", sheet.answer);
            words(&mut parts, &text, ANSWER, colour_of(*judgement));
        }
        None => words(&mut parts, &capitalised(&sheet.answer), ANSWER, INK),
    }
    for detail in sheet.details.iter().take(DETAILS_MAX) {
        words(&mut parts, detail, TEXT, INK);
    }
    let grave = sheet.cautions.iter();
    let grave = grave.filter(|caution| caution.severity != Severity::Note);
    let grave: Vec<String> = grave.map(Caution::marked).collect();
    for caution in grave.iter().take(CAUTIONS_MAX) {
        words(&mut parts, caution, TEXT, CAUTION);
    }
    if let Some(more @ 1..) = grave.len().checked_sub(CAUTIONS_MAX) {
        words(&mut parts, &format!("! {more} more"), TEXT, CAUTION);
    }
    for (name, value) in sheet.findings.iter().take(DETAILS_MAX) {
        words(&mut parts, &format!("{name}: {value}"), TEXT, INK);
    }
    let mut left = ROWS_MAX;
    let shown = sheet.tables.iter();
    for table in shown.filter(|table| !table.rows.is_empty() && !table.is_detail) {
        let rows = table.rows.len().min(left);
        if rows == 0 {
            break;
        }
        parts.push(Part::Gap);
        words(&mut parts, &table.title, TEXT, INK);
        parts.push(Part::Table(table, rows));
        if rows < table.rows.len() {
            let more = format!("and {} more rows", table.rows.len() - rows);
            words(&mut parts, &more, TEXT, MUTED);
        }
        left -= rows;
    }
    parts.extend(sheet.notes.first().map(|_| Part::Gap));
    for note in notes(sheet) {
        words(&mut parts, &note, TEXT, MUTED);
    }
    parts
}

/// The first notes, and how many there are beside them.
fn notes(sheet: &Sheet) -> Vec<String> {
    let mut shown: Vec<String> = sheet.notes.iter().take(NOTES_MAX).cloned().collect();
    if let Some(more @ 1..) = sheet.notes.len().checked_sub(NOTES_MAX) {
        shown.push(format!("and {}", counted(more, "more note", "more notes")));
    }
    shown
}

pub(super) fn colour_of(judgement: Judgement) -> Colour {
    match judgement {
        Judgement::Good => Colour::Good,
        Judgement::Bad => CAUTION,
        Judgement::Open => INK,
    }
}

fn has_headings(table: &SheetTable) -> bool {
    !table.columns.is_empty()
}

/// The widest text of a column.
fn width_of(table: &SheetTable, rows: &[Vec<Cell>], index: usize, size: f64) -> f64 {
    let heading = table.columns.get(index);
    let heading = heading.map_or(0.0, |column| font::width(&column.heading, size));
    let cells = rows.iter().filter_map(|row| row.get(index));
    let width = |cell: &Cell| match cell.is_bar() {
        true => cell.text.len() as f64 * BAR_SIGN,
        false => font::width(&cell.text, size),
    };
    cells.map(width).fold(heading, f64::max)
}

/// The width of these columns including gaps.
fn columns_width(table: &SheetTable, rows: &[Vec<Cell>], columns: &[usize], size: f64) -> f64 {
    let widths = columns.iter().map(|at| width_of(table, rows, *at, size));
    widths.sum::<f64>() + GAP * columns.len().saturating_sub(1) as f64
}

fn draw_table(canvas: &mut Canvas, table: &SheetTable, count: usize, top: f64) {
    let rows = &table.rows[..count];
    let room = canvas.width() - 2.0 * MARGIN;
    let mut columns = table.used_columns();
    let track = Track::of(rows);
    let track_width = if track.is_some() { TRACK + GAP } else { 0.0 };
    let mut size = TEXT;
    let order = |at: usize| table.columns.get(at).map_or(0, |column| column.drop_order);
    while columns_width(table, rows, &columns, size) + track_width > room {
        let positions = 0..columns.len();
        let last = positions.max_by_key(|position| order(columns[*position]));
        match last.filter(|position| order(columns[*position]) > 0) {
            Some(position) => drop(columns.remove(position)),
            None if size > 9.0 => size -= 0.5,
            None => break,
        }
    }
    let mut places = Vec::new();
    let mut x = MARGIN;
    for &at in &columns {
        let width = width_of(table, rows, at, size);
        places.push((at, x, width));
        x += width + GAP;
    }
    let mut y = top;
    if has_headings(table) {
        let headings = table.columns.iter();
        let headings: Vec<Cell> = headings
            .map(|column| Cell::from(column.heading.as_str()))
            .collect();
        draw_row(canvas, table, &headings, &places, (y, size, MUTED));
        y += ROW;
        canvas.line(
            &[(MARGIN, y - 4.0), (canvas.width() - MARGIN, y - 4.0)],
            GRID,
            1.0,
        );
    }
    for row in rows {
        draw_row(canvas, table, row, &places, (y, size, INK));
        if let Some(track) = &track {
            track.draw(canvas, row, (x, canvas.width() - MARGIN), y + size / 2.0);
        }
        y += ROW;
    }
}

fn draw_row(
    canvas: &mut Canvas,
    table: &SheetTable,
    row: &[Cell],
    places: &[(usize, f64, f64)],
    (y, size, colour): (f64, f64, Colour),
) {
    for &(at, left, width) in places {
        let Some(cell) = row.get(at) else { continue };
        if cell.is_bar() {
            let right = left + cell.text.len() as f64 * BAR_SIGN;
            canvas.rectangle([(left, y + 1.0), (right, y + size)], tone(0), 1.0);
            continue;
        }
        let colour = cell.judgement.map_or(colour, colour_of);
        let (x, anchor) = match table.is_number(at) {
            true => (left + width, Anchor::End),
            false => (left, Anchor::Start),
        };
        canvas.text((x, y), &cell.text, size, colour, anchor);
    }
}

/// The scale of a table's intervals, which includes 0.
struct Track {
    low: f64,
    high: f64,
}

impl Track {
    fn of(rows: &[Vec<Cell>]) -> Option<Track> {
        let intervals = rows.iter().flatten().filter_map(|cell| cell.interval);
        let ends: Vec<f64> = intervals.flatten().collect();
        let of = |fold: fn(f64, f64) -> f64| ends.iter().copied().fold(0.0, fold);
        let track = Track {
            low: of(f64::min),
            high: of(f64::max),
        };
        (track.high > track.low).then_some(track)
    }

    fn draw(&self, canvas: &mut Canvas, row: &[Cell], (left, right): (f64, f64), y: f64) {
        let (left, right) = (left + 6.0, right - 6.0);
        let place = |value: f64| {
            let share = (value - self.low) / (self.high - self.low);
            left + (right - left) * share
        };
        let zero = place(0.0);
        canvas.line(&[(zero, y - ROW / 2.0), (zero, y + ROW / 2.0)], FAINT, 1.0);
        let Some(cell) = row.iter().find(|cell| cell.interval.is_some()) else {
            return;
        };
        let (Some([low, high]), Some(value)) = (cell.interval, cell.value) else {
            return;
        };
        canvas.line(&[(place(low), y), (place(high), y)], tone(0), 2.0);
        for end in [low, high].map(place) {
            canvas.line(&[(end, y - 4.0), (end, y + 4.0)], tone(0), 2.0);
        }
        canvas.disc((place(value), y), 4.0, tone(0));
    }
}
