//! Images of disks: their partitions and volumes, and mutations of them.

use crate::anything::disk_image;
use crate::mutate::Random;
use crate::pictures::{self, Picture};
use std::io::Cursor;
use stripewise_disk_formats::medium::Medium;
use stripewise_disk_inspect::survey;

#[test]
fn an_mbr_in_an_image_counts_in_the_sectors_in_which_something_is_found() {
    for (file_system_at, sector, start) in [
        (None, 512, 256 * 512),
        (Some(256 * 512), 512, 256 * 512),
        (Some(1 << 20), 4096, 1 << 20),
    ] {
        let mut picture = Picture::new(16 << 20);
        picture.entry(0, 0, 0x83, 256, 2048);
        if let Some(at) = file_system_at {
            picture.ext4(at, 0);
        }
        let length = picture.bytes.len() as u64;
        let mut image = Medium::new(Cursor::new(picture.bytes), length);
        let found = survey::image(&mut image, "old.img", "/old.img", None, &|_| None);
        let found = found.expect("readable");
        let table = found.disks[0].table.as_ref().expect("a table");
        assert_eq!(table.sector_bytes, sector, "{file_system_at:?}");
        assert_eq!(found.volumes[0].offset_bytes(), Some(start));
        assert_eq!(table.problems.len(), usize::from(sector == 4096));
    }
}

#[test]
fn mutated_images_never_crash() {
    let seeds = pictures::common();
    let mut random = Random(20_261_121);
    for round in 0..4_000usize {
        let bytes = random.disk(&seeds[round % seeds.len()].bytes);
        let length = bytes.len() as u64;
        let _ = disk_image(&mut Medium::new(Cursor::new(bytes), length));
    }
}
