//! Any text in any file of a made-up machine: `disks` describes what is there or
//! says what is not, in bounded time. The machines are those of the golden tests;
//! an input names one and replaces files of it: `TREE (FILE LENGTH TEXT)...`, a
//! byte, then 16 bits, 16 bits and the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use stripewise_disk_inspect::System;
use stripewise_disk_inspect::survey::Request;

const TREES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../crates/disk-inspect/tests/trees"
);

/// A machine laid out below a folder of this process.
struct Machine {
    root: PathBuf,
    /// Its text files, and what they hold.
    files: Vec<(PathBuf, String)>,
}

static MACHINES: LazyLock<Vec<Machine>> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let below = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    let root = below.join(format!("stripewise-fuzz-{}", std::process::id()));
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
    let mut files = Vec::new();
    for line in fs::read_to_string(tree).expect("a tree").lines() {
        let place = |name: &str| {
            let path = root.join(name.trim());
            fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
            path
        };
        let marks = [" -> ", " @ ", " ="];
        let first = marks
            .iter()
            .filter_map(|mark| Some((line.find(mark)?, *mark)))
            .min();
        match first {
            _ if line.starts_with('#') => {}
            Some((at, " -> ")) => symlink(&line[at + 4..], place(&line[..at])).expect("a link"),
            Some((_, " @ ")) => {}
            Some((at, mark)) => {
                let text = line[at + mark.len()..].trim_start_matches(' ');
                let text = text.replace("\\n", "\n").replace("\\t", "\t");
                let path = place(&line[..at]);
                fs::write(&path, &text).expect("a file");
                files.push((path, text));
            }
            None => fs::create_dir_all(place(line)).expect("a folder"),
        }
    }
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
