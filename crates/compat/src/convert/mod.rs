//! Converts other tools' workloads to a plan: a batch file that calls SQLIO, DiskSpd's command
//! lines, fio's job files.
//!
//! Options that would change the load are refused by name; those that only affect how long a job
//! runs, or how it is done, are noted. Nothing is dropped silently. The plan is parsed again before
//! it is returned, so `run --plan` accepts it. What lies outside the text (parameter files, drive
//! letters) comes from the caller: this crate opens nothing.

mod calls;
mod diskspd;
mod fio;
mod fio_options;
mod plan;
mod sqlio;

use crate::{Error, Note, text};
use plan::PlanText;
use std::fmt;
use std::str::FromStr;

/// The tool that a workload is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// A batch file with calls of `sqlio`.
    Sqlio,
    /// A file with command lines of `diskspd`.
    Diskspd,
    /// A job file.
    Fio,
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Tool::Sqlio => "sqlio",
            Tool::Diskspd => "diskspd",
            Tool::Fio => "fio",
        })
    }
}

impl FromStr for Tool {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        match typed.to_ascii_lowercase().as_str() {
            "sqlio" => Ok(Tool::Sqlio),
            "diskspd" => Ok(Tool::Diskspd),
            "fio" => Ok(Tool::Fio),
            _ => Err(format!("`{typed}` is not one of sqlio, diskspd, fio")),
        }
    }
}

/// Information from outside the text.
pub struct Surroundings<'a> {
    /// The content of the parameter file named by `-F`.
    pub parameter_file: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    /// The local equivalent of a Windows name: `L:testfile.dat`, `L:`, `#1`.
    pub target: &'a dyn Fn(&str) -> Option<String>,
}

/// A workload as a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// TOML.
    pub plan: String,
    /// What was not converted.
    pub notes: Vec<Note>,
}

/// Most jobs of a converted plan.
const JOBS_MAX: usize = 1_000;

/// Converts a workload.
///
/// # Errors
/// Lines that cannot be parsed, by number; a text without any workload.
pub fn convert(
    tool: Tool,
    bytes: &[u8],
    source_name: &str,
    surroundings: &Surroundings<'_>,
) -> Result<Converted, Error> {
    let text = text::decode(bytes, source_name)?;
    let mut plan = PlanText::new(tool, source_name);
    match tool {
        Tool::Sqlio => sqlio::read(&text, source_name, surroundings, &mut plan)?,
        Tool::Diskspd => diskspd::read(&text, source_name, surroundings, &mut plan)?,
        Tool::Fio => fio::read(&text, source_name, &mut plan)?,
    }
    if plan.jobs.len() > JOBS_MAX {
        return Err(Error::new(
            source_name,
            format!(
                "has {} workloads; a plan takes at most {JOBS_MAX}",
                plan.jobs.len()
            ),
            "split it into several files",
        ));
    }
    plan.finish(source_name)
}
