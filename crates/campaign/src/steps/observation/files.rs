//! The file of an operation, from the extents of known files, and the
//! role derived from its path.

use std::collections::{BTreeMap, HashMap, HashSet};
use stripewise_trace::{Operation, Role};
use stripewise_units::{DeviceNumber, Kind};

use super::document::{FileShare, KindCounts, RoleShare};

/// Maximum number of operations at unknown positions, kept until files are examined
/// again: 16 MiB.
const UNPLACED_MAX: usize = 1 << 18;
/// Maximum number of files listed.
const FILES_MAX: usize = 32;

/// Positions of files on devices.
#[derive(Debug, Default)]
pub struct ExtentMap {
    /// The end of each extent and the number of its file, by device and first byte.
    extents: BTreeMap<(DeviceNumber, u64), (u64, usize)>,
    paths: Vec<String>,
    known: HashSet<String>,
}

impl ExtentMap {
    /// Adds a file with its extents, each with its first byte on the device and its length.
    /// A known file may have grown.
    pub fn add(&mut self, device: DeviceNumber, path: &str, extents: &[(u64, u64)]) {
        let file = match self.known.contains(path) {
            true => self.paths.iter().position(|one| one == path).unwrap_or(0),
            false => {
                self.known.insert(path.to_owned());
                self.paths.push(path.to_owned());
                self.paths.len() - 1
            }
        };
        for &(start, length) in extents {
            let end = start.saturating_add(length);
            self.clear(device, start, end);
            self.extents.insert((device, start), (end, file));
        }
    }

    /// Removes entries of a range: extents merge as a file is written, and
    /// the space of removed files is reused.
    fn clear(&mut self, device: DeviceNumber, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let inside = self.extents.range((device, start)..(device, end));
        let inside: Vec<(DeviceNumber, u64)> = inside.map(|(place, _)| *place).collect();
        for place in inside {
            self.extents.remove(&place);
        }
        let before = self.extents.range_mut(..(device, start)).next_back();
        if let Some((&(on, _), (its_end, _))) = before
            && on == device
        {
            *its_end = (*its_end).min(start);
        }
    }

    /// The number of the file at this position.
    fn file_at(&self, device: DeviceNumber, offset: u64) -> Option<usize> {
        let before = self.extents.range(..=(device, offset)).next_back();
        let (&(on, _), &(end, file)) = before?;
        (on == device && offset < end).then_some(file)
    }
}

/// An operation whose file is not known yet.
#[derive(Clone, Copy, Debug)]
struct UnresolvedOperation {
    device: DeviceNumber,
    kind: Kind,
    offset_bytes: u64,
    size_bytes: u64,
}

/// Counts operations by file.
#[derive(Debug, Default)]
pub struct FileCounts {
    map: ExtentMap,
    counts: HashMap<(DeviceNumber, usize), KindCounts>,
    unplaced: Vec<UnresolvedOperation>,
    unknown: HashMap<DeviceNumber, KindCounts>,
}

/// Counts one operation.
pub fn count(counts: &mut KindCounts, kind: Kind, size_bytes: u64) {
    match kind {
        Kind::Read => {
            counts.reads += 1;
            counts.read_bytes += size_bytes;
        }
        Kind::Write => {
            counts.writes += 1;
            counts.write_bytes += size_bytes;
        }
        Kind::Discard => counts.discards += 1,
        Kind::Sync => counts.flushes += 1,
    }
}

impl FileCounts {
    /// Adds an operation. Flushes belong to no file.
    pub fn add(&mut self, operation: &Operation) {
        if operation.kind == Kind::Sync {
            return;
        }
        self.place(UnresolvedOperation {
            device: operation.device,
            kind: operation.kind,
            offset_bytes: operation.offset_bytes,
            size_bytes: operation.size_bytes,
        });
    }

    fn place(&mut self, one: UnresolvedOperation) {
        let counts = match self.map.file_at(one.device, one.offset_bytes) {
            Some(file) => self.counts.entry((one.device, file)).or_default(),
            None if self.unplaced.len() < UNPLACED_MAX => {
                self.unplaced.push(one);
                return;
            }
            None => self.unknown.entry(one.device).or_default(),
        };
        count(counts, one.kind, one.size_bytes);
    }

    /// Learns more files, and looks up unknown positions again.
    pub fn learn(&mut self, learn: impl FnOnce(&mut ExtentMap)) {
        learn(&mut self.map);
        for one in std::mem::take(&mut self.unplaced) {
            self.place(one);
        }
    }

    /// Roles and files of a device, the busiest first.
    pub fn shares(&self, device: DeviceNumber) -> (Vec<RoleShare>, Vec<FileShare>) {
        let mut roles = CountsByRole::new();
        let mut files = Vec::new();
        for (&(on, file), counts) in &self.counts {
            if on != device {
                continue;
            }
            let path = &self.paths()[file];
            let role = Role::of_path(path).map_or((None, "file"), |r| (Some(r.product), r.role));
            add(roles.entry(role).or_default(), counts);
            files.push(FileShare {
                path: path.clone(),
                counts: *counts,
                latency_ns_mean: None,
            });
        }
        let mut unknown = self.unknown.get(&device).copied().unwrap_or_default();
        for one in self.unplaced.iter().filter(|one| one.device == device) {
            count(&mut unknown, one.kind, one.size_bytes);
        }
        if unknown.operations() > 0 {
            add(roles.entry((None, "unknown")).or_default(), &unknown);
        }
        ranked(roles, files)
    }

    fn paths(&self) -> &[String] {
        &self.map.paths
    }
}

/// Counts of each role, by product and name.
pub type CountsByRole<'a> = BTreeMap<(Option<&'a str>, &'a str), KindCounts>;

/// Sorted with the busiest first.
pub fn ranked(
    roles: CountsByRole<'_>,
    mut files: Vec<FileShare>,
) -> (Vec<RoleShare>, Vec<FileShare>) {
    let roles = roles
        .into_iter()
        .map(|((product, role), counts)| RoleShare {
            product: product.map(str::to_owned),
            role: role.to_owned(),
            counts,
        });
    let mut roles: Vec<RoleShare> = roles.collect();
    roles.sort_by_key(|one| u64::MAX - one.counts.operations());
    files.sort_by(|one, other| {
        let busiest = other.counts.operations().cmp(&one.counts.operations());
        busiest.then_with(|| one.path.cmp(&other.path))
    });
    files.truncate(FILES_MAX);
    (roles, files)
}

/// Adds counts up.
pub fn add(to: &mut KindCounts, other: &KindCounts) {
    to.reads += other.reads;
    to.writes += other.writes;
    to.read_bytes += other.read_bytes;
    to.write_bytes += other.write_bytes;
    to.discards += other.discards;
    to.flushes += other.flushes;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_counted_by_file_also_by_those_that_are_known_later() {
        let device = DeviceNumber { major: 8, minor: 0 };
        let at = |offset, kind| Operation {
            device,
            ..Operation::at(0, kind, offset, 4_096)
        };
        let mut counts = FileCounts::default();
        counts.learn(|map| map.add(device, "/pg/base/5/1", &[(0, 8_192), (65_536, 4_096)]));
        for offset in [0, 4_096, 65_536, 8_192, 1 << 20] {
            counts.add(&at(offset, Kind::Write));
        }
        counts.add(&at(0, Kind::Sync));
        counts.learn(|map| map.add(device, "/pg/pg_wal/1", &[(1 << 20, 1 << 20)]));
        let (roles, files) = counts.shares(device);
        let roles: Vec<_> = roles
            .iter()
            .map(|one| (one.role.as_str(), one.counts.writes))
            .collect();
        assert_eq!(roles, [("data", 3), ("unknown", 1), ("log", 1)]);
        assert_eq!(
            (files[0].path.as_str(), files[0].counts.writes),
            ("/pg/base/5/1", 3)
        );
        assert_eq!(files.len(), 2);
        // Two extents have become one.
        counts.learn(|map| {
            map.add(
                device,
                "/pg/base/5/2",
                &[(4 << 20, 4_096), ((4 << 20) + 4_096, 4_096)],
            )
        });
        counts.learn(|map| map.add(device, "/pg/base/5/2", &[(4 << 20, 1 << 20)]));
        counts.add(&at((4 << 20) + 65_536, Kind::Read));
        assert_eq!(counts.shares(device).0[0].counts.reads, 1);
        let other = DeviceNumber {
            major: 8,
            minor: 16,
        };
        assert_eq!(counts.shares(other), (Vec::new(), Vec::new()));
    }
}
