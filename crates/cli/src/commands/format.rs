//! `format`: prints the plan; with `--yes --destroy NAME` carries it out.

use super::partition::{Document, failure, leave, planned, text};
use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::document::{print_json, print_text};
use crate::show::terminal::{say, say_part};
use crate::switches::format::{Format, Kind};
use std::path::Path;
use stripewise_disk_provision::{
    Destroy, FileSystemKind, FormatReport, FormatWish, Stripe, plan_format,
};
use stripewise_units::NameText;

pub fn format(context: &Context, arguments: &Format) -> Outcome {
    let leave = leave(arguments.yes, arguments.destroy.as_deref())?;
    let store = context.store_path()?;
    let plan =
        plan_format(&arguments.partition, &wish(arguments), Some(&store)).map_err(failure)?;
    let Some(name) = leave else {
        if context.global.json {
            print_json(&Document::<_, FormatReport>::new(&plan, None))?;
        } else {
            let invitation = text::Invitation::of(
                arguments.yes,
                arguments.destroy.as_deref(),
                arguments.busy_ok,
            );
            print_text(&text::format_plan(&plan, false, context.style));
            print_text(&invitation.text(
                &plan.device.name,
                plan.in_the_way.as_deref(),
                plan.unseen.as_deref(),
            ));
        }
        return Ok(planned(plan.in_the_way.as_deref()));
    };
    if !context.global.quiet {
        say_part!("{}", text::format_plan(&plan, true, context.style));
        if plan.in_the_way.is_none() && (plan.unseen.is_none() || arguments.busy_ok) {
            say!("running {} ...", plan.program.as_text());
        }
    }
    let destroy = Destroy {
        name,
        store: Some(&store),
        busy_ok: arguments.busy_ok,
        save: Path::new(""),
        now: "",
    };
    let report = plan.carry_out(&destroy).map_err(failure)?;
    if context.global.json {
        print_json(&Document::new(&plan, Some(&report)))?;
    } else {
        print_text(&text::format_report(&report));
    }
    Ok(Exit::Done)
}

fn wish(arguments: &Format) -> FormatWish {
    FormatWish {
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
