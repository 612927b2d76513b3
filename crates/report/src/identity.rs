//! Distinguishes measurements in one report: by label, target, where
//! it starts, block size, cache mode; and by date if nothing else does.
//! Lines of charts, rows of tables and sentences get their names from here, so
//! that one thing has one name on a page.

use std::collections::BTreeMap;
use stripewise_results::{
    Document, JobRow, Load, RequirementRecord, RunRecord, SeriesRecord, starts_at,
};
use stripewise_units::{ByteSize, distinct};

/// A property that may differ, with its column heading.
type Property = (&'static str, fn(&JobRow<'_>) -> String);

/// Properties shared by a series, a curve or a group of repetitions, in the order
/// in which they are named. The number in flight is excluded: it is an axis.
const OF_GROUP: [Property; 11] = [
    ("Label", |row| row.run.label.clone().unwrap_or_default()),
    ("Job", |row| {
        if row.run.jobs.len() > 1 {
            row.job.name.clone()
        } else {
            String::new()
        }
    }),
    ("Target", |row| row.target_names()),
    ("Starts at", |row| starts_at(&row.job.target)),
    ("Workload", kind),
    ("Block", |row| row.block_text().unwrap_or_default()),
    ("Offset", |row| {
        let bytes = row.job.workload.base_offset_bytes;
        measured(row, || format!("@{}", ByteSize(bytes)))
    }),
    ("Cache", |row| {
        row.cache()
            .map_or_else(String::new, |cache| cache.to_string())
    }),
    ("Rate", |row| {
        let rate = row.job.workload.rate.as_ref();
        rate.map_or_else(String::new, |rate| format!("{} a second", rate.iops))
    }),
    ("Engine", |row| {
        measured(row, || row.job.engine.name.clone())
    }),
    ("Think time", |row| {
        let think = row.job.workload.think_time;
        think.map_or_else(String::new, |think| format!("think {think}"))
    }),
];

/// Those that all series of a bench share: label, target, where it starts,
/// and engine.
const OF_BENCH: [usize; 4] = [0, 2, 3, 9];

/// Properties that further distinguish single jobs.
const OF_LOAD: [Property; 2] = [
    ("Threads", |row| {
        row.threads()
            .map_or_else(String::new, |value| format!("{value} thr"))
    }),
    ("Outstanding", |row| {
        row.outstanding()
            .map_or_else(String::new, |value| format!("{value} out"))
    }),
];

/// Properties that only runs of Stripewise have.
fn measured(row: &JobRow<'_>, text: impl Fn() -> String) -> String {
    match row.run.imported {
        None => text(),
        Some(_) => String::new(),
    }
}

/// `random read`, as far as known.
pub(crate) fn kind(row: &JobRow<'_>) -> String {
    let words = [row.pattern().map(str::to_owned), row.operation()];
    words.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Distinct names of adjacent items, and the properties in these names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// One for each; empty if there is only one item.
    pub(crate) names: Vec<String>,
    /// The properties that differ: `Target, Block`.
    pub(crate) heading: String,
}

/// Names of groups, given one job of each.
pub(crate) fn names_of_groups(rows: &[JobRow<'_>]) -> Names {
    distinguished(rows, &OF_GROUP)
}

/// Names of single jobs.
pub(crate) fn names_of_jobs(rows: &[JobRow<'_>]) -> Names {
    let all: Vec<Property> = OF_GROUP.into_iter().chain(OF_LOAD).collect();
    distinguished(rows, &all)
}

/// The load of a row.
pub(crate) fn load<'a>(row: &JobRow<'a>) -> Load<'a> {
    let run = row.run;
    let place = (run.host.name.as_str(), crate::words::ladder_part(run));
    Load::of_record(place, run.jobs.len(), row.job)
}

/// The shared properties of a group, to find its members.
pub(crate) fn group_key(row: &JobRow<'_>) -> Vec<String> {
    let mut key: Vec<String> = OF_GROUP.iter().map(|(_, of)| of(row)).collect();
    key.push(row.run.series.clone().unwrap_or_default());
    key
}

fn distinguished(rows: &[JobRow<'_>], properties: &[Property]) -> Names {
    if rows.len() < 2 {
        return Names {
            names: vec![String::new(); rows.len()],
            heading: String::new(),
        };
    }
    let values: Vec<Vec<String>> = rows
        .iter()
        .map(|row| properties.iter().map(|(_, of)| of(row)).collect())
        .collect();
    let differing: Vec<usize> = (0..properties.len())
        .filter(|&index| {
            values
                .iter()
                .any(|of_row| of_row[index] != values[0][index])
        })
        .filter(|&index| !is_evident_from_label(properties[index].0, index, &values))
        .collect();
    let name = |of_row: &Vec<String>| {
        let words = differing.iter().map(|&index| of_row[index].as_str());
        words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut names: Vec<String> = values.iter().map(name).collect();
    let mut headings: Vec<&str> = differing.iter().map(|&index| properties[index].0).collect();
    if add_dates(rows, &mut names) {
        headings.push("Date");
    }
    number_the_same(&mut names);
    if headings.is_empty() {
        headings.push("Run");
    }
    Names {
        names,
        heading: headings.join(", "),
    }
}

/// Whether the label, which the user chose as a name, already determines the target:
/// every row has one, and equal labels have equal targets.
fn is_evident_from_label(property: &str, index: usize, values: &[Vec<String>]) -> bool {
    if !matches!(property, "Target" | "Starts at") {
        return false;
    }
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    values.iter().all(|of_row| {
        let (label, value) = (of_row[0].as_str(), of_row[index].as_str());
        !label.is_empty() && *known.entry(label).or_insert(value) == value
    })
}

/// Adds dates to names that are otherwise equal: days, or minutes, or seconds,
/// whichever suffices. Returns whether it added any.
fn add_dates(rows: &[JobRow<'_>], names: &mut [String]) -> bool {
    let mut added = false;
    for index in 0..names.len() {
        let same: Vec<usize> = (index..names.len())
            .filter(|&other| names[other] == names[index])
            .collect();
        let date = |other: &usize, letters: usize| {
            let time = &rows[*other].run.started_at;
            time.get(..letters).map(|text| text.replace('T', " "))
        };
        let informs = |letters: usize| {
            let all: Vec<Option<String>> = same.iter().map(|other| date(other, letters)).collect();
            all.iter().all(Option::is_some)
                && (1..all.len()).all(|later| !all[..later].contains(&all[later]))
        };
        // A unique name needs no date.
        let letters = [10, 16, 19].into_iter().find(|&letters| informs(letters));
        let (Some(letters), true) = (letters, same.len() > 1) else {
            continue;
        };
        added = true;
        for other in &same {
            let date = date(other, letters).unwrap_or_default();
            let name = format!("{} {date}", names[*other]);
            name.trim_start().clone_into(&mut names[*other]);
        }
    }
    added
}

/// Numbers repetitions: only their order distinguishes them.
fn number_the_same(names: &mut [String]) {
    for index in 0..names.len() {
        let name = names[index].clone();
        let same: Vec<usize> = (index..names.len())
            .filter(|&other| names[other] == name)
            .collect();
        match (same.len(), name.is_empty()) {
            (1, true) if names.len() > 1 => "(none)".clone_into(&mut names[index]),
            (1, _) => {}
            _ => number(names, &name, &same),
        }
    }
}

fn number(names: &mut [String], name: &str, same: &[usize]) {
    let words = if name.is_empty() { "run" } else { name };
    for (number, &index) in same.iter().enumerate() {
        names[index] = format!("{words} #{}", number + 1);
    }
}

/// A ladder with its names in a report.
#[derive(Clone, Debug)]
pub(crate) struct NamedSeries<'a> {
    pub(crate) series: &'a SeriesRecord,
    /// Distinguishes it from others with its name; empty if there are none.
    pub(crate) what: String,
    /// The properties in `what`.
    pub(crate) heading: String,
}

impl NamedSeries<'_> {
    /// `Random read`, or `Random read, sim:raid10-10k` if there are several.
    pub(crate) fn title(&self) -> String {
        let title = crate::words::series_title(&self.series.name);
        if self.what.is_empty() {
            title
        } else {
            format!("{title}, {}", self.what)
        }
    }

    /// The answer, with what distinguishes it from other answers.
    pub(crate) fn sentence(&self) -> String {
        if self.what.is_empty() {
            self.series.sentence.clone()
        } else {
            format!("{}: {}", self.what, self.series.sentence)
        }
    }
}

/// The ladders of a document, grouped by name.
pub(crate) fn named_series(document: &Document) -> Vec<NamedSeries<'_>> {
    let parts = distinct(document.series.iter().map(|series| series.name.as_str()));
    let mut named = Vec::with_capacity(document.series.len());
    for part in parts {
        let of_part: Vec<&SeriesRecord> = document
            .series
            .iter()
            .filter(|series| series.name == part)
            .collect();
        let first_runs: Vec<Option<&RunRecord>> = of_part
            .iter()
            .map(|series| first_run(document, series))
            .collect();
        let rows: Vec<JobRow<'_>> = first_runs
            .iter()
            .flatten()
            .filter_map(|run| {
                let job = run.jobs.first()?;
                Some(JobRow { run, job })
            })
            .collect();
        // Without their runs, only their ids are known.
        let names = if rows.len() == of_part.len() {
            names_of_groups(&rows)
        } else {
            Names {
                names: of_part.iter().map(|series| series.id.clone()).collect(),
                heading: "Series".to_owned(),
            }
        };
        // A series that only one of several benches has would need no distinction,
        // and would not show its bench.
        let names = match of_part[..] {
            [one] => name_of_bench(document, one),
            _ => names,
        };
        for (series, what) in of_part.into_iter().zip(names.names) {
            named.push(NamedSeries {
                series,
                what,
                heading: names.heading.clone(),
            });
        }
    }
    named
}

/// Distinguishes the bench that a requirement was judged on from the others of a document; empty if
/// there is only one.
pub(crate) fn bench_of(requirement: &RequirementRecord, document: &Document) -> String {
    let judged = requirement.series.first();
    let series = judged.and_then(|judged| {
        let mut all = document.series.iter();
        all.find(|series| series.id == judged.id)
    });
    let names = series.map(|series| name_of_bench(document, series).names);
    names.unwrap_or_default().concat()
}

/// Distinguishes the bench of a series from the other benches of a document; empty if
/// there is only one, or a bench came without its runs.
fn name_of_bench(document: &Document, series: &SeriesRecord) -> Names {
    let mut firsts: Vec<&SeriesRecord> = Vec::new();
    for other in &document.series {
        if !firsts.iter().any(|first| first.id == other.id) {
            firsts.push(other);
        }
    }
    let rows: Vec<JobRow<'_>> = firsts
        .iter()
        .filter_map(|first| first_run(document, first))
        .filter_map(|run| {
            let job = run.jobs.first()?;
            Some(JobRow { run, job })
        })
        .collect();
    let place = firsts.iter().position(|first| first.id == series.id);
    let mut names = match rows.len() == firsts.len() {
        true => distinguished(&rows, &OF_BENCH.map(|index| OF_GROUP[index])),
        false => Names::default(),
    };
    let name = place.and_then(|place| names.names.get(place)).cloned();
    names.names = vec![name.unwrap_or_default()];
    names
}

fn first_run<'a>(document: &'a Document, series: &SeriesRecord) -> Option<&'a RunRecord> {
    let first = series.steps.first()?;
    document.runs.iter().find(|run| run.id == first.run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{JobRecord, TargetFacts};

    fn run(label: Option<&str>, target: &str, started_at: &str) -> RunRecord {
        let mut facts = TargetFacts::unknown();
        target.clone_into(&mut facts.name);
        RunRecord {
            label: label.map(str::to_owned),
            started_at: started_at.to_owned(),
            jobs: vec![JobRecord {
                name: "job".to_owned(),
                target: facts,
                ..JobRecord::default()
            }],
            ..RunRecord::empty()
        }
    }

    #[test]
    fn names_say_what_differs_and_no_more() {
        const MORNING: &str = "2026-11-21T08:15:30.000Z";
        const EVENING: &str = "2026-11-21T20:15:30.000Z";
        const LATER: &str = "2026-11-22T08:15:30.000Z";
        for (runs, names, heading) in [
            (vec![run(None, "/a", MORNING)], vec![""], ""),
            (
                vec![run(None, "/a", MORNING), run(None, "/b", LATER)],
                vec!["/a", "/b"],
                "Target",
            ),
            (
                vec![run(Some("old"), "/a", MORNING), run(None, "/b", LATER)],
                vec!["old /a", "/b"],
                "Label, Target",
            ),
            (
                vec![run(None, "/a", MORNING), run(None, "/a", LATER)],
                vec!["2026-11-21", "2026-11-22"],
                "Date",
            ),
            (
                vec![run(None, "/a", MORNING), run(None, "/a", EVENING)],
                vec!["2026-11-21 08:15", "2026-11-21 20:15"],
                "Date",
            ),
            (
                vec![run(None, "/a", MORNING), run(None, "/a", MORNING)],
                vec!["run #1", "run #2"],
                "Run",
            ),
            (
                vec![
                    run(None, "/a", MORNING),
                    run(None, "/b", MORNING),
                    run(None, "/a", LATER),
                ],
                vec!["/a 2026-11-21", "/b", "/a 2026-11-22"],
                "Target, Date",
            ),
        ] {
            let rows: Vec<JobRow<'_>> = JobRow::of(&runs).collect();
            let seen = names_of_groups(&rows);
            assert_eq!(
                (seen.names, seen.heading.as_str()),
                (names.into_iter().map(str::to_owned).collect(), heading)
            );
        }
    }

    #[test]
    fn a_series_that_one_of_two_benches_has_names_its_bench() {
        const MORNING: &str = "2026-11-21T08:15:30.000Z";
        let series = |id: &str, name: &str| SeriesRecord {
            id: id.to_owned(),
            name: name.to_owned(),
            slo: "p99<5ms".to_owned(),
            steps: vec![stripewise_results::StepRecord {
                run: format!("{id}-{name}"),
                threads: 1,
                outstanding: 1,
                iops: 1.0,
                mib_per_s: 1.0,
                ..stripewise_results::StepRecord::default()
            }],
            ..SeriesRecord::default()
        };
        let all = vec![
            series("one", "random-read"),
            series("other", "random-read"),
            series("other", "log"),
        ];
        let runs = all.iter().map(|series| {
            let target = if series.id == "one" { "/a" } else { "/b" };
            RunRecord {
                id: series.steps[0].run.clone(),
                ..run(None, target, MORNING)
            }
        });
        let mut document = Document {
            series: all.clone(),
            ..Document::new(runs.collect())
        };
        let titles = |document: &Document| -> Vec<String> {
            let named = named_series(document);
            named.iter().map(NamedSeries::title).collect()
        };
        assert_eq!(
            titles(&document),
            ["Random read, /a", "Random read, /b", "Log, /b"]
        );
        document.series.remove(0);
        assert_eq!(titles(&document), ["Random read", "Log"]);
    }
}
