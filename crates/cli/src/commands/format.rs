//! `format`: prints the plan and, with `--yes --destroy NAME`, carries it out.

use super::partition::go_ahead;
use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::context::Context;
use crate::show::provision::Invitation;
use crate::show::terminal::say;
use crate::switches::format::{Format, Kind};
use stripewise_campaign::format::plan as plan_file_system;
use stripewise_campaign::steps::provision::text::{HANGING, format_plan, format_report};
use stripewise_campaign::steps::provision::{ProvisionDocument, planned};
use stripewise_disk_provision::{FileSystemKind, FormatOptions, FormatReport, Stripe};
use stripewise_units::NameText;

pub fn format(context: &Context, arguments: &Format) -> Outcome {
    let destroy = arguments.destroy.as_deref();
    let go_ahead = go_ahead(arguments.yes, destroy, arguments.busy_ok)?;
    let planned_format = plan_file_system(context, &arguments.partition, &options(arguments))?;
    let plan = &planned_format.plan;
    let Some(go_ahead) = go_ahead else {
        if context.global.json {
            context
                .output
                .print_json(&ProvisionDocument::<_, FormatReport>::new(plan, None))?;
        } else {
            let invitation = Invitation::of(arguments.yes, destroy, arguments.busy_ok);
            let text = format_plan(plan, false, &|text| context.style.heading(text));
            context
                .output
                .print_text(&context.output.broken(&text, Some(HANGING)));
            context.output.print_text(&invitation.text(
                &plan.device.name,
                plan.in_the_way.as_deref(),
                plan.unseen.as_deref(),
            ));
        }
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
    let report = planned_format.execute(&go_ahead)?;
    if context.global.json {
        context
            .output
            .print_json(&ProvisionDocument::new(plan, Some(&report)))?;
    } else {
        let text = format_report(&report);
        context
            .output
            .print_text(&context.output.broken(&text, Some(HANGING)));
    }
    Ok(Exit::Done)
}

fn options(arguments: &Format) -> FormatOptions {
    FormatOptions {
        file_system: match arguments.fs {
            Kind::Ext4 => FileSystemKind::Ext4,
            Kind::Xfs => FileSystemKind::Xfs,
            Kind::Btrfs => FileSystemKind::Btrfs,
            Kind::Ntfs => FileSystemKind::Ntfs,
        },
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
