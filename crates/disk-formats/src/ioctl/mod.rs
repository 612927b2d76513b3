//! Decodes the answers of Windows to the control codes of disks and volumes.
//!
//! Pure functions over the bytes of each answer, the same on every system, so that they are tested
//! everywhere; the calls are in `disk-inspect`. Layouts are those of `winioctl.h` and `ntddstor.h`
//! on 64-bit Windows, little-endian, as Microsoft documents them (learn.microsoft.com, "winioctl.h
//! header"); on Windows the compiler compares our offsets with the bindings' structures.
//!
//! Drivers, filters and emulations may return anything: every length, count and sign is checked
//! before use, invalid data is [`Malformed`], and nothing panics or allocates a size taken from the
//! answer.

mod answer;
mod device;
mod extents;
pub mod layout;
mod volume;

pub use device::{
    AccessAlignment, BusType, DeviceDescriptor, DeviceNumbers, Geometry, WriteCache,
    access_alignment, device_descriptor, device_number, geometry, seek_penalty, write_cache,
};
pub use extents::{
    DiskExtent, EXTENTS_MAX, FileExtent, FileExtents, disk_extents, retrieval_pointers,
};
pub use layout::drive_layout;
pub use volume::{NtfsVolume, ntfs_volume};

/// Control codes from `winioctl.h`. All but the last are "any access": they need no access to the
/// data, and so no administrator.
pub mod codes {
    /// `DRIVE_LAYOUT_INFORMATION_EX`.
    pub const DISK_GET_DRIVE_LAYOUT_EX: u32 = 0x0007_0050;
    /// `DISK_GEOMETRY_EX`.
    pub const DISK_GET_DRIVE_GEOMETRY_EX: u32 = 0x0007_00a0;
    /// `STORAGE_PROPERTY_QUERY` in, a descriptor out.
    pub const STORAGE_QUERY_PROPERTY: u32 = 0x002d_1400;
    /// `STORAGE_DEVICE_NUMBER`.
    pub const STORAGE_GET_DEVICE_NUMBER: u32 = 0x002d_1080;
    /// `VOLUME_DISK_EXTENTS`.
    pub const VOLUME_GET_VOLUME_DISK_EXTENTS: u32 = 0x0056_0000;
    /// `NTFS_VOLUME_DATA_BUFFER`; needs a handle opened on the file system.
    pub const GET_NTFS_VOLUME_DATA: u32 = 0x0009_0064;
    /// `STARTING_VCN_INPUT_BUFFER` in, `RETRIEVAL_POINTERS_BUFFER` out.
    pub const GET_RETRIEVAL_POINTERS: u32 = 0x0009_0073;
    /// No output; succeeds if the medium is writable.
    pub const DISK_IS_WRITABLE: u32 = 0x0007_0024;
}

/// Properties for `IOCTL_STORAGE_QUERY_PROPERTY` (`STORAGE_PROPERTY_ID`).
pub mod properties {
    /// `STORAGE_DEVICE_DESCRIPTOR`.
    pub const DEVICE: u32 = 0;
    /// `STORAGE_WRITE_CACHE_PROPERTY`.
    pub const WRITE_CACHE: u32 = 4;
    /// `STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR`.
    pub const ACCESS_ALIGNMENT: u32 = 6;
    /// `DEVICE_SEEK_PENALTY_DESCRIPTOR`.
    pub const SEEK_PENALTY: u32 = 7;
}

/// An invalid answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer to {question} makes no sense: {problem}")]
pub struct Malformed {
    /// The expected structure.
    pub question: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

/// A decoder's result.
pub type Decoded<T> = Result<T, Malformed>;
