//! `format`: prints the plan and, with `--yes --destroy NAME`, carries it out.

use super::partition::destroy_permission;
use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::provision::{ConfirmationHint, print_provision};
use crate::show::terminal::say;
use crate::switches::format::Format;
use stripewise_campaign::format::plan as plan_file_system;
use stripewise_campaign::steps::provision::planned;
use stripewise_campaign::steps::provision::text::{HANGING, format_plan, format_report};
use stripewise_disk_provision::{FormatOptions, FormatReport, Stripe};
use stripewise_units::NameText;

pub fn format(context: &Context, arguments: &Format) -> Outcome {
    let destroy = arguments.destroy.as_deref();
    let destroy_permission = destroy_permission(arguments.yes, destroy, arguments.busy_ok)?;
    let planned_format = plan_file_system(context, &arguments.partition, &options(arguments))?;
    let plan = &planned_format.plan;
    let Some(destroy_permission) = destroy_permission else {
        let command = ConfirmationHint::of(arguments.yes, destroy, arguments.busy_ok).text(
            &plan.device.name,
            plan.in_the_way.as_deref(),
            plan.unseen.as_deref(),
        );
        let text = format_plan(plan, false, &|text| context.style.heading(text));
        print_provision::<_, FormatReport>(context, plan, None, &text, Some(command))?;
        return Ok(planned(plan.in_the_way.as_deref()));
    };
    if !context.global.quiet {
        let text = format_plan(plan, true, &|text| context.style.heading(text));
        context
            .output
            .tell(&context.output.broken(&text, Some(HANGING)));
        if plan.in_the_way.is_none() && (plan.unseen.is_none() || arguments.busy_ok) {
            say!(context.output, "running {} ...", plan.program.as_text());
        }
    }
    let report = planned_format.execute(&destroy_permission)?;
    print_provision(context, plan, Some(&report), &format_report(&report), None)?;
    Ok(Exit::Done)
}

fn options(arguments: &Format) -> FormatOptions {
    FormatOptions {
        file_system: arguments.fs,
        allocation_unit_bytes: arguments.allocation_unit.bytes(),
        stripe: arguments
            .stripe_unit
            .zip(arguments.stripe_disks)
            .map(|(unit, data_disks)| Stripe {
                unit_bytes: unit.bytes(),
                data_disks,
            }),
    }
}
