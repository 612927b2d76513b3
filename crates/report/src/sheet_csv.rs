//! One table of a sheet as CSV: exact numbers if known, and every column.

use crate::csv::csv_text;
use crate::sheet::{Cell, SheetTable};
use stripewise_results::AnswerBound;

/// The table with its headings, one line per row.
pub fn sheet_csv(table: &SheetTable) -> String {
    let headings = table.columns.iter().map(|column| csv_text(&column.heading));
    let cell = |cell: &Cell| match cell.value.filter(|_| cell.interval.is_none()) {
        Some(value) => format!("{}{value}", cell.bound.map_or("", sign_of)),
        None => csv_text(&cell.text),
    };
    let row = |row: &Vec<Cell>| row.iter().map(cell).collect::<Vec<_>>().join(",");
    let headings = headings.collect::<Vec<_>>().join(",");
    let lines = (!headings.is_empty()).then_some(headings).into_iter();
    let lines = lines.chain(table.rows.iter().map(row));
    lines.map(|line| line + "\n").collect()
}

/// What says that a number is a bound, in letters that every program reads.
fn sign_of(bound: AnswerBound) -> &'static str {
    match bound {
        AnswerBound::AtLeast => ">=",
        AnswerBound::AtMost => "<=",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::Column;

    #[test]
    fn numbers_are_exact_and_words_are_no_formulas() {
        let columns = [Column::text("load"), Column::number("IOPS").dropped(1)];
        let row = vec![Cell::from("=a,b"), Cell::exact("48,900", 48_931.5)];
        let table = SheetTable::new("Loads", columns, vec![row]);
        assert_eq!(sheet_csv(&table), "load,IOPS\n\"'=a,b\",48931.5\n");
        let bound = Cell::bounded("48,900", 48_931.5, Some(AnswerBound::AtLeast));
        assert_eq!(bound.text, "\u{2265} 48,900");
        // Whatever the text begins with.
        let knee = Cell {
            text: format!("knee {}", bound.text),
            ..bound.clone()
        };
        let rows = vec![vec![bound], vec![knee]];
        let table = SheetTable::new("Loads", vec![Column::number("IOPS")], rows);
        assert_eq!(sheet_csv(&table), "IOPS\n>=48931.5\n>=48931.5\n");
    }
}
