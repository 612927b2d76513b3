//! Warnings below an answer: at most five lines, the most severe first, one line each. Those
//! that follow from another one are left out, and those that concern only some rows of a table
//! have a number that these rows show too.

use crate::warnings::{collected, of_runs, severity_word};
use stripewise_results::{JobRecord, RunRecord, Warning};
use stripewise_units::counted;

/// Maximum number of lines, including the one that refers to the rest.
const LINES_MAX: usize = 5;

/// Columns per line.
const WIDTH: usize = 100;

/// In each pair, the second follows from the first and adds nothing.
const FOLLOWS: [(&str, &str); 10] = [
    ("sparse-file", "zero-data"),
    ("never-written", "zero-data"),
    ("in-memory", "device-saw-less"),
    ("page-cache", "device-saw-less"),
    ("errors", "few-operations"),
    ("few-operations", "few-for-p999"),
    ("cpu-bound", "outstanding-below-asked"),
    ("cpu-bound", "device-depth-below-asked"),
    ("outstanding-below-asked", "device-depth-below-asked"),
    ("smaller-than-cache", "narrow-span"),
];

/// The warnings to show, and the number of others.
pub(crate) fn chosen(runs: &[RunRecord]) -> (Vec<(&Warning, usize)>, usize) {
    let all = collected(runs);
    let follows = |warning: &Warning| {
        // A note is too weak to replace a warning.
        let says = |code: &str| {
            let mut all = all.iter();
            all.any(|(other, _)| other.code == code && other.severity >= warning.severity)
        };
        let mut pairs = FOLLOWS.iter();
        pairs.any(|(cause, effect)| *effect == warning.code && says(cause))
    };
    let mut chosen: Vec<_> = (all.iter())
        .filter(|(warning, _)| !follows(warning))
        .copied()
        .collect();
    // One line is reserved for the rest.
    chosen.truncate(LINES_MAX - 1);
    let left_out = all.len() - chosen.len();
    (chosen, left_out)
}

/// The numbers of the warnings of a job and its run, as shown in the row of a table:
/// `[1,3]`; empty if there are none. Only warnings of some of the runs have one, and
/// only if a row of the table has them.
pub(crate) struct Marks<'a>(Vec<&'a str>);

impl<'a> Marks<'a> {
    /// For a table without rows of runs.
    pub(crate) const NONE: Marks<'static> = Marks(Vec::new());

    /// For a table with a row for each run for which `is_row` is true; `explain`: all warnings
    /// are printed, not only the most severe.
    pub(crate) fn of(
        runs: &'a [RunRecord],
        explain: bool,
        is_row: impl Fn(&RunRecord) -> bool,
    ) -> Marks<'a> {
        let printed = match explain {
            true => collected(runs),
            false => chosen(runs).0,
        };
        let rows: Vec<&RunRecord> = runs.iter().filter(|run| is_row(run)).collect();
        let is_of_some = |(warning, count): &(&Warning, usize)| {
            *count < runs.len() && rows.iter().any(|run| run.has_warning(&warning.code))
        };
        let of_some = printed.into_iter().filter(is_of_some);
        Marks(of_some.map(|(warning, _)| warning.code.as_str()).collect())
    }

    /// Whether no row has one.
    pub(crate) fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// ` [1]`, placed after the code of a warning.
    pub(crate) fn of_warning(&self, code: &str) -> String {
        let at = self.0.iter().position(|other| *other == code);
        at.map_or_else(String::new, |at| format!(" [{}]", at + 1))
    }

    /// For a run with a single row, whatever jobs it has.
    pub(crate) fn of_run(&self, run: &RunRecord) -> String {
        self.listed(|code| run.has_warning(code))
    }

    pub(crate) fn of_row(&self, run: &RunRecord, job: &JobRecord) -> String {
        let has = |code: &str| {
            let mut all = job.warnings.iter().chain(&run.warnings);
            all.any(|warning| warning.code == code)
        };
        self.listed(has)
    }

    fn listed(&self, has: impl Fn(&str) -> bool) -> String {
        let numbers: Vec<String> = (1..)
            .zip(&self.0)
            .filter(|(_, code)| has(code))
            .map(|(number, _): (usize, _)| number.to_string())
            .collect();
        match numbers.is_empty() {
            true => String::new(),
            false => format!("[{}]", numbers.join(",")),
        }
    }
}

/// The warnings of runs in at most five lines; the last one says how to see the rest.
#[must_use]
pub fn warnings_brief(runs: &[RunRecord]) -> String {
    brief(runs, &Marks::NONE)
}

/// The same, below a table whose rows have `marks`.
pub(crate) fn brief(runs: &[RunRecord], marks: &Marks<'_>) -> String {
    let (chosen, left_out) = chosen(runs);
    let mut text = String::new();
    for (warning, count) in &chosen {
        let line = format!(
            "{}[{}]{}: {}",
            severity_word(warning.severity),
            warning.code,
            marks.of_warning(&warning.code),
            warning.message
        );
        text.push_str(&cut(&line, &of_runs(warning, *count, runs)));
        text.push('\n');
    }
    if !chosen.is_empty() {
        let rest = match left_out {
            0 => String::new(),
            more => format!(
                "{}, and ",
                counted(more, "more warning or note", "more warnings and notes")
            ),
        };
        text.push_str(&format!("--explain shows {rest}what to do about each.\n"));
    }
    text
}

/// A line of at most [`WIDTH`] columns that ends with `end`; text that does not fit is replaced
/// by `...` at the end of a word.
fn cut(line: &str, end: &str) -> String {
    let room = WIDTH.saturating_sub(end.chars().count());
    if line.chars().count() <= room {
        return format!("{line}{end}");
    }
    let short: String = line.chars().take(room.saturating_sub(3)).collect();
    let short = short
        .rsplit_once(' ')
        .map_or(short.as_str(), |(words, _)| words);
    format!("{}...{end}", short.trim_end_matches([',', ':', ';']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::Severity;
    use stripewise_units::Hint;

    fn warning(code: &str, severity: Severity, message: &str) -> Warning {
        Warning {
            code: code.to_owned(),
            severity,
            message: message.to_owned(),
            short: String::new(),
            hint: Hint::plain("do something"),
        }
    }

    fn run(codes: &[(&str, Severity)]) -> RunRecord {
        RunRecord {
            warnings: codes
                .iter()
                .map(|(code, severity)| warning(code, *severity, &"words ".repeat(40)))
                .collect(),
            ..RunRecord::empty()
        }
    }

    #[test]
    fn there_are_at_most_five_lines_of_a_hundred_columns_and_the_gravest_come_first() {
        use Severity::{Note, Void, Warning};
        let all = [
            ("quick-run", Note),
            ("cpu-bound", Warning),
            ("outstanding-below-asked", Warning),
            ("zero-data", Void),
            ("other-load", Warning),
            ("narrow-span", Note),
            ("clock-jump", Warning),
        ];
        let text = warnings_brief(&[run(&all)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        assert!(
            lines.iter().all(|line| line.chars().count() <= 100),
            "{text}"
        );
        assert!(lines[0].starts_with("VOID[zero-data]: words"), "{text}");
        // It follows from cpu-bound.
        assert!(!text.contains("outstanding-below-asked"), "{text}");
        assert_eq!(
            lines[4],
            "--explain shows 3 more warnings and notes, and what to do about each."
        );
        assert_eq!(warnings_brief(&[run(&[])]), "");
        let one = warnings_brief(&[run(&[("quick-run", Note)])]);
        assert!(
            one.ends_with("--explain shows what to do about each.\n"),
            "{one}"
        );
    }

    #[test]
    fn warnings_of_some_rows_have_a_number_that_stands_in_these_rows() {
        use Severity::Warning;
        let runs = [
            run(&[("cpu-bound", Warning), ("other-load", Warning)]),
            run(&[("cpu-bound", Warning)]),
            run(&[
                ("cpu-bound", Warning),
                ("clock-jump", Warning),
                ("other-load", Warning),
            ]),
        ];
        assert!(!warnings_brief(&runs).contains("[1]"));
        let marks = Marks::of(&runs, false, |_| true);
        let text = brief(&runs, &marks);
        assert!(text.contains("warning[cpu-bound]: "), "{text}");
        assert!(text.contains("warning[other-load] [1]: "), "{text}");
        assert!(text.contains("warning[clock-jump] [2]: "), "{text}");
        assert!(text.contains("... (in 2 of 3 runs)"), "{text}");
        let of_rows: Vec<String> = runs.iter().map(|run| marks.of_run(run)).collect();
        assert_eq!(of_rows, ["[1]", "", "[1,2]"]);
        // The third run has no row, so its clock-jump has no number.
        let two = |run: &RunRecord| run.warnings.len() < 3;
        let text = brief(&runs, &Marks::of(&runs, false, two));
        assert!(text.contains("warning[other-load] [1]: "), "{text}");
        assert!(text.contains("warning[clock-jump]: "), "{text}");
    }
}
