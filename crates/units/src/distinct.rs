//! Values of a list, each once.

/// Distinct values in order of first appearance.
///
/// ```
/// assert_eq!(stripewise_units::distinct(["sdb", "sda", "sdb"]), ["sdb", "sda"]);
/// ```
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}
