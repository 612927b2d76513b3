//! `compare`: tables of differences between what is stored, imported or published.

use crate::failure::Failure;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::page::{refuse_existing, say_written, write_material};
use crate::switches::compare::Compare;
use stripewise_campaign::compare::{CompareQuestion, compare as compare_subjects};
use stripewise_campaign::profile::{ProfileComparison, compare_profiles, comparison_text};
use stripewise_report::comparisons_text;

pub fn compare(context: &Context, arguments: &Compare) -> Outcome {
    refuse_existing(arguments.report.as_deref())?;
    if let [b] = arguments.others.as_slice()
        && let Some(compared) = compare_profiles(context, &arguments.a, b)?
    {
        return profiles(context, arguments, &compared);
    }
    let compared = compare_subjects(
        context,
        &CompareQuestion {
            a: arguments.a.clone(),
            others: arguments.others.clone(),
            metrics: arguments.metric.clone(),
            baseline: arguments.baseline.clone(),
        },
    )?;
    if context.global.json {
        context.output.print_json(&compared.document())?;
    } else {
        context
            .output
            .print_text(&comparisons_text(&compared.records, &|text| {
                context.style.heading(text)
            }));
    }
    let exit = compared.exit();
    if let Some(path) = &arguments.report {
        write_material(context, &compared.material(), path)?;
        say_written(context, path);
    }
    Ok(exit)
}

/// Two profiles of surfaces.
fn profiles(context: &Context, arguments: &Compare, compared: &ProfileComparison) -> Outcome {
    if arguments.report.is_some() {
        return Err(Failure::usage(
            "a comparison of profiles has no report",
            "leave --report out; --json prints all of it",
        ));
    }
    if context.global.json {
        context.output.print_json(compared)?;
    } else {
        context.output.print_text(&comparison_text(compared));
    }
    Ok(compared.exit())
}
