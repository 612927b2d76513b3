//! Room for the files of tests. The program leaves a tenth of every file system free, so it
//! makes no test file on a large one that is nearly full: there, the tests get a small file
//! system of their own, in a file.

use crate::shell;
use anyhow::{Context, Result, bail};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What tests have in files at any time, and as much again, in bytes (246 MiB were measured).
const NEEDED_BYTES: u64 = 512 << 20;
/// The size of their own file system, in bytes: the program uses three quarters of it.
const IMAGE_BYTES: u64 = 1 << 30;
/// What stays free beside that, in bytes.
const BESIDE_BYTES: u64 = 512 << 20;
/// What stays free on any file system above 8 GiB, in bytes.
const FLOOR_BYTES: u64 = 2 << 30;

/// Before the number of the process in the name of a folder.
const PREFIX: &str = "stripewise-tests-";

/// A file system for the tests, as long as it lives.
pub struct Room {
    folder: PathBuf,
}

impl Room {
    /// Where the usual folder for temporary files has too little room, and root can make
    /// more. What is in the way is printed: tests that lack the room will report it as well.
    pub fn make_if_needed() -> Option<Room> {
        let usual = std::env::temp_dir();
        remove_leftovers(&usual);
        let space = Space::of(&usual).ok()?;
        if space.room_bytes() >= NEEDED_BYTES {
            return None;
        }
        let usual_name = usual.display();
        match Room::make(&usual, &space) {
            Ok(room) => {
                println!("{usual_name} is nearly full: tests use a file system of their own");
                Some(room)
            }
            Err(error) => {
                println!("{usual_name} is nearly full, and tests have no other place: {error:#}");
                None
            }
        }
    }

    fn make(usual: &Path, space: &Space) -> Result<Room> {
        if space.available_bytes < IMAGE_BYTES + BESIDE_BYTES {
            bail!("less than 1.5 GiB are free");
        }
        let folder = usual.join(format!("{PREFIX}{}", std::process::id()));
        // Fails where there is one, whoever made it.
        DirBuilder::new().mode(0o700).create(&folder)?;
        let room = Room { folder };
        let (image, mounted) = (image(&room.folder), room.path());
        std::fs::create_dir(&mounted)?;
        File::create_new(&image)?;
        let size = IMAGE_BYTES.to_string();
        shell::read(
            Command::new("fallocate")
                .args(["--length", &size])
                .arg(&image),
        )?;
        // Discards would give back what was reserved, and the program refuses to fill a sparse
        // file that the file system below has no room for.
        shell::read(
            Command::new("mkfs.ext4")
                .args(["-q", "-m", "0", "-E", "nodiscard"])
                .arg(&image),
        )?;
        shell::read(
            Command::new("mount")
                .args(["-o", "loop"])
                .args([&image, &mounted]),
        )?;
        Ok(room)
    }

    /// Its root.
    pub fn path(&self) -> PathBuf {
        mounted(&self.folder)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

fn image(folder: &Path) -> PathBuf {
    folder.join("image")
}

fn mounted(folder: &Path) -> PathBuf {
    folder.join("mounted")
}

/// Takes down what `Room::make` made there, as far as it came.
fn remove(folder: &Path) {
    let _ = Command::new("umount")
        .arg("--lazy")
        .arg(mounted(folder))
        .output();
    let _ = std::fs::remove_file(image(folder));
    let _ = std::fs::remove_dir(mounted(folder));
    let _ = std::fs::remove_dir(folder);
}

/// What earlier processes of this user left that were killed.
fn remove_leftovers(usual: &Path) {
    let own = std::fs::metadata("/proc/self").map(|own| own.uid()).ok();
    for entry in std::fs::read_dir(usual).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let Some(process) = process.and_then(|process| process.parse::<u32>().ok()) else {
            continue;
        };
        let is_ours = entry
            .metadata()
            .is_ok_and(|found| found.is_dir() && Some(found.uid()) == own);
        if is_ours && !Path::new(&format!("/proc/{process}")).exists() {
            remove(&entry.path());
        }
    }
}

/// Space on a file system, in bytes.
struct Space {
    total_bytes: u64,
    available_bytes: u64,
}

impl Space {
    fn of(path: &Path) -> Result<Space> {
        let mut stat = Command::new("stat");
        stat.args(["--file-system", "--format", "%S %b %a"])
            .arg(path);
        let printed = shell::read(&mut stat)?.stdout;
        Space::parse(&printed).context("`stat` printed no numbers")
    }

    /// Of the size of a block, how many there are, and how many are free.
    fn parse(printed: &str) -> Option<Space> {
        let mut numbers = printed
            .split_whitespace()
            .map(|word| word.parse::<u64>().ok());
        let block = numbers.next()??;
        Some(Space {
            total_bytes: numbers.next()??.saturating_mul(block),
            available_bytes: numbers.next()??.saturating_mul(block),
        })
    }

    /// What the program would use, by the rule in `crates/targets/src/space.rs`.
    fn room_bytes(&self) -> u64 {
        let enough = FLOOR_BYTES.min(self.total_bytes / 4);
        let floor = (self.total_bytes / 10).max(enough);
        self.available_bytes.saturating_sub(floor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_disk_that_is_nearly_full_has_no_room() {
        let room = |printed| Space::parse(printed).unwrap().room_bytes() >> 20;
        assert_eq!(room("4096 262144000 10000000"), 0, "1 TB, 4 % free");
        assert_eq!(room("4096 1048576 786432"), 2048, "4 GiB, 3 GiB free");
        assert!(Space::parse("4096 x 1").is_none());
    }

    #[test]
    fn only_what_a_dead_process_of_ours_left_is_removed() {
        let folder = std::env::temp_dir().join(format!("leftovers-{}", std::process::id()));
        let left = |name: &str| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.join("mounted")).unwrap();
            std::fs::write(path.join("image"), "").unwrap();
            path
        };
        let dead = left(&format!("{PREFIX}{}", u32::MAX));
        let others = [
            left(&format!("{PREFIX}{}", std::process::id())),
            left(&format!("{PREFIX}of-somebody")),
            left("stripewise-test"),
        ];
        remove_leftovers(&folder);
        let kept = others.map(|path| path.join("image").exists());
        let gone = !dead.exists();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((gone, kept), (true, [true; 3]));
    }
}
