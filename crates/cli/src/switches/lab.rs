//! The switches of `lab`.

use super::align::{ExperimentArguments, percent};
use super::run::Safety;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use stripewise_campaign::Permissions;
use stripewise_campaign::resume::ResumeOptions;
use stripewise_units::Nanoseconds;

/// Experiments: one factor in randomised blocks with a verdict per row, or several in passes over layouts.
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
    /// What a plan would do: layouts, passes, bytes written, time to a verdict, what is destroyed; then stops
    Plan(LabPlanned),
    /// Go on with an experiment that was interrupted, of `lab run` or `align`; finished blocks are not made again
    Resume(LabResume),
    /// Write a commented plan file
    Init(LabInit),
    /// Experiments that are kept
    Plans,
    /// Remove kept test files, layouts that were left on devices, or an experiment with its runs; says what it would do, and does it with --yes
    Clean(LabClean),
}

/// `lab run`.
#[derive(Debug, Args)]
pub struct LabRun {
    /// The plan (`stripewise lab init FILE.toml` writes one to start from), or a published study: study:oja-nisula-2007, study:eva8100-2009, study:van-dyke-2009, study:shea-2007, study:mssqltips-2127
    #[arg(value_name = "PLAN.toml|study:NAME")]
    pub plan: PathBuf,
    /// Of a study: repeat it on this target in place of its simulated array
    #[arg(long, value_name = "TARGET", value_parser = super::name_text())]
    pub target: Option<String>,
    /// Of study:van-dyke-2009: with what readers of the article asked for: stripe units of 128K and 256K, offsets of 128K and 1M, sequential reads
    #[arg(long)]
    pub readers: bool,
    /// Of several factors: lay the layouts side by side, in slots that they change from pass to pass, and take out what the slots differ by
    #[arg(long)]
    pub slots: bool,
    /// Of several factors: write a page or picture: .html, .svg, .png or .md
    #[arg(long, value_name = "FILE")]
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
    /// As `lab run --slots`
    #[arg(long)]
    pub slots: bool,
}

/// `lab resume`.
#[derive(Debug, Args)]
pub struct LabResume {
    /// Its id, as `stripewise lab plans` lists it; last, where it was done last
    pub id: String,
    /// Stop when every interval is narrower than this, instead of what the plan says
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub precision: Option<f64>,
    /// Go on for at most so long: time of this sitting, whatever earlier ones took
    #[arg(long, value_name = "TIME")]
    pub time: Option<Nanoseconds>,
    /// Blocks at most in all, those that are finished included, instead of what the plan says
    #[arg(long, value_name = "N")]
    pub blocks: Option<u32>,
    #[command(flatten)]
    pub safety: Safety,
}

impl LabResume {
    /// What is asked for instead of what the plan says.
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
    /// Experiments to delete with their runs; none: test files that were kept, and layouts that were left on devices
    pub ids: Vec<String>,
    /// Do it
    #[arg(long)]
    pub yes: bool,
    /// Take down what a killed experiment left on these devices; what it made there, and nothing else, goes
    #[arg(long, value_name = "NAMES")]
    pub destroy: Option<String>,
    /// Although it cannot be seen whether another program has such a device open
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
