//! Files that go with their values.
//!
//! Integration tests of several crates include this file by its path, so each
//! leaves a part of it unused.

#![allow(dead_code)]

use std::fs::File;
use std::path::{Path, PathBuf};

/// A file in the target folder.
pub struct Scratch {
    pub file: File,
    pub path: PathBuf,
}

impl Scratch {
    pub fn new(name: &str) -> Self {
        let name = format!("{name}-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .expect("a file in the target folder");
        Scratch { file, path }
    }

    /// Removes the name; the file stays open.
    pub fn remove(&mut self) {
        std::fs::remove_file(&self.path).expect("the name was there");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
