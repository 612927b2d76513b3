//! A plan under construction, and its text.

use super::{Converted, Tool};
use crate::{Error, Note};
use std::collections::HashSet;
use std::fmt::Write;
use stripewise_workload::Plan;

/// One `[[job]]`.
#[derive(Clone, Debug, Default)]
pub(super) struct JobText {
    pub(super) name: String,
    pub(super) targets: Vec<String>,
    /// Keys and values in TOML syntax.
    pub(super) pairs: Vec<(&'static str, String)>,
    /// Its origin, as a comment above it.
    pub(super) origin: String,
}

impl JobText {
    /// Adds a switch without a value.
    pub(super) fn flag(&mut self, key: &'static str) {
        self.pairs.push((key, "true".to_owned()));
    }

    /// Adds a number.
    pub(super) fn number(&mut self, key: &'static str, value: u64) {
        self.pairs.push((key, value.to_string()));
    }

    /// Adds a string.
    pub(super) fn text(&mut self, key: &'static str, value: &str) {
        self.pairs.push((key, quoted(value)));
    }

    /// Adds a size, in the largest unit that divides it.
    pub(super) fn size(&mut self, key: &'static str, bytes: u64) {
        let units = [(40, "T"), (30, "G"), (20, "M"), (10, "K")];
        let unit = units
            .iter()
            .find(|(shift, _)| bytes > 0 && bytes.is_multiple_of(1 << shift));
        match unit {
            Some((shift, letter)) => self.text(key, &format!("{}{letter}", bytes >> shift)),
            None => self.text(key, &format!("{bytes}B")),
        }
    }

    /// Adds a time, in the largest unit that divides it.
    pub(super) fn time(&mut self, key: &'static str, ns: u64) {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
        let unit = units.iter().find(|(unit, _)| ns.is_multiple_of(*unit));
        match unit {
            Some((unit, name)) => self.text(key, &format!("{}{name}", ns / unit)),
            None => self.text(key, &format!("{ns}ns")),
        }
    }
}

/// The plan.
#[derive(Debug)]
pub(super) struct PlanText {
    tool: Tool,
    label: String,
    /// Jobs run one after the other rather than all at once.
    pub(super) alone: bool,
    pub(super) jobs: Vec<JobText>,
    pub(super) notes: Vec<Note>,
    noted: HashSet<String>,
    /// Options without a counterpart that do not affect the load, and the line of the first.
    left_out: Vec<String>,
    left_out_line: u64,
}

impl PlanText {
    pub(super) fn new(tool: Tool, source_name: &str) -> PlanText {
        PlanText {
            tool,
            label: format!("converted from {tool}: {source_name}"),
            alone: true,
            jobs: Vec::new(),
            notes: Vec::new(),
            noted: HashSet::new(),
            left_out: Vec::new(),
            left_out_line: 0,
        }
    }

    /// Notes what is not converted; a note made for one line is not repeated for others.
    pub(super) fn note(&mut self, line: u64, message: impl Into<String>) {
        let message = message.into();
        if self.noted.len() < 1_000 && self.noted.insert(message.clone()) {
            self.notes.push(Note {
                line: Some(line),
                message,
            });
        }
    }

    /// An option that affects what is printed, or how operations are done, but not which
    /// operations.
    pub(super) fn leave_out(&mut self, option: &str, line: u64) {
        // They only describe a job.
        if ["name", "description"].contains(&option) {
            return;
        }
        if self.left_out.is_empty() {
            self.left_out_line = line;
        }
        if self.left_out.len() < 256 && !self.left_out.iter().any(|known| known == option) {
            self.left_out.push(option.to_owned());
        }
    }

    pub(super) fn finish(mut self, source_name: &str) -> Result<Converted, Error> {
        if !self.left_out.is_empty() {
            let names = self.left_out.join(", ");
            let verb = match self.left_out.len() {
                1 => "is left out: it changes",
                _ => "are left out: they change",
            };
            let message = format!(
                "{names} {verb} what is printed, or how it is done, not which operations there are"
            );
            self.note(self.left_out_line, message);
        }
        let text = self.text();
        if let Err(error) = text.parse::<Plan>() {
            return Err(Error::new(
                source_name,
                format!("asks for something that a plan cannot express: {error}"),
                error.hint().to_string(),
            ));
        }
        Ok(Converted {
            plan: text,
            notes: self.notes,
        })
    }

    fn text(&self) -> String {
        let mut text = format!(
            "# A plan for `stripewise run --plan FILE`, converted from {}.\n",
            self.tool
        );
        if !self.notes.is_empty() {
            text.push_str("# Not carried over, or to be checked:\n");
        }
        for note in &self.notes {
            let clean = note.to_string().replace(char::is_control, " ");
            let _ = writeln!(text, "# - {clean}");
        }
        let _ = writeln!(text, "label = {}", quoted(&self.label));
        let order = if self.alone { "alone" } else { "together" };
        let _ = writeln!(text, "run = \"{order}\"");
        let mut names = HashSet::new();
        for job in &self.jobs {
            let clean = job.origin.replace(char::is_control, " ");
            let _ = writeln!(text, "\n# {clean}\n[[job]]");
            let _ = writeln!(text, "name = {}", quoted(&unique(&job.name, &mut names)));
            let targets: Vec<String> = job.targets.iter().map(|target| quoted(target)).collect();
            match targets.as_slice() {
                [one] => {
                    let _ = writeln!(text, "target = {one}");
                }
                several => {
                    let _ = writeln!(text, "target = [{}]", several.join(", "));
                }
            }
            for (key, value) in &job.pairs {
                let _ = writeln!(text, "{key} = {value}");
            }
        }
        text
    }
}

/// A name of 1 to 56 bytes that no earlier job has.
fn unique(name: &str, names: &mut HashSet<String>) -> String {
    let mut short: String = name.chars().filter(|sign| !sign.is_control()).collect();
    while short.len() > 48 {
        short.pop();
    }
    if short.is_empty() {
        short.push_str("job");
    }
    let mut unique = short.clone();
    let mut number = 1;
    while !names.insert(unique.clone()) {
        number += 1;
        unique = format!("{short}#{number}");
    }
    unique
}

/// A quoted TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for sign in text.chars() {
        match sign {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(sign);
            }
            sign if sign.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(sign));
            }
            sign => quoted.push(sign),
        }
    }
    quoted.push('"');
    quoted
}
