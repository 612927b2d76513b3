//! Records as JSON and back.
//!
//! The text is pretty-printed with two spaces and ends in a newline. Printing, parsing and printing
//! again gives the same bytes: fields keep their order, floats are printed with the fewest digits
//! that restore the same value.

use crate::consistency::impossible_number;
use crate::{Document, RunRecord, SCHEMA_VERSION};

/// A document that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// Not JSON, or not of this structure.
    #[error("not a document of runs: {0}")]
    Malformed(#[source] serde_json::Error),
    /// A record has an impossible number: which, and where.
    #[error("{0}, which cannot have been measured")]
    Impossible(String),
    /// Another version of the document.
    #[error(
        "the document has schema version {found}, and this program reads {version}",
        version = SCHEMA_VERSION
    )]
    Version {
        /// The version found.
        found: u64,
    },
}

impl DocumentError {
    /// The next step.
    pub fn hint(&self) -> &'static str {
        match self {
            DocumentError::Malformed(_) => {
                "give a file that `stripewise run --json` or `stripewise history show --json` printed"
            }
            DocumentError::Impossible(_) => {
                "give the document as it was printed; this number was changed"
            }
            DocumentError::Version { .. } => "use the version of Stripewise that printed it",
        }
    }
}

impl Document {
    /// The document of these runs, in the order they ran.
    pub fn new(runs: Vec<RunRecord>) -> Document {
        Document {
            schema_version: SCHEMA_VERSION,
            runs,
            series: Vec::new(),
            comparisons: Vec::new(),
            requirements: Vec::new(),
        }
    }

    /// The text that `--json` prints.
    ///
    /// # Panics
    /// Never: all types in here can be serialised to JSON.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self)
            .expect("records have text keys only and no failing serialisers");
        text.push('\n');
        text
    }

    /// Parses the output of [`Document::to_json`]. Unknown fields are ignored, so a document of the
    /// same version with newer optional fields is accepted.
    ///
    /// # Errors
    /// [`DocumentError::Version`] for another version (checked first, so that it is reported even
    /// if the structure has changed), otherwise [`DocumentError::Malformed`] or
    /// [`DocumentError::Impossible`].
    pub fn from_json(text: &str) -> Result<Document, DocumentError> {
        #[derive(serde::Deserialize)]
        struct Versioned {
            schema_version: u64,
        }
        let versioned: Versioned = serde_json::from_str(text).map_err(DocumentError::Malformed)?;
        if versioned.schema_version != u64::from(SCHEMA_VERSION) {
            return Err(DocumentError::Version {
                found: versioned.schema_version,
            });
        }
        let document: Document = serde_json::from_str(text).map_err(DocumentError::Malformed)?;
        match document.runs.iter().find_map(impossible_number) {
            Some(what) => Err(DocumentError::Impossible(what)),
            None => Ok(document),
        }
    }
}
