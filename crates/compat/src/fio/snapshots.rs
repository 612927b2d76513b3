//! Documents that are earlier states of one run.
//!
//! With `--status-interval`, or a SIGUSR1, fio prints a whole document of what it
//! has counted since its start, again and again, and at the end the final one.

use super::job::{Document, Job, Side};

/// Whether the later of two neighbouring documents is of the same run as the
/// earlier one, and so has all that this counted. In doubt it is not: two results
/// too many are seen, one too few is not.
pub(super) fn continues(earlier: &Document, later: &Document) -> bool {
    // Copies are not snapshots; whoever joins files leaves them out.
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
        return ramps(later, after) && began_alike(earlier, later, before, after);
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
    began_before_it_was_printed(earlier, later, before, after)
}

/// Whether a job may be the same one, later: named and asked alike, and begun at the
/// same time.
fn is_same_job(before: &Job, after: &Job) -> bool {
    // Jobs that still wait have no start yet.
    let begun_alike = start(before).is_none() || start(before) == start(after);
    before.name == after.name
        && before.group == after.group
        && before.options == after.options
        && begun_alike
}

/// Whether anything that a job counted has become less.
fn has_shrunk(before: &Job, after: &Job) -> bool {
    let counts: [fn(&Side) -> Option<u64>; 4] = [
        |side| side.total_ios,
        |side| side.io_bytes,
        |side| side.io_kbytes,
        |side| side.runtime_ms,
    ];
    counts.into_iter().any(|of| has_grown(after, before, of))
}

/// Whether a job of the document has a ramp, after which it begins to count again.
fn ramps(document: &Document, jobs: &[Job]) -> bool {
    let of_jobs = jobs.iter().map(|job| &job.options);
    let mut all = [&document.global_options].into_iter().chain(of_jobs);
    all.any(|options| {
        let options = options.as_ref();
        options.is_some_and(|options| options.contains_key("ramp_time"))
    })
}

/// Whether two documents in which counts became less are of one process, the second one
/// printed later.
fn began_alike(earlier: &Document, later: &Document, before: &[Job], after: &[Job]) -> bool {
    let Some(((printed, _), (at, _))) = printed_ms(earlier).zip(printed_ms(later)) else {
        return false;
    };
    printed <= at && (start(&before[0]).is_some() || is_one_process(printed, at, before, after))
}

fn has_grown(before: &Job, after: &Job, of: fn(&Side) -> Option<u64>) -> bool {
    let count = |side: &Option<Box<Side>>| side.as_deref().and_then(of).unwrap_or(0);
    count(&before.read) < count(&after.read) || count(&before.write) < count(&after.write)
}

/// When a job began, milliseconds since 1970; older versions do not print it.
fn start(job: &Job) -> Option<u64> {
    job.start_ms.filter(|start| *start > 0)
}

/// Whether what the later document measured began before the earlier one was
/// printed, which another run cannot have done; where nothing was measured yet,
/// as while a job ramps up, whether both were printed by one process.
fn began_before_it_was_printed(
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

/// Whether the process that printed one document, at these times in ms, began when that
/// of the other did; by its seconds, which are whole and rounded up.
fn is_one_process(printed: u64, at: u64, before: &[Job], after: &[Job]) -> bool {
    let process = |printed_ms: u64, jobs: &[Job]| {
        let elapsed = jobs.first()?.elapsed?;
        printed_ms.checked_sub(elapsed.checked_mul(1000)?)
    };
    let processes = process(printed, before).zip(process(at, after));
    processes.is_some_and(|(before, after)| before.abs_diff(after) < 1000)
}

/// When a document was printed, and by how much that may be too early.
fn printed_ms(document: &Document) -> Option<(u64, u64)> {
    let exact = document.timestamp_ms.map(|ms| (ms, 0));
    exact.or_else(|| Some((document.timestamp?.checked_mul(1000)?, 999)))
}
