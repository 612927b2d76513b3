//! A repeated study next to its printed figures, as a sheet.

use super::document::{StudyDocument, StudyRate, StudyRow, StudyTable};
use stripewise_report::{
    Annotation, Axis, Cell, Chart, Column, Form, Judgement, Panel, Point, Quantity, Scale, Series,
    Sheet, SheetTable,
};
use stripewise_units::{capitalised, format_iops};

/// Maximum number of levels side by side; more are placed one below the other.
const LEVELS_SIDE_BY_SIDE: usize = 2;
/// New rates within this many per cent are called close.
const CLOSE_PERCENT: f64 = 5.0;
/// Maximum number of rows in one picture.
const ROWS_MAX: usize = 45;

/// How far the new figures are from the printed ones, the tables, then what is not explained.
pub fn study_sheet(document: &StudyDocument) -> Sheet {
    let partial = match document.status {
        "partial" => Some((Judgement::Open, "Partial".to_owned())),
        _ => None,
    };
    let means: Vec<String> = document.tables.iter().map(mean_words).collect();
    let unexplained = document.unexplained.iter();
    let unexplained = unexplained.map(|text| format!("The model does not explain this. {text}"));
    Sheet {
        title: format!("{} on {}", document.study, document.target),
        subtitle: document.about.clone(),
        verdict: partial,
        answer: means.join("; "),
        tables: document.tables.iter().map(table).collect(),
        charts: document.tables.iter().filter_map(chart).collect(),
        notes: unexplained.chain(document.notes.iter().cloned()).collect(),
        ..Sheet::default()
    }
}

/// `partition offset: own rates differ from the published ones by 6.3 % on average, 40 of 72 by
/// at most 5 %`.
fn mean_words(table: &StudyTable) -> String {
    let about = match table.factor.as_str() {
        "" => String::new(),
        factor => format!("{factor}: "),
    };
    let Some(mean) = table.mean_difference_percent else {
        return format!("{about}no published rate to compare with");
    };
    let rates = table.rows.iter().flat_map(|row| &row.rates);
    let known: Vec<f64> = rates.filter_map(|rate| rate.difference_percent).collect();
    let close = known.iter().filter(|one| one.abs() <= CLOSE_PERCENT);
    format!(
        "{about}own rates differ from the published ones by {mean:.1} % on average, {} of {} by at most {CLOSE_PERCENT} %",
        close.count(),
        known.len()
    )
}

fn table(table: &StudyTable) -> SheetTable {
    let levels = match table.levels.iter().any(|level| level.contains(',')) {
        // Levels of two factors contain a comma.
        true => table.levels.join("; "),
        false => table.levels.join(", "),
    };
    let title = match table.factor.as_str() {
        "" => String::new(),
        factor => format!("{}: {levels}", capitalised(factor)),
    };
    match table.levels.len() {
        0..=LEVELS_SIDE_BY_SIDE => side_by_side(&title, table),
        _ => below(&title, table),
    }
}

fn rate(iops: Option<f64>) -> Cell {
    iops.map_or_else(Cell::default, |iops| Cell::exact(format_iops(iops), iops))
}

fn signed(percent: Option<f64>) -> Cell {
    // A value that rounds to zero has no sign: adding 0 turns -0 into 0.
    let rounded = |percent: f64| (10.0 * percent).round() / 10.0 + 0.0;
    percent.map_or_else(Cell::default, |percent| {
        Cell::exact(format!("{:+.1} %", rounded(percent)), percent)
    })
}

fn of_rate(one: &StudyRate) -> [Cell; 3] {
    [
        rate(one.published_iops),
        rate(one.own_iops),
        signed(one.difference_percent),
    ]
}

/// Few levels: one line per row.
fn side_by_side(title: &str, table: &StudyTable) -> SheetTable {
    let mut columns = vec![Column::text("Load")];
    for level in &table.levels {
        columns.extend([
            Column::number(level),
            Column::number("own"),
            Column::number("diff").dropped(1),
        ]);
    }
    columns.extend([Column::number("gain"), Column::number("own gain")]);
    let row = |row: &StudyRow| {
        let mut cells = vec![Cell::from(row.cell.as_str())];
        cells.extend(row.rates.iter().flat_map(of_rate));
        if table.levels.len() > 1 {
            cells.extend([row.published_gain_percent, row.own_gain_percent].map(signed));
        }
        cells
    };
    SheetTable::new(title, columns, table.rows.iter().map(row).collect())
}

/// Many levels: a line for each level under its row.
fn below(title: &str, table: &StudyTable) -> SheetTable {
    let columns = [
        Column::text("Load"),
        Column::text("Level"),
        Column::number("published"),
        Column::number("own"),
        Column::number("diff").dropped(1),
        Column::number("over the first"),
    ];
    let of_row = |row: &StudyRow| {
        let first = row.rates.first().and_then(|one| one.own_iops);
        let line = |(number, (level, one)): (usize, (&String, &StudyRate))| {
            let over_first = one.own_iops.zip(first.filter(|first| *first > 0.0));
            let name = if number == 0 { row.cell.as_str() } else { "" };
            let mut cells = vec![Cell::from(name), level.as_str().into()];
            cells.extend(of_rate(one));
            cells.push(signed(
                over_first.map(|(own, first)| 100.0 * (own / first - 1.0)),
            ));
            cells
        };
        let levels = table.levels.iter().zip(&row.rates).enumerate();
        levels.map(line).collect::<Vec<_>>()
    };
    SheetTable::new(title, columns, table.rows.iter().flat_map(of_row).collect())
}

/// Published and new figures of each load next to each other: the gain of the last level, or the
/// rates if there is only one level.
fn chart(table: &StudyTable) -> Option<Chart> {
    let has_levels = table.levels.len() > 1;
    let values = |row: &StudyRow| match (has_levels, row.rates.first()) {
        (true, _) => [row.published_gain_percent, row.own_gain_percent],
        (false, Some(one)) => [one.published_iops, one.own_iops],
        (false, None) => [None, None],
    };
    let rows: Vec<&StudyRow> = (table.rows.iter())
        .filter(|row| values(row).iter().any(Option::is_some))
        .take(ROWS_MAX)
        .collect();
    if rows.is_empty() {
        return None;
    }
    let last = rows.len() - 1;
    let series = ["published", "own"].into_iter().enumerate();
    let series = series.map(|(which, name)| {
        let each = rows.iter().enumerate();
        let points = each.filter_map(|(index, row)| {
            let value = values(row)[which]?;
            Some(Point::new(value, (last - index) as f64))
        });
        Series::new(name, Form::Intervals, which, points.collect())
    });
    let names: Vec<String> = rows.iter().rev().map(|row| row.cell.clone()).collect();
    let what = match (has_levels, table.levels.as_slice()) {
        (true, [first, .., last]) => format!("Gain of {last} over {first}"),
        _ => "IOPS".to_owned(),
    };
    let (quantity, scale) = match has_levels {
        true => (Quantity::Difference, Scale::FromZero),
        false => (Quantity::Iops, Scale::FromZero),
    };
    let zero = has_levels.then(|| Annotation::AtX {
        x: 0.0,
        label: String::new(),
    });
    let name = match table.factor.as_str() {
        "" => "study".to_owned(),
        factor => format!("study-{}", factor.replace(' ', "-")),
    };
    Some(Chart {
        cautions: Vec::new(),
        name,
        title: format!("{what}, published and own"),
        summary: capitalised(&mean_words(table)) + ".",
        x: Axis {
            title: what,
            quantity,
            scale,
        },
        panels: vec![Panel {
            y: Axis {
                title: "Load".to_owned(),
                quantity: Quantity::Name,
                scale: Scale::Names(names),
            },
            series: series.collect(),
            annotations: zero.into_iter().collect(),
        }],
    })
}
