//! Makes a directory tree from its description in `tests/trees`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use stripewise_disk_inspect::System;

static COUNT: AtomicU32 = AtomicU32::new(0);

/// A device's bytes: `size N` first, then `OFFSET HEX` for what is not zero.
fn bytes(path: &Path, text: &str) {
    use std::os::unix::fs::FileExt;
    let (place, value) = text.split_once(' ').expect("two words");
    let file = fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .expect("a file");
    if place == "size" {
        return file
            .set_len(value.parse().expect("a size"))
            .expect("a sparse file");
    }
    let piece: Vec<u8> = (0..value.len() / 2)
        .map(|at| u8::from_str_radix(&value[2 * at..2 * at + 2], 16).expect("digits"))
        .collect();
    file.write_all_at(&piece, place.parse().expect("a place"))
        .expect("bytes");
}

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
        let machine = Machine { root };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            machine.lay(line);
        }
        machine
    }

    fn lay(&self, line: &str) {
        let place = |path: &str| {
            let path = self.root.join(path.trim());
            fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
            path
        };
        // Text after the first mark may hold others.
        let marks = [" -> ", " @ ", " ="];
        let first = marks
            .iter()
            .filter_map(|mark| line.find(mark).map(|at| (at, *mark)))
            .min();
        match first {
            Some((at, " -> ")) => {
                let target = &line[at + 4..];
                std::os::unix::fs::symlink(target, place(&line[..at])).expect("a link");
            }
            Some((at, " @ ")) => bytes(&place(&line[..at]), &line[at + 3..]),
            Some((at, mark)) => {
                let text = &line[at + mark.len()..];
                let text = text.strip_prefix(' ').unwrap_or(text);
                let text = text.replace("\\n", "\n").replace("\\t", "\t");
                fs::write(place(&line[..at]), text).expect("a file");
            }
            None => fs::create_dir_all(place(line)).expect("a directory"),
        }
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

    /// Replaces the text of one file.
    pub fn set(&self, path: &str, text: &str) {
        fs::write(self.root.join(path), text).expect("a file");
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
