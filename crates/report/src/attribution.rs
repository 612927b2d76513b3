//! Attribution of a picture that may leave its page: what was measured, on
//! what, where, when, by which version, and the id under which it is stored. The
//! metadata of its file contain the same.

use crate::identity::kind;
use crate::material::Material;
use std::collections::HashSet;
use stripewise_results::{JobRow, RunRecord, TargetFacts, TargetKind};
use stripewise_units::{ByteSize, format_bytes, is_sim_target, quoted, shell_word};

/// Maximum number of values written out; beyond it, only their number is given.
const VALUES_MAX: usize = 5;
/// The same in a line of a picture.
const WORDS_MAX: usize = 3;

/// The text around a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribution {
    /// Label or target.
    pub title: String,
    /// Target, size, file system, block size, cache mode.
    pub measured: String,
    /// Model and device.
    pub device: String,
    /// Host, date, version, id.
    pub made: String,
    /// Source of the numbers, in the user's words.
    pub source: Option<String>,
    /// All of that by name, for the metadata of a file, without unknown values.
    pub facts: Vec<(&'static str, String)>,
}

/// Number of characters of a title that fit in every picture.
const TITLE_SEEN: usize = 40;

/// Facts about a stored result that is not a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredFacts<'a> {
    /// Its subject.
    pub title: &'a str,
    /// The user's label.
    pub label: Option<&'a str>,
    /// As typed.
    pub target: &'a str,
    /// The machine that measured.
    pub host: Option<&'a str>,
    /// RFC 3339, UTC.
    pub started_at: &'a str,
    /// The program's version.
    pub version: &'a str,
    /// Id under which it is stored.
    pub id: &'a str,
}

impl Attribution {
    /// For a stored result that is not a run.
    pub fn of_stored(stored: &StoredFacts<'_>) -> Attribution {
        let simulated = is_sim_target(stored.target);
        let device = if simulated { "simulated array" } else { "" };
        let made_with = format!("Stripewise {}", stored.version);
        // Leave out what an earlier version did not store.
        let known = |words: &&str| !words.is_empty();
        let date = moment(stored.started_at);
        let date = Some(date.as_str()).filter(known);
        let name = stored.host.filter(known);
        let host = name.map(|name| format!("host {name}"));
        let made = [
            host.as_deref(),
            date,
            Some(made_with.as_str()),
            Some(stored.id),
        ];
        let measured = [stored.label, Some(stored.target)].into_iter().flatten();
        let measured = measured.filter(|words| !is_seen(words, stored.title));
        let facts = [
            ("Title", Some(stored.title)),
            ("Label", stored.label),
            ("Target", Some(stored.target)),
            ("Host", name),
            ("Date", date),
            ("Made with", Some(made_with.as_str())),
            ("Id", Some(stored.id)),
        ];
        let facts = facts.into_iter();
        Attribution {
            title: stored.title.to_owned(),
            measured: measured.collect::<Vec<_>>().join(" \u{b7} "),
            device: device.to_owned(),
            made: made
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" \u{b7} "),
            source: None,
            facts: facts
                .filter_map(|(name, value)| Some((name, value?.to_owned())))
                .collect(),
        }
    }

    /// For the records of a report.
    pub fn of(material: &Material) -> Attribution {
        let all = facts(&material.document.runs);
        let common_value = |name: &str, what: &str| common_value(&all, name, what);
        let line = |words: Vec<Option<String>>| {
            let words: Vec<String> = words.into_iter().flatten().collect();
            words.join(" \u{b7} ")
        };
        let made = vec![
            common_value("Host", "hosts").map(|name| format!("host {name}")),
            common_value("Date", "days"),
            common_value("Made with", "programs"),
            common_value("Id", "ids"),
        ];
        Attribution {
            title: material.title.clone(),
            measured: line(measured(&all, &material.title)),
            device: common_value("Model", "models").unwrap_or_default(),
            made: line(made),
            source: None,
            facts: std::iter::once(("Title", material.title.clone()))
                .chain(all.iter().filter_map(|(term, values)| {
                    Some((*term, joined_values(values.clone(), "different ones")?))
                }))
                .collect(),
        }
    }

    /// With another title.
    #[must_use]
    pub fn titled(mut self, title: &str) -> Attribution {
        title.clone_into(&mut self.title);
        for (_, value) in self.facts.iter_mut().filter(|(term, _)| *term == "Title") {
            title.clone_into(value);
        }
        self
    }

    /// With a text on the source of the numbers.
    #[must_use]
    pub fn sourced(mut self, source: &str) -> Attribution {
        self.source = Some(source.to_owned());
        self.facts.push(("Source", source.to_owned()));
        self
    }

    /// The footer of a picture, line by line.
    pub fn foot(&self) -> Vec<String> {
        let source = self.source.as_ref().map(|words| format!("Source: {words}"));
        let first: Vec<&str> = [Some(self.device.as_str()), source.as_deref()]
            .into_iter()
            .flatten()
            .filter(|words| !words.is_empty())
            .collect();
        let lines = [first.join(" \u{b7} "), self.made.clone()];
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }
}

/// Known facts about runs, by name.
pub(crate) type Facts = [(&'static str, Vec<String>); 12];

/// Facts about runs; unknown facts have no values.
pub(crate) fn facts(runs: &[RunRecord]) -> Facts {
    let of = |value: fn(&JobRow<'_>) -> String| distinct(JobRow::of(runs).map(|row| value(&row)));
    [
        (
            "Label",
            distinct(runs.iter().filter_map(|run| run.label.clone())),
        ),
        ("Target", of(|row| row.job.target_names())),
        ("Model", of(|row| model(&row.job.target))),
        ("Size", of(|row| size(&row.job.target))),
        ("File system", of(|row| file_system(&row.job.target))),
        ("Workload", of(kind)),
        ("Block size", of(block)),
        ("Cache mode", of(cache)),
        (
            "Host",
            distinct(runs.iter().map(|run| run.host.name.clone())),
        ),
        ("Date", dates(runs)),
        ("Made with", distinct(runs.iter().map(maker))),
        ("Id", distinct(runs.iter().map(id))),
    ]
}

/// Values of a fact in a line of a picture; if there are many, only their number.
pub(crate) fn common_value(
    all: &[(&'static str, Vec<String>)],
    name: &str,
    what: &str,
) -> Option<String> {
    let (_, values) = all.iter().find(|(term, _)| *term == name)?;
    match values.len() {
        0 => None,
        count if count > WORDS_MAX => Some(format!("{count} {what}")),
        _ => Some(values.join(", ")),
    }
}

/// What was measured, unless the title already says it.
fn measured(all: &[(&'static str, Vec<String>)], title: &str) -> Vec<Option<String>> {
    let common_value = |name: &str, what: &str| common_value(all, name, what);
    let block = common_value("Block size", "block sizes").map(|sizes| match sizes {
        many if many.ends_with(" block sizes") => many,
        sizes => format!("block {sizes}"),
    });
    // `sim:a and sim:b` has both.
    let is_included = |name: &str| {
        let values = all.iter().find(|(term, _)| *term == name);
        values.is_some_and(|(_, values)| values.iter().all(|value| is_seen(value, title)))
    };
    vec![
        common_value("Label", "labels").filter(|_| !is_included("Label")),
        common_value("Target", "targets").filter(|_| !is_included("Target")),
        common_value("Size", "sizes"),
        common_value("File system", "file systems"),
        block,
        common_value("Cache mode", "cache modes"),
    ]
}

/// The name is in the part of the title that no picture cuts off.
fn is_seen(name: &str, title: &str) -> bool {
    let end = title.find(name).map(|begin| begin + name.len());
    end.is_some_and(|end| title[..end].chars().count() <= TITLE_SEEN)
}

/// `WDC WD1003FZEX (sda1), spins`, `simulated array`.
fn model(target: &TargetFacts) -> String {
    let Some(device) = &target.device else {
        return match target.kind {
            TargetKind::Simulated => "simulated array".to_owned(),
            TargetKind::Null => "no device".to_owned(),
            _ => String::new(),
        };
    };
    let spins = match device.rotational {
        Some(true) => ", spins",
        _ => "",
    };
    match &device.model {
        Some(model) => format!("{model} ({}){spins}", device.name),
        None => format!("device {}{spins}", device.name),
    }
}

fn size(target: &TargetFacts) -> String {
    if target.size_bytes == 0 {
        return String::new();
    }
    let size = format_bytes(target.size_bytes);
    match target.kind {
        TargetKind::File => format!("file of {size}"),
        TargetKind::TestFile => format!("test file of {size}"),
        _ => size,
    }
}

fn file_system(target: &TargetFacts) -> String {
    let system = target.file_system.as_ref();
    system.map_or_else(String::new, |system| system.kind.clone())
}

fn block(row: &JobRow<'_>) -> String {
    row.block_size_bytes()
        .map_or_else(String::new, |bytes| ByteSize(bytes).to_string())
}

fn cache(row: &JobRow<'_>) -> String {
    row.cache()
        .map_or_else(String::new, |cache| cache.to_string())
}

/// First and last moment.
fn dates(runs: &[RunRecord]) -> Vec<String> {
    let times = runs.iter().map(|run| run.started_at.as_str());
    let times: Vec<&str> = times.filter(|time| !time.is_empty()).collect();
    match (times.iter().min(), times.iter().max()) {
        (Some(first), Some(last)) if day(first) != day(last) => {
            vec![format!("{} to {}", moment(first), moment(last))]
        }
        (Some(first), _) => vec![moment(first)],
        _ => Vec::new(),
    }
}

/// The id under which it is stored: the series, else the experiment, else the run; for another
/// tool's result, its source.
fn id(run: &RunRecord) -> String {
    let experiment = run.experiment.as_ref().map(|place| &place.experiment);
    match (&run.series, experiment, &run.imported) {
        (Some(series), _, _) => series.clone(),
        (None, Some(experiment), _) => experiment.clone(),
        (None, None, Some(imported)) => imported.source.clone(),
        (None, None, None) => run.id.clone(),
    }
}

/// The day of an RFC 3339 time; any other text as it is.
pub(crate) fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// `2026-11-21 20:15 UTC` of an RFC 3339 time.
pub fn moment(time: &str) -> String {
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => time.to_owned(),
    }
}

/// Distinct non-empty values, in order.
pub(crate) fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = Vec::new();
    let mut seen = HashSet::new();
    for value in values {
        // Thousands of runs mostly have the same.
        if !value.is_empty() && !seen.contains(&value) {
            seen.insert(value.clone());
            all.push(value);
        }
        // Beyond this, no one reads them.
        if all.len() > 1_000 {
            break;
        }
    }
    all
}

/// Values in a line; if there are many, only their number.
pub(crate) fn joined_values(values: Vec<String>, what: &str) -> Option<String> {
    match values.len() {
        0 => None,
        count if count > VALUES_MAX => Some(format!("{count} {what}")),
        _ => Some(values.join(", ")),
    }
}

/// `Stripewise 0.1.0`, or the tool that made an imported result.
pub(crate) fn maker(run: &RunRecord) -> String {
    match &run.imported {
        Some(imported) if imported.tool == "dataset" => {
            format!("a published table ({})", imported.source)
        }
        Some(imported) => {
            let version = imported.tool_version.as_deref().unwrap_or_default();
            format!(
                "{} {version} (imported from {})",
                imported.tool, imported.source
            )
        }
        None if run.version.is_empty() => String::new(),
        None => format!("Stripewise {}", run.version),
    }
}

/// The command line of a run, quoted for a shell. Those of other tools are shown as in
/// their results: their quoting of names that are not UTF-8 is unknown.
pub(crate) fn command_of(run: &RunRecord) -> String {
    let as_ours = |word: &String| match run.imported {
        Some(_) => quoted(word),
        None => shell_word(word),
    };
    run.command
        .iter()
        .map(as_ours)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_behind_a_long_label_is_not_taken_as_told() {
        assert!(is_seen("/data", "Bench of /data"));
        assert!(!is_seen("/data", "Bench of sdb"));
        let long = "before the move to the new cabinet in March: bench of /data";
        assert!(!is_seen("/data", long));
        assert!(!is_seen("ä", &"ö".repeat(40)) && is_seen("ä", &format!("{}ä", "ö".repeat(39))));
    }

    #[test]
    fn a_time_that_is_none_is_shown_as_it_is() {
        for (time, its_day, its_moment) in [
            (
                "2026-11-21T20:15:30.000Z",
                "2026-11-21",
                "2026-11-21 20:15 UTC",
            ),
            ("2026-11-21", "2026-11-21", "2026-11-21"),
            // The tenth byte is inside a character.
            (
                "\u{20ac}\u{20ac}\u{20ac}\u{20ac}",
                "\u{20ac}\u{20ac}\u{20ac}\u{20ac}",
                "\u{20ac}\u{20ac}\u{20ac}\u{20ac}",
            ),
            ("", "", ""),
        ] {
            assert_eq!(day(time), its_day);
            assert_eq!(moment(time), its_moment);
        }
    }
}
