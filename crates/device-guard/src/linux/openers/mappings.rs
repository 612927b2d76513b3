//! Memory mappings of processes.
//!
//! A line of `maps` shows the inode that was mapped; for a device node that is the node's inode,
//! which does not identify the device. `map_files` has a link for each mapping, which leads to the
//! actual node or file, whatever happened to its name; following it requires root. Most mappings of
//! a machine are a few hundred libraries, so each inode and name is looked up once per scan.

use super::rings;
use crate::linux::file_or_devices::{FileOrDevices, Match};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use stripewise_machine::linux::tree::{table_text, unescape_path};
use stripewise_units::DeviceNumber;

/// Most mappings examined over all processes: the maximum of thirty processes (`vm.max_map_count`).
const MAPPINGS_MAX: usize = 2_000_000;

pub(super) struct Mappings<'a> {
    wanted: &'a FileOrDevices,
    names: &'a [String],
    /// Lookup results by device, inode and name.
    known: HashMap<String, Match>,
    /// Lines left to examine.
    left: usize,
}

/// Findings in one `maps` file.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    pub(super) is_wanted: bool,
    /// A possible match could not be looked up.
    pub(super) unknown: bool,
    /// The memory of an io_uring.
    pub(super) has_ring: bool,
    /// Number of lines.
    pub(super) lines: usize,
}

impl<'a> Mappings<'a> {
    pub(super) fn new(wanted: &'a FileOrDevices, names: &'a [String]) -> Mappings<'a> {
        Mappings::with_most(wanted, names, MAPPINGS_MAX)
    }

    pub(super) fn with_most(
        wanted: &'a FileOrDevices,
        names: &'a [String],
        lines: usize,
    ) -> Mappings<'a> {
        Mappings {
            wanted,
            names,
            known: HashMap::new(),
            left: lines,
        }
    }

    /// Mappings of a process, from the folder of the process or one of its threads; `None` if there
    /// are too many.
    pub(super) fn of(&mut self, process: &Path, thread: &Path) -> Option<Mapped> {
        let mut found = Mapped::default();
        // If it is unreadable, so were the descriptors.
        let Ok(file) = File::open(thread.join("maps")) else {
            return Some(found);
        };
        let mut lines = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        while lines
            .read_until(b'\n', &mut line)
            .is_ok_and(|read| read > 0)
        {
            found.lines += 1;
            self.left = self.left.checked_sub(1)?;
            let text = table_text(line.strip_suffix(b"\n").unwrap_or(&line));
            match self.line(process, &text, &mut found) {
                Match::Yes => {
                    found.is_wanted = true;
                    return Some(found);
                }
                Match::No => {}
                Match::Unknown => found.unknown = true,
            }
            line.clear();
        }
        Some(found)
    }

    fn line(&mut self, process: &Path, text: &str, found: &mut Mapped) -> Match {
        let Some(mapping) = Mapping::parse(text) else {
            return Match::No;
        };
        if mapping.path == Path::new(rings::LINK) {
            found.has_ring = true;
            return Match::No;
        }
        if let Some(known) = self.known.get(mapping.what) {
            return *known;
        }
        let Some(is) = self.look_up(process, &mapping) else {
            return Match::No;
        };
        self.known.insert(mapping.what.to_owned(), is);
        is
    }

    /// `None` if the mapping no longer exists.
    fn look_up(&self, process: &Path, mapping: &Mapping<'_>) -> Option<Match> {
        let links = process.join("map_files");
        match self.wanted.compare(&links.join(mapping.link_name())) {
            Ok(is) => Some(if is { Match::Yes } else { Match::No }),
            Err(rustix::io::Errno::NOENT) if links.exists() => None,
            Err(_) => Some(self.by_name(process, mapping)),
        }
    }

    /// Without permission to follow the link: the inode itself is enough for a file, and a node
    /// counts if its name still leads to it.
    fn by_name(&self, process: &Path, mapping: &Mapping<'_>) -> Match {
        if self.wanted.is_file(mapping.device, mapping.inode) {
            return Match::Yes;
        }
        self.wanted
            .match_of_name(process, &mapping.path, self.names)
    }

    #[cfg(test)]
    pub(super) fn looked_up(&self) -> usize {
        self.known.len()
    }
}

/// A line of `maps` with a file.
struct Mapping<'t> {
    addresses: &'t str,
    device: DeviceNumber,
    inode: u64,
    path: PathBuf,
    /// Device, inode and name, as written.
    what: &'t str,
}

impl<'t> Mapping<'t> {
    /// `ADDRESSES PERMISSIONS OFFSET DEVICE INODE      PATH`; `None` for memory without a
    /// file. A path may contain blanks.
    fn parse(line: &'t str) -> Option<Mapping<'t>> {
        let (addresses, rest) = line.split_once(' ')?;
        let (_permissions, rest) = rest.split_once(' ')?;
        let (_offset, what) = rest.split_once(' ')?;
        let (device, rest) = what.split_once(' ')?;
        let (inode, path) = rest.split_once(' ')?;
        let (major, minor) = device.split_once(':')?;
        let inode = inode.parse().ok().filter(|inode| *inode != 0)?;
        let number = |digits| u32::from_str_radix(digits, 16).ok();
        Some(Mapping {
            addresses,
            device: DeviceNumber {
                major: number(major)?,
                minor: number(minor)?,
            },
            inode,
            path: unescape_path(path.trim_start_matches(' ')),
            what,
        })
    }

    /// Its link in `map_files`, whose names have no leading zeros.
    fn link_name(&self) -> String {
        let plain = |address: &str| address.trim_start_matches('0').to_owned();
        match self.addresses.split_once('-') {
            Some((from, to)) => format!("{}-{}", plain(from), plain(to)),
            None => self.addresses.to_owned(),
        }
    }
}
