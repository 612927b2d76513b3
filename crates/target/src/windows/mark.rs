//! The mark on files that we made and kept: an alternate data stream,
//! `FILE:stripewise.made`, where the file system has streams of a file (NTFS,
//! ReFS of late). Elsewhere a file is told by its number and time alone, as the
//! store knows them; its id is then made of the number.

use super::access::{SHARE_ALL, Status};
use super::calls;
use crate::mark::{Maker, judge, text};
use crate::{Knowledge, MadeFile};
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

/// What the store is to know of a file.
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

/// Marks an open file of ours, where it can be; what the store is to know, and
/// whether there is a mark.
pub(super) fn write(file: &File, path: &Path, status: &Status) -> io::Result<(MadeFile, bool)> {
    if !has_streams(file) {
        return Ok((made_file(status, &number(status)), false));
    }
    let id = unique_id()?;
    let mut stream = OpenOptions::new()
        .write(true)
        .create_new(true)
        .share_mode(SHARE_ALL)
        .open(stream_of(path))?;
    stream.write_all(text(&id, status.size_bytes).as_bytes())?;
    Ok((made_file(status, &id), true))
}

/// Judges an open file.
pub(super) fn maker(file: &File, path: &Path, status: &Status, knowledge: &Knowledge<'_>) -> Maker {
    if !has_streams(file) {
        let known = (knowledge.is_known)(&made_file(status, &number(status)));
        return match known {
            true => Maker::We,
            false => Maker::Somebody,
        };
    }
    let mut mark = String::new();
    let read =
        File::open(stream_of(path)).and_then(|stream| stream.take(256).read_to_string(&mut mark));
    let mark = match read {
        Ok(_) => Some(mark.as_str()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Some(""),
        Err(_) => None,
    };
    judge(mark, |id| made_file(status, id), knowledge)
}
