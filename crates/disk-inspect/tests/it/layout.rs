//! Lays out the description of a machine in `tests/trees` as files, links and
//! sparse devices. Also for the tests and fuzz targets of others.

use std::fs;
use std::path::Path;

/// Lays out these lines of a description below a folder.
///
/// # Panics
/// Where a file cannot be made or a line is none of a description.
pub fn lay_out<'t>(lines: impl IntoIterator<Item = &'t str>, root: &Path) {
    for line in lines.into_iter().filter(|line| !line.starts_with('#')) {
        lay(root, line);
    }
}

fn lay(root: &Path, line: &str) {
    let place = |path: &str| {
        let path = root.join(path.trim());
        fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
        path
    };
    // Text after the first mark may hold others.
    let marks = [" -> ", " @ ", " ="];
    let first = marks
        .iter()
        .filter_map(|mark| line.find(mark).map(|at| (at, *mark)))
        .min();
    match first {
        Some((at, " -> ")) => {
            let target = &line[at + 4..];
            std::os::unix::fs::symlink(target, place(&line[..at])).expect("a link");
        }
        Some((at, " @ ")) => bytes(&place(&line[..at]), &line[at + 3..]),
        Some((at, mark)) => {
            let text = &line[at + mark.len()..];
            let text = text.strip_prefix(' ').unwrap_or(text);
            let text = text.replace("\\n", "\n").replace("\\t", "\t");
            fs::write(place(&line[..at]), text).expect("a file");
        }
        None => fs::create_dir_all(place(line)).expect("a directory"),
    }
}

/// A device's bytes: `size N` first, then `OFFSET HEX` for what is not zero.
fn bytes(path: &Path, text: &str) {
    use std::os::unix::fs::FileExt;
    let (place, value) = text.split_once(' ').expect("two words");
    let file = fs::File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .expect("a file");
    if place == "size" {
        return file
            .set_len(value.parse().expect("a size"))
            .expect("a sparse file");
    }
    let piece: Vec<u8> = (0..value.len() / 2)
        .map(|at| u8::from_str_radix(&value[2 * at..2 * at + 2], 16).expect("digits"))
        .collect();
    file.write_all_at(&piece, place.parse().expect("a place"))
        .expect("bytes");
}
