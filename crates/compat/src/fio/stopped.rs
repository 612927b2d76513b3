//! Whether a fio job was stopped early.

use super::job::{Job, Side};
use super::options::{Options, size};
use super::outcome::bytes;
use crate::out::Out;

/// Why a job counts as stopped: it ran for less than its options say, and its data was not
/// exhausted, as far as the amount is known. Noted in either case.
pub(super) fn stopped_early(
    job: &Job,
    name: &str,
    options: &Options,
    alone: bool,
    out: &mut Out<'_>,
) -> Option<String> {
    let ran_ns = job.longest_ms()?.checked_mul(1_000_000)?;
    let asked_ns = options.time_ns("runtime").unwrap_or(0);
    if ran_ns == 0 || ran_ns >= asked_ns / 20 * 19 {
        return None;
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    let ran = format!(
        "job {name}: it ran for {:.1} s of the {} s of its options",
        seconds(ran_ns),
        seconds(asked_ns),
    );
    out.note_once(format!(
        "{ran}: its data came to an end, or it was interrupted"
    ));
    let processes = options.count("numjobs").filter(|_| alone).unwrap_or(1);
    let size = |name: &str| options.get(name).and_then(size);
    let sum = |of: fn(&Side) -> Option<u64>| -> u64 {
        let each = job.sides().filter_map(|(_, side)| of(side));
        each.fold(0, u64::saturating_add)
    };
    let done = sum(bytes);
    let at_its_end = size("io_size")
        .or_else(|| size("size"))
        // Each process does that much; a single entry represents all of them.
        .and_then(|bytes| bytes.checked_mul(u64::from(processes)))
        .is_some_and(|bytes| done >= bytes / 100 * 99);
    let operations = sum(|side| side.total_ios);
    let all_operations = (options.count("number_ios"))
        .is_some_and(|each| operations >= u64::from(each) * u64::from(processes));
    // The result does not give the size of a percentage of a file.
    let amount = options.get("io_size").or_else(|| options.get("size"));
    let is_share = amount.is_some_and(|amount| amount.contains('%'));
    let may_be_at_its_end = at_its_end || all_operations || is_share;
    (options.is_on("time_based") || !may_be_at_its_end).then_some(ran)
}
