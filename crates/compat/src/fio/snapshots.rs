//! Documents that are earlier states of one run.
//!
//! With `--status-interval`, or a SIGUSR1, fio prints a whole document of what it
//! has counted since its start, again and again, and at the end the final one.

use serde_json::Value;

/// Whether the later of two neighbouring documents is of the same run as the
/// earlier one, and so has all that this counted. In doubt it is not: two results
/// too many are seen, one too few is not.
pub(super) fn continues(earlier: &Value, later: &Value) -> bool {
    let same = |name: &str| earlier.get(name) == later.get(name);
    // Copies are not snapshots; whoever joins files leaves them out.
    if earlier == later || !same("fio version") || !same("global options") {
        return false;
    }
    let jobs = |document: &Value| document.get("jobs").and_then(Value::as_array).cloned();
    let (Some(before), Some(after)) = (jobs(earlier), jobs(later)) else {
        return false;
    };
    let pairs = || before.iter().zip(&after);
    if before.is_empty()
        || before.len() != after.len()
        || !pairs().all(|(before, after)| is_same_job(before, after))
    {
        return false;
    }
    if pairs().any(|(before, after)| has_shrunk(before, after)) {
        // At the end of its ramp a job starts counting again.
        return ramps(later, &after) && began_alike(earlier, later, &before, &after);
    }
    // Counts do not grow without time: that is another run of the same job.
    let grew = |name: &str| pairs().any(|(before, after)| has_grown(before, after, name));
    let counted = grew("total_ios") || grew("io_bytes");
    if counted && !grew("runtime") {
        return false;
    }
    if start(&before[0]).is_some() {
        return true;
    }
    began_before_it_was_printed(earlier, later, &before, &after)
}

/// Whether a job may be the same one, later: named and asked alike, and begun at the
/// same time.
fn is_same_job(before: &Value, after: &Value) -> bool {
    let same = |name: &str| before.get(name) == after.get(name);
    // Jobs that still wait have no start yet.
    let begun_alike = start(before).is_none() || start(before) == start(after);
    same("jobname") && same("groupid") && same("job options") && begun_alike
}

/// Whether anything that a job counted has become less.
fn has_shrunk(before: &Value, after: &Value) -> bool {
    let counts = ["total_ios", "io_bytes", "io_kbytes", "runtime"];
    counts.iter().any(|name| has_grown(after, before, name))
}

/// Whether a job of the document has a ramp, after which it begins to count again.
fn ramps(document: &Value, jobs: &[Value]) -> bool {
    let has = |options: Option<&Value>| options.is_some_and(|all| all.get("ramp_time").is_some());
    has(document.get("global options")) || jobs.iter().any(|job| has(job.get("job options")))
}

/// Whether two documents in which counts became less are of one process, the second one
/// printed later.
fn began_alike(earlier: &Value, later: &Value, before: &[Value], after: &[Value]) -> bool {
    let Some(((printed, _), (at, _))) = printed_ms(earlier).zip(printed_ms(later)) else {
        return false;
    };
    printed <= at && (start(&before[0]).is_some() || is_one_process(printed, at, before, after))
}

fn has_grown(before: &Value, after: &Value, name: &str) -> bool {
    ["read", "write"].into_iter().any(|side| {
        let count = |job: &Value| job.get(side)?.get(name)?.as_u64();
        count(before).unwrap_or(0) < count(after).unwrap_or(0)
    })
}

/// When a job began, milliseconds since 1970; older versions do not print it.
fn start(job: &Value) -> Option<u64> {
    let start = job.get("job_start").and_then(Value::as_u64);
    start.filter(|start| *start > 0)
}

/// Whether what the later document measured began before the earlier one was
/// printed, which another run cannot have done; where nothing was measured yet,
/// as while a job ramps up, whether both were printed by one process.
fn began_before_it_was_printed(
    earlier: &Value,
    later: &Value,
    before: &[Value],
    after: &[Value],
) -> bool {
    let Some(((printed, _), (at, rounded))) = printed_ms(earlier).zip(printed_ms(later)) else {
        return false;
    };
    let longest = |jobs: &[Value]| {
        let sides = jobs
            .iter()
            .flat_map(|job| [job.get("read"), job.get("write")]);
        let runtimes = sides
            .flatten()
            .filter_map(|side| side.get("runtime")?.as_u64());
        runtimes.max().unwrap_or(0)
    };
    if longest(before) > 0 {
        return at.saturating_add(rounded).saturating_sub(longest(after)) < printed;
    }
    is_one_process(printed, at, before, after)
}

/// Whether the process that printed one document, at these times in ms, began when that
/// of the other did; by its seconds, which are whole and rounded up.
fn is_one_process(printed: u64, at: u64, before: &[Value], after: &[Value]) -> bool {
    let process = |printed_ms: u64, jobs: &[Value]| {
        let elapsed = jobs.first()?.get("elapsed")?.as_u64()?;
        printed_ms.checked_sub(elapsed.checked_mul(1000)?)
    };
    let processes = process(printed, before).zip(process(at, after));
    processes.is_some_and(|(before, after)| before.abs_diff(after) < 1000)
}

/// When a document was printed, and by how much that may be too early.
fn printed_ms(document: &Value) -> Option<(u64, u64)> {
    let number = |name: &str| document.get(name).and_then(Value::as_u64);
    let exact = number("timestamp_ms").map(|ms| (ms, 0));
    exact.or_else(|| Some((number("timestamp")?.checked_mul(1000)?, 999)))
}
