//! The list of stored runs.

use crate::number::rate;
use crate::sheet::{Cell, Column, Judgement, SheetTable};
use stripewise_results::AnswerBound;
use stripewise_units::format_three_digits;

/// One stored run, as the list shows it.
#[derive(Clone, Debug, Default)]
pub struct HistoryRow {
    /// Id of the run, or of its group.
    pub id: String,
    /// The day on which it was measured, as far as known.
    pub date: String,
    /// Kind of the group: `bench`, `grid`, `check`; empty for a single run.
    pub series: String,
    /// Target's name.
    pub target: String,
    /// Short description: `random read 8K 8 in flight`.
    pub what: String,
    /// IOPS of all jobs.
    pub iops: Option<f64>,
    /// They are only a bound.
    pub bound: Option<AnswerBound>,
    /// Replaces `iops` if the unit is another one: `2,532 MiB/s`.
    pub amount: String,
    /// `partial`, `VOID`, what became of requirements, or nothing.
    pub status: String,
    /// The user's label.
    pub label: String,
}

/// The list as a table. The day is shown if the id does not begin with it.
pub fn history_table(rows: &[HistoryRow]) -> SheetTable {
    let columns = [
        Column::text("Run"),
        Column::text("Date").dropped(1),
        Column::text("Kind").dropped_late(3),
        Column::text("Target"),
        Column::text("Workload").dropped_late(2),
        Column::number("IOPS"),
        Column::text("Status"),
        Column::text("Label").dropped_late(1),
    ];
    let row = |row: &HistoryRow| {
        let is_of_id = row.id.starts_with(&row.date.replace('-', ""));
        let amount = match (row.amount.as_str(), row.iops) {
            ("", Some(iops)) => {
                // In as many digits as the bench itself.
                let text = match row.series.as_str() {
                    "bench" => format_three_digits(iops),
                    _ => rate(iops),
                };
                Cell::bounded(&text, iops, row.bound)
            }
            (amount, _) => amount.into(),
        };
        let is_bad = row.status.contains("VOID") || row.status == "missed";
        vec![
            Cell::from(row.id.as_str()),
            if is_of_id { "" } else { row.date.as_str() }.into(),
            row.series.as_str().into(),
            Cell::target(&row.target),
            row.what.as_str().into(),
            amount,
            match is_bad {
                true => Cell::judged(row.status.as_str(), Judgement::Bad),
                false => row.status.as_str().into(),
            },
            row.label.as_str().into(),
        ]
    };
    SheetTable::new("", columns, rows.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet_text::table_text;

    fn row(label: &str) -> HistoryRow {
        HistoryRow {
            id: "20261122-101530-abcd".to_owned(),
            date: "2026-11-22".to_owned(),
            series: "bench".to_owned(),
            target: "/mnt/volumes/of/the/old/array/data/database".to_owned(),
            what: "33 runs; sequential read".to_owned(),
            amount: "12,532 MiB/s".to_owned(),
            status: "VOID".to_owned(),
            label: label.to_owned(),
            ..HistoryRow::default()
        }
    }

    #[test]
    fn a_bench_is_listed_with_the_number_that_it_printed() {
        let of = |series: &str| HistoryRow {
            series: series.to_owned(),
            amount: String::new(),
            iops: Some(427_149.3),
            ..row("")
        };
        let table = history_table(&[of("bench"), of("check")]);
        let text = table_text(&table, 160, &|_, text| text.to_owned());
        for number in ["427,000", "427,149"] {
            assert!(text.contains(number), "{text}");
        }
    }

    #[test]
    fn a_path_with_blanks_is_shortened_and_not_broken() {
        let mut spaced = row("");
        spaced.target =
            "/data/a name that has many more words than a table has room for".to_owned();
        spaced.what = "random read".to_owned();
        let table = history_table(&[spaced]);
        let text = table_text(&table, 80, &|_, text| text.to_owned());
        assert!(text.lines().count() <= 5, "{text}");
        assert!(text.contains('\u{2026}'), "{text}");
        // What is copied from the list is the path.
        let mut short = row("");
        short.target = "/data/two words".to_owned();
        let text = table_text(&history_table(&[short]), 160, &|_, text| text.to_owned());
        assert!(text.contains(" /data/two words "), "{text}");
    }

    #[test]
    fn a_label_is_shown_in_full_at_any_width() {
        let long = "before the change of March that nobody remembers";
        let mut imported = row("");
        imported.date = "2007-03-01".to_owned();
        // Parameters in a simulated array's name are not numbers that must stay whole.
        let mut simulated = row("");
        simulated.target = "sim:raid10-10k?offset=63s&stripe_unit=64K&disks=8".to_owned();
        let table = history_table(&[row(long), row(""), imported, simulated]);
        for width in [80, 100, 160, 200] {
            let text = table_text(&table, width, &|_, text| text.to_owned());
            let lines = || text.lines();
            assert!(lines().all(|line| line.chars().count() <= width), "{text}");
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for word in long
                .split(' ')
                .chain(["12,532", "VOID", "20261122-101530-abcd"])
            {
                assert!(words.contains(word), "{word}: {text}");
            }
            assert!(!text.contains("2026-11-22"), "{text}");
            assert_eq!(text.contains("2007-03-01"), width == 200, "{text}");
        }
    }
}
