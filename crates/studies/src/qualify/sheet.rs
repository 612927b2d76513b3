//! A qualification as a sheet: the answer, a row for each requirement, and what must be
//! read with it.

use super::judge::{self, operations_word};
use super::{Judgement, Qualify, QualifyDesign, Verdict};
use crate::commit::{CommitStudy, JOURNAL_IS_SIMULATED};
use crate::latencies::{TOO_FAST, free_syncs};
use crate::product::{BUNDLED, Confidence, Metric, ProductRequirement};
use crate::unbounded_writes;
use std::collections::BTreeMap;
use stripewise_report::{Caution, Cell, Column, Sheet, SheetTable};
use stripewise_results::Severity;
use stripewise_stats::STALL_S;
use stripewise_units::{capitalised, counted, format_bytes, format_count, format_duration};
use stripewise_workload::Workload;

pub(super) fn sheet(study: &Qualify) -> Sheet {
    let product = study.product();
    let verdict = study.verdict();
    Sheet {
        title: product.name.clone(),
        subtitle: product.about.clone(),
        verdict: Some((judgement(verdict), capitalised(&study.verdict_words()))),
        answer: answer(study),
        details: details(study),
        tables: tables(study),
        cautions: cautions(study),
        ..Sheet::default()
    }
}

fn tables(study: &Qualify) -> Vec<SheetTable> {
    let mut tables = vec![requirements(study)];
    tables.extend(study.commits().map_or_else(Vec::new, CommitStudy::tables));
    tables.extend([sources(study), others(study), load(study)]);
    tables
}

const fn judgement(verdict: Verdict) -> stripewise_report::Judgement {
    use stripewise_report::Judgement;
    match verdict {
        Verdict::Met => Judgement::Good,
        Verdict::Missed | Verdict::Void => Judgement::Bad,
        Verdict::Undecided | Verdict::NotJudged => Judgement::Open,
    }
}

fn answer(study: &Qualify) -> String {
    let verdict = study.verdict();
    let all = study.judgements().len();
    let of = study
        .judgements()
        .iter()
        .filter(|one| one.verdict == verdict);
    let time = format_duration(study.seconds() * 1_000_000_000);
    let after = match (study.seconds(), verdict) {
        (0, _) => String::new(),
        _ if study.is_judging() => String::new(),
        (_, Verdict::NotJudged) => format!("; the table has what {time} of measuring showed"),
        _ => format!(", after {time} of measuring"),
    };
    let words = match verdict {
        Verdict::NotJudged if study.is_bundled() => {
            format!("no limit is published for {}", study.product().name)
        }
        Verdict::NotJudged => format!("{} has no limit to meet or miss", study.product().name),
        Verdict::Met if all == 1 => "the only requirement".to_owned(),
        Verdict::Met if all == 2 => "both requirements".to_owned(),
        Verdict::Met => format!("all {all} requirements"),
        _ => format!(
            "{} of {}",
            of.count(),
            counted(all, "requirement", "requirements")
        ),
    };
    format!("{words}{after}")
}

/// Why each verdict is what it is, and what a miss means; which way of committing is fastest.
fn details(study: &Qualify) -> Vec<String> {
    let all = study.product().requirements.iter().zip(study.judgements());
    let commits = study.shown_commits();
    let commits =
        commits.map(|commits| format!("Commit methods, each alone: {}.", commits.answer()));
    all.filter_map(|(one, judged)| detail(one, judged))
        .chain(next_steps(study))
        .chain(commits)
        .collect()
}

/// What decides the undecided requirements, and those that are void.
fn next_steps(study: &Qualify) -> Vec<String> {
    let all = study.product().requirements.iter().zip(study.judgements());
    let undecided = all.filter(|(_, judged)| judged.verdict == Verdict::Undecided);
    let (unwritten, open): (Vec<_>, Vec<_>) =
        undecided.partition(|&(one, _)| study.is_unwritten(one));
    // More minutes may show something else.
    let is_over = !study.is_judging() && !study.is_cut_short();
    let mut judgements = study.judgements().iter();
    let is_void = judgements.any(|one| one.verdict == Verdict::Void);
    let (too_long, open): (Vec<_>, Vec<_>) = open.into_iter().partition(|&(_, judged)| {
        let takes = judged.takes_seconds;
        is_over && takes.is_some_and(|takes| takes > QualifyDesign::Signed.seconds_max() as f64)
    });
    let of_too_long = || {
        let names: Vec<&str> = too_long.iter().map(|(one, _)| one.name.as_str()).collect();
        format!(
            "No run measures as long as {} takes: a plan should take that as missed.",
            names.join(", ")
        )
    };
    let of_unwritten = "To judge what writes, name a directory, or allow writes (--destroy NAME of \
                        a device, --overwrite of a file).";
    let of_void = "What is void says nothing of the target: remove the cause, and measure again.";
    let steps = [
        (!open.is_empty()).then(|| decides(study, &open)),
        (!too_long.is_empty()).then(of_too_long),
        (!unwritten.is_empty()).then(|| of_unwritten.to_owned()),
        (is_over && is_void).then(|| of_void.to_owned()),
    ];
    steps.into_iter().flatten().collect()
}

/// What decides requirements for which a run may be long enough.
fn decides(study: &Qualify, open: &[(&ProductRequirement, &Judgement)]) -> String {
    let is_too_short = || {
        let mut open = open.iter();
        open.all(|(one, _)| judge::earliest(study, one).1.is_none())
    };
    let is_close = || {
        let mut open = open.iter();
        open.all(|(one, judged)| {
            let limit = study.limit_value(one);
            let is_close = |rate| judge::is_close(rate, limit);
            !one.metric.is_latency() && judged.measured.is_some_and(is_close)
        })
    };
    let usual = format_duration(QualifyDesign::Usual.seconds_max() * 1_000_000_000);
    match study.options().design {
        _ if study.is_being_measured && study.is_judging() => {
            "Its next minutes may decide it: `stripewise watch` follows them.".to_owned()
        }
        QualifyDesign::Quick if study.is_judging() => format!(
            "--resume goes on, and can still show a miss. To decide it, run it without --quick: up \
             to {usual} of measuring."
        ),
        _ if study.is_judging() => "To decide it, go on with --resume.".to_owned(),
        _ if study.is_cut_short() => "To decide the others, leave out --fail-fast.".to_owned(),
        QualifyDesign::Usual | QualifyDesign::Signed if is_close() => {
            format!(
                "A rate {} of its limit cannot be decided: a plan should take that as missed.",
                judge::close_words()
            )
        }
        _ if is_too_short() => {
            format!("{usual} can only show a miss; showing that it is met takes longer.")
        }
        QualifyDesign::Quick => {
            format!("To decide it, run it without --quick: up to {usual} of measuring.")
        }
        QualifyDesign::Usual => "To decide it, run it with --sign, which spreads its minutes over an \
             hour and a half. Near a limit it may stay undecided: a plan should take that as missed."
            .to_owned(),
        QualifyDesign::Signed => {
            "Near a limit no run of this length decides: a plan should take it as missed.".to_owned()
        }
    }
}

fn detail(required: &ProductRequirement, judged: &Judgement) -> Option<String> {
    let name = &required.name;
    let reason = &judged.reason;
    match judged.verdict {
        Verdict::Missed if !required.miss.is_empty() => Some(format!(
            "{name} missed: {reason}. It means: {}.",
            required.miss
        )),
        Verdict::NotJudged => None,
        verdict => Some(format!("{name} {}: {reason}.", verdict.word())),
    }
}

/// Assumptions and faults of the measurement, the most severe first.
pub(super) fn cautions(study: &Qualify) -> Vec<Caution> {
    let caution = |severity, text: String| Caution::own(severity, text, "");
    let mut cautions = Vec::new();
    let mut requirements = study.product().requirements.iter();
    if requirements.any(|one| one.limit.is_some() && one.metric.is_latency()) {
        cautions.push(caution(
            Severity::Note,
            format!(
                "assumed: stalls that come together last about {STALL_S} s in total at most; rarer \
                 and longer ones cannot be excluded"
            ),
        ));
    }
    if study.verdict() == Verdict::Met {
        let text = not_seen(study.options().design);
        cautions.push(caution(Severity::Note, text.to_owned()));
    }
    if study.options().placement.sector_bytes > 0 {
        let text = match study.shows_journal() {
            true => JOURNAL_IS_SIMULATED,
            false => "no file system here: what its journal would write is not measured",
        };
        cautions.push(caution(Severity::Note, text.to_owned()));
    }
    if study.counted_syncs() {
        let text = "an earlier version measured it: syncs alone, without the writes before them";
        cautions.push(caution(Severity::Note, text.to_owned()));
    }
    for other in &study.product().others {
        let text = format!(
            "another source, not applied: {} ({})",
            other.says, other.source
        );
        cautions.push(caution(Severity::Note, text));
    }
    for (job, counts) in study.jobs() {
        if counts.errors > 0 {
            let failed = counted(counts.errors as usize, "operation", "operations");
            let failed = format!("{job}: {failed} failed");
            cautions.push(caution(Severity::Warning, failed));
        }
    }
    let medians_ns = study
        .jobs()
        .filter_map(|(_, counts)| counts.sync_median_ns());
    let free = free_syncs("syncs after a write", medians_ns.min());
    let mut jobs = study.jobs();
    let is_fast_known =
        free.is_some() || jobs.any(|(_, counts)| counts.warnings.contains_key(TOO_FAST));
    cautions.extend(free);
    cautions.extend(warnings(study));
    if let Some(commits) = study.shown_commits() {
        let of_commits = commits.cautions(is_fast_known).into_iter();
        cautions.extend(of_commits.map(|one| Caution {
            of: "commit methods".to_owned(),
            ..one
        }));
    }
    cautions.sort_by_key(|one| std::cmp::Reverse(one.severity));
    cautions
}

/// What the minutes of this design do not show where all is met.
const fn not_seen(design: QualifyDesign) -> &'static str {
    match design {
        QualifyDesign::Signed => {
            "a burst credit that outlasts these minutes, or that the rests between them refill, is \
             not seen: `stripewise limits --burst` looks for one"
        }
        QualifyDesign::Quick | QualifyDesign::Usual => {
            "it holds for these minutes (--sign spreads them over an hour and a half); a burst \
             credit that outlasts them is not seen: `stripewise limits --burst` looks for one"
        }
    }
}

/// Distinct warnings of the runs, with their jobs and the number of minutes.
fn warnings(study: &Qualify) -> Vec<Caution> {
    let mut by_code: BTreeMap<&str, (Severity, &str, Vec<String>)> = BTreeMap::new();
    for (job, counts) in study.jobs() {
        for (code, warning) in &counts.warnings {
            let of_code = by_code.entry(code);
            let of_code = of_code.or_insert((warning.severity, &warning.text, Vec::new()));
            of_code.0 = of_code.0.max(warning.severity);
            let minutes = counted(warning.pieces as usize, "minute", "minutes");
            of_code.2.push(format!("in {minutes} of load {job}"));
        }
    }
    let caution = |(code, (severity, text, jobs)): (&str, (Severity, &str, Vec<String>))| Caution {
        code: code.to_owned(),
        ..Caution::own(severity, text, jobs.join(", "))
    };
    by_code.into_iter().map(caution).collect()
}

/// The assumed load.
fn load(study: &Qualify) -> SheetTable {
    let notes = study.product().notes.iter();
    let rows = notes.map(|note| vec![note.clone()]).collect();
    SheetTable::without_headings("The load", rows).as_detail()
}

fn requirements(study: &Qualify) -> SheetTable {
    let all = study.product().requirements.iter().zip(study.judgements());
    let rows = all.map(|(one, judged)| {
        vec![
            Cell::from(one.name.clone()),
            Cell::from(limit_text(study, one)),
            Cell {
                value: judged.measured,
                ..Cell::from(measured_text(study, one, judged))
            },
            Cell::judged(judged.verdict.word(), judgement(judged.verdict)),
            Cell::from(one.source.name.clone()),
        ]
    });
    let columns = [
        "requirement".into(),
        "limit".into(),
        "measured".into(),
        "verdict".into(),
        Column::text("source").dropped(1),
    ];
    SheetTable::new("Requirements", columns, rows.collect())
}

fn limit_text(study: &Qualify, required: &ProductRequirement) -> String {
    let Some(limit) = required.limit else {
        return format!("{} (no limit)", required.metric.words());
    };
    let value = study.limit_value(required);
    crate::product::Limit { value, ..limit }.text(required.metric)
}

/// `3.20 ms (2.97-3.54 ms)`.
fn measured_text(study: &Qualify, required: &ProductRequirement, judged: &Judgement) -> String {
    let Some(measured) = judged.measured else {
        return "-".to_owned();
    };
    let text = |value: f64| match required.limit {
        Some(_) => (required.metric).value_text_beside(value, study.limit_value(required)),
        None => required.metric.value_text(value),
    };
    let interval = match (judged.low, judged.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", text(low), text(high)),
        (None, Some(high)) => format!(" (below {})", text(high)),
        // The longest is its own lower end.
        (Some(low), None) if required.metric != Metric::Max => format!(" (above {})", text(low)),
        _ => String::new(),
    };
    format!("{}{interval}", text(measured))
}

fn sources(study: &Qualify) -> SheetTable {
    let all = study.product().requirements.iter();
    let rows = all.filter(|one| !one.source.url.is_empty()).map(|one| {
        let confidence = one.source.confidence.map_or("", Confidence::words);
        vec![
            one.name.clone(),
            one.source.quotation.clone(),
            one.source.url.clone(),
            one.source.date.clone(),
            confidence.to_owned(),
        ]
    });
    SheetTable::new(
        "Sources",
        ["requirement", "quotation", "where", "read on", "what it is"],
        rows.collect(),
    )
    .as_detail()
}

fn others(study: &Qualify) -> SheetTable {
    let others = study.product().others.iter().map(|other| {
        vec![
            other.says.clone(),
            other.source.clone(),
            other.quotation.clone(),
            other.url.clone(),
            other.date.clone(),
            other.confidence.map_or("", Confidence::words).to_owned(),
        ]
    });
    SheetTable::new(
        "Sources that say something else, not applied",
        [
            "says",
            "source",
            "quotation",
            "where",
            "read on",
            "what it is",
        ],
        others.collect(),
    )
    .as_detail()
}

/// Bytes a second that a load writes on a target that is never late; `None` if only the target
/// bounds it.
fn write_bytes_per_s(workload: &Workload) -> Option<f64> {
    let of_rate = workload.rate.map(|rate| rate.iops);
    let of_pauses = workload.think_time.map(|think| {
        let between = f64::from(think.every) * f64::from(workload.threads);
        between * 1e9 / think.pause_ns as f64
    });
    let operations = [of_rate, of_pauses]
        .into_iter()
        .flatten()
        .reduce(f64::min)?;
    let writes = 100 - workload.read_percent - workload.discard_percent;
    Some(operations * f64::from(writes) / 100.0 * workload.block_bytes_mean() as f64)
}

impl Qualify {
    /// Its product is not the user's own.
    fn is_bundled(&self) -> bool {
        BUNDLED.iter().any(|(_, text)| *text == self.text)
    }

    /// What will be done, before it starts: one line each. Bytes are those of the
    /// test files.
    pub fn plan(&self) -> Vec<String> {
        let phases = 0..self.product().phases().len();
        let phases = phases.filter(|&phase| !self.runs_of(phase).is_empty());
        let looks = self.looks_plan();
        let each = match phases.count() {
            0 | 1 => String::new(),
            phases => format!(
                "; {} take turns, each for as long",
                counted(phases, "load", "loads")
            ),
        };
        let mut lines = vec![format!("Time: {looks}{each}.")];
        let mut judged = self.product().requirements.iter();
        let is_percentile = |one: &ProductRequirement| {
            one.limit.is_some() && one.metric.share_max().is_some() && !self.is_unwritten(one)
        };
        if self.options().design != QualifyDesign::Quick && judged.any(is_percentile) {
            let again =
                "  Where the minutes of a percentile differ, it measures for as long again, once.";
            lines.push(again.to_owned());
        }
        for required in &self.product().requirements {
            let unwritten = match self.is_unwritten(required) {
                true => ": not measured, as this target is only read",
                false => "",
            };
            lines.push(format!(
                "  {}: {} of {} of {}{unwritten}",
                required.name,
                limit_text(self, required),
                operations_word(required.operations),
                self.product().jobs[required.job].name,
            ));
        }
        lines.extend(self.writes_plan());
        lines.extend(self.commit_plan());
        lines
    }

    /// Bytes that its loads write.
    fn writes_plan(&self) -> Option<String> {
        let seconds = self.seconds_planned();
        let phases = 0..self.state.phases.len();
        let jobs = phases.flat_map(|phase| self.phase_jobs(phase));
        let writing = jobs.filter(|job| job.workload.writes());
        let parts: Vec<String> = writing
            .map(|job| match write_bytes_per_s(&job.workload) {
                Some(rate) => {
                    let bytes = (rate * seconds as f64).round() as u64;
                    format!("{} about {}", job.name, format_bytes(bytes))
                }
                None => format!("{} {}", job.name, unbounded_writes(seconds)),
            })
            .collect();
        let time = format_duration(seconds * 1_000_000_000);
        (!parts.is_empty()).then(|| format!("  Written in {time}: {}.", parts.join(", ")))
    }

    /// The longest that it measures each load, unless minutes differ.
    fn seconds_planned(&self) -> u64 {
        let mut all = self.product().requirements.iter();
        match all.any(|one| one.limit.is_some() && !self.is_unwritten(one)) {
            true => self.options().design.seconds_max(),
            false => judge::UNJUDGED_S,
        }
    }

    /// How long it measures, and the earliest time of each possible verdict.
    fn looks_plan(&self) -> String {
        let all = self.product().requirements.iter();
        let judged: Vec<_> = all
            .filter(|one| one.limit.is_some() && !self.is_unwritten(one))
            .map(|one| (one, judge::earliest(self, one)))
            .collect();
        let design = self.options().design;
        let seconds = self.seconds_planned();
        let time = |seconds: u64| format_duration(seconds * 1_000_000_000);
        let spread = match design.design().run_in_window_s() {
            Some((run_s, window_s)) => format!(
                ", a minute at a random place of every {}, in {}",
                window_s / run_s,
                time(seconds / run_s * window_s)
            ),
            None => String::new(),
        };
        let measuring = format!("{} of measuring{spread}", time(seconds));
        let never = judged.iter().find(|(_, (_, met))| met.is_none());
        let missed = judged.iter().map(|(_, (missed, _))| missed / 60).min();
        let met = judged.iter().filter_map(|(_, (_, met))| *met).max();
        let met = met.map_or(0, |seconds| seconds / 60);
        match (design, missed, never) {
            (_, None, _) => format!("{measuring}; nothing is judged, as no limit is given"),
            (QualifyDesign::Quick, ..) => {
                format!("{measuring}, which can only show that something is missed")
            }
            (_, _, Some((one, _))) => format!(
                "up to {measuring}, which can only show that something is missed: {} takes longer \
                 to be met",
                one.name
            ),
            (QualifyDesign::Signed, ..) => format!("up to {measuring}"),
            (_, Some(missed), _) if missed == met => {
                format!("up to {measuring}: nothing is decided before minute {met}")
            }
            (_, Some(missed), _) => format!(
                "up to {measuring}: \"missed\" is possible from minute {missed}, \"met\" not before \
                 minute {met}"
            ),
        }
    }

    /// It is not measured, as it writes and the target is only read.
    pub(super) fn is_unwritten(&self, one: &ProductRequirement) -> bool {
        self.reads_only() && self.product().jobs[one.job].workload.writes()
    }

    /// The verdict; if it is not at its end, that comes first, since more may change it.
    fn verdict_words(&self) -> String {
        let verdict = self.verdict();
        let word = verdict.word();
        match (self.stopped(), verdict) {
            (None, _) => word.to_owned(),
            // A missed one stays missed.
            (Some(stopped), Verdict::Missed) => format!("{stopped}, {word}"),
            (Some(stopped), _) => format!("{stopped}, {word} so far"),
        }
    }

    /// How far it got, if it was stopped before its end, or is still being measured.
    pub(super) fn stopped(&self) -> Option<String> {
        let phases = 0..self.state.phases.len();
        let most = phases.map(|phase| self.seconds_most(phase)).max();
        let [done, most] = [self.seconds(), most.unwrap_or(0)]
            .map(|seconds| format_duration(seconds * 1_000_000_000));
        let words = match self.seconds() {
            0 if self.is_being_measured => "still being measured, in its first minute".to_owned(),
            _ if self.is_being_measured => {
                format!("still being measured, {done} of at most {most} done")
            }
            0 => "stopped before a second was measured".to_owned(),
            _ => format!("stopped after {done} of at most {most} of measuring"),
        };
        self.is_judging().then_some(words)
    }

    /// The answer in one line, for cron.
    pub fn line(&self) -> String {
        let all = self.product().requirements.iter().zip(self.judgements());
        let words = all.map(|(one, judged)| {
            let measured = match judged.measured {
                Some(_) => format!("{} {}", one.name, measured_text(self, one, judged)),
                None => one.name.clone(),
            };
            match judged.verdict {
                // Then the whole is not judged, either.
                Verdict::NotJudged => measured,
                verdict => format!("{measured} {}", verdict.word()),
            }
        });
        let words: Vec<String> = words.collect();
        format!(
            "{}: {} ({})",
            self.product().name,
            self.verdict_words(),
            words.join("; ")
        )
    }

    /// Operations counted so far, over all requirements.
    pub fn operations(&self) -> String {
        let jobs = self.state.phases.iter().flat_map(|phase| &phase.jobs);
        let due: u64 = jobs
            .flat_map(|job| &job.seconds)
            .map(|second| second.due)
            .sum();
        format_count(due)
    }
}
