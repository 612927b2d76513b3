//! `check`: repeats the baseline and reports changes; judges runs by requirements.
//!
//! The claim: if both the baseline and the new session have repetitions, the
//! interval covers the difference between the two sessions as they were, with the
//! scatter of single runs. Day-to-day variation not caused by
//! the storage is part of that difference; `--tolerate` allows for it.
//! If thirty or more runs of each load are stored, that history shows how much runs
//! vary by themselves: one new run is compared with it, and six more if that one
//! is worse.

mod answer;
mod at_answers;
mod history;
mod work;

pub use answer::{Answer, AnswerDocument};

use crate::steps::baselines::{Change, REPETITIONS, StoredBaseline};
use crate::steps::documents::{check_names, names_of};
use crate::steps::levels::metric;
use crate::steps::rerun::{Ready, Repetitions, Work, expected_records, open_targets, rerun};
use crate::steps::stored_check::KIND;
use crate::steps::subject::subject;
use answer::judge_change;
use history::StoredHistory;
use stripewise_conductor::context::{Context, store_document};
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::keep::show_unstored;
use stripewise_conductor::measure::exit_of;
use stripewise_conductor::permissions::Permissions;
use stripewise_lab::compare::{
    CompareOptions, Condition, OwnHistory, Requirement, Sides, differing_conditions, sensitivity,
};
use stripewise_lab::experiment::Metric;
use stripewise_results::{ComparisonRecord, RunRecord, Verdict};
use stripewise_store::Store;
use work::work;

/// Parameters of a check.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Where to measure; `None`: where the baseline was measured.
    pub target: Option<String>,
    /// Name of the baseline, `none` for none; `None`: the only one.
    pub baseline: Option<String>,
    /// Judge this stored run, series or file instead of measuring.
    pub run: Option<String>,
    /// Requirements.
    pub require: Vec<Requirement>,
    /// Metric to compare, as typed.
    pub metric: Option<String>,
    /// Repetitions of each workload of the baseline; `None`: as many as needed.
    pub repeat: Option<u32>,
    /// A loss up to this many per cent does not count as worse; `None`: 1 %, or the target's own
    /// noise.
    pub tolerate: Option<f64>,
    /// For a server in use: reads only, one outstanding, at a low rate.
    pub gentle: bool,
    /// Description of a deliberate change: it is recorded, and the comparison made anyway.
    pub changed: Option<String>,
    /// The load to measure without a baseline.
    pub load: CheckLoad,
}

impl CheckOptions {
    /// Whether a single run is compared with the target's own history, if there is one.
    fn is_held_against_history(&self) -> bool {
        self.run.is_none() && self.repeat.is_none()
    }
}

/// The load to measure without a baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckLoad {
    /// Size of an operation.
    pub block_size_bytes: Option<u64>,
    /// Threads.
    pub threads: Option<u32>,
    /// Operations that each thread keeps in flight.
    pub outstanding: Option<u32>,
    /// Measured time of each run.
    pub duration_ns: Option<u64>,
    /// Bytes of the target to use; size of the test file in a directory.
    pub size_bytes: Option<u64>,
    /// Size of the device's or controller's cache, if given.
    pub cache_size_bytes: Option<u64>,
}

/// Losses up to this many per cent are too small to act on.
const TOLERATED_PERCENT: f64 = 1.0;

/// Repeats a baseline and reports changes; judges runs by requirements.
///
/// # Errors
/// If there is nothing to compare with, or the new runs would not be comparable, or
/// cannot be made.
pub fn check(
    context: &Context,
    options: &CheckOptions,
    permissions: &Permissions,
) -> Outcome<Answer> {
    // Only measurements create a store, not refused commands.
    let known = match context.store_is_there()? {
        true => Some(context.open_store_to_read()?),
        false => None,
    };
    let baseline = wanted_baseline(known.as_ref(), options)?;
    drop(known);
    if let (Some(baseline), None) = (&baseline, &options.run) {
        check_names(&options.require, names_of(&baseline.runs))?;
    }
    let by = CompareOptions {
        metric: metric_of(options, baseline.as_ref())?,
        sides: Sides::ThenAndNow,
        ..CompareOptions::default()
    };
    let mut store = context.open_store()?;
    let (mut records, mut own) = (Vec::new(), None);
    let reference = baseline.as_ref();
    let measured = match &options.run {
        Some(id) => stored(context, options, reference, id, &mut records).map(|()| None),
        None => measure(
            context,
            &mut store,
            options,
            permissions,
            (reference, by),
            (&mut records, &mut own),
        ),
    };
    if let (Some(name), Ok(_), true) = (&options.run, &measured, records.is_empty()) {
        return Err(Failure::usage(
            format!("{name} holds no runs, so nothing can be required of it"),
            "`stripewise history` lists what is stored",
        ));
    }
    if options.run.is_some() {
        check_names(&options.require, names_of(&records))?;
    }
    refuse_partial(options, &records)?;
    let ended = exit_of(context, &records);
    let refused = measured?;
    if let Some(failure) = &refused {
        context.note_late_failure(failure);
    }
    if records.is_empty() || ended != Exit::Done && options.run.is_none() {
        let mut answer = Answer::inconclusive(options, records, ended);
        answer.is_stored = refused.is_none();
        return Ok(answer);
    }
    let mut answer = answered(context, &mut store, options, (baseline, own), records, by)?;
    answer.is_stored = refused.is_none();
    // The runs alone do not contain the findings.
    let series = answer.records.iter().find_map(|run| run.series.as_deref());
    if let Some(series) = series.filter(|_| answer.made && answer.is_stored) {
        let saved = store_document(context, &mut store, KIND, series, &answer.stored());
        if let Err(failure) = saved {
            context.note(format!(
                "{failure}: the runs are stored, but `history` will not show what was found of them"
            ));
        }
    }
    Ok(answer)
}

/// The history of a baseline's loads, and the runs that it was derived from.
type Fitted = (OwnHistory, StoredHistory);

/// The conclusion from complete runs.
fn answered(
    context: &Context,
    store: &mut Store,
    options: &CheckOptions,
    (baseline, own): (Option<StoredBaseline>, Option<Fitted>),
    records: Vec<RunRecord>,
    by: CompareOptions,
) -> Outcome<Answer> {
    let mut answer = Answer::new(options, baseline.as_ref(), records);
    let Some(mut baseline) = baseline else {
        return Ok(answer);
    };
    let own = match (own, options.is_held_against_history()) {
        (Some((own, mut stored)), _) => {
            stored.learn_boots(store)?;
            Some((own, stored))
        }
        // It was searched before the runs, and is too short.
        (None, true) => None,
        (None, false) => own_history(context, store, options, &baseline, &answer.records, by)?,
    };
    if let Some(signal) = context.signal() {
        let ended = Exit::Interrupted(signal);
        return Ok(Answer::inconclusive(options, answer.records, ended));
    }
    answer.tolerate = options.tolerate.unwrap_or_else(|| {
        let of_history = own.as_ref().map(|(own, _)| own.tolerance_percent());
        let runs = reference(options, &baseline);
        let of_baseline = || sensitivity(runs, by.metric, REPETITIONS);
        of_history
            .or_else(|| Some(of_baseline()?.tolerance_percent))
            .unwrap_or(TOLERATED_PERCENT)
    });
    for caution in baseline.cautions() {
        answer.say(caution);
    }
    let first_gentle = keep_gentle(context, store, options, &mut baseline, &answer.records);
    record_change(context, store, options, &mut baseline, &answer.records);
    match first_gentle {
        Some(true) => answer.say(format!(
            "These are the first gentle runs, and are kept with the baseline `{}`: the next \
             `check --gentle` compares with them.",
            baseline.name
        )),
        Some(false) => answer.say(format!(
            "These are the first gentle runs, and could not be kept with the baseline `{}`: there \
             is nothing to compare with.",
            baseline.name
        )),
        None => {
            let of_history = own.and_then(|(own, stored)| {
                stored.with(|stored| own.compare(&answer.records, stored))
            });
            let comparison = match of_history {
                Some(comparison) => comparison,
                None => compared(options, &baseline, &answer.records, by)?,
            };
            answer.add(comparison);
        }
    }
    Ok(answer)
}

/// A stored partial run meets no requirement and shows no change.
fn refuse_partial(options: &CheckOptions, records: &[RunRecord]) -> Outcome<()> {
    let partial = records
        .iter()
        .find(|record| !stripewise_conductor::keep::is_whole(record))
        .filter(|_| options.run.is_some());
    match partial {
        Some(record) => Err(Failure::usage(
            format!(
                "run {} was stopped before its end, so nothing is concluded from it",
                record.id
            ),
            "name a run that was completed, or leave --run out to measure now",
        )),
        None => Ok(()),
    }
}

/// The baseline to use, if there is one and it is wanted.
fn wanted_baseline(
    store: Option<&Store>,
    options: &CheckOptions,
) -> Outcome<Option<StoredBaseline>> {
    let tolerated = options.tolerate.unwrap_or(0.0);
    if !tolerated.is_finite() || tolerated < 0.0 {
        return Err(Failure::usage(
            format!("--tolerate {tolerated} is not a valid percentage"),
            "give per cent of loss that does not matter: --tolerate 3",
        ));
    }
    let name = options.baseline.as_deref();
    if name == Some("none") {
        if options.changed.is_some() {
            return Err(Failure::usage(
                "--changed needs a baseline, and there is --baseline none",
                "leave one of them out",
            ));
        }
        return require_something(options, None);
    }
    let found = match store {
        Some(store) => StoredBaseline::find(store, name)?,
        None => None,
    };
    require_something(options, found)
}

fn require_something(
    options: &CheckOptions,
    found: Option<StoredBaseline>,
) -> Outcome<Option<StoredBaseline>> {
    if found.is_none() && (options.require.is_empty() || options.changed.is_some()) {
        return Err(Failure::usage(
            "there is no baseline to compare with",
            "keep one first: `stripewise run ... --repeat 6`, then `stripewise baseline set ID`; or state what is required: --require 'read_iops>=20000'",
        ));
    }
    Ok(found)
}

/// The metric to compare.
fn metric_of(options: &CheckOptions, baseline: Option<&StoredBaseline>) -> Outcome<Metric> {
    if let Some(name) = &options.metric {
        return metric(name);
    }
    Ok(match (options.gentle, baseline) {
        // Other activity makes single latencies jump; the median tolerates that.
        (true, _) => Metric::LatencyP50,
        (false, Some(baseline)) => baseline.metric(),
        (false, None) => Metric::Iops,
    })
}

/// Stored or imported runs instead of new ones.
fn stored(
    context: &Context,
    options: &CheckOptions,
    baseline: Option<&StoredBaseline>,
    id: &str,
    records: &mut Vec<RunRecord>,
) -> Outcome<()> {
    *records = subject(context, id)?.runs;
    match baseline {
        Some(baseline) => refuse_other_conditions(
            options,
            baseline,
            &differing_conditions(&baseline.runs, records),
            Exit::Usage,
        ),
        None => Ok(()),
    }
}

/// Measures now. Leaves the target as it was found in any case. Returns the store's failure to keep
/// the runs, all of which are made.
fn measure(
    context: &Context,
    store: &mut Store,
    options: &CheckOptions,
    permissions: &Permissions,
    (baseline, by): (Option<&StoredBaseline>, CompareOptions),
    (records, own): (&mut Vec<RunRecord>, &mut Option<Fitted>),
) -> Outcome<Option<Failure>> {
    let work = work(options, baseline)?;
    if let Some(baseline) = baseline.filter(|_| options.is_held_against_history()) {
        *own = own_history(context, store, options, baseline, &[], by)?;
    }
    let permissions = Permissions {
        // A gentle check is meant for a target in use.
        busy_ok: permissions.busy_ok || options.gentle,
        ..permissions.clone()
    };
    let ready = open_targets(context, store, &work, &permissions)?;
    let against = (baseline, own.as_mut());
    let outcome = run_on(context, store, options, against, &work, &ready, records);
    for target in ready.opened {
        target.finish_or_report(context);
    }
    outcome
}

fn run_on(
    context: &Context,
    store: &mut Store,
    options: &CheckOptions,
    (baseline, own): (Option<&StoredBaseline>, Option<&mut Fitted>),
    work: &Work,
    ready: &Ready,
    records: &mut Vec<RunRecord>,
) -> Outcome<Option<Failure>> {
    if let Some(baseline) = baseline {
        let then = reference(options, baseline);
        let expected = expected_records(work, ready);
        let differing = differing_conditions(then, &expected);
        refuse_other_conditions(options, baseline, &differing, Exit::Target)?;
    }
    let how = |repeat: u32| Repetitions {
        repeat,
        title: "Checking",
        label: options.changed.clone(),
    };
    let Some((own, stored)) = own else {
        let repeat = options.repeat.unwrap_or(REPETITIONS);
        return rerun(context, store, work, ready, how(repeat), records);
    };
    let refused = rerun(context, store, work, ready, how(1), records)?;
    if exit_of(context, records) != Exit::Done {
        return Ok(refused);
    }
    // The boot of a run is known once it is stored; until then it counts as a new one, whose
    // interval is wider.
    stored.learn_boots(store)?;
    let table = stored.with(|stored| own.compare(records, stored));
    // One run in twenty lies outside its interval by chance.
    let is_worse = |table: &ComparisonRecord| {
        let mut rows = table.rows.iter();
        rows.any(|row| row.verdict == Verdict::Worse)
    };
    if !table.as_ref().is_none_or(is_worse) {
        return Ok(refused);
    }
    context
        .note("this run is not like the stored ones, so what is judged are fresh ones".to_owned());
    if refused.is_some() {
        for record in records.iter() {
            show_unstored(context, record);
        }
    }
    records.clear();
    let again = rerun(context, store, work, ready, how(REPETITIONS), records)?;
    Ok(refused.or(again))
}

/// The history of the baseline's loads, if enough is stored: not for gentle runs, nor after
/// deliberate changes.
fn own_history(
    context: &Context,
    store: &Store,
    options: &CheckOptions,
    baseline: &StoredBaseline,
    judged: &[RunRecord],
    by: CompareOptions,
) -> Outcome<Option<Fitted>> {
    if options.gentle || options.changed.is_some() || options.target.is_some() {
        return Ok(None);
    }
    // No target is open, and the results are stored: a signal need not wait for the fit.
    let fitted = context.ending_at_once(|| {
        let stored = StoredHistory::of(store, baseline, judged)?;
        let own = stored.with(|stored| OwnHistory::of(&baseline.runs, stored, by));
        Ok(own.map(|own| (own, stored)))
    });
    fitted.unwrap_or(Ok(None))
}

/// The runs a check compares with: gentle ones for gentle ones. If there are none
/// yet, there is nothing to compare with.
fn reference<'a>(options: &CheckOptions, baseline: &'a StoredBaseline) -> &'a [RunRecord] {
    if options.gentle {
        &baseline.gentle_runs
    } else {
        &baseline.runs
    }
}

/// Refuses differing conditions, unless they were changed deliberately.
fn refuse_other_conditions(
    options: &CheckOptions,
    baseline: &StoredBaseline,
    differing: &[Condition],
    exit: Exit,
) -> Outcome<()> {
    let essential: Vec<String> = differing
        .iter()
        .filter(|condition| condition.essential)
        .map(|condition| {
            format!(
                "{}: {} then, {} now",
                condition.name, condition.a, condition.b
            )
        })
        .collect();
    if essential.is_empty() || options.changed.is_some() {
        return Ok(());
    }
    Err(Failure::new(
        exit,
        format!(
            "this cannot be compared with the baseline `{}`: {}",
            baseline.name,
            essential.join("; ")
        ),
        if options.require.is_empty() {
            "measure as the baseline was measured, set a new one, or say what was changed on purpose: --changed 'WORDS'"
        } else {
            "leave the baseline out (--baseline none) to judge the requirements alone, or say what was changed on purpose: --changed 'WORDS'"
        },
    ))
}

fn compared(
    options: &CheckOptions,
    baseline: &StoredBaseline,
    records: &[RunRecord],
    by: CompareOptions,
) -> Outcome<ComparisonRecord> {
    let then = reference(options, baseline);
    let by = CompareOptions {
        // The user accepted void values in the baseline, so their change is of interest.
        void_counts: !baseline.void_accepted.is_empty(),
        ..by
    };
    judge_change(options, &baseline.name, then, records, by)
}

/// Stores the first gentle runs with the baseline; `None` if they are not the first, else whether
/// the store took them.
fn keep_gentle(
    context: &Context,
    store: &mut Store,
    options: &CheckOptions,
    baseline: &mut StoredBaseline,
    records: &[RunRecord],
) -> Option<bool> {
    if !options.gentle || !baseline.gentle_runs.is_empty() {
        return None;
    }
    baseline.gentle_runs = records
        .iter()
        .cloned()
        .map(RunRecord::without_intervals)
        .collect();
    let saved = baseline.keep(context, store);
    if let Err(failure) = &saved {
        context.note_late_failure(failure);
    }
    Some(saved.is_ok())
}

fn record_change(
    context: &Context,
    store: &mut Store,
    options: &CheckOptions,
    baseline: &mut StoredBaseline,
    records: &[RunRecord],
) {
    let Some(words) = &options.changed else {
        return;
    };
    baseline.changes.push(Change {
        at: context.timestamp(),
        words: words.clone(),
        series: records
            .iter()
            .find_map(|run| run.series.clone())
            .unwrap_or_default(),
    });
    if let Err(failure) = baseline.keep(context, store) {
        context.note_late_failure(&failure);
    }
}
