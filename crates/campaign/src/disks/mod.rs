//! `disks`: the disks of this machine, and whether their layout is right. Reads only.

mod document;
mod file;
pub mod like;
mod raid;
mod text;

pub use crate::steps::array_facts::{ArrayFacts, KnownArrays, Measurement};
pub use document::DisksDocument;
pub use file::{FileExtent, FilePlace};
pub use raid::Raid;
pub use text::{disks_line, disks_text};

use std::path::{Path, PathBuf};
use stripewise_conductor::context::Context;
use stripewise_conductor::exit::Exit;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_disk_formats::medium::Medium;
use stripewise_disk_inspect::survey::{self, Request, Survey, Volume};
use stripewise_disk_inspect::verdict::Judgement;
use stripewise_disk_inspect::{Inspect, System, is_open_here};
use stripewise_units::NameText;

/// What to examine.
#[derive(Clone, Debug, Default)]
pub struct DisksOptions {
    /// A device, an image of a disk or any file; `None`: all devices.
    pub target: Option<PathBuf>,
    /// Sizes of the relevant operations.
    pub block_sizes_bytes: Vec<u64>,
    /// Facts that the array behind the target does not report.
    pub facts: Option<ArrayFacts>,
    /// Store them with the disk; otherwise they apply only this time.
    pub keep: bool,
    /// A captured tree of a machine instead of this one.
    pub sysroot: Option<PathBuf>,
    /// Sector size of an image whose table does not state it.
    pub sector_bytes: Option<u64>,
}

/// The result of the examination.
pub struct DisksResult {
    /// Disks, partitions, volumes.
    pub survey: Survey,
    /// A verdict for each volume.
    pub judgements: Vec<Judgement>,
    /// Facts given by users for disks.
    pub known: KnownArrays,
    /// The location of the requested file.
    pub place: Option<FilePlace>,
}

impl DisksResult {
    /// Volumes with their verdicts.
    pub fn volumes(&self) -> impl Iterator<Item = (&Volume, &Judgement)> {
        self.survey.volumes.iter().zip(&self.judgements)
    }

    /// As `--json` prints it.
    pub fn document(&self) -> DisksDocument<'_> {
        document::document(self)
    }

    /// A volume with a wrong layout ends as a finding.
    pub fn exit(&self) -> Exit {
        match self.judgements.iter().any(|judgement| judgement.finding) {
            true => Exit::Finding,
            false => Exit::Done,
        }
    }
}

/// The kind of the target.
enum Kind {
    /// Devices: all, or one by its name.
    Devices(Option<String>),
    /// A file with a partition table or file system in it.
    Image,
    /// A file that lies on some volume.
    File(FilePlace),
}

/// Examines the disks.
///
/// # Errors
/// If the target does not exist, or cannot be read.
pub fn disks(context: &Context, options: &DisksOptions) -> Outcome<DisksResult> {
    let sizes = &options.block_sizes_bytes;
    if sizes.contains(&0) {
        return Err(Failure::usage(
            "--for has a size of 0",
            "name the sizes of your operations: --for 8K,64K",
        ));
    }
    let system = match &options.sysroot {
        Some(root) if root.is_dir() => System::at(root),
        Some(root) => {
            return Err(Failure::usage(
                format!("{} is not a directory", root.as_text()),
                "name a tree made by crates/disk-inspect/tests/capture.sh",
            ));
        }
        None => System::live(),
    };
    let mut known = KnownArrays::load(context)?;
    let kind = kind(&system, options)?;
    let mut survey = look(&system, options, &kind, &known)?;
    if let Some(facts) = &options.facts {
        let wanted = match &kind {
            Kind::Devices(Some(name)) => Some(name.as_str()),
            _ => None,
        };
        match options.keep {
            true => known.change(context, &survey, wanted, facts)?,
            false => {
                known.assume(&survey, wanted, facts)?;
                context.status("What is given counts for this once; --keep keeps it with the disk");
            }
        }
        survey = look(&system, options, &kind, &known)?;
    }
    let volumes = survey.volumes.iter();
    let judgements: Vec<Judgement> = volumes.map(|one| one.judge(sizes)).collect();
    Ok(DisksResult {
        survey,
        judgements,
        known,
        place: match kind {
            Kind::File(place) => Some(place),
            _ => None,
        },
    })
}

/// Distinguishes devices, images and other files.
fn kind(system: &System, options: &DisksOptions) -> Outcome<Kind> {
    let Some(target) = &options.target else {
        return Ok(Kind::Devices(None));
    };
    let name = target.to_string_lossy().into_owned();
    // Windows' devices have no metadata, only a prefix.
    if options.sysroot.is_some() || name.starts_with(r"\\.\") {
        return Ok(Kind::Devices(Some(name)));
    }
    let metadata = match std::fs::metadata(target) {
        Ok(metadata) => metadata,
        // A bare kernel name: `disks sda`.
        Err(_) if !name.contains('/') && system.device_named(&name).is_ok() => {
            return Ok(Kind::Devices(Some(name)));
        }
        Err(error) => {
            return Err(Failure::target(
                format!("cannot look at {name}: {error}"),
                "name a device, an image or a file; without a name all devices are shown",
            ));
        }
    };
    if metadata.is_file() && !is_open_here(target) {
        let mut image = open(target, metadata.len())?;
        let is_image =
            survey::recognised(&mut image).map_err(|error| unreadable(target, &error))?;
        let is_wanted = options.sector_bytes.is_some();
        return Ok(if is_image || is_wanted {
            Kind::Image
        } else {
            Kind::File(FilePlace::of(system, target)?)
        });
    }
    if metadata.is_dir() || metadata.is_file() {
        return Ok(Kind::File(FilePlace::of(system, target)?));
    }
    Ok(Kind::Devices(Some(name)))
}

fn open(path: &Path, length: u64) -> Outcome<Medium<std::fs::File>> {
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    Ok(Medium::new(file, length))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::target(
        format!("cannot read {}: {error}", path.as_text()),
        "run as a user who can read it: root, administrator",
    )
}

fn look(
    system: &System,
    options: &DisksOptions,
    kind: &Kind,
    known: &KnownArrays,
) -> Outcome<Survey> {
    let request = |device: Option<String>| Request {
        device,
        given: known.given(),
    };
    match (kind, &options.target) {
        (Kind::Image, Some(path)) => {
            let sector = match options.sector_bytes {
                None => None,
                Some(bytes) => Some(sector(bytes)?),
            };
            let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
            let mut image = open(path, metadata.len())?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let full = stripewise_targets::canonical(path).unwrap_or_else(|_| path.clone());
            let request = request(None);
            survey::image(&mut image, &name, &full.to_string_lossy(), sector, &|key| {
                request.given_for(key)
            })
            .map_err(|error| unreadable(path, &error))
        }
        (Kind::File(place), _) => match &place.device {
            Some(device) => {
                let mut survey = system.survey(&request(Some(device.clone())))?;
                survey
                    .volumes
                    .retain(|volume| place.devices.iter().any(|one| volume.devices.contains(one)));
                Ok(survey)
            }
            None => Ok(Survey::default()),
        },
        (Kind::Devices(device), _) => Ok(system.survey(&request(device.clone()))?),
        (Kind::Image, None) => Ok(Survey::default()),
    }
}

fn sector(bytes: u64) -> Outcome<u32> {
    match u32::try_from(bytes) {
        Ok(sector) if sector.is_power_of_two() && (512..=65_536).contains(&sector) => Ok(sector),
        _ => Err(Failure::usage(
            format!("a sector of {bytes} bytes is none that disks have"),
            "use 512 or 4K",
        )),
    }
}
