//! Files registered with io_uring: they stay in use when their descriptor is closed. The kernel
//! lists them, by name only, in the `fdinfo` of the ring.

use crate::linux::file_or_devices::{FileOrDevices, Match};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stripewise_machine::linux::tree::{table_text, unescape_path};

/// The link target of a ring's descriptor.
pub(super) const LINK: &str = "anon_inode:[io_uring]";

/// Whether the wanted file or device is registered with a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registered {
    No,
    Wanted,
    Unknown,
}

/// Checks one ring, whose process has `links` open. The kernel omits the list while the ring is
/// busy, so this retries a few times.
pub(super) fn registered(
    process: &Path,
    table: &Path,
    ring: &OsStr,
    links: &[PathBuf],
    wanted: &FileOrDevices,
    names: &[String],
) -> Registered {
    let facts = table.join("fdinfo").join(ring);
    for attempt in 0..20 {
        if attempt > 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        let Ok(bytes) = std::fs::read(&facts) else {
            return Registered::No; // Closed since.
        };
        let Some(files) = files(&table_text(&bytes)) else {
            continue;
        };
        let is = |path: &PathBuf| match wanted.match_of_name(process, path, names) {
            // Files that are also open were checked through their descriptors.
            Match::Unknown if links.contains(path) => Match::No,
            is => is,
        };
        let all: Vec<Match> = files.iter().map(is).collect();
        return if all.contains(&Match::Yes) {
            Registered::Wanted
        } else if all.contains(&Match::Unknown) {
            Registered::Unknown
        } else {
            Registered::No
        };
    }
    Registered::Unknown
}

/// The file names in the `fdinfo` of a ring; `None` where the list is omitted. Before Linux 6.10 a
/// name is only its last part, and an omitted list still has its heading.
fn files(text: &str) -> Option<Vec<PathBuf>> {
    let mut lines = text.lines();
    let count = lines.find_map(|line| line.strip_prefix("UserFiles:"))?;
    let count: usize = count.trim().parse().ok()?;
    let of_line = |line: &str| {
        let (number, name) = line.strip_prefix(' ')?.trim_start().split_once(':')?;
        number.parse::<u32>().ok()?;
        Some(unescape_path(name.strip_prefix(' ').unwrap_or(name)))
    };
    let files: Vec<PathBuf> = lines.map_while(of_line).collect();
    (count == 0 || !files.is_empty()).then_some(files)
}

#[cfg(test)]
mod tests {
    use super::files;
    use std::path::PathBuf;

    #[test]
    fn the_files_of_a_ring_are_listed_or_left_out() {
        let before = "pos:\t0\nflags:\t02000002\nSqMask:\t0x7\nSQEs:\t1\n    0: opcode:NOP\n";
        let after = "UserBufs:\t1\n    0: 0x7f0000000000/4096\nPollList:\n";
        let cases: [(&str, Option<&[&str]>); 6] = [
            ("UserFiles:\t0\n", Some(&[])),
            (
                "UserFiles:\t2\n    0: /dev/loop0\n    1: /a\\040b (deleted)\n",
                Some(&["/dev/loop0", "/a b (deleted)"]),
            ),
            (
                "UserFiles:\t3\n    0: loop0\n    1: <none>\n    2: socket:[77]\n",
                Some(&["loop0", "<none>", "socket:[77]"]),
            ),
            // More digits than the column width.
            ("UserFiles:\t1\n 100000: /dev/sda\n", Some(&["/dev/sda"])),
            // The ring is busy.
            ("UserFiles:\t2\n", None),
            ("", None),
        ];
        for (part, want) in cases {
            let found = files(&format!("{before}{part}{after}"));
            let want = want.map(|names| names.iter().map(PathBuf::from).collect::<Vec<_>>());
            assert_eq!(found, want, "{part}");
        }
    }
}
