//! A target that exists and is only read: opened, with its largest contiguous
//! part.

use crate::steps::medium::read_from_a_medium;
use crate::steps::probe_device::ProbeDevice;
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::simulated::Simulated;
use stripewise_conductor::targets::{OpenTarget, intent, judge, prepare};
use stripewise_disk_inspect::placement::Placement;
use stripewise_results::Warning;
use stripewise_store::Store;
use stripewise_surface::{Device, ProbeIo, ProbeResult, StopReason};
use stripewise_targets::TargetName;
use stripewise_workload::Workload;

/// A target that is only read.
pub struct Readable {
    /// The open target.
    pub target: OpenTarget,
    /// Its longest part that is contiguous on its device.
    pub piece: Piece,
    /// Warnings about reads that do not reach the medium.
    pub warnings: Vec<Warning>,
}

/// A part of a target, and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First byte, within the target.
    pub from_bytes: u64,
    /// Length in bytes.
    pub length_bytes: u64,
    /// Position of its first byte on the partition, or on the named device.
    pub begins_bytes: u64,
}

impl Readable {
    /// The part as a device to be probed.
    pub fn part<'p, 'a>(&self, probed_device: &'p mut ProbeDevice<'a>) -> Part<'p, 'a> {
        Part {
            probed_device,
            piece: self.piece,
        }
    }
}

/// Opens an existing target for reading. Makes nothing.
///
/// # Errors
/// If it does not exist, is a directory, may not be read, or can only be read from
/// memory.
pub fn open_to_read(
    context: &Context,
    store: &mut Store,
    text: &str,
    permissions: &Permissions,
) -> Outcome<Readable> {
    let name: TargetName = text.parse()?;
    match &name {
        TargetName::Simulated { .. } => {
            let simulated = Simulated::open(context, &name)?;
            let array = simulated.build();
            let piece = Piece {
                from_bytes: 0,
                length_bytes: simulated.limits().size_bytes,
                begins_bytes: array.facts().file_offset_bytes,
            };
            Ok(Readable {
                target: OpenTarget::Simulated(Box::new(simulated)),
                piece,
                warnings: Vec::new(),
            })
        }
        TargetName::Dataset(_) => Err(Failure::usage(
            format!("{text} is a published table: there is nothing to read"),
            "name a block device, an existing file or sim:NAME",
        )),
        TargetName::Path(_) => open_path(context, store, &name, permissions),
    }
}

fn open_path(
    context: &Context,
    store: &mut Store,
    name: &TargetName,
    permissions: &Permissions,
) -> Outcome<Readable> {
    if let TargetName::Path(path) = name
        && path.is_dir()
    {
        return Err(Failure::usage(
            format!("{name} is a directory, not a file or device"),
            "name a block device, an existing file or sim:NAME; `stripewise profile DIRECTORY --fill` writes a file of its own",
        ));
    }
    let need = Needs {
        outstanding_total: 16,
        ..Needs::of_loads([&Workload::default()]).reading()
    };
    let intent = intent(&need, permissions);
    let plan = judge(context, store, name, &intent)?;
    if plan.fill.is_some() {
        return Err(Failure::usage(
            format!("{name} is not a file or device that exists"),
            "name a block device, an existing file or sim:NAME; `stripewise prepare` makes a file",
        ));
    }
    let target = prepare(context, store, name, &intent)?;
    let Some(real) = target.real() else {
        return Err(Failure::usage(
            format!("{name} is not a file or device"),
            "name a block device, an existing file or sim:NAME",
        ));
    };
    if let Some(why) = real.direct_refused() {
        return Err(Failure::target(
            format!("{name} can only be read through the page cache: {why}"),
            "name the device under the file system, or a file of a file system that takes O_DIRECT",
        ));
    }
    let whole = Piece {
        from_bytes: 0,
        length_bytes: real.size_bytes(),
        begins_bytes: 0,
    };
    let piece = match real.placement() {
        Some(placement) => longest(&placement).unwrap_or(whole),
        None => whole,
    };
    let warnings = read_from_a_medium(context, &target, &name.to_string())?;
    Ok(Readable {
        target,
        piece,
        warnings,
    })
}

/// The longest run of extents that are consecutive both on the device and in the file.
fn longest(placement: &Placement) -> Option<Piece> {
    let mut best: Option<Piece> = None;
    let mut run: Option<Piece> = None;
    for extent in &placement.extents {
        let Some(physical) = extent.physical_bytes else {
            run = None;
            continue;
        };
        run = match run {
            Some(run)
                if run.from_bytes + run.length_bytes == extent.logical_bytes
                    && run.begins_bytes + run.length_bytes == physical =>
            {
                Some(Piece {
                    length_bytes: run.length_bytes + extent.length_bytes,
                    ..run
                })
            }
            _ => Some(Piece {
                from_bytes: extent.logical_bytes,
                length_bytes: extent.length_bytes,
                begins_bytes: physical,
            }),
        };
        if let Some(run) = run
            && best.is_none_or(|best| run.length_bytes > best.length_bytes)
        {
            best = Some(run);
        }
    }
    best
}

/// A part of a probed device: its byte 0 is the part's first.
pub struct Part<'p, 'a> {
    probed_device: &'p mut ProbeDevice<'a>,
    piece: Piece,
}

impl Device for Part<'_, '_> {
    fn size_bytes(&self) -> u64 {
        let sector = u64::from(self.probed_device.sector_bytes());
        self.piece.length_bytes / sector * sector
    }

    fn sector_bytes(&self) -> u32 {
        self.probed_device.sector_bytes()
    }

    fn now_ns(&self) -> u64 {
        self.probed_device.now_ns()
    }

    fn run_batch(
        &mut self,
        requests: &[ProbeIo],
        answers: &mut Vec<ProbeResult>,
    ) -> Result<(), StopReason> {
        if self.piece.from_bytes == 0 {
            return self.probed_device.run_batch(requests, answers);
        }
        let moved: Vec<ProbeIo> = requests
            .iter()
            .map(|io| ProbeIo {
                offset_bytes: io.offset_bytes + self.piece.from_bytes,
                ..*io
            })
            .collect();
        self.probed_device.run_batch(&moved, answers)
    }

    fn rest(&mut self, rest_ns: u64) -> Result<(), StopReason> {
        self.probed_device.rest(rest_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_disk_inspect::placement::Extent;

    #[test]
    fn the_longest_piece_of_a_file_is_a_run_of_extents() {
        let extent = |logical: u64, physical: Option<u64>, length: u64| Extent {
            logical_bytes: logical,
            physical_bytes: physical,
            length_bytes: length,
        };
        let placement = Placement {
            extents: vec![
                extent(0, Some(1000), 10),
                extent(10, Some(5000), 20),
                extent(30, Some(5020), 30),
                extent(60, None, 500),
                extent(560, Some(5050), 40),
            ],
            complete: true,
        };
        let piece = longest(&placement).unwrap();
        assert_eq!(
            (piece.from_bytes, piece.begins_bytes, piece.length_bytes),
            (10, 5000, 50)
        );
        assert_eq!(longest(&Placement::default()), None);
    }
}
