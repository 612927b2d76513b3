//! Single runs, grids and repetitions; and the choice of sheet for a document of runs.

use super::columns::load_columns;
use super::{RunsLook, bench, cautions, title};
use crate::crystaldiskmark::{are_like_runs, like_table};
use crate::faults::verification_text;
use crate::hosts::{hosts_sentences, hosts_table};
use crate::imported::imported_table;
use crate::number::{latency_cells, rate};
use crate::repetitions::{groups_of, repeated_in_full, repetitions_table};
use crate::required::requirement_lines;
use crate::run::{job_details, kinds, percentiles_table, processor_tables, row_name};
use crate::sheet::{Caution, Cell, Column, Judgement, Sheet, SheetTable};
use crate::validity::state_in_brief;
use crate::warning_summary::Marks;
use crate::words::verdict_on;
use stripewise_results::{Document, JobRecord, KindOutcome, RunRecord, Severity, Status};
use stripewise_units::ByteSize;

/// The sheet of a document of runs: a bench, the lines of another tool's bench, or runs.
pub fn runs_sheet(document: &Document, look: &RunsLook<'_>) -> Sheet {
    let runs = &document.runs;
    let is_bench = !document.series.is_empty();
    let is_like = !is_bench && are_like_runs(runs) && look.percentiles.is_empty();
    let is_foreign = runs.iter().any(|run| run.imported.is_some());
    let marks = match (is_bench, is_like || is_foreign) {
        (true, _) if !look.ladders => Marks::NONE,
        (true, _) => Marks::of(runs, look.explain, |run| is_step(document, run)),
        (false, true) => Marks::NONE,
        (false, false) => Marks::of(runs, look.explain, |_| true),
    };
    let mut tables = match (is_bench, is_like, is_foreign) {
        (true, ..) => vec![bench::answers_table(document)],
        (_, true, _) => vec![like_table(runs)],
        (.., true) => vec![imported_table(runs)],
        _ => run_tables(runs, look, &marks),
    };
    if is_bench && look.ladders {
        tables.extend(bench::ladder_tables(document, &marks));
    }
    if look.explain {
        tables.extend(runs.iter().flat_map(processor_tables));
        tables.push(cautions::explanations(runs, &marks));
    }
    let apart = repeated_in_full(document).map(|text| Caution::own(Severity::Warning, text, ""));
    let verified = runs.iter().filter_map(|run| run.verification.as_ref());
    let verified = verified.flat_map(|one| {
        let text = verification_text(one);
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    Sheet {
        title: title::title(runs),
        subtitle: title::subtitle(runs),
        verdict: verdict_on(&document.requirements),
        details: (requirement_lines(document, look.explain).into_iter())
            .chain(bench::lasting_lines(document))
            .chain(absorbed_lines(document))
            .chain(partial_lines(runs))
            .chain(verified.filter(|line| !line.is_empty()))
            .collect(),
        tables,
        cautions: (apart.into_iter())
            .chain(cautions::cautions(document, &marks, look.explain))
            .collect(),
        ..Sheet::default()
    }
}

/// For each load of runs that began behind a pilot (`run --steady`), how much a cache or a burst
/// credit absorbed; of repetitions, before the first.
fn absorbed_lines(document: &Document) -> Vec<String> {
    let is_piloted = |run: &RunRecord| run.sustained.is_some();
    if !document.series.is_empty() || !document.runs.iter().any(is_piloted) {
        return Vec::new();
    }
    let groups = groups_of(&document.runs);
    let of = |group: &Vec<(&RunRecord, &JobRecord)>| {
        let (run, job) = group.iter().find(|(run, _)| is_piloted(run))?;
        let found = run.sustained.as_ref().filter(|found| found.is_reached())?;
        let workload = &job.workload;
        let absorbed = found.absorbed_words(false, workload.read_percent == 100)?;
        let name = match groups.len() {
            1 => String::new(),
            _ => format!(
                "{} {} with {} in flight: ",
                job.load_name(),
                workload.block_text(),
                u64::from(workload.threads) * u64::from(workload.outstanding)
            ),
        };
        Some(format!("{name}{absorbed}; the table has what lasts"))
    };
    groups.iter().filter_map(of).collect()
}

fn is_step(document: &Document, run: &RunRecord) -> bool {
    let mut steps = document.series.iter().flat_map(|series| &series.steps);
    steps.any(|step| step.run == run.id)
}

/// A line for each run that did not end as planned.
pub fn partial_lines(runs: &[RunRecord]) -> impl Iterator<Item = String> {
    let partial = runs.iter().filter(|run| run.status == Status::Partial);
    partial.map(|run| {
        let because = run.partial_because.as_deref();
        let because = because.unwrap_or("it did not end as planned");
        format!("partial: {} ({because})", run.id)
    })
}

/// Tables for runs of Stripewise.
fn run_tables(runs: &[RunRecord], look: &RunsLook<'_>, marks: &Marks<'_>) -> Vec<SheetTable> {
    let mut tables = vec![rows_table(runs, marks)];
    tables.extend(repetitions_table(runs));
    for run in runs {
        if let Some(merged) = &run.merged {
            let sentences = hosts_sentences(run, merged).join(" ");
            tables.push(hosts_table(merged).with_note(sentences));
        }
    }
    if let [run] = runs {
        let lines = run.jobs.iter().flat_map(job_details);
        let rows = lines.map(|line| vec![line]).collect();
        tables.push(SheetTable::without_headings("", rows));
    }
    tables.extend(percentiles_table(runs, look.percentiles));
    tables
}

/// A row per job of each run: its load and results. A mixed load has a row for
/// its reads, one for its writes, and one for both.
fn rows_table(runs: &[RunRecord], marks: &Marks<'_>) -> SheetTable {
    let first = [
        Column::text("Job"),
        Column::text("Workload"),
        Column::number("Block"),
        Column::number("Offset"),
    ];
    let columns = first.into_iter().chain(load_columns());
    let together = runs.iter().any(|run| run.jobs.len() > 1);
    let all = || runs.iter().flat_map(|run| &run.jobs);
    let first = all().next().map(|job| &job.name);
    let named = together || all().any(|job| Some(&job.name) != first);
    // With one thread each, the number in flight suffices.
    let with_threads = all().any(|job| job.workload.threads > 1);
    let with_offset = all().any(|job| job.workload.base_offset_bytes != 0);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for run in runs {
        for job in &run.jobs {
            let name = match (named, together && run.jobs.len() == 1) {
                (false, _) => String::new(),
                (true, false) => job.name.clone(),
                (true, true) => format!("{} alone", job.name),
            };
            let offset = with_offset.then(|| ByteSize(job.workload.base_offset_bytes).to_string());
            let mark = marks.of_row(run, job);
            for (kind, outcome) in kinds(job) {
                let mut cells = vec![name.clone().into(), row_name(job, kind).into()];
                cells.push(job.workload.block_text().into());
                cells.push(offset.clone().unwrap_or_default().into());
                let mut of_load = row(run, job, &outcome, &mark);
                if !with_threads {
                    of_load[..2].fill(Cell::default());
                }
                cells.extend(of_load);
                rows.push(cells);
            }
        }
    }
    SheetTable::new("", columns, rows)
}

/// From the threads to the last column.
fn row(run: &RunRecord, job: &JobRecord, outcome: &KindOutcome, mark: &str) -> Vec<Cell> {
    let workload = &job.workload;
    let seconds = job.outcome.duration_ns as f64 / 1e9;
    let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    let [iops, mib] = [
        per_second(outcome.operations as f64),
        per_second(outcome.bytes as f64 / 1_048_576.0),
    ];
    let in_flight = u64::from(workload.threads) * u64::from(workload.outstanding);
    let mut cells = vec![
        workload.threads.to_string().into(),
        workload.outstanding.to_string().into(),
        in_flight.to_string().into(),
        Cell::exact(rate(iops), iops),
        Cell::exact(rate(mib), mib),
    ];
    cells.extend(latency_cells(outcome.latency_ns.as_ref()).map(Cell::from));
    let state = state_in_brief(run, job);
    let is_void = !run.void_codes_of(job).is_empty();
    let text = [state.as_str(), mark].join(" ").trim().to_owned();
    cells.push(match is_void {
        true => Cell::judged(text, Judgement::Bad),
        false => text.into(),
    });
    cells
}
