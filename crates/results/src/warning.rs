//! What a record says about itself.

use serde::{Deserialize, Serialize};
use stripewise_units::Hint;

/// How much a warning matters.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; the number is what it says it is.
    Note,
    /// The number may not be the disk's.
    Warning,
    /// The number is not the disk's.
    Void,
}

/// One warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Warning {
    /// Stable, kebab-case: `sparse-file`, `page-cache`, `cpu-bound`...
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// What is the case, with numbers.
    pub message: String,
    /// What to do about it.
    pub hint: Hint,
}
