//! Superblocks made byte by byte, mutations of them, and real ones where the
//! tools that make them are there.

use crate::anything::{self, Sparse};
use crate::mutate::Random;
use crate::pictures::{self, Picture};
use crate::scratch::Scratch;
use crate::skips::skip;
use std::io::Cursor;
use std::process::Command;
use stripewise_disk_formats::medium::{Bytes, Medium};
use stripewise_disk_formats::superblocks::{self, FileSystemHeader, Found};

fn read(picture: &Picture) -> Option<Found> {
    let size = picture.bytes.len() as u64;
    superblocks::read(&mut Medium::new(Cursor::new(&picture.bytes), size)).expect("readable")
}

fn header(picture: &Picture) -> FileSystemHeader {
    match read(picture) {
        Some(Found::FileSystem(header)) => header,
        other => panic!("{other:?}"),
    }
}

/// A version-1 superblock of md with its checksum.
fn md(picture: &mut Picture, at: u64, level: i32, chunk_sectors: u32, offset_sectors: u64) {
    let mut block = [0u8; 256 + 8];
    block[0..4].copy_from_slice(&0xa92b_4efcu32.to_le_bytes());
    block[4] = 1;
    block[16..32].copy_from_slice(&[3; 16]);
    block[32..38].copy_from_slice(b"host:0");
    block[72..76].copy_from_slice(&level.to_le_bytes());
    block[76] = 2;
    block[88..92].copy_from_slice(&chunk_sectors.to_le_bytes());
    block[92] = 4;
    block[128..136].copy_from_slice(&offset_sectors.to_le_bytes());
    block[144..152].copy_from_slice(&(at / 512).to_le_bytes());
    block[160] = 1;
    block[220] = 4;
    block[258] = 1;
    let sum: u64 = block
        .chunks_exact(4)
        .map(|word| u64::from(u32::from_le_bytes(word.try_into().unwrap())))
        .sum();
    let folded = ((sum & 0xffff_ffff) + (sum >> 32)) as u32;
    block[216..220].copy_from_slice(&folded.to_le_bytes());
    picture.put(at, &block);
}

/// A label, a metadata area and a text that wraps around its end.
fn lvm(picture: &mut Picture) {
    let text = "vg0 {\nid = \"aaaaaa-1111\"\nseqno = 3\nextent_size = 8192\nphysical_volumes {\npv0 {\nid = \"bbbbbb-2222\"\npe_start = 2048\n}\n}\n\
        logical_volumes {\ndata {\nid = \"cccccc-3333\"\nstatus = [\"READ\", \"VISIBLE\"]\nsegment1 {\nstart_extent = 0\nextent_count = 4\n\
        type = \"striped\"\nstripe_size = 128\nstripes = [\n\"pv0\", 1\n]\n}\n}\n}\n}\n# a comment\n";
    let mut label = [0u8; 512];
    label[..8].copy_from_slice(b"LABELONE");
    label[8] = 1;
    label[20] = 32;
    label[24..32].copy_from_slice(b"LVM2 001");
    label[32..42].copy_from_slice(b"bbbbbb2222");
    label[72..80].copy_from_slice(&(1u64 << 20).to_le_bytes());
    label[104..112].copy_from_slice(&4096u64.to_le_bytes());
    label[112..120].copy_from_slice(&8192u64.to_le_bytes());
    picture.put(512, &label);
    // The text starts 100 bytes before the end of the area and goes on behind
    // the area's header.
    let start: u64 = 8192 - 100;
    let mut area = [0u8; 512];
    area[4..20].copy_from_slice(b"\x20LVM2\x20x[5A%r0N*>");
    area[40..48].copy_from_slice(&start.to_le_bytes());
    area[48..56].copy_from_slice(&(text.len() as u64).to_le_bytes());
    picture.put(4096, &area);
    picture.put(4096 + start, &text.as_bytes()[..100]);
    picture.put(4096 + 512, &text.as_bytes()[100..]);
}

fn luks2(picture: &mut Picture) {
    let json = br#"{"segments":{"0":{"type":"crypt","offset":"16777216","size":"dynamic","sector_size":4096}}}"#;
    picture.put(0, b"LUKS\xba\xbe\x00\x02");
    picture.put(8, &16_384u64.to_be_bytes());
    picture.put(168, b"11111111-2222-3333-4444-555555555555");
    picture.put(4096, json);
}

#[test]
fn file_systems_tell_allocation_unit_and_stripe() {
    let mut ext = Picture::new(1 << 20);
    ext.ext4(0, 16);
    let found = header(&ext);
    assert_eq!(found.kind, "ext4");
    assert_eq!(found.allocation_unit_bytes, Some(4096));
    assert_eq!(found.stripe_unit_bytes, Some(65_536));
    let mut ntfs = Picture::new(1 << 20);
    ntfs.ntfs(0, 128);
    assert_eq!(header(&ntfs).allocation_unit_bytes, Some(65_536));
    // 2^9 sectors: clusters of 256 KiB.
    ntfs.ntfs(0, 0xf7);
    assert_eq!(header(&ntfs).allocation_unit_bytes, Some(262_144));
    for bad in [0, 3, 0x81, 0xe0] {
        ntfs.ntfs(0, bad);
        assert_eq!(read(&ntfs), None, "{bad:#x}");
    }
}

#[test]
fn members_of_md_tell_where_data_start_wherever_their_superblock_is() {
    for (at, version) in [(4096, "1.2"), (0, "1.1"), (1_040_384, "1.0")] {
        let mut picture = Picture::new(1 << 20);
        md(&mut picture, at, 5, 128, 2048);
        let Some(Found::Member(member)) = read(&picture) else {
            panic!("{version} is not recognised");
        };
        assert_eq!(serde_json::to_value(member.metadata).unwrap(), version);
        assert_eq!(
            (member.level, member.disks, member.slot),
            ("raid5", 4, Some(1))
        );
        assert_eq!(member.stripe_unit_bytes, Some(65_536));
        assert_eq!(member.data_offset_bytes, 1 << 20);
        // One bit, and its checksum is wrong.
        picture.put(at + 88, &[129]);
        assert_eq!(read(&picture), None);
    }
}

#[test]
fn metadata_of_lvm_is_read_around_the_end_of_its_area() {
    let mut picture = Picture::new(1 << 20);
    lvm(&mut picture);
    let Some(Found::PhysicalVolume(volume)) = read(&picture) else {
        panic!("not recognised");
    };
    assert_eq!(volume.data_offset_bytes, Some(1 << 20));
    let group = volume.group.expect("a group");
    assert_eq!((group.name.as_str(), group.extent_bytes), ("vg0", 4 << 20));
    assert_eq!(
        group.physical,
        [("pv0".to_owned(), "bbbbbb2222".to_owned(), 1 << 20)]
    );
    let segment = &group.logical[0].segments[0];
    assert_eq!(segment.stripe_unit_bytes, Some(65_536));
    assert_eq!(segment.stripes, [("pv0".to_owned(), 4 << 20)]);
}

#[test]
fn luks_tells_where_its_data_start() {
    let mut picture = Picture::new(1 << 20);
    luks2(&mut picture);
    let Some(Found::Encrypted(found)) = read(&picture) else {
        panic!("not recognised");
    };
    assert_eq!(
        (found.version, found.data_offset_bytes, found.sector_bytes),
        (2, Some(16 << 20), Some(4096))
    );
    picture.put(4096, b"[[[[[[");
    let Some(Found::Encrypted(found)) = read(&picture) else {
        panic!("not recognised");
    };
    assert_eq!(found.data_offset_bytes, None);
}

#[test]
fn mutated_tables_and_superblocks_never_crash() {
    let mut seeds = pictures::common();
    for make in [|p: &mut Picture| md(p, 4096, 10, 128, 2048), lvm, luks2] {
        let mut picture = Picture::new(256 << 10);
        make(&mut picture);
        seeds.push(picture);
    }
    let mut random = Random(20_261_121);
    for round in 0..4_000usize {
        let bytes = random.disk(&seeds[round % seeds.len()].bytes);
        let disk = Sparse::dense(&bytes);
        anything::partition_table(&disk);
        anything::superblock(&disk);
    }
}

#[test]
fn mutated_texts_never_crash() {
    let texts = [
        "vg0 { extent_size = 8192 physical_volumes { pv0 { id = \"a\" pe_start = 2048 } } logical_volumes { a { segment1 { start_extent = 0 extent_count = 1 type = \"striped\" stripes = [\"pv0\", 0] } } } }",
        "0 4096 multipath 1 queue_if_no_path 1 alua 2 1 service-time 0 2 2 8:16 1 1 8:32 1 1\n0 1 striped 2 128 8:1 0 8:2 0\n0 4096 raid raid5_ls 3 128 region_size 1024 3 - 8:1 - 8:2 - -",
    ];
    let mut random = Random(7);
    for round in 0..20_000usize {
        let bytes = random.text(texts[round % 2]);
        anything::lvm_text(&bytes);
        anything::mapper(&bytes);
        anything::volume_log(&bytes);
    }
    // Depth that would overflow a stack without a limit.
    anything::lvm_text("a{".repeat(100_000).as_bytes());
    anything::lvm_text(format!("a={}", "[".repeat(100_000)).as_bytes());
}

#[test]
#[expect(
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "a table of cases"
)]
fn what_mkfs_makes_is_read_as_its_own_tools_read_it() {
    const NAME: &str = "what_mkfs_makes_is_read_as_its_own_tools_read_it";
    let cases: [(&str, &[&str], &str, u64, Option<u64>); 9] = [
        (
            "mkfs.ext4",
            &["-q", "-F", "-b", "4096", "-E", "stride=16,stripe_width=64"],
            "ext4",
            4096,
            Some(65_536),
        ),
        (
            "mkfs.ext4",
            &["-q", "-F", "-b", "4096", "-O", "bigalloc", "-C", "65536"],
            "ext4",
            65_536,
            None,
        ),
        ("mkfs.ext2", &["-q", "-F", "-b", "1024"], "ext2", 1024, None),
        (
            "mkfs.xfs",
            &["-q", "-f", "-d", "su=64k,sw=4"],
            "xfs",
            4096,
            Some(65_536),
        ),
        ("mkfs.btrfs", &["-q", "-f"], "btrfs", 4096, None),
        (
            "mkfs.ntfs",
            &[
                "-F", "-Q", "-q", "-c", "65536", "-s", "512", "-p", "63", "-S", "63", "-H", "255",
            ],
            "ntfs",
            65_536,
            None,
        ),
        (
            "mkfs.vfat",
            &["-F", "32", "-s", "8"],
            "vfat (FAT32)",
            4096,
            None,
        ),
        ("mkfs.exfat", &["-c", "64K"], "exfat", 65_536, None),
        ("mkswap", &["-q"], "swap", 4096, None),
    ];
    for (tool, arguments, kind, unit, stripe) in cases {
        let scratch = Scratch::new(&format!("{tool}-{unit}"));
        scratch.file.set_len(2 << 30).expect("a sparse file");
        let Ok(made) = Command::new(tool)
            .args(arguments)
            .arg(&scratch.path)
            .output()
        else {
            skip(NAME, tool);
            continue;
        };
        assert!(
            made.status.success(),
            "{tool}: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        let file = std::fs::File::open(&scratch.path).expect("the file");
        let found = superblocks::read(&mut Medium::new(file, 2 << 30)).expect("readable");
        let Some(Found::FileSystem(header)) = found else {
            panic!("{tool}: {found:?}");
        };
        assert_eq!(header.kind, kind);
        assert_eq!(header.allocation_unit_bytes, Some(unit), "{tool}");
        assert_eq!(header.stripe_unit_bytes, stripe, "{tool}");
        if tool == "mkfs.ntfs" {
            assert_eq!(header.start_bytes, Some(32_256));
        }
    }
}

#[test]
fn a_sparse_disk_is_what_its_description_says() {
    let mut description = 4096_u64.to_le_bytes().to_vec();
    description.extend(1000_u64.to_le_bytes());
    description.extend(3_u16.to_le_bytes());
    description.extend(b"abc");
    let mut medium = Sparse::described(&description).medium();
    assert_eq!(medium.size_bytes(), 4096);
    assert_eq!(medium.piece(998, 6).unwrap(), b"\0\0abc\0");
}
