//! `disks`: what is here, and whether it is laid out right. Reads only.

#[path = "disks_file.rs"]
mod file;
#[path = "disks_given.rs"]
mod given;
#[path = "disks_json.rs"]
mod json;
#[path = "disks_text.rs"]
mod text;

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::disks_like;
use crate::show::document::{note, print_json, print_text};
use crate::switches::disks::{Disks, Like};
use file::FilePlace;
use given::{Facts, Known};
use std::path::Path;
use stripewise_disk_formats::medium::Medium;
use stripewise_disk_inspect::survey::{self, Request, Survey, Volume};
use stripewise_disk_inspect::verdict::Judgement;
use stripewise_disk_inspect::{Error, Inspect, System};
use stripewise_units::NameText;

/// Everything that is shown.
struct View<'a> {
    survey: &'a Survey,
    /// A verdict for each volume.
    judgements: Vec<Judgement>,
    known: &'a Known,
    /// Where the file that was asked for lies.
    place: Option<FilePlace>,
}

impl View<'_> {
    fn volumes(&self) -> impl Iterator<Item = (&Volume, &Judgement)> {
        self.survey.volumes.iter().zip(&self.judgements)
    }
}

/// What the target turned out to be.
enum Kind {
    /// Devices: all, or one by its name.
    Devices(Option<String>),
    /// A file with a partition table or file system in it.
    Image,
    /// A file that lies on some volume.
    File(FilePlace),
}

pub fn disks(context: &Context, arguments: &Disks) -> Outcome {
    let sizes: Vec<u64> = arguments
        .block_sizes
        .iter()
        .map(|size| size.bytes())
        .collect();
    if sizes.contains(&0) {
        return Err(Failure::usage(
            "--for has a size of 0",
            "name the sizes of your operations: --for 8K,64K",
        ));
    }
    let system = match &arguments.sysroot {
        Some(root) if root.is_dir() => System::at(root),
        Some(root) => {
            return Err(Failure::usage(
                format!("{} is no directory", root.as_text()),
                "name a tree made by crates/disk-inspect/tests/capture.sh",
            ));
        }
        None => System::live(),
    };
    let mut known = Known::load(context)?;
    let kind = kind(&system, arguments)?;
    let mut survey = look(&system, arguments, &kind, &known)?;
    if let Some(facts) = Facts::of(arguments) {
        known.change(context, &survey, &kind, &facts)?;
        survey = look(&system, arguments, &kind, &known)?;
    }
    let judgements: Vec<Judgement> = survey.volumes.iter().map(|one| one.judge(&sizes)).collect();
    let found = judgements.iter().any(|judgement| judgement.finding);
    let view = View {
        survey: &survey,
        judgements,
        known: &known,
        place: match kind {
            Kind::File(place) => Some(place),
            _ => None,
        },
    };
    if context.global.json {
        print_json(&json::document(&view))?;
    } else {
        print_text(&match arguments.like {
            Some(Like::Diskpar) => disks_like::diskpar(&survey),
            Some(Like::Diskext) => disks_like::diskext(&survey),
            None => text::text(&view, context.style),
        });
    }
    for text in &survey.notes {
        note(text);
    }
    Ok(if found { Exit::Finding } else { Exit::Done })
}

/// Tells devices, images and other files apart.
fn kind(system: &System, arguments: &Disks) -> Outcome<Kind> {
    let Some(target) = &arguments.target else {
        return Ok(Kind::Devices(None));
    };
    let name = target.to_string_lossy().into_owned();
    // Windows' devices have no metadata, only a beginning of their own.
    if arguments.sysroot.is_some() || name.starts_with(r"\\.\") {
        return Ok(Kind::Devices(Some(name)));
    }
    let metadata = match std::fs::metadata(target) {
        Ok(metadata) => metadata,
        // A bare kernel name: `disks sda`.
        Err(_) if !name.contains('/') && system.device_named(&name).is_ok() => {
            return Ok(Kind::Devices(Some(name)));
        }
        Err(error) => {
            return Err(Failure::new(
                Exit::Target,
                format!("cannot look at {name}: {error}"),
                "name a device, an image or a file; without a name all devices are shown",
            ));
        }
    };
    if metadata.is_file() {
        let mut image = open(target, metadata.len())?;
        let is_image =
            survey::recognised(&mut image).map_err(|error| unreadable(target, &error))?;
        let is_wanted = arguments.sector.is_some();
        return Ok(if is_image || is_wanted {
            Kind::Image
        } else {
            Kind::File(FilePlace::of(system, target)?)
        });
    }
    if metadata.is_dir() {
        return Ok(Kind::File(FilePlace::of(system, target)?));
    }
    Ok(Kind::Devices(Some(name)))
}

fn open(path: &Path, length: u64) -> Outcome<Medium<std::fs::File>> {
    let file = std::fs::File::open(path).map_err(|error| unreadable(path, &error))?;
    Ok(Medium::new(file, length))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(
        Exit::Target,
        format!("cannot read {}: {error}", path.as_text()),
        "run as a user who may read it: root, administrator",
    )
}

fn look(system: &System, arguments: &Disks, kind: &Kind, known: &Known) -> Outcome<Survey> {
    let fail = |error: Error| {
        let hint = error.hint().to_owned();
        Failure::of(Exit::Target, error).hinted(hint)
    };
    let request = |device: Option<String>| Request {
        device,
        given: known.given(),
    };
    match (kind, &arguments.target) {
        (Kind::Image, Some(path)) => {
            let sector = match arguments.sector.map(|size| size.bytes()) {
                None => None,
                Some(bytes) => Some(sector(bytes)?),
            };
            let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
            let mut image = open(path, metadata.len())?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let full = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            let request = request(None);
            survey::image(&mut image, &name, &full.to_string_lossy(), sector, &|key| {
                request.given_for(key)
            })
            .map_err(|error| unreadable(path, &error))
        }
        (Kind::File(place), _) => match &place.device {
            Some(device) => {
                let mut survey = system
                    .survey(&request(Some(device.clone())))
                    .map_err(fail)?;
                survey
                    .volumes
                    .retain(|volume| place.devices.iter().any(|one| volume.devices.contains(one)));
                Ok(survey)
            }
            None => Ok(Survey::default()),
        },
        (Kind::Devices(device), _) => system.survey(&request(device.clone())).map_err(fail),
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
