//! What `disks --json` prints.

use super::DisksResult;
use super::file::FilePlace;
use crate::steps::array_facts::ArrayFacts;
use serde::Serialize;
use stripewise_disk_formats::superblocks::Found;
use stripewise_disk_formats::tables::PartitionTable;
use stripewise_disk_inspect::storage::BlockDevice;
use stripewise_disk_inspect::survey;
use stripewise_disk_inspect::verdict::{self, Boundary, Check, Judgement, Place};
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::NameText;

/// The survey as a document.
#[derive(Serialize, schemars::JsonSchema)]
pub struct DisksDocument<'a> {
    schema_version: u32,
    disks: Vec<Disk<'a>>,
    volumes: Vec<Volume<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a FilePlace>,
    notes: &'a [String],
}

#[derive(Serialize, schemars::JsonSchema)]
struct Disk<'a> {
    name: &'a str,
    kind: &'a stripewise_disk_inspect::storage::BlockDeviceKind,
    model: Option<&'a str>,
    serial: Option<&'a str>,
    firmware: Option<&'a str>,
    transport: Option<&'a str>,
    rotational: Option<bool>,
    size_bytes: u64,
    logical_sector_bytes: Option<u32>,
    physical_sector_bytes: Option<u32>,
    minimum_io_bytes: Option<u64>,
    optimal_io_bytes: Option<u64>,
    alignment_offset_bytes: Option<u64>,
    chunk_bytes: Option<u64>,
    queue_depth: Option<u32>,
    nr_requests: Option<u32>,
    atomic_write_unit_min_bytes: Option<u64>,
    atomic_write_unit_max_bytes: Option<u64>,
    polls: Option<bool>,
    write_cache: Option<&'a str>,
    read_only: bool,
    key: &'a str,
    given: Option<&'a ArrayFacts>,
    /// What it stands on.
    below: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    array: Option<&'a stripewise_disk_inspect::storage::Array>,
    #[serde(skip_serializing_if = "Option::is_none")]
    looped: Option<&'a stripewise_disk_inspect::storage::Loop>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mapper_name: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    mapper: &'a [stripewise_disk_formats::mapper_table::Segment],
    table: Option<Table<'a>>,
    table_unread: Option<&'a str>,
    partitions: Vec<Partition<'a>>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Table<'a> {
    kind: &'static str,
    id: Option<&'a str>,
    sector_bytes: u32,
    dynamic: bool,
    headers: Option<(String, String)>,
    /// What a hybrid MBR lists besides.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    hybrid: &'a [stripewise_disk_formats::tables::TablePartition],
    problems: &'a [String],
}

#[derive(Serialize, schemars::JsonSchema)]
struct Partition<'a> {
    number: u32,
    name: &'a str,
    start_bytes: u64,
    start_sectors: u64,
    size_bytes: u64,
    r#type: &'a str,
    type_name: Option<&'a str>,
    label: Option<&'a str>,
    uuid: Option<&'a str>,
    role: stripewise_disk_formats::tables::Role,
    logical: bool,
    bootable: bool,
    holds: Option<&'a Found>,
    holders: &'a [String],
    in_kernel: bool,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Volume<'a> {
    name: &'a str,
    devices: &'a [String],
    size_bytes: u64,
    mount_points: Vec<String>,
    file_system: Option<&'a str>,
    label: Option<&'a str>,
    uuid: Option<&'a str>,
    offset_bytes: Option<u64>,
    stripe_unit_bytes: Option<u64>,
    allocation_unit_bytes: Option<u64>,
    verdict: &'static str,
    /// `splits-above`: aligned operations up to this never cross;
    /// `suspect`, `unknown-stripe-unit`: stripe units up to this suit.
    verdict_bytes: Option<u64>,
    finding: bool,
    usage: verdict::Usage,
    boundaries: &'a [Boundary],
    places: &'a [Place],
    checks: &'a [Check],
    costs: Vec<Cost<'a>>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Cost<'a> {
    block_size_bytes: u64,
    layer: &'a str,
    crossing_share: f64,
    crossing_share_aligned: f64,
    stripe_units_mean: f64,
    text: String,
}

pub(super) fn document(result: &DisksResult) -> DisksDocument<'_> {
    DisksDocument {
        schema_version: SCHEMA_VERSION,
        disks: result
            .survey
            .disks
            .iter()
            .map(|one| disk(result, one))
            .collect(),
        volumes: result
            .volumes()
            .map(|(one, judgement)| volume(one, judgement))
            .collect(),
        file: result.place.as_ref(),
        notes: &result.survey.notes,
    }
}

fn disk<'a>(result: &'a DisksResult, disk: &'a survey::Disk) -> Disk<'a> {
    let device: &BlockDevice = &disk.device;
    let queue = &device.queue;
    Disk {
        name: &device.name,
        kind: &device.kind,
        model: device.model.as_deref(),
        serial: device.serial.as_deref(),
        firmware: device.firmware.as_deref(),
        transport: device.transport.as_deref(),
        rotational: queue.rotational,
        size_bytes: device.size_bytes,
        logical_sector_bytes: queue.logical_sector_bytes,
        physical_sector_bytes: queue.physical_sector_bytes,
        minimum_io_bytes: queue.minimum_io_bytes,
        optimal_io_bytes: queue.optimal_io_bytes,
        alignment_offset_bytes: queue.alignment_offset_bytes,
        chunk_bytes: queue.chunk_bytes,
        queue_depth: queue.queue_depth,
        nr_requests: queue.nr_requests,
        atomic_write_unit_min_bytes: queue.atomic_write_unit_min_bytes,
        atomic_write_unit_max_bytes: queue.atomic_write_unit_max_bytes,
        polls: queue.polls,
        write_cache: queue.write_cache.as_deref(),
        read_only: device.read_only,
        key: &disk.key,
        given: result.known.of(&disk.key),
        below: device.below.iter().map(|one| one.name.as_str()).collect(),
        array: device.array.as_ref(),
        looped: device.looped.as_ref(),
        mapper_name: device.mapper_name.as_deref(),
        mapper: &device.mapper,
        table: disk.table.as_ref().map(table),
        table_unread: disk.unread.as_deref(),
        partitions: disk
            .partitions
            .iter()
            .map(|one| partition(one, disk.table.as_ref()))
            .collect(),
    }
}

fn table(table: &PartitionTable) -> Table<'_> {
    use stripewise_disk_formats::tables::Copy;
    let state = |copy: &Copy| match copy {
        Copy::Valid => "valid".to_owned(),
        Copy::Damaged(why) => format!("damaged: {why}"),
        Copy::Absent => "absent".to_owned(),
    };
    Table {
        kind: table.kind.name(),
        id: table.id.as_deref(),
        sector_bytes: table.sector_bytes,
        dynamic: table.is_dynamic(),
        headers: table
            .headers
            .as_ref()
            .map(|(primary, backup)| (state(primary), state(backup))),
        hybrid: &table.hybrid,
        problems: &table.problems,
    }
}

fn partition<'a>(one: &'a survey::Partition, table: Option<&PartitionTable>) -> Partition<'a> {
    let entry = &one.entry;
    let sector = table.map_or(512, |table| u64::from(table.sector_bytes).max(1));
    Partition {
        number: entry.number,
        name: &one.name,
        start_bytes: entry.start_bytes,
        start_sectors: entry.start_bytes / sector,
        size_bytes: entry.size_bytes,
        r#type: &entry.type_id,
        type_name: entry.type_name,
        label: entry.name.as_deref(),
        uuid: entry.uuid.as_deref(),
        role: entry.role,
        logical: entry.logical,
        bootable: entry.bootable,
        holds: one.holds.as_ref(),
        holders: &one.holders,
        in_kernel: one.in_kernel,
    }
}

fn volume<'a>(one: &'a survey::Volume, judgement: &'a Judgement) -> Volume<'a> {
    let header = one.holds.as_ref().and_then(Found::file_system);
    Volume {
        name: &one.name,
        devices: &one.devices,
        size_bytes: one.size_bytes,
        mount_points: one
            .mount_points
            .iter()
            .map(|point| point.as_text())
            .collect(),
        // The kernel's name: `vfat`, whose kind is in `holds` of the partition.
        file_system: one
            .file_system
            .as_deref()
            .and_then(|kind| kind.split(" (").next()),
        label: header.and_then(|header| header.label.as_deref()),
        uuid: header.and_then(|header| header.uuid.as_deref()),
        offset_bytes: one.offset_bytes(),
        stripe_unit_bytes: one.stripe_unit_bytes(),
        allocation_unit_bytes: one.subject.allocation_unit_bytes,
        verdict: judgement.verdict.code(),
        verdict_bytes: judgement.verdict.bytes(),
        finding: judgement.finding,
        usage: one.subject.usage,
        boundaries: &one.subject.boundaries,
        places: &one.subject.places,
        checks: &judgement.checks,
        costs: judgement
            .costs
            .iter()
            .map(|cost| Cost {
                block_size_bytes: cost.here.block_size_bytes,
                layer: &cost.layer,
                crossing_share: cost.here.share(),
                crossing_share_aligned: cost.aligned.share(),
                stripe_units_mean: cost.here.units_mean(),
                text: cost.words(),
            })
            .collect(),
    }
}
