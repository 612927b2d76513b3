//! `convert`: another tool's workload as a plan.

use crate::commands::sqlio::drives::Drives;
use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::write_new;
use crate::show::document::{note, print_json, print_text};
use crate::show::terminal::say;
use crate::switches::convert::Convert;
use serde::Serialize;
use std::path::Path;
use stripewise_campaign::steps::input::{PLAN_BYTES_MAX, read};
use stripewise_compat::convert::{Surroundings, convert as to_plan};
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::NameText;

const UNREADABLE: &str = "check the name, and who may read it";

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    from: String,
    source: String,
    plan: &'a str,
    notes: Vec<String>,
}

pub fn convert(context: &Context, arguments: &Convert) -> Outcome {
    let path = &arguments.file;
    let bytes = read(context, path, PLAN_BYTES_MAX, UNREADABLE)?;
    let drives = Drives::parse(&arguments.drive)?;
    let beside = path.parent().unwrap_or(Path::new(""));
    let parameter_file = |name: &str| {
        let of = |path: &Path| read(context, path, PLAN_BYTES_MAX, UNREADABLE);
        of(&beside.join(name.replace('\\', "/")))
            .or_else(|_| of(&drives.text_file(name, |variable| std::env::var(variable).ok())))
            .ok()
    };
    let target = |name: &str| {
        let name = match name.strip_prefix('#') {
            Some(number) => format!("{number}:"),
            None => name.to_owned(),
        };
        let raw = name.ends_with(':');
        let place = drives.named(&name, raw, |variable| std::env::var(variable).ok());
        place.ok().map(|place| place.text())
    };
    let surroundings = Surroundings {
        parameter_file: &parameter_file,
        target: &target,
    };
    let source = path.as_text();
    let converted = to_plan(arguments.from, &bytes, &source, &surroundings).map_err(|error| {
        let hint = error.hint().to_owned();
        Failure::usage(error.to_string(), hint)
    })?;
    for text in &converted.notes {
        note(text);
    }
    if let Some(output) = &arguments.output {
        write_new(output, converted.plan.as_bytes())?;
        say!(
            "Wrote {}; `stripewise run --plan {}` runs it.",
            output.as_text(),
            output.as_text()
        );
    }
    if context.global.json {
        print_json(&Document {
            schema_version: SCHEMA_VERSION,
            from: arguments.from.to_string(),
            source,
            plan: &converted.plan,
            notes: converted.notes.iter().map(ToString::to_string).collect(),
        })?;
    } else if arguments.output.is_none() {
        print_text(&converted.plan);
    }
    Ok(Exit::Done)
}
