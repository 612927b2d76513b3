//! Every fixture of every reader, damaged line by line: a line cut out, cut short,
//! doubled, or changed with the next one. None of it gives another number without a
//! word: what is read is an error, has a note more, or says nothing that the whole file
//! does not say of the same result.

use stripewise_compat::{ImportedFile, import};
use stripewise_results::{JobRecord, RunRecord};

/// The files of results in the folder of fixtures.
fn fixtures() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    assert!(found.len() > 25, "{}", found.len());
    found
}

/// What is done to the lines.
fn damaged(lines: &[&str], at: usize, how: usize) -> Option<String> {
    let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    match how {
        0 => drop(all.remove(at)),
        1 => {
            let length = all[at].chars().count();
            all[at] = all[at].chars().take(length / 2).collect();
        }
        2 => all.insert(at, lines[at].to_owned()),
        _ if at + 1 < all.len() => all.swap(at, at + 1),
        _ => return None,
    }
    Some(all.join("\n") + "\n")
}

/// A job's values as a reader of its record sees them: those that are absent are not
/// in its JSON.
fn values(run: &RunRecord, job: usize) -> serde_json::Value {
    let json = serde_json::to_value(run).unwrap();
    let job = &json["jobs"][job];
    let mut workload = job["workload"].clone();
    // No number: what a source does not say of a pattern is that it is not the usual one.
    for name in ["pattern", "distribution", "cursor"] {
        workload.as_object_mut().unwrap().remove(name);
    }
    // A source has no line for a rate that is not limited: one that is cut out is no number.
    if workload["rate"].is_null() {
        workload.as_object_mut().unwrap().remove("rate");
    }
    serde_json::json!({"workload": workload, "outcome": job["outcome"]})
}

/// Whether all numbers of the first are in the second.
fn is_part(part: &serde_json::Value, whole: &serde_json::Value) -> bool {
    match (part, whole) {
        (serde_json::Value::Object(part), serde_json::Value::Object(whole)) => part
            .iter()
            .all(|(name, value)| whole.get(name).is_some_and(|whole| is_part(value, whole))),
        (part, whole) => part == whole,
    }
}

fn jobs(file: &ImportedFile) -> Vec<(&RunRecord, usize, &JobRecord)> {
    let runs = file.runs.iter();
    runs.flat_map(|run| {
        run.jobs
            .iter()
            .enumerate()
            .map(move |(at, job)| (run, at, job))
    })
    .collect()
}

/// Damages every `every`th line of each fixture, in all ways; how many were read then.
fn damage_lines(every: usize) -> usize {
    let mut taken = 0;
    let mut unsaid = Vec::new();
    for (name, text) in fixtures() {
        let whole = import(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}"));
        let truth: Vec<(String, serde_json::Value)> = jobs(&whole)
            .into_iter()
            .map(|(run, at, job)| (job.name.clone(), values(run, at)))
            .collect();
        let lines: Vec<&str> = text.lines().collect();
        for at in (0..lines.len()).step_by(every) {
            // Long documents of JSON: a line that is cut short is no JSON, a doubled one says the same.
            let kinds: &[usize] = if name.ends_with(".json") {
                &[0, 3]
            } else {
                &[0, 1, 2, 3]
            };
            for &how in kinds {
                let Some(damaged) = damaged(&lines, at, how) else {
                    continue;
                };
                let Ok(file) = import(damaged.as_bytes(), "x") else {
                    continue;
                };
                taken += 1;
                let message = |note: &stripewise_compat::Note| note.message.clone();
                let before: Vec<String> = whole.notes.iter().map(message).collect();
                let expected_text = file
                    .notes
                    .iter()
                    .any(|note| !before.contains(&message(note)));
                for (run, number, job) in jobs(&file) {
                    let found = values(run, number);
                    let same = truth.iter().any(|(_, value)| is_part(&found, value));
                    if !same && !expected_text {
                        let done = ["cut out", "cut short", "doubled", "swapped"][how];
                        let line = at + 1;
                        unsaid.push(format!("{name}, line {line}, {done}: {} {found}", job.name));
                    }
                }
            }
        }
    }
    assert!(unsaid.is_empty(), "{}", unsaid.join("\n"));
    taken
}

#[test]
fn some_lines_cut_doubled_or_swapped_never_give_another_number_without_a_word() {
    let taken = damage_lines(5);
    assert!(taken > 60, "{taken}");
}

/// Long-running tests run after the others in CI.
mod at_length {
    use super::*;

    #[test]
    #[ignore = "10 s of processor time: cargo xtask ci long"]
    fn lines_cut_doubled_or_swapped_never_give_another_number_without_a_word() {
        let taken = damage_lines(1);
        assert!(taken > 300, "{taken}");
    }
}
