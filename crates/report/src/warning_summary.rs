//! Warnings below an answer: at most five lines, the most severe first. Those
//! that follow from another one are left out, and those that concern only some rows of a table
//! have a number that these rows show too.

use crate::warnings::collected;
use stripewise_results::{JobRecord, RunRecord, Warning};

/// Maximum number of lines, including the one that refers to the rest.
const LINES_MAX: usize = 5;

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
    fn four_are_shown_the_gravest_first_and_none_that_follows_from_another() {
        use Severity::{Note, Void, Warning};
        let runs = [run(&[
            ("quick-run", Note),
            ("cpu-bound", Warning),
            ("outstanding-below-asked", Warning),
            ("zero-data", Void),
            ("other-load", Warning),
            ("narrow-span", Note),
            ("clock-jump", Warning),
        ])];
        let (shown, left_out) = chosen(&runs);
        assert_eq!((shown.len(), left_out), (4, 3));
        assert_eq!(shown[0].0.code, "zero-data");
        // It follows from cpu-bound.
        let follows = |(warning, _): &(&stripewise_results::Warning, usize)| {
            warning.code == "outstanding-below-asked"
        };
        assert!(!shown.iter().any(follows));
        assert_eq!(chosen(&[run(&[])]).1, 0);
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
        let numbers = |marks: &Marks<'_>| {
            ["cpu-bound", "other-load", "clock-jump"].map(|code| marks.of_warning(code))
        };
        assert_eq!(numbers(&Marks::NONE), ["", "", ""]);
        let marks = Marks::of(&runs, false, |_| true);
        assert_eq!(numbers(&marks), ["", " [1]", " [2]"]);
        let of_rows: Vec<String> = runs.iter().map(|run| marks.of_run(run)).collect();
        assert_eq!(of_rows, ["[1]", "", "[1,2]"]);
        // The third run has no row, so its clock-jump has no number.
        let two = |run: &RunRecord| run.warnings.len() < 3;
        let marks = Marks::of(&runs, false, two);
        assert_eq!(numbers(&marks), ["", " [1]", ""]);
    }
}
