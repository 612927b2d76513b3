//! The fuzzing seeds: the tests' own fixtures, by target, and the inputs in `fuzz/corpus`, which
//! are past findings or hard to generate.
//!
//! Disks are converted from text, `size N` and `PLACE HEX`, to the targets' input: the size, then
//! place, length and bytes of each piece.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const TREES: &str = "crates/disk-inspect/tests/trees";

/// The folders with the seeds of a target; generated ones are put below `work`.
pub fn of(root: &Path, target: &str, work: &Path) -> Result<Vec<PathBuf>> {
    let fixtures: &[&str] = match target {
        "array_file" => &["crates/array-sim/arrays"],
        "import" => &["crates/compat/tests/data"],
        "plan_file" => &["crates/lab/src/plan_file"],
        "record" => &["crates/store/tests/fixtures"],
        _ => &[],
    };
    let mut folders: Vec<PathBuf> = fixtures.iter().map(|folder| root.join(folder)).collect();
    let own = root.join("fuzz/corpus").join(target);
    if own.is_dir() {
        folders.push(own);
    }
    let made = match target {
        "partition_table" | "superblock" | "disk_image" => disks(root)?,
        "machine_tree" => machines(root)?,
        "kernel_text" => texts(root)?,
        _ => return Ok(folders),
    };
    let folder = work.join(format!("{target}-seeds"));
    std::fs::create_dir_all(&folder)?;
    for (name, bytes) in made {
        std::fs::write(folder.join(name), bytes)?;
    }
    folders.push(folder);
    Ok(folders)
}

/// The lines of all trees and disks: file, then line.
fn lines(root: &Path, folder: &str, ending: &str) -> Result<Vec<(String, String)>> {
    let directory = root.join(folder);
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&directory)
        .with_context(|| format!("cannot read {}", directory.display()))?
    {
        let path = entry?.path();
        if path.extension().is_none_or(|found| found != ending) {
            continue;
        }
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text = std::fs::read_to_string(&path)?;
        found.extend(text.lines().map(|line| (name.clone(), line.to_owned())));
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(found)
}

/// Each device of the trees, and each disk of `fuzz/disks`.
fn disks(root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut disks: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for (tree, line) in lines(root, TREES, "tree")? {
        if let Some((path, piece)) = line.split_once(" @ ") {
            let device = path.replace('/', "-");
            add(disks.entry(format!("{tree}-{device}")).or_default(), piece)?;
        }
    }
    for (name, line) in lines(root, "fuzz/disks", "txt")? {
        add(disks.entry(name).or_default(), &line)?;
    }
    Ok(disks)
}

/// `size N` or `PLACE HEX`, as bytes.
fn add(disk: &mut Vec<u8>, piece: &str) -> Result<()> {
    let (place, value) = piece
        .split_once(' ')
        .with_context(|| format!("`{piece}` is no piece of a disk"))?;
    if place == "size" {
        disk.splice(0..0, value.parse::<u64>()?.to_le_bytes());
        return Ok(());
    }
    let digits: Vec<u8> = value.bytes().filter(u8::is_ascii_hexdigit).collect();
    let bytes = digits
        .chunks_exact(2)
        .map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?))
        .collect::<Result<Vec<u8>>>()?;
    disk.extend(place.parse::<u64>()?.to_le_bytes());
    disk.extend(u16::try_from(bytes.len())?.to_le_bytes());
    disk.extend(bytes);
    Ok(())
}

/// A seed for each tree without changes, and one with a longer text.
fn machines(root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut names: Vec<String> = lines(root, TREES, "tree")?
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    names.dedup();
    let one = |(index, name): (usize, String)| {
        let mut bytes = vec![index as u8, 7, 0, 4, 0];
        bytes.extend(b"4096\x0a\x00\x10\x00[mq-deadline] no");
        (name, bytes)
    };
    Ok(names.into_iter().enumerate().map(one).collect())
}

/// The files of `/proc` in the trees.
fn texts(root: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut found = BTreeMap::new();
    for (tree, line) in lines(root, TREES, "tree")? {
        if let Some((path, text)) = line.split_once(" = ")
            && path.starts_with("proc/")
        {
            let text = text.replace("\\n", "\n").replace("\\t", "\t");
            found.insert(
                format!("{tree}-{}", path.replace('/', "-")),
                text.into_bytes(),
            );
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_disks_become_what_the_targets_take() {
        let mut disk = Vec::new();
        add(&mut disk, "16 55aa").unwrap();
        add(&mut disk, "size 512").unwrap();
        let mut expected = 512u64.to_le_bytes().to_vec();
        expected.extend(16u64.to_le_bytes());
        expected.extend([2, 0, 0x55, 0xaa]);
        assert_eq!(disk, expected);
        assert!(add(&mut disk, "nothing").is_err());
    }
}
