//! A batch file with calls of a tool: its lines are walked once, whatever the
//! tool is, and what is wrong with a call is kept with the number of its line.

use super::Surroundings;
use super::plan::{JobText, PlanText};
use crate::text::{Line, lines, squeezed};
use crate::{Error, LineProblem};

/// A line beyond this is no call of anything.
const LENGTH_MAX: usize = 4_096;
const PROBLEMS_MAX: usize = 100;

/// What is said of a file that has a bad call, or none at all.
pub(super) struct Words<'a> {
    /// What to do about calls that cannot be understood.
    pub(super) bad_call: &'a str,
    /// `contains no call of sqlio`.
    pub(super) no_call: &'a str,
    /// What a call looks like.
    pub(super) example: &'a str,
}

/// Hands out each line that is neither empty nor a remark, with single blanks
/// between its words; `call` says `None` where it calls nothing.
///
/// # Errors
/// Calls that cannot be understood, by line; a text without any.
pub(super) fn each_call(
    text: &str,
    source_name: &str,
    words: &Words<'_>,
    plan: &mut PlanText,
    mut call: impl FnMut(Line<'_>, &str, &mut PlanText) -> Option<Result<(), String>>,
) -> Result<(), Error> {
    let mut problems = Vec::new();
    let mut calls = 0;
    for line in lines(text) {
        let squeezed = squeezed(line.text);
        if squeezed.is_empty() || squeezed.len() > LENGTH_MAX || is_remark(&squeezed) {
            continue;
        }
        let Some(done) = call(line, &squeezed, plan) else {
            continue;
        };
        calls += 1;
        if let Err(reason) = done {
            problems.push(LineProblem {
                line: line.number,
                reason,
            });
        }
        if problems.len() >= PROBLEMS_MAX || plan.jobs.len() > super::JOBS_MAX {
            break;
        }
    }
    if !problems.is_empty() {
        return Err(Error::of_lines(source_name, problems, words.bad_call));
    }
    if calls == 0 {
        let hint = format!("expected lines such as `{}`", words.example);
        return Err(Error::new(source_name, words.no_call, hint));
    }
    Ok(())
}

fn is_remark(words: &str) -> bool {
    let lower = words.to_ascii_lowercase();
    let bare = lower.trim_start_matches('@');
    ["rem ", "::", "#", "echo "]
        .iter()
        .any(|begin| bare.starts_with(begin))
}

/// A name of Windows becomes a target of the job; one that nothing is known of
/// stays as it is, and is noted.
pub(super) fn add_target(
    job: &mut JobText,
    name: &str,
    line: u64,
    surroundings: &Surroundings<'_>,
    plan: &mut PlanText,
) {
    let target = (surroundings.target)(name);
    if target.is_none() {
        plan.note(
            line,
            format!("{name}: map it to a path here, with --drive or in the plan"),
        );
    }
    job.targets.push(target.unwrap_or_else(|| name.to_owned()));
}
