//! Reports: collects their content from store and files, in each format.

use crate::steps::documents;
use crate::steps::levels::levels_compared;
use crate::steps::subject::{Subject, stored};
use std::collections::HashSet;
use std::path::Path;
use std::str::FromStr;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_lab::SeriesKind;
use stripewise_report::{
    Attribution, Chart, LatencyInterval, LatencyOverTime, Look, Material, Picture, are_like_runs,
    csv_heading, csv_rows, html, letters_without_font, markdown, pictures, plain_json, png,
    runs_worth_a_closer_look, svg_picture,
};
use stripewise_results::{Document, OperationKind, RunRecord, SeriesRecord};
use stripewise_stats::Histogram;
use stripewise_store::{Store, StoredHistograms};
use stripewise_units::{capitalised, distinct, format_count};

/// From this number of runs on, only data shown in tables and charts of many runs is kept of
/// each: no intervals, no histograms.
pub const RUNS_IN_FULL_MAX: usize = 300;
/// Name of the subject consisting of the whole store.
pub const EVERYTHING: &str = "--all";
/// Maximum number of targets named in a title.
const TARGETS_MAX: usize = 3;
/// Pixels of a PNG per SVG pixel, unless a size is given.
const PNG_SCALE: f32 = 2.0;

// As typed, and as file extension.
stripewise_units::named! {
    /// Formats of a report.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReportFormat {
        /// One file with charts, tables and records.
        Html = "html",
        /// One picture as a bitmap.
        Png = "png",
        /// One picture as vector graphics.
        Svg = "svg",
        /// A row for each job of each run.
        Csv = "csv",
        /// Markdown, for issues and pull requests.
        Md = "md",
        /// The records.
        Json = "json",
    }
}

impl ReportFormat {
    /// The format of a file, by its extension.
    pub fn of_file(path: &Path) -> Option<ReportFormat> {
        path.extension()?.to_str()?.parse().ok()
    }
}

impl FromStr for ReportFormat {
    type Err = String;

    /// By the extension, ignoring case.
    fn from_str(text: &str) -> Result<ReportFormat, String> {
        let lower = text.to_ascii_lowercase();
        let name = match lower.as_str() {
            "htm" => "html",
            "markdown" => "md",
            name => name,
        };
        ReportFormat::from_name(name)
            .ok_or_else(|| "is not one of html, png, svg, csv, md, json".to_owned())
    }
}

/// A rendered report.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// The content of its file.
    pub bytes: Vec<u8>,
    /// The names of all pictures, if this is the first of several and none was named.
    pub pictures: Vec<String>,
    /// Letters that a PNG shows as boxes, for lack of a font.
    pub boxes: String,
}

/// Selects a picture and its look.
#[derive(Clone, Debug, Default)]
pub struct PictureLook {
    /// The name of a picture, or `all`; `None`: the most informative one.
    pub picture: Option<String>,
    /// Background and size.
    pub look: Look,
    /// Replaces the report's own title.
    pub title: Option<String>,
    /// The source of the numbers, in the user's words.
    pub source: Option<String>,
}

impl PictureLook {
    /// The attribution of a picture, with the user's title and source.
    pub(crate) fn on(&self, mut about: Attribution) -> Attribution {
        if let Some(title) = &self.title {
            about = about.titled(title);
        }
        match &self.source {
            Some(source) => about.sourced(source),
            None => about,
        }
    }
}

/// A report on these records, with latencies over time from the store if it has
/// them.
pub fn material(
    store: Option<&Store>,
    document: Document,
    title: String,
    names: &[String],
) -> Material {
    let mut material = Material::new(title, document);
    if !names.is_empty() {
        material.again = format!("stripewise report {} --format json", names.join(" "));
    }
    if let Some(store) = store {
        // If it cannot be read, the charts that need it are left out.
        material.latencies = latencies(store, &material).unwrap_or_default();
    }
    material
}

/// The subject of a document, in one line.
pub fn title_of(document: &Document) -> String {
    let Some(first) = document.runs.first() else {
        return "No runs".to_owned();
    };
    let target = first.jobs.first().map_or("", |job| job.target.full_name());
    if let Some(imported) = first
        .imported
        .as_ref()
        .filter(|imported| imported.tool == "dataset")
    {
        return format!("Published table {}", imported.source);
    }
    if are_like_runs(&document.runs) {
        return match &labels_of(document)[..] {
            [label] => format!("{label}: CrystalDiskMark's loads on {target}"),
            _ => format!("CrystalDiskMark's loads on {target}"),
        };
    }
    if !document.series.is_empty() {
        return match (&targets_of(document)[..], &labels_of(document)[..]) {
            ([_, _, ..], _) => format!("Benches of {}", several(&targets_of(document))),
            (_, [label]) => format!("{label}: bench of {target}"),
            _ => format!("Bench of {target}"),
        };
    }
    if let (Some(_), Some(comparison)) = (&first.experiment, document.comparisons.first()) {
        return capitalised(&comparison.title);
    }
    if let Some(place) = &first.experiment {
        return format!("Experiment {} on {target}", place.experiment);
    }
    match (&document.runs[..], &first.jobs[..]) {
        ([run], [job]) => format!(
            "{}: {} {} on {target}",
            run.label.as_deref().unwrap_or("Run"),
            job.pattern_name(),
            job.workload.block_text()
        ),
        ([run], _) => format!(
            "{}: {} jobs at once",
            run.label.as_deref().unwrap_or("Run"),
            run.jobs.len()
        ),
        (runs, _) => format!(
            "{} runs on {}",
            format_count(runs.len() as u64),
            several(&targets_of(document))
        ),
    }
}

/// Distinct names of all targets.
fn targets_of(document: &Document) -> Vec<&str> {
    let mut targets: Vec<&str> = Vec::new();
    for job in document.runs.iter().flat_map(|run| &run.jobs) {
        // Further ones are not named.
        if targets.len() <= TARGETS_MAX && !targets.contains(&job.target.full_name()) {
            targets.push(job.target.full_name());
        }
    }
    targets
}

/// The distinct labels of all runs; empty if a run has none.
fn labels_of(document: &Document) -> Vec<&str> {
    let labels = document.runs.iter().map(|run| run.label.as_deref());
    distinct(labels.collect::<Option<Vec<_>>>().unwrap_or_default())
}

/// `a, b and c`; if there are many, only their number.
fn several(names: &[&str]) -> String {
    match names {
        [one] => (*one).to_owned(),
        [all @ .., last] if names.len() <= TARGETS_MAX => {
            format!("{} and {last}", all.join(", "))
        }
        _ => "several targets".to_owned(),
    }
}

/// Latencies of each interval of the runs shown in detail.
fn latencies(store: &Store, material: &Material) -> Outcome<Vec<LatencyOverTime>> {
    let mut all = Vec::new();
    for id in runs_worth_a_closer_look(material) {
        let Some(run) = material.document.runs.iter().find(|run| run.id == id) else {
            continue;
        };
        if run.imported.is_some() {
            continue;
        }
        for (index, job) in run.jobs.iter().enumerate() {
            let stored = store.load_intervals(&id, index)?;
            for kind in OperationKind::ALL {
                let intervals: Vec<LatencyInterval> = stored
                    .iter()
                    .map(|stored| LatencyInterval {
                        start_ns: stored.interval.start_ns,
                        duration_ns: stored.interval.duration_ns,
                        latency_ns: of_kind(&stored.histograms, kind),
                    })
                    .collect();
                if intervals.iter().any(|one| one.latency_ns.count() > 0) {
                    all.push(LatencyOverTime {
                        run: id.clone(),
                        job: job.name.clone(),
                        kind,
                        intervals,
                    });
                }
            }
        }
    }
    Ok(all)
}

/// Empty if there were none.
fn of_kind(histograms: &StoredHistograms, kind: OperationKind) -> Histogram {
    let of = match kind {
        OperationKind::Read => &histograms.read,
        OperationKind::Write => &histograms.write,
        OperationKind::Discard => &histograms.discard,
    };
    of.clone().unwrap_or_default()
}

/// Subjects as one document, with summaries of ladders and comparisons of levels.
pub fn document_of(context: &Context, subjects: Vec<Subject>) -> (Document, Vec<String>) {
    let mut notes = Vec::new();
    let mut comparisons = Vec::new();
    let mut all: Vec<RunRecord> = Vec::new();
    let mut seen = HashSet::new();
    let mut in_full = Vec::new();
    for mut subject in subjects {
        in_full.append(&mut subject.series);
        subject.leave_out_copies(&mut seen);
        // The whole store is not an experiment with levels to compare.
        if subject.comparisons.is_empty() && subject.name != EVERYTHING {
            comparisons.extend(levels_compared(context, &subject));
        }
        comparisons.extend(subject.comparisons);
        notes.extend(subject.notes);
        all.extend(subject.runs);
    }
    let mut document = documents::document(all);
    for series in &mut document.series {
        let same = |one: &&SeriesRecord| one.id == series.id && one.name == series.name;
        if let Some(full) = in_full.iter().find(same) {
            series.clone_from(full);
        }
    }
    document
        .series
        .retain(|series| SeriesKind::from_name(&series.name).is_some());
    document.comparisons = comparisons;
    (document, notes)
}

/// Renders a report.
///
/// # Errors
/// If there is nothing to draw, or no such picture.
pub fn rendered(
    material: &Material,
    format: ReportFormat,
    wanted: &PictureLook,
) -> Outcome<Rendered> {
    let bytes = match format {
        ReportFormat::Html => html(material).into_bytes(),
        ReportFormat::Md => markdown(material).into_bytes(),
        ReportFormat::Json => plain_json(&material.document.to_json()).into_bytes(),
        // A byte order mark tells spreadsheets that this is UTF-8.
        ReportFormat::Csv => {
            let rows: String = material.document.runs.iter().map(csv_rows).collect();
            format!("\u{feff}{}{rows}", csv_heading()).into_bytes()
        }
        ReportFormat::Svg | ReportFormat::Png => {
            let about = wanted.on(Attribution::of(material));
            return rendered_picture(&pictures(material), &about, format, wanted);
        }
    };
    Ok(Rendered {
        bytes,
        pictures: Vec::new(),
        boxes: String::new(),
    })
}

/// Renders one of these pictures.
///
/// # Errors
/// If there is none, or none of this name.
pub(crate) fn rendered_picture(
    pictures: &[Picture],
    about: &Attribution,
    format: ReportFormat,
    wanted: &PictureLook,
) -> Outcome<Rendered> {
    let drawn = picture(pictures, about, wanted)?;
    if format != ReportFormat::Png {
        return Ok(Rendered {
            bytes: drawn.svg.into_bytes(),
            pictures: drawn.others,
            boxes: String::new(),
        });
    }
    let bytes = png(&drawn.svg, drawn.scale, about).map_err(|error| {
        Failure::target(error.to_string(), "ask for svg, which needs no pixels")
    })?;
    Ok(Rendered {
        bytes,
        pictures: drawn.others,
        boxes: letters_without_font(&drawn.svg),
    })
}

/// A picture as SVG, with its scale for a PNG.
struct SvgPicture {
    svg: String,
    scale: f32,
    /// The names of all of them, if none was selected.
    others: Vec<String>,
}

/// The picture of this name, or the first; for `all`, all charts.
fn picture(pictures: &[Picture], about: &Attribution, wanted: &PictureLook) -> Outcome<SvgPicture> {
    let names: Vec<&str> = pictures.iter().map(Picture::name).collect();
    if pictures.is_empty() {
        return Err(Failure::usage(
            "these records have nothing that a chart would show",
            "one run gives charts where it has latencies or intervals; name several runs, or a series",
        ));
    }
    let mut others = Vec::new();
    let chosen = match wanted.picture.as_deref() {
        Some("all") => {
            return Ok(SvgPicture {
                svg: stripewise_report::svg_of_all(&charts_of(pictures)),
                scale: PNG_SCALE,
                others,
            });
        }
        Some(name) => pictures.iter().find(|picture| picture.name() == name),
        None => {
            if names.len() > 1 {
                others.extend(names.iter().map(|name| (*name).to_owned()));
            }
            pictures.first()
        }
    };
    let unknown = || {
        Failure::usage(
            format!(
                "there is no chart `{}`",
                wanted.picture.as_deref().unwrap_or_default()
            ),
            format!("available: {}, all", names.join(", ")),
        )
    };
    let chosen = chosen.ok_or_else(unknown)?;
    Ok(SvgPicture {
        svg: svg_picture(chosen, about, &wanted.look),
        scale: 1.0,
        others,
    })
}

/// The charts among pictures.
fn charts_of(pictures: &[Picture]) -> Vec<Chart> {
    let charts = pictures.iter().filter_map(|picture| match picture {
        Picture::Chart(chart) => Some(chart.as_ref().clone()),
        Picture::Card(_) | Picture::Sheet(_) | Picture::Multiples(_) => None,
    });
    charts.collect()
}

/// A report on a stored experiment.
///
/// # Errors
/// If the store lacks it.
pub fn material_on(context: &Context, store: &Store, id: &str) -> Outcome<Material> {
    let (document, notes) = document_of(context, vec![stored(context, store, id)?]);
    let title = title_of(&document);
    let mut material = material(Some(store), document, title, &[id.to_owned()]);
    material.notes = notes;
    Ok(material)
}

/// A report on a document, by the names of its runs in the store.
pub fn material_of(store: Option<&Store>, document: Document) -> Material {
    let title = title_of(&document);
    let names = names_of(&document);
    material(store, document, title, &names)
}

/// The names of these runs in the store.
fn names_of(document: &Document) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for run in &document.runs {
        let name = run.series.clone().unwrap_or_else(|| run.id.clone());
        if names.len() < 8 && !names.contains(&name) && run.imported.is_none() {
            names.push(name);
        }
    }
    names
}
