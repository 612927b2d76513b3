//! Where numbers of devices and files are not asked for: what a target is, by its full name.

use crate::identity::Identity;
use std::path::Path;
use stripewise_machine::System;
use stripewise_units::NameText;

/// The file or device of this name; none where a file's name leads to none.
pub fn identity(_system: &System, path: &Path) -> Option<Identity> {
    let text = path.as_text();
    let own = match text.starts_with(r"\\.\") {
        // Drives have names without regard to case, and no other path.
        true => text.to_lowercase(),
        false => std::fs::canonicalize(path).ok()?.as_text(),
    };
    Some(Identity {
        own,
        on: Vec::new(),
    })
}
