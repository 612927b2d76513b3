//! Makes test files, and removes exactly those.
//!
//! First choice is an unnamed file (`O_TMPFILE`), which vanishes with the process however it ends.
//! Where the file system does not support it, a file with a random name is made with
//! `O_CREAT|O_EXCL|O_NOFOLLOW` and unlinked at once; where even that does not work (some network
//! file systems), it keeps the name until the end, and so does a file to be kept where there is no
//! `O_TMPFILE`: only these two leave a `.stripewise-*.tmp` behind when the process is killed with
//! no chance to clean up. Names are only looked up relative to the directory's descriptor, and
//! removed only while they still refer to our inode.

use super::access::{failed, reopen};
use super::identity::{Identity, Status};
use crate::{Error, ErrorKind, Result};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use stripewise_units::NameText;

/// How a test file is made; tried in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CreateMethod {
    /// `O_TMPFILE`.
    Nameless,
    /// Named, and unlinked at once.
    Unlinked,
    /// Named until the end.
    Named,
}

impl CreateMethod {
    const ALL: [CreateMethod; 3] = [
        CreateMethod::Nameless,
        CreateMethod::Unlinked,
        CreateMethod::Named,
    ];
}

/// A file that this process made.
#[derive(Debug)]
pub(super) struct CreatedFile {
    /// Open for reading and writing.
    pub file: File,
    pub identity: Identity,
    /// The name that goes with the file when it is dropped.
    named: Option<Named>,
}

/// A name in a directory.
#[derive(Debug)]
struct Named {
    directory: File,
    name: CString,
    path: PathBuf,
}

/// An open directory and its path, for messages only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Directory<'a> {
    pub file: &'a File,
    pub path: &'a Path,
}

impl CreatedFile {
    /// Makes an empty file in `directory`. With `keep` it can get a name later ([`CreatedFile::keep_as`]).
    pub fn new(directory: Directory<'_>, keep: bool) -> Result<CreatedFile> {
        let mut refused = None;
        for way in CreateMethod::ALL {
            // A kept file that was unlinked could not get a name again.
            if keep && way == CreateMethod::Unlinked {
                continue;
            }
            match CreatedFile::by(way, directory, keep) {
                Ok(made) => return Ok(made),
                Err(Failure::NotThisWay(error)) => refused = Some(error),
                Err(Failure::NoWay(error)) => return Err(error),
            }
        }
        Err(refused.unwrap_or_else(|| {
            Error::new(
                ErrorKind::Io,
                directory.path.as_text(),
                "no file can be made",
            )
        }))
    }

    fn by(
        way: CreateMethod,
        directory: Directory<'_>,
        keep: bool,
    ) -> std::result::Result<CreatedFile, Failure> {
        let shown = &directory.path.as_text();
        let cannot = |os: Errno| failed(shown, "cannot make a test file", os.into());
        let mode = Mode::RUSR | Mode::WUSR;
        let base = OFlags::RDWR | OFlags::CLOEXEC;
        let (file, named) = if way == CreateMethod::Nameless {
            let exclusive = if keep { OFlags::empty() } else { OFlags::EXCL };
            let flags = base | OFlags::TMPFILE | exclusive;
            let opened = rustix::fs::openat(directory.file, c".", flags, mode);
            // Kernels and file systems without it fail in three ways.
            let opened = opened.map_err(|os| match os {
                Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL => Failure::NotThisWay(cannot(os)),
                os => Failure::NoWay(cannot(os)),
            })?;
            (File::from(opened), None)
        } else {
            let id = super::mark::unique_id()
                .map_err(|os| failed(shown, "no random numbers for a name", os))?;
            let text = format!(".stripewise-{id}.tmp");
            let name = CString::new(text.as_str()).map_err(|_| {
                Error::new(ErrorKind::Usage, shown, "a name cannot contain a NUL byte")
            })?;
            let directory_again = directory
                .file
                .try_clone()
                .map_err(|os| failed(shown, "cannot make a test file", os))?;
            let named = Named {
                directory: directory_again,
                name,
                path: directory.path.join(text),
            };
            let flags = base | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
            let opened =
                rustix::fs::openat(directory.file, &named.name, flags, mode).map_err(cannot)?;
            (File::from(opened), Some(named))
        };
        let status = Status::of(&file).map_err(|os| {
            // Without an identity there is nothing to compare; the name is random, and was new a
            // moment ago.
            if let Some(named) = &named {
                let _ = rustix::fs::unlinkat(&named.directory, &named.name, AtFlags::empty());
            }
            failed(shown, "cannot be examined", os)
        })?;
        let mut made = CreatedFile {
            file,
            identity: status.identity,
            named,
        };
        if way == CreateMethod::Unlinked {
            made.remove()?;
        }
        // Workers reopen it repeatedly: that must work without a name.
        let name = shown.to_string();
        match reopen(&made.file, &made.identity, OFlags::RDWR, &name) {
            Ok(_) => Ok(made),
            Err(error) if way == CreateMethod::Named => Err(Failure::NoWay(error)),
            Err(error) => Err(Failure::NotThisWay(error)),
        }
    }

    /// Gives the finished file its permanent name; it then stays. Never replaces anything.
    pub fn keep_as(&mut self, directory: Directory<'_>, name: &CStr) -> Result<()> {
        let path = directory
            .path
            .join(std::ffi::OsStr::from_bytes(name.to_bytes()));
        let cannot = |os: Errno| match os {
            Errno::EXIST => crate::error::exists(path.as_text()),
            os => failed(
                path.as_text(),
                "cannot keep the test file under this name",
                os.into(),
            ),
        };
        match &self.named {
            None => {
                let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                let (cwd, follow) = (rustix::fs::CWD, AtFlags::SYMLINK_FOLLOW);
                rustix::fs::linkat(cwd, own, directory.file, name, follow).map_err(cannot)?;
            }
            Some(named) => {
                // Hard link, which fails if the name exists; then unlink the first name. Without
                // hard links: rename without replacing.
                let (from, to) = (&named.directory, directory.file);
                let linked = rustix::fs::linkat(from, &named.name, to, name, AtFlags::empty());
                match linked {
                    Ok(()) => self.remove()?,
                    Err(Errno::EXIST) => return Err(cannot(Errno::EXIST)),
                    Err(_) => {
                        let flags = rustix::fs::RenameFlags::NOREPLACE;
                        rustix::fs::renameat_with(from, &named.name, to, name, flags)
                            .map_err(cannot)?;
                    }
                }
                self.named = None;
            }
        }
        // Best effort: some directories cannot be synced, and that does not justify an error now.
        let own = format!("/proc/self/fd/{}", directory.file.as_raw_fd());
        let _ = File::open(own).and_then(|file| file.sync_all());
        Ok(())
    }

    /// Removes the name, if there is one and it still refers to this file.
    pub fn remove(&mut self) -> Result<()> {
        let Some(named) = self.named.take() else {
            return Ok(());
        };
        let shown = &named.path.as_text();
        match Status::of_name(&named.directory, &named.name) {
            Ok(found) if found.identity == self.identity => {
                let removed = rustix::fs::unlinkat(&named.directory, &named.name, AtFlags::empty());
                removed.map_err(|os| {
                    // Dropping tries once more.
                    self.named = Some(named);
                    failed(shown, "cannot remove the test file", os.into())
                        .with_hint("Remove it by hand.")
                })
            }
            Ok(_) => Err(Error::new(
                ErrorKind::Refused,
                shown,
                "is no longer the test file and is left alone",
            )
            .with_hint("Another file was put under this name.")),
            // Another process removed it.
            Err(os) if os.raw_os_error() == Some(libc::ENOENT) => Ok(()),
            Err(os) => Err(failed(shown, "cannot look at the test file", os)),
        }
    }
}

impl Drop for CreatedFile {
    fn drop(&mut self) {
        // The result cannot be reported here; callers who need it use `Target::finish`.
        let _ = self.remove();
    }
}

/// Whether another way may work.
enum Failure {
    NotThisWay(Error),
    NoWay(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::NoWay(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn with_directory(mut check: impl FnMut(Directory<'_>)) {
        let top = tempfile::tempdir().expect("a directory");
        let file = File::open(top.path()).expect("it opens");
        check(Directory {
            file: &file,
            path: top.path(),
        });
    }

    fn names(directory: Directory<'_>) -> Vec<String> {
        let entries = std::fs::read_dir(directory.path).expect("readable");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        };
        entries.map(name).collect()
    }

    fn made(way: CreateMethod, directory: Directory<'_>, keep: bool) -> CreatedFile {
        match CreatedFile::by(way, directory, keep) {
            Ok(made) => made,
            Err(Failure::NotThisWay(error) | Failure::NoWay(error)) => panic!("{way:?}: {error}"),
        }
    }

    #[test]
    fn every_way_leaves_nothing_behind() {
        for way in CreateMethod::ALL {
            with_directory(|directory| {
                let made = made(way, directory, false);
                let seen = usize::from(way == CreateMethod::Named);
                assert_eq!(names(directory).len(), seen, "{way:?}");
                drop(made);
                assert_eq!(names(directory), Vec::<String>::new(), "{way:?}");
            });
        }
    }

    #[test]
    fn failing_half_way_leaves_nothing_behind() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        own_process!();
        for way in CreateMethod::ALL {
            let mut failures = 0;
            with_directory(|directory| {
                // Descriptors are allocated lowest first: this is the first free one.
                let free = directory.file.try_clone().expect("one more").as_raw_fd();
                let maximum = getrlimit(Resource::Nofile).maximum;
                let limit = |current: Option<u64>| {
                    setrlimit(Resource::Nofile, Rlimit { current, maximum }).expect("lowered");
                };
                for left in 0.. {
                    limit(Some(free as u64 + left));
                    let made = CreatedFile::by(way, directory, false);
                    limit(maximum);
                    match made {
                        Ok(_) => break,
                        Err(_) => failures += 1,
                    }
                    assert_eq!(
                        names(directory),
                        Vec::<String>::new(),
                        "{way:?}, {left} left"
                    );
                }
            });
            assert!(failures > 1, "{way:?}: the limit bit");
        }
    }

    #[test]
    fn a_file_that_took_over_our_name_is_left_alone() {
        with_directory(|directory| {
            let mut made = made(CreateMethod::Named, directory, false);
            let path = directory.path.join(&names(directory)[0]);
            std::fs::rename(&path, directory.path.join("moved")).expect("renamed");
            std::fs::write(&path, "somebody's work").expect("written");
            let error = made.remove().expect_err("not ours");
            assert_eq!(error.kind, ErrorKind::Refused);
            drop(made);
            let text = std::fs::read_to_string(&path).expect("still there");
            assert_eq!(text, "somebody's work");
            assert!(
                directory.path.join("moved").exists(),
                "renamed away is not hunted"
            );
        });
    }

    #[test]
    fn a_symbolic_link_that_took_over_our_name_is_left_alone() {
        with_directory(|directory| {
            let mut made = made(CreateMethod::Named, directory, false);
            let path = directory.path.join(&names(directory)[0]);
            std::fs::rename(&path, directory.path.join("moved")).expect("renamed");
            // The link leads to our inode; it is still not our name.
            std::os::unix::fs::symlink("moved", &path).expect("a link");
            made.remove().expect_err("a link is not our file");
            assert!(std::fs::symlink_metadata(&path).is_ok(), "the link stays");
            assert!(directory.path.join("moved").exists());
        });
    }

    #[test]
    fn keeping_gives_the_name_and_nothing_else() {
        for way in [CreateMethod::Nameless, CreateMethod::Named] {
            with_directory(|directory| {
                let mut made = made(way, directory, true);
                made.file.write_all(b"data").expect("written");
                made.keep_as(directory, c"kept").expect("a free name");
                drop(made);
                assert_eq!(names(directory), ["kept"], "{way:?}");
            });
        }
    }

    #[test]
    fn keeping_never_replaces_a_file_or_a_link() {
        for way in [CreateMethod::Nameless, CreateMethod::Named] {
            with_directory(|directory| {
                let path = directory.path.join("taken");
                let link = directory.path.join("link");
                std::fs::write(&path, "somebody's").expect("written");
                std::os::unix::fs::symlink("nowhere", &link).expect("a link");
                let mut made = made(way, directory, true);
                for name in [c"taken", c"link"] {
                    let error = made.keep_as(directory, name).expect_err("taken");
                    assert_eq!(error.kind, ErrorKind::Refused, "{way:?}");
                }
                drop(made);
                assert_eq!(names(directory).len(), 2, "{way:?}: our own file is gone");
                assert_eq!(std::fs::read_to_string(path).expect("there"), "somebody's");
            });
        }
    }

    #[test]
    fn files_that_are_not_to_be_kept_cannot_be_linked_by_anybody() {
        with_directory(|directory| {
            let mut made = made(CreateMethod::Nameless, directory, false);
            made.keep_as(directory, c"name")
                .expect_err("made with O_EXCL");
            assert_eq!(names(directory), Vec::<String>::new());
        });
    }
}
