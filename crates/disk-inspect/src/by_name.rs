//! Identity by full name, for systems without device and file numbers.

use crate::identity::Identity;
use std::path::Path;
use stripewise_machine::System;
use stripewise_units::NameText;

/// The file or device of this name; `None` if no such file exists.
pub fn identity(_system: &System, path: &Path) -> Option<Identity> {
    let text = path.as_text();
    let own = match text.starts_with(r"\\.\") {
        // Drive names are case-insensitive; other paths are not.
        true => text.to_lowercase(),
        false => std::fs::canonicalize(path).ok()?.as_text(),
    };
    Some(Identity {
        own,
        on: Vec::new(),
    })
}
