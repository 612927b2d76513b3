//! Warnings in a record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stripewise_units::Hint;

/// Severity of a warning.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Informational; the number is valid.
    Note,
    /// The number may not be the disk's.
    Warning,
    /// The number is not the disk's.
    Void,
}

/// One warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Stable, kebab-case: `sparse-file`, `page-cache`, `cpu-bound`...
    pub code: String,
    /// Its severity.
    pub severity: Severity,
    /// The finding, with numbers.
    pub message: String,
    /// The message in at most about 60 characters, with its number; absent if the message begins
    /// this way: see [`Warning::in_short`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub short: String,
    /// How to resolve it.
    pub hint: Hint,
}

impl Warning {
    /// One short and complete line: the short form, otherwise the message up to its first colon or
    /// semicolon, after which messages explain.
    pub fn in_short(&self) -> &str {
        match self.short.as_str() {
            "" => {
                let end = self.message.find(": ").into_iter();
                let end = end.chain(self.message.find("; ")).min();
                &self.message[..end.unwrap_or(self.message.len())]
            }
            short => short,
        }
    }

    /// The same warning with a short form of its message.
    #[must_use]
    pub fn shortened(self, short: impl Into<String>) -> Warning {
        Warning {
            short: short.into(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_short_up_to_its_colon_or_has_a_short_form() {
        let warning = Warning {
            code: "zero-data".to_owned(),
            severity: Severity::Void,
            message: "9 of 10 blocks are zeros: devices skip them".to_owned(),
            short: String::new(),
            hint: Hint::plain(""),
        };
        assert_eq!(warning.in_short(), "9 of 10 blocks are zeros");
        assert_eq!(warning.shortened("zeros").in_short(), "zeros");
    }
}
