//! One way to draw a table: no borders but a rule under the heading, numbers to
//! the right, at most 100 columns.

use comfy_table::{CellAlignment, Table, presets};

/// Columns of a table: heading and whether its cells are numbers.
pub(crate) struct Column<'a> {
    pub heading: &'a str,
    pub number: bool,
}

/// A column of words.
pub(crate) const fn words(heading: &str) -> Column<'_> {
    Column {
        heading,
        number: false,
    }
}

/// A column of numbers.
pub(crate) const fn number(heading: &str) -> Column<'_> {
    Column {
        heading,
        number: true,
    }
}

/// Draws rows under columns. Columns whose cells are all empty are left out, so
/// that a narrow question gets a narrow table; a wide one moves them closer.
pub(crate) fn draw(columns: &[Column<'_>], rows: &[Vec<String>]) -> String {
    let wide = draw_apart(columns, rows, 2);
    if wide.lines().all(|line| line.chars().count() <= COLUMNS_MAX) {
        return wide;
    }
    draw_apart(columns, rows, 1)
}

/// The longest line that a table should have.
const COLUMNS_MAX: usize = 100;

/// Draws with so many blanks between columns.
fn draw_apart(columns: &[Column<'_>], rows: &[Vec<String>], blanks: u16) -> String {
    let used: Vec<usize> = (0..columns.len())
        .filter(|&index| {
            rows.iter()
                .any(|row| row.get(index).is_some_and(|cell| !cell.is_empty()))
        })
        .collect();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(used.iter().map(|&index| columns[index].heading));
    for row in rows {
        table.add_row(
            used.iter()
                .map(|&index| row.get(index).cloned().unwrap_or_default()),
        );
    }
    for (position, &index) in used.iter().enumerate() {
        if let Some(column) = table.column_mut(position) {
            column.set_padding((0, blanks));
            if columns[index].number {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    let mut text = String::new();
    for (index, line) in table.to_string().lines().enumerate() {
        text.push_str(line.trim_end());
        text.push('\n');
        if index == 0 {
            let width = table
                .lines()
                .map(|line| line.trim_end().chars().count())
                .max()
                .unwrap_or(0);
            text.push_str(&"-".repeat(width));
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_empty_columns_are_left_out() {
        let text = draw(
            &[words("Name"), number("IOPS"), words("Note")],
            &[
                vec!["a".into(), "9,800".into(), String::new()],
                vec!["bb".into(), "12".into(), String::new()],
            ],
        );
        assert_eq!(text, "Name   IOPS\n-----------\na     9,800\nbb       12\n");
    }
}
