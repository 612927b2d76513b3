//! Whether an existing file may be written.
//!
//! What no flag allows comes first: loop backings, swap files, files with several names or none,
//! files open elsewhere, immutable ones, the store. Then permission to write: `--overwrite`, or a
//! file that Stripewise made. All of it is checked on the open descriptor, which must be the only
//! one of this process on that file.

use super::access::{failed, storage_of};
use super::identity::Status;
use super::ioctl::{SoleOpener, sole_opener};
use super::mark::{Maker, maker};
use super::overlay::{self, Layer};
use super::space;
use super::users;
use crate::{Error, ErrorKind, Intent, PlanContext, Result, Size};
use rustix::fs::{Access, Advice, AtFlags, StatVfsMountFlags, StatxAttributes};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use stripewise_disk_inspect::layout;
use stripewise_units::DeviceNumber;

/// Judges writing to an open existing file. Adds notes for what could not be verified.
pub(super) fn judge_write(
    file: &File,
    name: &str,
    intent: &Intent,
    knowledge: &PlanContext<'_>,
) -> Result<Vec<String>> {
    let status = Status::of(file).map_err(|os| failed(name, "cannot be examined", os))?;
    let made = maker(file, &status, knowledge);
    if made == Maker::We {
        // Only advice: the next reads are scattered over the file, and readahead must not warm what
        // follows them.
        let _ = rustix::fs::fadvise(file, 0, None, Advice::Random);
    }
    let ours = made == Maker::We;
    let made = crate::mark::unless_foreign(made, file, status.size_bytes);
    if ours {
        // Nor must what was read here be served from memory later.
        let _ = rustix::fs::fadvise(file, 0, None, Advice::DontNeed);
    }
    let may_write = intent.overwrite || made == Maker::We;
    if intent.features.discards && made != Maker::We {
        return Err(never_discarded(name));
    }
    let judged = never_written(file, &status, name)
        .and_then(|()| is_writable(file, name))
        .and_then(|()| room_to_write(file, &status, name, intent))
        .and_then(|()| open_in_other_processes(file, &status, name))
        .and_then(|notes| visible_through_overlay(file, name, intent.busy_ok, notes));
    if !may_write {
        return Err(needs_overwrite(name, &made, judged.err()));
    }
    judged
}

/// Reports the missing flag first, and also when the flag would not help.
fn needs_overwrite(name: &str, made: &Maker, refused: Option<Error>) -> Error {
    let mut what = "writing to this existing file needs `--overwrite`".to_owned();
    if let Maker::Doubtful(why) = made {
        what.push_str(&format!(" (it is marked as made by Stripewise, but {why})"));
    }
    let hint = match refused {
        None => "All of its contents would be lost. Use `--overwrite` if that is intended, \
                 or give a directory to have a test file made instead."
            .to_owned(),
        Some(refused) => format!(
            "It would be refused anyway: it {}. Give a directory to have a test file made \
             instead.",
            refused.what
        ),
    };
    Error::new(ErrorKind::NeedsOverwrite, name, what).with_hint(hint)
}

/// A file that is overwritten can be restored from a copy as it was; one with holes punched is a
/// different file, and nobody measures discards on valuable data.
fn never_discarded(name: &str) -> Error {
    refuse(
        name,
        "is a file that Stripewise did not make, and discards would punch holes into it, \
         `--overwrite` or not",
        "Give a directory to have a test file made, or make a file with `stripewise prepare`.",
    )
}

/// Hint for a file that another process has open.
pub(super) const HINT_OPEN: &str = "Stop what uses it first (`fuser -v FILE` shows it), or give \
                                    a directory to have a test file made instead.";

fn refuse(name: &str, what: impl Into<String>, hint: &str) -> Error {
    Error::new(ErrorKind::Refused, name, what).with_hint(hint)
}

/// Refuses the store before it is opened, even for reading: closing it again would release the
/// locks that this process holds on it.
pub(super) fn never_the_store(
    status: &Status,
    name: &str,
    knowledge: &PlanContext<'_>,
) -> Result<()> {
    match is_store(status, knowledge.store) {
        true => Err(refuse(
            name,
            "is the store of results",
            "Choose another target.",
        )),
        false => Ok(()),
    }
}

/// What no flag allows.
fn never_written(file: &File, status: &Status, name: &str) -> Result<()> {
    let wanted = users::wanted_file_and_upper(file, status);
    if let Some(area) = wanted.iter().flat_map(users::swap_areas).next() {
        return Err(refuse(
            name,
            format!("is in use as swap ({area})"),
            "Writing to it would corrupt running programs; choose another target.",
        ));
    }
    if let Some(device) = wanted.iter().flat_map(users::loop_devices).next() {
        return Err(refuse(
            name,
            format!("is the backing of /dev/{device}"),
            "To measure through the loop device name that one; to free the file, `losetup -d` it.",
        ));
    }
    if status.links != 1 {
        let (what, hint) = match status.links {
            0 => ("has been deleted".to_owned(), "Choose another target."),
            links => (
                format!("has {links} names (hard links)"),
                "The other names would change too. `find -samefile` shows them; \
                 make a copy of its own, or a test file with `stripewise prepare`.",
            ),
        };
        return Err(refuse(name, what, hint));
    }
    let set = |flag| status.attributes.contains(flag);
    let attribute = match () {
        () if set(StatxAttributes::IMMUTABLE) => Some("immutable"),
        () if set(StatxAttributes::APPEND) => Some("append-only"),
        () if set(StatxAttributes::VERITY) => Some("sealed by fs-verity"),
        () => None,
    };
    if let Some(attribute) = attribute {
        return Err(refuse(
            name,
            format!("is {attribute}"),
            "Somebody protected it on purpose (`lsattr`); choose another target.",
        ));
    }
    let of_ours = match () {
        () if is_sqlite_database(file) => Some("is a SQLite database, maybe a store of results"),
        () if is_swap_area(file) => Some("is a swap file, though not in use now"),
        () => None,
    };
    if let Some(what) = of_ours {
        return Err(refuse(name, what, "Choose another target."));
    }
    Ok(())
}

/// The store, its journal or write-ahead log.
fn is_store(status: &Status, store: Option<&Path>) -> bool {
    let Some(store) = store else { return false };
    ["", "-wal", "-shm", "-journal"].iter().any(|suffix| {
        let mut path = store.as_os_str().to_owned();
        path.push(suffix);
        std::fs::metadata(PathBuf::from(path)).is_ok_and(|found| {
            let device = DeviceNumber::from_raw(found.dev());
            status.identity.is_inode(device, found.ino())
        })
    })
}

/// Any SQLite database: an unused store of Stripewise, or a foreign one.
/// Neither is sensible to overwrite with noise.
fn is_sqlite_database(file: &File) -> bool {
    use std::os::unix::fs::FileExt;
    let mut head = [0u8; 16];
    file.read_exact_at(&mut head, 0).is_ok() && &head == b"SQLite format 3\0"
}

/// Made by `mkswap`, in use or not: its mark ends the first page, whose size is
/// that of the machine that made it.
fn is_swap_area(file: &File) -> bool {
    use std::os::unix::fs::FileExt;
    [4096u64, 8192, 16_384, 65_536].iter().any(|page_bytes| {
        let mut mark = [0u8; 10];
        file.read_exact_at(&mut mark, page_bytes - 10).is_ok() && &mark == b"SWAPSPACE2"
    })
}

/// Whether permissions and file system allow writing, checked without opening for writing.
fn is_writable(file: &File, name: &str) -> Result<()> {
    if let Ok(found) = rustix::fs::fstatvfs(file)
        && found.f_flag.contains(StatVfsMountFlags::RDONLY)
    {
        let os = std::io::Error::from_raw_os_error(libc::EROFS);
        return Err(failed(name, "cannot be written", os));
    }
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::accessat(rustix::fs::CWD, path, Access::WRITE_OK, AtFlags::EACCESS)
        .map_err(|os| failed(name, "cannot be written", os.into()))
}

/// Writing allocates space in a sparse file and in extents shared with snapshots or clones; a file
/// in a lower layer of an overlay is copied whole, whichever part is written.
fn room_to_write(file: &File, status: &Status, name: &str, intent: &Intent) -> Result<()> {
    let layer = overlay::layer_of(file, status);
    if layer == Layer::Lower {
        return Err(refuse(
            name,
            "is in a lower layer of an overlay file system, and would first be copied whole to \
             the upper one",
            "Make a copy under another name (`cp`) and give that one, or choose a volume that is not an overlay.",
        ));
    }
    let layout = layout(file).unwrap_or_default();
    let missing = status.size_bytes.saturating_sub(status.allocated_bytes);
    let growth = missing
        .max(layout.hole_bytes)
        .saturating_add(layout.shared_bytes);
    let span = match intent.size {
        Size::Auto => status.size_bytes,
        Size::Exactly(bytes) | Size::AtMost(bytes) => bytes.min(status.size_bytes),
    };
    let (growth, what) = match layer {
        Layer::Unknown => (
            status.size_bytes,
            "may be in a lower layer of its overlay file system and be copied whole to the upper \
             one first",
        ),
        _ => (
            growth.min(span),
            "is sparse, compressed or shares its blocks",
        ),
    };
    if growth == 0 {
        return Ok(());
    }
    let storage = storage_of(file);
    let in_memory = storage.file_system.is_some_and(|found| found.in_memory);
    space::judge_growth(file, in_memory, growth, intent.file_system_size, name, what)
}

/// A loop device or a program may have the file's own inode open in the upper directory of an
/// overlay; where that cannot be examined, the user has to decide.
fn visible_through_overlay(
    file: &File,
    name: &str,
    busy_ok: bool,
    mut notes: Vec<String>,
) -> Result<Vec<String>> {
    const UNSEEN: &str = "whether others use the file through the upper directory of its overlay \
                          file system cannot be seen from here";
    match overlay::unseen_upper(file) {
        Some(overlay::Unverified::Relative) if !busy_ok => Err(Error::new(
            ErrorKind::NeedsBusyOk,
            name,
            format!("{UNSEEN}: it was mounted by a relative path"),
        )
        .with_hint(
            "Mount it with an absolute `upperdir`, or give `--busy-ok` if nothing else uses the \
             file.",
        )),
        Some(_) => {
            notes.push(format!("{UNSEEN}."));
            Ok(notes)
        }
        None => Ok(notes),
    }
}

/// Returns an error if another process has it open.
fn open_in_other_processes(file: &File, status: &Status, name: &str) -> Result<Vec<String>> {
    let wanted = users::wanted_file(&status.identity);
    let all_wanted = users::wanted_file_and_upper(file, status);
    let mut openers = users::Openers::default();
    let mut sole = SoleOpener::No;
    users::retry_briefly(|| {
        openers = users::openers_of_any(&all_wanted);
        sole = sole_opener(file);
        (!openers.others.is_empty() || matches!(sole, SoleOpener::No)).then_some(())
    });
    let twice_here = || users::open_twice_here(file, &wanted);
    let storage = || storage_of(file).file_system;
    let remote = || storage().is_some_and(|found| found.remote);
    judge_openers(name, &openers, sole, twice_here, remote)
}

/// Judges by what `/proc` and the kernel report about who has the file open.
fn judge_openers(
    name: &str,
    openers: &users::Openers,
    sole: SoleOpener,
    twice_here: impl FnOnce() -> bool,
    remote: impl FnOnce() -> bool,
) -> Result<Vec<String>> {
    const UNSEEN: &str = "the file system cannot tell whether other machines have the file open; \
                          no process of this one has.";
    if let Some(what) = openers.refusal() {
        return Err(refuse(name, what, HINT_OPEN));
    }
    if !matches!(sole, SoleOpener::Yes) && twice_here() {
        return Err(refuse(
            name,
            "is already in use by this very run, as a target under another name or through a \
             link",
            "Name it the same way in all jobs, then they share it.",
        ));
    }
    match sole {
        // Servers grant leases at their discretion, so a refusal means nothing there.
        SoleOpener::No if openers.complete() && remote() => Ok(vec![UNSEEN.to_owned()]),
        SoleOpener::Yes => Ok(Vec::new()),
        SoleOpener::No => Err(refuse(
            name,
            "is open elsewhere (the kernel says so; the process is not visible from here)",
            HINT_OPEN,
        )),
        SoleOpener::Unknown(_) if openers.complete() => Ok(vec![UNSEEN.to_owned()]),
        SoleOpener::Unknown(os) => Err(refuse(
            name,
            "may be open elsewhere: this user cannot find out",
            "Run as the owner of the file or as root, or give a directory to have a test file made.",
        )
        .with_os(os)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_only_where_no_process_has_it_open() {
        let unknown = || SoleOpener::Unknown(std::io::Error::from_raw_os_error(libc::EACCES));
        let (yes, no) = (|| SoleOpener::Yes, || SoleOpener::No);
        let sole: [fn() -> SoleOpener; 3] = [yes, no, unknown];
        let [yes, no, unknown] = sole;
        let (cp, no_openers) = (&["cp (pid 5)"][..], &[][..]);
        // (seen in others, all were seen, the kernel's word, open twice here, on a server)
        let allowed = [
            (no_openers, true, yes, false, false),
            (no_openers, false, yes, false, false),
            // The kernel is only consulted where `/proc` does not show that no one else has it
            // open.
            (no_openers, true, yes, true, false),
            (no_openers, true, no, false, true),
            (no_openers, true, unknown, false, false),
        ];
        let refused = [
            (cp, true, yes, false, false, "is open in cp (pid 5)"),
            (cp, false, no, true, true, "is open in cp (pid 5)"),
            (no_openers, true, no, true, false, "by this very run"),
            (no_openers, true, unknown, true, true, "by this very run"),
            (no_openers, true, no, false, false, "is open elsewhere"),
            (no_openers, false, no, false, true, "is open elsewhere"),
            (
                no_openers,
                false,
                unknown,
                false,
                true,
                "may be open elsewhere",
            ),
        ];
        let judge = |others: &[&str], complete: bool, sole: fn() -> SoleOpener, twice, remote| {
            let others = others.iter().map(|&name| name.to_owned()).collect();
            let unseen =
                (!complete).then_some(stripewise_device_guard::users::Unverified::Processes);
            let openers = users::Openers { others, unseen };
            judge_openers("file", &openers, sole(), || twice, || remote)
        };
        for (others, complete, sole, twice, remote) in allowed {
            let notes = judge(others, complete, sole, twice, remote).expect("allowed");
            let unseen = !matches!(sole(), SoleOpener::Yes);
            assert_eq!(notes.len(), usize::from(unseen), "{notes:?}");
        }
        for (others, complete, sole, twice, remote, expected_text) in refused {
            let error = judge(others, complete, sole, twice, remote).expect_err(expected_text);
            assert_eq!(error.kind, ErrorKind::Refused);
            assert!(error.what.contains(expected_text), "{error}");
        }
    }
}
