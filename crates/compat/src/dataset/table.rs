//! The CSV of a published table, and a rule that finds misprints in it.
//!
//! The files are embedded in the program, so a parse error is a bug and panics; the tests read
//! every file.

use super::PublishedDifference;
use stripewise_units::{ByteSize, format_count};

/// A printed number with its printed digits.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub value: f64,
    pub text: &'static str,
    pub decimals: i32,
}

/// One column of one row.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    /// `17:64K`: line and column.
    pub id: String,
    pub line: u64,
    pub operation: &'static str,
    pub pattern: &'static str,
    pub threads: Option<u32>,
    pub outstanding_total: Option<u32>,
    pub block_size_bytes: Option<u64>,
    /// Name of the column; `None` if there is only one.
    pub level: Option<String>,
    pub offset_bytes: Option<u64>,
    pub unit_bytes: Option<u64>,
    pub iops: Figure,
    pub mb_per_s: Option<Figure>,
}

/// A table.
pub(super) struct Table {
    pub levels: Vec<String>,
    pub cells: Vec<Cell>,
    pub differences: Vec<PublishedDifference>,
}

/// One row by column name.
struct Row {
    line: u64,
    fields: Vec<(&'static str, &'static str)>,
}

impl Row {
    fn field(&self, name: &str) -> Option<&'static str> {
        let found = self.fields.iter().find(|(heading, _)| *heading == name);
        found.map(|(_, text)| *text)
    }

    fn figure(&self, name: &str) -> Option<Figure> {
        let text = self.field(name)?;
        Some(Figure {
            value: number(text),
            text,
            decimals: text
                .split_once('.')
                .map_or(0, |(_, decimals)| decimals.len() as i32),
        })
    }

    fn count(&self, name: &str) -> Option<u32> {
        self.field(name).map(|text| number(text) as u32)
    }
}

fn number(text: &str) -> f64 {
    text.parse()
        .unwrap_or_else(|_| panic!("a published table contains `{text}`, which is not a number"))
}

fn bytes(text: &str) -> u64 {
    let size: Result<ByteSize, _> = text.parse();
    size.unwrap_or_else(|_| panic!("a published table contains `{text}`, which is not a size"))
        .bytes()
}

impl Table {
    pub fn parse(csv: &'static str) -> Table {
        let mut lines = csv.lines();
        let headings: Vec<&'static str> = lines.next().unwrap_or("").split(',').collect();
        let rows: Vec<Row> = lines
            .zip(2..)
            .map(|(text, line)| Row {
                line,
                fields: headings.iter().copied().zip(text.split(',')).collect(),
            })
            .collect();
        let levels: Vec<&'static str> = headings
            .iter()
            .filter_map(|heading| heading.strip_prefix("iops_"))
            .collect();
        let mut cells = Vec::new();
        for row in &rows {
            if levels.is_empty() {
                cells.push(cell(row, None));
            }
            cells.extend(levels.iter().map(|level| cell(row, Some(level))));
        }
        Table {
            levels: levels.iter().map(|level| level_name(level)).collect(),
            cells,
            differences: rows.iter().flat_map(differences).collect(),
        }
    }
}

/// `64K` from `offset_64K`.
fn level_name(heading: &str) -> String {
    heading.rsplit('_').next().unwrap_or(heading).to_owned()
}

fn cell(row: &Row, level: Option<&&'static str>) -> Cell {
    let column = |metric: &str| match level {
        Some(level) => format!("{metric}_{level}"),
        None => metric.to_owned(),
    };
    let size_of = |factor: &str| {
        let name = level.and_then(|level| level.strip_prefix(factor));
        name.map(bytes)
    };
    let name = level.map(|level| level_name(level));
    Cell {
        id: match &name {
            Some(name) => format!("{}:{name}", row.line),
            None => row.line.to_string(),
        },
        line: row.line,
        operation: row.field("operation").unwrap_or_default(),
        pattern: row.field("pattern").unwrap_or_default(),
        threads: row.count("threads"),
        outstanding_total: row.count("outstanding_total"),
        block_size_bytes: row.field("block_size").map(bytes),
        level: name,
        offset_bytes: size_of("offset_"),
        unit_bytes: size_of("unit_"),
        iops: row
            .figure(&column("iops"))
            .expect("every row of a published table has its IOPS"),
        mb_per_s: row.figure(&column("mb_per_s")),
    }
}

fn differences(row: &Row) -> Vec<PublishedDifference> {
    let columns = [
        ("iops", "published_iops_diff_percent"),
        ("mib_per_s", "published_mb_diff_percent"),
    ];
    columns
        .into_iter()
        .filter_map(|(metric, column)| {
            Some(PublishedDifference {
                operation: row.field("operation")?.to_owned(),
                pattern: row.field("pattern")?.to_owned(),
                threads: row.count("threads")?,
                metric,
                percent: number(row.field(column)?),
            })
        })
        .collect()
}

/// Cells whose MB/s and IOPS contradict each other, and how the last digit of the others was
/// rounded.
///
/// IOPS x block / 2^20 must match the printed MB/s within one unit of its last digit (which may
/// have been rounded or truncated), widened by the precision of the printed IOPS.
pub(super) fn misprints(cells: &[Cell], block_size_bytes: u64) -> Vec<String> {
    let mut notes = Vec::new();
    let (mut printed, mut cut) = (0, 0);
    for cell in cells {
        let Some(mb) = &cell.mb_per_s else { continue };
        let block = cell.block_size_bytes.unwrap_or(block_size_bytes);
        let mib_of_one = block as f64 / 1_048_576.0;
        let derived = cell.iops.value * mib_of_one;
        let last_digit = 10f64.powi(-mb.decimals);
        let open = 0.5 * 10f64.powi(-cell.iops.decimals) * mib_of_one;
        printed += 1;
        if (derived - mb.value).abs() >= last_digit + open {
            notes.push(misprint(cell, mb, block, derived));
        } else if derived - mb.value > 0.5 * last_digit + open {
            cut += 1;
        }
    }
    if cut > 0 {
        notes.push(format!(
            "{cut} of the {printed} printed MB/s are truncated to their last digit, not rounded, as SQLIO \
             prints them; differences of MB/s are of the printed figures."
        ));
    }
    notes
}

fn misprint(cell: &Cell, mb: &Figure, block: u64, derived: f64) -> String {
    let load = match (cell.threads, cell.outstanding_total) {
        (Some(threads), _) => format!("{threads} threads"),
        (None, Some(outstanding)) => format!("{outstanding} outstanding"),
        (None, None) => String::new(),
    };
    let at = cell
        .level
        .as_ref()
        .map(|level| format!(", {level}"))
        .unwrap_or_default();
    format!(
        "the printed MB/s do not fit the IOPS: {} {}, {load}{at}: {} for {} IOPS x {} = {derived:.2}.",
        cell.pattern,
        cell.operation,
        mb.text,
        with_thousands(cell.iops.text),
        ByteSize(block),
    )
}

/// `9,772.27` from `9772.27`.
fn with_thousands(text: &str) -> String {
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let grouped = whole
        .parse()
        .map_or_else(|_| whole.to_owned(), format_count);
    format!("{grouped}{rest}")
}
