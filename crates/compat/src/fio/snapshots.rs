//! Documents that are earlier states of one run.
//!
//! With `--status-interval`, or on SIGUSR1, fio repeatedly prints a whole document of its counts
//! since the start, and the final one at the end.

use super::job::{Document, Job, Side};

/// Whether the later of two adjacent documents is of the same run as the earlier one and so
/// supersedes it. If in doubt, no: surplus results get noticed, a missing one does not.
pub(super) fn continues(earlier: &Document, later: &Document) -> bool {
    // Copies are not snapshots; duplicates are dropped when results are collected.
    if earlier == later
        || earlier.version != later.version
        || earlier.global_options != later.global_options
    {
        return false;
    }
    let (Some(before), Some(after)) = (&earlier.jobs, &later.jobs) else {
        return false;
    };
    let pairs = || before.iter().zip(after);
    if before.is_empty()
        || before.len() != after.len()
        || !pairs().all(|(before, after)| is_same_job(before, after))
    {
        return false;
    }
    if pairs().any(|(before, after)| has_shrunk(before, after)) {
        // At the end of its ramp a job starts counting again.
        return ramps(later, after) && started_alike(earlier, later, before, after);
    }
    // Counts do not grow without time: that is another run of the same job.
    let grew =
        |of: fn(&Side) -> Option<u64>| pairs().any(|(before, after)| has_grown(before, after, of));
    let counted = grew(|side| side.total_ios) || grew(|side| side.io_bytes);
    if counted && !grew(|side| side.runtime_ms) {
        return false;
    }
    if start(&before[0]).is_some() {
        return true;
    }
    started_before_printing(earlier, later, before, after)
}

/// Whether a job may be a later state of the same one: same name and options, same start.
fn is_same_job(before: &Job, after: &Job) -> bool {
    // Jobs that still wait have no start yet.
    let begun_alike = start(before).is_none() || start(before) == start(after);
    before.name == after.name
        && before.group == after.group
        && before.options == after.options
        && begun_alike
}

/// Whether any count of a job decreased.
fn has_shrunk(before: &Job, after: &Job) -> bool {
    let counts: [fn(&Side) -> Option<u64>; 4] = [
        |side| side.total_ios,
        |side| side.io_bytes,
        |side| side.io_kbytes,
        |side| side.runtime_ms,
    ];
    counts.into_iter().any(|of| has_grown(after, before, of))
}

/// Whether a job of the document has a ramp, after which counting restarts.
fn ramps(document: &Document, jobs: &[Job]) -> bool {
    let of_jobs = jobs.iter().map(|job| &job.options);
    let mut all = [&document.global_options].into_iter().chain(of_jobs);
    all.any(|options| {
        let options = options.as_ref();
        options.is_some_and(|options| options.contains_key("ramp_time"))
    })
}

/// Whether two documents with decreased counts are of one process, the second printed later.
fn started_alike(earlier: &Document, later: &Document, before: &[Job], after: &[Job]) -> bool {
    let Some(((printed, _), (at, _))) = printed_ms(earlier).zip(printed_ms(later)) else {
        return false;
    };
    printed <= at && (start(&before[0]).is_some() || is_one_process(printed, at, before, after))
}

fn has_grown(before: &Job, after: &Job, of: fn(&Side) -> Option<u64>) -> bool {
    let count = |side: &Option<Box<Side>>| side.as_deref().and_then(of).unwrap_or(0);
    count(&before.read) < count(&after.read) || count(&before.write) < count(&after.write)
}

/// Start of a job, milliseconds since 1970; older versions do not print it.
fn start(job: &Job) -> Option<u64> {
    job.start_ms.filter(|start| *start > 0)
}

/// Whether the later document's measurement began before the earlier one was printed, which another
/// run's cannot; if nothing was measured yet, as during a ramp, whether one process printed both.
fn started_before_printing(
    earlier: &Document,
    later: &Document,
    before: &[Job],
    after: &[Job],
) -> bool {
    let Some(((printed, _), (at, rounded))) = printed_ms(earlier).zip(printed_ms(later)) else {
        return false;
    };
    let longest = |jobs: &[Job]| jobs.iter().filter_map(Job::longest_ms).max().unwrap_or(0);
    if longest(before) > 0 {
        return at.saturating_add(rounded).saturating_sub(longest(after)) < printed;
    }
    is_one_process(printed, at, before, after)
}

/// Whether two documents, printed at these times in ms, are of processes that began together; by
/// elapsed seconds, which are whole and rounded up.
fn is_one_process(printed: u64, at: u64, before: &[Job], after: &[Job]) -> bool {
    let process = |printed_ms: u64, jobs: &[Job]| {
        let elapsed = jobs.first()?.elapsed?;
        printed_ms.checked_sub(elapsed.checked_mul(1000)?)
    };
    let processes = process(printed, before).zip(process(at, after));
    processes.is_some_and(|(before, after)| before.abs_diff(after) < 1000)
}

/// Time of printing, and by how much it may be too early.
fn printed_ms(document: &Document) -> Option<(u64, u64)> {
    let exact = document.timestamp_ms.map(|ms| (ms, 0));
    exact.or_else(|| Some((document.timestamp?.checked_mul(1000)?, 999)))
}
