//! Files of saved tables, damaged.

use crate::anything::{saved_table, sealed};
use crate::mutate::Random;
use stripewise_disk_provision::SavedTable;

/// The smallest table that was ever saved.
fn smallest(crc32: &str) -> String {
    format!(
        r#"{{"format":"stripewise partition table","version":1,"saved_at":"now",
        "device":{{"name":"loop0","model":null,"serial":null,"size_bytes":8192,
        "logical_sector_bytes":512}},"regions":[{{"offset_bytes":0,"length_bytes":1024}},
        {{"offset_bytes":7680,"length_bytes":512}}],"crc32":"{crc32}"}}"#
    )
}

#[test]
fn a_wrong_checksum_is_refused_and_a_right_one_reaches_the_pieces() {
    let damaged = smallest("00000000");
    assert!(SavedTable::from_bytes(damaged.as_bytes(), "x").is_err());
    let sealed = sealed(damaged.as_bytes()).expect("a table");
    let saved = SavedTable::from_bytes(&sealed, "x").expect("a sound file");
    assert_eq!(saved.pieces(), [(0, 512), (512, 512), (7680, 512)]);
}

#[test]
fn mutated_files_never_crash() {
    let mut random = Random(11);
    for _ in 0..20_000 {
        saved_table(&random.text(&smallest("0")));
    }
}
