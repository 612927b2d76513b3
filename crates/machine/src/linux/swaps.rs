//! `/proc/swaps`: a title line, then a name at the start of each line.

use super::tree::{table_text, unescape_path};
use std::path::PathBuf;

/// The table of this machine, in the format of [`names`].
pub fn table() -> String {
    table_text(&std::fs::read("/proc/swaps").unwrap_or_default())
}

/// All swap areas of the table, devices and files.
pub fn names(table: &str) -> Vec<PathBuf> {
    let lines = table.lines().skip(1);
    lines
        .filter_map(|line| line.split_whitespace().next())
        .map(unescape_path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_areas_are_read_with_their_escapes() {
        let text = "Filename\tType\tSize\tUsed\tPriority\n\
                    /dev/sda3    partition\t1\t0\t-2\n\
                    /swap\\040file file\t1\t0\t-3\n\
                    /odd\\134name file 1 0 -4\n";
        let want = ["/dev/sda3", "/swap file", "/odd\\name"].map(PathBuf::from);
        assert_eq!(names(text), want);
        assert!(names("").is_empty());
    }
}
