//! Names in records as people read them.

/// `Random read` for `random-read`.
pub(crate) fn series_title(name: &str) -> String {
    let words = name.replace('-', " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Sequential series are told in bytes, others in operations.
pub(crate) fn told_in_bytes(series: &str) -> bool {
    series.starts_with("sequential")
}
