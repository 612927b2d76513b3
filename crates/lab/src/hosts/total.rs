//! The merged record of several hosts: their jobs as sums, and warnings.

use super::align::{Slot, measured_ns};
use super::conditions::{different_conditions, named};
use super::host_part::{HostPart, PartJob, because};
use super::sum::GroupSums;
use std::collections::BTreeMap;
use stripewise_results::{
    CpuFacts, Drain, EngineFacts, Errors, HostFacts, JobOutcome, JobRecord, MergedRecord, OpenLoop,
    OutcomeParts, RunRecord, Severity, Status, TargetFacts, Warning,
};
use stripewise_units::{WallTime, counted, distinct, format_duration};

/// Starts further apart than this cause a warning.
const SKEW_NS_MAX: u64 = 10_000_000;
/// The reason recorded by a run that was told to stop.
const STOPPED: &str = "interrupted";
/// A warning is given if at least this share of intervals does not count.
const LEFT_OUT_SHARE: f64 = 0.1;

/// Several hosts merged into one record.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The record; id, command and label are the caller's.
    pub run: RunRecord,
    /// The intervals that count with their latencies, in the order of its jobs.
    pub jobs: Vec<PartJob>,
}

/// Builds the merged record.
pub(super) fn total(
    parts: &[&HostPart],
    names: &[String],
    slots: &[Slot],
    summed: GroupSums,
    merged: MergedRecord,
) -> Merged {
    let first = &parts[0].run;
    let duration_ns = measured_ns(slots);
    let mut jobs = Vec::with_capacity(first.jobs.len());
    let sums = summed.jobs.into_iter().zip(&summed.intervals);
    for (index, (sums, intervals)) in sums.enumerate() {
        let of_hosts: Vec<&JobRecord> = parts.iter().map(|part| &part.run.jobs[index]).collect();
        let syncs = of_hosts.iter().any(|job| job.outcome.sync.is_some());
        let outcome = JobOutcome::from_parts(OutcomeParts {
            duration_ns,
            read: sums.read,
            write: sums.write,
            sync: syncs.then_some(sums.sync),
            discard: (sums.discard.operations > 0).then_some(sums.discard),
            intervals: intervals.iter().map(|part| part.interval).collect(),
            ..whole_runs(&of_hosts, names, duration_ns)
        });
        jobs.push(job_of(&of_hosts, names, outcome));
    }
    let mut warnings = findings(parts, names, &merged);
    warnings.extend(of_hosts(
        names,
        parts.iter().map(|part| part.run.warnings.as_slice()),
    ));
    let partial_because = partial_because(parts, names, &merged.missing);
    let run = RunRecord {
        started_at: parts
            .iter()
            .map(|part| part.run.started_at.clone())
            .min()
            .unwrap_or_default(),
        status: match partial_because {
            Some(_) => Status::Partial,
            None => Status::Complete,
        },
        partial_because,
        version: first.version.clone(),
        latency_limit: first.latency_limit.clone(),
        host: host_facts(parts, names),
        jobs,
        warnings,
        merged: Some(Box::new(merged)),
        ..RunRecord::empty()
    };
    let jobs = summed.intervals.into_iter();
    Merged {
        run,
        jobs: jobs.map(|intervals| PartJob { intervals }).collect(),
    }
}

/// Values that records give for whole runs only: operations in flight, processor time, failures,
/// the drain, arrivals. Failures count even if their interval does not.
fn whole_runs(jobs: &[&JobRecord], names: &[String], duration_ns: u64) -> OutcomeParts {
    let mut parts = OutcomeParts::default();
    let mut in_flight = 0.0;
    let (mut user_ns, mut system_ns) = (0.0, 0.0);
    for (job, name) in jobs.iter().zip(names) {
        let outcome = &job.outcome;
        in_flight += outcome.outstanding_mean;
        let operations = outcome.operations as f64;
        // The share of the run that counts.
        let share = match outcome.duration_ns {
            0 => 0.0,
            whole_ns => (duration_ns as f64 / whole_ns as f64).min(1.0),
        };
        user_ns += outcome.cpu_user_ns_per_operation * operations * share;
        system_ns += outcome.cpu_system_ns_per_operation * operations * share;
        add_errors(&mut parts.errors, &outcome.errors, name);
        add_drain(&mut parts.drain, &outcome.drain, name);
        if let Some(open) = outcome.open_loop {
            let sum = parts.open_loop.get_or_insert_with(OpenLoop::default);
            sum.arrivals_due = sum.arrivals_due.saturating_add(open.arrivals_due);
            sum.arrivals_issued = sum.arrivals_issued.saturating_add(open.arrivals_issued);
            sum.schedule_lag_ns_max = sum.schedule_lag_ns_max.max(open.schedule_lag_ns_max);
        }
    }
    parts.in_flight_ns_sum = (in_flight * duration_ns as f64).round() as u128;
    parts.cpu_user_ns = user_ns.round() as u64;
    parts.cpu_system_ns = system_ns.round() as u64;
    parts
}

fn add_errors(sum: &mut Errors, errors: &Errors, name: &str) {
    sum.total = sum.total.saturating_add(errors.total);
    for (reason, count) in &errors.by_reason {
        let known = sum.by_reason.entry(reason.clone()).or_default();
        *known = known.saturating_add(*count);
    }
    if sum.first.is_none() {
        sum.first = errors
            .first
            .as_ref()
            .map(|first| format!("{name}: {first}"));
    }
}

fn add_drain(sum: &mut Drain, drain: &Drain, name: &str) {
    sum.operations = sum.operations.saturating_add(drain.operations);
    sum.errors = sum.errors.saturating_add(drain.errors);
    sum.abandoned = sum.abandoned.saturating_add(drain.abandoned);
    sum.latency_ns_max = sum.latency_ns_max.max(drain.latency_ns_max);
    if sum.first_error.is_none() {
        let first = drain.first_error.as_ref();
        sum.first_error = first.map(|first| format!("{name}: {first}"));
    }
}

fn job_of(jobs: &[&JobRecord], names: &[String], outcome: JobOutcome) -> JobRecord {
    let first = jobs[0];
    let mut targets = jobs.iter().zip(names).flat_map(|(job, name)| {
        let all = std::iter::once(&job.target).chain(&job.further_targets);
        all.map(move |target| TargetFacts {
            name: format!("{name}:{}", target.name),
            path: None,
            ..target.clone()
        })
    });
    let engines = distinct(jobs.iter().map(|job| job.engine.name.as_str()));
    let mut workload = first.workload.clone();
    // The total in flight over all hosts, which is the same sum.
    workload.threads = sum(jobs, |job| job.workload.threads);
    if let Some(rate) = &mut workload.rate {
        let rates = jobs.iter().filter_map(|job| job.workload.rate);
        rate.iops = rates.map(|rate| rate.iops).sum();
    }
    JobRecord {
        name: first.name.clone(),
        target: targets.next().unwrap_or_else(TargetFacts::unknown),
        further_targets: targets.collect(),
        workload,
        engine: EngineFacts {
            name: engines.join(" and "),
            requested: first.engine.requested.clone(),
            ..EngineFacts::default()
        },
        outcome,
        warnings: of_hosts(names, jobs.iter().map(|job| job.warnings.as_slice())),
    }
}

fn sum(jobs: &[&JobRecord], of: impl Fn(&JobRecord) -> u32) -> u32 {
    jobs.iter().map(|job| of(job)).fold(0, u32::saturating_add)
}

/// The warnings of the hosts, each code once: with the text of the first host that has
/// it, and the names of all.
fn of_hosts<'a>(names: &[String], warnings: impl Iterator<Item = &'a [Warning]>) -> Vec<Warning> {
    let mut by_code: BTreeMap<&str, (Warning, Vec<&str>)> = BTreeMap::new();
    for (name, warnings) in names.iter().zip(warnings) {
        for warning in warnings {
            let known = by_code.entry(&warning.code);
            let (retained, hosts) = known.or_insert_with(|| (warning.clone(), Vec::new()));
            retained.severity = retained.severity.max(warning.severity);
            hosts.push(name);
        }
    }
    let mut warnings: Vec<Warning> = (by_code.into_values())
        .map(|(warning, hosts)| Warning {
            short: format!("{} (on {})", warning.in_short(), named(&hosts)),
            message: match hosts.len() {
                1 => format!("on {}: {}", hosts[0], warning.message),
                _ => format!(
                    "on {} (of {}): {}",
                    named(&hosts),
                    hosts[0],
                    warning.message
                ),
            },
            ..warning
        })
        .collect();
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    warnings
}

fn host_facts(parts: &[&HostPart], names: &[String]) -> HostFacts {
    let systems = parts.iter().map(|part| &part.run.host.operating_system);
    let processors = parts.iter().map(|part| part.run.host.cpu.count);
    HostFacts {
        name: format!(
            "{} ({})",
            counted(parts.len(), "host", "hosts"),
            named(names)
        ),
        operating_system: distinct(systems.map(String::as_str)).join(" and "),
        cpu: CpuFacts {
            count: processors.fold(0, u32::saturating_add),
            ..CpuFacts::default()
        },
        ..HostFacts::default()
    }
}

fn partial_because(parts: &[&HostPart], names: &[String], missing: &[String]) -> Option<String> {
    let mut broken: Vec<(&&HostPart, &String)> = (parts.iter().zip(names))
        .filter(|(part, _)| part.run.status != Status::Complete)
        .collect();
    // The original reason first; hosts that were stopped because of it only say so.
    broken.sort_by_key(|(part, _)| because(&part.run) == STOPPED);
    let reason = |(part, name): &(&&HostPart, &String)| {
        let until = measured_until(part).map(|at| format!(" (it measured until {at} UTC)"));
        format!(
            "{name}: {}{}",
            because(&part.run),
            until.unwrap_or_default()
        )
    };
    let mut reasons: Vec<String> = broken.iter().map(reason).collect();
    if !missing.is_empty() {
        reasons.insert(0, format!("there is no record of {}", named(missing)));
    }
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// The common clock at the end of the last interval that a host measured, to the
/// millisecond; `None` for simulated arrays, whose time is not a time of day.
fn measured_until(part: &HostPart) -> Option<String> {
    let from = part.run.start.as_ref()?.on_common_clock();
    let ends = part.jobs.iter().filter_map(|job| {
        let last = &job.intervals.last()?.interval;
        Some(last.start_ns.saturating_add(last.duration_ns))
    });
    let ns = ends.max()?;
    let text = WallTime(from.ns().saturating_add(ns)).to_string();
    (!part.is_virtual()).then(|| text.get(11..23).map(str::to_owned))?
}

/// Warnings about the merge itself.
fn findings(parts: &[&HostPart], names: &[String], merged: &MergedRecord) -> Vec<Warning> {
    let found = [
        hosts_missing(merged),
        same_target(parts, names),
        straggler(merged),
        hosts_differ(parts, names),
        start_skew(merged),
        left_out(merged),
        commits(parts),
        clocks(parts, merged),
    ];
    found.into_iter().flatten().collect()
}

fn warning(code: &str, severity: Severity, message: String, hint: &str) -> Option<Warning> {
    Some(Warning {
        code: code.to_owned(),
        severity,
        message,
        short: String::new(),
        hint: hint.into(),
    })
}

fn hosts_missing(merged: &MergedRecord) -> Option<Warning> {
    if merged.missing.is_empty() {
        return None;
    }
    let message = format!(
        "there is no record of {}, whose load was there too: the total is of the others",
        named(&merged.missing)
    );
    let hint = "merge again with the stores of the missing hosts";
    warning("hosts-missing", Severity::Warning, message, hint)
}

fn straggler(merged: &MergedRecord) -> Option<Warning> {
    if merged.stragglers.is_empty() {
        return None;
    }
    let message = format!(
        "{} is slow: {}",
        named(&merged.stragglers),
        merged.limited_by.text
    );
    let hint =
        "compare its path, cables, driver and settings with those of the others, and run it alone";
    warning("straggler", Severity::Warning, message, hint)
}

fn hosts_differ(parts: &[&HostPart], names: &[String]) -> Option<Warning> {
    let sentences = different_conditions(parts, names);
    if sentences.is_empty() {
        return None;
    }
    let message = format!("the hosts differ: {}", sentences.join("; "));
    let hint = "read the rows of the hosts before the total; repeat with the same conditions to compare them";
    warning("hosts-differ", Severity::Note, message, hint)
}

fn start_skew(merged: &MergedRecord) -> Option<Warning> {
    if merged.start_skew_ns <= SKEW_NS_MAX {
        return None;
    }
    let message = format!(
        "the hosts began to measure up to {} apart; only intervals in which all were measuring count",
        format_duration(merged.start_skew_ns)
    );
    let hint =
        "start them together: `stripewise run ... --start-at TIME` on each host, or stripewise-mpi";
    warning("start-skew", Severity::Note, message, hint)
}

fn left_out(merged: &MergedRecord) -> Option<Warning> {
    let (counted, left_out) = (merged.intervals, merged.intervals_left_out);
    if (left_out as f64) < LEFT_OUT_SHARE * (counted + left_out) as f64 || left_out == 0 {
        return None;
    }
    let message = format!(
        "{counted} intervals count; of one host {left_out} do not, because another one was not measuring then"
    );
    let hint = "start and stop the hosts together";
    warning("intervals-left-out", Severity::Note, message, hint)
}

/// They are known of whole runs only: what would count of them is not.
fn commits(parts: &[&HostPart]) -> Option<Warning> {
    let mut jobs = parts.iter().flat_map(|part| &part.run.jobs);
    jobs.any(|job| job.outcome.commit.is_some()).then_some(())?;
    let message = "latencies of commits (a write and its sync) are not in the total: they are not kept by the interval";
    let hint = "read them in the records of the hosts";
    warning(
        "commits-not-merged",
        Severity::Note,
        message.to_owned(),
        hint,
    )
}

fn clocks(parts: &[&HostPart], merged: &MergedRecord) -> Option<Warning> {
    let first = &parts[0].run.host.name;
    let one_clock = parts.iter().all(|part| part.run.host.name == *first);
    if merged.clocks_measured || one_clock {
        return None;
    }
    let message = "the hosts' clocks were not compared: which intervals overlap depends on what each clock said";
    let hint = "keep clocks together with NTP or PTP; stripewise-mpi measures the difference";
    warning(
        "clocks-not-measured",
        Severity::Note,
        message.to_owned(),
        hint,
    )
}

/// Two runs of one host on one target count the same path twice; equal
/// streams on it find each other's blocks in the array's cache.
fn same_target(parts: &[&HostPart], names: &[String]) -> Option<Warning> {
    let place = |part: &HostPart| {
        let jobs = part.run.jobs.iter();
        let targets = jobs.map(|job| job.target.full_name().to_owned());
        (part.run.host.name.clone(), targets.collect::<Vec<_>>())
    };
    let simulated = parts[0].is_virtual();
    let mut known: BTreeMap<_, &str> = BTreeMap::new();
    for (part, name) in parts.iter().zip(names).filter(|_| !simulated) {
        let place = place(part);
        if let Some(other) = known.insert(place.clone(), name) {
            let message = format!(
                "{other} and {name} worked on the same target, {}: they are two parts of one host's load",
                place.1.join(", ")
            );
            let hint = "give each run its own target, unless they share the device on purpose";
            return warning("same-target", Severity::Note, message, hint);
        }
    }
    None
}
