//! A sheet as text for a terminal of a given width: columns are aligned, and if not all fit, the
//! least important are left out and named below. Only names without blanks are cut, in
//! their middle. A number is never cut: if its column does not fit, a column is left out, and
//! if only one is left, the line is longer.

use crate::sheet::{Caution, Cell, GO_ON, Judgement, Sheet, SheetTable};
use std::borrow::Cow;
use stripewise_results::Severity;
use stripewise_units::{acts, capitalised, distinct, in_one_row};
use unicode_width::UnicodeWidthStr;

/// Blanks between columns; one if two are too many.
const GAP: usize = 2;
/// Minimum width of a text column.
const NARROW: usize = 10;
/// Longer words may be shortened.
const WORD_MAX: usize = 24;

/// The role of a part of a text, for a terminal that can emphasise it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    /// A title or a heading.
    Strong,
    /// Good news.
    Good,
    /// Bad news.
    Bad,
    /// A caution.
    Care,
}

/// Emphasises a part of a text without changing its width.
pub type Paint<'a> = &'a dyn Fn(Emphasis, &str) -> String;

/// The sheet in lines of at most `width` columns, without colour.
pub fn sheet_text(sheet: &Sheet, width: usize) -> String {
    sheet_text_painted(sheet, width, &|_, text| text.to_owned())
}

/// The sheet in lines of at most `width` columns.
pub fn sheet_text_painted(sheet: &Sheet, width: usize, paint: Paint<'_>) -> String {
    let mut parts = vec![title(sheet, width, paint), answer(sheet, width, paint)];
    parts.push(pairs(&sheet.findings, "  ", width, wrapped_lines));
    let shown = |table: &&SheetTable| !table.rows.is_empty() && !table.is_detail;
    let tables = sheet.tables.iter().filter(shown);
    parts.extend(tables.map(|table| table_text(table, width, paint)));
    parts.push(cautions(&sheet.cautions, width, paint));
    let notes = sheet.notes.iter();
    let notes: String = notes.map(|note| wrapped_at(note, "  ", width)).collect();
    parts.push(notes + &pairs(&sheet.pointers, "", width, whole_words));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// A line followed by the id under which its answer is stored.
pub fn marked(line: &str, id: &str) -> String {
    format!("{line} [{id}]")
}

/// The same, with the command that goes on, where one of these pointers names it: whoever sees
/// only the line knows how.
pub fn marked_to_go_on(line: &str, id: &str, pointers: &[(String, String)]) -> String {
    match pointers.iter().find(|(name, _)| name == GO_ON) {
        Some((_, command)) => {
            let line = line.strip_suffix('.').unwrap_or(line);
            marked(&format!("{line}; go on: {command}"), id)
        }
        None => marked(line, id),
    }
}

/// The answer in one line, for cron and logs: `TITLE: VERDICT: answer`, or what was found; then
/// the names of warnings.
pub fn sheet_line(sheet: &Sheet) -> String {
    with_warnings(sheet_words(sheet), &sheet.cautions)
}

/// The same without the names of warnings.
pub(crate) fn sheet_words(sheet: &Sheet) -> String {
    let verdict = sheet.verdict.as_ref().map(|(_, word)| word.clone());
    let mut parts: Vec<String> = [sheet.title.clone()].into_iter().chain(verdict).collect();
    let findings = sheet.findings.iter();
    let findings: Vec<String> = findings
        .map(|(name, value)| format!("{name} {value}").trim_start().to_owned())
        .collect();
    parts.push(match sheet.answer.is_empty() {
        true => findings.join("; "),
        false => sheet.answer.clone(),
    });
    parts.retain(|part| !part.is_empty());
    parts.join(": ")
}

/// A line with the names of what makes its numbers not what they seem: `...; warnings:
/// cpu-bound, other-load`.
pub fn with_warnings(line: String, cautions: &[Caution]) -> String {
    let grave = cautions
        .iter()
        .filter(|one| one.severity >= Severity::Warning);
    match warning_names(grave.map(|one| one.code.as_str())) {
        Some(names) => format!("{}; {names}", line.strip_suffix('.').unwrap_or(&line)),
        None => line,
    }
}

/// `warnings: cpu-bound, other-load`; none where there is no name.
pub(crate) fn warning_names<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let codes = distinct(names.filter(|code| !code.is_empty()));
    let word = match codes.len() {
        0 => return None,
        1 => "warning",
        _ => "warnings",
    };
    Some(format!("{word}: {}", codes.join(", ")))
}

fn title(sheet: &Sheet, width: usize, paint: Paint<'_>) -> String {
    if sheet.title.is_empty() {
        return String::new();
    }
    let (title, subtitle) = (in_one_row(&sheet.title), in_one_row(&sheet.subtitle));
    let line = format!("{title}  {subtitle}");
    if line.width() <= width {
        let title = paint(Emphasis::Strong, &title);
        return format!("{title}  {subtitle}").trim_end().to_owned() + "\n";
    }
    let title = wrapped_lines(&title, width).into_iter();
    let title: String = title
        .map(|line| paint(Emphasis::Strong, &line) + "\n")
        .collect();
    let below = wrapped_at(&format!("  {subtitle}"), "  ", width);
    format!("{title}{below}")
}

fn answer(sheet: &Sheet, width: usize, paint: Paint<'_>) -> String {
    let mut text = match &sheet.verdict {
        Some((judgement, word)) => {
            let text = match sheet.answer.is_empty() {
                true => word.clone(),
                false => format!("{word}: {}", sheet.answer),
            };
            let text = wrapped_at(&text, "  ", width);
            // A wrapped word is not emphasised.
            match text.strip_prefix(word.as_str()) {
                Some(rest) => paint(emphasis(*judgement), word) + rest,
                None => text,
            }
        }
        None if sheet.answer.is_empty() => String::new(),
        None => wrapped_at(&capitalised(&sheet.answer), "  ", width),
    };
    for detail in &sheet.details {
        text.push_str(&wrapped_at(&format!("  {detail}"), "    ", width));
    }
    text
}

fn emphasis(judgement: Judgement) -> Emphasis {
    match judgement {
        Judgement::Good => Emphasis::Good,
        Judgement::Bad => Emphasis::Bad,
        Judgement::Open => Emphasis::Care,
    }
}

/// Names and values as lines, with values wrapped next to the names.
fn pairs(
    all: &[(String, String)],
    indent: &str,
    width: usize,
    lines_of: fn(&str, usize) -> Vec<String>,
) -> String {
    let column = all.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    let hanging = " ".repeat(indent.len() + column + GAP);
    let line = |(name, value): &(String, String)| {
        let blanks = " ".repeat(column - name.width() + GAP);
        let room = width.saturating_sub(hanging.len()).max(NARROW);
        let value = lines_of(value, room).join(&format!("\n{hanging}"));
        format!("{indent}{name}{blanks}{value}\n")
    };
    all.iter().map(line).collect()
}

/// Warnings below a heading, with what they concern and their codes in separate columns
/// if that fits.
fn cautions(all: &[Caution], width: usize, paint: Paint<'_>) -> String {
    if all.is_empty() {
        return String::new();
    }
    let widest = |part: fn(&Caution) -> &str| {
        let widths = all.iter().map(|one| part(one).width());
        widths.max().unwrap_or(0)
    };
    let [text, of] = [widest(|one| &one.text), widest(|one| &one.of)];
    let code = widest(|one| &one.code);
    // An empty column takes no room.
    let gap = if of == 0 { 0 } else { GAP };
    let is_aligned = 4 + text + GAP + of + gap + code + 2 <= width;
    let line = |one: &Caution| {
        let mark = mark(one, paint);
        if is_aligned {
            let code = match one.code.as_str() {
                "" => String::new(),
                code => format!("[{code}]"),
            };
            let blanks = [
                " ".repeat(text - one.text.width() + GAP),
                " ".repeat(of - one.of.width() + gap),
            ];
            let line = format!("  {mark} {}{}{}{}", one.text, blanks[0], one.of, blanks[1]);
            return format!("{line}{code}").trim_end().to_owned() + "\n";
        }
        // Too narrow for codes, which --explain shows.
        let text = Caution {
            code: String::new(),
            ..one.clone()
        };
        let lines = wrapped_lines(&text.line(), width.saturating_sub(4));
        format!("  {mark} {}\n", lines.join("\n    "))
    };
    let lines: String = all.iter().map(line).collect();
    format!("{}\n{lines}", paint(Emphasis::Strong, "Read with care"))
}

/// Notes are emphasised less.
fn mark(caution: &Caution, paint: Paint<'_>) -> String {
    match caution.severity {
        Severity::Void => paint(Emphasis::Bad, "X"),
        Severity::Warning => paint(Emphasis::Care, "!"),
        Severity::Note => "-".to_owned(),
    }
}

/// One table with its title, in at most `width` columns.
pub(crate) fn table_text(table: &SheetTable, width: usize, paint: Paint<'_>) -> String {
    let mut text = match table.title.as_str() {
        "" => String::new(),
        title => {
            let wrapped = wrapped_at(title, "", width);
            let lines = wrapped.lines().map(|line| paint(Emphasis::Strong, line));
            lines.map(|line| line + "\n").collect()
        }
    };
    if table.are_commands {
        text.push_str(&commands(table));
        return text;
    }
    let table = &in_rows(table);
    let shape = Shape::of(table, width);
    if !table.columns.is_empty() {
        let headings = table.columns.iter();
        let headings: Vec<Cell> = headings
            .map(|column| Cell::from(column.heading.as_str()))
            .collect();
        text.push_str(&shape.row(table, &headings, paint));
    }
    for row in &table.rows {
        text.push_str(&shape.row(table, row, paint));
    }
    if !table.note.is_empty() {
        text.push_str(&wrapped_at(&table.note, "  ", width));
    }
    if !shape.left_out.is_empty() {
        let left_out = format!(
            "  No room for: {}; shown at a width of {}",
            shape.left_out.join(", "),
            shape.whole_width
        );
        text.push_str(&wrapped_at(&left_out, "  ", width));
    }
    text
}

/// A table whose cells have no line ends: labels and names of others would make rows of their own.
fn in_rows(table: &SheetTable) -> Cow<'_, SheetTable> {
    let mut cells = table.rows.iter().flatten();
    // Sentences have their own line ends.
    if table.columns.is_empty() || !cells.any(|cell| cell.text.contains(acts)) {
        return Cow::Borrowed(table);
    }
    let mut table = table.clone();
    for cell in table.rows.iter_mut().flatten() {
        cell.text = in_one_row(&cell.text).into_owned();
    }
    Cow::Owned(table)
}

/// Commands below their places, each on one line however long, so that a copied one runs.
fn commands(table: &SheetTable) -> String {
    let mut text = String::new();
    let mut last = "";
    for row in &table.rows {
        let [place, command] = row.as_slice() else {
            continue;
        };
        if place.text != last {
            text.push_str(&format!("{}\n", place.text));
            last = &place.text;
        }
        text.push_str(&format!("  {}\n", command.text));
    }
    text
}

/// The shown columns of a table and their widths.
struct Shape {
    /// Index and width.
    columns: Vec<(usize, usize)>,
    gap: usize,
    /// Headings of the omitted columns, in table order.
    left_out: Vec<String>,
    /// Of a terminal that shows them too.
    whole_width: usize,
}

impl Shape {
    fn of(table: &SheetTable, width: usize) -> Shape {
        let used = table.used_columns();
        let mut shown = used.clone();
        let mut gone_late = Vec::new();
        let column = |at: usize| table.columns.get(at);
        let early = |at: usize| column(at).map_or(0, |column| column.drop_order);
        let late = |at: usize| column(at).map_or(0, |column| column.late_order);
        let mut shape = loop {
            let mut shape = Shape::with(table, &shown);
            if shape.width() > width {
                shape.gap = 1;
            }
            if shape.width() <= width {
                break shape;
            }
            let highest = |order: &dyn Fn(usize) -> u8| {
                let positions = 0..shown.len();
                positions.max_by_key(|position| order(shown[*position]))
            };
            let droppable = highest(&early).filter(|position| early(shown[*position]) > 0);
            if let Some(position) = droppable {
                shown.remove(position);
                continue;
            }
            shape.wrap_widest(table, width);
            // A row that the terminal wraps is illegible: leave out what does not fit.
            match highest(&late).filter(|_| shape.width() > width && shown.len() > 1) {
                Some(position) => {
                    gone_late.push(shown[position]);
                    // Without it there may be room for what went before.
                    shown.clone_from(&used);
                    shown.retain(|at| !gone_late.contains(at));
                }
                None => break shape,
            }
        };
        let gone = used.iter().filter(|at| !shown.contains(at));
        let gone = gone.filter_map(|at| table.columns.get(*at));
        for column in gone {
            // Reads and writes may have columns of one name.
            if !shape.left_out.contains(&column.heading) {
                shape.left_out.push(column.heading.clone());
            }
        }
        let whole = Shape {
            gap: 1,
            ..Shape::with(table, &used)
        };
        shape.whole_width = whole.width();
        shape
    }

    /// These columns, each as wide as its widest text.
    fn with(table: &SheetTable, shown: &[usize]) -> Shape {
        let width = |at: usize| {
            let heading = table.columns.get(at);
            let heading = heading.map(|column| column.heading.width());
            cells_width(table, at).max(heading.unwrap_or(0))
        };
        Shape {
            columns: shown.iter().map(|at| (*at, width(*at))).collect(),
            gap: GAP,
            left_out: Vec::new(),
            whole_width: 0,
        }
    }

    fn width(&self) -> usize {
        let columns = self.columns.iter().map(|(_, width)| width + self.gap);
        columns.sum::<usize>().saturating_sub(self.gap)
    }

    /// Narrows columns, the widest first, until all fit: first those with no word longer than
    /// their new width, then numeric ones that may be wrapped, by and by so that they stay alike,
    /// then others. For other numeric columns, only the headings are wrapped.
    fn wrap_widest(&mut self, table: &SheetTable, width: usize) {
        /// The smallest width of a column.
        type Least = fn(&SheetTable, usize) -> usize;
        let passes = [
            (least_width as Least, 1),
            (wrapped_width, 2),
            (narrow_width, 1),
        ];
        for (least, part) in passes {
            while let Some(excess @ 1..) = self.width().checked_sub(width) {
                let words = self.columns.iter_mut();
                let words = words.map(|(at, width)| (least(table, *at), width));
                let wide = words.filter(|(least, width)| **width > *least);
                let Some((least, widest)) = wide.max_by_key(|(_, width)| **width) else {
                    break;
                };
                *widest = widest.saturating_sub(excess.div_ceil(part)).max(least);
            }
        }
    }

    /// A row, in several lines if cells are wrapped.
    fn row(&self, table: &SheetTable, row: &[Cell], paint: Paint<'_>) -> String {
        let empty = Cell::default();
        let columns = self.columns.iter();
        let cells: Vec<(&Cell, Vec<String>)> = columns
            .map(|(at, width)| {
                let cell = row.get(*at).unwrap_or(&empty);
                let lines = match cell.is_path {
                    true => vec![shortened(&cell.text, *width)],
                    false => wrapped_lines(&cell.text, *width),
                };
                (cell, lines)
            })
            .collect();
        let height = cells.iter().map(|(_, lines)| lines.len()).max();
        let line = |number: usize| {
            let mut line = String::new();
            for ((at, width), (cell, lines)) in self.columns.iter().zip(&cells) {
                let text = lines.get(number).map_or("", String::as_str);
                let blanks = " ".repeat(width.saturating_sub(text.width()));
                let painted = match cell.judgement.filter(|_| !text.is_empty()) {
                    Some(judgement) => paint(emphasis(judgement), text),
                    None => text.to_owned(),
                };
                match table.is_number(*at) {
                    true => line.push_str(&(blanks + &painted)),
                    false => line.push_str(&(painted + &blanks)),
                }
                line.push_str(&" ".repeat(self.gap));
            }
            line.trim_end().to_owned() + "\n"
        };
        (0..height.unwrap_or(0)).map(line).collect()
    }
}

/// A text column keeps its longest word whole, unless that is a very long name.
fn least_width(table: &SheetTable, index: usize) -> usize {
    if table.is_number(index) {
        return cells_width(table, index).max(heading_width(table, index));
    }
    let longest = longest_word(table, index, |_| true);
    let names = longest.clamp(NARROW, WORD_MAX);
    names.max(longest_word(table, index, is_number))
}

/// The same with the numbers of a cell below each other, where a numeric column allows it.
fn wrapped_width(table: &SheetTable, index: usize) -> usize {
    let column = table.columns.get(index);
    match column.is_some_and(|column| column.wraps) {
        true => longest_word(table, index, |_| true).max(heading_width(table, index)),
        false => least_width(table, index),
    }
}

/// The longest word of a heading.
fn heading_width(table: &SheetTable, index: usize) -> usize {
    let heading = table.columns.get(index);
    let words = heading.map_or_else(Vec::new, |column| unbroken(&column.heading));
    words.iter().map(|word| word.width()).max().unwrap_or(0)
}

/// The same if that is too much: all names are shortened except those of the first column,
/// which identifies the row.
fn narrow_width(table: &SheetTable, index: usize) -> usize {
    match table.used_columns().first() == Some(&index) || table.is_number(index) {
        true => wrapped_width(table, index),
        false => NARROW.max(longest_word(table, index, is_number)),
    }
}

/// The width of the widest cell of a column.
fn cells_width(table: &SheetTable, index: usize) -> usize {
    let cells = table.rows.iter().filter_map(|row| row.get(index));
    cells.map(|cell| cell.text.width()).max().unwrap_or(0)
}

/// The width of the longest word of a column for which `counts` is true.
fn longest_word(table: &SheetTable, index: usize, counts: fn(&str) -> bool) -> usize {
    let cells = table.rows.iter().filter_map(|row| row.get(index));
    let words = cells.flat_map(|cell| match cell.is_path {
        true => vec![cell.text.clone()],
        false => unbroken(&cell.text),
    });
    let words = words.filter(|word| counts(word));
    words.map(|word| word.width()).max().unwrap_or(0)
}

/// Wraps a text with optional leading blanks; further lines start with `indent`.
pub fn wrapped_at(text: &str, indent: &str, width: usize) -> String {
    let leading = text.len() - text.trim_start().len();
    let (first, rest) = (&text[..leading], text.trim());
    // The indents differ little: use the wider one.
    let room = width.saturating_sub(leading.max(indent.len()));
    let lines = wrapped_lines(rest, room.max(NARROW));
    format!("{first}{}\n", lines.join(&format!("\n{indent}")))
}

/// Wraps words into lines of at most `width` columns. A longer name is shortened; a longer
/// number has a line of its own.
fn wrapped_lines(text: &str, width: usize) -> Vec<String> {
    in_lines(text, width, |word| match is_number(&word) {
        true => word,
        false => shortened(&word, width),
    })
}

/// The same for paths and commands: a longer path has a line of its own.
fn whole_words(text: &str, width: usize) -> Vec<String> {
    in_lines(text, width, |word| word)
}

fn in_lines(text: &str, width: usize, fitted: impl Fn(String) -> String) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    for word in unbroken(text).into_iter().map(fitted) {
        let line = lines.len() - 1;
        if lines[line].is_empty() {
            lines[line] = word;
        } else if lines[line].width() + 1 + word.width() <= width {
            lines[line].push(' ');
            lines[line].push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

/// Whether a word is the unit of the number before it.
pub(crate) fn is_unit(word: &str, before: &str) -> bool {
    const UNITS: [&str; 17] = [
        "%", "IOPS", "ns", "us", "µs", "ms", "s", "m", "h", "B", "KiB", "MiB", "GiB", "TiB",
        "KiB/s", "MiB/s", "GiB/s",
    ];
    let unit = word.trim_end_matches(['.', ',', ';', ':', ')']);
    before.ends_with(|letter: char| letter.is_ascii_digit()) && UNITS.contains(&unit)
}

/// The words of a text, with units joined to their numbers.
fn unbroken(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let number = words.last_mut().filter(|last| is_unit(word, last));
        match number {
            Some(number) => *number = format!("{number} {word}"),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Whether a word is a number, with or without its unit, an interval, or a limit such as
/// `iops>=20000`: shortening would change its meaning.
fn is_number(word: &str) -> bool {
    let begin = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
    let is_path = word.starts_with(['/', '.']);
    let begins = begin.starts_with(|letter: char| letter.is_ascii_digit());
    // A target contains `=`, which in limits follows another sign.
    !is_path && begins || word.contains(['<', '>'])
}

/// A name of at most `width` columns, cut in its middle if longer.
fn shortened(name: &str, width: usize) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let take = |letters: &mut dyn Iterator<Item = char>, room: usize| {
        let mut taken = String::new();
        for letter in letters {
            if taken.width() + letter.to_string().width() > room {
                break;
            }
            taken.push(letter);
        }
        taken
    };
    let room = width.saturating_sub(1);
    let begin = take(&mut name.chars(), room / 2);
    let end = take(&mut name.chars().rev(), room - begin.width());
    let end: String = end.chars().rev().collect();
    format!("{begin}\u{2026}{end}")
}

#[cfg(test)]
mod tests;
