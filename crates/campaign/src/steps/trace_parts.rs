//! The files of a recorded trace: `blktrace` writes one for each CPU, and all of them are read,
//! whichever is named.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use stripewise_trace::files::{JoinedParts, part_of};
use stripewise_units::format_bytes;

/// The parts of the trace that this file is one of, in the order of CPUs; most often it is alone.
pub fn parts_of(path: &Path) -> Vec<PathBuf> {
    let found = siblings(path).unwrap_or_default();
    match found.len() {
        0 | 1 => vec![path.to_owned()],
        _ => found,
    }
}

fn siblings(path: &Path) -> Option<Vec<PathBuf>> {
    let (common, _) = part_of(path.file_name()?.to_str()?)?;
    let parent = path.parent()?;
    let directory = match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    };
    let entries = std::fs::read_dir(directory).ok()?.flatten();
    let parts = entries.filter_map(|entry| {
        let name = entry.file_name();
        let (of, number) = part_of(name.to_str()?)?;
        let file = directory.join(&name);
        (of == common && file.is_file()).then_some((number, file))
    });
    let mut parts: Vec<(u32, PathBuf)> = parts.collect();
    parts.sort();
    Some(parts.into_iter().map(|(_, file)| file).collect())
}

/// The bytes of a trace with these parts.
///
/// # Errors
/// If one of them cannot be read, or several are not of `blktrace`.
pub fn opened(parts: &[PathBuf]) -> io::Result<Box<dyn Read>> {
    Ok(match parts {
        [alone] => Box::new(File::open(alone)?),
        parts => {
            let files = parts.iter().map(File::open);
            let files: Vec<File> = files.collect::<io::Result<_>>()?;
            Box::new(JoinedParts::new(files)?)
        }
    })
}

/// All bytes of a trace with these parts.
///
/// # Errors
/// As [`opened`]; if one is cut, or they have more bytes than that.
pub fn joined(parts: &[PathBuf], bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = opened(parts)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    match read as u64 > bytes_max {
        true => Err(io::Error::other(format!(
            "its files have more than {}",
            format_bytes(bytes_max)
        ))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_all_files_of_its_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str| directory.path().join(name);
        for name in [
            "sda.blktrace.0",
            "sda.blktrace.10",
            "sda.blktrace.2",
            "sdb.blktrace.0",
        ] {
            std::fs::write(file(name), "").expect("a file");
        }
        std::fs::create_dir(file("sda.blktrace.3")).expect("a directory");
        let all = ["sda.blktrace.0", "sda.blktrace.2", "sda.blktrace.10"].map(file);
        assert_eq!(parts_of(&all[2]), all);
        for alone in ["sdb.blktrace.0", "sda.txt"] {
            assert_eq!(parts_of(&file(alone)), [file(alone)]);
        }
    }
}
