//! `partition`: prints the plan; with `--yes --destroy NAME` carries it out.

#[path = "partition_text.rs"]
pub(super) mod text;

use crate::context::Context;
use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::document::{print_json, print_text};
use crate::show::terminal::say_part;
use crate::switches::partition::{self as asked, Partition};
use serde::Serialize;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use stripewise_disk_provision::{
    Destroy, Error, ErrorKind, Identifiers, Purpose, TableKind, TablePlan, TableReport, Wish,
    plan_partition, plan_restore,
};
use stripewise_results::SCHEMA_VERSION;

#[derive(Serialize)]
pub(super) struct Document<'a, Plan, Report> {
    schema_version: u32,
    done: bool,
    plan: &'a Plan,
    report: Option<&'a Report>,
}

impl<'a, Plan, Report> Document<'a, Plan, Report> {
    pub fn new(plan: &'a Plan, report: Option<&'a Report>) -> Self {
        Document {
            schema_version: SCHEMA_VERSION,
            done: report.is_some(),
            plan,
            report,
        }
    }
}

pub fn partition(context: &Context, arguments: &Partition) -> Outcome {
    let leave = leave(arguments.yes, arguments.destroy.as_deref())?;
    let store = context.store_path()?;
    let plan = match &arguments.restore {
        Some(file) => plan_restore(&arguments.device, file, Some(&store)),
        None => plan_partition(&arguments.device, &wish(arguments), Some(&store)),
    }
    .map_err(failure)?;
    let now = context.timestamp();
    let save = match &arguments.save {
        Some(path) => path.clone(),
        None => default_save(&store, &plan, &now),
    };
    let Some(name) = leave else {
        if context.global.json {
            print_json(&Document::<_, TableReport>::new(&plan, None))?;
        } else {
            let command = text::Invitation::of(
                arguments.yes,
                arguments.destroy.as_deref(),
                arguments.busy_ok,
            );
            print_text(&text::table_plan(&plan, &save, false, context.style));
            print_text(&command.text(
                &plan.device.name,
                plan.in_the_way.as_deref(),
                plan.unseen.as_deref(),
            ));
        }
        return Ok(planned(plan.in_the_way.as_deref()));
    };
    if !context.global.quiet {
        say_part!("{}", text::table_plan(&plan, &save, true, context.style));
    }
    let destroy = Destroy {
        name,
        store: Some(&store),
        busy_ok: arguments.busy_ok,
        save: &save,
        now: &now,
    };
    let report = plan.carry_out(&destroy, &identifiers()).map_err(failure)?;
    if context.global.json {
        print_json(&Document::new(&plan, Some(&report)))?;
    } else {
        print_text(&text::table_report(&plan, &report));
    }
    Ok(Exit::Done)
}

/// How a command ends that printed a plan: as what it plans would end.
pub(super) fn planned(in_the_way: Option<&str>) -> Exit {
    match in_the_way {
        None => Exit::Done,
        Some(_) => Exit::Target,
    }
}

/// The name to destroy, where both switches are there.
pub(super) fn leave(yes: bool, destroy: Option<&str>) -> Outcome<Option<&str>> {
    match (yes, destroy) {
        (true, None) => Err(Failure::usage(
            "--yes needs --destroy NAME, the kernel's name of the device whose data will be lost",
            "look at the plan without --yes first; its last line has the whole command",
        )),
        (true, Some(name)) => Ok(Some(name)),
        (false, _) => Ok(None),
    }
}

fn wish(arguments: &Partition) -> Wish {
    Wish {
        align_bytes: arguments.align.map_or(0, |align| align.bytes()),
        size_bytes: arguments.size.map(|size| size.bytes()),
        table: match arguments.table {
            Some(asked::Table::Mbr) => TableKind::Mbr,
            Some(asked::Table::Gpt) | None => TableKind::Gpt,
        },
        purpose: match arguments.purpose {
            Some(asked::Purpose::Windows) => Purpose::Windows,
            Some(asked::Purpose::Linux) | None => Purpose::Linux,
        },
        stripe_unit_bytes: arguments
            .stripe_unit
            .map(|unit| unit.bytes())
            .filter(|unit| *unit > 0),
    }
}

/// A new file in a directory beside the store, by device and time.
fn default_save(store: &std::path::Path, plan: &TablePlan, now: &str) -> PathBuf {
    let directory = match store.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let digits: String = now
        .chars()
        .filter(|c| !matches!(c, '-' | ':' | '.'))
        .collect();
    let name = plan.device.name.replace('/', "!");
    directory
        .join("partition-tables")
        .join(format!("{name}-{digits}.json"))
}

/// 256 bits that nobody else has: the standard library's hasher has a key of 128
/// bits from the system, and is a pseudo-random function of what is hashed.
fn identifiers() -> Identifiers {
    let hasher = RandomState::new();
    let mut entropy = [0; 32];
    for (index, word) in entropy.chunks_exact_mut(8).enumerate() {
        word.copy_from_slice(&hasher.hash_one(index).to_le_bytes());
    }
    Identifiers { entropy }
}

/// An error of `disk-provision` as an exit code.
pub(super) fn failure(error: Error) -> Failure {
    let exit = match error.kind {
        ErrorKind::Usage => Exit::Usage,
        ErrorKind::Io => Exit::InputOutput,
        ErrorKind::NeedsBusyOk => Exit::Busy,
        _ => Exit::Target,
    };
    let hint = error.hint().map(str::to_owned);
    Failure {
        hint,
        ..Failure::of(exit, error)
    }
}
