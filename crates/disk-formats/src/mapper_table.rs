//! Device-mapper tables, in the format of the kernel and `dmsetup table`:
//! `START LENGTH TARGET ARGUMENTS` in sectors of 512 bytes (Linux
//! `Documentation/admin-guide/device-mapper/`).
//!
//! Targets whose mapping is not plain arithmetic (thin, snapshot, cache...) keep their name and
//! have no parts.

use serde::{Deserialize, Serialize};
use stripewise_units::DeviceNumber;

/// A piece of a device-mapper device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Segment {
    /// First byte in the device.
    pub start_bytes: u64,
    /// Length.
    pub size_bytes: u64,
    /// The kernel's name of the target: `linear`, `striped`, `crypt`,
    /// `multipath`, `raid`, `thin`...
    pub kind: String,
    /// Stripe unit of striped pieces.
    pub stripe_unit_bytes: Option<u64>,
    /// Level of `raid` pieces: `raid5_ls`, `raid1`...
    pub level: Option<String>,
    /// Path selector and its arguments, for multipath.
    pub policy: Option<String>,
    /// The devices that hold the data, and the start of the piece on each. For multipath the
    /// alternative paths.
    pub parts: Vec<SegmentPart>,
}

/// One device under a piece.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SegmentPart {
    /// The device.
    pub number: DeviceNumber,
    /// First byte of the piece on it.
    pub offset_bytes: u64,
}

const SECTOR_BYTES: u64 = 512;
/// Most lines, and devices per line; LVM's own limits are far below.
const LINES_MAX: usize = 4096;
const PARTS_MAX: u64 = 1024;

/// Resolves a device by number (`8:16`) or by the path given to dmsetup.
type Resolve<'a> = &'a dyn Fn(&str) -> Option<DeviceNumber>;

/// The lines of one device in the output of `dmsetup table`, which prefixes each with `NAME: `.
pub fn lines_of(text: &str, name: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .take(LINES_MAX)
        .map(str::to_owned)
        .collect()
}

/// The pieces of a table.
///
/// # Errors
/// The line that does not parse.
pub fn parse(lines: &[String], resolve: Resolve) -> Result<Vec<Segment>, String> {
    lines
        .iter()
        .take(LINES_MAX)
        .filter(|line| !line.trim().is_empty())
        .map(|line| one(line, resolve).ok_or_else(|| format!("its table has a line `{line}`")))
        .collect()
}

fn one(line: &str, resolve: Resolve) -> Option<Segment> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (start, length, kind, arguments) = match words.as_slice() {
        [start, length, kind, arguments @ ..] => (start, length, kind, arguments),
        _ => return None,
    };
    let mut segment = Segment {
        start_bytes: sectors(start)?,
        size_bytes: sectors(length)?,
        kind: (*kind).to_owned(),
        ..Segment::default()
    };
    let device = |word: &str| word.parse().ok().or_else(|| resolve(word));
    let part = |word: &str, offset: &str| {
        Some(SegmentPart {
            number: device(word)?,
            offset_bytes: sectors(offset)?,
        })
    };
    match *kind {
        "linear" | "flakey" | "delay" | "dust" | "writecache-origin" => {
            segment.parts = vec![part(arguments.first()?, arguments.get(1)?)?];
        }
        "crypt" => segment.parts = vec![part(arguments.get(3)?, arguments.get(4)?)?],
        "striped" => {
            let count: u64 = arguments.first()?.parse().ok()?;
            segment.stripe_unit_bytes = Some(sectors(arguments.get(1)?)?).filter(|unit| *unit > 0);
            let parts = arguments.get(2..)?;
            if count == 0 || count > PARTS_MAX || parts.len() as u64 != 2 * count {
                return None;
            }
            segment.parts = parts
                .chunks_exact(2)
                .map(|pair| part(pair[0], pair[1]))
                .collect::<Option<_>>()?;
        }
        "snapshot-origin" => {
            segment.parts = vec![SegmentPart {
                number: device(arguments.first()?)?,
                offset_bytes: segment.start_bytes,
            }];
        }
        "multipath" => multipath(&mut segment, arguments, &device)?,
        "raid" => raid(&mut segment, arguments, &device)?,
        _ => {}
    }
    Some(segment)
}

fn sectors(word: &str) -> Option<u64> {
    word.parse::<u64>().ok()?.checked_mul(SECTOR_BYTES)
}

/// `#features F... #handler H... #groups next` and for each group
/// `selector #args A... #paths #path_args` and for each path `device P...`.
fn multipath(
    segment: &mut Segment,
    arguments: &[&str],
    device: &impl Fn(&str) -> Option<DeviceNumber>,
) -> Option<()> {
    let mut words = arguments.iter().copied();
    let count = |words: &mut dyn Iterator<Item = &str>| -> Option<u64> {
        words
            .next()?
            .parse()
            .ok()
            .filter(|count| *count <= PARTS_MAX)
    };
    for _ in 0..2 {
        for _ in 0..count(&mut words)? {
            words.next()?;
        }
    }
    let groups = count(&mut words)?;
    words.next()?;
    for _ in 0..groups {
        let selector = words.next()?;
        segment.policy.get_or_insert_with(|| selector.to_owned());
        for _ in 0..count(&mut words)? {
            words.next()?;
        }
        let (paths, path_arguments) = (count(&mut words)?, count(&mut words)?);
        for _ in 0..paths {
            segment.parts.push(SegmentPart {
                number: device(words.next()?)?,
                offset_bytes: segment.start_bytes,
            });
            for _ in 0..path_arguments {
                words.next()?;
            }
        }
        if segment.parts.len() as u64 > PARTS_MAX {
            return None;
        }
    }
    Some(())
}

/// `TYPE #params CHUNK... #devices META DATA META DATA...`; `-` for none. Data starts at the
/// beginning of the data device.
fn raid(
    segment: &mut Segment,
    arguments: &[&str],
    device: &impl Fn(&str) -> Option<DeviceNumber>,
) -> Option<()> {
    segment.level = Some((*arguments.first()?).to_owned());
    let parameters: usize = arguments.get(1)?.parse().ok()?;
    segment.stripe_unit_bytes = Some(sectors(arguments.get(2)?)?).filter(|unit| *unit > 0);
    let devices = arguments.get(parameters.checked_add(2)?..)?;
    let count: usize = devices.first()?.parse().ok()?;
    if count as u64 > PARTS_MAX {
        return None;
    }
    segment.parts = devices
        .get(1..)?
        .chunks_exact(2)
        .take(count)
        .filter(|pair| pair[1] != "-")
        .map(|pair| {
            Some(SegmentPart {
                number: device(pair[1])?,
                offset_bytes: 0,
            })
        })
        .collect::<Option<_>>()?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Option<Segment> {
        parse(&[line.to_owned()], &|_| None).ok()?.pop()
    }

    fn parts(line: &str) -> Vec<(String, u64)> {
        let segment = parsed(line).unwrap_or_else(|| panic!("{line}"));
        let one = |part: &SegmentPart| (part.number.to_string(), part.offset_bytes);
        segment.parts.iter().map(one).collect()
    }

    #[test]
    fn the_targets_of_the_documentation_are_read() {
        let at = |number: &str, offset: u64| (number.to_owned(), offset);
        assert_eq!(parts("0 2048 linear 8:1 2048"), [at("8:1", 1 << 20)]);
        assert_eq!(
            parts("0 4096 striped 2 128 8:17 384 8:33 2048"),
            [at("8:17", 196_608), at("8:33", 1 << 20)]
        );
        let crypt =
            "0 4096 crypt aes-xts-plain64 :64:logon:cryptsetup:x 0 8:2 32768 1 allow_discards";
        assert_eq!(parts(crypt), [at("8:2", 16 << 20)]);
        let multipath = "0 4096 multipath 1 queue_if_no_path 1 alua 2 1 \
            service-time 0 2 2 8:16 1 1 8:32 1 1 service-time 0 1 2 8:48 1 1";
        assert_eq!(
            parts(multipath),
            [at("8:16", 0), at("8:32", 0), at("8:48", 0)]
        );
        assert_eq!(
            parsed(multipath).unwrap().policy.as_deref(),
            Some("service-time")
        );
        let raid = "0 4096 raid raid5_ls 3 128 region_size 1024 3 253:0 253:1 253:2 253:3 - -";
        assert_eq!(parts(raid), [at("253:1", 0), at("253:3", 0)]);
        let raid = parsed(raid).unwrap();
        assert_eq!(raid.stripe_unit_bytes, Some(65_536));
        assert_eq!(raid.level.as_deref(), Some("raid5_ls"));
        assert_eq!(parts("0 4096 thin 253:4 1"), []);
    }

    #[test]
    fn malformed_lines_are_named() {
        for line in [
            "0",
            "0 x linear 8:1 0",
            "0 1 linear 8:1",
            "0 1 linear nowhere 0",
            "0 1 striped 99999999999 128 8:1 0",
            "0 1 striped 2 128 8:1 0",
            "0 18446744073709551615 linear 8:1 0",
            "0 1 multipath 1 x 0 18446744073709551615 1",
            "0 1 raid raid5_ls 18446744073709551615 1 1",
        ] {
            let error = parse(&[line.to_owned()], &|_| None).unwrap_err();
            assert!(error.contains(line), "{error}");
        }
        assert_eq!(lines_of("vg-a: 0 1 x\nvg-a-b: 0 2 y\n", "vg-a"), ["0 1 x"]);
    }
}
