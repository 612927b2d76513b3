//! Room for the files of tests. The program leaves a tenth of every file system free, so on a
//! large one that is nearly full it makes no test file: there the tests get a small file
//! system of their own, in a file that is written in full.

use crate::shell;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// More than tests have in files at any time, in bytes.
const NEEDED_BYTES: u64 = 1 << 30;
/// What stays free on any file system above 8 GiB, in bytes.
const FLOOR_BYTES: u64 = 2 << 30;

/// A file system of the tests' own, as long as it lives.
pub struct Room {
    folder: PathBuf,
}

impl Room {
    /// Where the usual folder of temporary files has too little room, and root can make more.
    /// What is in the way is printed: tests that need the room will name it as well.
    pub fn make_if_needed() -> Option<Room> {
        let usual = std::env::temp_dir();
        let space = Space::of(&usual).ok()?;
        if space.room_bytes() >= NEEDED_BYTES {
            return None;
        }
        let folder = usual.join(format!("stripewise-tests-{}", std::process::id()));
        match Room::make(folder) {
            Ok(room) => {
                println!(
                    "{} is nearly full: tests use a file system of their own",
                    usual.display()
                );
                Some(room)
            }
            Err(error) => {
                println!(
                    "{} is nearly full, and there is no file system for tests: {error:#}",
                    usual.display()
                );
                None
            }
        }
    }

    fn make(folder: PathBuf) -> Result<Room> {
        let room = Room { folder };
        let (image, mounted) = (room.image(), room.path());
        std::fs::create_dir_all(&mounted)?;
        let size = NEEDED_BYTES.to_string();
        shell::read(
            Command::new("fallocate")
                .args(["--length", &size])
                .arg(&image),
        )?;
        shell::read(
            Command::new("mkfs.ext4")
                .args(["-q", "-m", "0"])
                .arg(&image),
        )?;
        shell::read(
            Command::new("mount")
                .args(["-o", "loop"])
                .args([&image, &mounted]),
        )?;
        Ok(room)
    }

    fn image(&self) -> PathBuf {
        self.folder.join("image")
    }

    /// Its root.
    pub fn path(&self) -> PathBuf {
        self.folder.join("mounted")
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // Nothing of it is left where it was never mounted.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.path())
            .output();
        let _ = std::fs::remove_file(self.image());
        let _ = std::fs::remove_dir(self.path());
        let _ = std::fs::remove_dir(&self.folder);
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
        let said = shell::read(&mut stat)?.stdout;
        Space::parse(&said).context("`stat` printed no numbers")
    }

    /// Of the size of a block, how many there are, and how many are free.
    fn parse(said: &str) -> Option<Space> {
        let mut numbers = said.split_whitespace().map(|word| word.parse::<u64>().ok());
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
        let room = |said| Space::parse(said).unwrap().room_bytes() >> 20;
        assert_eq!(room("4096 262144000 10000000"), 0, "1 TB, 4 % free");
        assert_eq!(room("4096 1048576 786432"), 2048, "4 GiB, 3 GiB free");
        assert!(Space::parse("4096 x 1").is_none());
    }
}
