//! The ids of imported results.

/// The id of a result with this content; `number`, from 0: index of the run within its document.
/// Ids of Stripewise's own runs begin with a date, so the two never collide.
pub(crate) fn imported_id(tool: &str, content: u64, number: u64) -> String {
    match number {
        0 => format!("{tool}-{content:016x}"),
        _ => format!("{tool}-{content:016x}-{}", number + 1),
    }
}
