//! The ids of imported results.

/// The id of a result with this content; `number`, from 0: which of the runs it is
/// that came of one document. Ids of runs made here begin with a date, so the
/// two are never mixed up.
pub(crate) fn imported_id(tool: &str, content: u64, number: u64) -> String {
    match number {
        0 => format!("{tool}-{content:016x}"),
        _ => format!("{tool}-{content:016x}-{}", number + 1),
    }
}
