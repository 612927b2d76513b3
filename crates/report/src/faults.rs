//! Data faults, and the result of verification during a run.

use std::collections::BTreeMap;
use stripewise_results::faults::{FaultRecord, Verification};
use stripewise_units::{format_bytes, format_count};

/// Maximum number of faults printed in full; the store has all of them.
pub const FAULTS_SHOWN_MAX: usize = 20;

/// The first faults, in full.
pub fn faults_text(faults: &[FaultRecord]) -> String {
    let shown = faults.iter().take(FAULTS_SHOWN_MAX);
    let mut text: String = shown
        .map(|fault| format!("\n{}\n", fault.message))
        .collect();
    if let Some(more) = faults.len().checked_sub(FAULTS_SHOWN_MAX + 1) {
        text.push_str(&format!(
            "\n... and {} more: `--json` prints all of them\n",
            more + 1
        ));
    }
    text
}

/// The result of verification during a run.
pub fn verification_text(verification: &Verification) -> String {
    let mut text = faults_text(&verification.faults);
    if let Some(error) = verification.errors.first() {
        text.push_str(&format!("\nNot everything could be read again: {error}\n"));
    }
    format!("{text}\n{}\n", verification_verdict(verification))
}

/// The same in a line, without the faults.
pub(crate) fn verification_verdict(verification: &Verification) -> String {
    let verified = format!(
        "{} verified in {} operations",
        format_bytes(verification.verified_bytes),
        format_count(verification.operations)
    );
    match (verification.faults.is_empty(), verification.read_at_end) {
        (false, _) => format!(
            "FAULTS: {}; {verified}",
            classes_text(&verification.faults_by_class)
        ),
        (true, true) => format!("Verification: no fault in {verified}"),
        (true, false) => {
            format!(
                "NOT FINISHED: no fault in {verified}; not everything was read again at the end"
            )
        }
    }
}

/// The number of faults of each class.
pub fn classes_text(counts: &BTreeMap<String, u64>) -> String {
    let classes = counts
        .iter()
        .map(|(class, count)| format!("{count} {class}"));
    classes.collect::<Vec<_>>().join(", ")
}
