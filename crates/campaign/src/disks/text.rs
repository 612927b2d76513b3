//! Text of `disks` for people: a block for each disk, then one for each volume.

use super::{ArrayFacts, DisksResult};
use stripewise_disk_formats::crossing::Crossing;
use stripewise_disk_formats::superblocks::Found;
use stripewise_disk_inspect::storage::{BlockDevice, BlockDeviceKind};
use stripewise_disk_inspect::survey::{Disk, Partition, Volume};
use stripewise_disk_inspect::verdict::{CheckOutcome, Judgement, LayoutVerdict};
use stripewise_report::Heading;
use stripewise_units::{ByteSize, NameText, counted, format_bytes};

/// Columns per line, as everywhere.
const COLUMNS: usize = 100;

/// A line with an unchanged beginning; the following words are wrapped to further
/// lines, indented by `indent` columns.
fn hang(beginning: &str, words: &str, indent: usize) -> String {
    let mut text = beginning.to_owned();
    let mut column = beginning.chars().count();
    let mut is_first = true;
    for word in words.split_whitespace() {
        let width = word.chars().count();
        if !is_first && column + 1 + width > COLUMNS {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if !is_first {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
        is_first = false;
    }
    text.push('\n');
    text
}

/// A name as a heading, with its description on the same line.
fn headed(text: &mut String, heading: Heading<'_>, name: &str, words: &str) {
    let line = hang(&format!("{name}  "), words, 4);
    text.push_str(&heading(name));
    text.push_str(&line[name.len()..]);
}

/// The whole text, with names as headings.
pub fn disks_text(result: &DisksResult, heading: Heading<'_>) -> String {
    let mut text = String::new();
    if result.survey.disks.is_empty() && result.place.is_none() {
        text.push_str("no disks found\n");
    }
    for disk in &result.survey.disks {
        describe_disk(&mut text, result, disk, heading);
    }
    if !result.survey.volumes.is_empty() {
        text.push_str(&heading("Volumes"));
        text.push('\n');
    }
    for (volume, judgement) in result.volumes() {
        describe_volume(&mut text, volume, judgement, heading);
    }
    file(&mut text, result);
    text
}

/// The volumes with findings and their verdicts, or that there are none.
pub fn disks_line(result: &DisksResult) -> String {
    let findings = result.volumes().filter(|(_, judgement)| judgement.finding);
    let findings: Vec<String> = findings
        .map(|(volume, judgement)| format!("{}: {}", volume.name, verdict(volume, judgement)))
        .collect();
    let volumes = counted(result.survey.volumes.len(), "volume", "volumes");
    match findings.is_empty() {
        true => format!("{volumes}, none is laid out badly"),
        false => format!("{volumes}; {}", findings.join("; ")),
    }
}

fn describe_disk(text: &mut String, result: &DisksResult, disk: &Disk, heading: Heading<'_>) {
    let device = &disk.device;
    let mut first = vec![format_bytes(device.size_bytes)];
    first.extend(what(device));
    first.extend(device.model.clone());
    first.extend(
        device
            .serial
            .as_ref()
            .map(|serial| format!("serial {serial}")),
    );
    first.extend(
        device
            .firmware
            .as_ref()
            .map(|firmware| format!("firmware {firmware}")),
    );
    headed(text, heading, &device.name, &first.join(", "));
    let second = queue(device);
    if !second.is_empty() {
        text.push_str(&hang("  ", &second.join(", "), 4));
    }
    if let Some(facts) = result.known.of(&disk.key) {
        let words = given(facts);
        if !words.is_empty() {
            text.push_str(&hang("  given: ", &words, 4));
        }
        if let Some(words) = measured(facts) {
            text.push_str(&hang("  measured: ", &words, 4));
        }
    }
    for line in layers(device) {
        text.push_str(&hang("  ", &line, 4));
    }
    match (&disk.table, &disk.unread) {
        (Some(table), _) => {
            let id = table.id.as_deref().unwrap_or("none");
            text.push_str(&format!(
                "  partition table {}, id {id}\n",
                table.kind.name()
            ));
            partitions(text, disk, table.sector_bytes);
            for problem in &table.problems {
                text.push_str(&hang("  warning: ", problem, 4));
            }
            for entry in &table.hybrid {
                text.push_str(&format!(
                    "  the hybrid MBR also has: {} at {} bytes, {}\n",
                    entry.type_name.unwrap_or(&entry.type_id),
                    entry.start_bytes,
                    format_bytes(entry.size_bytes)
                ));
            }
        }
        (None, Some(why)) => {
            text.push_str(&format!("  partition table not read: {why}\n"));
            partitions(text, disk, 512);
        }
        (None, None) => partitions(text, disk, 512),
    }
    text.push('\n');
}

/// Kind, bus and whether it spins.
fn what(device: &BlockDevice) -> Vec<String> {
    let mut words = Vec::new();
    let level = device.array.as_ref().map(|array| {
        let unit = array
            .stripe_unit_bytes
            .map(|bytes| format!(", chunk {}", ByteSize(bytes)));
        let disks = array.disks.map(|disks| format!(" of {disks} disks"));
        format!(
            "md {}{}{}",
            array.level,
            disks.unwrap_or_default(),
            unit.unwrap_or_default()
        )
    });
    words.extend(level);
    words.extend(match device.kind {
        BlockDeviceKind::Loop => Some("loop".to_owned()),
        BlockDeviceKind::Mapper => Some(format!(
            "device mapper {}",
            device.mapper_name.as_deref().unwrap_or_default()
        )),
        BlockDeviceKind::Memory => Some("memory".to_owned()),
        _ => device.transport.clone(),
    });
    if device.kind == BlockDeviceKind::Disk {
        words.extend(device.rotation().map(str::to_owned));
    }
    words
}

fn queue(device: &BlockDevice) -> Vec<String> {
    let queue = &device.queue;
    let size = |bytes: u64| ByteSize(bytes).to_string();
    let mut words = Vec::new();
    if let Some(logical) = queue.logical_sector_bytes {
        let physical = queue.physical_sector_bytes;
        let physical = physical.map(|bytes| format!(", {bytes} physical"));
        words.push(format!(
            "sectors {logical} logical{}",
            physical.unwrap_or_default()
        ));
    }
    words.extend(
        queue
            .minimum_io_bytes
            .map(|bytes| format!("minimum I/O {}", size(bytes))),
    );
    words.extend(
        queue
            .optimal_io_bytes
            .map(|bytes| format!("optimal I/O {}", size(bytes))),
    );
    words.extend(
        queue
            .chunk_bytes
            .map(|bytes| format!("chunk {}", size(bytes))),
    );
    words.extend(
        queue
            .alignment_offset_bytes
            .filter(|bytes| *bytes > 0)
            .map(|bytes| format!("alignment offset {bytes}")),
    );
    words.extend(
        queue
            .queue_depth
            .map(|depth| format!("queue depth {depth}")),
    );
    words.extend(queue.nr_requests.map(|count| format!("{count} requests")));
    words.extend(queue.atomic_writes());
    let polls = queue.polls == Some(true);
    words.extend(polls.then(|| "polls".to_owned()));
    words.extend(queue.write_cache.clone());
    words
}

fn given(facts: &ArrayFacts) -> String {
    let mut words = Vec::new();
    let supplied = facts.stripe_unit_bytes.filter(|_| facts.measured.is_none());
    words.extend(supplied.map(|bytes| format!("stripe unit {}", ByteSize(bytes))));
    words.extend(
        facts
            .raid_level
            .as_ref()
            .map(|level| match facts.raid_disks {
                Some(disks) => format!("{level} of {disks} disks"),
                None => level.clone(),
            }),
    );
    words.extend(
        facts
            .cache_size_bytes
            .map(|bytes| format!("cache {}", ByteSize(bytes))),
    );
    words.extend(facts.note.clone());
    words.join(", ")
}

/// The results of timed reads, with method and date.
fn measured(facts: &ArrayFacts) -> Option<String> {
    let (unit, found) = facts.stripe_unit_bytes.zip(facts.measured.as_ref())?;
    let [low, high] = found.stripe_unit_bytes_interval;
    Some(format!(
        "stripe unit {} ({low}-{high} bytes) on {} disks, units begin at byte {}; {}, {}, {:.2} % sure",
        ByteSize(unit),
        found.disks,
        found.first_unit_bytes,
        found.method,
        found.measured_at.get(..10).unwrap_or_default(),
        found.confidence * 100.0
    ))
}

/// The devices below a device.
fn layers(device: &BlockDevice) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(looped) = &device.looped {
        lines.push(format!(
            "over {} from byte {}{}",
            looped.backing_file.as_text(),
            looped.offset_bytes,
            match looped.direct_io {
                Some(true) => ", direct",
                Some(false) => ", through the page cache",
                None => "",
            }
        ));
    }
    if let Some(array) = &device.array {
        let members =
            array
                .members
                .iter()
                .map(|member| match (member.slot, member.data_offset_bytes) {
                    (Some(_), Some(bytes)) => format!("{} (data from byte {bytes})", member.device),
                    (None, _) => format!("{} (spare)", member.device),
                    _ => member.device.clone(),
                });
        let members: Vec<String> = members.collect();
        lines.push(format!("members: {}", members.join(", ")));
    }
    let name = |number| {
        let found = device.below.iter().find(|below| below.number == number);
        found.map_or_else(|| number.to_string(), |below| below.name.clone())
    };
    for piece in device.mapper.iter().take(16) {
        let parts: Vec<String> = piece
            .parts
            .iter()
            .map(|part| format!("{} from byte {}", name(part.number), part.offset_bytes))
            .collect();
        let unit = piece
            .stripe_unit_bytes
            .map(|bytes| format!(", stripe unit {}", ByteSize(bytes)));
        let policy = piece
            .policy
            .as_ref()
            .map(|policy| format!(", policy {policy}"));
        lines.push(format!(
            "{} {} at {}{}{}: {}",
            format_bytes(piece.size_bytes),
            piece.level.as_deref().unwrap_or(&piece.kind),
            piece.start_bytes,
            unit.unwrap_or_default(),
            policy.unwrap_or_default(),
            if parts.is_empty() {
                "not followed".to_owned()
            } else {
                parts.join(", ")
            }
        ));
    }
    if device.mapper.len() > 16 {
        lines.push(format!("and {} more pieces", device.mapper.len() - 16));
    }
    lines.extend(
        device
            .mapper_unread
            .as_ref()
            .map(|why| format!("what backs it is not known: {why}")),
    );
    lines
}

fn partitions(text: &mut String, disk: &Disk, sector_bytes: u32) {
    if disk.partitions.is_empty() {
        return;
    }
    let width = disk
        .partitions
        .iter()
        .map(|one| one.name.chars().count())
        .max()
        .unwrap_or(0)
        .max(4);
    text.push_str(&format!(
        "  {:width$}  {:>16}  {:>12}  {:>10}  type, what is on it\n",
        "name", "start, bytes", "sectors", "size"
    ));
    for one in &disk.partitions {
        let line = format!(
            "  {:width$}  {:>16}  {:>12}  {:>10}  ",
            one.name,
            one.entry.start_bytes,
            one.entry.start_bytes / u64::from(sector_bytes.max(1)),
            format_bytes(one.entry.size_bytes),
        );
        let indent = line.chars().count();
        text.push_str(&hang(&line, &contents(one), indent));
    }
}

fn contents(one: &Partition) -> String {
    let entry = &one.entry;
    let mut words = Vec::new();
    if !entry.type_id.is_empty() {
        words.push(entry.type_name.unwrap_or(&entry.type_id).to_owned());
    }
    words.extend(one.holds.as_ref().map(found));
    if !one.holders.is_empty() {
        words.push(format!("used by {}", one.holders.join(", ")));
    }
    words.join(": ")
}

fn found(found: &Found) -> String {
    let size = |bytes: u64| ByteSize(bytes).to_string();
    match found {
        Found::FileSystem(header) => match header.allocation_unit_bytes {
            Some(unit) => format!("{}, unit {}", header.kind, size(unit)),
            None => header.kind.clone(),
        },
        Found::Member(member) => format!(
            "md member of {}, data from byte {}",
            member.level, member.data_offset_bytes
        ),
        Found::PhysicalVolume(volume) => {
            let group = volume
                .group
                .as_ref()
                .map(|group| format!(" of {}", group.name));
            format!(
                "LVM physical volume{}, extents from byte {}",
                group.unwrap_or_default(),
                volume.data_offset_bytes.unwrap_or(0)
            )
        }
        Found::Encrypted(encrypted) => match encrypted.data_offset_bytes {
            Some(bytes) => format!("LUKS{}, data from byte {bytes}", encrypted.version),
            None => format!("LUKS{}", encrypted.version),
        },
    }
}

fn describe_volume(
    text: &mut String,
    volume: &Volume,
    judgement: &Judgement,
    heading: Heading<'_>,
) {
    let mut head = vec![format_bytes(volume.size_bytes)];
    head.push(volume.file_system.clone().unwrap_or_else(|| {
        volume
            .holds
            .as_ref()
            .map_or("no file system known", Found::kind)
            .to_owned()
    }));
    if volume.devices.len() > 1 {
        head.push(format!("on {}", volume.devices.join(", ")));
    }
    if !volume.mount_points.is_empty() {
        let points: Vec<String> = volume
            .mount_points
            .iter()
            .map(|point| point.as_text())
            .collect();
        head.push(format!("mounted at {}", points.join(", ")));
    }
    headed(text, heading, &volume.name, &head.join(", "));
    let places: Vec<String> = volume
        .subject
        .places
        .iter()
        .map(|place| place.words())
        .collect();
    if !places.is_empty() {
        text.push_str(&hang("  starts at ", &places.join("; "), 4));
    }
    text.push_str(&hang("  verdict: ", &verdict(volume, judgement), 4));
    for check in &judgement.checks {
        let mark = match check.result {
            CheckOutcome::Good => "ok  ",
            CheckOutcome::Information => "    ",
            CheckOutcome::Warning => "warn",
            CheckOutcome::Finding => "BAD ",
        };
        text.push_str(&hang(&format!("  {mark} "), &check.text, 9));
    }
    for cost in &judgement.costs {
        text.push_str(&hang("       ", &cost.words(), 9));
    }
    text.push('\n');
}

fn verdict(volume: &Volume, judgement: &Judgement) -> String {
    let size = |bytes: u64| ByteSize(bytes).to_string();
    match judgement.verdict {
        LayoutVerdict::SectorSplit => "SECTOR-SPLIT: it starts inside a physical sector".to_owned(),
        LayoutVerdict::SplitsAbove(bytes) => {
            // Compare the shares by cross-multiplication.
            let share = |here: &Crossing, other: &Crossing| {
                u128::from(here.crossing) * u128::from(other.period)
            };
            let costs = judgement
                .costs
                .iter()
                .any(|cost| share(&cost.here, &cost.aligned) > share(&cost.aligned, &cost.here));
            let word = match (judgement.finding, costs) {
                (true, _) => "MISALIGNED",
                (false, true) => "misaligned, though no file system on it suffers yet",
                (false, false) => "good for the requested sizes",
            };
            format!("{word}: splits above {}", size(bytes))
        }
        LayoutVerdict::Aligned => "aligned".to_owned(),
        LayoutVerdict::NotStriped => "not striped".to_owned(),
        LayoutVerdict::Suspect(bytes) => format!(
            "suspect: the layers below are not known, and only units up to {} suit this offset",
            size(bytes)
        ),
        LayoutVerdict::UnknownStripeUnit(_) if volume.subject.places.is_empty() => {
            "unknown, as is where it starts".to_owned()
        }
        LayoutVerdict::UnknownStripeUnit(_) if volume.subject.incomplete => {
            "unknown stripe unit, and the layers below are unknown too".to_owned()
        }
        LayoutVerdict::UnknownStripeUnit(None) => {
            "unknown stripe unit; any suits, as it starts at 0".to_owned()
        }
        LayoutVerdict::UnknownStripeUnit(Some(bytes)) => {
            format!("unknown stripe unit; up to {} suits", size(bytes))
        }
    }
}

fn file(text: &mut String, result: &DisksResult) {
    let Some(place) = &result.place else {
        return;
    };
    text.push_str(&format!(
        "{} is on {}, mounted at {}\n",
        place.path,
        place.device.as_deref().unwrap_or("no known block device"),
        place.mount_point.as_deref().unwrap_or("an unknown place")
    ));
    for extent in &place.extents {
        let device = match extent.device_bytes {
            Some(bytes) => format!("at {bytes}"),
            None => "at a place not known".to_owned(),
        };
        text.push_str(&format!(
            "  from byte {:>14}: {:>14} bytes {device} in its file system's device\n",
            extent.start_bytes, extent.length_bytes
        ));
    }
    let more = place
        .extents_count
        .saturating_sub(place.extents.len() as u64);
    let plural = if more == 1 { "" } else { "s" };
    match (more, place.extents_partial) {
        (0, false) => {}
        (0, true) => text.push_str("  and more, which were not requested\n"),
        (_, false) => text.push_str(&format!("  and {more} extent{plural} more\n")),
        (_, true) => text.push_str(&format!("  and at least {more} extent{plural} more\n")),
    }
}
