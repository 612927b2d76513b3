//! The mark on kept files: an alternate data stream, `FILE:stripewise.made`, where the file system
//! supports streams (NTFS, recent ReFS). Elsewhere a file is recognised by its number and time
//! alone, as the store knows them; its id is then derived from the number.

use super::access::{SHARE_ALL, Status};
use super::calls;
use crate::mark::{Maker, judge, parse, text};
use crate::{MadeFile, PlanContext};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use windows_sys::Win32::System::SystemServices::FILE_NAMED_STREAMS;

const STREAM: &str = ":stripewise.made";

/// 32 hexadecimal digits from the system's random numbers.
pub(super) fn unique_id() -> io::Result<String> {
    let bytes = calls::random()?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Identity of a file for the store.
fn made_file(status: &Status, id: &str) -> MadeFile {
    MadeFile {
        device: status.identity.volume,
        inode: status.identity.inode(),
        birth_time_ns: Some(status.birth_time_ns),
        id: id.to_owned(),
        size_bytes: status.size_bytes,
    }
}

fn has_streams(file: &File) -> bool {
    calls::file_system(file).is_ok_and(|(_, flags)| flags & FILE_NAMED_STREAMS != 0)
}

fn stream_of(path: &Path) -> PathBuf {
    let mut stream = path.as_os_str().to_owned();
    stream.push(STREAM);
    PathBuf::from(stream)
}

/// The id of a file without a mark.
fn number(status: &Status) -> String {
    format!("{:032x}", status.identity.id)
}

/// Marks an open file where possible; returns its identity for the store, and whether it has a
/// mark.
pub(super) fn write(file: &File, path: &Path, status: &Status) -> io::Result<(MadeFile, bool)> {
    if !has_streams(file) {
        return Ok((made_file(status, &number(status)), false));
    }
    let id = unique_id()?;
    put(OpenOptions::new().create_new(true), path, status, &id)?;
    Ok((made_file(status, &id), true))
}

/// Updates the size in the mark of a file that Stripewise made, if it has one; returns its identity
/// for the store.
pub(super) fn rewrite(file: &File, path: &Path, status: &Status, id: &str) -> io::Result<MadeFile> {
    if has_streams(file) {
        put(&mut OpenOptions::new(), path, status, id)?;
    }
    Ok(made_file(status, id))
}

/// Writes the stream. It is opened by path, so its owner is checked again.
fn put(options: &mut OpenOptions, path: &Path, status: &Status, id: &str) -> io::Result<()> {
    let mut stream = options
        .write(true)
        .share_mode(SHARE_ALL)
        .open(stream_of(path))?;
    if Status::of(&stream)?.identity != status.identity {
        return Err(io::Error::other("another file was put in its place"));
    }
    let text = text(id, status.size_bytes);
    stream.write_all(text.as_bytes())?;
    stream.set_len(text.len() as u64)
}

/// The id in the mark of a file that Stripewise made; `None` for other files.
pub(super) fn made_by_stripewise(
    file: &File,
    path: &Path,
    status: &Status,
    knowledge: &PlanContext<'_>,
) -> Option<String> {
    if maker(file, path, status, knowledge) != Maker::We {
        return None;
    }
    match has_streams(file) {
        true => parse(&read(path).ok()?).map(|(id, _)| id),
        false => Some(number(status)),
    }
}

/// What the mark says.
fn read(path: &Path) -> io::Result<String> {
    let mut mark = String::new();
    let stream = File::open(stream_of(path))?;
    stream.take(256).read_to_string(&mut mark)?;
    Ok(mark)
}

/// Judges an open file.
pub(super) fn maker(
    file: &File,
    path: &Path,
    status: &Status,
    knowledge: &PlanContext<'_>,
) -> Maker {
    if !has_streams(file) {
        let known = (knowledge.is_known)(&made_file(status, &number(status)));
        return match known {
            true => Maker::We,
            false => Maker::Foreign,
        };
    }
    let mark = match read(path) {
        Ok(mark) => Some(mark),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Some(String::new()),
        Err(_) => None,
    };
    judge(mark.as_deref(), |id| made_file(status, id), knowledge)
}
