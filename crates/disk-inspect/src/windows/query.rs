//! Opens devices without data access, and queries them.

use crate::ioctl_replies::{Answer, Refusal};
use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use stripewise_disk_formats::ioctl::{codes, properties};
use stripewise_machine::windows::event::Event;
use windows_sys::Win32::Foundation::{
    ERROR_INSUFFICIENT_BUFFER, ERROR_IO_PENDING, ERROR_MORE_DATA,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE,
};
use windows_sys::Win32::System::IO::{DeviceIoControl, GetOverlappedResult, OVERLAPPED};

/// Largest answer accepted.
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// Opens a device for queries only: no data access and full sharing, so no administrator is needed.
pub fn device(path: &str) -> Result<File, Refusal> {
    open(path, 0, 0)
}

/// Opens a directory to query its file system.
pub fn directory(path: &str) -> Result<File, Refusal> {
    open(path, FILE_READ_ATTRIBUTES, FILE_FLAG_BACKUP_SEMANTICS)
}

fn open(path: &str, access: u32, flags: u32) -> Result<File, Refusal> {
    OpenOptions::new()
        .access_mode(access)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
        .custom_flags(flags)
        .open(path)
        .map_err(|error| refusal(&error))
}

/// Queries once, with `room` bytes; error 234 or 122 means more is needed.
fn query_once(
    file: &File,
    code: u32,
    input: &[u8],
    room: usize,
) -> Result<(Vec<u8>, u32), Refusal> {
    let event = Event::new().map_err(|error| refusal(&error))?;
    // The structures hold 64-bit fields, so the buffer is aligned for them.
    let mut words = vec![0u64; room.div_ceil(8)];
    let mut returned = 0u32;
    let mut overlapped = OVERLAPPED {
        hEvent: event.without_packets(),
        ..OVERLAPPED::default()
    };
    let handle = file.as_raw_handle();
    let (input_bytes, room_bytes) = (size(input.len())?, size(words.len() * 8)?);
    // SAFETY: input and output are live for this many bytes. Handles for overlapped I/O may answer
    // later; then the code below waits for the answer before buffers, OVERLAPPED or event go away.
    let done = unsafe {
        DeviceIoControl(
            handle,
            code,
            input.as_ptr().cast(),
            input_bytes,
            words.as_mut_ptr().cast(),
            room_bytes,
            &mut returned,
            &mut overlapped,
        )
    };
    let mut status = if done != 0 { 0 } else { last_code() };
    if status == ERROR_IO_PENDING {
        // SAFETY: the same OVERLAPPED, not moved; waits to the end.
        let done = unsafe { GetOverlappedResult(handle, &overlapped, &mut returned, 1) };
        status = if done != 0 { 0 } else { last_code() };
    }
    if !matches!(status, 0 | ERROR_MORE_DATA | ERROR_INSUFFICIENT_BUFFER) {
        return Err(of_code(status));
    }
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes.truncate(returned as usize);
    Ok((bytes, status))
}

fn size(length: usize) -> Result<u32, Refusal> {
    u32::try_from(length).map_err(|_| of_code(ERROR_INSUFFICIENT_BUFFER))
}

/// Why the last call failed.
fn last_code() -> u32 {
    refusal(&std::io::Error::last_os_error()).code
}

/// The code and message of an error.
fn refusal(error: &std::io::Error) -> Refusal {
    Refusal {
        code: error
            .raw_os_error()
            .and_then(|code| u32::try_from(code).ok())
            .unwrap_or(0),
        words: error.to_string(),
    }
}

fn of_code(code: u32) -> Refusal {
    let error = std::io::Error::from_raw_os_error(i32::try_from(code).unwrap_or(i32::MAX));
    Refusal {
        code,
        ..refusal(&error)
    }
}

/// Retries with larger buffers until the answer fits.
pub fn ask(file: &File, code: u32, input: &[u8]) -> Answer {
    let mut room = 1024;
    loop {
        let (bytes, status) = query_once(file, code, input, room)?;
        if status == 0 {
            return Ok(bytes);
        }
        room *= 4;
        if room > ANSWER_BYTES_MAX {
            return Err(of_code(status));
        }
    }
}

/// Queries the first part of a long answer; returns whether there is more.
pub fn query_part(
    file: &File,
    code: u32,
    input: &[u8],
    room: usize,
) -> Result<(Vec<u8>, bool), Refusal> {
    let (bytes, status) = query_once(file, code, input, room)?;
    Ok((bytes, status == ERROR_MORE_DATA))
}

/// Queries a storage property: `STORAGE_PROPERTY_QUERY` is the property, 0 for a standard query,
/// and room for parameters, 12 bytes in all.
pub fn property(file: &File, property: u32) -> Answer {
    debug_assert!(property <= properties::SEEK_PENALTY);
    let mut query = [0u8; 12];
    query[..4].copy_from_slice(&property.to_le_bytes());
    ask(file, codes::STORAGE_QUERY_PROPERTY, &query)
}
