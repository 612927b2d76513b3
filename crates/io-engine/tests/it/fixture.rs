//! Temporary files for the tests.

use std::any::Any;
use std::fs::File;
use std::io::Write;

use stripewise_io_engine::conformance::{Fixture, patterns};
use tempfile::NamedTempFile;

use crate::os;
pub use crate::skips::skip;

/// Files in the directory for temporary files of the build, which is on a disk
/// where `/tmp` may be memory.
pub struct Files;

fn filled(size_bytes: u64) -> NamedTempFile {
    let mut file = NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary file");
    let mut written = 0;
    while written < size_bytes {
        let end = size_bytes.min(written + (1 << 20));
        file.write_all(&patterns(written..end)).expect("written");
        written = end;
    }
    file.flush().expect("flushed");
    file
}

impl Fixture for Files {
    fn file(&self, size_bytes: u64) -> File {
        os::plain(filled(size_bytes))
    }

    fn read_only(&self, size_bytes: u64) -> File {
        os::read_only(filled(size_bytes))
    }

    fn direct(&self, size_bytes: u64) -> Result<File, String> {
        let file = filled(size_bytes);
        file.as_file().sync_all().expect("synced");
        os::open_direct(file)
    }

    fn interrupt_me(&self) -> Result<Box<dyn Any>, String> {
        os::interrupt_me()
    }
}
