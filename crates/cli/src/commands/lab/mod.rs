//! `lab`: experiments from plan files, and what is kept of all experiments.

mod clean;
mod layouts;
mod planned;
mod plans;
mod resume;
mod run;

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::output::write_new;
use crate::show::document::print_text;
use crate::switches::lab::{Lab, LabAction, LabInit};
use stripewise_lab::plan_file::TEMPLATE;
use stripewise_units::NameText;

pub fn lab(context: &Context, arguments: &Lab) -> Outcome {
    match &arguments.action {
        LabAction::Run(run) => run::run(context, run),
        LabAction::Plan(planned) => planned::planned(context, planned),
        LabAction::Resume(resume) => resume::resume(context, resume),
        LabAction::Init(init) => write_template(context, init),
        LabAction::Plans => plans::plans(context),
        LabAction::Clean(clean) => clean::clean(context, clean),
    }
}

fn write_template(context: &Context, arguments: &LabInit) -> Outcome {
    write_new(&arguments.file, TEMPLATE.as_bytes())?;
    let path = arguments.file.as_text();
    if context.global.json {
        crate::show::document::print_json(&serde_json::json!({
            "schema_version": stripewise_results::SCHEMA_VERSION,
            "path": path,
        }))?;
    } else {
        print_text(&format!(
            "Wrote {path}; edit it, then: stripewise lab run {path}\n"
        ));
    }
    Ok(Exit::Done)
}
