//! Space that allocation units waste on small files: half a unit for each, and on the actual
//! files of a directory.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_disk_inspect::System;
use stripewise_lab::layouts::Factor;
use stripewise_units::{ByteSize, format_bytes, format_count};

/// Units to report on if none is named.
const USUAL: [u64; 2] = [4 << 10, 64 << 10];
/// Maximum number of names examined: files, directories and anything else.
const NAMES_MAX: usize = 20_000;
/// Fewer files do not represent a use.
const FILES_MIN: usize = 20;

/// The allocation units that the user names, or the usual ones.
pub fn units_of(vary: &[Factor]) -> Vec<u64> {
    let named = vary.iter().find(|factor| factor.name == "allocation-unit");
    let levels = named.map(|factor| factor.levels.as_slice());
    let parsed = |level: &String| level.parse().map(ByteSize::bytes).ok();
    let mut units: Vec<u64> = levels
        .unwrap_or_default()
        .iter()
        .filter_map(parsed)
        .filter(|unit| *unit > 0)
        .collect();
    if units.is_empty() {
        units.extend(USUAL);
    }
    units.sort_unstable();
    units.dedup();
    units
}

/// By arithmetic: a file wastes half a unit on average.
pub fn slack_note(units: &[u64]) -> String {
    const FILES: u64 = 1_000_000;
    let each: Vec<String> = units
        .iter()
        .map(|unit| {
            format!(
                "{} with {} ({} on a million small files)",
                ByteSize(unit / 2),
                ByteSize(*unit),
                format_bytes((unit / 2).saturating_mul(FILES))
            )
        })
        .collect();
    format!(
        "By arithmetic: a file wastes half an allocation unit on average, {}.",
        each.join(", ")
    )
}

/// Space that the files of a directory would waste with each unit; `None` if there are few.
pub fn slack_of_files(context: &Context, directory: &Path, units: &[u64]) -> Option<String> {
    let mounts: HashSet<PathBuf> = System::live().mount_points().into_iter().collect();
    let walk = Walk {
        names_max: NAMES_MAX,
        is_mount_point: &|path| mounts.contains(path),
        is_stopped: &|| context.signal().is_some(),
    };
    words_of(&walk.through(directory)?, units)
}

fn words_of(found: &FileSizes, units: &[u64]) -> Option<String> {
    if found.sizes.len() < FILES_MIN {
        return None;
    }
    let held = found.sizes.iter().copied().fold(0, u64::saturating_add);
    let each: Vec<String> = units
        .iter()
        .map(|unit| {
            let each = found.sizes.iter().map(|size| slack_space(*size, *unit));
            let wasted = each.fold(0, u64::saturating_add);
            format!("{} with {}", format_bytes(wasted), ByteSize(*unit))
        })
        .collect();
    let count = format_count(found.sizes.len() as u64);
    let which = match &found.cut_short {
        None => format!("The {count} files there"),
        Some(why) => format!("A part of the files there, {count} of them ({why}),"),
    };
    Some(format!(
        "{which} hold {} and would waste {}, by their sizes.",
        format_bytes(held),
        each.join(", ")
    ))
}

/// Unused bytes after the end of a file of this size.
fn slack_space(size_bytes: u64, unit_bytes: u64) -> u64 {
    match size_bytes {
        0 => 0,
        size => (size.checked_next_multiple_of(unit_bytes)).unwrap_or(u64::MAX) - size,
    }
}

/// File sizes below a directory.
#[derive(Debug, Default)]
struct FileSizes {
    /// Sizes of regular files, unordered.
    sizes: Vec<u64>,
    /// Why there may be more of them.
    cut_short: Option<String>,
}

/// Parameters of a directory walk.
struct Walk<'a> {
    names_max: usize,
    /// Whether another file system is mounted at a path.
    is_mount_point: &'a dyn Fn(&Path) -> bool,
    /// Whether to stop.
    is_stopped: &'a dyn Fn() -> bool,
}

impl Walk<'_> {
    /// Collects the files below a directory, on its file system; does not follow links.
    /// `None` if it is not a directory.
    fn through(&self, directory: &Path) -> Option<FileSizes> {
        // Mount points are listed with links resolved.
        let start = std::fs::canonicalize(directory).ok()?;
        if !start.is_dir() {
            return None;
        }
        let mut found = FileSizes::default();
        let mut names = 0;
        let mut left = vec![start];
        while let Some(directory) = left.pop() {
            // Skip what may not be read.
            let Ok(entries) = std::fs::read_dir(&directory) else {
                continue;
            };
            for entry in entries.flatten() {
                if (self.is_stopped)() {
                    found.cut_short = Some("it was interrupted".to_owned());
                    return Some(found);
                }
                if names == self.names_max {
                    found.cut_short = Some(format!(
                        "at most {} names are examined",
                        format_count(names as u64)
                    ));
                    return Some(found);
                }
                names += 1;
                let Ok(about) = entry.metadata() else {
                    continue;
                };
                if about.is_file() {
                    found.sizes.push(about.len());
                } else if about.is_dir() && !(self.is_mount_point)(&entry.path()) {
                    left.push(entry.path());
                }
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_wastes_what_lies_behind_the_end_of_a_file() {
        for (size, unit, wasted) in [
            (0, 4096, 0),
            (1, 4096, 4095),
            (4096, 4096, 0),
            (4097, 4096, 4095),
            (4097, 65_536, 61_439),
        ] {
            assert_eq!(slack_space(size, unit), wasted, "{size} {unit}");
        }
    }

    #[test]
    fn units_are_those_that_are_named() {
        let named = |levels: &[&str]| {
            units_of(&[Factor {
                name: "allocation-unit".to_owned(),
                levels: levels.iter().map(|level| (*level).to_owned()).collect(),
            }])
        };
        assert_eq!(units_of(&[]), USUAL);
        assert_eq!(named(&["64K", "8K", "8K"]), [8 << 10, 64 << 10]);
        let note = slack_note(&named(&["8K", "2M"]));
        assert!(note.contains("4K with 8K (3.8 GiB on a million"), "{note}");
        assert!(note.contains("1M with 2M"), "{note}");
    }

    /// Thirty files of 1 KiB, half of them one directory down.
    fn thirty_runs() -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        let below = directory.path().join("below");
        std::fs::create_dir(&below).expect("made");
        for number in 0..30 {
            let place = if number % 2 == 0 {
                directory.path()
            } else {
                &below
            };
            std::fs::write(place.join(format!("{number}")), vec![1; 1024]).expect("written");
        }
        directory
    }

    const ALL: Walk<'_> = Walk {
        names_max: NAMES_MAX,
        is_mount_point: &|_| false,
        is_stopped: &|| false,
    };

    fn slack_note_of(walk: &Walk<'_>, directory: &Path) -> Option<String> {
        words_of(&walk.through(directory).expect("a directory"), &USUAL)
    }

    #[test]
    fn files_of_a_directory_are_counted_as_they_are() {
        let empty = tempfile::tempdir().expect("a directory");
        assert_eq!(slack_note_of(&ALL, empty.path()), None);
        let directory = thirty_runs();
        let slack_note_of = slack_note_of(&ALL, directory.path()).expect("files");
        assert!(
            slack_note_of.contains(
                "The 30 files there hold 30 KiB and would waste 90 KiB with 4K, 1.8 MiB with 64K"
            ),
            "{slack_note_of}"
        );
        assert!(ALL.through(&directory.path().join("0")).is_none());
    }

    #[test]
    fn a_part_of_the_files_is_called_one() {
        let directory = thirty_runs();
        let few = |names_max| Walk { names_max, ..ALL };
        // One of the 31 names is a directory: 20 to 29 files are found.
        let part = slack_note_of(&few(30), directory.path()).expect("files");
        assert!(part.starts_with("A part of the files there, 2"), "{part}");
        assert!(
            part.contains("(at most 30 names are examined), hold 29 KiB"),
            "{part}"
        );
        let all = slack_note_of(&few(31), directory.path()).expect("files");
        assert!(all.starts_with("The 30 files there hold"), "{all}");
    }

    #[test]
    fn counting_ends_when_it_is_to() {
        let directory = thirty_runs();
        let looks = std::cell::Cell::new(0);
        let is_stopped = || {
            looks.set(looks.get() + 1);
            looks.get() > 25
        };
        let walk = Walk {
            is_stopped: &is_stopped,
            ..ALL
        };
        let part = slack_note_of(&walk, directory.path()).expect("files");
        assert!(
            part.contains("of them (it was interrupted), hold"),
            "{part}"
        );
        let at_once = Walk {
            is_stopped: &|| true,
            ..ALL
        };
        assert_eq!(slack_note_of(&at_once, directory.path()), None);
    }

    #[test]
    fn what_is_mounted_below_is_not_counted() {
        let directory = thirty_runs();
        let below = std::fs::canonicalize(directory.path()).expect("a path");
        let below = below.join("below");
        let is_mount_point = |path: &Path| path == below;
        let walk = Walk {
            is_mount_point: &is_mount_point,
            ..ALL
        };
        let found = walk.through(directory.path()).expect("a directory");
        assert_eq!((found.sizes.len(), found.cut_short), (15, None));
    }
}
