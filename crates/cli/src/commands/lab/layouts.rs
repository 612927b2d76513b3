//! `lab run` of a plan with several factors.

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::advice;
use crate::show::page::refuse_existing;
use crate::switches::align::ExperimentArguments;
use crate::switches::lab::LabRun;
use stripewise_campaign::lab::run_layouts;
use stripewise_lab::plan_file::LayoutsFile;
use stripewise_units::Nanoseconds;

pub fn run(context: &Context, arguments: &LabRun, mut file: LayoutsFile) -> Outcome {
    refuse_existing(arguments.report.as_deref())?;
    change(&arguments.how, &mut file)?;
    let mut store = context.open_store()?;
    let sitting = run_layouts(context, &mut store, &file)?;
    let record = sitting.kept.answer();
    let outside = record
        .as_ref()
        .is_some_and(|record| record.present_is_outside);
    let exit = match outside {
        true => Exit::Finding,
        false => Exit::Done,
    };
    let report = arguments.report.as_deref();
    let exit = advice::show(context, &sitting.kept, record.as_ref(), report, exit)?;
    sitting.ended.map(|()| exit)
}

/// What the command line says instead of the plan.
fn change(how: &ExperimentArguments, file: &mut LayoutsFile) -> Outcome<()> {
    if how.engine.is_some() {
        return Err(Failure::usage(
            "--engine is about real targets, and layouts are made on simulated arrays",
            "leave it out",
        ));
    }
    file.margin_percent = how.precision.or(file.margin_percent);
    file.time_ns = how.time.map(Nanoseconds::ns).or(file.time_ns);
    file.passes_max = how.blocks.or(file.passes_max);
    file.seed = how.seed.or(file.seed);
    file.label = how.label.clone().or_else(|| file.label.take());
    if let Some(step) = how.step {
        for cell in &mut file.cells {
            cell.workload.duration_ns = step.ns();
            cell.workload.ramp_ns = step.ns() / 10;
        }
        file.duration_given = true;
    }
    Ok(())
}
