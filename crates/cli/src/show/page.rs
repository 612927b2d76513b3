//! Reports: gathering what they show from store and files, and writing them.

use crate::context::{Context, store_failure};
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{check_new, write_new};
use crate::show::document::{note, print_text};
use crate::show::runs;
use crate::show::terminal::say_part;
use crate::subject::{Subject, stored};
use crate::switches::report::ReportFormat;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use stripewise_lab::SeriesKind;
use stripewise_report::{
    About, LatencyInterval, LatencyOverTime, Look, Material, Picture, charts, csv_heading,
    csv_rows, html, letters_without_font, markdown, pictures, plain_json, png,
    runs_worth_a_closer_look, svg_picture,
};
use stripewise_results::{Document, RunRecord};
use stripewise_stats::Histogram;
use stripewise_store::{Store, StoredHistograms};
use stripewise_units::NameText;

/// From so many runs on only what tables and charts of many runs show is kept of
/// each: no intervals, no histograms.
pub const RUNS_IN_FULL_MAX: usize = 300;
/// Name of the subject that is all of the store.
pub const EVERYTHING: &str = "--all";
/// Targets that a title names.
const TARGETS_MAX: usize = 3;
/// Pixels of a PNG for each of the SVG's, where it has no size of its own.
const PNG_SCALE: f32 = 2.0;

/// A report on these records: the store gives latencies over time where it has
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
        // The charts that need it are left out where it cannot be read.
        material.latencies = latencies(store, &material).unwrap_or_default();
    }
    material
}

/// What a document is about, in a line.
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
    if !document.series.is_empty() {
        return match (&targets_of(document)[..], &labels_of(document)[..]) {
            ([_, _, ..], _) => format!("Benches of {}", several(&targets_of(document))),
            (_, [label]) => format!("{label}: bench of {target}"),
            _ => format!("Bench of {target}"),
        };
    }
    if let (Some(_), Some(comparison)) = (&first.experiment, document.comparisons.first()) {
        let mut letters = comparison.title.chars();
        let capital = letters.next().into_iter().flat_map(char::to_uppercase);
        return capital.chain(letters).collect();
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
            stripewise_units::format_count(runs.len() as u64),
            several(&targets_of(document))
        ),
    }
}

/// Names of all targets, each once.
fn targets_of(document: &Document) -> Vec<&str> {
    let mut targets: Vec<&str> = Vec::new();
    for job in document.runs.iter().flat_map(|run| &run.jobs) {
        // More are not told by name.
        if targets.len() <= TARGETS_MAX && !targets.contains(&job.target.full_name()) {
            targets.push(job.target.full_name());
        }
    }
    targets
}

/// The labels of all runs, each once; none where a run has none.
fn labels_of(document: &Document) -> Vec<&str> {
    let mut labels: Vec<&str> = Vec::new();
    for run in &document.runs {
        let Some(label) = run.label.as_deref() else {
            return Vec::new();
        };
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// `a, b and c`; many are only counted.
fn several(names: &[&str]) -> String {
    match names {
        [one] => (*one).to_owned(),
        [all @ .., last] if names.len() <= TARGETS_MAX => {
            format!("{} and {last}", all.join(", "))
        }
        _ => "several targets".to_owned(),
    }
}

/// Latencies of each interval of the runs that deserve a closer look.
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
            let stored = store.load_intervals(&id, index).map_err(store_failure)?;
            for writes in [true, false] {
                let intervals: Vec<LatencyInterval> = stored
                    .iter()
                    .map(|stored| LatencyInterval {
                        start_ns: stored.interval.start_ns,
                        duration_ns: stored.interval.duration_ns,
                        latency_ns: of_kind(&stored.histograms, writes),
                    })
                    .collect();
                if intervals.iter().any(|one| one.latency_ns.count() > 0) {
                    all.push(LatencyOverTime {
                        run: id.clone(),
                        job: job.name.clone(),
                        writes,
                        intervals,
                    });
                }
            }
        }
    }
    Ok(all)
}

/// Empty where there were none.
fn of_kind(histograms: &StoredHistograms, writes: bool) -> Histogram {
    let of = if writes {
        &histograms.write
    } else {
        &histograms.read
    };
    of.clone().unwrap_or_default()
}

/// Subjects as one document, with summaries of ladders and comparisons of levels.
pub fn document_of(context: &Context, subjects: Vec<Subject>) -> (Document, Vec<String>) {
    let mut notes = Vec::new();
    let mut comparisons = Vec::new();
    let mut all: Vec<RunRecord> = Vec::new();
    let mut seen = HashSet::new();
    for mut subject in subjects {
        subject.leave_out_copies(&mut seen);
        // All that is stored is no experiment of which levels could be compared.
        if subject.comparisons.is_empty() && subject.name != EVERYTHING {
            comparisons.extend(crate::commands::compare::levels_compared(context, &subject));
        }
        comparisons.extend(subject.comparisons);
        notes.extend(subject.notes);
        all.extend(subject.runs);
    }
    let mut document = runs::document(all);
    document
        .series
        .retain(|series| SeriesKind::from_name(&series.name).is_some());
    document.comparisons = comparisons;
    (document, notes)
}

/// Which picture is wanted, and how it looks.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The name of a picture, or `all`; the most telling one where not given.
    pub picture: Option<String>,
    /// Ground and size.
    pub look: Look,
    /// In place of the report's own title.
    pub title: Option<String>,
    /// Where the numbers come from, in the user's words.
    pub source: Option<String>,
}

impl Wanted {
    fn about(&self, material: &Material) -> About {
        let mut about = About::of(material);
        if let Some(title) = &self.title {
            about = about.titled(title);
        }
        match &self.source {
            Some(source) => about.sourced(source),
            None => about,
        }
    }
}

/// A report in a format.
pub fn rendered(material: &Material, format: ReportFormat, wanted: &Wanted) -> Outcome<Vec<u8>> {
    Ok(match format {
        ReportFormat::Html => html(material).into_bytes(),
        ReportFormat::Md => markdown(material).into_bytes(),
        ReportFormat::Json => plain_json(&material.document.to_json()).into_bytes(),
        // A mark that tells spreadsheets that this is UTF-8.
        ReportFormat::Csv => {
            let rows: String = material.document.runs.iter().map(csv_rows).collect();
            format!("\u{feff}{}{rows}", csv_heading()).into_bytes()
        }
        ReportFormat::Svg => picture(material, wanted)?.svg.into_bytes(),
        ReportFormat::Png => {
            let picture = picture(material, wanted)?;
            note_boxes(&picture.svg);
            png(&picture.svg, picture.scale, &wanted.about(material)).map_err(|error| {
                Failure::new(
                    Exit::Target,
                    error.to_string(),
                    "ask for svg, which needs no pixels",
                )
            })?
        }
    })
}

/// Letters that will be boxes are named: nobody should have to look for the reason.
fn note_boxes(svg: &str) {
    let letters = letters_without_font(svg);
    if !letters.is_empty() {
        note(format!(
            "no font here has the letters {letters}, which the PNG shows as boxes; \
             install one that has them (Noto Sans CJK, for example), or use svg"
        ));
    }
}

/// A picture as SVG, with the pixels of a PNG for each of its own.
struct Drawn {
    svg: String,
    scale: f32,
}

/// The picture of the wanted name, or the first; all of the charts where `all` is asked for.
fn picture(material: &Material, wanted: &Wanted) -> Outcome<Drawn> {
    let pictures = pictures(material);
    let names: Vec<&str> = pictures.iter().map(Picture::name).collect();
    if pictures.is_empty() {
        return Err(Failure::usage(
            "these records have nothing that a chart would show",
            "one run gives charts where it has latencies or intervals; name several runs, or a series",
        ));
    }
    let chosen = match wanted.picture.as_deref() {
        Some("all") => {
            return Ok(Drawn {
                svg: stripewise_report::svg_of_all(&charts(material)),
                scale: PNG_SCALE,
            });
        }
        Some(name) => pictures.iter().find(|picture| picture.name() == name),
        None => {
            if names.len() > 1 {
                note(format!(
                    "--chart NAME gives another picture; there are {}",
                    names.join(", ")
                ));
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
            format!("there are {}, and all", names.join(", ")),
        )
    };
    let chosen = chosen.ok_or_else(unknown)?;
    Ok(Drawn {
        svg: svg_picture(chosen, &wanted.about(material), &wanted.look),
        scale: 1.0,
    })
}

/// The format that a file's name asks for.
pub fn format_of(path: &Path) -> Option<ReportFormat> {
    let end = path.extension()?.to_str()?.to_ascii_lowercase();
    Some(match end.as_str() {
        "html" | "htm" => ReportFormat::Html,
        "png" => ReportFormat::Png,
        "svg" => ReportFormat::Svg,
        "csv" => ReportFormat::Csv,
        "md" | "markdown" => ReportFormat::Md,
        "json" => ReportFormat::Json,
        _ => return None,
    })
}

/// What `--report FILE` of commands that measure or compare does: a report on
/// their document in the format that the file's name asks for. A file that
/// exists is refused.
pub fn write_report(store: Option<&Store>, document: Document, path: &Path) -> Outcome<()> {
    write_material(&material_of(store, document), path)
}

/// A report on a document, by the names under which the store has its runs.
pub fn material_of(store: Option<&Store>, document: Document) -> Material {
    let title = title_of(&document);
    let names = names_of(&document);
    material(store, document, title, &names)
}

/// Writes a report in the format that the file's name asks for.
pub fn write_material(material: &Material, path: &Path) -> Outcome<()> {
    let format = format_of(path).unwrap_or(ReportFormat::Html);
    write_new(path, &rendered(material, format, &Wanted::default())?)
}

/// What `align --report FILE` does: a report on an experiment of the store.
pub fn write_report_on(context: &Context, store: &Store, id: &str, path: &Path) -> Outcome<()> {
    let (document, notes) = document_of(context, vec![stored(context, store, id)?]);
    let title = title_of(&document);
    let mut material = material(Some(store), document, title, &[id.to_owned()]);
    material.notes = notes;
    write_material(&material, path)?;
    say_written(context, path);
    Ok(())
}

/// Where a report is: on stdout, beside a document on stderr.
pub fn say_written(context: &Context, path: &Path) {
    let line = format!("Report: {}\n", path.as_text());
    match (context.global.json, context.global.quiet) {
        (false, _) => print_text(&line),
        (true, false) => say_part!("{line}"),
        (true, true) => {}
    }
}

/// The report that a bench leaves without being asked: `reports/ID.html` in the
/// directory of the store.
pub fn write_beside_store(store: &Store, document: Document) -> Outcome<PathBuf> {
    let first = document.runs.first();
    let name = first.and_then(|run| run.series.clone()).unwrap_or_default();
    let directory = store
        .path()
        .parent()
        .unwrap_or(Path::new(""))
        .join("reports");
    stripewise_store::create_directories(&directory).map_err(|error| {
        Failure::new(
            Exit::Target,
            format!("cannot make {}: {error}", directory.as_text()),
            "name a file with --report FILE",
        )
    })?;
    let path = directory.join(format!("{name}.html"));
    write_report(Some(store), document, &path)?;
    Ok(path)
}

/// Refuses a file that exists before anything is measured for it.
pub fn refuse_existing(path: Option<&Path>) -> Outcome<()> {
    match path {
        Some(path) => check_new(path),
        None => Ok(()),
    }
}

/// What the store knows these runs by.
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
