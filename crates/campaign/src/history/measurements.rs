//! Measurements without runs in the table of the history.

use crate::steps::measured::Measurement;
use stripewise_report::HistoryRow;

/// As a row of the table.
pub fn row(one: &Measurement) -> HistoryRow {
    HistoryRow {
        id: one.id.clone(),
        date: one.started_at.get(..10).unwrap_or_default().to_owned(),
        series: one.kind.clone(),
        target: one.target.clone(),
        what: one.what.clone(),
        amount: one.result.clone(),
        status: one.status.clone(),
        ..HistoryRow::default()
    }
}

/// Merges rows of runs, given their start times, with those of measurements, newest
/// first. Rows of runs keep their order, which is that of storing: an imported
/// result may be as old as its file, but stays where it was imported.
pub fn merged(
    runs: Vec<(Option<String>, HistoryRow)>,
    measurements: &[Measurement],
    limit: usize,
) -> Vec<HistoryRow> {
    let mut rest = measurements.iter().peekable();
    let mut rows = Vec::new();
    for (started_at, run) in runs {
        if let Some(started_at) = started_at {
            while let Some(one) = rest.next_if(|one| one.started_at > started_at) {
                rows.push(row(one));
            }
        }
        rows.push(run);
    }
    rows.extend(rest.map(row));
    rows.truncate(limit);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::measured::{FILL, PROFILE, of};
    use crate::steps::verification::DOCUMENT_KIND as VERIFY;
    use stripewise_store::StoredDocument;

    fn measurement(id: &str, started_at: &str) -> Measurement {
        Measurement {
            id: id.to_owned(),
            kind: PROFILE.to_owned(),
            started_at: started_at.to_owned(),
            host: String::new(),
            target: "sdb".to_owned(),
            what: "surface".to_owned(),
            result: String::new(),
            status: String::new(),
        }
    }

    #[test]
    fn measurements_stand_where_their_time_puts_them() {
        let run = |id: &str, started_at: Option<&str>| {
            let row = HistoryRow {
                id: id.to_owned(),
                ..HistoryRow::default()
            };
            (started_at.map(str::to_owned), row)
        };
        let runs = || {
            vec![
                run("imported", None),
                run("noon", Some("2026-11-22T12:00")),
                run("morning", Some("2026-11-22T08:00")),
            ]
        };
        let measurements = [
            measurement("ten", "2026-11-22T10:00"),
            measurement("six", "2026-11-22T06:00"),
        ];
        let ids = |limit: usize| -> Vec<String> {
            let rows = merged(runs(), &measurements, limit);
            rows.into_iter().map(|row| row.id).collect()
        };
        assert_eq!(ids(9), ["imported", "noon", "ten", "morning", "six"]);
        assert_eq!(ids(3), ["imported", "noon", "ten"]);
    }

    #[test]
    fn each_kind_says_what_it_came_to() {
        let stored = |json: &str| StoredDocument {
            name: "x".to_owned(),
            stored_at: String::new(),
            json: json.to_owned(),
        };
        let verify = r#"{"id":"v","mode":"burn-in","started_at":"2026-11-22T10:00:00Z",
            "host":"h","verdict":"faults","targets":[{"name":"sdb"}],"verified_bytes":1048576}"#;
        let row = |kind, json| row(&of(kind, &stored(json)).expect("a measurement"));
        let verified = row(VERIFY, verify);
        assert_eq!(verified.date, "2026-11-22");
        let words = [&verified.what, &verified.amount, &verified.status];
        assert_eq!(words, ["burn-in", "1 MiB", "faults"]);
        let profile = r#"{"id":"p","measured_at":"2026-11-22T10:00:00Z","target":{"name":"sda"},
            "rate_median_bytes_per_s":104857600.0,"cut_short":"the time limit was reached"}"#;
        let profiled = row(PROFILE, profile);
        let words = [&profiled.target, &profiled.amount, &profiled.status];
        assert_eq!(words, ["sda", "100 MiB/s", "cut short"]);
        let fill = r#"{"id":"f","measured_at":"2026-11-22T10:00:00Z","target":{"name":"sda"},
            "stretches":[{"bytes_per_s":1572864000.0}],"cut_short":null}"#;
        assert_eq!(row(FILL, fill).amount, "1,500 MiB/s");
        assert!(of(FILL, &stored("{}")).is_none());
    }
}
