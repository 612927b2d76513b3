//! What was measured, in a line.

use crate::attribution::{command_of, facts};
use stripewise_results::{Document, JobRow, RunRecord};
use stripewise_units::{format_bytes, format_duration};

/// Maximum number of names written out.
const NAMES_MAX: usize = 3;

/// The targets of runs.
pub(super) fn title(runs: &[RunRecord]) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in JobRow::of(runs).map(|row| row.target_names()) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    match names.len() {
        0..=NAMES_MAX => names.join(", "),
        many => format!("{many} targets"),
    }
}

/// Label, size, file system and device, cache mode, time and date.
pub(super) fn subtitle(runs: &[RunRecord]) -> String {
    let all = facts(runs);
    let common_value = |name: &str, what: &str| crate::attribution::common_value(&all, name, what);
    let place = match (
        common_value("File system", "file systems"),
        common_value("Model", "models"),
    ) {
        (Some(system), Some(model)) => Some(format!(
            "{system} on {}",
            model.trim_start_matches("device ")
        )),
        (system, model) => system.or(model),
    };
    let words = [
        common_value("Label", "labels").map(|label| format!("\"{label}\"")),
        common_value("Size", "sizes"),
        used(runs),
        place,
        cache(runs).or_else(|| common_value("Cache mode", "cache modes")),
        measured(runs),
        common_value("Date", "days"),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// For a bench, that of its ladders: the log is always durable.
fn cache(runs: &[RunRecord]) -> Option<String> {
    let of_ladders = runs.iter().filter(|run| {
        let part = run.series_part.as_deref();
        run.latency_limit.is_some() && part.is_some_and(|part| !part.starts_with("log"))
    });
    let job = of_ladders.flat_map(|run| &run.jobs).next()?;
    Some(job.workload.cache.to_string())
}

/// `8 GiB of it used`, if that is not all of it; `1 GiB to 8 GiB` if runs differ.
fn used(runs: &[RunRecord]) -> Option<String> {
    let jobs = runs.iter().flat_map(|run| &run.jobs);
    let sizes = jobs.filter_map(|job| {
        let used = job.workload.size_bytes?;
        // What pilots leave out at the end is negligible.
        (used < job.target.size_bytes / 20 * 19).then_some(used)
    });
    let (least, most) = sizes.fold((u64::MAX, 0), |(least, most), used| {
        (least.min(used), most.max(used))
    });
    let [low, high] = [least, most].map(format_bytes);
    match most {
        0 => None,
        _ if low == high => Some(format!("{low} of it used")),
        _ => Some(format!("{low} to {high} of it used")),
    }
}

/// `34.5 s`: the measured time of all runs.
fn measured(runs: &[RunRecord]) -> Option<String> {
    let longest = |run: &RunRecord| {
        let jobs = run.jobs.iter().map(|job| job.outcome.duration_ns);
        jobs.max().unwrap_or(0)
    };
    let sum = runs.iter().map(longest).fold(0, u64::saturating_add);
    (sum > 0).then(|| format_duration(sum))
}

/// The origin of stored runs: their id, where, by which command; for another tool's result,
/// its source.
pub fn runs_origin(document: &Document) -> Vec<(String, String)> {
    let runs = &document.runs;
    let mut all: Vec<(String, String)> = Vec::new();
    let mut origins = 0;
    for run in runs {
        let source = run.imported.as_ref().map(|from| {
            let line = from.line.map(|line| format!(", line {line}"));
            let line = line.unwrap_or_default();
            format!("{} ({}{line})", from.source, from.tool)
        });
        let id = run.series.clone().unwrap_or_else(|| run.id.clone());
        let known = all.len();
        for (name, value) in [
            ("Id", id),
            ("Host", run.host.name.clone()),
            ("Source", source.unwrap_or_default()),
            ("Command", command_of(run)),
        ] {
            let pair = (name.to_owned(), value);
            if !pair.1.is_empty() && !all.contains(&pair) {
                all.push(pair);
            }
        }
        origins += usize::from(all.len() > known);
        if origins == ORIGINS_MAX {
            break;
        }
    }
    all
}

/// Maximum number of runs whose origins are listed; a series counts as one.
const ORIGINS_MAX: usize = 20;
