//! `profile`: the surface of a disk.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{check_new, write_new};
use crate::show::context::Context;
use crate::show::document::{print_json, print_text};
use crate::show::{fills, surface_tables, surfaces};
use crate::switches::profile::Profile;
use std::path::Path;
use stripewise_campaign::Permissions;
use stripewise_campaign::profile::{FillWish, ProfileWish, fill, profile as measure};
use stripewise_report::{
    About, SurfacePicture, SurfaceTable, Theme, png, surface_page, surface_svg,
};
use stripewise_units::{ByteSize, NameText};

/// What a file is to hold, by its ending.
#[derive(Clone, Copy)]
enum Kind {
    Svg,
    Png,
    Html,
    Csv,
    Json,
}

pub fn profile(context: &Context, arguments: &Profile) -> Outcome {
    for path in &arguments.output {
        kind_of(path)?;
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
    let shown = Shown {
        text: surfaces::text(&document),
        csv: surfaces::csv(&document),
        picture: surfaces::picture(&document),
        answer: surfaces::sentence(&document),
        tables: surface_tables::tables(&document),
        document: &document,
    };
    shown.show(context, &arguments.output)?;
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
    let shown = Shown {
        text: fills::text(&document),
        csv: fills::csv(&document),
        picture: fills::picture(&document),
        answer: fills::sentence(&document),
        tables: fills::tables(&document),
        document: &document,
    };
    shown.show(context, &arguments.output)?;
    Ok(exit)
}

/// What was measured, in all forms.
struct Shown<'a, D> {
    text: String,
    csv: String,
    picture: SurfacePicture,
    answer: String,
    tables: Vec<SurfaceTable>,
    document: &'a D,
}

impl<D: serde::Serialize> Shown<'_, D> {
    fn show(&self, context: &Context, output: &[std::path::PathBuf]) -> Outcome<()> {
        if context.global.json {
            print_json(self.document)?;
        } else {
            print_text(&self.text);
        }
        for path in output {
            write_new(path, &self.bytes(kind_of(path)?)?)?;
        }
        Ok(())
    }

    fn bytes(&self, kind: Kind) -> Outcome<Vec<u8>> {
        let svg = || surface_svg(&self.picture, Theme::Light);
        Ok(match kind {
            Kind::Svg => svg().into_bytes(),
            Kind::Png => {
                let about = About {
                    title: self.picture.title.clone(),
                    ..About::default()
                };
                png(&svg(), 2.0, &about).map_err(|error| Failure::of(Exit::Target, error))?
            }
            Kind::Html => surface_page(&self.picture, &self.answer, &self.tables).into_bytes(),
            Kind::Csv => self.csv.clone().into_bytes(),
            Kind::Json => {
                let mut text = serde_json::to_string_pretty(self.document)
                    .map_err(|error| Failure::of(Exit::Target, error))?;
                text.push('\n');
                text.into_bytes()
            }
        })
    }
}

fn kind_of(path: &Path) -> Outcome<Kind> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_deref().and_then(|ending| ending.to_str()) {
        Some("svg") => Ok(Kind::Svg),
        Some("png") => Ok(Kind::Png),
        Some("html" | "htm") => Ok(Kind::Html),
        Some("csv") => Ok(Kind::Csv),
        Some("json") => Ok(Kind::Json),
        _ => Err(Failure::usage(
            format!("{} does not say what it is to hold", path.as_text()),
            "end its name with .html, .svg, .png, .csv or .json",
        )),
    }
}
