//! Recognises results that no reader supports: which tool wrote them, and what to do instead.

use crate::text::{Line, lines, squeezed};

/// Most lines examined.
const LINES_MAX: usize = 400;

/// What other tools print in a line of their own.
const OTHER_TOOLS: [(&str, &str); 7] = [
    (
        "(using system LuaJIT",
        "is output of sysbench, which is not supported",
    ),
    (
        "multi-threaded system evaluation benchmark",
        "is output of sysbench, which is not supported",
    ),
    (
        "Timing buffered disk reads:",
        "is output of hdparm, which is not supported",
    ),
    (
        "Timing O_DIRECT disk reads:",
        "is output of hdparm, which is not supported",
    ),
    (
        "ioping statistics ---",
        "is output of ioping, which is not supported",
    ),
    (
        "------Sequential Output------",
        "is output of bonnie++, which is not supported",
    ),
    (
        "Iozone: Performance Test of File I/O",
        "is output of IOzone, which is not supported",
    ),
];

/// What a text is, and the next step; `None` if unknown.
pub(crate) fn unsupported_format(text: &str) -> Option<(&'static str, &'static str)> {
    if text.contains("\"schema_version\"") && text.trim_start().starts_with('{') {
        return Some((
            "is a document of Stripewise",
            "give it to `stripewise compare`, `report` or `check` as it is; documents are not imported",
        ));
    }
    if text.starts_with("{\"log\":\"") {
        return Some((
            "is a container's log with its lines in JSON",
            "give what `docker logs` prints of it",
        ));
    }
    let mut lines = lines(text).take(LINES_MAX);
    lines.find_map(|line| of_line(&line))
}

fn of_fio(words: &str) -> Option<(&'static str, &'static str)> {
    let begins = |start: &str| words.starts_with(start);
    let has = |part: &str| words.contains(part);
    if begins("3;") && has("fio-") || has(": (g=") && has("ioengine=") {
        return Some((
            "is fio's output without a result in it",
            "give everything that fio printed, up to its `Run status`, or its JSON (--output-format=json)",
        ));
    }
    if ["rw=", "readwrite=", "ioengine="]
        .iter()
        .any(|option| begins(option))
    {
        return Some((
            "is a job file of fio, not a result",
            "`stripewise convert --from fio` makes a plan of it",
        ));
    }
    if begins("fio: ") {
        return Some((
            "is fio's information about itself, without a result",
            "run fio with --output-format=json, and import that",
        ));
    }
    None
}

fn of_other_tool(words: &str) -> Option<&'static str> {
    if words.starts_with("AS SSD Benchmark ") {
        return Some("is output of AS SSD, which is not supported");
    }
    // `536870912 bytes (537 MB, 512 MiB) copied, 35.3 s, 15.2 MB/s`.
    if words.contains(" bytes (") && words.contains(") copied, ") {
        return Some("is output of dd, which is not supported");
    }
    let mut known = OTHER_TOOLS.iter();
    let (_, problem) = known.find(|(mark, _)| words.contains(*mark))?;
    Some(*problem)
}

fn of_line(line: &Line<'_>) -> Option<(&'static str, &'static str)> {
    let words = squeezed(line.text.get(..4_096).unwrap_or(line.text));
    let begins = |start: &str| words.starts_with(start);
    let has = |part: &str| words.contains(part);
    if let Some(found) = of_fio(&words) {
        return Some(found);
    }
    let is_vdbench = begins("Vdbench ") && (has("report, created") || has("logfile"));
    if is_vdbench || has("Vdbench distribution:") || has("MB/sec mb/sec") {
        return Some((
            "is output of vdbench without an average in it",
            "give flatfile.html or summary.html in its output folder",
        ));
    }
    if begins("OPERATION RESULT TYPE") {
        return Some((
            "is elbencho's printed output, which is not supported",
            "run it with --csvfile or --jsonfile, and import that",
        ));
    }
    if let Some(problem) = of_other_tool(&words) {
        return Some((
            problem,
            "run fio with --output-format=json, and import that",
        ));
    }
    let is_resaved = |columns: &str| {
        let separators = [";", "; ", " "];
        separators
            .iter()
            .any(|separator| begins(&columns.replace(',', separator)))
    };
    if is_resaved("ISO date,label,path type,") || is_resaved("'Test Type,Test Description") {
        return Some((
            "is the CSV of elbencho or Iometer as a spreadsheet saved it, with other separators than commas",
            "give the file that the tool itself wrote (elbencho: --csvfile; Iometer: results.csv)",
        ));
    }
    let of_iometer = [
        "'TEST SETUP",
        "'ACCESS SPEC",
        "'Access spec",
        "'Time Stamp",
        "'Test Type",
    ];
    if of_iometer.iter().any(|words| begins(words)) {
        return Some((
            "is a file of Iometer without results in it",
            "give its results.csv; a configuration (.icf) has no results",
        ));
    }
    if begins("actual test time:") || words == "Total IO" {
        return Some((
            "is DiskSpd's text without its `Input parameters:`, so what was measured is not known",
            "import the whole output of DiskSpd, from `Command Line:` on",
        ));
    }
    None
}
