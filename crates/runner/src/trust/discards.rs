//! The warning about loads that discard: they change the state that they measure.

use super::code::Code;
use super::evidence::Evidence;
use stripewise_results::{Severity, Warning};
use stripewise_units::format_bytes;

/// Discarded blocks hold nothing: reading them needs no medium, and discarding them again little
/// work.
pub fn discarded_space(evidence: &Evidence) -> Option<Warning> {
    let (workload, outcome) = (&evidence.workload, &evidence.outcome);
    let discard = outcome.discard.as_ref()?;
    let each_bytes = workload.size_bytes.unwrap_or(evidence.target.size_bytes);
    let used_bytes = each_bytes.saturating_mul(u64::from(evidence.targets.max(1)));
    let again = used_bytes > 0 && discard.bytes > used_bytes.saturating_add(outcome.write.bytes);
    let discarded = format_bytes(discard.bytes);
    let used = format_bytes(used_bytes);
    let left = "what was discarded holds nothing, for this load and for the next one on it";
    let (severity, message) = match (evidence.reads(), again) {
        (true, _) => (
            Severity::Warning,
            format!(
                "{discarded} of {used} in use were discarded: {left}, and reads of it need no medium"
            ),
        ),
        (false, true) => (
            Severity::Warning,
            format!(
                "{discarded} were discarded of {used} in use: most discards hit what was discarded \
                 already, which costs less; {left}"
            ),
        ),
        (false, false) => (
            Severity::Note,
            format!("{discarded} of {used} in use were discarded: {left}"),
        ),
    };
    let hint = "for discards of data give a larger --size, a shorter --duration or more writes, and a fresh \
                test file for each run; read before discarding";
    Some(Code::DiscardedSpace.warning(severity, message, hint))
}
