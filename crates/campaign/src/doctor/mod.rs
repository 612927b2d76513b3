//! `doctor`: what this machine supports, and what to change for more.

mod costs;

use serde::Serialize;
use std::ops::ControlFlow;
use std::path::Path;
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_inspect::storage::{BlockDevice, Storage};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_io_engine::EngineName;
use stripewise_machine::host::Host;
use stripewise_results::SCHEMA_VERSION;
use stripewise_runner::session::{Trial, own_cost_ns, trial_reads};
use stripewise_targets::{FileSystemSize, FillProgress, Intent, PlanContext, Progress, TargetName};
use stripewise_units::{NameText, format_bytes};

/// One finding.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// It is as good as it gets.
    pub good: bool,
    /// What was found.
    pub found: String,
    /// What to change; empty where nothing needs to be.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// All findings.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct DoctorDocument {
    schema_version: u32,
    /// From the engine down to the disks.
    pub checks: Vec<Check>,
    /// The exit of the command.
    #[serde(skip)]
    pub exit: Exit,
}

/// Examines this machine, and the volume under `path`; with `costs`, also the costs of an
/// engine's parts.
pub fn doctor(context: &Context, path: &Path, costs: bool) -> Outcome<DoctorDocument> {
    let system = System::live();
    let host = system.host();
    let mut checks = vec![
        engine(),
        own_cost(),
        processors(&host),
        quota(&host),
        governor(&host),
        memory(&host),
    ];
    checks.push(store(context));
    std::fs::metadata(path).map_err(|error| {
        Failure::target(
            format!("cannot look at {}: {error}", path.as_text()),
            "name a path that exists: a directory, a file or a device",
        )
    })?;
    let storage = system.storage_of_path(path)?;
    checks.extend(volume(path, &storage));
    if costs {
        checks.extend(costs::of_the_machine());
    }
    let reading = reading(path, context.file_system_size(), costs);
    let exit = reading.exit;
    checks.extend(reading.checks);
    Ok(DoctorDocument {
        schema_version: SCHEMA_VERSION,
        checks,
        exit,
    })
}

/// The result of trying to read the target.
struct Reading {
    checks: Vec<Check>,
    exit: Exit,
}

/// Reads one block through each engine, opened as for a run; writes nothing. A
/// directory has nothing to read: there it only checks whether a run could make its test
/// file. A negative answer is not a failure, as the user may not have meant the directory.
fn reading(path: &Path, file_system_size: FileSystemSize, costs: bool) -> Reading {
    // One read disturbs no one, so a busy device or a live database is no obstacle.
    let intent = Intent {
        reads: false,
        busy_ok: true,
        file_system_size,
        ..Intent::default()
    };
    let name = TargetName::Path(path.to_owned());
    let plan = stripewise_targets::plan(&name, &intent, &PlanContext::none());
    if path.is_dir() {
        let only = match plan {
            Ok(_) => fact(
                "read",
                "not tried: a run makes a test file in this directory",
            ),
            Err(error) => check("test file", false, error.to_string(), &error.hint),
        };
        return Reading {
            checks: [Some(only), costs.then(costs::without_reads)]
                .into_iter()
                .flatten()
                .collect(),
            exit: Exit::Done,
        };
    }
    let target = plan.and_then(|plan| {
        stripewise_targets::prepare(plan, &PlanContext::none(), &mut NullObserver)
    });
    let target = match target {
        Ok(target) => target,
        Err(error) => {
            return Reading {
                checks: vec![check("read", false, error.to_string(), &error.hint)],
                exit: Exit::Target,
            };
        }
    };
    let mut found = judge_reads(&trial_reads(&target));
    if costs && found.exit == Exit::Done {
        // A second of reads does disturb: like a run, it avoids what others use.
        let intent = Intent {
            reads: true,
            busy_ok: false,
            file_system_size,
            ..Intent::default()
        };
        found.checks.push(
            match stripewise_targets::plan(&name, &intent, &PlanContext::none()) {
                Ok(_) => costs::of_reads(&target),
                Err(error) => costs::not_counted(&error.to_string()),
            },
        );
    }
    found
}

/// The first is the engine that a run chooses: without it, the target cannot be read.
fn judge_reads(trials: &[Trial]) -> Reading {
    let failed = trials.first().is_some_and(|first| first.outcome.is_err());
    let checks = trials.iter().map(|trial| match &trial.outcome {
        Ok(()) => fact("read", format!("one block through {} works", trial.engine)),
        Err(why) => check(
            "read",
            false,
            format!("one block through {} failed: {why}", trial.engine),
            trial.hint,
        ),
    });
    Reading {
        checks: checks.collect(),
        exit: if failed { Exit::Target } else { Exit::Done },
    }
}

/// Filling, whose progress could be shown, does not happen here.
struct NullObserver;

impl Progress for NullObserver {
    fn now_ns(&mut self) -> u64 {
        0
    }

    fn report(&mut self, _: FillProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn check(name: &'static str, good: bool, found: impl Into<String>, hint: &str) -> Check {
    Check {
        name,
        good,
        found: found.into(),
        hint: if good { String::new() } else { hint.to_owned() },
    }
}

/// A fact that needs no judgement, or is as it should be.
fn fact(name: &'static str, found: impl Into<String>) -> Check {
    check(name, true, found, "")
}

fn engine() -> Check {
    let choice = EngineName::Auto.choose();
    match choice.because {
        None => fact("engine", format!("{} works here", choice.engine)),
        Some(because) => check(
            "engine",
            false,
            because,
            "many operations in flight cost more processor time this way; allow io_uring to this user (sysctl \
             kernel.io_uring_disabled, the container's seccomp profile)",
        ),
    }
}

fn own_cost() -> Check {
    match own_cost_ns(50_000_000) {
        Some(cost_ns) => {
            let found = format!("{cost_ns:.1} ns an operation and thread, without a disk");
            check(
                "own cost",
                cost_ns < 100.0,
                found,
                "this processor is slow or busy; at high IOPS the processor is measured, not the disk",
            )
        }
        None => check(
            "own cost",
            false,
            "could not be measured",
            "see `stripewise run . --engine null`",
        ),
    }
}

fn processors(host: &Host) -> Check {
    let model = host.cpu.model.as_deref().unwrap_or("unknown model");
    let cores = match host.cpu.cores.len() {
        0 => String::new(),
        1 => " on 1 core".to_owned(),
        count => format!(" on {count} cores"),
    };
    let found = format!("{} usable{cores}, {model}", host.cpu.count_usable);
    let all = host
        .cpu
        .count_online
        .is_none_or(|online| online <= host.cpu.count_usable);
    check(
        "processors",
        all,
        found,
        "this process may not use all processors; see taskset or its control group",
    )
}

fn quota(host: &Host) -> Check {
    match &host.cpu.quota {
        None => fact("CPU quota", "none"),
        Some(quota) => check(
            "CPU quota",
            quota.processors() >= f64::from(host.cpu.count_usable),
            format!(
                "{:.2} processors, set by control group {}",
                quota.processors(),
                quota.cgroup
            ),
            "at high IOPS the quota is measured, not the disk; raise it while you measure",
        ),
    }
}

fn governor(host: &Host) -> Check {
    match host.cpu.governor.as_deref() {
        None => fact(
            "frequency governor",
            "not visible (usual in virtual machines)",
        ),
        Some(governor) => check(
            "frequency governor",
            governor == "performance",
            governor,
            "latencies vary with the clock; set the governor to performance while measuring",
        ),
    }
}

fn memory(host: &Host) -> Check {
    let bytes = |value: Option<u64>| value.map_or_else(|| "unknown".to_owned(), format_bytes);
    let found = format!(
        "{} in all, {} available",
        bytes(host.memory.total_bytes),
        bytes(host.memory.available_bytes)
    );
    fact("memory", found)
}

fn store(context: &Context) -> Check {
    // Examining does not create it.
    let path = context.store_path().unwrap_or_default();
    if path.try_exists().is_ok_and(|there| !there) && path.file_name().is_some() {
        let found = format!(
            "{}: does not exist yet; the first run creates it",
            path.as_text()
        );
        return fact("store", found);
    }
    match context.open_store() {
        Ok(store) => fact("store", store.path().as_text()),
        Err(failure) => check(
            "store",
            false,
            failure.error.to_string(),
            failure
                .hint
                .as_deref()
                .unwrap_or("name another file with --store FILE"),
        ),
    }
}

/// The volume under a path, from the file system down.
fn volume(path: &Path, storage: &Storage) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(file_system) = &storage.file_system {
        let unit = file_system
            .allocation_unit_bytes
            .map(|unit| format!(", allocation unit {}", format_bytes(unit)));
        let found = format!(
            "{} at {}{}, for {}",
            file_system.kind,
            file_system.mount_point.as_text(),
            unit.unwrap_or_default(),
            path.as_text()
        );
        checks.push(fact("file system", found));
    }
    checks.extend(storage.layers().into_iter().map(device));
    checks
}

fn device(device: &BlockDevice) -> Check {
    let queue = &device.queue;
    let mut facts = vec![device.name.clone()];
    facts.extend(device.model.clone());
    facts.push(format_bytes(device.size_bytes));
    if let (Some(logical), Some(physical)) =
        (queue.logical_sector_bytes, queue.physical_sector_bytes)
    {
        facts.push(format!("sectors {logical}/{physical}"));
    }
    facts.extend(device.rotation().map(str::to_owned));
    facts.extend(
        queue
            .scheduler
            .as_ref()
            .map(|scheduler| format!("scheduler {scheduler}")),
    );
    facts.extend(
        queue
            .write_cache
            .as_ref()
            .map(|cache| format!("write cache: {cache}")),
    );
    facts.extend(queue.atomic_writes());
    let polls = queue.polls == Some(true);
    facts.extend(polls.then(|| "queues for --poll".to_owned()));
    let cached_loop = device
        .looped
        .as_ref()
        .is_some_and(|looped| looped.direct_io == Some(false));
    let hint = "a loop device without direct I/O measures the page cache; attach it with losetup --direct-io=on";
    check("device", !cached_loop, facts.join(", "), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(engine: EngineName, outcome: Result<(), &str>) -> Trial {
        Trial {
            engine,
            hint: if outcome.is_ok() { "" } else { "do this" },
            outcome: outcome.map_err(str::to_owned),
        }
    }

    #[test]
    fn a_target_that_the_chosen_engine_cannot_read_is_unusable() {
        let cases = [
            (Ok(()), Ok(()), Exit::Done),
            (Ok(()), Err("read EIO"), Exit::Done),
            (Err("read EAGAIN"), Ok(()), Exit::Target),
            (Err("read EIO"), Err("read EIO"), Exit::Target),
        ];
        for (first, second, exit) in cases {
            let trials = [
                trial(EngineName::Uring, first),
                trial(EngineName::Threads, second),
            ];
            let reading = judge_reads(&trials);
            assert_eq!(reading.exit, exit, "{first:?} {second:?}");
            for (check, outcome) in reading.checks.iter().zip([first, second]) {
                assert_eq!(check.good, outcome.is_ok());
                assert_eq!(check.hint.is_empty(), outcome.is_ok());
                let why = outcome.err().unwrap_or("works");
                assert!(check.found.contains(why), "{}", check.found);
            }
        }
    }
}
