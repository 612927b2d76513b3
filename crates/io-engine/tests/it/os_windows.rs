//! What the tests need of Windows: files for overlapped I/O that go when they
//! are closed. Waits are not interrupted by signals there.

use std::any::Any;
use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;

use tempfile::NamedTempFile;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_DELETE_ON_CLOSE, FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED,
};

fn open(file: NamedTempFile, writable: bool, flags: u32) -> std::io::Result<File> {
    let (file, path) = file.keep().expect("kept");
    drop(file);
    OpenOptions::new()
        .read(true)
        .write(writable)
        .custom_flags(FILE_FLAG_OVERLAPPED | FILE_FLAG_DELETE_ON_CLOSE | flags)
        .open(path)
}

pub fn plain(file: NamedTempFile) -> File {
    open(file, true, 0).expect("opened")
}

pub fn read_only(file: NamedTempFile) -> File {
    open(file, false, 0).expect("opened")
}

pub fn open_direct(file: NamedTempFile) -> Result<File, String> {
    open(file, true, FILE_FLAG_NO_BUFFERING)
        .map_err(|error| format!("a file system with unbuffered files ({error})"))
}

pub fn interrupt_me() -> Result<Box<dyn Any>, String> {
    Err("signals".to_owned())
}
