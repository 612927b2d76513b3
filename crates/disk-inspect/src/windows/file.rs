//! Where the bytes of a file are, according to NTFS. Other file systems number their clusters
//! differently, or do not report them: nothing is claimed for them.

use super::query;
use crate::placement::{Extent, Placement};
use crate::storage::FileLayout;
use std::fs::File;
use std::os::windows::io::AsRawHandle;
use stripewise_disk_formats::ioctl::{self, codes};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_COMPRESSED, FILE_ATTRIBUTE_ENCRYPTED, FILE_STANDARD_INFO, FileStandardInfo,
    GetFileInformationByHandleEx,
};

/// Most extents examined.
const EXTENTS_MAX: usize = 1 << 18;
/// The answer for a file without clusters: end of file.
const ERROR_HANDLE_EOF: u32 = 38;

/// The runs of a file; whether they are all. `None` if it is not on NTFS.
fn extents(file: &File) -> Option<(Vec<ioctl::FileExtent>, bool)> {
    let volume = query::ask(file, codes::GET_NTFS_VOLUME_DATA, &[]).ok()?;
    let unit = ioctl::ntfs_volume(&volume).ok()?.allocation_unit_bytes;
    let mut found: Vec<ioctl::FileExtent> = Vec::new();
    let mut cluster = 0u64;
    loop {
        let from = cluster.to_le_bytes();
        let part = query::query_part(file, codes::GET_RETRIEVAL_POINTERS, &from, 64 << 10);
        let (bytes, more) = match part {
            Ok(part) => part,
            Err(refusal) if refusal.code == ERROR_HANDLE_EOF => return Some((found, true)),
            Err(_) => return None,
        };
        let runs = ioctl::retrieval_pointers(&bytes, cluster, unit).ok()?;
        let is_further = runs.next_cluster > cluster;
        cluster = runs.next_cluster;
        found.extend(runs.extents);
        if !more || !is_further || found.len() >= EXTENTS_MAX {
            return Some((found, !more));
        }
    }
}

/// Allocated bytes and end of file. The answer is `FILE_STANDARD_INFO`: 0 `AllocationSize`, 8
/// `EndOfFile`, then 8 bytes with booleans, which a foreign file system may fill with anything; so
/// it is read as integers.
fn sizes(file: &File) -> Option<(u64, u64)> {
    const _: () = assert!(size_of::<FILE_STANDARD_INFO>() == 24);
    let mut information = [0i64; 3];
    // SAFETY: the buffer is live, aligned and has the 24 bytes of the class.
    let done = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            FileStandardInfo,
            information.as_mut_ptr().cast(),
            24,
        )
    };
    let [allocated, end, _] = information;
    let is_reported = done != 0;
    Some((u64::try_from(allocated).ok()?, u64::try_from(end).ok()?)).filter(|_| is_reported)
}

/// Holes and allocated bytes. NTFS does not report how much of a file was ever written (its valid
/// data length), so `unwritten_bytes` is always 0 here.
pub fn layout(file: &File) -> Option<FileLayout> {
    use std::os::windows::fs::MetadataExt;
    let (allocated_bytes, size_bytes) = sizes(file)?;
    let attributes = file.metadata().ok()?.file_attributes();
    let (extents, complete) = extents(file)?;
    let is_encoded = attributes & (FILE_ATTRIBUTE_COMPRESSED | FILE_ATTRIBUTE_ENCRYPTED) != 0;
    let without_place: u64 = extents
        .iter()
        .filter(|extent| extent.volume_bytes.is_none())
        .map(|extent| within(extent, size_bytes))
        .sum();
    Some(FileLayout {
        size_bytes,
        allocated_bytes,
        // The clusters that compression saved have no location either.
        hole_bytes: if is_encoded { 0 } else { without_place },
        encoded_bytes: if is_encoded { size_bytes } else { 0 },
        extents: extents.len() as u64,
        partial: !complete,
        ..FileLayout::default()
    })
}

/// Bytes of an extent below the file's end.
fn within(extent: &ioctl::FileExtent, size_bytes: u64) -> u64 {
    let left = size_bytes.saturating_sub(extent.logical_bytes);
    extent.length_bytes.min(left)
}

/// Extents with a location. NTFS counts clusters from the volume's first byte.
pub fn placement_of(file: &File) -> Option<Placement> {
    let size_bytes = file.metadata().ok()?.len();
    let (extents, complete) = extents(file)?;
    let extents = extents
        .iter()
        .filter(|extent| extent.volume_bytes.is_some())
        .map(|extent| Extent {
            logical_bytes: extent.logical_bytes,
            physical_bytes: extent.volume_bytes,
            length_bytes: within(extent, size_bytes),
        })
        .filter(|extent| extent.length_bytes > 0)
        .collect();
    Some(Placement { extents, complete })
}

/// Always false: locks belong to the handle they were taken with.
pub fn is_open_here(_path: &std::path::Path) -> bool {
    false
}
