//! Runs every fuzz target on its initial inputs: the fixtures of the tests, and past findings
//! (`fuzz/corpus`). Needs no libFuzzer, so the normal tests detect a recurring finding.

use super::seeds;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

macro_rules! targets {
    ($($name:ident: $file:literal),* $(,)?) => {
        $(
            // `no_main` is for libFuzzer.
            #[allow(unused_attributes, clippy::duplicate_mod)]
            #[path = $file]
            mod $name;
        )*
        const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($name), $name::target)),*];
    };
}

targets! {
    array_file: "../../../fuzz/fuzz_targets/array_file.rs",
    convert: "../../../fuzz/fuzz_targets/convert.rs",
    disk_image: "../../../fuzz/fuzz_targets/disk_image.rs",
    import: "../../../fuzz/fuzz_targets/import.rs",
    kernel_text: "../../../fuzz/fuzz_targets/kernel_text.rs",
    lvm_metadata: "../../../fuzz/fuzz_targets/lvm_metadata.rs",
    machine_tree: "../../../fuzz/fuzz_targets/machine_tree.rs",
    mapper_table: "../../../fuzz/fuzz_targets/mapper_table.rs",
    partition_table: "../../../fuzz/fuzz_targets/partition_table.rs",
    plan_file: "../../../fuzz/fuzz_targets/plan_file.rs",
    record: "../../../fuzz/fuzz_targets/record.rs",
    saved_table: "../../../fuzz/fuzz_targets/saved_table.rs",
    sqlio_command: "../../../fuzz/fuzz_targets/sqlio_command.rs",
    superblock: "../../../fuzz/fuzz_targets/superblock.rs",
    trace_file: "../../../fuzz/fuzz_targets/trace_file.rs",
    typed_word: "../../../fuzz/fuzz_targets/typed_word.rs",
    volume_log: "../../../fuzz/fuzz_targets/volume_log.rs",
    windows_answer: "../../../fuzz/fuzz_targets/windows_answer.rs",
    witness_stream: "../../../fuzz/fuzz_targets/witness_stream.rs",
}

/// A target as a function; it stands below the modules that name it by its path.
#[macro_export]
macro_rules! fuzz_target {
    (|$bytes:ident: &[u8]| $body:expr) => {
        pub fn target($bytes: &[u8]) {
            $body;
        }
    };
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of seeds") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn all_targets_are_replayed() {
    let folder = fs::read_dir(root().join("fuzz/fuzz_targets")).expect("the targets");
    let there: BTreeSet<String> = folder
        .map(|entry| entry.expect("an entry").file_name())
        .filter_map(|name| Some(name.to_str()?.strip_suffix(".rs")?.to_owned()))
        .collect();
    let here: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(here, there);
}

#[test]
fn no_target_fails_on_what_it_starts_from() {
    let work = tempfile::tempdir().expect("a folder");
    for (name, target) in TARGETS {
        let mut inputs = Vec::new();
        for folder in seeds::of(root(), name, work.path()).expect("seeds") {
            files(&folder, &mut inputs);
        }
        // `superblock` and similar targets start from the disks; none starts from nothing.
        assert!(!inputs.is_empty(), "{name} has no seeds");
        for input in inputs {
            // Shown only if the target fails.
            println!("{name}: {}", input.display());
            let bytes = fs::read(&input).expect("an input");
            target(&bytes);
            target(&bytes[..bytes.len() / 2]);
        }
    }
}
