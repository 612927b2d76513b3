//! Locations: volumes on disks, files in volumes.
//!
//! `VOLUME_DISK_EXTENTS`: 0 `NumberOfDiskExtents`, from 8 on `DISK_EXTENT`s of
//! 24 bytes: 0 `DiskNumber`, 8 `StartingOffset`, 16 `ExtentLength`.
//!
//! `RETRIEVAL_POINTERS_BUFFER`: 0 `ExtentCount`, 8 `StartingVcn`, from 16 on pairs of 64 bits:
//! `NextVcn` (the first cluster after the run) and `Lcn`, -1 where the clusters are not on the disk
//! (a hole, or inside a compression unit).

use super::Decoded;
use super::answer::Answer;

/// More disks than a dynamic volume may have (32), with several extents on each.
pub const EXTENTS_MAX: usize = 4096;
/// Most runs of clusters in one answer; the caller repeats the call for more.
const RUNS_MAX: usize = 1 << 20;

/// A piece of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskExtent {
    /// N of `PhysicalDriveN`.
    pub disk: u32,
    /// First byte on that disk.
    pub start_bytes: u64,
    /// Its length.
    pub size_bytes: u64,
}

/// Decodes `VOLUME_DISK_EXTENTS`. The order does not show how the pieces are combined.
///
/// # Errors
/// If counts or signs are invalid, or an extent extends beyond 2^63.
pub fn disk_extents(bytes: &[u8]) -> Decoded<Vec<DiskExtent>> {
    let answer = Answer::new(bytes, "IOCTL_VOLUME_GET_VOLUME_DISK_EXTENTS", 8)?;
    let count = answer.count(answer.u32(0)?, 8, 24, EXTENTS_MAX)?;
    (0..count)
        .map(|index| {
            let at = 8 + 24 * index;
            let extent = DiskExtent {
                disk: answer.u32(at)?,
                start_bytes: answer.size(at + 8, "an extent's start")?,
                size_bytes: answer.size(at + 16, "an extent's length")?,
            };
            Ok(extent)
        })
        .collect()
}

/// A run of a file's clusters, in bytes of the file and of the volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// First byte in the file.
    pub logical_bytes: u64,
    /// First byte from the volume's cluster 0; absent for holes and compressed
    /// clusters.
    pub volume_bytes: Option<u64>,
    /// Its length.
    pub length_bytes: u64,
}

/// The contiguous runs in one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileExtents {
    /// In file order.
    pub extents: Vec<FileExtent>,
    /// The next cluster to query, if there are more.
    pub next_cluster: u64,
}

/// Decodes `RETRIEVAL_POINTERS_BUFFER`, the answer for clusters from `from_cluster` on, of
/// `unit_bytes` each.
///
/// # Errors
/// If counts or signs are invalid, runs are not ascending, or a position exceeds 64 bits of bytes.
pub fn retrieval_pointers(
    bytes: &[u8],
    from_cluster: u64,
    unit_bytes: u64,
) -> Decoded<FileExtents> {
    let answer = Answer::new(bytes, "FSCTL_GET_RETRIEVAL_POINTERS", 16)?;
    let count = answer.count(answer.u32(0)?, 16, 16, RUNS_MAX)?;
    // The answer may start before the requested cluster, at the start of its run.
    let mut cluster = answer.size(8, "the first cluster")?;
    if cluster > from_cluster {
        return Err(answer.wrong(format!(
            "it starts at cluster {cluster}, {from_cluster} was asked for"
        )));
    }
    let bytes_of = |clusters: u64| {
        clusters
            .checked_mul(unit_bytes)
            .filter(|bytes| *bytes <= i64::MAX as u64)
            .ok_or_else(|| answer.wrong(format!("cluster {clusters} of {unit_bytes} bytes")))
    };
    let mut found = FileExtents::default();
    for index in 0..count {
        let at = 16 + 16 * index;
        let next = answer.size(at, "the next cluster")?;
        if next <= cluster {
            return Err(answer.wrong(format!(
                "after cluster {cluster} comes {next}: it does not go forward"
            )));
        }
        let volume_bytes = match answer.i64(at + 8)? {
            -1 => None,
            place => {
                let place = u64::try_from(place)
                    .map_err(|_| answer.wrong(format!("a run at cluster {place}")))?;
                Some(bytes_of(place)?)
            }
        };
        let end = bytes_of(next)?;
        let logical_bytes = bytes_of(cluster)?;
        found.extents.push(FileExtent {
            logical_bytes,
            volume_bytes,
            length_bytes: end - logical_bytes,
        });
        cluster = next;
    }
    found.next_cluster = cluster;
    Ok(found)
}
