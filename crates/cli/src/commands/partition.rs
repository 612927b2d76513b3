//! `partition`: prints the plan and, with `--yes --destroy NAME`, carries it out.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::context::Context;
use crate::show::provision::{ConfirmationHint, print_provision};
use crate::switches::partition::Partition;
use std::hash::{BuildHasher, RandomState};
use stripewise_campaign::partition::{WantedTable, plan as plan_table};
use stripewise_campaign::steps::provision::text::{HANGING, table_plan, table_report, undo_hint};
use stripewise_campaign::steps::provision::{DestroyPermission, planned};
use stripewise_disk_provision::{Identifiers, PartitionOptions, TableReport};

pub fn partition(context: &Context, arguments: &Partition) -> Outcome {
    let destroy = arguments.destroy.as_deref();
    let destroy_permission = destroy_permission(arguments.yes, destroy, arguments.busy_ok)?;
    let wanted = match &arguments.restore {
        Some(file) => WantedTable::Saved(file.clone()),
        None => WantedTable::New(options(arguments)),
    };
    let save = arguments.save.as_deref();
    let planned_table = plan_table(context, &arguments.device, &wanted, save)?;
    let (plan, save) = (&planned_table.plan, &planned_table.save);
    let Some(destroy_permission) = destroy_permission else {
        let command = ConfirmationHint::of(arguments.yes, destroy, arguments.busy_ok).text(
            &plan.device.name,
            plan.in_the_way.as_deref(),
            plan.unseen.as_deref(),
        );
        let text = table_plan(plan, save, false, &|text| context.style.heading(text));
        print_provision::<_, TableReport>(context, plan, None, &text, Some(command))?;
        return Ok(planned(plan.in_the_way.as_deref()));
    };
    if !context.global.quiet {
        let text = table_plan(plan, save, true, &|text| context.style.heading(text));
        context
            .output
            .tell(&context.output.broken(&text, Some(HANGING)));
    }
    let report = planned_table.execute(&destroy_permission, &identifiers())?;
    let text = table_report(plan, &report);
    print_provision(context, plan, Some(&report), &text, undo_hint(&report))?;
    Ok(Exit::Done)
}

/// Permission to carry it out, if both switches are given.
pub(super) fn destroy_permission(
    yes: bool,
    destroy: Option<&str>,
    busy_ok: bool,
) -> Outcome<Option<DestroyPermission>> {
    match (yes, destroy) {
        (true, None) => Err(Failure::usage(
            "--yes needs --destroy NAME, the kernel's name of the device whose data will be lost",
            "look at the plan without --yes first; its last line has the whole command",
        )),
        (true, Some(name)) => Ok(Some(DestroyPermission {
            destroy: name.to_owned(),
            busy_ok,
        })),
        (false, _) => Ok(None),
    }
}

fn options(arguments: &Partition) -> PartitionOptions {
    PartitionOptions {
        align_bytes: arguments.align.map_or(0, |align| align.bytes()),
        size_bytes: arguments.size.map(|size| size.bytes()),
        table: arguments.table.unwrap_or_default(),
        purpose: arguments.purpose.unwrap_or_default(),
        stripe_unit_bytes: arguments
            .stripe_unit
            .map(|unit| unit.bytes())
            .filter(|unit| *unit > 0),
    }
}

/// 256 unique bits: the standard library's hasher has a key of 128
/// bits from the system, and is a pseudo-random function of its input.
fn identifiers() -> Identifiers {
    let hasher = RandomState::new();
    let mut entropy = [0; 32];
    for (index, word) in entropy.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&hasher.hash_one(index).to_le_bytes());
    }
    Identifiers { entropy }
}
