//! The switches of `lab`.

use super::align::{ExperimentArguments, percent};
use super::run::Safety;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use stripewise_campaign::Permissions;
use stripewise_campaign::resume::ResumeOptions;
use stripewise_units::Nanoseconds;

/// An experiment: factors, levels, randomised blocks.
///
/// One factor in randomised blocks with a verdict per row, or several in passes over layouts.
#[derive(Debug, Args)]
pub struct Lab {
    #[command(subcommand)]
    pub action: LabAction,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum LabAction {
    /// Run the experiment of a plan file
    Run(LabRun),
    /// Print what a plan would do (layouts, passes, bytes written, time to a verdict, what is destroyed) and stop
    Plan(LabPlanned),
    /// Continue an interrupted experiment of `lab run` or `align`, without repeating finished blocks
    Resume(LabResume),
    /// Write a commented plan file
    Init(LabInit),
    /// List stored experiments
    Plans,
    /// Remove kept test files, layouts that were left on devices, or an experiment with its runs; prints what it would do, and does it with --yes
    Clean(LabClean),
}

/// `lab run`.
#[derive(Debug, Args)]
pub struct LabRun {
    /// The plan (`stripewise lab init FILE.toml` writes one to start from), or a published study: study:oja-nisula-2007, study:eva8100-2009, study:van-dyke-2009, study:shea-2007, study:mssqltips-2127
    #[arg(value_name = "PLAN.toml|study:NAME")]
    pub plan: PathBuf,
    /// Repeat a study on this target instead of its simulated array
    #[arg(long, value_name = "TARGET", value_parser = super::name_text())]
    pub target: Option<String>,
    /// Add what readers of the article of study:van-dyke-2009 asked for: stripe units of 128K and 256K, offsets of 128K and 1M, sequential reads
    #[arg(long)]
    pub readers: bool,
    /// With several factors: place the layouts side by side, in slots that change from pass to pass, and remove the difference between the slots
    #[arg(long)]
    pub slots: bool,
    /// With several factors: write a page or picture (.html, .svg, .png or .md)
    #[arg(short = 'o', long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub how: ExperimentArguments,
    #[command(flatten)]
    pub safety: Safety,
}

/// `lab plan`.
#[derive(Debug, Args)]
pub struct LabPlanned {
    /// The plan; `stripewise lab init FILE.toml` writes one to start from
    #[arg(value_name = "PLAN.toml")]
    pub plan: PathBuf,
    /// Like `lab run --slots`
    #[arg(long)]
    pub slots: bool,
}

/// `lab resume`.
#[derive(Debug, Args)]
pub struct LabResume {
    /// Its id from `stripewise lab plans`, or last if it was done last
    pub id: String,
    /// Stop when every interval is narrower than this [default: as in the plan]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub precision: Option<f64>,
    /// Continue for at most this long, not counting earlier sessions
    #[arg(long, value_name = "TIME")]
    pub time: Option<Nanoseconds>,
    /// Maximum number of blocks, including finished ones [default: as in the plan]
    #[arg(long, value_name = "N")]
    pub blocks: Option<u32>,
    #[command(flatten)]
    pub safety: Safety,
}

impl LabResume {
    /// The options that override the plan.
    pub fn options(&self) -> ResumeOptions {
        ResumeOptions {
            precision_percent: self.precision,
            time_ns: self.time.map(Nanoseconds::ns),
            blocks: self.blocks,
        }
    }
}

/// `lab init`.
#[derive(Debug, Args)]
pub struct LabInit {
    /// The file to write; it must not exist
    #[arg(value_name = "FILE.toml", default_value = "experiment.toml")]
    pub file: PathBuf,
}

/// `lab clean`.
#[derive(Debug, Args)]
pub struct LabClean {
    /// Experiments to delete with their runs [default: kept test files, and layouts that were left on devices]
    pub ids: Vec<String>,
    /// Do it
    #[arg(long)]
    pub yes: bool,
    /// Remove what a killed experiment left on these devices, and nothing else
    #[arg(long, value_name = "NAMES")]
    pub destroy: Option<String>,
    /// Do it even if it cannot be determined whether another program has such a device open
    #[arg(long)]
    pub busy_ok: bool,
}

impl LabClean {
    /// What may be touched.
    pub fn permissions(&self) -> Permissions {
        Permissions {
            destroy: self.destroy.clone().into_iter().collect(),
            busy_ok: self.busy_ok,
            ..Permissions::default()
        }
    }
}
