//! The rows of a history, and the known fields of each run's jobs.

use crate::steps::documents::verdict_as_requested;
use crate::steps::headroom::StoredHeadroom;
use crate::steps::limits::StoredLimits;
use crate::steps::qualification::{StoredQualification, StoredStudy};
use crate::steps::stored_check::StoredCheck;
use crate::steps::surface::mib;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::Outcome;
use stripewise_lab::SeriesKind;
use stripewise_report::{HistoryRow, is_like_job, megabytes_per_s};
use stripewise_results::{
    AT_RATE, AnswerBound, AnswerReason, JobRecord, JobRow, RunRecord, SeriesAnswer, SeriesRecord,
    Status,
};
use stripewise_stats::median;
use stripewise_store::{JobSummary, RunSummary, Store};
use stripewise_studies::headroom::{Bound, ClosedDocument, GrowthDocument};
use stripewise_studies::limits::CapKind;
use stripewise_units::{
    ByteSize, counted, format_count, format_iops, format_three_digits, in_flight_words,
};
use stripewise_workload::operation_name;

/// Known fields of a run's jobs: complete for runs of Stripewise, perhaps incomplete for
/// imported results.
pub type KnownJobs = Vec<JobFields>;

/// The fields of a job that an imported result may lack.
#[derive(Clone, Debug)]
pub struct JobFields {
    pub pattern: Option<String>,
    pub read_percent: Option<u8>,
    pub discard_percent: u8,
    pub block_size_bytes: Option<u64>,
    pub threads: Option<u32>,
    pub outstanding: Option<u32>,
    pub iops: Option<f64>,
    pub mib_per_s: Option<f64>,
    pub errors: Option<u64>,
}

pub fn job_fields(
    context: &Context,
    store: &Store,
    run: &RunSummary,
) -> Outcome<Option<KnownJobs>> {
    if run.tool.is_none() {
        return Ok(Some(run.jobs.iter().map(measured_here).collect()));
    }
    let record = context.unless_damaged(store.load(&run.id))?;
    Ok(record.map(|record| {
        JobRow::of(std::slice::from_ref(&record))
            .map(|row| imported(&row))
            .collect()
    }))
}

fn measured_here(job: &JobSummary) -> JobFields {
    JobFields {
        pattern: Some(job.pattern.clone()),
        read_percent: Some(job.read_percent),
        discard_percent: job.discard_percent,
        block_size_bytes: Some(job.block_size_bytes),
        threads: Some(job.threads),
        outstanding: Some(job.outstanding),
        iops: Some(job.iops),
        mib_per_s: Some(job.mib_per_s),
        errors: Some(job.errors),
    }
}

fn imported(row: &JobRow<'_>) -> JobFields {
    let job = row.job;
    JobFields {
        pattern: row.pattern().map(str::to_owned),
        read_percent: row.given("jobs.workload.read_percent", job.workload.read_percent),
        discard_percent: job.workload.discard_percent,
        block_size_bytes: row.block_size_bytes(),
        threads: row.threads(),
        outstanding: row.outstanding(),
        iops: row.iops(),
        mib_per_s: row.mib_per_s(),
        errors: row.given("jobs.outcome.errors", job.outcome.errors.total),
    }
}

/// One row per run; the runs of a series share one row, at its newest run. Returns each with
/// its start time, unless it was imported. At most `limit` rows, since their records are
/// read.
pub fn rows(
    store: &Store,
    runs: &[(RunSummary, KnownJobs)],
    limit: usize,
) -> Vec<(Option<String>, HistoryRow)> {
    let mut rows = Vec::new();
    let mut shown: Vec<&str> = Vec::new();
    for (run, job_fields) in runs {
        if rows.len() == limit {
            break;
        }
        let Some(series) = run.series.as_deref() else {
            let record = store.load(&run.id).ok();
            let void = record
                .as_ref()
                .is_some_and(|one| !one.void_codes().is_empty());
            let mut row = HistoryRow {
                status: status(run.status == Status::Partial, void, run.status),
                ..row(run, record.as_ref(), job_fields)
            };
            add_verdict(store, run, &mut row);
            rows.push((begun(run), row));
            continue;
        };
        if shown.contains(&series) {
            continue;
        }
        shown.push(series);
        let of_series: Vec<&(RunSummary, KnownJobs)> = runs
            .iter()
            .filter(|(other, _)| other.series.as_deref() == Some(series))
            .collect();
        rows.push((begun(run), row_of_series(store, series, &of_series)));
    }
    rows
}

fn begun(run: &RunSummary) -> Option<String> {
    run.tool.is_none().then(|| run.started_at.clone())
}

/// Which of `VOID`, `partial` and `running` apply.
fn status(partial: bool, void: bool, status: Status) -> String {
    let words = [
        (void, "VOID"),
        (partial, "partial"),
        (status == Status::Running, "running"),
    ];
    let words = words.into_iter().filter(|(holds, _)| *holds);
    words.map(|(_, word)| word).collect::<Vec<_>>().join(", ")
}

/// The runs of a series, newest first, as one row: with the answer of a bench's first
/// ladder within its limit, else its ceiling, which every ladder has; or the median of
/// repetitions.
fn row_of_series(store: &Store, series: &str, runs: &[&(RunSummary, KnownJobs)]) -> HistoryRow {
    let (newest, job_fields) = runs[0];
    let partial = runs.iter().any(|(run, _)| run.status != Status::Complete);
    let first = store.load(&newest.id).ok();
    let name = first
        .as_ref()
        .and_then(made_by)
        .unwrap_or_else(|| match first_like_line(runs) {
            Some(_) => "bench".to_owned(),
            None => name_of_series(newest.series_part.as_deref()),
        });
    let mut row = HistoryRow {
        id: series.to_owned(),
        what: counted(runs.len(), "run", "runs"),
        iops: None,
        ..row(newest, first.as_ref(), job_fields)
    };
    // The day of the id, even if the series ran past midnight.
    let began = runs.iter().map(|(run, _)| run.started_at.as_str()).min();
    row.date = began
        .and_then(|began| began.get(..10))
        .unwrap_or_default()
        .to_owned();
    let mut void = first.is_some_and(|record| !record.void_codes().is_empty());
    if let Some(ladder) = first_ladder(store, runs) {
        let kind = SeriesKind::from_name(&ladder.name);
        let in_bytes = kind.is_some_and(SeriesKind::reported_in_bytes);
        if let Some((rates, what)) = rate_of_ladder(&ladder) {
            match in_bytes {
                true => {
                    let sign = rates
                        .bound
                        .map_or_else(String::new, |one| format!("{} ", one.sign()));
                    row.amount = format!("{sign}{} MiB/s", format_three_digits(rates.mib_per_s));
                }
                false => (row.iops, row.bound) = (Some(rates.iops), rates.bound),
            }
            row.what = what;
        }
        void = !ladder.void_codes().is_empty();
    } else if let Some(first) = first_like_line(runs) {
        row.amount = format!("{} MB/s", format_iops(megabytes_per_s(first.mib_per_s)));
        row.what = format!("crystaldiskmark {}", first.name);
    } else if let Some(rates) = repetitions(runs) {
        row.iops = median(&rates).filter(|_| !void);
        row.what = format!("{}; median", row.what);
    }
    row.series = name;
    let answer = study_answer(store, series);
    // A study excludes void runs from its answer.
    void &= answer.is_none();
    // A study interrupted and later finished is as complete as any.
    let is_finished = answer.as_ref().is_some_and(|answer| answer.is_whole) && !void;
    row.status = status(partial && !is_finished, void, newest.status);
    if let Ok(Some(found)) = StoredCheck::find(store, series)
        && row.status.is_empty()
    {
        found.word().clone_into(&mut row.status);
    }
    if let Some(answer) = answer {
        row.what = answer.what;
        row.amount = answer.amount;
        if row.status.is_empty() {
            row.status = answer.status;
        }
    }
    add_verdict(store, newest, &mut row);
    row
}

/// What became of `--require`, where nothing graver is to be said.
fn add_verdict(store: &Store, run: &RunSummary, row: &mut HistoryRow) {
    if row.status.is_empty()
        && let Some(verdict) = verdict_as_requested(store, run)
    {
        verdict.word().clone_into(&mut row.status);
    }
}

/// What a study came to.
struct StudyAnswer {
    /// Nothing remains to be measured, even if single runs failed.
    is_whole: bool,
    what: String,
    amount: String,
    status: String,
}

/// The answer of the study that these runs belong to; `None` for other series, and if it
/// cannot be read.
fn study_answer(store: &Store, series: &str) -> Option<StudyAnswer> {
    if let Ok(Some(found)) = StoredQualification::named(store, series) {
        let study = found.study().ok()?;
        let (is_whole, what, status) = match study {
            StoredStudy::Product(study) => (
                !study.is_open(),
                study.product().name.clone(),
                study.verdict().word(),
            ),
            // A table without a verdict.
            StoredStudy::Commit(study) => (study.is_whole(), "commit methods".to_owned(), ""),
        };
        return Some(StudyAnswer {
            is_whole,
            what,
            amount: String::new(),
            status: status.to_owned(),
        });
    }
    if let Ok(Some(StoredLimits {
        document: found, ..
    })) = StoredLimits::find(store, series)
    {
        let of = |kind| found.caps.iter().find(|cap| cap.kind == kind);
        let operations = of(CapKind::Iops).map(|cap| format_iops(cap.per_s));
        let bytes = of(CapKind::BytesPerS);
        let bytes = bytes.map(|cap| mib(cap.per_s));
        let [one, several] = match found.shows_levels_only() {
            true => ["level", "levels"],
            false => ["cap", "caps"],
        };
        let (what, amount) = match (operations, bytes) {
            (Some(iops), Some(bytes)) => (format!("{several}, {bytes}"), iops),
            (Some(rate), None) | (None, Some(rate)) => (one.to_owned(), rate),
            (None, None) if found.partial => ("no cap so far".to_owned(), String::new()),
            (None, None) => ("no cap".to_owned(), String::new()),
        };
        return Some(StudyAnswer {
            is_whole: !found.partial,
            what,
            amount,
            status: match (found.refused.is_some(), found.partial) {
                (true, _) => "undecided".to_owned(),
                (false, true) => "partial".to_owned(),
                (false, false) => String::new(),
            },
        });
    }
    let found = StoredHeadroom::find(store, series).ok()??.document;
    let growth = found.more_users.as_ref().or(found.faster.as_ref());
    let users = || found.closed.as_ref().and_then(users_in_short);
    let amount = growth.map(growth_in_short).or_else(users);
    Some(StudyAnswer {
        is_whole: !found.resumable,
        what: format!("{} {}", found.load.name, found.slo),
        status: match (found.refused.is_some(), found.resumable || amount.is_some()) {
            (true, _) => "no answer".to_owned(),
            (false, false) => "undecided".to_owned(),
            (false, true) => String::new(),
        },
        amount: amount.unwrap_or_default(),
    })
}

/// `17 users`.
fn users_in_short(closed: &ClosedDocument) -> Option<String> {
    let users = format_count(closed.users?.round() as u64);
    let sign = match closed.bound? {
        Bound::At => "",
        Bound::AtLeast => "\u{2265} ",
        Bound::AtMost => "\u{2264} ",
    };
    Some(format!("{sign}{users} users"))
}

/// `1.70x (1.62-1.79)`.
fn growth_in_short(growth: &GrowthDocument) -> String {
    match (growth.low, growth.high) {
        (Some(low), _) if growth.bound == Bound::AtLeast => format!("\u{2265} {low:.2}x"),
        (Some(low), Some(high)) => format!("{:.2}x ({low:.2}-{high:.2})", growth.factor),
        (Some(low), None) => format!("\u{2265} {low:.2}x"),
        (None, Some(high)) => format!("\u{2264} {high:.2}x"),
        (None, None) => String::new(),
    }
}

/// Rates of a ladder.
struct Rates {
    iops: f64,
    mib_per_s: f64,
    bound: Option<AnswerBound>,
}

/// The representative rate of a ladder, and its description: `random-read p99<5ms`. Where the answer
/// is a bound, the ceiling.
fn rate_of_ladder(ladder: &SeriesRecord) -> Option<(Rates, String)> {
    let name = &ladder.name;
    let answer = ladder
        .answered()
        .filter(|answer| answer.record.bound.is_none());
    let (rates, what) = match answer {
        Some(SeriesAnswer { reason, record, .. }) => {
            let what = match reason {
                AnswerReason::Only => name.clone(),
                AnswerReason::Within => format!("{name} {}", ladder.slo),
                AnswerReason::Knee => format!("{name} knee"),
                AnswerReason::Highest => format!("{name} ceiling"),
            };
            ((record.iops, record.mib_per_s, None), what)
        }
        None => {
            let step = &ladder.steps[ladder.ceiling?];
            let rates = (step.iops, step.mib_per_s, ladder.ceiling_bound);
            (rates, format!("{name} ceiling"))
        }
    };
    let (iops, mib_per_s, bound) = rates;
    let rates = Rates {
        iops,
        mib_per_s,
        bound,
    };
    Some((rates, what))
}

/// The command, if its results do not show it: a check repeats the series of
/// its baseline.
fn made_by(record: &RunRecord) -> Option<String> {
    const COMMANDS: [&str; 9] = [
        "bench", "run", "align", "lab", "check", "baseline", "limits", "qualify", "headroom",
    ];
    let mut words = record.command.iter().skip(1);
    let command = words.find(|word| COMMANDS.contains(&word.as_str()))?;
    // The parts of a study are its levels: `64K` is meaningless in a list.
    if command == "lab" && words.any(|word| word.starts_with("study:")) {
        return Some("study".to_owned());
    }
    let studies = ["check", "baseline", "limits", "qualify", "headroom"];
    studies.contains(&command.as_str()).then(|| command.clone())
}

/// The summary of a bench's first ladder; `None` if it is not a bench.
fn first_ladder(store: &Store, runs: &[&(RunSummary, KnownJobs)]) -> Option<SeriesRecord> {
    let part = |run: &RunSummary| run.series_part.clone().unwrap_or_default();
    let oldest = runs.iter().rev().map(|(run, _)| run);
    let first = oldest
        .clone()
        .map(part)
        .find(|part| SeriesKind::from_name(part).is_some())?;
    let of_part = oldest.filter(|run| part(run) == first);
    let records: Vec<RunRecord> = of_part.filter_map(|run| store.load(&run.id).ok()).collect();
    stripewise_lab::series_of(&records).into_iter().next()
}

/// The first line of `bench --like crystaldiskmark`; `None` for other series.
fn first_like_line<'a>(runs: &[&'a (RunSummary, KnownJobs)]) -> Option<&'a JobSummary> {
    let line = |run: &'a RunSummary| match run.jobs.as_slice() {
        [job] if run.tool.is_none() && is_like_job(&job.name) => Some(job),
        _ => None,
    };
    let lines: Option<Vec<&JobSummary>> = runs.iter().map(|(run, _)| line(run)).collect();
    lines?.last().copied()
}

/// The rates of runs with the same load; `None` if they differ, or there is only
/// one.
fn repetitions(runs: &[&(RunSummary, KnownJobs)]) -> Option<Vec<f64>> {
    let what = |run: &RunSummary| {
        let [job] = run.jobs.as_slice() else {
            return None;
        };
        let kinds = (job.read_percent, job.discard_percent);
        let place = (job.target.clone(), job.pattern.clone(), kinds);
        Some((place, job.block_size_bytes, job.threads, job.outstanding))
    };
    let first = what(&runs.first()?.0)?;
    let same = runs.len() > 1
        && runs
            .iter()
            .all(|(run, _)| what(run).as_ref() == Some(&first));
    let rates = runs.iter().flat_map(|(run, _)| &run.jobs);
    same.then(|| rates.map(|job| job.iops).collect())
}

/// Name of a series by the part that a run belongs to: a ladder belongs to a bench.
fn name_of_series(part: Option<&str>) -> String {
    // A rate and a latency required together are measured at that rate.
    let part = part.map(|part| part.strip_suffix(AT_RATE).unwrap_or(part));
    match part {
        Some(part) if SeriesKind::from_name(part).is_none() && part != "precondition" => {
            part.to_owned()
        }
        _ => "bench".to_owned(),
    }
}

fn row(run: &RunSummary, record: Option<&RunRecord>, job_fields: &KnownJobs) -> HistoryRow {
    let first = run.jobs.first();
    let rates: Vec<f64> = job_fields.iter().filter_map(|job| job.iops).collect();
    let what = job_fields.first().map_or_else(String::new, |job| {
        let more = match run.jobs.len() {
            0 | 1 => String::new(),
            jobs => format!(" +{}", jobs - 1),
        };
        let row = record.and_then(|run| {
            Some(JobRow {
                run,
                job: run.jobs.first()?,
            })
        });
        let outstanding = row.and_then(|row| row.outstanding_of_thread());
        format!("{}{more}", in_short(job, outstanding.or(job.outstanding)))
    });
    HistoryRow {
        id: run.id.clone(),
        date: run.started_at.get(..10).unwrap_or_default().to_owned(),
        series: run.tool.clone().unwrap_or_else(|| "run".to_owned()),
        target: record
            .and_then(|record| record.jobs.first())
            .map(JobRecord::full_target_names)
            .or_else(|| first.map(|job| job.target.clone()))
            .unwrap_or_default(),
        what,
        // An imported result may have none, which is not a rate of 0.
        iops: (run.status != Status::Running && (run.tool.is_none() || !rates.is_empty()))
            .then(|| rates.iter().sum()),
        label: run.label.clone().unwrap_or_default(),
        ..HistoryRow::default()
    }
}

/// `random read 8K 32 in flight (4 threads)`; values that a source lacks are left out.
fn in_short(job: &JobFields, outstanding: Option<u32>) -> String {
    let kind = job
        .read_percent
        .map(|reads| operation_name(reads, job.discard_percent))
        .map(|name| name.replace(" %", "%").replace(',', ""));
    let block = job
        .block_size_bytes
        .map(|bytes| ByteSize(bytes).to_string());
    let load = in_flight_words(job.threads, outstanding);
    let words = [job.pattern.clone(), kind, block, Some(load)];
    let words = words.into_iter().flatten().filter(|word| !word.is_empty());
    words.collect::<Vec<String>>().join(" ")
}
