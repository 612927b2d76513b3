//! Traces a volume down to the disks: where its first byte is on each, and which stripe units are
//! on the way. Pure, over [`BlockDevice`]s.
//!
//! A volume may consist of pieces (LVM's segments, members of an array); each is traced on its own,
//! with the position of its first byte in the volume, so that phases stay exact. A layer without
//! simple arithmetic (thin pools, caches, a loop over a file) ends the trace, with a note.

mod raid;

use crate::storage::{Array, BlockDevice, BlockDeviceKind, DiskOffset};
use crate::verdict::hints::{Hint, hint, may_hide_pages, nature};
use crate::verdict::{Boundary, Nature, Place, UnitSource};
use stripewise_disk_formats::crossing::gcd;
use stripewise_disk_formats::mapper_table::Segment;
use stripewise_units::NameText;

/// Most pieces traced in total; more than any sane volume has.
const PIECES_MAX: usize = 4096;
/// Most segments traced of one device.
const SEGMENTS_MAX: usize = 64;

/// User-supplied or measured facts about the disks at the bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuppliedFacts {
    /// Bytes on one disk of the array.
    pub stripe_unit_bytes: Option<u64>,
    /// `raid5`, `raid10`...
    pub level: Option<String>,
    /// Disks of the array.
    pub disks: Option<u64>,
    /// Where the first stripe unit begins, from byte 0 of the disk; 0 if nothing else is known.
    pub first_unit_bytes: u64,
    /// Measured with timed reads (`probe stripe`); otherwise given by the user.
    pub measured: bool,
}

impl SuppliedFacts {
    /// Bytes on all data disks, if level, disks and unit are known.
    pub fn full_stripe_bytes(&self) -> Option<u64> {
        let disks = self.disks?;
        let data = match self.level.as_deref()? {
            "raid0" => disks,
            "raid5" | "raid4" => disks.checked_sub(1)?,
            "raid6" => disks.checked_sub(2)?,
            "raid10" => disks / 2,
            _ => return None,
        };
        self.stripe_unit_bytes?
            .checked_mul(data)
            .filter(|bytes| *bytes > 0)
    }

    fn parity(&self) -> bool {
        matches!(self.level.as_deref(), Some("raid4" | "raid5" | "raid6"))
    }
}

/// Location of a volume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Stripe units on the way, from the top down.
    pub boundaries: Vec<Boundary>,
    /// First bytes on the disks.
    pub places: Vec<Place>,
    /// Pieces were omitted, or the trace could not be completed.
    pub incomplete: bool,
    left: usize,
}

/// Additional facts about a disk at the bottom, by its kernel name.
pub type SuppliedFactsFor<'a> = &'a dyn Fn(&str) -> Option<SuppliedFacts>;

/// Traces a device from its start.
pub fn trace(device: &BlockDevice, given: SuppliedFactsFor) -> Trace {
    let mut trace = Trace {
        left: PIECES_MAX,
        ..Trace::default()
    };
    trace.below_layers(device, DevicePosition::default(), given);
    trace
}

/// The first byte of a piece of the volume on a device.
#[derive(Clone, Copy, Debug, Default)]
struct DevicePosition {
    /// From the start of the device.
    at: u64,
    /// The same byte in the volume.
    lead: u64,
    /// See [`Boundary::piece_bytes`].
    piece: Option<u64>,
}

impl DevicePosition {
    /// On the device below, this many bytes from this device's byte 0.
    fn below(self, start: u64) -> Self {
        DevicePosition {
            at: self.at.saturating_add(start),
            ..self
        }
    }

    /// On a member of a striped device, by the first byte that it holds.
    fn dealt(self, start: u64, first: raid::First, unit: u64) -> Self {
        DevicePosition {
            at: start.saturating_add(first.on_member),
            lead: self.lead.saturating_add(first.in_array - self.at),
            piece: Some(self.piece.map_or(unit, |piece| gcd(piece, unit))),
        }
    }
}

impl Trace {
    /// Traces a piece that starts here.
    fn below_layers(
        &mut self,
        device: &BlockDevice,
        spot: DevicePosition,
        given: SuppliedFactsFor,
    ) {
        let Some(left) = self.left.checked_sub(1) else {
            self.incomplete = true;
            return;
        };
        self.left = left;
        match (&device.partition, &device.looped, device.below.as_slice()) {
            (Some(partition), _, [disk]) => {
                self.below_layers(disk, spot.below(partition.start_bytes), given);
            }
            // A loop over a device is linear; a file has extents.
            (None, Some(looped), [disk]) if looped.backing_file_system.is_none() => {
                self.below_layers(disk, spot.below(looped.offset_bytes), given);
            }
            // The file, as a disk image, is the last layer with known arithmetic.
            (None, Some(looped), _) => {
                let from = match looped.offset_bytes {
                    0 => String::new(),
                    bytes => format!(" from its byte {bytes} on (counted in)"),
                };
                let why = format!(
                    "a loop device over the file {}{from}, whose extents may lie anywhere",
                    looped.backing_file.as_text()
                );
                self.end(device, spot.below(looped.offset_bytes), Some(why), given);
            }
            _ => match (&device.array, device.kind) {
                (Some(array), _) if !device.below.is_empty() => {
                    self.array(device, array, spot, given);
                }
                (_, BlockDeviceKind::Mapper) => self.mapper(device, spot, given),
                _ => self.end(device, spot, None, given),
            },
        }
    }

    fn array(
        &mut self,
        device: &BlockDevice,
        array: &Array,
        spot: DevicePosition,
        given: SuppliedFactsFor,
    ) {
        let members = raid::members(device, array);
        if members.iter().any(|(_, _, start)| start.is_none()) {
            self.incomplete = true;
        }
        match (raid::Geometry::new(array), array.stripe_unit_bytes) {
            (Some(geometry), Some(unit)) => {
                self.boundaries.push(Boundary {
                    layer: device.name.clone(),
                    level: Some(array.level.clone()),
                    unit_bytes: unit,
                    source: UnitSource::Array,
                    offset_bytes: spot.at,
                    volume_bytes: spot.lead,
                    piece_bytes: spot.piece,
                    full_stripe_bytes: geometry.data_disks().checked_mul(unit),
                    parity: geometry.has_parity(),
                    first_unit_bytes: 0,
                });
                for (member, first) in geometry.first_bytes(spot.at, unit) {
                    let known = members.iter().find(|(slot, ..)| *slot == member);
                    if let Some((_, below, Some(start))) = known {
                        self.below_layers(below, spot.dealt(*start, first, unit), given);
                    }
                }
            }
            // Mirrors and concatenations: the start is at the same offset on each.
            _ => {
                for (_, below, start) in &members {
                    if let Some(start) = start {
                        self.below_layers(below, spot.below(*start), given);
                    }
                    if array.level == "linear" {
                        break;
                    }
                }
            }
        }
        if members.is_empty() {
            let why = Some("no members are known".to_owned());
            self.end(device, spot, why, given);
        }
    }

    fn mapper(&mut self, device: &BlockDevice, spot: DevicePosition, given: SuppliedFactsFor) {
        if device.mapper.is_empty() {
            let why = device.mapper_unread.clone();
            self.incomplete = true;
            return self.end(device, spot, why, given);
        }
        // Pieces that end before the start hold nothing of the volume.
        let pieces: Vec<&Segment> = device
            .mapper
            .iter()
            .filter(|piece| piece.start_bytes.saturating_add(piece.size_bytes) > spot.at)
            .collect();
        self.incomplete |= pieces.len() > SEGMENTS_MAX || pieces.is_empty();
        for piece in pieces.into_iter().take(SEGMENTS_MAX) {
            // The volume starts inside the first piece, and at the start of the others.
            let inside = DevicePosition {
                at: spot.at.saturating_sub(piece.start_bytes),
                lead: (spot.lead).saturating_add(piece.start_bytes.saturating_sub(spot.at)),
                ..spot
            };
            self.piece(device, piece, inside, given);
        }
    }

    fn piece(
        &mut self,
        device: &BlockDevice,
        piece: &Segment,
        inside: DevicePosition,
        given: SuppliedFactsFor,
    ) {
        let parts: Vec<(&BlockDevice, u64)> = piece
            .parts
            .iter()
            .filter_map(|part| {
                let below = device.below.iter().find(|one| one.number == part.number)?;
                Some((below, part.offset_bytes))
            })
            .collect();
        if parts.is_empty() || parts.len() != piece.parts.len() {
            let why = if piece.parts.is_empty() {
                format!(
                    "a `{}` target, behind which data may lie anywhere",
                    piece.kind
                )
            } else {
                format!("a `{}` target over devices that are not known", piece.kind)
            };
            self.incomplete = true;
            return self.end(device, inside, Some(why), given);
        }
        let geometry = match piece.kind.as_str() {
            "striped" => Some(raid::Geometry::plain(parts.len())),
            "raid" => raid::Geometry::of_mapper(piece.level.as_deref(), parts.len()),
            _ => None,
        };
        match (geometry, piece.stripe_unit_bytes) {
            (Some(geometry), Some(unit)) => {
                self.boundaries.push(Boundary {
                    layer: device
                        .mapper_name
                        .clone()
                        .unwrap_or_else(|| device.name.clone()),
                    level: Some(match &piece.level {
                        Some(level) => level.clone(),
                        None => "striped".to_owned(),
                    }),
                    unit_bytes: unit,
                    source: UnitSource::Array,
                    offset_bytes: inside.at,
                    volume_bytes: inside.lead,
                    piece_bytes: inside.piece,
                    full_stripe_bytes: geometry.data_disks().checked_mul(unit),
                    parity: geometry.has_parity(),
                    first_unit_bytes: 0,
                });
                for (index, first) in geometry.first_bytes(inside.at, unit) {
                    if let Some((below, start)) = parts.get(index) {
                        self.below_layers(below, inside.dealt(*start, first, unit), given);
                    }
                }
            }
            // All paths of multipath lead to the same disk: one suffices.
            _ => {
                let all = piece.kind == "raid";
                let count = if all { parts.len() } else { 1 };
                for (below, start) in parts.into_iter().take(count) {
                    self.below_layers(below, inside.below(start), given);
                }
            }
        }
    }

    /// The trace ends here, usually at a disk.
    fn end(
        &mut self,
        device: &BlockDevice,
        spot: DevicePosition,
        ends: Option<String>,
        given: SuppliedFactsFor,
    ) {
        let queue = &device.queue;
        let sector = u64::from(queue.physical_sector_bytes.unwrap_or(512));
        let hint = match device.kind {
            // md and dm pass on I/O sizes derived from their members.
            BlockDeviceKind::Array | BlockDeviceKind::Mapper => Hint::Nothing,
            _ => hint(queue.minimum_io_bytes, queue.optimal_io_bytes, sector),
        };
        let given = given(&device.name);
        let chunk = queue.chunk_bytes.filter(|_| queue.zoned.is_none());
        let stripe = match (&given, chunk, &hint) {
            (
                Some(SuppliedFacts {
                    stripe_unit_bytes: Some(unit),
                    ..
                }),
                ..,
            ) => match given.as_ref().is_some_and(|given| given.measured) {
                true => Some((*unit, UnitSource::Measured)),
                false => Some((*unit, UnitSource::Given)),
            },
            (_, Some(chunk), _) => Some((chunk, UnitSource::Chunk)),
            (_, _, Hint::Stripe { unit_bytes, .. }) => Some((*unit_bytes, UnitSource::Hint)),
            _ => None,
        };
        if let Some((unit_bytes, source)) = stripe.filter(|(unit, _)| *unit > 0) {
            let supplied = given.as_ref();
            self.boundaries.push(Boundary {
                layer: device.name.clone(),
                level: supplied.and_then(|given| given.level.clone()),
                unit_bytes,
                source,
                offset_bytes: spot.at,
                volume_bytes: spot.lead,
                piece_bytes: spot.piece,
                full_stripe_bytes: match (
                    supplied.and_then(SuppliedFacts::full_stripe_bytes),
                    &hint,
                ) {
                    (Some(full), _) => Some(full),
                    (None, Hint::Stripe { full_bytes, .. }) if source == UnitSource::Hint => {
                        Some(*full_bytes)
                    }
                    _ => None,
                },
                parity: supplied.is_some_and(SuppliedFacts::parity),
                first_unit_bytes: supplied.map_or(0, |given| given.first_unit_bytes % unit_bytes),
            });
        }
        let place = Place {
            disk: device.name.clone(),
            offset_bytes: spot.at,
            logical_sector_bytes: queue.logical_sector_bytes,
            physical_sector_bytes: queue.physical_sector_bytes,
            alignment_offset_bytes: queue.alignment_offset_bytes.unwrap_or(0),
            nature: match given.as_ref().and_then(|given| given.level.as_deref()) {
                Some("single" | "jbod" | "raid1") => Nature::Single,
                _ => nature(device),
            },
            may_hide_pages: may_hide_pages(device),
            ends,
            distrusted: match hint {
                Hint::Distrusted(why) => Some(why),
                _ => None,
            },
        };
        if !self.places.contains(&place) {
            self.places.push(place);
        }
    }
}

/// Where a device starts, if that is a single known offset: follows partitions, linear
/// device-mapper segments, loops over devices and mirrors down to the disk, or to the array that
/// stripes the bytes.
pub fn offset(device: &BlockDevice) -> DiskOffset {
    let mut bytes: u64 = 0;
    let mut at = device;
    // The traversal that built the devices bounds the depth.
    while let Some((start, below)) = step(at) {
        bytes = bytes.saturating_add(start);
        at = below;
    }
    DiskOffset {
        bytes,
        disk: at.name.clone(),
    }
}

/// One layer down, if that is a single plain offset.
fn step(device: &BlockDevice) -> Option<(u64, &BlockDevice)> {
    match (&device.partition, &device.looped, device.below.as_slice()) {
        (Some(partition), _, [disk]) => return Some((partition.start_bytes, disk)),
        (None, Some(looped), [disk]) if looped.backing_file_system.is_none() => {
            return Some((looped.offset_bytes, disk));
        }
        (None, None, _) => {}
        _ => return None,
    }
    if let Some(array) = &device.array {
        if array.level != "raid1" {
            return None;
        }
        // A single offset only if it is the same on each mirror.
        let members = raid::members(device, array);
        let (_, first, start) = members.first()?;
        let same = members.iter().all(|(_, _, other)| other == start);
        return same.then_some(((*start)?, *first));
    }
    let [piece] = device.mapper.as_slice() else {
        return None;
    };
    let single = matches!(
        piece.kind.as_str(),
        "linear" | "crypt" | "multipath" | "snapshot-origin"
    );
    let part = piece.parts.first().filter(|_| single)?;
    let below = device.below.iter().find(|one| one.number == part.number)?;
    Some((part.offset_bytes, below))
}
