//! Files that the user named: reports, exports, plans.
//!
//! An existing file stays as it is: the program refuses it and never
//! overwrites or truncates it, because it may be wanted. A new
//! one has the mode and owner of results, see `stripewise_store::create_new`.

use crate::failure::{Failure, Outcome};
use std::io::{ErrorKind, Write};
use std::path::Path;
use stripewise_units::NameText;

/// Writes a new file. If writing fails half way, the partial file is removed.
pub fn write_new(path: &Path, bytes: &[u8]) -> Outcome<()> {
    write_new_with(path, |out| {
        out.write_all(bytes).map_err(|error| half_way(path, &error))
    })
}

/// Writes a new file piece by piece. If that fails half way, the partial file is
/// removed.
pub fn write_new_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Outcome<()>,
) -> Outcome<()> {
    let file = stripewise_store::create_new(path).map_err(|error| refused(path, &error))?;
    let mut out = std::io::BufWriter::new(file);
    // Some file systems report a lack of space only on sync.
    let whole = |out: &mut std::io::BufWriter<_>| {
        out.flush()?;
        std::fs::File::sync_all(out.get_ref())
    };
    let written =
        write(&mut out).and_then(|()| whole(&mut out).map_err(|error| half_way(path, &error)));
    if written.is_err() {
        let _ = stripewise_store::remove_made(out.get_ref(), path);
    }
    written
}

/// Refuses a name that [`write_new`] would refuse, before anything is measured for
/// its file: an existing file, or a missing directory.
pub fn check_new(path: &Path) -> Outcome<()> {
    let directory = path.parent().filter(|parent| *parent != Path::new(""));
    let kind = if path.symlink_metadata().is_ok() {
        ErrorKind::AlreadyExists
    } else if directory.is_some_and(|directory| !directory.exists()) {
        ErrorKind::NotFound
    } else {
        return Ok(());
    };
    Err(refused(path, &kind.into()))
}

fn half_way(path: &Path, error: &std::io::Error) -> Failure {
    Failure::target(
        format!("cannot write {}: {error}", path.as_text()),
        hint_of(error, "make room there, or name a file elsewhere"),
    )
}

/// The hint for a failed write: `otherwise`, unless a limit of the shell stopped it.
pub fn hint_of(error: &std::io::Error, otherwise: &'static str) -> &'static str {
    match error.kind() {
        ErrorKind::FileTooLarge => {
            "raise the limit on the size of files with `ulimit -f unlimited`, or name a file on a \
             file system that takes larger ones"
        }
        _ => otherwise,
    }
}

fn refused(path: &Path, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AlreadyExists => Failure::usage(
            format!("{} already exists and is not overwritten", path.as_text()),
            "name a file that does not exist yet, or remove that one first",
        ),
        ErrorKind::NotFound => Failure::usage(
            format!(
                "cannot make {}: its directory does not exist",
                path.as_text()
            ),
            "make the directory first, or name a file elsewhere",
        ),
        _ => Failure::target(
            format!("cannot make {}: {error}", path.as_text()),
            "name a file in a directory that you can write to",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit_codes::Exit;

    #[test]
    fn a_file_that_exists_is_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.html");
        write_new(&path, b"first").unwrap();
        let failure = write_new(&path, b"second").unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(check_new(&path).unwrap_err().exit, Exit::Usage);
        assert!(check_new(&directory.path().join("new")).is_ok());
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
    }

    #[test]
    fn what_could_not_be_written_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.html");
        let failed = write_new_with(&path, |out| {
            let _ = out.write_all(b"half");
            Err(half_way(&path, &ErrorKind::StorageFull.into()))
        });
        assert_eq!(failed.unwrap_err().exit, Exit::Target);
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn but_not_what_somebody_put_in_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.html");
        let moved = directory.path().join("moved");
        for is_link in [false, true] {
            let failed = write_new_with(&path, |_| {
                std::fs::rename(&path, &moved).unwrap();
                if is_link {
                    // Not even through a link to the file that was made.
                    std::os::unix::fs::symlink(&moved, &path).unwrap();
                } else {
                    std::fs::write(&path, b"precious").unwrap();
                }
                Err(half_way(&path, &ErrorKind::StorageFull.into()))
            });
            assert_eq!(failed.unwrap_err().exit, Exit::Target);
            assert!(path.symlink_metadata().is_ok(), "{is_link}");
            assert!(moved.exists(), "{is_link}");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn nor_is_what_a_link_points_at() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.html");
        write_new(&path, b"first").unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(write_new(&link, b"second").is_err());
        assert_eq!(check_new(&link).unwrap_err().exit, Exit::Usage);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
    }

    #[cfg(unix)]
    #[test]
    fn what_root_writes_is_for_root_only_or_for_the_owner_of_the_directory() {
        use std::os::unix::fs::{MetadataExt, chown};
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        for (name, owner) in [("of-root", 0), ("of-nobody", 65_534)] {
            chown(directory.path(), Some(owner), Some(owner)).unwrap();
            let path = directory.path().join(name);
            write_new(&path, b"serial numbers").unwrap();
            let made = std::fs::metadata(&path).unwrap();
            assert_eq!(made.mode() & 0o7777, 0o600, "{name}");
            assert_eq!(made.uid(), owner, "{name}");
        }
    }

    #[test]
    fn a_directory_that_is_missing_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let failure = write_new(&directory.path().join("no/report.html"), b"").unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.error.to_string().contains("no/report.html"));
        let foreseen = check_new(&directory.path().join("no/report.html")).unwrap_err();
        assert_eq!(foreseen.error.to_string(), failure.error.to_string());
    }
}
