//! The table of all keys of an array file: name, allowed range, meaning and the field each one
//! sets. Parser, overrides, description and help share it, so they always know the same keys.

use super::error::SpecError;
use super::{ArraySpec, DriveKind};
use crate::controller::MirrorRead;
use crate::drive::rotating::Scheduling;
use crate::events::DRIVES_MAX;
use crate::layout::{Level, ParityWrite, Rotation};
use stripewise_units::{ByteSize, Nanoseconds, nearest, parse_count};

/// A reference to the field of a key.
pub(super) enum Slot<'a> {
    Text(&'a mut String),
    Flag(&'a mut bool),
    Count(&'a mut u64),
    Small(&'a mut u32),
    Bytes(&'a mut u64),
    Time(&'a mut u64),
    Number(&'a mut f64),
    Level(&'a mut Level),
    Drive(&'a mut DriveKind),
    Scheduling(&'a mut Scheduling),
    Mirror(&'a mut MirrorRead),
    Parity(&'a mut ParityWrite),
    Rotation(&'a mut Rotation),
}

type Names<T> = &'static [(T, &'static str)];
const DRIVES: Names<DriveKind> = &[(DriveKind::Disk, "disk"), (DriveKind::Ssd, "ssd")];
const SCHEDULINGS: Names<Scheduling> = &[
    (Scheduling::Blend, "blend"),
    (Scheduling::FirstCome, "first-come"),
];
const MIRRORS: Names<MirrorRead> = &[
    (MirrorRead::Nearest, "nearest"),
    (MirrorRead::NearestIdle, "nearest-idle"),
    (MirrorRead::Shortest, "shortest"),
    (MirrorRead::Hash, "hash"),
];
const PARITIES: Names<ParityWrite> = &[
    (ParityWrite::Cheaper, "cheaper"),
    (ParityWrite::ReadModifyWrite, "read-modify-write"),
    (ParityWrite::ReconstructWrite, "reconstruct-write"),
];
const ROTATIONS: Names<Rotation> = &[
    (Rotation::LeftSymmetric, "left-symmetric"),
    (Rotation::LeftAsymmetric, "left-asymmetric"),
    (Rotation::RightSymmetric, "right-symmetric"),
    (Rotation::RightAsymmetric, "right-asymmetric"),
    (Rotation::ParityLast, "parity-last"),
];

/// The smallest and largest allowed value, in bytes, nanoseconds or plain.
#[derive(Clone, Copy)]
pub(super) struct Range(f64, f64);

pub(super) struct Key {
    pub path: &'static str,
    range: Range,
    meaning: &'static str,
    pub slot: fn(&mut ArraySpec) -> Slot<'_>,
}

/// A key as shown in help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// As in a file, sections joined by a dot: `disk.rpm`.
    pub path: &'static str,
    /// Allowed values.
    pub permitted: String,
    /// Description for help.
    pub meaning: &'static str,
}

/// All keys, in file order.
pub fn keys() -> Vec<KeyInfo> {
    let mut spec = ArraySpec::default();
    KEYS.iter()
        .map(|key| KeyInfo {
            path: key.path,
            permitted: key.permitted(&mut spec),
            meaning: key.meaning,
        })
        .collect()
}

const K: f64 = 1024.0;
const G: f64 = K * K * K;
const MS: f64 = 1e6;
const S: f64 = 1e9;
const ANY: Range = Range(0.0, 0.0);
const MILLION: Range = Range(0.0, 1e6);

macro_rules! keys {
    ($($path:literal $kind:ident $($field:ident).+ $range:expr, $meaning:literal;)*) => {
        pub(super) const KEYS: &[Key] = &[$(Key {
            path: $path,
            range: $range,
            meaning: $meaning,
            slot: |spec| Slot::$kind(&mut spec.$($field).+),
        },)*];
    };
}

keys! {
    "title" Text title ANY, "one-line description for lists";
    "source" Text source ANY, "source of the figures";
    "seed" Count seed Range(0.0, u64::MAX as f64), "seed of all randomness in the array";
    "level" Level level ANY, "organisation of the drives";
    "drive" Drive drive ANY, "kind of the drives: [disk] or [ssd] describes them";
    "disks" Count disks Range(1.0, DRIVES_MAX as f64), "number of drives";
    "stripe_unit" Bytes stripe_unit_bytes Range(512.0, G), "consecutive bytes on one drive";
    "offset" Bytes offset_bytes Range(0.0, 1024.0 * G), "start of the partition on the array";
    "size" Bytes size_bytes Range(0.0, 1e6 * G), "size of the volume; 0: up to the end of the array";
    "file_offset" Bytes file_offset_bytes Range(0.0, 1024.0 * G), "where in the partition the data begins, rounded up to an allocation unit";
    "allocation_unit" Bytes allocation_unit_bytes Range(0.0, G), "the file system's allocation unit; 0: none";
    "fragments" Count fragments Range(0.0, 1e6), "pieces of the file, each at an allocation unit of its own; 0: one piece";
    "sector" Bytes sector_bytes Range(512.0, 4096.0), "logical sector: 512 or 4096";
    "placement" Number placement Range(1.0, 100.0), "space on the drives per byte stored: above 1, other volumes lie between the stripe units";
    "chunklet" Bytes chunklet_bytes Range(0.0, 1024.0 * G), "bytes on one drive after which the order of the drives changes, as in virtualised arrays; 0: never";
    "drift_percent_per_hour" Number drift_percent_per_hour Range(-50.0, 1000.0), "service times change by this much in an hour of virtual time";
    "age" Time age_ns Range(0.0, 366.0 * 24.0 * 3600.0 * S), "age of the array at the start, in virtual time, during which it has drifted";
    "disk.rpm" Count disk.rpm Range(1000.0, 30_000.0), "revolutions a minute";
    "disk.cylinders" Count disk.cylinders Range(1.0, 1e6), "arm positions";
    "disk.heads" Count disk.heads Range(1.0, 64.0), "tracks per cylinder";
    "disk.sectors_per_track_outer" Count disk.sectors_per_track_outer Range(8.0, 100_000.0), "512-byte sectors on the outermost track";
    "disk.sectors_per_track_inner" Count disk.sectors_per_track_inner Range(8.0, 100_000.0), "512-byte sectors on the innermost track";
    "disk.zones" Count disk.zones Range(0.0, 64.0), "zones of equally long tracks; 0: each track a little shorter than the one before";
    "disk.seek_track" Time disk.seek_track_ns Range(0.0, 100.0 * MS), "seek to the next cylinder";
    "disk.seek_average" Time disk.seek_average_ns Range(0.0, 100.0 * MS), "mean seek between random cylinders";
    "disk.seek_full" Time disk.seek_full_ns Range(0.0, 200.0 * MS), "seek over the full stroke";
    "disk.seek_scale" Number disk.seek_scale Range(0.1, 10.0), "factor on the three seek times";
    "disk.head_switch" Time disk.head_switch_ns Range(0.0, 10.0 * MS), "switch to another head; also the skew between tracks";
    "disk.write_settle" Time disk.write_settle_ns Range(0.0, 10.0 * MS), "extra settling before a write after a seek";
    "disk.occupancy" Time disk.occupancy_ns Range(0.0, 10.0 * MS), "further time for which the drive is occupied when its arm moves";
    "disk.queue_depth" Count disk.queue_depth Range(1.0, 1024.0), "accesses among which the drive chooses the next";
    "disk.scheduling" Scheduling disk.scheduling ANY, "how the drive chooses";
    "disk.rotation_weight" Number disk.rotation_weight Range(0.0, 1.0), "w in seek + w * rotational wait: 1 is SATF, 0 is SSTF";
    "disk.wait_limit" Time disk.wait_limit_ns Range(0.0, 3600.0 * S), "an access that has waited longer goes first; 0s: never";
    "disk.read_ahead" Bytes disk.read_ahead_bytes Range(0.0, G), "bytes the drive reads ahead after a read; 0: none";
    "disk.segments" Count disk.segments Range(1.0, 1024.0), "streams whose read-ahead the drive keeps";
    "ssd.size" Bytes ssd.size_bytes Range(K * K, 1e6 * G), "capacity of each drive";
    "ssd.channels" Count ssd.channels Range(1.0, 1024.0), "units that read and program independently";
    "ssd.page_size" Bytes ssd.page_bytes Range(512.0, K * K), "bytes read or programmed at once";
    "ssd.read" Time ssd.read_ns Range(0.0, 100.0 * MS), "read of a page";
    "ssd.program" Time ssd.program_ns Range(0.0, 100.0 * MS), "program of a page";
    "ssd.erase" Time ssd.erase_ns Range(0.0, 1000.0 * MS), "erase of a block";
    "ssd.suspend" Time ssd.suspend_ns Range(0.0, 100.0 * MS), "longest wait of a read for a program in progress";
    "ssd.pages_per_block" Count ssd.pages_per_block Range(1.0, 65_536.0), "pages in a block";
    "ssd.buffer" Bytes ssd.buffer_bytes Range(0.0, 64.0 * G), "write buffer";
    "ssd.fast" Bytes ssd.fast_bytes Range(0.0, 1e5 * G), "fast flash that serves as a cache for the rest; 0: none";
    "ssd.fast_program" Time ssd.fast_program_ns Range(0.0, 100.0 * MS), "program of a page there";
    "ssd.fast_refill" Bytes ssd.fast_refill_bytes_per_s Range(0.0, 1024.0 * G), "bytes a second of it that become free again while the drive rests";
    "ssd.collection_burst" Bytes ssd.collection_burst_bytes Range(0.0, 1024.0 * G), "bytes written after which all deferred garbage collection is done at once; 0: each write pays its share";
    "ssd.jitter_percent" Number ssd.jitter_percent Range(0.0, 90.0), "page times vary uniformly by this much either way";
    "ssd.spare_percent" Number ssd.spare_percent Range(1.0, 400.0), "spare flash, of the capacity";
    "ssd.preconditioned" Flag ssd.preconditioned ANY, "start in steady state instead of factory-fresh";
    "ssd.page_map" Flag ssd.page_map ANY, "keep a map of all pages and collect block by block, instead of the mean; starts fresh";
    "controller.command_cap" Count controller.command_cap Range(1.0, 65_536.0), "host operations in progress at once";
    "controller.operation_cpu" Time controller.operation_cpu_ns Range(0.0, 1000.0 * MS), "processor time per operation";
    "controller.split_cpu" Time controller.split_cpu_ns Range(0.0, 1000.0 * MS), "processor time per further stripe unit an operation touches";
    "controller.queue_cpu" Time controller.queue_cpu_ns Range(0.0, 1000.0 * MS), "processor time per operation for each doubling of the operations in progress";
    "controller.access_share" Number controller.access_share Range(0.0, 10.0), "processor time of each drive access of an operation beyond the first";
    "controller.command_latency" Time controller.command_latency_ns Range(0.0, 1000.0 * MS), "latency on the path to a drive, pipelined";
    "controller.completion_latency" Time controller.completion_latency_ns Range(0.0, 1000.0 * MS), "latency on the path back, pipelined";
    "controller.link" Bytes controller.link_bytes_per_s Range(0.0, 1024.0 * G), "bytes a second between host and array; 0: no limit";
    "controller.prefetch" Bytes controller.prefetch_bytes Range(0.0, G), "bytes the controller fetches ahead of a stream of reads; 0: none";
    "controller.mirror_read" Mirror controller.mirror_read ANY, "which copy a mirrored read goes to";
    "controller.parity_write" Parity controller.parity_write ANY, "how small writes update parity";
    "controller.parity_rotation" Rotation controller.rotation ANY, "how parity moves over the drives of RAID 5 and 6, as in Linux md; parity-last: never, as in RAID 4";
    "controller.parity_page" Bytes controller.parity_page_bytes Range(512.0, K * K), "unit in which parity is updated; partial ones are read first";
    "cache.size" Bytes cache.size_bytes Range(0.0, 1024.0 * G), "write-back cache: bytes that may be dirty; 0: none";
    "cache.slots" Count cache.slots Range(1.0, 65_536.0), "destaging operations at once";
    "cache.merge" Bytes cache.merge_bytes Range(512.0, G), "neighbouring writes are destaged together up to this size";
    "cache.nonvolatile" Flag cache.nonvolatile ANY, "survives a power cut: durable writes are acknowledged from it";
    "limit.iops" Count limit.iops Range(0.0, 1e9), "cap on operations a second; 0: none";
    "limit.bandwidth" Bytes limit.bytes_per_s Range(0.0, 1024.0 * G), "cap on bytes a second; 0: none";
    "limit.burst_operations" Count limit.burst_operations Range(0.0, 1e9), "operations allowed above the cap after a rest";
    "limit.burst_iops" Count limit.burst_iops Range(0.0, 1e9), "rate while that credit lasts; 0: as fast as they come";
    "limit.burst_bytes" Bytes limit.burst_bytes Range(0.0, 16.0 * K * G), "bytes allowed above the cap on bytes after a rest";
    "limit.burst_bandwidth" Bytes limit.burst_bytes_per_s Range(0.0, 1024.0 * G), "bytes a second while that credit lasts; 0: as fast as they come";
    "limit.unit" Bytes limit.unit_bytes Range(0.0, G), "an operation counts once for each such part that it begins; 0: once";
    "limit.bytes_min" Bytes limit.bytes_min Range(0.0, G), "smaller operations count as so many bytes";
    "limit.separate" Flag limit.separate ANY, "reads and writes each have the caps for themselves";
    "limit.drive_iops" Count limit.drive_iops Range(0.0, 1e9), "cap on accesses a second of each drive; 0: none";
    "faults.failed_per_million" Small faults.failed_per_million MILLION, "operations that fail";
    "faults.spikes_per_million" Small faults.spikes_per_million MILLION, "operations that take longer";
    "faults.spike_min" Time faults.spike_ns_min Range(0.0, 3600.0 * S), "by at least this";
    "faults.spike_max" Time faults.spike_ns_max Range(0.0, 3600.0 * S), "and at most this";
    "faults.stall_interval" Time faults.stall_interval_ns Range(0.0, 86_400.0 * S), "one stall in each interval; 0s: none";
    "faults.stall" Time faults.stall_ns Range(0.0, 3600.0 * S), "length of a stall, less than the interval";
    "faults.torn_per_million" Small faults.torn_per_million MILLION, "writes acknowledged but written in part";
    "faults.lost_per_million" Small faults.lost_per_million MILLION, "writes acknowledged but never written";
    "faults.misdirected_per_million" Small faults.misdirected_per_million MILLION, "writes that land elsewhere";
}

/// Resolves a key: its full path, or its last part if unique (`rpm`, but not `size`, which is the
/// volume's).
pub(super) fn find(name: &str) -> Result<&'static Key, SpecError> {
    if let Some(key) = KEYS.iter().find(|key| key.path == name) {
        return Ok(key);
    }
    let name = if name == "cache" { "cache.size" } else { name };
    let mut matching = KEYS.iter().filter(|key| {
        key.path == name
            || key
                .path
                .rsplit_once('.')
                .is_some_and(|(_, last)| last == name)
    });
    match (matching.next(), matching.next()) {
        (Some(key), None) => Ok(key),
        (Some(first), Some(second)) => {
            let hint = format!("write `{}` or `{}`", first.path, second.path);
            Err(SpecError::new(name, "this name fits several keys", hint))
        }
        (None, _) => Err(unknown(name)),
    }
}

pub(super) fn unknown(name: &str) -> SpecError {
    let last = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
    let paths = || KEYS.iter().map(|key| key.path);
    let by_path = nearest(name, paths());
    let near = by_path.or_else(|| {
        let word = nearest(name, paths().map(last))?;
        paths().find(|path| last(path) == word)
    });
    let hint = match near {
        Some(near) => {
            format!("did you mean `{near}`? `stripewise sim show` lists all keys of an array")
        }
        None => "`stripewise sim show raid10-10k` shows an array with all of its keys".to_owned(),
    };
    SpecError::new(name, "there is no such key", hint)
}

fn name_of<T: PartialEq + Copy>(names: &[(T, &'static str)], value: T) -> &'static str {
    names
        .iter()
        .find(|(known, _)| *known == value)
        .map_or("", |(_, name)| name)
}

fn list<T>(names: &[(T, &'static str)]) -> String {
    let names: Vec<_> = names.iter().map(|(_, name)| *name).collect();
    format!("one of {}", names.join(", "))
}

fn choose<T: Copy>(target: &mut T, names: Names<T>, text: &str) -> Result<(), ()> {
    let (value, _) = names.iter().find(|(_, name)| *name == text).ok_or(())?;
    *target = *value;
    Ok(())
}

impl Key {
    /// The allowed values as text.
    pub(super) fn permitted(&self, spec: &mut ArraySpec) -> String {
        let Range(min, max) = self.range;
        let (low, high) = (min as u64, max as u64);
        match (self.slot)(spec) {
            Slot::Text(_) => "text".to_owned(),
            Slot::Flag(_) => "true or false".to_owned(),
            Slot::Count(_) | Slot::Small(_) => format!("a whole number from {low} to {high}"),
            Slot::Number(_) => format!("a number from {min} to {max}"),
            Slot::Bytes(_) => {
                format!("a size from {} to {}", ByteSize(low), ByteSize(high))
            }
            Slot::Time(_) => {
                format!(
                    "a time with its unit from {} to {}",
                    Nanoseconds(low),
                    Nanoseconds(high)
                )
            }
            Slot::Level(_) => list(&Level::ALL),
            Slot::Drive(_) => list(DRIVES),
            Slot::Scheduling(_) => list(SCHEDULINGS),
            Slot::Mirror(_) => list(MIRRORS),
            Slot::Parity(_) => list(PARITIES),
            Slot::Rotation(_) => list(ROTATIONS),
        }
    }

    /// Sets the field from text; the error has no origin and line yet.
    pub(super) fn set(&self, spec: &mut ArraySpec, text: &str) -> Result<(), SpecError> {
        let inside = |value: f64| value >= self.range.0 && value <= self.range.1;
        let whole = |value: u64| {
            if inside(value as f64) {
                Ok(value)
            } else {
                Err(())
            }
        };
        let count = |text: &str| parse_count(text).map_err(drop).and_then(whole);
        let done = match (self.slot)(spec) {
            Slot::Text(target) => {
                text.clone_into(target);
                Ok(())
            }
            Slot::Flag(target) => text.parse().map(|value| *target = value).map_err(drop),
            Slot::Count(target) => count(text).map(|value| *target = value),
            Slot::Small(target) => count(text).map(|value| *target = value as u32),
            Slot::Bytes(target) => {
                let size = text.parse::<ByteSize>().map_err(drop);
                size.and_then(|size| whole(size.0))
                    .map(|value| *target = value)
            }
            Slot::Time(target) => {
                let time = text.parse::<Nanoseconds>().map_err(drop);
                time.and_then(|time| whole(time.0))
                    .map(|value| *target = value)
            }
            Slot::Number(target) => {
                let number = text.parse::<f64>().ok().filter(|&value| inside(value));
                number.map(|value| *target = value).ok_or(())
            }
            // `raid10` is as common as `10`.
            Slot::Level(target) => choose(
                target,
                &Level::ALL,
                text.trim_start_matches("raid").trim_start(),
            ),
            Slot::Drive(target) => choose(target, DRIVES, text),
            Slot::Scheduling(target) => choose(target, SCHEDULINGS, text),
            Slot::Mirror(target) => choose(target, MIRRORS, text),
            Slot::Parity(target) => choose(target, PARITIES, text),
            Slot::Rotation(target) => choose(target, ROTATIONS, text),
        };
        done.map_err(|()| {
            let permitted = self.permitted(spec);
            let problem = format!("`{}` is not {permitted}", shortened(text));
            SpecError::new(self.path, problem, format!("{}: {permitted}", self.meaning))
        })
    }

    /// The field's value, as written in TOML and read by [`Key::set`].
    pub(super) fn value(&self, spec: &ArraySpec) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        match (self.slot)(&mut spec.clone()) {
            Slot::Text(text) => quoted(text),
            Slot::Flag(flag) => flag.to_string(),
            Slot::Count(count) => count.to_string(),
            Slot::Small(count) => count.to_string(),
            Slot::Bytes(bytes) => quoted(&ByteSize(*bytes).to_string()),
            Slot::Time(ns) => quoted(&Nanoseconds(*ns).to_string()),
            // `{:?}` prints the shortest text that parses to the same number.
            Slot::Number(number) => format!("{number:?}"),
            Slot::Level(level) => quoted(name_of(&Level::ALL, *level)),
            Slot::Drive(drive) => quoted(name_of(DRIVES, *drive)),
            Slot::Scheduling(scheduling) => quoted(name_of(SCHEDULINGS, *scheduling)),
            Slot::Mirror(mirror) => quoted(name_of(MIRRORS, *mirror)),
            Slot::Parity(parity) => quoted(name_of(PARITIES, *parity)),
            Slot::Rotation(rotation) => quoted(name_of(ROTATIONS, *rotation)),
        }
    }
}

/// A value shortened for a single-line error message.
pub(super) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().count() > 40 {
        short.push_str("...");
    }
    short
}
