//! What limits the total of several hosts, as far as records show.

use super::conditions::named;
use super::host_part::HostPart;
use stripewise_results::{HostsLimit, HostsLimitKind, JobRecord};
use stripewise_stats::median;
use stripewise_units::format_iops;

/// A requested rate counts as reached from this share of it on.
const REACHED: f64 = 0.99;
/// Warnings that a host's processors limited it.
const PROCESSOR_CODES: [&str; 3] = ["cpu-bound", "cpu-quota", "cpu-steal"];

/// A slow host first; then the requested rate, if all reached it; then
/// processors; else what the hosts share.
pub(super) fn limited_by(
    parts: &[&HostPart],
    names: &[String],
    rates: &[f64],
    slow: &[usize],
) -> HostsLimit {
    if let Some(limit) = host(names, rates, slow) {
        return limit;
    }
    if let Some(requested) = requested(parts)
        && parts
            .iter()
            .zip(rates)
            .all(|(part, rate)| is_reached(part, *rate))
    {
        return HostsLimit {
            kind: HostsLimitKind::Rate,
            host: None,
            text: format!(
                "the rate that was asked for, {} IOPS in all, was reached: the array was not asked for more",
                format_iops(requested)
            ),
        };
    }
    let held_up: Vec<&String> = (parts.iter().zip(names))
        .filter(|(part, _)| is_delayed(part))
        .map(|(_, name)| name)
        .collect();
    if !held_up.is_empty() {
        return HostsLimit {
            kind: HostsLimitKind::Processor,
            host: (held_up.len() == 1).then(|| held_up[0].clone()),
            text: format!(
                "according to their own warnings, the processors of {} are the limit: this is not what the array can do",
                named(&held_up)
            ),
        };
    }
    let text = match parts.len() {
        2 => "with two hosts, a slow one cannot be identified",
        _ => {
            "no host stands out: the limit is what they share (the array, the path to it), or the load that was asked for"
        }
    };
    HostsLimit {
        kind: HostsLimitKind::Shared,
        host: None,
        text: text.to_owned(),
    }
}

/// The slowest of the stragglers.
fn host(names: &[String], rates: &[f64], slow: &[usize]) -> Option<HostsLimit> {
    let slowest = *slow
        .iter()
        .min_by(|a, b| rates[**a].total_cmp(&rates[**b]))?;
    let middle = median(rates)?;
    let total: f64 = rates.iter().sum();
    let lost: f64 = slow.iter().map(|&host| middle - rates[host]).sum();
    let (name, rate) = (&names[slowest], rates[slowest]);
    Some(HostsLimit {
        kind: HostsLimitKind::Host,
        host: Some(name.clone()),
        text: format!(
            "{name} does {} IOPS where the median host does {}; without slow hosts the total of {} would be {}",
            format_iops(rate),
            format_iops(middle),
            format_iops(total),
            format_iops(total + lost)
        ),
    })
}

fn is_delayed(part: &HostPart) -> bool {
    let mut warnings = part.run.jobs.iter().flat_map(|job| &job.warnings);
    warnings.any(|warning| PROCESSOR_CODES.contains(&warning.code.as_str()))
}

/// IOPS requested of all hosts; `None` if a job had no rate.
fn requested(parts: &[&HostPart]) -> Option<f64> {
    let jobs = parts.iter().flat_map(|part| &part.run.jobs);
    jobs.map(rate_of).sum()
}

fn rate_of(job: &JobRecord) -> Option<f64> {
    job.workload.rate.map(|rate| rate.iops)
}

fn is_reached(part: &HostPart, rate: f64) -> bool {
    let requested: Option<f64> = part.run.jobs.iter().map(rate_of).sum();
    requested.is_some_and(|requested| rate >= REACHED * requested)
}
