//! `profile`: the surface of a disk.

use crate::failure::{Failure, Outcome};
use crate::output::{check_new, write_new};
use crate::show::context::Context;
use crate::show::line::print_answer;
use crate::show::page::name_the_rest;
use crate::switches::profile::Profile;
use std::path::{Path, PathBuf};
use stripewise_campaign::Permissions;
use stripewise_campaign::profile::{FillWish, ProfileWish, fill, profile as measure};
use stripewise_campaign::steps::pages::{PictureLook, ReportFormat};
use stripewise_campaign::steps::surface::MeasuredSurface;
use stripewise_report::Look;
use stripewise_units::{ByteSize, NameText};

/// Width and height of a PNG in pixels.
const PNG_SIZE: [u32; 2] = [2_400, 1_350];

pub fn profile(context: &Context, arguments: &Profile) -> Outcome {
    for path in &arguments.output {
        format_of(path)?;
        check_new(path)?;
    }
    match arguments.fill {
        true => filled(context, arguments),
        false => surface(context, arguments),
    }
}

fn surface(context: &Context, arguments: &Profile) -> Outcome {
    let wish = ProfileWish {
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
    let (document, exit) = measure(context, &wish, &permissions)?;
    let measured = MeasuredSurface::Profile(Box::new(document));
    show(context, &measured, &arguments.output)?;
    Ok(exit)
}

fn filled(context: &Context, arguments: &Profile) -> Outcome {
    let wish = FillWish {
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
    let (document, exit) = fill(context, &wish, &permissions)?;
    let measured = MeasuredSurface::Fill(Box::new(document));
    show(context, &measured, &arguments.output)?;
    Ok(exit)
}

/// On the terminal, and in the files that were asked for.
fn show(context: &Context, measured: &MeasuredSurface, output: &[PathBuf]) -> Outcome<()> {
    match context.global.json {
        true => context.output.print_json(measured)?,
        false => print_answer(context, || measured.text(), || measured.line()),
    }
    let look = PictureLook {
        look: Look {
            size: PNG_SIZE,
            ..Look::default()
        },
        ..PictureLook::default()
    };
    for path in output {
        let rendered = measured.rendered(format_of(path)?, &look)?;
        name_the_rest(context, &rendered);
        write_new(path, &rendered.bytes)?;
    }
    Ok(())
}

/// What a file is to hold, by the end of its name.
fn format_of(path: &Path) -> Outcome<ReportFormat> {
    ReportFormat::of_file(path).ok_or_else(|| {
        Failure::usage(
            format!("the file name {} does not give a format", path.as_text()),
            "end its name with .html, .svg, .png, .csv, .md or .json",
        )
    })
}
