//! A set of parts, and their combined record.

use super::align::{Lane, Slot, common_slots, measured_ns};
use super::conditions::{different_plans, named};
use super::error::MergeError;
use super::host_part::{HostPart, because};
use super::judge::{jain, mean_over_time, robust_z, stragglers};
use super::limit;
use super::row::{RowParts, measured_from, names, rate, row};
use super::sum::{GroupSums, sum};
use super::total::{Merged, total};
use std::collections::BTreeMap;
use stripewise_results::{HostRecord, MergedRecord, Status};
use stripewise_units::WallTime;

/// Runs of several hosts that measured at the same time. Equal sets are equal, in whatever
/// order they were assembled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merge {
    parts: BTreeMap<(u32, String, String), HostPart>,
}

/// Whether hosts may be missing or partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingHosts {
    /// No: that is an error.
    Refused,
    /// Yes: the others' results are merged, and marked.
    Allowed,
}

impl From<HostPart> for Merge {
    fn from(part: HostPart) -> Merge {
        Merge {
            parts: BTreeMap::from([(part.key(), part)]),
        }
    }
}

impl FromIterator<HostPart> for Merge {
    fn from_iter<T: IntoIterator<Item = HostPart>>(parts: T) -> Merge {
        let parts = parts.into_iter().map(Merge::from);
        parts.fold(Merge::default(), Merge::and)
    }
}

impl Merge {
    /// The union of the two sets.
    #[must_use]
    pub fn and(mut self, other: Merge) -> Merge {
        self.parts.extend(other.parts);
        self
    }

    /// The runs, by rank, host and id.
    pub fn parts(&self) -> impl Iterator<Item = &HostPart> {
        self.parts.values()
    }

    /// Their combined record.
    ///
    /// # Errors
    /// See [`MergeError`]: data are missing, the runs differ, or there was no time at which
    /// all were measuring; or, unless that is allowed, some are missing or partial.
    pub fn total(&self, missing: MissingHosts) -> Result<Merged, MergeError> {
        let parts: Vec<&HostPart> = self.parts.values().collect();
        check(&parts)?;
        let (parts, silent) = match missing {
            MissingHosts::Refused => (parts, Vec::new()),
            MissingHosts::Allowed => measured(parts),
        };
        let lacking = lacking(&parts, silent);
        if missing == MissingHosts::Refused {
            refuse_partial(&parts, &lacking)?;
        }
        let lanes = lanes(&parts)?;
        let slots = common_slots(&lanes);
        if slots.is_empty() {
            return Err(no_overlap(&parts, &lanes));
        }
        let summed = sum(&parts, &slots)?;
        let names = names(&parts);
        let merged = merged_record(&parts, &names, &slots, &summed, lacking);
        Ok(total(&parts, &names, &slots, summed, merged))
    }
}

/// Requires enough runs, of one group, with the same plan.
fn check(parts: &[&HostPart]) -> Result<(), MergeError> {
    let (run, host) = match parts {
        [] => return Err(MergeError::Nothing),
        [one] => (one.run.id.clone(), one.run.host.name.clone()),
        [first, others @ ..] => {
            for other in others {
                same_group(first, other)?;
                if let Some(what) = different_plans(&first.run, &other.run) {
                    return Err(MergeError::Different { what });
                }
                if first.is_virtual() != other.is_virtual() {
                    let what = "some ran on simulated arrays, others on real ones".to_owned();
                    return Err(MergeError::Different { what });
                }
            }
            return Ok(());
        }
    };
    // The last remaining host of a group is a partial result; one without a group is alone.
    match group(parts[0]) {
        Some(_) => Ok(()),
        None => Err(MergeError::Alone { run, host }),
    }
}

fn group(part: &HostPart) -> Option<&str> {
    let group = part.run.start.as_ref()?.group.as_ref()?;
    Some(&group.id)
}

fn same_group(a: &HostPart, b: &HostPart) -> Result<(), MergeError> {
    match (group(a), group(b)) {
        (Some(of_a), Some(of_b)) if of_a != of_b => Err(MergeError::Groups {
            a: format!("{} ({of_a})", a.run.id),
            b: format!("{} ({of_b})", b.run.id),
        }),
        _ => Ok(()),
    }
}

/// The parts with measurements, if there are any, and the names of the others: a host
/// that was lost before its first interval was stored is missing.
fn measured(parts: Vec<&HostPart>) -> (Vec<&HostPart>, Vec<String>) {
    let has = |part: &&HostPart| {
        let mut jobs = part.jobs.iter();
        !part.jobs.is_empty() && jobs.all(|job| !job.intervals.is_empty())
    };
    match parts.iter().any(has) {
        true => {
            let (measured, silent): (Vec<_>, Vec<_>) = parts.into_iter().partition(has);
            let names = silent.iter().map(|part| part.run.host.name.clone());
            (measured, names.collect())
        }
        // Reading them reports what is wrong with them.
        false => (parts, Vec::new()),
    }
}

/// Hosts of the group without a part; `silent` ones if there is no group.
fn lacking(parts: &[&HostPart], silent: Vec<String>) -> Vec<String> {
    let starts = parts.iter().filter_map(|part| part.run.start.as_ref());
    let Some(group) = starts.filter_map(|start| start.group.as_ref()).next() else {
        return silent;
    };
    let ranks: Vec<u32> = parts.iter().filter_map(|part| part.rank()).collect();
    let lacking = (0_u32..)
        .zip(&group.hosts)
        .filter(|(rank, _)| !ranks.contains(rank));
    lacking
        .map(|(rank, host)| {
            let shared = group.hosts.iter().filter(|other| *other == host).count() > 1;
            match shared {
                true => format!("{host}:{rank}"),
                false => host.clone(),
            }
        })
        .collect()
}

fn refuse_partial(parts: &[&HostPart], lacking: &[String]) -> Result<(), MergeError> {
    if !lacking.is_empty() {
        return Err(MergeError::MissingHosts {
            hosts: named(lacking),
        });
    }
    match parts
        .iter()
        .find(|part| part.run.status != Status::Complete)
    {
        None => Ok(()),
        Some(part) => Err(MergeError::Partial {
            run: part.run.id.clone(),
            host: part.run.host.name.clone(),
            because: because(&part.run),
        }),
    }
}

/// The intervals of all jobs of all hosts on the common clock.
fn lanes(parts: &[&HostPart]) -> Result<Vec<Lane>, MergeError> {
    let mut lanes = Vec::new();
    for part in parts {
        let (run, host) = (&part.run.id, &part.run.host.name);
        let from = measured_from(part).ok_or_else(|| MergeError::NoStart {
            run: run.clone(),
            host: host.clone(),
        })?;
        let bare = |what| MergeError::Bare {
            run: run.clone(),
            host: host.clone(),
            what,
        };
        if part.jobs.is_empty() || part.jobs.len() != part.run.jobs.len() {
            return Err(bare("intervals"));
        }
        for (job, intervals) in part.run.jobs.iter().zip(&part.jobs) {
            let intervals = &intervals.intervals;
            if intervals.is_empty() {
                return Err(bare("intervals"));
            }
            let is_bare = |interval: &super::PartInterval| {
                let (numbers, latencies) = (&interval.interval, &interval.latencies);
                numbers.read_operations > 0 && latencies.read.is_empty()
                    || numbers.write_operations > 0 && latencies.write.is_empty()
                    || numbers.discard_operations > 0 && latencies.discard.is_empty()
            };
            if intervals.iter().any(is_bare) {
                return Err(bare("histograms"));
            }
            let numbers = intervals.iter().map(|part| &part.interval);
            lanes.push(Lane::new(from.ns(), numbers, &job.outcome.pauses));
        }
    }
    Ok(lanes)
}

/// The error, with the times at which each host was measuring.
fn no_overlap(parts: &[&HostPart], lanes: &[Lane]) -> MergeError {
    let jobs = parts.first().map_or(1, |part| part.jobs.len()).max(1);
    let time = |ns: i128| {
        let time = WallTime(u64::try_from(ns.max(0)).unwrap_or(u64::MAX)).to_string();
        // The date is the same; milliseconds suffice to see the difference.
        time.get(11..23).unwrap_or_default().to_owned()
    };
    let times = parts.iter().zip(lanes.iter().step_by(jobs));
    let times = times.filter_map(|(part, lane)| {
        let (from_ns, to_ns) = lane.bounds_ns()?;
        let host = &part.run.host.name;
        Some(format!("{host} {} to {}", time(from_ns), time(to_ns)))
    });
    MergeError::NoOverlap {
        times: named(&times.collect::<Vec<_>>()),
    }
}

fn merged_record(
    parts: &[&HostPart],
    names: &[String],
    slots: &[Slot],
    summed: &GroupSums,
    missing: Vec<String>,
) -> MergedRecord {
    let duration_ns = measured_ns(slots);
    let rates: Vec<f64> = (summed.operations.iter())
        .map(|operations| rate(operations.iter().sum(), duration_ns))
        .collect();
    let total_iops: f64 = rates.iter().sum();
    let starts: Vec<WallTime> = parts
        .iter()
        .filter_map(|part| measured_from(part))
        .collect();
    let earliest = starts.iter().copied().min().unwrap_or_default();
    let latest = starts.iter().copied().max().unwrap_or_default();
    let z = robust_z(&rates);
    let hosts: Vec<HostRecord> = (0..parts.len())
        .map(|host| {
            row(&RowParts {
                name: &names[host],
                part: parts[host],
                sums: &summed.hosts[host],
                operations: &summed.operations[host],
                slots,
                earliest,
                robust_z: z[host],
                total_iops,
            })
        })
        .collect();
    let slow = stragglers(&rates);
    let slow: Vec<usize> = (0..parts.len()).filter(|&host| slow[host]).collect();
    let counted = slots.len() as u64;
    MergedRecord {
        iops: mean_over_time(&rates_over_time(slots, summed)),
        fairness: jain(&rates),
        stragglers: slow.iter().map(|&host| names[host].clone()).collect(),
        limited_by: limit::limited_by(parts, names, &rates, &slow),
        start_skew_ns: u64::try_from(latest.since(earliest)).unwrap_or(0),
        clocks_measured: parts.iter().all(|part| {
            let start = part.run.start.as_ref();
            part.is_virtual() || start.is_some_and(|start| start.clock_offset_ns.is_some())
        }),
        intervals: counted,
        intervals_left_out: left_out(parts, slots),
        hosts,
        missing,
    }
}

/// Intervals left out of the host that loses most.
fn left_out(parts: &[&HostPart], slots: &[Slot]) -> u64 {
    let jobs = parts.first().map_or(1, |part| part.jobs.len()).max(1);
    let lost = parts.iter().enumerate().map(|(host, part)| {
        let counted = slots.iter().map(|slot| slot.intervals[host * jobs].len());
        part.jobs[0].intervals.len() - counted.sum::<usize>()
    });
    lost.max().unwrap_or(0) as u64
}

/// Combined rates of all hosts, for slots of full length.
fn rates_over_time(slots: &[Slot], summed: &GroupSums) -> Vec<f64> {
    let longest = slots.iter().map(|slot| slot.duration_ns).max().unwrap_or(0);
    let whole = slots
        .iter()
        .enumerate()
        .filter(|(_, slot)| slot.duration_ns == longest);
    let rates = whole.map(|(number, slot)| {
        let operations = summed.operations.iter().map(|host| host[number]);
        rate(operations.fold(0, u64::saturating_add), slot.duration_ns)
    });
    rates.collect()
}
