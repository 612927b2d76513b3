//! Texts that are results, and that no reader here is for: which tool wrote them,
//! and what to do instead.

use crate::text::{Line, lines, squeezed};

/// How much of a text is looked at.
const LINES_MAX: usize = 400;

/// What a text is, and the next thing to do; `None` where nobody knows.
pub(crate) fn known_elsewhere(text: &str) -> Option<(&'static str, &'static str)> {
    if text.contains("\"schema_version\"") && text.trim_start().starts_with('{') {
        return Some((
            "is a document of Stripewise",
            "give it to `stripewise compare`, `report` or `check` as it is; documents are not imported",
        ));
    }
    let mut lines = lines(text).take(LINES_MAX);
    lines.find_map(|line| of_line(&line))
}

fn of_line(line: &Line<'_>) -> Option<(&'static str, &'static str)> {
    let words = squeezed(line.text.get(..4_096).unwrap_or(line.text));
    let begins = |start: &str| words.starts_with(start);
    let has = |part: &str| words.contains(part);
    if is_terse(&words) {
        return Some((
            "is fio's terse output, which is not read",
            "run fio with --output-format=json, and import that",
        ));
    }
    if has(": (groupid=") || (has("IOPS=") && has("BW=")) || has(": (g=") && has("ioengine=") {
        return Some((
            "is fio's normal output, which is not read",
            "run fio with --output-format=json, and import that",
        ));
    }
    if begins("fio: ") {
        return Some((
            "is what fio says of itself, without a result",
            "run fio with --output-format=json, and import that",
        ));
    }
    if has("Vdbench") || has("vdbench") || begins("tod timestamp") || has("MB/sec mb/sec") {
        return Some((
            "is output of vdbench, which is not read",
            "run the load with `stripewise run`; results of SQLIO, DiskSpd and fio are read",
        ));
    }
    if has("elbencho") || begins("OPERATION RESULT TYPE") {
        return Some((
            "is output of elbencho, which is not read",
            "run the load with `stripewise run`; results of SQLIO, DiskSpd and fio are read",
        ));
    }
    if has("Iometer") || begins("'Access specifications") || begins("'Time Stamp") {
        return Some((
            "is output of Iometer, which is not read",
            "run the load with `stripewise run`; results of SQLIO, DiskSpd and fio are read",
        ));
    }
    if begins("actual test time:") || words == "Total IO" {
        return Some((
            "is DiskSpd's text without its `Input parameters:`, so nobody can say what was measured",
            "import the whole output of DiskSpd, from `Command Line:` on",
        ));
    }
    None
}

/// `3;fio-3.33;job;0;0;...`: the version of the format, then dozens of values.
fn is_terse(words: &str) -> bool {
    let mut cells = words.split(';');
    let version = cells
        .next()
        .is_some_and(|cell| ["2", "3", "4", "5"].contains(&cell));
    version
        && cells.next().is_some_and(|cell| {
            cell.starts_with("fio-") || cell.is_empty() || cells.clone().count() > 40
        })
}
