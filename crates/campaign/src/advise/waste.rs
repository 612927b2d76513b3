//! What allocation units waste on small files: half a unit for each, and on the files of a
//! directory as they are.

use std::path::Path;
use stripewise_lab::layouts::Factor;
use stripewise_units::{ByteSize, format_bytes, format_count};

/// Units that are spoken of where none is named.
const USUAL: [u64; 2] = [4 << 10, 64 << 10];
/// Files that are looked at, at most.
const FILES_MAX: usize = 20_000;
/// Fewer say nothing of a use.
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
pub fn waste_note(units: &[u64]) -> String {
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

/// What the files of a directory would waste with each unit; none where there are few.
pub fn waste_of_files(directory: &Path, units: &[u64]) -> Option<String> {
    let sizes = sizes_of(directory)?;
    if sizes.len() < FILES_MIN {
        return None;
    }
    let held: u64 = sizes.iter().sum();
    let each: Vec<String> = units
        .iter()
        .map(|unit| {
            let each = sizes.iter().map(|size| waste(*size, *unit));
            let wasted = each.fold(0, u64::saturating_add);
            format!("{} with {}", format_bytes(wasted), ByteSize(*unit))
        })
        .collect();
    let which = match sizes.len() < FILES_MAX {
        true => format!("The {} files there", format_count(sizes.len() as u64)),
        false => format!("The first {} files there", format_count(FILES_MAX as u64)),
    };
    Some(format!(
        "{which} hold {} and would waste {}, by their sizes.",
        format_bytes(held),
        each.join(", ")
    ))
}

/// What lies unused behind the end of a file of this size.
fn waste(size_bytes: u64, unit_bytes: u64) -> u64 {
    match size_bytes {
        0 => 0,
        size => (size.checked_next_multiple_of(unit_bytes)).unwrap_or(u64::MAX) - size,
    }
}

/// Sizes of regular files below a directory, in no order; links are not followed.
fn sizes_of(directory: &Path) -> Option<Vec<u64>> {
    if !directory.is_dir() {
        return None;
    }
    let mut sizes = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        // What may not be read is left out.
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.flatten() {
            let Ok(about) = entry.metadata() else {
                continue;
            };
            if about.is_dir() {
                left.push(entry.path());
            } else if about.is_file() {
                sizes.push(about.len());
            }
            if sizes.len() >= FILES_MAX || left.len() >= FILES_MAX {
                return Some(sizes);
            }
        }
    }
    Some(sizes)
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
            assert_eq!(waste(size, unit), wasted, "{size} {unit}");
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
        let note = waste_note(&named(&["8K", "2M"]));
        assert!(note.contains("4K with 8K (3.8 GiB on a million"), "{note}");
        assert!(note.contains("1M with 2M"), "{note}");
    }

    #[test]
    fn files_of_a_directory_are_counted_as_they_are() {
        let directory = tempfile::tempdir().expect("a directory");
        assert_eq!(waste_of_files(directory.path(), &USUAL), None);
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
        let said = waste_of_files(directory.path(), &USUAL).expect("files");
        assert!(
            said.contains(
                "30 files there hold 30 KiB and would waste 90 KiB with 4K, 1.8 MiB with 64K"
            ),
            "{said}"
        );
    }
}
