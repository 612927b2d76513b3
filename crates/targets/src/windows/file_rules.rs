//! Whether an existing file may be written.
//!
//! What no flag allows comes first: page and hibernation files, system files, files with several
//! names, open elsewhere, read-only, not fully present; the store. Then permission to write:
//! `--overwrite`, or a file that Stripewise made.

use super::access::{FoundPath, Status, failed, os_code, reopen};
use super::{calls, mark};
use crate::mark::Maker;
use crate::space::Space;
use crate::{Error, ErrorKind, FileSystemSize, Intent, PlanContext, Result, Size};
use std::fs::{File, OpenOptions};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stripewise_units::format_bytes;
use windows_sys::Win32::Foundation::ERROR_SHARING_VIOLATION;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_OFFLINE, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS,
    FILE_ATTRIBUTE_RECALL_ON_OPEN, FILE_ATTRIBUTE_SYSTEM,
};

/// Files that belong to Windows wherever they are.
const OF_WINDOWS: [&str; 3] = ["pagefile.sys", "hiberfil.sys", "swapfile.sys"];

/// A virus scanner or an indexer that has just opened it finishes soon.
const LOOKS_MAX: u32 = 5;
const LOOK_EVERY: Duration = Duration::from_millis(100);

const HINT_OPEN: &str = "Stop what uses it first (Resource Monitor or Sysinternals' handle.exe \
                         show it), or give a directory to have a test file made instead.";

fn refuse(name: &str, what: impl Into<String>, hint: &str) -> Error {
    Error::new(ErrorKind::Refused, name, what).with_hint(hint)
}

/// Judges writing to an existing file, which this process must not have open. Opens it exclusively
/// for a moment, for reading only.
pub(super) fn judge_write(
    found: &FoundPath,
    name: &str,
    intent: &Intent,
    knowledge: &PlanContext<'_>,
) -> Result<()> {
    let alone = open_alone(found, name, OpenOptions::new().read(true));
    let made = match &alone {
        Ok(file) => {
            let made = mark::maker(file, &found.path, &found.status, knowledge);
            crate::mark::unless_foreign(made, file, found.status.size_bytes)
        }
        Err(_) => Maker::Foreign,
    };
    let judged = never_written(found, alone.as_ref().ok(), name, knowledge)
        .and_then(|()| alone.as_ref().map(drop).map_err(copy))
        .and_then(|()| room_to_write(found, name, intent));
    if intent.overwrite || made == Maker::We {
        return judged;
    }
    let mut what = "writing to this existing file needs `--overwrite`".to_owned();
    if let Maker::Doubtful(why) = made {
        what.push_str(&format!(" (it is marked as made by Stripewise, but {why})"));
    }
    let hint = match judged {
        Ok(()) => {
            "All of its contents would be lost. Use `--overwrite` if that is intended, or give \
                   a directory to have a test file made instead."
                .to_owned()
        }
        Err(refused) => format!(
            "It would be refused anyway: it {}. Give a directory to have a test file made \
             instead.",
            refused.what
        ),
    };
    Err(Error::new(ErrorKind::NeedsOverwrite, name, what).with_hint(hint))
}

fn copy(error: &Error) -> Error {
    Error::new(error.kind, &error.target, error.what.clone()).with_hint(error.hint.clone())
}

/// Opens it exclusively: fails if anyone has it open, and no one can open it while the handle
/// lives.
pub(super) fn open_alone(found: &FoundPath, name: &str, options: &mut OpenOptions) -> Result<File> {
    options.share_mode(0);
    let mut looks = LOOKS_MAX;
    loop {
        let opened = reopen(&found.path, &found.status.identity, options, name);
        looks -= 1;
        let in_use = |error: &Error| os_code(error) == Some(ERROR_SHARING_VIOLATION);
        match opened {
            Err(error) if in_use(&error) && looks == 0 => {
                return Err(refuse(name, "is open elsewhere", HINT_OPEN));
            }
            Err(error) if in_use(&error) => std::thread::sleep(LOOK_EVERY),
            other => return other,
        }
    }
}

/// What no flag allows.
fn never_written(
    found: &FoundPath,
    file: Option<&File>,
    name: &str,
    knowledge: &PlanContext<'_>,
) -> Result<()> {
    let Status {
        links, attributes, ..
    } = found.status;
    let last = found.path.file_name().unwrap_or_default();
    if OF_WINDOWS
        .iter()
        .any(|known| last.eq_ignore_ascii_case(known))
    {
        let hint = "Writing to it would corrupt running programs; choose another target.";
        return Err(refuse(name, "belongs to Windows itself", hint));
    }
    if links > 1 {
        let what = format!("has {links} names (hard links)");
        let hint = "The other names would change too. `fsutil hardlink list` shows them; make a \
                    copy of its own, or a test file with `stripewise prepare`.";
        return Err(refuse(name, what, hint));
    }
    let has = |flags: u32| attributes & flags != 0;
    let absent = FILE_ATTRIBUTE_OFFLINE
        | FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS
        | FILE_ATTRIBUTE_RECALL_ON_OPEN;
    let head = file.and_then(|file| {
        let mut head = [0; 16];
        (file.seek_read(&mut head, 0).ok()? == head.len()).then_some(head)
    });
    let what = match () {
        () if has(FILE_ATTRIBUTE_READONLY) => "is read-only",
        () if has(FILE_ATTRIBUTE_SYSTEM) => "is a file of the system",
        () if has(absent) => "is not wholly on this machine (cloud or archive)",
        () if is_store(&found.status, knowledge.store) => "is the store of results",
        () if head.as_ref() == Some(b"SQLite format 3\0") => {
            "is a SQLite database, maybe a store of results"
        }
        () => return Ok(()),
    };
    let hint = "Somebody depends on it or protected it (`attrib` shows that); choose another \
                target.";
    Err(refuse(name, what, hint))
}

/// The store, its journal or write-ahead log.
fn is_store(status: &Status, store: Option<&Path>) -> bool {
    let Some(store) = store else { return false };
    ["", "-wal", "-shm", "-journal"].iter().any(|suffix| {
        let mut path = store.as_os_str().to_owned();
        path.push(suffix);
        super::access::find(&PathBuf::from(path))
            .is_ok_and(|found| found.status.identity == status.identity)
    })
}

/// A sparse or compressed file grows on disk when it is written.
fn room_to_write(found: &FoundPath, name: &str, intent: &Intent) -> Result<()> {
    let Status {
        size_bytes,
        allocated_bytes,
        ..
    } = found.status;
    let span = match intent.size {
        Size::Auto => size_bytes,
        Size::Exactly(bytes) | Size::AtMost(bytes) => bytes.min(size_bytes),
    };
    let growth = size_bytes.saturating_sub(allocated_bytes).min(span);
    room_for(
        found,
        name,
        growth,
        intent.file_system_size,
        "is sparse or compressed",
    )
}

/// Extending a file is under the same space rule as making one.
pub(super) fn room_for(
    found: &FoundPath,
    name: &str,
    growth: u64,
    size: FileSystemSize,
    what: &str,
) -> Result<()> {
    if growth == 0 {
        return Ok(());
    }
    let directory = found.path.parent().unwrap_or(&found.path);
    let space = space_of(directory, size, name)?;
    if growth <= space.room_bytes() {
        return Ok(());
    }
    let what = format!(
        "{what}: writing could take {} more of its volume, of which {} are free and at least {} \
         must stay free",
        format_bytes(growth),
        format_bytes(space.available_bytes),
        format_bytes(space.floor_bytes())
    );
    Err(Error::new(ErrorKind::NoSpace, name, what)
        .with_hint("Use less of it (`<--size>`), free some space, or choose another target."))
}

/// The handle that stays open while a file is written: no one can delete or rename it meanwhile.
/// The first worker shows whether this user may write at all.
pub(super) fn guard(found: &FoundPath, name: &str) -> Result<File> {
    use windows_sys::Win32::Storage::FileSystem::{FILE_SHARE_READ, FILE_SHARE_WRITE};
    let mut options = OpenOptions::new();
    // Without delete sharing: the file keeps its name.
    options
        .read(true)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
    reopen(&found.path, &found.status.identity, &options, name).map_err(|error| {
        match os_code(&error) {
            Some(ERROR_SHARING_VIOLATION) => {
                refuse(name, "is open exclusively in another process", HINT_OPEN)
            }
            _ => error,
        }
    })
}

/// Sector of the volume that holds a path.
pub(super) fn sector_bytes(path: &Path) -> u32 {
    calls::volume_root(path)
        .and_then(|root| calls::units(&root))
        .map_or(4096, |(sector, _)| sector.clamp(512, 1 << 20))
}

/// Room on the volume of a directory.
pub(super) fn space_of(directory: &Path, size: FileSystemSize, name: &str) -> Result<Space> {
    let (total_bytes, available_bytes) =
        calls::space(directory).map_err(|os| failed(name, "cannot ask for the free space", os))?;
    Ok(Space {
        total_bytes: size.total_bytes(total_bytes),
        available_bytes,
        limit_bytes: u64::MAX,
    })
}
