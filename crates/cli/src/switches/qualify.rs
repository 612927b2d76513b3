//! The switches of `qualify`.

use clap::{ArgGroup, Args};
use std::path::PathBuf;
use stripewise_io_engine::EngineName;

/// Good enough for etcd, SQL Server, PostgreSQL ...?
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("length").args(["sign", "quick"]))]
#[command(after_help = "\
The product's own load runs: up to 30 minutes, of which \"missed\" is possible from minute 3 and \
\"met\" not before minute 20. --sign takes 90 minutes and is for a verdict that somebody signs; \
--quick takes 5 and can only show that something is missed. Ctrl-C keeps what was measured, and \
--resume goes on with it. Databases have a table of their commit methods, which takes up to a minute more.\n\
A directory is the usual target: the load's files are made in it and removed. Of a device only \
reads are measured, unless --destroy names it.\n\
Exit code 0 only where every requirement is met, or the product has none; 1 where one is missed, \
undecided or void.")]
pub struct Qualify {
    /// A directory, a file, a block device, or sim:NAME
    #[arg(value_name = "TARGET", value_parser = super::name_text(), required_unless_present_any = ["list", "resume"])]
    pub target: Option<String>,
    /// A product (--list prints them), or FILE.toml with requirements of your own
    #[arg(long = "for", value_name = "PRODUCT", required_unless_present_any = ["list", "resume", "commit"])]
    pub product: Option<String>,
    /// Print the products with what they require
    #[arg(long, conflicts_with_all = ["target", "product", "resume"])]
    pub list: bool,
    /// Compare ways of making a commit durable instead: methods, states of the file, 1 to 64 committers; 9 minutes
    #[arg(long, conflicts_with_all = ["product", "list", "resume", "sign", "quick", "processors", "fail_fast"])]
    pub commit: bool,
    /// Go on with a qualification that was interrupted: its id, or last
    #[arg(long, value_name = "ID", conflicts_with_all = ["target", "product", "length", "processors", "seed", "fail_fast", "engine", "label"])]
    pub resume: Option<String>,
    /// 90 minutes, of which a minute at a random place of every 3 is measured: a verdict to sign
    #[arg(long, conflicts_with = "busy_ok")]
    pub sign: bool,
    /// 5 minutes: missed, or undecided
    #[arg(long)]
    pub quick: bool,
    /// End with the first requirement that is missed
    #[arg(long)]
    pub fail_fast: bool,
    /// Processors of the server, for requirements that are per processor [default: those of this host]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub processors: Option<u32>,
    /// I/O engine: auto, uring, nvme, iocp, threads or null
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub engine: EngineName,
    /// Seed of the loads and of random places in time
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Label to store with the runs
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Write a page (.html, .md), the picture (.svg, .png) or the document (.json) to a new file; may be given several times
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
    #[command(flatten)]
    pub safety: super::run::TargetSafety,
}
