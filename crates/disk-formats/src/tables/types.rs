//! Partition types: names, and types that need special treatment.

use super::Role;

/// GUIDs of GPT partition types and their names (UEFI specification, systemd's
/// Discoverable Partitions Specification, Microsoft's documentation).
const GPT: [(&str, &str); 24] = [
    ("C12A7328-F81F-11D2-BA4B-00A0C93EC93B", "EFI system"),
    ("21686148-6449-6E6F-744E-656564454649", "BIOS boot"),
    ("E3C9E316-0B5C-4DB8-817D-F92DF00215AE", "Microsoft reserved"),
    (
        "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7",
        "Microsoft basic data",
    ),
    (
        "5808C8AA-7E8F-42E0-85D2-E1E90434CFB3",
        "Microsoft LDM metadata",
    ),
    ("AF9B60A0-1431-4F62-BC68-3311714A69AD", "Microsoft LDM data"),
    ("DE94BBA4-06D1-4D40-A16A-BFD50179D6AC", "Windows recovery"),
    (
        "E75CAF8F-F680-4CEE-AFA3-B001E56EFC2D",
        "Microsoft Storage Spaces",
    ),
    ("0FC63DAF-8483-4772-8E79-3D69D8477DE4", "Linux file system"),
    (
        "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709",
        "Linux root (x86-64)",
    ),
    ("B921B045-1DF0-41C3-AF44-4C6F280D3FAE", "Linux root (arm64)"),
    ("933AC7E1-2EB4-4F13-B844-0E14E2AEF915", "Linux home"),
    ("3B8F8425-20E0-4F3B-907F-1A25A76F98E8", "Linux server data"),
    ("0657FD6D-A4AB-43C4-84E5-0933C84B4F4F", "Linux swap"),
    ("A19D880F-05FC-4D3B-A006-743F0F84911E", "Linux RAID"),
    ("E6D6D379-F507-44C2-A23C-238F2A3DF928", "Linux LVM"),
    ("CA7D7CCB-63ED-4C53-861C-1742536059CC", "Linux LUKS"),
    (
        "BC13C2FF-59E6-4262-A352-B275FD6F7172",
        "Linux extended boot",
    ),
    ("8DA63339-0007-60C0-C436-083AC8230908", "Linux reserved"),
    ("024DEE41-33E7-11D3-9D69-0008C781F39F", "MBR scheme"),
    ("48465300-0000-11AA-AA11-00306543ECAC", "Apple HFS+"),
    ("7C3457EF-0000-11AA-AA11-00306543ECAC", "Apple APFS"),
    ("6A898CC3-1DD2-11B2-99A6-080020736631", "Solaris/ZFS"),
    ("AA31E02A-400F-11DB-9590-000C2911D1B8", "VMware VMFS"),
];

/// The name of a GPT type by its GUID in upper case.
pub fn gpt_type_name(guid: &str) -> Option<&'static str> {
    GPT.iter()
        .find(|(known, _)| *known == guid)
        .map(|(_, name)| *name)
}

/// The use of partitions of a GPT type.
pub fn gpt_role(guid: &str) -> Role {
    match gpt_type_name(guid) {
        Some("BIOS boot") => Role::BiosBoot,
        Some("Microsoft reserved") => Role::MicrosoftReserved,
        Some("Microsoft LDM metadata" | "Microsoft LDM data") => Role::Dynamic,
        Some("Microsoft Storage Spaces") => Role::StoragePool,
        _ => Role::Data,
    }
}

/// The name of an MBR type.
pub fn mbr_type_name(kind: u8) -> Option<&'static str> {
    Some(match kind {
        0x01 => "FAT12",
        0x04 | 0x06 | 0x0e => "FAT16",
        0x05 | 0x0f | 0x85 => "extended",
        0x07 => "NTFS/exFAT",
        0x0b | 0x0c => "FAT32",
        0x17 => "hidden NTFS",
        0x27 => "Windows recovery",
        0x42 => "Microsoft dynamic (LDM)",
        0x82 => "Linux swap",
        0x83 => "Linux",
        0x8e => "Linux LVM",
        0xa5 => "FreeBSD",
        0xaf => "Apple HFS+",
        0xbf => "Solaris/ZFS",
        0xda => "no file system",
        0xee => "GPT protective",
        0xef => "EFI system",
        0xfb => "VMware VMFS",
        0xfd => "Linux RAID",
        _ => return None,
    })
}

/// The use of partitions of an MBR type.
pub fn mbr_role(kind: u8) -> Role {
    match kind {
        0x05 | 0x0f | 0x85 => Role::Extended,
        0x42 => Role::Dynamic,
        0xee => Role::Protective,
        _ => Role::Data,
    }
}

/// A GUID in Microsoft's byte order: the first three groups are little-endian. `None` for all
/// zeros.
pub fn guid(bytes: &[u8]) -> Option<String> {
    let mut bytes: [u8; 16] = bytes.try_into().ok()?;
    bytes[0..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    Some(crate::medium::uuid(&bytes)?.to_ascii_uppercase())
}
