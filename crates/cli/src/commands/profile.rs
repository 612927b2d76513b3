//! `profile`: the surface of a disk.

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{check_new, write_new};
use crate::show::document::{print_json, print_text};
use crate::show::surfaces;
use crate::switches::profile::Profile;
use std::path::Path;
use stripewise_campaign::Permissions;
use stripewise_campaign::profile::{ProfileDocument, ProfileWish, profile as measure};
use stripewise_report::{About, Theme, png, surface_svg};
use stripewise_units::NameText;

/// What a file is to hold, by its ending.
#[derive(Clone, Copy)]
enum Kind {
    Svg,
    Png,
    Csv,
    Json,
}

pub fn profile(context: &Context, arguments: &Profile) -> Outcome {
    for path in &arguments.output {
        kind_of(path)?;
        check_new(path)?;
    }
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
    if context.global.json {
        print_json(&document)?;
    } else {
        print_text(&surfaces::text(&document));
    }
    for path in &arguments.output {
        write_new(path, &bytes(kind_of(path)?, &document)?)?;
    }
    Ok(exit)
}

fn kind_of(path: &Path) -> Outcome<Kind> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_deref().and_then(|ending| ending.to_str()) {
        Some("svg") => Ok(Kind::Svg),
        Some("png") => Ok(Kind::Png),
        Some("csv") => Ok(Kind::Csv),
        Some("json") => Ok(Kind::Json),
        _ => Err(Failure::usage(
            format!("{} does not say what it is to hold", path.as_text()),
            "end its name with .svg, .png, .csv or .json",
        )),
    }
}

fn bytes(kind: Kind, document: &ProfileDocument) -> Outcome<Vec<u8>> {
    let svg = || surface_svg(&surfaces::picture(document), Theme::Light);
    Ok(match kind {
        Kind::Svg => svg().into_bytes(),
        Kind::Png => {
            let about = About {
                title: surfaces::title(document),
                ..About::default()
            };
            png(&svg(), 2.0, &about).map_err(|error| Failure::of(Exit::Target, error))?
        }
        Kind::Csv => surfaces::csv(document).into_bytes(),
        Kind::Json => {
            let mut text = serde_json::to_string_pretty(document)
                .map_err(|error| Failure::of(Exit::Target, error))?;
            text.push('\n');
            text.into_bytes()
        }
    })
}
