//! Makes a directory tree from its description in `tests/trees`.

use crate::layout::lay_out;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use stripewise_disk_inspect::System;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A tree on disk that goes with its value.
pub struct Machine {
    root: PathBuf,
}

impl Machine {
    /// Lays out `tests/trees/NAME.tree`.
    pub fn new(name: &str) -> Self {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("tree-{}-{count}", std::process::id()));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/trees/{name}.tree"));
        let text = fs::read_to_string(path).expect("a tree of this name");
        lay_out(text.lines(), &root);
        Machine { root }
    }

    pub fn system(&self) -> System {
        System::at(&self.root)
    }

    /// All regular files of the tree, sorted.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                match entry.file_type().expect("a kind") {
                    kind if kind.is_dir() => folders.push(entry.path()),
                    kind if kind.is_file() => found.push(entry.path()),
                    _ => {}
                }
            }
        }
        found.sort();
        found
    }

    /// Replaces the text of one file, or makes it.
    pub fn set(&self, path: &str, text: &str) {
        let file = self.root.join(path);
        let folder = file.parent().expect("below the root");
        fs::create_dir_all(folder).expect("a folder");
        fs::write(file, text).expect("a file");
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
