//! `compare`: tables of differences between what is stored, imported or published.

use crate::context::Context;
use crate::failure::Outcome;
use crate::show::comparisons::{print_comparisons, print_json_of};
use crate::show::page::{refuse_existing, say_written, write_material};
use crate::switches::compare::Compare;
use stripewise_campaign::compare::{CompareQuestion, compare as compare_subjects};

pub fn compare(context: &Context, arguments: &Compare) -> Outcome {
    refuse_existing(arguments.report.as_deref())?;
    let compared = compare_subjects(
        context,
        &CompareQuestion {
            a: arguments.a.clone(),
            b: arguments.b.clone(),
            metric: arguments.metric.clone(),
            baseline: arguments.baseline.clone(),
        },
    )?;
    if context.global.json {
        print_json_of(&compared.records)?;
    } else {
        print_comparisons(context, &compared.records);
    }
    let exit = compared.exit();
    if let Some(path) = &arguments.report {
        write_material(&compared.material(), path)?;
        say_written(context, path);
    }
    Ok(exit)
}
