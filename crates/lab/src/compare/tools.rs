//! Results of other tools, or of other versions of one tool: if a tool's
//! defaults changed, a difference may be due to that alone.

use std::collections::BTreeSet;
use stripewise_results::RunRecord;

/// A change of a tool's behaviour in a version, from its release notes.
struct Change {
    tool: &'static str,
    since: [u32; 3],
    what: &'static str,
}

/// Sources: the releases v2.0.20a, v2.2 and v2.3 of microsoft/diskspd.
const CHANGES: [Change; 3] = [
    Change {
        tool: "diskspd",
        since: [2, 0, 20],
        what: "2.0.20 has another generator of random positions",
    },
    Change {
        tool: "diskspd",
        since: [2, 2, 0],
        what: "2.2 takes completions in batches, which changes latencies with more than one outstanding",
    },
    Change {
        tool: "diskspd",
        since: [2, 3, 0],
        what: "2.3 puts threads on fast cores first and separates buffers by cache line",
    },
];

/// A tool, and its version if the result names it.
type ToolVersion = (String, Option<String>);

/// Notes about the tools that produced the results of each side.
pub(super) fn tools(
    a: &[RunRecord],
    b: &[RunRecord],
    [behind_a, behind_b]: &[String; 2],
) -> Vec<String> {
    let (of_a, of_b) = (made(a), made(b));
    if of_a.is_empty() || of_b.is_empty() {
        return Vec::new();
    }
    let names = |of: &BTreeSet<ToolVersion>| of.iter().map(|(tool, _)| tool.clone()).collect();
    let (tools_a, tools_b): (BTreeSet<String>, BTreeSet<String>) = (names(&of_a), names(&of_b));
    if tools_a != tools_b {
        return vec![format!(
            "the results were made by different tools, which differ in their defaults and in what they call latency: {} {behind_a}, {} {behind_b}.",
            list(&of_a),
            list(&of_b)
        )];
    }
    if of_a == of_b
        && of_a
            .iter()
            .all(|(tool, version)| version.is_some() || !changes(tool))
    {
        return Vec::new();
    }
    let versions: Vec<Option<[u32; 3]>> = of_a
        .union(&of_b)
        .map(|(_, version)| version.as_deref().and_then(numbers))
        .collect();
    let between = |change: &&Change| {
        let known = || versions.iter().flatten();
        let before = known().any(|version| *version < change.since);
        let since = known().any(|version| *version >= change.since);
        let unknown = versions.iter().any(Option::is_none);
        tools_a.contains(change.tool) && (before && since || unknown)
    };
    let found: Vec<&str> = CHANGES
        .iter()
        .filter(between)
        .map(|change| change.what)
        .collect();
    if of_a == of_b {
        return vec![format!(
            "the results do not name the version that made them, which may explain the difference: {}.",
            found.join("; ")
        )];
    }
    let what = match found.as_slice() {
        [] => "check that their defaults are the same".to_owned(),
        found => format!("which may explain the difference: {}", found.join("; ")),
    };
    vec![format!(
        "the versions differ, {} {behind_a} and {} {behind_b}; {what}.",
        list(&of_a),
        list(&of_b)
    )]
}

/// Whether changes of a tool are known.
fn changes(tool: &str) -> bool {
    CHANGES.iter().any(|change| change.tool == tool)
}

/// The tools of one side; empty for runs of Stripewise.
fn made(runs: &[RunRecord]) -> BTreeSet<ToolVersion> {
    let imported = runs.iter().filter_map(|run| run.imported.as_ref());
    imported
        .filter(|imported| imported.tool != "dataset")
        .map(|imported| (imported.tool.clone(), imported.tool_version.clone()))
        .collect()
}

fn list(made: &BTreeSet<ToolVersion>) -> String {
    let each: Vec<String> = made
        .iter()
        .map(|(tool, version)| match version {
            Some(version) => format!("{tool} {version}"),
            None => format!("{tool} of a version that is not named"),
        })
        .collect();
    each.join(", ")
}

/// `2.0.21a`, `3.33`, `2.3+` as numbers to compare.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let mut numbers = [0; 3];
    let mut parts = version.trim_start_matches('v').split(['.', '-']);
    for (at, number) in numbers.iter_mut().enumerate() {
        let Some(part) = parts.next() else {
            break;
        };
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        match digits.parse() {
            Ok(digits) => *number = digits,
            Err(_) if at == 0 => return None,
            Err(_) => break,
        }
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::Imported;

    fn side(tool: &str, version: Option<&str>) -> Vec<RunRecord> {
        vec![RunRecord {
            imported: Some(Imported {
                tool: tool.to_owned(),
                tool_version: version.map(str::to_owned),
                ..Imported::default()
            }),
            ..RunRecord::empty()
        }]
    }

    #[test]
    fn versions_with_other_defaults_are_not_compared_without_a_word() {
        let behind = ["on a", "on b"].map(str::to_owned);
        for (a, b, sentence_text) in [
            (
                ("diskspd", Some("2.2")),
                ("diskspd", Some("2.3")),
                Some("fast cores first"),
            ),
            (
                ("diskspd", Some("2.1")),
                ("diskspd", Some("2.2.0")),
                Some("in batches"),
            ),
            (
                ("diskspd", Some("2.0.17")),
                ("diskspd", Some("2.0.21a")),
                Some("generator"),
            ),
            (
                ("diskspd", None),
                ("diskspd", None),
                Some("do not name the version"),
            ),
            (
                ("diskspd", None),
                ("diskspd", Some("2.3")),
                Some("not named"),
            ),
            (
                ("fio", Some("3.7")),
                ("fio", Some("3.33")),
                Some("check that"),
            ),
            (
                ("fio", Some("3.33")),
                ("elbencho", Some("3.1-9")),
                Some("different tools"),
            ),
            (("diskspd", Some("2.2")), ("diskspd", Some("2.2")), None),
            (("fio", None), ("fio", None), None),
            (("dataset", None), ("sqlio", Some("v1.5.SG")), None),
        ] {
            let notes = tools(&side(a.0, a.1), &side(b.0, b.1), &behind);
            match sentence_text {
                None => assert!(notes.is_empty(), "{a:?} {b:?}: {notes:?}"),
                Some(sentence_text) => {
                    assert!(notes[0].contains(sentence_text), "{a:?} {b:?}: {notes:?}")
                }
            }
        }
        // Only changes between the two versions are listed.
        let notes = tools(
            &side("diskspd", Some("2.2")),
            &side("diskspd", Some("2.3")),
            &behind,
        );
        assert!(!notes[0].contains("in batches"), "{notes:?}");
    }
}
