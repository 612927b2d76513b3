//! The conditions of the measurement, and how to repeat it.

use crate::attribution::{Attribution, command_of, day, distinct, joined_values, maker, moment};
use crate::escape::escaped;
use crate::material::Material;
use crate::rows::order_levels;
use std::fmt::Write;
use stripewise_results::{JobRow, RunRecord, TargetFacts, TargetKind};
use stripewise_units::{ByteSize, format_bytes};

/// Maximum number of simulated arrays described.
const VALUES_MAX: usize = 5;

/// The line below the title: when, where, by which version.
pub(super) fn under_title(material: &Material) -> String {
    let runs = &material.document.runs;
    let times: Vec<&str> = runs
        .iter()
        .map(|run| run.started_at.as_str())
        .filter(|time| !time.is_empty())
        .collect();
    let mut words = Vec::new();
    match (times.iter().min(), times.iter().max()) {
        (Some(first), Some(last)) if day(first) != day(last) => {
            words.push(format!("{} to {}", moment(first), moment(last)));
        }
        (Some(first), _) => words.push(moment(first)),
        _ => {}
    }
    let hosts = distinct(runs.iter().map(|run| run.host.name.clone()));
    words.extend(joined_values(hosts, "hosts"));
    words.push(match runs.len() {
        1 => "1 run".to_owned(),
        count => format!("{} runs", stripewise_units::format_count(count as u64)),
    });
    let series = distinct(runs.iter().filter_map(|run| run.series.clone()));
    words.extend(joined_values(series, "series"));
    words.join(" \u{b7} ")
}

/// Attribution of a picture that leaves the page: title, what was measured, where, when, by
/// which version, id.
pub(super) fn about(material: &Material) -> String {
    let about = Attribution::of(material);
    let words = [about.title, about.measured, about.device, about.made];
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    crate::plain::plain(&words.join(" \u{b7} "))
}

/// The conditions as a list of terms.
pub(super) fn list(material: &Material) -> String {
    let rows: Vec<JobRow<'_>> = material.rows().collect();
    let of = |value: fn(&JobRow<'_>) -> String| distinct(rows.iter().map(value));
    let all: [(&str, Vec<String>); 12] = [
        ("Target", of(targets)),
        ("Layout", of(|row| layout(&row.job.target))),
        ("File system", of(|row| file_system(&row.job.target))),
        ("Device", of(|row| device(&row.job.target))),
        ("Block size", of(|row| row.block_text().unwrap_or_default())),
        ("Levels", levels(&rows)),
        (
            "Base offset",
            of(
                |row| match (&row.run.experiment, row.job.workload.base_offset_bytes) {
                    // Its levels explain the shifted base.
                    (Some(_), _) | (None, 0) => String::new(),
                    (None, bytes) => ByteSize(bytes).to_string(),
                },
            ),
        ),
        (
            "Cache mode",
            of(|row| {
                if measured(row.run) {
                    row.job.workload.cache.to_string()
                } else {
                    String::new()
                }
            }),
        ),
        ("Engine", of(|row| row.job.engine.name.clone())),
        ("Host", distinct(material.document.runs.iter().map(host))),
        (
            "Made with",
            distinct(material.document.runs.iter().map(maker)),
        ),
        (
            "Latency limit",
            distinct(
                material
                    .document
                    .runs
                    .iter()
                    .filter_map(|run| run.latency_limit.clone()),
            ),
        ),
    ];
    let mut html = "<dl>\n".to_owned();
    for (term, values) in all {
        if let Some(text) = joined_values(values, "different ones") {
            let _ = writeln!(html, "<dt>{term}</dt><dd>{}</dd>", escaped(&text));
        }
    }
    html.push_str("</dl>\n");
    html
}

/// The levels of an experiment, in its order.
fn levels(rows: &[JobRow<'_>]) -> Vec<String> {
    let level = |row: &JobRow<'_>| Some(row.run.experiment.as_ref()?.level.clone());
    let mut levels = distinct(rows.iter().filter_map(level));
    order_levels(&mut levels);
    levels
}

fn measured(run: &RunRecord) -> bool {
    run.imported.is_none()
}

fn targets(row: &JobRow<'_>) -> String {
    let further = row.job.further_targets.iter();
    let all: Vec<String> = std::iter::once(&row.job.target)
        .chain(further)
        .map(target)
        .collect();
    all.join("; ")
}

fn target(target: &TargetFacts) -> String {
    let kind = match target.kind {
        TargetKind::File => "file",
        TargetKind::TestFile => "test file",
        TargetKind::Device => "block device",
        TargetKind::Simulated => "simulated array",
        TargetKind::Null => "nothing (null engine)",
    };
    if target.name.is_empty() {
        return String::new();
    }
    if target.size_bytes == 0 {
        return target.name.clone();
    }
    format!(
        "{} ({kind}, {})",
        target.name,
        format_bytes(target.size_bytes)
    )
}

fn layout(target: &TargetFacts) -> String {
    let mut words = Vec::new();
    if let Some(offset) = target.partition_offset_bytes {
        let bytes = stripewise_units::format_count(offset);
        words.push(format!("starts at {} ({bytes} bytes)", ByteSize(offset)));
    }
    if target.logical_sector_bytes > 0 {
        words.push(format!("logical sector {}", target.logical_sector_bytes));
    }
    if let Some(physical) = target.physical_sector_bytes {
        words.push(format!("physical sector {physical}"));
    }
    words.join(", ")
}

fn file_system(target: &TargetFacts) -> String {
    let Some(system) = &target.file_system else {
        return String::new();
    };
    let mut words: Vec<String> = [
        system.kind.clone(),
        system.mount_point.clone(),
        system.options.clone(),
    ]
    .into_iter()
    .filter(|word| !word.is_empty())
    .collect();
    if let Some(unit) = system.allocation_unit_bytes {
        words.push(format!("allocation unit {}", ByteSize(unit)));
    }
    words.join(", ")
}

fn device(target: &TargetFacts) -> String {
    let Some(device) = &target.device else {
        return String::new();
    };
    let mut words = vec![device.name.clone()];
    words.extend(device.model.clone());
    words.extend(
        device
            .rotational
            .map(|spins| if spins { "spins" } else { "does not spin" }.to_owned()),
    );
    words.extend(
        device
            .scheduler
            .as_ref()
            .map(|name| format!("scheduler {name}")),
    );
    words.extend(
        device
            .nr_requests
            .map(|count| format!("nr_requests {count}")),
    );
    words.extend(
        device
            .queue_depth
            .map(|count| format!("queue depth {count}")),
    );
    words.extend(device.write_cache.clone());
    words.join(", ")
}

fn host(run: &RunRecord) -> String {
    let host = &run.host;
    let mut words = vec![host.name.clone(), host.operating_system.clone()];
    words.extend(host.kernel.clone());
    if host.cpu.count > 0 {
        let model = host.cpu.model.clone().unwrap_or_default();
        words.push(format!(
            "{} × {}",
            host.cpu.count,
            if model.is_empty() {
                "processor"
            } else {
                &model
            }
        ));
    }
    words.extend(
        host.memory_bytes
            .map(|bytes| format!("{} of memory", format_bytes(bytes))),
    );
    words.extend(host.virtualization.clone());
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

/// Everything needed to repeat it.
pub(super) fn repeat(material: &Material) -> String {
    let runs = &material.document.runs;
    let mut html = "<section id=\"repeat\" aria-labelledby=\"repeat-title\"><h2 id=\"repeat-title\">Reproduce</h2>\n".to_owned();
    let commands = distinct(runs.iter().map(command_of));
    if !commands.is_empty() {
        let more = commands.len().saturating_sub(20);
        let _ = writeln!(
            html,
            "<pre>{}</pre>",
            escaped(&commands[..commands.len() - more].join("\n"))
        );
        if more > 0 {
            let _ = writeln!(
                html,
                "<p>{more} further command lines are in the records.</p>"
            );
        }
    }
    let seeds = distinct(
        runs.iter()
            .filter(|run| measured(run))
            .flat_map(|run| run.jobs.iter().map(|job| job.workload.seed.to_string())),
    );
    if let Some(seeds) = joined_values(seeds, "different seeds") {
        let _ = writeln!(html, "<p>Seed of the streams: {}.</p>", escaped(&seeds));
    }
    let arrays = distinct(runs.iter().flat_map(|run| {
        run.jobs
            .iter()
            .filter_map(|job| job.target.simulation.clone())
    }));
    for array in arrays.iter().take(VALUES_MAX) {
        let _ = writeln!(
            html,
            "<details><summary>The simulated array</summary><pre>{}</pre></details>",
            escaped(array)
        );
    }
    html.push_str("<p>Target, layout, file system, device and host are listed under Conditions; the records have them in full.</p>\n</section>\n");
    html
}

pub(super) fn footer(material: &Material) -> String {
    let version = material
        .document
        .runs
        .iter()
        .map(|run| run.version.as_str())
        .max()
        .unwrap_or_default();
    let mut html = "<footer>Report by Stripewise".to_owned();
    if !version.is_empty() {
        let _ = write!(html, " {}", escaped(version));
    }
    html.push_str(". Charts: Apache ECharts, Apache Licence 2.0. This page loads nothing from anywhere.</footer>\n");
    html
}
