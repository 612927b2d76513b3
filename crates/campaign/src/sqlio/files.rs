//! Makes and grows files like SQLIO, under the rules of targets,
//! and prints SQLIO's lines.

use crate::steps::sqlio_drives::NamedPlace;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use stripewise_compat::sqlio::{Growth, Prepared, SetupFile, expanding, size_line};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::{Failure, Outcome};
use stripewise_conductor::needs::Needs;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::simulated::Simulated;
use stripewise_conductor::targets::{OpenTarget, expand, intent, prepare};
use stripewise_disk_inspect::{Inspect, System};
use stripewise_store::Store;
use stripewise_targets::{Intent, Size, TargetName};
use stripewise_units::NameText;

const BYTES_PER_MB: u64 = 1_048_576;

/// Receives SQLIO's output line by line.
pub type LineSink<'a> = dyn FnMut(&str) + 'a;

/// Makes sure that a file is as required, and prints SQLIO's lines about it.
pub fn ready(
    context: &Context,
    store: &mut Store,
    options: &SetupFile,
    place: &NamedPlace,
    permissions: &Permissions,
    say: &mut LineSink<'_>,
) -> Outcome<Prepared> {
    let grown = match place {
        NamedPlace::File(path) => grow(context, store, options, path, permissions, say)?,
        NamedPlace::Raw(_) | NamedPlace::Simulated(_) => None,
    };
    let bytes = match (options.specified_bytes, place) {
        (Some(bytes), _) => bytes,
        (None, NamedPlace::File(path)) => size_of(path)?.unwrap_or(0),
        (None, NamedPlace::Raw(path)) => device_bytes(path).unwrap_or(options.needed_bytes),
        (None, NamedPlace::Simulated(text)) => simulated_bytes(context, text)?,
    };
    let prepared = Prepared {
        file: options.name.clone(),
        growth: grown,
        specified: options.specified_bytes.is_some(),
        megabytes: bytes / BYTES_PER_MB,
    };
    say(&size_line(&prepared));
    Ok(prepared)
}

/// Checks a file by all safety rules, for use by the run, or for making or growing
/// it first; prints and changes nothing.
pub fn judge(
    context: &Context,
    store: &Store,
    options: &SetupFile,
    place: &NamedPlace,
    need: &Needs,
    permissions: &Permissions,
) -> Outcome<()> {
    let intent = match place {
        NamedPlace::Simulated(_) => return Ok(()),
        NamedPlace::Raw(_) => intent(need, permissions),
        NamedPlace::File(path) => match growth(options, path)? {
            None => intent(need, permissions),
            Some((None, growth)) => growing(&growth, true, permissions),
            // Growing a file is a write, whatever its present size.
            Some((Some(_), growth)) => Intent {
                writes: true,
                size: Size::Auto,
                ..growing(&growth, false, permissions)
            },
        },
    };
    let name: TargetName = place.text().parse()?;
    stripewise_conductor::targets::judge(context, store, &name, &intent).map(drop)
}

/// How much a file must grow, and its present size if it exists; `None`
/// if it is large enough.
fn growth(options: &SetupFile, path: &Path) -> Outcome<Option<(Option<u64>, Growth)>> {
    let current = size_of(path)?;
    if current.is_none() && path.parent() == Some(Path::new("/")) {
        return Err(Failure::usage(
            format!("no file is made in the root directory: {}", path.as_text()),
            "name a file in a directory; switches begin with `-`",
        ));
    }
    // Without a specified size, any file will do in which a block fits; a missing
    // one is made large enough.
    let needed = match (options.specified_bytes, current) {
        (Some(bytes), _) => bytes,
        (None, Some(bytes)) if bytes >= options.least_bytes => return Ok(None),
        (None, _) => options.needed_bytes,
    };
    let current_bytes = current.unwrap_or(0);
    if current.is_some() && current_bytes >= needed {
        return Ok(None);
    }
    let growth = Growth {
        needed_bytes: needed,
        current_bytes,
        by_bytes: needed - current_bytes,
    };
    Ok(Some((current, growth)))
}

fn growing(growth: &Growth, create: bool, permissions: &Permissions) -> Intent {
    Intent {
        reads: false,
        size: Size::Exactly(growth.needed_bytes),
        overwrite: permissions.overwrite,
        busy_ok: permissions.busy_ok,
        keep: true,
        create,
        ..Intent::default()
    }
}

fn grow(
    context: &Context,
    store: &mut Store,
    options: &SetupFile,
    path: &Path,
    permissions: &Permissions,
    say: &mut LineSink<'_>,
) -> Outcome<Option<Growth>> {
    let Some((current, growth)) = growth(options, path)? else {
        return Ok(None);
    };
    say(&expanding(&options.name, &growth));
    let intent = growing(&growth, current.is_none(), permissions);
    let done = match current {
        None => {
            let name = TargetName::Path(path.to_owned());
            prepare(context, store, &name, &intent).and_then(OpenTarget::finish)
        }
        Some(_) => expand(context, store, path, growth.needed_bytes, &intent),
    };
    match done {
        Ok(()) => say(" done.\n"),
        Err(failure) => {
            say("\n");
            return Err(failure);
        }
    }
    Ok(Some(growth))
}

/// The size of a file; `None` if there is none.
fn size_of(path: &Path) -> Outcome<Option<u64>> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Some(found.len())),
        Ok(_) => Err(Failure::usage(
            format!("{} is not a file", path.as_text()),
            "name a file; volumes and disks go with -R",
        )),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::target(
            format!("cannot look at {}: {error}", path.as_text()),
            "check its directory, and the permission to read it",
        )),
    }
}

/// The size of a device; an unreadable one is reported when it is
/// used.
fn device_bytes(path: &Path) -> Option<u64> {
    let to_its_end = || {
        let mut device = std::fs::File::open(path).ok()?;
        device.seek(SeekFrom::End(0)).ok()
    };
    // Windows devices cannot be measured by seeking; they only report a size.
    let announced = || {
        let device = System::live().device_named(&path.to_string_lossy()).ok()?;
        (device.size_bytes > 0).then_some(device.size_bytes)
    };
    to_its_end().or_else(announced)
}

fn simulated_bytes(context: &Context, text: &str) -> Outcome<u64> {
    let name: TargetName = text.parse()?;
    let simulated = Simulated::open(context, &name)?;
    Ok(simulated.limits().size_bytes)
}
