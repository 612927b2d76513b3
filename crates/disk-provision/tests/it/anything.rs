//! Any bytes as the file of `partition --restore`, and what must hold of what is accepted.
//! A fuzz target has it, too.

use serde_json::Value;
use stripewise_disk_formats::tables::crc32;
use stripewise_disk_provision::SavedTable;

/// Refused with a hint, or pieces that lie on the disk. A checksum that is wrong is put
/// right, so that what lies behind it is reached.
///
/// # Panics
/// When something that must hold does not.
pub fn saved_table(bytes: &[u8]) {
    let saved = match SavedTable::from_bytes(bytes, "fuzz") {
        Ok(saved) => saved,
        Err(error) => {
            assert!(error.hint().is_some());
            let sealed = sealed(bytes).and_then(|file| SavedTable::from_bytes(&file, "fuzz").ok());
            let Some(saved) = sealed else { return };
            saved
        }
    };
    let again = SavedTable::from_bytes(&saved.to_bytes(), "fuzz").expect("our own file");
    assert_eq!(again, saved);
    let pieces = saved.pieces();
    assert_eq!(pieces.first().map(|(offset, _)| *offset), Some(0));
    let mut reach = 0;
    for (offset, length) in pieces {
        assert!(length > 0 && offset >= reach, "{offset} {length}");
        reach = offset.checked_add(length).expect("a place on a disk");
    }
    assert!(reach <= saved.device.size_bytes);
}

/// The same file with the checksum that it should have.
pub fn sealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let with = |file: SavedTable, sum: &str| -> Option<SavedTable> {
        let mut value = serde_json::to_value(file).ok()?;
        *value.get_mut("crc32")? = Value::from(sum);
        serde_json::from_value(value).ok()
    };
    let bare = with(serde_json::from_slice(bytes).ok()?, "")?;
    let sum = crc32(&serde_json::to_vec(&bare).ok()?);
    Some(with(bare, &format!("{sum:08x}"))?.to_bytes())
}
