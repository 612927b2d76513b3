//! Shared by `partition` and `format`: permission to proceed, exits, and
//! documents.

pub mod text;

use serde::Serialize;
use std::path::Path;
use stripewise_conductor::exit::Exit;
use stripewise_disk_provision::SaveFile;
use stripewise_results::SCHEMA_VERSION;

/// Permission to carry out a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestroyPermission {
    /// The kernel's name of the device whose data will be lost.
    pub destroy: String,
    /// Even if it cannot be determined whether another program has the device open.
    pub busy_ok: bool,
}

/// A plan, and its result if it was carried out.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct ProvisionDocument<'a, Plan, Report> {
    schema_version: u32,
    done: bool,
    plan: &'a Plan,
    report: Option<&'a Report>,
}

impl<'a, Plan, Report> ProvisionDocument<'a, Plan, Report> {
    /// For this plan and report.
    pub fn new(plan: &'a Plan, report: Option<&'a Report>) -> Self {
        ProvisionDocument {
            schema_version: SCHEMA_VERSION,
            done: report.is_some(),
            plan,
            report,
        }
    }
}

/// A file for an old table; its directories are made as those of results are.
pub fn save_file(path: &Path) -> SaveFile<'_> {
    SaveFile {
        path,
        make_directories: stripewise_store::create_directories,
    }
}

/// The exit of a command that only planned: that of its plan.
pub fn planned(in_the_way: Option<&str>) -> Exit {
    match in_the_way {
        None => Exit::Done,
        Some(_) => Exit::Target,
    }
}
