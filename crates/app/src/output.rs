//! Files that the user asked for by name: reports, exports, plans.
//!
//! A file that is there already stays as it is: it is refused, never
//! overwritten or truncated, because nobody can tell whether it is wanted.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Writes a new file. If writing fails half way, what was written is removed.
pub fn write_new(path: &Path, bytes: &[u8]) -> Outcome<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(|error| refused(path, &error))?;
    file.write_all(bytes)
        .and_then(|()| file.flush())
        .map_err(|error| {
            // The name was made above, by nobody else.
            let _ = std::fs::remove_file(path);
            Failure::new(
                Exit::Target,
                format!("cannot write {}: {error}", path.display()),
                "make room there, or name a file elsewhere",
            )
        })
}

/// Writes a new file piece by piece. If that fails half way, what was written is
/// removed.
pub fn write_new_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Outcome<()>,
) -> Outcome<()> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(|error| refused(path, &error))?;
    let mut out = std::io::BufWriter::new(file);
    let written = write(&mut out).and_then(|()| {
        out.flush().map_err(|error| {
            Failure::new(
                Exit::Target,
                format!("cannot write {}: {error}", path.display()),
                "make room there, or name a file elsewhere",
            )
        })
    });
    if written.is_err() {
        // The name was made above, by nobody else.
        let _ = std::fs::remove_file(path);
    }
    written
}

fn refused(path: &Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(
            format!("{} exists already, and is left as it is", path.display()),
            "name a file that does not exist yet, or remove that one first",
        ),
        ErrorKind::NotFound => Failure::usage(
            format!(
                "cannot make {}: its directory does not exist",
                path.display()
            ),
            "make the directory first, or name a file elsewhere",
        ),
        _ => Failure::new(
            Exit::Target,
            format!("cannot make {}: {error}", path.display()),
            "name a file in a directory that you may write to",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_exists_is_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.html");
        write_new(&path, b"first").unwrap();
        let failure = write_new(&path, b"second").unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        // Nor is what a link points at.
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(write_new(&link, b"third").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
    }

    #[test]
    fn a_directory_that_is_missing_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let failure = write_new(&directory.path().join("no/report.html"), b"").unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.error.to_string().contains("no/report.html"));
    }
}
