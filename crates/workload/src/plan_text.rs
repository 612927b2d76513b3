//! Reads plan files: TOML whose values are the text that switches take. Errors name the line, the
//! key and the correct form.
//!
//! One reader for the plans of `run` and of experiments. It knows the grammar that they share -
//! tables of options named after switches, permissions refused - and nothing of a plan's structure.

use crate::{WorkloadError, WorkloadOptions};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use stripewise_units::{Hint, ParseError, Typeset, nearest, typeset_quote_at};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its position.
pub type PlanValue<'a> = Spanned<DeValue<'a>>;

/// Keys rejected with their own explanation.
const PERMISSIONS: [&str; 4] = ["destroy", "overwrite", "busy-ok", "keep"];

/// An invalid plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    line: usize,
    problem: String,
    hint: Hint,
}

impl PlanError {
    /// The line, from 1.
    pub const fn line(&self) -> usize {
        self.line
    }

    /// How to fix it.
    pub fn hint(&self) -> &Hint {
        &self.hint
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for PlanError {}

/// The options of one workload, with the position of each.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// As [`WorkloadOptions::set`] takes them.
    pub options: WorkloadOptions,
    /// Positions of the options that were set, by name.
    places: Vec<(String, Range<usize>)>,
}

impl PlanOptions {
    /// Where an option was set, if it was.
    pub fn place(&self, option: &str) -> Option<Range<usize>> {
        let mut places = self.places.iter();
        let found = places.find(|(name, _)| name == option);
        found.map(|(_, at)| at.clone())
    }
}

/// Reads values and tracks their positions.
#[derive(Clone, Copy, Debug)]
pub struct PlanReader<'a> {
    text: &'a str,
}

impl<'a> PlanReader<'a> {
    /// A reader of this text.
    pub const fn new(text: &'a str) -> Self {
        PlanReader { text }
    }

    /// Parses the document. `hint` describes the format of such a plan.
    ///
    /// # Errors
    /// If the text is not TOML.
    pub fn document(self, hint: &str) -> Result<Spanned<DeTable<'a>>, PlanError> {
        DeTable::parse(self.text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            let pasted = typeset_quote_at(self.text, at.start);
            let hint = pasted.map_or_else(|| hint.to_owned(), Typeset::hint);
            self.refuse(at, error.message(), hint)
        })
    }

    /// An error at a position in the text.
    pub fn refuse(
        self,
        at: Range<usize>,
        problem: impl Into<String>,
        hint: impl Into<Hint>,
    ) -> PlanError {
        let before = self.text.as_bytes().iter().take(at.start);
        PlanError {
            line: 1 + before.filter(|byte| **byte == b'\n').count(),
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    /// The keys and values of a table; `example` includes its brackets.
    ///
    /// # Errors
    /// If it is not a table.
    pub fn table<'v>(
        self,
        value: &'v PlanValue<'a>,
        example: &str,
    ) -> Result<&'v DeTable<'a>, PlanError> {
        value.get_ref().as_table().ok_or_else(|| {
            let hint = format!("write {example} on a line of its own, keys below");
            self.refuse(value.span(), "a table is needed here", hint)
        })
    }

    /// The tables of a list of tables, `[[key]]`.
    ///
    /// # Errors
    /// If it is not a list.
    pub fn tables<'v>(
        self,
        key: &str,
        value: &'v PlanValue<'a>,
    ) -> Result<&'v [PlanValue<'a>], PlanError> {
        let tables = value.get_ref().as_array().ok_or_else(|| {
            let hint = format!("{key}s are tables with double brackets: [[{key}]]");
            let problem = format!("`{key}` is not a list of tables");
            self.refuse(value.span(), problem, hint)
        })?;
        Ok(&**tables)
    }

    /// A quoted string.
    ///
    /// # Errors
    /// If it is another type.
    pub fn string(self, key: &str, value: &PlanValue<'_>) -> Result<String, PlanError> {
        value.get_ref().as_str().map(str::to_owned).ok_or_else(|| {
            let hint = format!("{key} = \"text in quotes\"");
            self.refuse(value.span(), format!("`{key}` is not text"), hint)
        })
    }

    /// The text as the switch would receive it.
    ///
    /// # Errors
    /// If it is more than one value, or a number that is not decimal.
    pub fn scalar(self, key: &str, value: &PlanValue<'_>) -> Result<String, PlanError> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str().to_owned()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            DeValue::Boolean(yes) => Ok(yes.to_string()),
            other => {
                let found = match other {
                    DeValue::Array(_) => "a list",
                    DeValue::Table(_) => "a table",
                    _ => "a date or another base than ten",
                };
                let problem = format!("`{key}` takes one value, not {found}");
                let hint = if WorkloadOptions::NAMES.contains(&key) {
                    format!("{key} = \"what --{key} takes\"; a plan has no grids")
                } else {
                    format!("{key} = \"text in quotes\", or a plain number")
                };
                Err(self.refuse(value.span(), problem, hint))
            }
        }
    }

    /// A value, parsed as its type.
    ///
    /// # Errors
    /// If it is not one value, or the type rejects it.
    pub fn parsed<T>(self, key: &str, value: &PlanValue<'_>) -> Result<T, PlanError>
    where
        T: FromStr<Err = ParseError>,
    {
        let parsed = self.scalar(key, value)?.parse();
        parsed.map_err(|error| self.bad_value(key, value, &error))
    }

    /// Consumes an entry of a table of options; returns false for an unknown key.
    ///
    /// # Errors
    /// If the option rejects the value.
    pub fn option(
        self,
        into: &mut PlanOptions,
        key: &str,
        value: &PlanValue<'_>,
    ) -> Result<bool, PlanError> {
        if !WorkloadOptions::NAMES.contains(&key) {
            return Ok(false);
        }
        let set = into.options.set(key, &self.scalar(key, value)?);
        set.map_err(|error| self.bad_value(key, value, &error))?;
        into.places.push((key.to_owned(), value.span()));
        Ok(true)
    }

    /// The error for a value that its key rejects.
    pub fn bad_value(self, key: &str, value: &PlanValue<'_>, error: &ParseError) -> PlanError {
        self.refuse(value.span(), format!("{key}: {error}"), error.hint())
    }

    /// The error for a workload with conflicting options, reported at the option concerned if it
    /// was set, otherwise at the workload's table.
    pub fn bad_workload(
        self,
        of: [&PlanOptions; 2],
        table: &Range<usize>,
        whose: &str,
        error: &WorkloadError,
    ) -> PlanError {
        let place = of.iter().find_map(|from| from.place(error.option()));
        let at = place.unwrap_or_else(|| table.clone());
        self.refuse(at, format!("{whose}: {error}"), error.hint())
    }

    /// The error for an unknown key; suggests the nearest known one.
    pub fn unknown(self, at: Range<usize>, key: &str, whose: &str, known: &[&str]) -> PlanError {
        let hint = if PERMISSIONS.contains(&key) {
            format!("permissions are given on the command line, each time: --{key}")
        } else {
            let keys = known.join(", ");
            match nearest(key, known.iter().copied()) {
                Some(word) => format!("did you mean `{word}`? The keys are {keys}"),
                None => format!("the keys are {keys}"),
            }
        };
        self.refuse(at, format!("`{key}` is not a key of {whose}"), hint)
    }
}
