//! Compares the program's byte counts with the device's: did it move what the program counted, and
//! did anyone else use it?

use super::code::Code;
use super::evidence::{BytesMoved, Evidence, percent};
use stripewise_disk_inspect::storage::{BlockDevice, Storage};
use stripewise_results::{Severity, Warning};
use stripewise_units::format_bytes;

/// Below this share of the program's bytes, something other than the device served them.
const SEEN_SHARE_MIN: f64 = 0.9;
/// Below this the result is mostly not the device's.
const SEEN_SHARE_VOID: f64 = 0.5;
/// Bytes of other programs, relative to ours, that matter.
const OTHERS_SHARE_MIN: f64 = 0.05;
/// Logs and metadata of an idle system stay below this.
const OTHERS_MIN_BYTES: u64 = 8 << 20;
/// Too little to compare.
const OURS_MIN_BYTES: u64 = 1 << 20;

/// Bytes moved by some devices together; `None` if one of them has no counters.
fn seen(evidence: &Evidence, devices: &[&BlockDevice]) -> Option<BytesMoved> {
    if devices.is_empty() {
        return None;
    }
    let mut sum = BytesMoved::default();
    for device in devices {
        let observed = evidence.observed_of(device)?;
        if device.queue.counts_operations == Some(false) && observed.reads + observed.writes == 0 {
            return None;
        }
        sum.read_bytes = sum.read_bytes.saturating_add(observed.read_bytes);
        sum.written_bytes = sum.written_bytes.saturating_add(observed.written_bytes);
    }
    Some(sum)
}

/// The devices that all of the program's bytes pass, from the nearest down: a loop device sees
/// everything and its disk nothing. The bottom comes last, where other programs may mask it by
/// reading as much; in between are those with one device below them, which mostly serve no one
/// else.
fn on_the_way(storage: &Storage) -> Vec<Vec<&BlockDevice>> {
    let mut groups = vec![storage.devices.iter().collect::<Vec<_>>()];
    while let Some([only]) = groups.last().map(Vec::as_slice)
        && let [below] = only.below.as_slice()
    {
        groups.push(vec![below]);
    }
    groups.push(storage.bottom());
    groups
}

/// The device moved fewer bytes than the program: caches, holes, compression.
pub fn device_saw_less(evidence: &Evidence) -> Option<Warning> {
    let storage = evidence.storage.as_ref().filter(|_| !evidence.spread)?;
    on_the_way(storage).iter().find_map(|devices| {
        let seen = seen(evidence, devices)?;
        // Only the measured bytes: the device also saw ramp and drain.
        let ours = [
            ("read", evidence.outcome.read.bytes, seen.read_bytes),
            ("written", evidence.outcome.write.bytes, seen.written_bytes),
        ];
        let (verb, bytes, of_them) = ours.into_iter().find(|(_, bytes, of_them)| {
            *bytes >= OURS_MIN_BYTES && (*of_them as f64) < SEEN_SHARE_MIN * *bytes as f64
        })?;
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        let names = names.join(", ");
        let void = (of_them as f64) < SEEN_SHARE_VOID * bytes as f64;
        let message = format!(
            "{names} saw {} of the bytes: {} were {verb}, {} arrived there",
            percent(of_them, bytes),
            format_bytes(bytes),
            format_bytes(of_them)
        );
        let hint = why(evidence);
        Some(Code::DeviceSawLess.warning(
            if void {
                Severity::Void
            } else {
                Severity::Warning
            },
            message,
            hint,
        ))
    })
}

/// The likeliest cause according to the rest of the evidence.
fn why(evidence: &Evidence) -> &'static str {
    let storage = evidence.storage.as_ref();
    let file_system = storage.and_then(|storage| storage.file_system.as_ref());
    if !evidence.is_direct() {
        "the page cache served the rest: leave out <--cache>"
    } else if super::data::sparse_file(evidence).is_some()
        || super::data::never_written(evidence).is_some()
    {
        "the file's holes need no disk: measure a file that was written in full"
    } else if storage.is_some_and(|storage| storage.cached_loop().is_some()) {
        "the page cache behind the loop device served the rest: losetup --direct-io=on"
    } else if file_system.is_some_and(|file_system| file_system.compression.is_some()) {
        "the file system compresses: measure with data that cannot be compressed, or with compression off"
    } else if super::cache::direct_io_cached(evidence).is_some() {
        "the file system's cache served the rest: use its block size and alignment"
    } else if super::data::zero_data(evidence).is_some() {
        "zeros were answered without the media: measure data that was written in full"
    } else if storage.is_some_and(|storage| {
        let mut layers = storage.layers().into_iter();
        layers.any(|device| device.looped.is_some())
    }) {
        "write the file behind the loop device in full: its holes need no disk"
    } else {
        "a cache above the device served the rest: look for dm-cache, bcache, or a file system that caches \
         direct I/O"
    }
}

/// Other programs used the device during the run.
pub fn other_load(evidence: &Evidence) -> Option<Warning> {
    let device = evidence.nearest()?;
    let observed = evidence.observed_of(device)?;
    let file_system = evidence.storage.as_ref()?.file_system.as_ref();
    let ours = evidence.moved_in_all();
    let all = BytesMoved {
        read_bytes: observed.read_bytes,
        written_bytes: observed.written_bytes,
    };
    let mut found = Vec::new();
    // Read-ahead reads more than requested, and copy-on-write writes more.
    if evidence.is_direct() && evidence.storage.as_ref()?.devices.len() == 1 {
        found.extend(excess("read", ours.read_bytes, all.read_bytes, ours));
        if !file_system.is_some_and(|file_system| file_system.copy_on_write) {
            found.extend(excess("wrote", ours.written_bytes, all.written_bytes, ours));
        }
    }
    let mut name = device.name.clone();
    // The rest of the disk that a partition is on.
    if found.is_empty()
        && device.partition.is_some()
        && let Some(disk) = device.below.first()
        && let Some(whole) = evidence.observed_of(disk)
    {
        name.clone_from(&disk.name);
        found.extend(excess("read", all.read_bytes, whole.read_bytes, ours));
        found.extend(excess(
            "wrote",
            all.written_bytes,
            whole.written_bytes,
            ours,
        ));
    }
    if found.is_empty() && observed.in_flight_before > 1 {
        found.push(format!(
            "had {} operations in flight before Stripewise's first",
            observed.in_flight_before
        ));
    }
    if found.is_empty() {
        return None;
    }
    let message = format!(
        "others used {name} {}: it {}",
        match evidence.outcome.pauses.is_empty() {
            true => "during the run",
            // The device's counters run on during them.
            false => "during the run or the pauses that are cut out of it",
        },
        found.join(" and ")
    );
    let hint =
        "stop what else uses it (`iotop -o`, `pidstat -d 1` name the processes) and run again";
    let short = format!("{name} {}", found.join(" and "));
    let warning = Code::OtherLoad.warning(Severity::Warning, message, hint);
    Some(warning.shortened(short))
}

fn excess(verb: &str, ours: u64, all: u64, moved: BytesMoved) -> Option<String> {
    let more = all.saturating_sub(ours);
    let total = moved.read_bytes.saturating_add(moved.written_bytes);
    let matters = more >= OTHERS_MIN_BYTES && more as f64 >= OTHERS_SHARE_MIN * total as f64;
    matters.then(|| {
        let more_bytes = format_bytes(more);
        match total {
            // A run that was stopped before it moved anything.
            0 => format!("{verb} {more_bytes} more than this run did"),
            total => format!(
                "{verb} {more_bytes} more than this run did ({})",
                percent(more, total)
            ),
        }
    })
}

/// An md array in the path that is resyncing or checking.
pub fn array_syncing(evidence: &Evidence) -> Option<Warning> {
    let layers = evidence.storage.as_ref()?.layers();
    let (device, action) = layers.iter().find_map(|device| {
        let action = device.array.as_ref()?.sync_action.as_deref()?;
        (!matches!(action, "idle" | "frozen")).then_some((device, action))
    })?;
    let message = format!("the array {} is busy with itself ({action})", device.name);
    let hint = format!(
        "wait until it is idle: `cat /proc/mdstat` shows how far {} is",
        device.name
    );
    Some(Code::ArraySyncing.warning(Severity::Warning, message, hint))
}
