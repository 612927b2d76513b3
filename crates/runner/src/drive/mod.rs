//! The two drivers. Both run the same workers and pass the same summaries to the same policy and
//! observer; callers cannot tell them apart.

pub mod real;
pub mod virtual_time;

use crate::{Error, JobPlan, RunPlan};

/// The longest interval, nanoseconds: u32 counts must not overflow.
pub const INTERVAL_NS_MAX: u64 = 10_000_000_000;
/// The shortest interval, nanoseconds.
pub const INTERVAL_NS_MIN: u64 = 1_000_000;

/// Returns an error for inconsistent plans.
fn check(jobs: &[&JobPlan], plan: &RunPlan) -> Result<(), Error> {
    let refuse = |why: String| Err(Error::Plan(why));
    if jobs.is_empty() {
        return refuse("a run needs at least one job".to_owned());
    }
    if !(INTERVAL_NS_MIN..=INTERVAL_NS_MAX).contains(&plan.interval_ns) {
        return refuse(format!(
            "an interval of {} ns is outside 1 ms to 10 s",
            plan.interval_ns
        ));
    }
    for (number, job) in jobs.iter().enumerate() {
        let workload = &job.workload;
        let block = workload.block_size_bytes;
        if job.spans.is_empty() || job.spans.len() > usize::from(u16::MAX) {
            return refuse(format!("job {number} has {} files", job.spans.len()));
        }
        let fits =
            |span: &stripewise_workload::Span| span.blocks > 0 && span.block_size_bytes == block;
        if !job.spans.iter().all(fits) {
            return refuse(format!(
                "job {number} has a span with no room for blocks of {block} bytes"
            ));
        }
        if workload.threads == 0 || workload.outstanding == 0 {
            return refuse(format!("job {number} has nothing in flight"));
        }
        if block == 0 || block > 64 << 20 {
            return refuse(format!("job {number} has blocks of {block} bytes"));
        }
    }
    Ok(())
}
