//! Reproducible archives, determined only by their contents: fixed times, owners and permissions,
//! files in the given order.

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// 1980-01-01, the earliest time in a zip.
pub const TIME: u64 = 315_532_800;

/// One file of an archive.
pub struct Entry {
    /// Path inside the archive's folder, with `/`.
    pub path: String,
    pub bytes: Vec<u8>,
    is_program: bool,
}

impl Entry {
    pub fn program(path: impl Into<String>, bytes: Vec<u8>) -> Self {
        Entry {
            path: path.into(),
            bytes,
            is_program: true,
        }
    }

    pub fn text(path: impl Into<String>, text: String) -> Self {
        Entry {
            path: path.into(),
            bytes: text.into_bytes(),
            is_program: false,
        }
    }

    fn mode(&self) -> u32 {
        if self.is_program { 0o755 } else { 0o644 }
    }
}

/// Converts line ends of a text to CRLF, for Notepad of Windows Server 2016.
pub fn crlf(entry: &mut Entry) {
    if entry.is_program {
        return;
    }
    let mut bytes = Vec::with_capacity(entry.bytes.len() + entry.bytes.len() / 32);
    let mut before = 0;
    for &byte in &entry.bytes {
        if byte == b'\n' && before != b'\r' {
            bytes.push(b'\r');
        }
        bytes.push(byte);
        before = byte;
    }
    entry.bytes = bytes;
}

pub fn zip(out: &Path, folder: &str, entries: &[Entry]) -> Result<PathBuf> {
    let path = out.join(format!("{folder}.zip"));
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut writer = zip::ZipWriter::new(BufWriter::new(file));
    for entry in entries {
        // The default time is 1980-01-01.
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(entry.mode());
        writer.start_file(format!("{folder}/{}", entry.path), options)?;
        writer.write_all(&entry.bytes)?;
    }
    writer.finish()?.flush()?;
    Ok(path)
}

pub fn tar_gz(out: &Path, folder: &str, entries: &[Entry]) -> Result<PathBuf> {
    let path = out.join(format!("{folder}.tar.gz"));
    let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
    // No name and no time in the gzip header.
    let packed = GzBuilder::new().write(BufWriter::new(file), Compression::best());
    let mut builder = tar::Builder::new(packed);
    for entry in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(entry.bytes.len() as u64);
        header.set_mode(entry.mode());
        header.set_mtime(TIME);
        header.set_uid(0);
        header.set_gid(0);
        let name = format!("{folder}/{}", entry.path);
        builder.append_data(&mut header, name, entry.bytes.as_slice())?;
    }
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    link.set_mode(0o777);
    link.set_mtime(TIME);
    link.set_uid(0);
    link.set_gid(0);
    // Under this name the program accepts SQLIO's command line.
    builder.append_link(&mut link, format!("{folder}/sqlio"), "stripewise")?;
    builder.into_inner()?.finish()?.flush()?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        vec![
            Entry::text("LICENSE", "one\ntwo\r\n".to_owned()),
            Entry::program("stripewise", b"\x7fELF\n".to_vec()),
        ]
    }

    #[test]
    fn the_same_contents_give_the_same_archives() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for pack in [zip, tar_gz] {
            let first = std::fs::read(pack(one.path(), "x-1", &entries()).unwrap()).unwrap();
            let second = std::fs::read(pack(two.path(), "x-1", &entries()).unwrap()).unwrap();
            assert!(!first.is_empty());
            assert_eq!(first, second);
        }
    }

    #[test]
    fn a_zip_holds_what_was_put_in() {
        let directory = tempfile::tempdir().unwrap();
        let path = zip(directory.path(), "x-1", &entries()).unwrap();
        let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
        let names = archive.file_names().map(|name| name.map(String::from));
        let names: Vec<String> = names.collect::<Result<_, _>>().unwrap();
        assert_eq!(names, ["x-1/LICENSE", "x-1/stripewise"]);
        let mut text = String::new();
        let mut file = archive.by_name("x-1/LICENSE").unwrap();
        std::io::Read::read_to_string(&mut file, &mut text).unwrap();
        assert_eq!(text, "one\ntwo\r\n");
    }

    #[test]
    fn lines_of_texts_and_no_bytes_of_programs_change_for_windows() {
        let mut all = entries();
        all.iter_mut().for_each(crlf);
        assert_eq!(all[0].bytes, b"one\r\ntwo\r\n");
        assert_eq!(all[1].bytes, b"\x7fELF\n");
    }
}
