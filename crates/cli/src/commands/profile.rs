//! `profile`: the surface of a disk.

use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::line::print_result;
use crate::show::page::{check_outputs, format_of, write_rendered};
use crate::switches::profile::Profile;
use std::path::PathBuf;
use stripewise_campaign::Permissions;
use stripewise_campaign::profile::{FillOptions, ProfileOptions, fill, profile as measure};
use stripewise_campaign::steps::pages::PictureLook;
use stripewise_campaign::steps::surface::MeasuredSurface;
use stripewise_report::Look;
use stripewise_units::ByteSize;

/// Width and height of a PNG in pixels.
const PNG_SIZE: [u32; 2] = [2_400, 1_350];

pub fn profile(context: &Context, arguments: &Profile) -> Outcome {
    check_outputs(&arguments.output, format_of)?;
    match arguments.fill {
        true => filled(context, arguments),
        false => surface(context, arguments),
    }
}

fn surface(context: &Context, arguments: &Profile) -> Outcome {
    let options = ProfileOptions {
        target: arguments.target.clone(),
        full: arguments.full,
        time_ns_max: arguments.time.map(|time| time.0),
        places: arguments.places.map(|places| places as usize),
        seed: arguments.seed,
    };
    let permissions = Permissions {
        busy_ok: arguments.busy_ok,
        ..Permissions::default()
    };
    let (document, exit) = measure(context, &options, &permissions)?;
    let measured = MeasuredSurface::Profile(Box::new(document));
    show(context, &measured, &arguments.output)?;
    Ok(exit)
}

fn filled(context: &Context, arguments: &Profile) -> Outcome {
    let options = FillOptions {
        target: arguments.target.clone(),
        size_bytes: arguments.size.map(ByteSize::bytes),
        rest_ns: arguments.idle.map(|idle| idle.0),
        time_ns_max: arguments.time.map(|time| time.0),
        seed: arguments.seed,
    };
    let permissions = Permissions {
        overwrite: arguments.overwrite,
        destroy: arguments.destroy.iter().cloned().collect(),
        busy_ok: arguments.busy_ok,
        ..Permissions::default()
    };
    let (document, exit) = fill(context, &options, &permissions)?;
    let measured = MeasuredSurface::Fill(Box::new(document));
    show(context, &measured, &arguments.output)?;
    Ok(exit)
}

/// Shows it on the terminal, and writes the requested files.
fn show(context: &Context, measured: &MeasuredSurface, output: &[PathBuf]) -> Outcome<()> {
    print_result(context, measured, || measured.sheet(), || measured.line())?;
    let look = PictureLook {
        look: Look {
            size: PNG_SIZE,
            ..Look::default()
        },
        ..PictureLook::default()
    };
    for path in output {
        let rendered = measured.rendered(format_of(path)?, &look)?;
        write_rendered(context, &rendered, path)?;
    }
    Ok(())
}
