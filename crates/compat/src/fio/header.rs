//! The lines that announce jobs in fio's normal output: the few options that it prints.

use super::job::OptionTexts;
use super::printed;

/// A job's options as printed in its header.
pub(super) struct Header {
    /// Keyed by fio's option names.
    pub(super) options: OptionTexts,
    /// The single block size of reads, and of writes, where each has one.
    pub(super) blocks: [Option<u64>; 2],
}

/// `name: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B,
/// ioengine=psync, iodepth=1`; before version 3 `bs=4K-4K/4K-4K/4K-4K`.
pub(super) fn header(words: &str) -> Option<(String, Header)> {
    let (name, rest) = words.split_once(": (g=")?;
    let (_, rest) = rest.split_once("): rw=")?;
    let (rw, rest) = rest.split_once(", bs=")?;
    let (sizes, rest) = rest.split_once(", ioengine=")?;
    let (engine, depth) = rest.split_once(", iodepth=")?;
    let mut options = OptionTexts::new();
    for (name, value) in [("rw", rw), ("ioengine", engine), ("iodepth", depth)] {
        options.insert(name.to_owned(), value.trim().to_owned());
    }
    let of_version_3 = sizes.starts_with("(R)");
    let ranges: Vec<&str> = if of_version_3 {
        let parts = sizes.split(", ");
        parts
            .filter_map(|part| part.split_once(") ").map(|(_, range)| range))
            .collect()
    } else {
        sizes.split('/').collect()
    };
    let block = |at: usize| -> Option<u64> {
        let (from, to) = ranges.get(at)?.split_once('-')?;
        (from == to).then(|| block_bytes(from))?
    };
    let blocks = [block(0), block(1)];
    match blocks {
        [Some(read), Some(write)] => {
            options.insert("bs".to_owned(), format!("{read},{write}"));
        }
        // Of several sizes the header gives the smallest and the largest.
        _ => {
            options.insert("bsrange".to_owned(), "several".to_owned());
        }
    }
    Some((name.to_owned(), Header { options, blocks }))
}

/// `4096B`, `64.0KiB`, `4K`, `512`.
fn block_bytes(text: &str) -> Option<u64> {
    let text = match text.strip_suffix(['K', 'M', 'G']) {
        Some(_) => format!("{text}iB"),
        None if text.ends_with('B') => text.to_owned(),
        None => format!("{text}B"),
    };
    let size = printed::bytes(&text, false)?;
    let whole = size.value.round();
    // A rounded size (`1.50KiB` may be 1,535 bytes) is accepted only as a multiple of 512 bytes.
    let exact = (whole - size.value).abs() < 1e-6 && (whole as u64).is_multiple_of(512);
    exact.then_some(whole as u64).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_both_versions_are_read() {
        let new = "a: b: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 64.0KiB-64.0KiB, (T) 4096B-4096B, ioengine=libaio, iodepth=4";
        let (name, found) = header(new).unwrap();
        assert_eq!(name, "a: b");
        assert_eq!(found.blocks, [Some(4096), Some(65_536)]);
        assert_eq!(found.options["bs"], "4096,65536");
        assert_eq!(found.options["iodepth"], "4");
        let old = "x: (g=1): rw=read, bs=512-64K/4K-4K/4K-4K, ioengine=sync, iodepth=1";
        let (_, found) = header(old).unwrap();
        assert_eq!(found.blocks, [None, Some(4096)]);
        assert!(found.options.contains_key("bsrange"));
        assert!(header("x: (groupid=0, jobs=1): err= 0").is_none());
    }
}
