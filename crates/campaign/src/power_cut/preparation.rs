//! Assigns the writers to areas of the open targets.

use super::{PowerCutOptions, SIZE_BYTES_USUAL};
use crate::steps::verification::refuse_small_files;
use crate::steps::verification::witnessed::CutTarget;
use std::fs::File;
use std::path::Path;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_inspect::storage::BlockDeviceKind;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_results::TargetKind;
use stripewise_targets::Target;
use stripewise_units::{counted, format_bytes, path_of};
use stripewise_verify::cut::CutWorker;

/// The largest write: large enough to be torn.
const WRITE_BYTES_MAX: u32 = 256 << 10;
/// Minimum area of a writer, so that writes in flight seldom meet.
const PART_BYTES_MIN: u64 = 1 << 20;
/// Assumed physical write size of drives that do not report it.
const PHYSICAL_BYTES_USUAL: u64 = 4096;

/// Refuses an impossible size before a test file is made, which would stay.
pub(super) fn check(options: &PowerCutOptions) -> Outcome<()> {
    let Some(bytes) = options.size_bytes else {
        return Ok(());
    };
    refuse_small_files(&options.targets, bytes)?;
    match part_bytes_of(bytes, options.threads) {
        0 => {
            let what = format!("--size {}", format_bytes(bytes));
            Err(too_little(&what, options.threads))
        }
        _ => Ok(()),
    }
}

/// The area of each of `threads` writers on a target.
fn part_bytes_of(size_bytes: u64, threads: u32) -> u64 {
    size_bytes / u64::from(threads) / PART_BYTES_MIN * PART_BYTES_MIN
}

/// Bytes that a run without a requested size uses of a target of `size_bytes`.
pub(super) fn used_bytes(size_bytes: u64, threads: u32) -> u64 {
    let threads = threads.max(1);
    part_bytes_of(size_bytes.min(SIZE_BYTES_USUAL), threads) * u64::from(threads)
}

fn too_little(what: &str, threads: u32) -> Failure {
    let writers = counted(threads as usize, "writer", "writers");
    Failure::usage(
        format!("{what} is too little for {writers}"),
        format!(
            "give a larger --size, {} for each of --threads at least",
            format_bytes(PART_BYTES_MIN)
        ),
    )
}

/// The targets as described to a witness, and the workers on them.
pub(super) fn targets_and_workers(
    targets: &[Target],
    stored: &[Option<String>],
    options: &PowerCutOptions,
) -> Outcome<(Vec<CutTarget>, Vec<CutWorker>)> {
    let mut facts = Vec::new();
    let mut workers = Vec::new();
    let threads = u64::from(options.threads);
    for (number, target) in targets.iter().enumerate() {
        let sector_bytes = target.logical_sector_bytes();
        let part_bytes = part_bytes_of(target.size_bytes(), options.threads);
        if part_bytes == 0 {
            let has = format_bytes(target.size_bytes());
            let what = format!("{} has {has}, which", target.facts().name);
            return Err(too_little(&what, options.threads));
        }
        for part in 0..threads {
            workers.push(CutWorker {
                worker: workers.len() as u16,
                target: number as u16,
                durability: options.durability,
                start_bytes: part * part_bytes,
                length_bytes: part_bytes,
                sector_bytes,
                write_bytes_max: WRITE_BYTES_MAX,
            });
        }
        facts.push(CutTarget {
            name: (stored[number].clone()).unwrap_or_else(|| target.facts().full_name().to_owned()),
            size_bytes: part_bytes * threads,
            sector_bytes,
            row_bytes: row_bytes(target),
        });
    }
    Ok((facts, workers))
}

/// Bytes around a write in flight that it may damage.
fn row_bytes(target: &Target) -> u64 {
    let facts = target.facts();
    let physical = facts.physical_sector_bytes.map_or(0, u64::from);
    let sector_row = physical.max(PHYSICAL_BYTES_USUAL);
    if facts.kind != TargetKind::Device {
        return sector_row;
    }
    let storage = System::live().storage_of_path(Path::new(facts.full_name()));
    let parity_row = storage.ok().and_then(|storage| {
        let device = storage.nearest()?;
        let array = device.array.as_ref()?;
        let parity = match array.level.as_str() {
            "raid4" | "raid5" => 1,
            "raid6" => 2,
            _ => return None,
        };
        let data = u64::from(array.disks?).checked_sub(parity)?;
        let is_whole = device.kind == BlockDeviceKind::Array;
        Some(array.stripe_unit_bytes? * data).filter(|_| is_whole)
    });
    parity_row.unwrap_or(sector_row)
}

/// Makes the name of a file durable as well: flushes its directory.
pub(super) fn ready_on_disk(target: &Target) -> std::io::Result<()> {
    let facts = target.facts();
    // Windows cannot open a directory for this; there, flushing a file includes its name.
    if facts.kind == TargetKind::Device || std::env::consts::FAMILY == "windows" {
        return Ok(());
    }
    let path = path_of(facts.full_name());
    match path.parent() {
        Some(directory) if directory != Path::new("") => File::open(directory)?.sync_all(),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::used_bytes;

    #[test]
    fn a_run_uses_whole_parts_of_at_most_the_usual_size() {
        assert_eq!(used_bytes((16 << 20) + 512, 3), 15 << 20);
        assert_eq!(used_bytes(4 << 30, 4), 1 << 30);
        assert_eq!(used_bytes(4096, 4), 0);
        // A witness's file may say anything.
        assert_eq!(used_bytes(16 << 20, 0), 16 << 20);
    }
}
