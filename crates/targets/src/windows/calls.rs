//! Safe wrappers for system calls that std lacks.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::ERROR_IO_PENDING;
use windows_sys::Win32::Security::Cryptography::{
    BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ALLOCATION_INFO, FILE_BASIC_INFO, FILE_DISPOSITION_INFO,
    FILE_ID_INFO, FILE_INFO_BY_HANDLE_CLASS, FILE_TYPE_DISK, FileAllocationInfo, FileBasicInfo,
    FileDispositionInfo, FileIdInfo, FileStandardInfo, GetDiskFreeSpaceExW, GetDiskFreeSpaceW,
    GetFileInformationByHandle, GetFileInformationByHandleEx, GetFileType,
    GetFinalPathNameByHandleW, GetVolumeInformationByHandleW, GetVolumePathNameW,
    SetFileInformationByHandle, WriteFile,
};
use windows_sys::Win32::System::IO::{DeviceIoControl, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::SystemInformation::GetSystemWindowsDirectoryW;
use windows_sys::Win32::System::Threading::CreateEventW;

/// A structure of plain numbers that the system fills in.
///
/// # Safety
/// Every bit pattern is a valid value.
// SAFETY: a promise that each implementation below gives its reason for.
pub(super) unsafe trait Plain: Copy {}
// SAFETY: numbers and arrays of numbers, all of them.
unsafe impl Plain for FILE_BASIC_INFO {}
// SAFETY: as above.
unsafe impl Plain for Standard {}
// SAFETY: as above.
unsafe impl Plain for FILE_ID_INFO {}
// SAFETY: as above.
unsafe impl Plain for u64 {}

/// `FILE_STANDARD_INFO` with bytes for its booleans: a file system may put anything into them.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Standard {
    pub allocated_bytes: i64,
    pub size_bytes: i64,
    pub links: u32,
    delete_pending: u8,
    directory: u8,
}

fn zeroed<T: Plain>() -> T {
    // SAFETY: every pattern of bits is a value.
    unsafe { std::mem::zeroed() }
}

fn check(done: i32) -> io::Result<()> {
    match done {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

fn information<T: Plain>(file: &File, class: FILE_INFO_BY_HANDLE_CLASS) -> io::Result<T> {
    let mut found = zeroed::<T>();
    let length = size_of::<T>() as u32;
    // SAFETY: an open handle, and a structure of that length; the callers below
    // pair class and structure.
    check(unsafe {
        GetFileInformationByHandleEx(file.as_raw_handle(), class, (&raw mut found).cast(), length)
    })?;
    Ok(found)
}

/// Whether it is on storage, not a pipe, a console or `NUL`.
pub(super) fn is_on_disk(file: &File) -> bool {
    // SAFETY: an open handle.
    unsafe { GetFileType(file.as_raw_handle()) == FILE_TYPE_DISK }
}

/// Times and attributes.
pub(super) fn basic(file: &File) -> io::Result<FILE_BASIC_INFO> {
    information(file, FileBasicInfo)
}

/// Sizes and names.
pub(super) fn standard(file: &File) -> io::Result<Standard> {
    information(file, FileStandardInfo)
}

/// Serial number of the volume, and the file's number on it.
pub(super) fn identity(file: &File) -> io::Result<(u64, u128)> {
    if let Ok(found) = information::<FILE_ID_INFO>(file, FileIdInfo) {
        let id = u128::from_le_bytes(found.FileId.Identifier);
        return Ok((found.VolumeSerialNumber, id));
    }
    // Older servers know only the short form.
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: an open handle, and the structure that the call fills in.
    check(unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut found) })?;
    let id = u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow);
    Ok((u64::from(found.dwVolumeSerialNumber), u128::from(id)))
}

/// NUL-terminated UTF-16 for system calls.
fn wide(text: &OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}

/// Text from the system, up to the NUL.
fn narrow(text: &[u16]) -> OsString {
    let length = text.iter().position(|unit| *unit == 0);
    OsString::from_wide(&text[..length.unwrap_or(text.len())])
}

/// The path of an open file without links, as `\\?\C:\...`.
pub(super) fn final_path(file: &File) -> io::Result<PathBuf> {
    let mut buffer = vec![0_u16; 1024];
    loop {
        let room = buffer.len() as u32;
        // SAFETY: an open handle, and a buffer of that many units.
        let length = unsafe {
            GetFinalPathNameByHandleW(file.as_raw_handle(), buffer.as_mut_ptr(), room, 0)
        };
        match length {
            0 => return Err(io::Error::last_os_error()),
            length if length < room => return Ok(PathBuf::from(narrow(&buffer))),
            length => buffer.resize(length as usize + 1, 0),
        }
    }
}

/// The root of the volume that holds a path: `C:\`, a mount point, a share.
pub(super) fn volume_root(path: &Path) -> io::Result<PathBuf> {
    let path = wide(path.as_os_str());
    let mut buffer = vec![0_u16; path.len().max(260) + 1];
    // SAFETY: text with a 0 behind it, and a buffer of that many units.
    check(unsafe { GetVolumePathNameW(path.as_ptr(), buffer.as_mut_ptr(), buffer.len() as u32) })?;
    Ok(PathBuf::from(narrow(&buffer)))
}

/// Name of the file system and what it can do (`FILE_...` flags).
pub(super) fn file_system(file: &File) -> io::Result<(String, u32)> {
    let mut name = [0_u16; 64];
    let mut flags = 0;
    // SAFETY: an open handle; what is not wanted is null, the rest is ours.
    check(unsafe {
        GetVolumeInformationByHandleW(
            file.as_raw_handle(),
            null_mut(),
            0,
            null_mut(),
            null_mut(),
            &raw mut flags,
            name.as_mut_ptr(),
            name.len() as u32,
        )
    })?;
    Ok((narrow(&name).to_string_lossy().into_owned(), flags))
}

/// Bytes in total and free for this user (quotas count) on a directory's volume.
pub(super) fn space(directory: &Path) -> io::Result<(u64, u64)> {
    let directory = wide(directory.as_os_str());
    let (mut available, mut total) = (0, 0);
    // SAFETY: text with a 0 behind it, and numbers of ours.
    check(unsafe {
        GetDiskFreeSpaceExW(
            directory.as_ptr(),
            &raw mut available,
            &raw mut total,
            null_mut(),
        )
    })?;
    Ok((total, available))
}

/// Sector and cluster size in bytes of the volume with this root.
pub(super) fn units(root: &Path) -> io::Result<(u32, u64)> {
    let root = wide(root.as_os_str());
    let [mut sectors, mut bytes, mut free, mut total] = [0; 4];
    // SAFETY: as above.
    check(unsafe {
        GetDiskFreeSpaceW(
            root.as_ptr(),
            &raw mut sectors,
            &raw mut bytes,
            &raw mut free,
            &raw mut total,
        )
    })?;
    Ok((bytes, u64::from(sectors) * u64::from(bytes)))
}

/// Where Windows is installed.
pub(super) fn windows_directory() -> Option<PathBuf> {
    let mut buffer = [0_u16; 512];
    // SAFETY: a buffer of that many units.
    let length = unsafe { GetSystemWindowsDirectoryW(buffer.as_mut_ptr(), buffer.len() as u32) };
    (length > 0 && (length as usize) < buffer.len()).then(|| PathBuf::from(narrow(&buffer)))
}

/// Preallocates space without extending the file: what is not written stays past its end.
pub(super) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    let room = FILE_ALLOCATION_INFO {
        AllocationSize: i64::try_from(bytes).unwrap_or(i64::MAX),
    };
    // SAFETY: an open handle, and the structure of this class.
    check(unsafe {
        SetFileInformationByHandle(
            file.as_raw_handle(),
            FileAllocationInfo,
            (&raw const room).cast(),
            size_of::<FILE_ALLOCATION_INFO>() as u32,
        )
    })
}

/// Deletes a file by its handle: its name may refer to another file by now.
pub(super) fn delete(file: &File) -> io::Result<()> {
    let options = FILE_DISPOSITION_INFO { DeleteFile: true };
    // SAFETY: as above.
    check(unsafe {
        SetFileInformationByHandle(
            file.as_raw_handle(),
            FileDispositionInfo,
            (&raw const options).cast(),
            size_of::<FILE_DISPOSITION_INFO>() as u32,
        )
    })
}

/// Random numbers of the system.
pub(super) fn random() -> io::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    let flags = BCRYPT_USE_SYSTEM_PREFERRED_RNG;
    // SAFETY: no provider is needed with this flag; a buffer of that length.
    match unsafe { BCryptGenRandom(null_mut(), bytes.as_mut_ptr(), 16, flags) } {
        0 => Ok(bytes),
        status => Err(io::Error::other(format!("status {status:#x}"))),
    }
}

/// Waits for a call on a handle that may be overlapped.
fn waited(
    file: &File,
    call: impl FnOnce(*mut OVERLAPPED) -> i32,
    overlapped: &mut OVERLAPPED,
) -> io::Result<u32> {
    // SAFETY: no name, no attributes; the result is checked.
    let event = unsafe { CreateEventW(null(), 1, 0, null()) };
    if event.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made, and nobody else has it.
    let event = unsafe { OwnedHandle::from_raw_handle(event) };
    // The low bit keeps the end away from a completion port.
    overlapped.hEvent = event.as_raw_handle().map_addr(|address| address | 1);
    let overlapped = &raw mut *overlapped;
    if call(overlapped) == 0 {
        let error = io::Error::last_os_error();
        if error.raw_os_error().map(i32::cast_unsigned) != Some(ERROR_IO_PENDING) {
            return Err(error);
        }
    }
    let mut bytes = 0;
    // SAFETY: the structure of the call, which has ended when this returns.
    check(unsafe { GetOverlappedResult(file.as_raw_handle(), overlapped, &raw mut bytes, 1) })?;
    Ok(bytes)
}

/// Positioned write on any sort of handle; waits for completion.
pub(super) fn write_at(file: &File, buffer: &[u8], offset_bytes: u64) -> io::Result<usize> {
    let mut overlapped = OVERLAPPED::default();
    overlapped.Anonymous.Anonymous.Offset = offset_bytes as u32;
    overlapped.Anonymous.Anonymous.OffsetHigh = (offset_bytes >> 32) as u32;
    let length = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
    let handle = file.as_raw_handle();
    let call = |overlapped: *mut OVERLAPPED| {
        // SAFETY: buffer and structure live until `waited` has seen the end.
        unsafe { WriteFile(handle, buffer.as_ptr(), length, null_mut(), overlapped) }
    };
    waited(file, call, &mut overlapped).map(|bytes| bytes as usize)
}

/// Sends a control code without input; returns the bytes of the answer.
pub(super) fn ask(file: &File, code: u32, answer: &mut [u8]) -> io::Result<usize> {
    let mut overlapped = OVERLAPPED::default();
    let (start, length) = (answer.as_mut_ptr(), answer.len() as u32);
    let handle = file.as_raw_handle();
    let call = |overlapped: *mut OVERLAPPED| {
        // SAFETY: answer and structure live until `waited` has seen the end.
        unsafe {
            DeviceIoControl(
                handle,
                code,
                null(),
                0,
                start.cast(),
                length,
                null_mut(),
                overlapped,
            )
        }
    };
    waited(file, call, &mut overlapped).map(|bytes| bytes as usize)
}
