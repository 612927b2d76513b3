//! Compile-time checks that the offsets used by `ioctl` match the structures in the bindings, which
//! are generated from Windows' own metadata.

use std::mem::{offset_of, size_of};
use stripewise_disk_formats::ioctl::{codes, layout, properties};
use windows_sys::Win32::System::Ioctl as w;

macro_rules! at {
    ($($structure:ident { $($field:ident : $at:expr),* $(,)? })*) => {
        $($(const _: () = assert!(offset_of!(w::$structure, $field) == $at);)*)*
    };
}

at! {
    DRIVE_LAYOUT_INFORMATION_EX { PartitionStyle: 0, PartitionCount: 4, Anonymous: 8, PartitionEntry: layout::HEADER_BYTES }
    DRIVE_LAYOUT_INFORMATION_GPT { DiskId: 0, StartingUsableOffset: 16, UsableLength: 24, MaxPartitionCount: 32 }
    DRIVE_LAYOUT_INFORMATION_MBR { Signature: 0 }
    PARTITION_INFORMATION_EX { PartitionStyle: 0, StartingOffset: 8, PartitionLength: 16, PartitionNumber: 24, Anonymous: 32 }
    PARTITION_INFORMATION_MBR { PartitionType: 0, BootIndicator: 1 }
    PARTITION_INFORMATION_GPT { PartitionType: 0, PartitionId: 16, Attributes: 32, Name: 40 }
    DISK_GEOMETRY_EX { Geometry: 0, DiskSize: 24 }
    DISK_GEOMETRY { Cylinders: 0, MediaType: 8, TracksPerCylinder: 12, SectorsPerTrack: 16, BytesPerSector: 20 }
    STORAGE_DEVICE_NUMBER { DeviceType: 0, DeviceNumber: 4, PartitionNumber: 8 }
    STORAGE_ACCESS_ALIGNMENT_DESCRIPTOR { BytesPerLogicalSector: 16, BytesPerPhysicalSector: 20, BytesOffsetForSectorAlignment: 24 }
    STORAGE_DEVICE_DESCRIPTOR { RemovableMedia: 10, VendorIdOffset: 12, ProductIdOffset: 16, ProductRevisionOffset: 20, SerialNumberOffset: 24, BusType: 28, RawPropertiesLength: 32, RawDeviceProperties: 36 }
    DEVICE_SEEK_PENALTY_DESCRIPTOR { IncursSeekPenalty: 8 }
    STORAGE_WRITE_CACHE_PROPERTY { WriteCacheType: 8, WriteCacheEnabled: 12, WriteThroughSupported: 20, FlushCacheSupported: 24, UserDefinedPowerProtection: 25, NVCacheEnabled: 26 }
    VOLUME_DISK_EXTENTS { NumberOfDiskExtents: 0, Extents: 8 }
    DISK_EXTENT { DiskNumber: 0, StartingOffset: 8, ExtentLength: 16 }
    NTFS_VOLUME_DATA_BUFFER { VolumeSerialNumber: 0, NumberSectors: 8, BytesPerSector: 40, BytesPerCluster: 44 }
    RETRIEVAL_POINTERS_BUFFER { ExtentCount: 0, StartingVcn: 8, Extents: 16 }
    RETRIEVAL_POINTERS_BUFFER_0 { NextVcn: 0, Lcn: 8 }
}

const _: () = assert!(size_of::<w::PARTITION_INFORMATION_EX>() == layout::ENTRY_BYTES);
const _: () = assert!(size_of::<w::DISK_EXTENT>() == 24);
const _: () = assert!(size_of::<w::RETRIEVAL_POINTERS_BUFFER_0>() == 16);
const _: () = assert!(size_of::<w::NTFS_VOLUME_DATA_BUFFER>() == 96);
const _: () = assert!(size_of::<w::STORAGE_PROPERTY_QUERY>() == 12);
const _: () = assert!(size_of::<w::STARTING_VCN_INPUT_BUFFER>() == 8);

const _: () = assert!(codes::DISK_GET_DRIVE_LAYOUT_EX == w::IOCTL_DISK_GET_DRIVE_LAYOUT_EX);
const _: () = assert!(codes::DISK_GET_DRIVE_GEOMETRY_EX == w::IOCTL_DISK_GET_DRIVE_GEOMETRY_EX);
const _: () = assert!(codes::STORAGE_QUERY_PROPERTY == w::IOCTL_STORAGE_QUERY_PROPERTY);
const _: () = assert!(codes::STORAGE_GET_DEVICE_NUMBER == w::IOCTL_STORAGE_GET_DEVICE_NUMBER);
// The bindings leave this one out: CTL_CODE('V', 0, METHOD_BUFFERED, FILE_ANY_ACCESS).
const _: () = assert!(codes::VOLUME_GET_VOLUME_DISK_EXTENTS == (b'V' as u32) << 16);
const _: () = assert!(codes::GET_NTFS_VOLUME_DATA == w::FSCTL_GET_NTFS_VOLUME_DATA);
const _: () = assert!(codes::GET_RETRIEVAL_POINTERS == w::FSCTL_GET_RETRIEVAL_POINTERS);
const _: () = assert!(codes::DISK_IS_WRITABLE == w::IOCTL_DISK_IS_WRITABLE);

const _: () = assert!(properties::DEVICE == w::StorageDeviceProperty as u32);
const _: () = assert!(properties::WRITE_CACHE == w::StorageDeviceWriteCacheProperty as u32);
const _: () = assert!(properties::ACCESS_ALIGNMENT == w::StorageAccessAlignmentProperty as u32);
const _: () = assert!(properties::SEEK_PENALTY == w::StorageDeviceSeekPenaltyProperty as u32);
