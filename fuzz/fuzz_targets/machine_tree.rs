//! Any text in any file of a made-up machine: `disks` describes what is there or
//! says what is not, in bounded time. The machines are those of the golden tests;
//! an input names one and replaces files of it: `TREE (FILE LENGTH TEXT)...`, a
//! byte, then 16 bits, 16 bits and the text.
#![no_main]

#[path = "../../crates/disk-inspect/tests/it/layout.rs"]
mod layout;

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use stripewise_disk_inspect::survey::Request;
use stripewise_disk_inspect::{Inspect, System};

const TREES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../crates/disk-inspect/tests/trees"
);

/// A machine laid out below a folder of this process, in the folder for temporary
/// files, from which whoever started it takes it away.
struct Machine {
    root: PathBuf,
    /// Its text files, and what they hold.
    files: Vec<(PathBuf, String)>,
}

static MACHINES: LazyLock<Vec<Machine>> = LazyLock::new(|| {
    let name = format!("stripewise-fuzz-{}", std::process::id());
    let root = std::env::temp_dir().join(name);
    let mut trees: Vec<PathBuf> = fs::read_dir(TREES)
        .expect("the golden trees")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "tree"))
        .collect();
    trees.sort();
    trees
        .iter()
        .enumerate()
        .map(|(index, tree)| lay(tree, &root.join(index.to_string())))
        .collect()
});

/// Lays out a tree as the golden tests do, without the bytes of its devices,
/// which have targets of their own.
fn lay(tree: &Path, root: &Path) -> Machine {
    let text = fs::read_to_string(tree).expect("a tree");
    layout::lay_out(text.lines().filter(|line| !line.contains(" @ ")), root);
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            match entry.file_type().expect("a kind") {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => {
                    let text = fs::read_to_string(entry.path()).expect("a text");
                    files.push((entry.path(), text));
                }
                _ => {}
            }
        }
    }
    files.sort();
    Machine {
        root: root.to_owned(),
        files,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((which, mut rest)) = bytes.split_first() else {
        return;
    };
    let machine = &MACHINES[usize::from(*which) % MACHINES.len()];
    let mut changed = Vec::new();
    while let Some((head, behind)) = rest.split_first_chunk::<4>() {
        let file = usize::from(u16::from_le_bytes([head[0], head[1]])) % machine.files.len();
        let length = usize::from(u16::from_le_bytes([head[2], head[3]])).min(behind.len());
        fs::write(&machine.files[file].0, &behind[..length]).expect("a file");
        changed.push(file);
        rest = &behind[length..];
    }
    if let Ok(survey) = System::at(&machine.root).survey(&Request::default()) {
        for volume in &survey.volumes {
            let judgement = volume.judge(&[8 << 10, 64 << 10]);
            assert!(judgement.checks.iter().all(|check| !check.text.is_empty()));
        }
    }
    for file in changed {
        let (path, text) = &machine.files[file];
        fs::write(path, text).expect("a file");
    }
});
