//! `check`: runs the baseline again and tells change; holds runs to requirements.
//!
//! What it claims: where the baseline and today both have repetitions, the
//! interval is of the difference between the two sittings as they were, with the
//! chance of single runs in it. What changes from one day to the next for no
//! reason of the storage's own is part of that difference; `--tolerate` is for it.

use super::baseline::{Change, KeptBaseline};
use super::check_answer::{Answer, judge_change};
use super::check_work::work;
use super::compare::metric;
use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::page::{refuse_existing, say_written, write_material};
use crate::show::terminal::{say, say_part};
use crate::subject::subject;
use crate::switches::check::Check;
use stripewise_campaign::Permissions;
use stripewise_campaign::steps::measure::exit_of;
use stripewise_campaign::steps::rerun::{
    Ready, Repetitions, Work, aim_all, expected_records, rerun,
};
use stripewise_lab::compare::{CompareOptions, Condition, Sides, differing_conditions};
use stripewise_lab::experiment::Metric;
use stripewise_report::errors_text;
use stripewise_results::{ComparisonRecord, RunRecord};
use stripewise_store::Store;
use stripewise_units::{counted, plural};

pub fn check(context: &Context, arguments: &Check) -> Outcome {
    refuse_existing(arguments.report.as_deref())?;
    // The store is made by what is measured, not by what is refused.
    let known = match context.store_is_there()? {
        true => Some(context.open_store_to_read()?),
        false => None,
    };
    let baseline = wanted_baseline(known.as_ref(), arguments)?;
    drop(known);
    let options = CompareOptions {
        metric: metric_of(arguments, baseline.as_ref())?,
        sides: Sides::ThenAndNow,
        ..CompareOptions::default()
    };
    let mut store = context.open_store()?;
    let mut records = Vec::new();
    let measured = match &arguments.run {
        Some(id) => stored(context, arguments, baseline.as_ref(), id, &mut records),
        None => measure(
            context,
            &mut store,
            arguments,
            baseline.as_ref(),
            &mut records,
        ),
    };
    if let (Some(name), Ok(()), true) = (&arguments.run, &measured, records.is_empty()) {
        return Err(Failure::usage(
            format!("{name} holds no runs, so nothing can be required of it"),
            "`stripewise history` lists what is stored",
        ));
    }
    refuse_partial(arguments, &records)?;
    let ended = exit_of(context, &records);
    if records.is_empty() || ended != Exit::Done && arguments.run.is_none() {
        measured?;
        return broken_off(context, arguments, &records, ended);
    }
    measured?;
    let mut answer = Answer::new(arguments, baseline.as_ref(), &records);
    if let Some(mut baseline) = baseline {
        for caution in baseline.cautions() {
            answer.say(caution);
        }
        let kept_now = keep_gentle(context, &mut store, arguments, &mut baseline, &records)?;
        record_change(context, &mut store, arguments, &mut baseline, &records)?;
        if kept_now {
            answer.say(format!(
                "These are the first gentle runs, and are kept with the baseline `{}`: the next \
                 `check --gentle` compares with them.",
                baseline.name
            ));
        } else {
            let comparison = compared(arguments, &baseline, &records, options)?;
            answer.add(comparison);
        }
    }
    let exit = answer.exit();
    // With -q a check that found nothing says nothing: for jobs that mail what they
    // print.
    let silent = context.global.quiet && exit == Exit::Done && !context.global.json;
    if !silent {
        answer.print(context)?;
    }
    if let Some(path) = &arguments.report {
        write_material(&answer.material(&store), path)?;
        if !silent {
            say_written(context, path);
        }
    }
    Ok(exit)
}

/// A stored run that was stopped meets no requirement and shows no change.
fn refuse_partial(arguments: &Check, records: &[RunRecord]) -> Outcome<()> {
    let partial = records
        .iter()
        .find(|record| !stripewise_campaign::steps::keep::is_whole(record))
        .filter(|_| arguments.run.is_some());
    match partial {
        Some(record) => Err(Failure::usage(
            format!(
                "run {} was stopped before its end, so nothing is concluded from it",
                record.id
            ),
            "name a run that came to its end, or leave --run out to measure now",
        )),
        None => Ok(()),
    }
}

/// The baseline that is meant, if there is one and it is wanted.
fn wanted_baseline(store: Option<&Store>, arguments: &Check) -> Outcome<Option<KeptBaseline>> {
    if !arguments.tolerate.is_finite() || arguments.tolerate < 0.0 {
        return Err(Failure::usage(
            format!(
                "--tolerate {} is not a valid percentage",
                arguments.tolerate
            ),
            "give per cent of loss that does not matter: --tolerate 3",
        ));
    }
    let name = arguments.baseline.as_deref();
    if name == Some("none") {
        if arguments.changed.is_some() {
            return Err(Failure::usage(
                "--changed is about a baseline, and none is wanted",
                "leave one of them out",
            ));
        }
        return require_something(arguments, None);
    }
    let found = match store {
        Some(store) => KeptBaseline::find(store, name)?,
        None => None,
    };
    require_something(arguments, found)
}

fn require_something(
    arguments: &Check,
    found: Option<KeptBaseline>,
) -> Outcome<Option<KeptBaseline>> {
    if found.is_none() && (arguments.require.is_empty() || arguments.changed.is_some()) {
        return Err(Failure::usage(
            "there is no baseline to compare with",
            "keep one first: `stripewise run ... --repeat 6`, then `stripewise baseline set ID`; or state what is required: --require 'read_iops>=20000'",
        ));
    }
    Ok(found)
}

/// IOPS, unless every workload has a fixed rate: then latency is what can change.
fn metric_of(arguments: &Check, baseline: Option<&KeptBaseline>) -> Outcome<Metric> {
    if let Some(name) = &arguments.metric {
        return metric(name);
    }
    let mut jobs = baseline
        .iter()
        .flat_map(|kept| &kept.runs)
        .flat_map(|run| &run.jobs);
    let rated = baseline.is_some() && jobs.all(|job| job.workload.rate.is_some());
    Ok(match (arguments.gentle, rated) {
        // Others' work makes single latencies jump; the median bears it.
        (true, _) => Metric::LatencyP50,
        (false, true) => Metric::LatencyMean,
        (false, false) => Metric::Iops,
    })
}

/// Stored or imported runs instead of new ones.
fn stored(
    context: &Context,
    arguments: &Check,
    baseline: Option<&KeptBaseline>,
    id: &str,
    records: &mut Vec<RunRecord>,
) -> Outcome<()> {
    *records = subject(context, id)?.runs;
    match baseline {
        Some(baseline) => refuse_other_conditions(
            arguments,
            baseline,
            &differing_conditions(&baseline.runs, records),
            Exit::Usage,
        ),
        None => Ok(()),
    }
}

/// Measures now. The target is left as it was found, whatever happens.
fn measure(
    context: &Context,
    store: &mut Store,
    arguments: &Check,
    baseline: Option<&KeptBaseline>,
    records: &mut Vec<RunRecord>,
) -> Outcome<()> {
    let work = work(arguments, baseline)?;
    let permissions = Permissions {
        // A gentle check is made for a place where others work.
        busy_ok: arguments.safety.busy_ok || arguments.gentle,
        ..arguments.safety.permissions()
    };
    let ready = aim_all(context, store, &work, &permissions)?;
    let outcome = run_on(context, store, arguments, baseline, &work, &ready, records);
    for target in ready.aimed {
        target.finish()?;
    }
    outcome
}

fn run_on(
    context: &Context,
    store: &mut Store,
    arguments: &Check,
    baseline: Option<&KeptBaseline>,
    work: &Work,
    ready: &Ready,
    records: &mut Vec<RunRecord>,
) -> Outcome<()> {
    if let Some(baseline) = baseline {
        let then = reference(arguments, baseline);
        let expected = expected_records(work, ready);
        let differing = differing_conditions(then, &expected);
        refuse_other_conditions(arguments, baseline, &differing, Exit::Target)?;
    }
    let how = Repetitions {
        repeat: arguments.repeat,
        title: "Checking",
        label: arguments.changed.clone(),
    };
    rerun(context, store, work, ready, how, records)
}

/// What a check compares with: gentle runs with gentle ones. Where there are none
/// yet, there is nothing to differ from.
fn reference<'a>(arguments: &Check, baseline: &'a KeptBaseline) -> &'a [RunRecord] {
    if arguments.gentle {
        &baseline.gentle_runs
    } else {
        &baseline.runs
    }
}

/// Refuses what is not comparable, unless it was changed on purpose.
fn refuse_other_conditions(
    arguments: &Check,
    baseline: &KeptBaseline,
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
    if essential.is_empty() || arguments.changed.is_some() {
        return Ok(());
    }
    Err(Failure::new(
        exit,
        format!(
            "this cannot be compared with the baseline `{}`: {}",
            baseline.name,
            essential.join("; ")
        ),
        if arguments.require.is_empty() {
            "measure as the baseline was measured, set a new one, or say what was changed on purpose: --changed 'WORDS'"
        } else {
            "leave the baseline out (--baseline none) to judge the requirements alone, or say what was changed on purpose: --changed 'WORDS'"
        },
    ))
}

fn compared(
    arguments: &Check,
    baseline: &KeptBaseline,
    records: &[RunRecord],
    options: CompareOptions,
) -> Outcome<ComparisonRecord> {
    let then = reference(arguments, baseline);
    let options = CompareOptions {
        // Who took void numbers for a baseline asks for their change.
        void_counts: !baseline.void_accepted.is_empty(),
        ..options
    };
    judge_change(arguments, &baseline.name, then, records, options)
}

/// Keeps the first gentle runs with the baseline; whether it did.
fn keep_gentle(
    context: &Context,
    store: &mut Store,
    arguments: &Check,
    baseline: &mut KeptBaseline,
    records: &[RunRecord],
) -> Outcome<bool> {
    if !arguments.gentle || !baseline.gentle_runs.is_empty() {
        return Ok(false);
    }
    baseline.gentle_runs = records
        .iter()
        .cloned()
        .map(RunRecord::without_intervals)
        .collect();
    baseline.keep(context, store)?;
    Ok(true)
}

fn record_change(
    context: &Context,
    store: &mut Store,
    arguments: &Check,
    baseline: &mut KeptBaseline,
    records: &[RunRecord],
) -> Outcome<()> {
    let Some(words) = &arguments.changed else {
        return Ok(());
    };
    baseline.changes.push(Change {
        at: context.timestamp(),
        words: words.clone(),
        series: records
            .iter()
            .find_map(|run| run.series.clone())
            .unwrap_or_default(),
    });
    baseline.keep(context, store)
}

/// What was measured before the end is kept; nothing is concluded from it.
fn broken_off(context: &Context, arguments: &Check, records: &[RunRecord], exit: Exit) -> Outcome {
    let why = match exit {
        Exit::Interrupted(_) => "interrupted",
        _ => "operations failed",
    };
    say!(
        "note: {why}; {} kept in the history, and nothing is concluded from {}",
        counted(records.len(), "run is", "runs are"),
        plural(records.len(), "it", "them"),
    );
    say_part!("{}", errors_text(records));
    if context.global.json {
        Answer::inconclusive(arguments, records, why).print(context)?;
    }
    Ok(exit)
}
