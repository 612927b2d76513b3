//! A hint as data: words, and the run options that they name.
//!
//! Lower-level crates know the options, but not how the user sets them: a switch of one command is
//! a key in a plan and may not exist in another command. So a hint marks the options in its words,
//! and the user interface inserts their local names.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Deref, Range};

/// Markers around an option in the source text of a hint.
const OPENS: &str = "<--";
const CLOSES: char = '>';

/// A hint: a sentence in which run options are marked.
///
/// It reads as text for `stripewise run`, whose switches have the names of the options. Two hints
/// are equal if that text is.
///
/// ```
/// use stripewise_units::Hint;
///
/// let hint = Hint::from("measure longer: <--duration> 3s");
/// assert_eq!(&*hint, "measure longer: --duration 3s");
/// assert_eq!(hint.worded(|option| format!("{option} =")), "measure longer: duration = 3s");
/// ```
#[derive(Clone, Debug, Default, schemars::JsonSchema)]
#[schemars(into = "String", from = "String")]
pub struct Hint {
    text: String,
    /// Positions of the option names in the text, including their dashes.
    options: Vec<Range<usize>>,
}

impl Hint {
    /// A hint without options, whatever the text contains.
    pub fn plain(text: impl Into<String>) -> Hint {
        Hint {
            text: text.into(),
            options: Vec::new(),
        }
    }

    /// The options it names, without dashes; duplicates are kept.
    pub fn options(&self) -> impl Iterator<Item = &str> {
        let names = self
            .options
            .iter()
            .filter_map(|at| self.text.get(at.clone()));
        names.map(|name| name.trim_start_matches('-'))
    }

    /// The sentence with different names for the options.
    pub fn worded(&self, name: impl Fn(&str) -> String) -> String {
        let mut words = String::with_capacity(self.text.len());
        let mut end = 0;
        for (at, option) in self.options.iter().zip(self.options()) {
            words.push_str(self.text.get(end..at.start).unwrap_or_default());
            words.push_str(&name(option));
            end = at.end;
        }
        words.push_str(self.text.get(end..).unwrap_or_default());
        words
    }

    /// `None` if it is empty.
    #[must_use]
    pub fn unless_empty(self) -> Option<Hint> {
        (!self.text.is_empty()).then_some(self)
    }
}

/// Length of the option name at the start of a text.
fn name_length(text: &str) -> Option<usize> {
    let is_name = |sign: char| sign.is_ascii_lowercase() || sign == '-';
    let length = text.find(|sign| !is_name(sign))?;
    (length > 0 && text[length..].starts_with(CLOSES)).then_some(length)
}

/// Options are marked: `<--size>`.
impl From<&str> for Hint {
    fn from(marked: &str) -> Hint {
        let mut hint = Hint::default();
        let mut rest = marked;
        while let Some(at) = rest.find(OPENS) {
            let name_at = at + OPENS.len();
            let Some(length) = name_length(&rest[name_at..]) else {
                hint.text.push_str(&rest[..name_at]);
                rest = &rest[name_at..];
                continue;
            };
            hint.text.push_str(&rest[..at]);
            let start = hint.text.len();
            hint.text.push_str("--");
            hint.text.push_str(&rest[name_at..name_at + length]);
            hint.options.push(start..hint.text.len());
            rest = &rest[name_at + length + 1..];
        }
        hint.text.push_str(rest);
        hint
    }
}

impl From<String> for Hint {
    fn from(marked: String) -> Hint {
        match marked.contains(OPENS) {
            true => Hint::from(marked.as_str()),
            false => Hint::plain(marked),
        }
    }
}

impl From<&String> for Hint {
    fn from(marked: &String) -> Hint {
        Hint::from(marked.as_str())
    }
}

impl From<&Hint> for Hint {
    fn from(hint: &Hint) -> Hint {
        hint.clone()
    }
}

impl Deref for Hint {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl PartialEq for Hint {
    fn eq(&self, other: &Hint) -> bool {
        self.text == other.text
    }
}

impl Eq for Hint {}

impl PartialEq<str> for Hint {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl Serialize for Hint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// Stored text is read unchanged: in the words of `run`.
impl<'de> Deserialize<'de> for Hint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hint, D::Error> {
        String::deserialize(deserializer).map(Hint::plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_where_they_are_marked_and_nowhere_else() {
        let cases: [(&str, &str, &[&str]); 6] = [
            (
                "use <--engine> threads",
                "use --engine threads",
                &["engine"],
            ),
            (
                "a smaller <--block>, or <--base-offset>",
                "a smaller --block, or --base-offset",
                &["block", "base-offset"],
            ),
            ("`losetup --direct-io=on`", "`losetup --direct-io=on`", &[]),
            (
                "a < b, <--, <-->, <--Size>",
                "a < b, <--, <-->, <--Size>",
                &[],
            ),
            ("", "", &[]),
            ("ends in <--size", "ends in <--size", &[]),
        ];
        for (marked, text, options) in cases {
            let hint = Hint::from(marked);
            assert_eq!(&*hint, text, "{marked}");
            assert_eq!(hint.options().collect::<Vec<_>>(), options, "{marked}");
        }
        assert_eq!(&*Hint::plain("in <--size>"), "in <--size>");
    }

    #[test]
    fn each_front_end_has_names_of_its_own() {
        let hint = Hint::from("raise <--duration> to 4s, or lower <--rate>");
        let keys = hint.worded(|option| format!("`{option}`"));
        assert_eq!(keys, "raise `duration` to 4s, or lower `rate`");
        assert_eq!(hint.worded(|option| format!("--{option}")), &*hint);
    }

    #[test]
    fn it_is_written_and_read_as_text() {
        let hint = Hint::from("use <--engine> threads");
        let json = serde_json::to_string(&hint).unwrap();
        assert_eq!(json, "\"use --engine threads\"");
        assert_eq!(serde_json::from_str::<Hint>(&json).unwrap(), hint);
    }
}
