//! Reconstructs a study from its stored runs.

use super::designs::{study, words};
use super::document::{StudyDocument, StudyTable};
use super::{rate_of, study_sheet};
use crate::steps::pages::{PictureLook, Rendered, ReportFormat, rendered_picture};
use stripewise_conductor::failure::Outcome;
use stripewise_report::{Attribution, Picture, StoredFacts, moment, sheet_markdown, sheet_page};
use stripewise_results::{RunRecord, Status};
use stripewise_units::is_sim_target;

/// The name of the study that a run was made for.
fn name_of(run: &RunRecord) -> Option<&str> {
    let words = run.command.iter();
    let mut behind = words.skip_while(|word| *word != "lab");
    behind.find_map(|word| word.strip_prefix("study:"))
}

/// Whether a run was made for a study.
pub fn is_study(run: &RunRecord) -> bool {
    name_of(run).is_some()
}

/// The study of these runs, with the printed figures; `None` if they belong to none.
fn of_runs(runs: &[RunRecord]) -> Option<StudyDocument> {
    let first = runs.first()?;
    let is_readers = first.command.iter().any(|word| word == "--readers");
    let study = study(name_of(first)?, is_readers).ok()?;
    let own = format!("sim:{}", study.array);
    let mut behind = first.command.iter().skip_while(|word| *word != "--target");
    let target = behind.nth(1).map_or(own.as_str(), String::as_str);
    let id = first.series.as_deref().unwrap_or(&first.id);
    let is_simulated = is_sim_target(target);
    let mut document = StudyDocument::new(&study, id, target, is_simulated);
    // Tables may share the name of a level: their runs are consecutive.
    let mut left: Vec<&RunRecord> = runs.iter().collect();
    for design in &study.tables {
        let mut rate = |level: &str, cell: &str| {
            let is_it = |run: &&RunRecord| {
                let job = run.jobs.first();
                run.series_part.as_deref() == Some(level) && job.is_some_and(|job| job.name == cell)
            };
            let at = left.iter().position(is_it)?;
            rate_of(left.remove(at))
        };
        let rows = design.rows.iter();
        let own: Vec<Vec<Option<f64>>> = rows
            .map(|row| {
                let cell = words(&row.workload);
                let levels = design.levels.iter();
                levels.map(|level| rate(level, &cell)).collect()
            })
            .collect();
        if own.iter().flatten().any(Option::is_some) {
            document.tables.push(StudyTable::of(design, &own));
        }
    }
    if runs.iter().any(|run| run.status != Status::Complete) {
        document.status = "partial";
    }
    Some(document)
}

/// A report on the study of these runs; `None` if they belong to none, and for formats
/// that only contain runs.
pub fn rendered_study(
    runs: &[RunRecord],
    format: ReportFormat,
    wanted: &PictureLook,
) -> Outcome<Option<Rendered>> {
    let Some((document, first)) = of_runs(runs).zip(runs.first()) else {
        return Ok(None);
    };
    let mut sheet = study_sheet(&document);
    let made_with = format!("Stripewise {}", first.version);
    let under = [
        &moment(&first.started_at),
        &first.host.name,
        &document.id,
        &made_with,
    ];
    sheet.foot = under.map(String::as_str).join(" \u{b7} ");
    let bytes = match format {
        ReportFormat::Html => sheet_page(&sheet, &|_| String::new()).into_bytes(),
        ReportFormat::Md => sheet_markdown(&sheet).into_bytes(),
        ReportFormat::Svg | ReportFormat::Png => {
            let about = Attribution::of_stored(&StoredFacts {
                title: &sheet.title,
                label: first.label.as_deref(),
                target: &document.target,
                host: Some(&first.host.name),
                started_at: &first.started_at,
                version: &first.version,
                id: &document.id,
            });
            let charts = sheet.charts.into_iter();
            let pictures: Vec<Picture> = charts
                .map(|chart| Picture::Chart(Box::new(chart)))
                .collect();
            return rendered_picture(&pictures, &wanted.on(about), format, wanted).map(Some);
        }
        ReportFormat::Csv | ReportFormat::Json => return Ok(None),
    };
    Ok(Some(Rendered {
        bytes,
        pictures: Vec::new(),
        boxes: String::new(),
    }))
}
