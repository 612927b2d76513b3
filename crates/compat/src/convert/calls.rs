//! A batch file with calls of a tool: walks its lines once, for any tool, and records problems with
//! the line number.

use super::Surroundings;
use super::plan::{JobText, PlanText};
use crate::text::{Line, lines, squeezed};
use crate::{Error, LineProblem};
use stripewise_units::{is_typeset_dash, typeset};

/// A longer line is not a call.
const LENGTH_MAX: usize = 4_096;
const PROBLEMS_MAX: usize = 100;

/// Error messages for a file with a bad call, or without any.
pub(super) struct Words<'a> {
    /// Hint for calls that cannot be parsed.
    pub(super) bad_call: &'a str,
    /// `contains no call of sqlio`.
    pub(super) no_call: &'a str,
    /// An example of a call.
    pub(super) example: &'a str,
}

/// Passes on each line that is neither empty nor a comment, with single spaces between words;
/// `call` returns `None` where the line calls nothing.
///
/// # Errors
/// Calls that cannot be parsed, by line; a text without any.
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
        if squeezed.is_empty()
            || squeezed.len() > LENGTH_MAX
            || is_remark(&squeezed)
            || is_of_files(&squeezed)
        {
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

/// The rest of a line after a program called by one of these names, with or without a prompt,
/// directories and quotation marks; directories may have the same names.
pub(super) fn behind_program<'a>(
    words: &'a str,
    names: &[&str],
    is_call: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let lower = words.to_ascii_lowercase();
    let found = names.iter().flat_map(|name| {
        let each = lower.match_indices(name);
        let called = each.filter(|(at, _)| !is_value_of_switch(&lower[..*at]));
        called.map(move |(at, _)| at + name.len())
    });
    found.into_iter().find_map(|end| {
        let rest = &lower[end..];
        let rest = rest.strip_prefix(".exe").unwrap_or(rest);
        let rest = rest.trim_start_matches(['"', '\'', '\u{201c}', '\u{201d}']);
        let rest = rest.strip_prefix(' ').filter(|rest| is_call(rest))?;
        Some(&words[words.len() - rest.len()..])
    })
}

/// Whether the name is the value of another program's option, `-OutPath "c:\\diskspd"`.
fn is_value_of_switch(before: &str) -> bool {
    let is_quoted = before.matches('"').count() % 2 == 1;
    let begin = before.rfind(if is_quoted { '"' } else { ' ' });
    let words = before[..begin.unwrap_or(0)].trim_end();
    let last = words.rsplit(' ').next().unwrap_or_default();
    let mut letters = last.chars();
    letters.next() == Some('-') && letters.next().is_some_and(char::is_alphabetic)
}

/// The error for switches that begin with a typographic dash.
pub(super) fn dashes(words: &str, names: &[&str]) -> Option<String> {
    let rest = behind_program(words, names, |rest| rest.starts_with(is_typeset_dash))?;
    wrong_keyword(rest.split(' ').next().unwrap_or(rest))
}

/// Why a word of a call is invalid: it is typographic, a variable or a placeholder, or the call
/// continues on the next line.
pub(super) fn wrong_keyword(word: &str) -> Option<String> {
    if matches!(word, "`" | "^" | "\\") {
        return Some(format!(
            "goes on in the next line ({word}): write it in one"
        ));
    }
    if word.contains('<') {
        return Some(format!("has the placeholder {word}: give what is meant"));
    }
    if let Some(sign) = typeset(word) {
        return Some(format!("has {word}: {}", sign.hint()));
    }
    let mut behind_dollar = word.split('$').skip(1);
    // `\\\\server\\d$\\test.dat` is a share.
    let is_variable = word.contains('%')
        || word.matches('!').count() > 1
        || behind_dollar.any(|rest| {
            rest.starts_with(|sign: char| sign.is_ascii_alphabetic() || "_{(".contains(sign))
        });
    is_variable.then(|| format!("has the variable {word}, whose value is not known"))
}

/// Commands that handle the program as a file and do not call it.
const OF_FILES: [&str; 34] = [
    "copy-item",
    "cp",
    "copy",
    "xcopy",
    "robocopy",
    "move-item",
    "mv",
    "move",
    "rename-item",
    "ren",
    "remove-item",
    "rm",
    "del",
    "erase",
    "test-path",
    "get-item",
    "get-childitem",
    "dir",
    "ls",
    "where",
    "where.exe",
    "get-command",
    "icacls",
    "unblock-file",
    "taskkill",
    "tasklist",
    "stop-process",
    "get-process",
    "invoke-webrequest",
    "curl",
    "wget",
    "write-host",
    "write-output",
    "set-alias",
];

/// Whether a line, after a prompt, copies or searches for the program, or prints its name.
fn is_of_files(words: &str) -> bool {
    let words = match words.split_once('>') {
        Some((prompt, rest)) if prompt.contains(":\\") => rest.trim_start(),
        _ => words,
    };
    let first = words.split(' ').next().unwrap_or_default();
    let first = first.trim_start_matches('@').to_ascii_lowercase();
    OF_FILES.contains(&first.as_str())
}

fn is_remark(words: &str) -> bool {
    let lower = words.to_ascii_lowercase();
    let bare = lower.trim_start_matches('@');
    ["rem ", "::", "#", "echo ", "-- ", "//"]
        .iter()
        .any(|begin| bare.starts_with(begin))
}

/// Adds a Windows name as a target of the job; an unknown one stays as it is, with a note.
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
