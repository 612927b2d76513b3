//! Array files and overrides: text in, a checked specification out.
//!
//! The TOML parser keeps the position of every value, so that each error names its line. Unknown
//! keys are errors: a misspelt key would otherwise silently simulate something else. Input is
//! untrusted; nothing here panics, and no value reaches the model unchecked.

use super::error::SpecError;
use super::keys::{KEYS, find, shortened, unknown};
use super::{ArraySpec, bundled};
use crate::layout::Level;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use stripewise_units::{Typeset, nearest, typeset_quote_at};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Larger files are rejected without reading them.
const FILE_BYTES_MAX: usize = 256 << 10;

impl ArraySpec {
    /// Parses and checks an array file. `origin` names it in errors.
    ///
    /// # Errors
    /// The first problem by line: not TOML, an unknown key, a value outside its range, or
    /// conflicting values.
    pub fn parse(text: &str, origin: &str) -> Result<ArraySpec, SpecError> {
        parse(text).map_err(|error| error.of(origin))
    }

    /// Sets one key from text, as in `offset=63s`. Checks only this value; [`ArraySpec::check`]
    /// checks values against each other.
    ///
    /// # Errors
    /// Unknown keys, and values outside their range.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        find(key)?.set(self, value)
    }

    /// The value of a key as written in a file, without quotes; `None` if there is no such key.
    pub fn value(&self, key: &str) -> Option<String> {
        let value = find(key).ok()?.value(self);
        Some(value.trim_matches('"').to_owned())
    }

    /// The full path of a possibly shortened key, `disk.rpm` for `rpm`; `None` if there is no such
    /// key.
    pub fn key_path(key: &str) -> Option<&'static str> {
        find(key).ok().map(|key| key.path)
    }

    /// Applies overrides in the form used after a name, `offset=63s&disks=4`, and checks the
    /// result.
    ///
    /// # Errors
    /// As [`ArraySpec::set`] and [`ArraySpec::check`].
    pub fn with_overrides(mut self, overrides: &str) -> Result<ArraySpec, SpecError> {
        for pair in overrides.split('&').filter(|pair| !pair.is_empty()) {
            let Some((key, value)) = pair.split_once('=') else {
                let hint = "overrides are written key=value and joined by &: offset=63s&disks=4";
                return Err(SpecError::new(
                    &shortened(pair),
                    "this override has no value",
                    hint,
                ));
            };
            self.set(key.trim(), value.trim())?;
        }
        self.check()?;
        Ok(self)
    }

    /// Parses the text after `sim:`: a bundled name or a file, `?` and overrides. The caller reads
    /// files, through `read`.
    ///
    /// # Errors
    /// As [`ArraySpec::parse`] and [`ArraySpec::with_overrides`], and errors from `read`.
    pub fn from_target(
        target: &str,
        read: impl FnOnce(&str) -> std::io::Result<String>,
    ) -> Result<ArraySpec, SpecError> {
        let (name, overrides) = target.split_once('?').unwrap_or((target, ""));
        let spec = if let Some(bundled) = bundled().iter().find(|known| known.name == name) {
            bundled.spec()
        } else if std::path::Path::new(name)
            .extension()
            .is_some_and(|end| end == "toml")
        {
            let text = read(name).map_err(|error| {
                let hint =
                    "check the path; `stripewise sim list` shows the arrays that need no file";
                SpecError::new("", format!("cannot read the file: {error}"), hint).of(name)
            })?;
            ArraySpec::parse(&text, name)?
        } else {
            let names: Vec<_> = bundled().iter().map(|known| known.name).collect();
            let question = match nearest(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`? The arrays are"),
                None => "use one of".to_owned(),
            };
            let hint = format!(
                "{question} {}, or a file that ends in .toml",
                names.join(", ")
            );
            return Err(SpecError::new("", "there is no such array", hint).of(&shortened(name)));
        };
        spec.with_overrides(overrides)
            .map_err(|error| error.of(name))
    }

    /// The complete specification as an array file: every key, including defaults. Parsing it gives
    /// the same specification.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        let mut section = "";
        for key in KEYS {
            let (name, last) = key.path.split_once('.').unwrap_or(("", key.path));
            if !self.section_applies(name) {
                continue;
            }
            if name != section {
                section = name;
                let _ = write!(text, "\n[{name}]\n");
            }
            let _ = writeln!(text, "{last} = {}", key.value(self));
        }
        text
    }

    /// `[disk]` and `[ssd]` describe the same thing: the drives.
    fn section_applies(&self, section: &str) -> bool {
        match section {
            "disk" => self.drive == super::DriveKind::Disk,
            "ssd" => self.drive == super::DriveKind::Ssd,
            _ => true,
        }
    }
}

/// The content of a parsed file: text by key path, and each one's line.
type ParsedFile = BTreeMap<String, (String, usize)>;

fn parse(text: &str) -> Result<ArraySpec, SpecError> {
    if text.len() > FILE_BYTES_MAX {
        let hint = "an array file has about sixty keys; is this the right file?";
        return Err(SpecError::new("", "the file is larger than 256 KiB", hint));
    }
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map(|span| span.start);
        let line = at.map(|at| line_of(text, at));
        let problem = error.message().lines().next().unwrap_or("no TOML").to_owned();
        let hint = "lines are `key = value` under [section]; sizes and times are in quotes: \"64K\", \"4.5ms\"";
        let pasted = typeset_quote_at(text, at.unwrap_or(0));
        let hint = pasted.map_or_else(|| hint.to_owned(), Typeset::hint);
        SpecError::new("", problem, hint).at_line(line)
    })?;
    let mut parsed = ParsedFile::new();
    let mut problems = Vec::new();
    collect(text, "", table.get_ref(), &mut parsed, &mut problems);
    let mut spec = ArraySpec::default();
    let mut entries: Vec<_> = parsed.iter().collect();
    entries.sort_by_key(|(_, (_, line))| *line);
    for (path, (value, line)) in entries {
        let set = match KEYS.iter().find(|key| key.path == path) {
            Some(key) => key.set(&mut spec, value),
            None => Err(unknown(path)),
        };
        problems.extend(set.err().map(|error| error.at_line(Some(*line))));
    }
    if let Some(first) = problems.into_iter().min_by_key(SpecError::line) {
        return Err(first);
    }
    whole(&parsed, &mut spec)?;
    spec.check().map_err(|error| {
        let line = parsed.get(error.key()).map(|(_, line)| *line);
        error.at_line(line)
    })?;
    Ok(spec)
}

/// Checks the required keys, and rejects the section of the other kind of drive.
fn whole(parsed: &ParsedFile, spec: &mut ArraySpec) -> Result<(), SpecError> {
    if !parsed.contains_key("level") {
        let hint =
            "specify how the drives are organised: level = \"single\", or \"10\" with disks = 4";
        return Err(SpecError::new(
            "level",
            "the file does not have this key",
            hint,
        ));
    }
    if !parsed.contains_key("disks") && spec.level != Level::Single {
        let hint = format!(
            "level {:?} needs at least {}",
            spec.level,
            spec.level.disks_min()
        );
        return Err(SpecError::new(
            "disks",
            "the file does not have this key",
            hint,
        ));
    }
    let other = if spec.drive == super::DriveKind::Disk {
        "ssd."
    } else {
        "disk."
    };
    if let Some((path, (_, line))) = parsed.iter().find(|(path, _)| path.starts_with(other)) {
        let hint = "drive = \"disk\" takes [disk], drive = \"ssd\" takes [ssd]";
        let problem = "this array's drives are of the other kind";
        return Err(SpecError::new(path, problem, hint).at_line(Some(*line)));
    }
    Ok(())
}

/// Collects scalars; tables one level deep are sections, anything else is an error.
fn collect(
    text: &str,
    prefix: &str,
    table: &DeTable<'_>,
    parsed: &mut ParsedFile,
    problems: &mut Vec<SpecError>,
) {
    for (name, value) in table {
        let path = format!("{prefix}{}", name.get_ref());
        let line = line_of(text, name.span().start);
        match value.get_ref() {
            DeValue::Table(inner) if prefix.is_empty() => {
                let dotted = format!("{path}.");
                if KEYS.iter().any(|key| key.path.starts_with(&dotted)) {
                    collect(text, &dotted, inner, parsed, problems);
                } else {
                    let hint =
                        "sections are [disk], [ssd], [controller], [cache], [limit] and [faults]";
                    let problem = "there is no such section";
                    problems
                        .push(SpecError::new(&shortened(&path), problem, hint).at_line(Some(line)));
                }
            }
            _ => match scalar(value) {
                Some(value) => {
                    parsed.insert(path, (value, line));
                }
                None => {
                    let hint = "values are numbers, true or false, or text in quotes";
                    let problem = "this key takes a single value";
                    problems
                        .push(SpecError::new(&shortened(&path), problem, hint).at_line(Some(line)));
                }
            },
        }
    }
}

/// A scalar as text; `None` for dates, lists and tables.
fn scalar(value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(integer) if integer.radix() == 10 => Some(integer.as_str().to_owned()),
        DeValue::Integer(integer) => {
            let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok()?;
            Some(number.to_string())
        }
        DeValue::Float(float) => Some(float.as_str().to_owned()),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

fn line_of(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}
