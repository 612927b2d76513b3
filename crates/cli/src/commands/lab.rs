//! `lab`: experiments from plan files, and the stored experiments.

use crate::commands::hosts::{followed, led};
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::write_new;
use crate::show::context::Context;
use crate::show::line::{marked, print_answer, print_or};
use crate::show::page::refuse_existing;
use crate::show::{advice, experiment};
use crate::switches::lab::{Lab, LabAction, LabClean, LabInit, LabResume, LabRun};
use serde::Serialize;
use std::path::Path;
use stripewise_campaign::clean::{clean, cleaned_text};
use stripewise_campaign::lab::{forecast, forecast_text, plans, plans_sheet, read, run};
use stripewise_campaign::resume::resume;
use stripewise_campaign::steps::sessions::LabSession;
use stripewise_campaign::study::{StudyOptions, repeat, study_sheet};
use stripewise_lab::plan_file::{LabFile, TEMPLATE};
use stripewise_report::sheet_line;
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::{NameText, Nanoseconds};

pub fn lab(context: &Context, arguments: &Lab) -> Outcome {
    match &arguments.action {
        LabAction::Run(arguments) => run_plan(context, arguments),
        LabAction::Plan(arguments) => {
            let file = with_slots(read(context, &arguments.plan)?, arguments.slots)?;
            let forecast = forecast(context, &file)?;
            print_or(context, &forecast, || {
                let text = forecast_text(&forecast);
                context
                    .output
                    .print_text(&context.output.broken(&text, None));
            })?;
            Ok(Exit::Done)
        }
        LabAction::Resume(arguments) => go_on(context, arguments),
        LabAction::Init(arguments) => write_template(context, arguments),
        LabAction::Plans => {
            let stored = plans(context)?;
            print_or(context, &stored, || {
                let sheet = plans_sheet(&stored);
                context.output.print_lines(&context.sheet_text(&sheet));
            })?;
            Ok(Exit::Done)
        }
        LabAction::Clean(arguments) => clean_up(context, arguments),
    }
}

fn run_plan(context: &Context, arguments: &LabRun) -> Outcome {
    if let Some(done) = followed(context, &arguments.safety) {
        return done;
    }
    let plan = arguments.plan.as_text();
    if let Some(name) = plan.strip_prefix("study:") {
        return run_study(context, name, arguments);
    }
    if arguments.target.is_some() || arguments.readers {
        return Err(Failure::usage(
            "--target and --readers apply to studies only: a plan names its target",
            "leave them out, or name a study: study:van-dyke-2009",
        ));
    }
    let report = arguments.report.as_deref();
    let file = with_slots(read(context, &arguments.plan)?, arguments.slots)?;
    if report.is_some() && matches!(file, LabFile::One(_)) {
        return Err(Failure::usage(
            "--report applies to plans with several factors only",
            "`stripewise report ID -o FILE.html` writes a page on this experiment",
        ));
    }
    refuse_existing(report)?;
    let permissions = arguments.safety.permissions();
    let mut options = arguments.how.options();
    let file = match file {
        LabFile::One(mut file) => {
            (file.target, options.group) = led(context, &file.target)?;
            LabFile::One(file)
        }
        LabFile::Several(_) if context.multi_host.is_some() => {
            return Err(Failure::usage(
                "a plan with several factors makes layouts, and one host makes them for all",
                "run it with `stripewise lab run`; with one factor it can be run on several hosts",
            ));
        }
        several @ LabFile::Several(_) => several,
    };
    let session = run(context, file, &options, &permissions)?;
    conclude(context, session, report)
}

/// The plan, with its layouts side by side if requested.
fn with_slots(mut file: LabFile, slots: bool) -> Outcome<LabFile> {
    match &mut file {
        LabFile::Several(file) => file.slots |= slots,
        LabFile::One(_) if slots => {
            return Err(Failure::usage(
                "--slots applies to plans with several factors only: levels of one factor are measured in the same place",
                "leave it out, or write the factor into a table [factors]",
            ));
        }
        LabFile::One(_) => {}
    }
    Ok(file)
}

/// A published study next to the printed figures.
fn run_study(context: &Context, name: &str, arguments: &LabRun) -> Outcome {
    let how = &arguments.how;
    let unused = [
        (arguments.report.is_some(), "--report"),
        (arguments.slots, "--slots"),
        (how.precision.is_some(), "--precision"),
        (how.time.is_some(), "--time"),
        (how.blocks.is_some(), "--blocks"),
        (how.engine.is_some(), "--engine"),
    ];
    if let Some((_, switch)) = unused.iter().find(|(given, _)| *given) {
        return Err(Failure::usage(
            format!("{switch} has no meaning for a study: every cell of its tables is run once"),
            "leave it out; `stripewise align TARGET` and plans have intervals",
        ));
    }
    let options = StudyOptions {
        name: name.to_owned(),
        target: arguments.target.clone(),
        readers: arguments.readers,
        step_ns: how.step.map(Nanoseconds::ns),
        seed: how.seed,
        label: how.label.clone(),
    };
    let repeated = repeat(context, &options, &arguments.safety.permissions())?;
    let document = &repeated.document;
    print_or(context, document, || {
        let mut sheet = study_sheet(document);
        let id = context.short_name(&document.id);
        sheet.pointers = vec![(
            "Report".to_owned(),
            format!("stripewise report {id} -o study.html"),
        )];
        let line = || marked(&sheet_line(&sheet), &document.id);
        print_answer(context, || context.sheet_text(&sheet), line);
    })?;
    repeated.ended.map(|()| Exit::Done)
}

fn go_on(context: &Context, arguments: &LabResume) -> Outcome {
    let permissions = arguments.safety.permissions();
    let session = resume(context, &arguments.id, &arguments.options(), &permissions)?;
    conclude(context, session, None)
}

/// Shows the results of a session, then the failure that ended it.
fn conclude(context: &Context, session: LabSession, report: Option<&Path>) -> Outcome {
    let session = match session {
        LabSession::OneFactor(session) => return experiment::conclude(context, *session),
        LabSession::Layouts(session) => session,
    };
    let exit = advice::show(context, &session, report)?;
    session.ended.map(|()| exit)
}

fn clean_up(context: &Context, arguments: &LabClean) -> Outcome {
    let permissions = arguments.permissions();
    let cleaned = clean(context, &arguments.ids, arguments.yes, &permissions)?;
    print_or(context, &cleaned, || {
        let text = cleaned_text(&cleaned, !arguments.ids.is_empty());
        context.output.print_text(&text);
    })?;
    cleaned.failure.map_or(Ok(Exit::Done), Err)
}

/// The plan file that was written.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Template<'a> {
    schema_version: u32,
    path: &'a str,
}

fn write_template(context: &Context, arguments: &LabInit) -> Outcome {
    write_new(&arguments.file, TEMPLATE.as_bytes())?;
    let path = arguments.file.as_text();
    let written = Template {
        schema_version: SCHEMA_VERSION,
        path: &path,
    };
    print_or(context, &written, || {
        let text = format!("Wrote {path}; edit it, then: stripewise lab run {path}\n");
        context.output.print_text(&text);
    })?;
    Ok(Exit::Done)
}
