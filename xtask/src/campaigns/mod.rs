//! Reliability and safety campaigns, with the program as a user runs it: commands killed at random
//! times, failing system calls on the store, paths that change during use, and hosts that fail
//! while they measure together.
//!
//! Each campaign counts its attempts and their results, and fails on the first broken promise, with
//! the seed and the command to reproduce it. A campaign that never reached its case (no kill before
//! the end, no refusal, no permitted run) fails as well: it would prove nothing.

mod hosts;
mod kill;
mod sandbox;
mod swap;
mod syscalls;

pub use hosts::by_ssh;

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use suite::arguments::Arguments;
use suite::shell;

/// Total time of all campaigns by default.
const SECONDS: u64 = 600;

/// `cargo xtask campaigns [--seconds 600] [--seed 1] [--only kill|syscalls|swap|hosts] [--binary PATH]
/// [--hosts-binary PATH] [--tries N]`
pub fn run(root: &Path, mut arguments: Arguments) -> Result<()> {
    let seconds: u64 = arguments.value("--seconds")?.unwrap_or(SECONDS);
    let seed: u64 = arguments.value("--seed")?.unwrap_or(1);
    let only: Option<String> = arguments.value("--only")?;
    let binary: Option<PathBuf> = arguments.value("--binary")?;
    let hosts: Option<PathBuf> = arguments.value("--hosts-binary")?;
    let tries: Option<u64> = arguments.value("--tries")?;
    arguments.finish()?;
    let program = match binary {
        Some(binary) => there(&binary)?,
        None => suite::shell::release_binary(root)?,
    };
    let options = CampaignOptions {
        seconds,
        seed,
        only: only.as_deref(),
        hosts: hosts.as_deref().map(there).transpose()?,
        tries: tries.unwrap_or(u64::MAX),
    };
    all(root, &program, &options)
}

fn there(path: &Path) -> Result<PathBuf> {
    let real = path.canonicalize();
    real.with_context(|| format!("there is no {}", path.display()))
}

/// Options of the campaigns.
struct CampaignOptions<'a> {
    seconds: u64,
    seed: u64,
    only: Option<&'a str>,
    /// `stripewise-mpi`, if it is already built.
    hosts: Option<PathBuf>,
    /// Maximum number of attempts with failing hosts.
    tries: u64,
}

/// All campaigns with their usual duration, for `nightly`.
pub fn in_nightly(root: &Path) -> Result<()> {
    let program = suite::shell::release_binary(root)?;
    // Each night uses different times; the seed is printed.
    let seed = Instant::now().elapsed().as_nanos() as u64 ^ u64::from(std::process::id());
    let options = CampaignOptions {
        seconds: SECONDS,
        seed,
        only: None,
        hosts: None,
        tries: u64::MAX,
    };
    all(root, &program, &options)
}

fn all(root: &Path, program: &Path, options: &CampaignOptions<'_>) -> Result<()> {
    let (seconds, seed, only) = (options.seconds, options.seed, options.only);
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    let share = match only {
        Some(_) => Duration::from_secs(seconds),
        None => Duration::from_secs(seconds) / 4,
    };
    println!("campaigns: seed {seed}, {seconds} s");
    if wanted("kill") {
        kill::run(root, program, share, &mut SeededRng::new(seed)).context("campaign kill")?;
    }
    if wanted("syscalls") {
        if shell::has("strace") {
            syscalls::run(root, program, share, &mut SeededRng::new(seed))
                .context("campaign syscalls")?;
        } else {
            shell::skip("campaign syscalls", "strace")?;
        }
    }
    if wanted("swap") {
        swap::run(program, share).context("campaign swap")?;
    }
    if wanted("hosts") {
        let most = (share, options.tries);
        let hosts = options.hosts.as_deref();
        hosts::run(root, program, hosts, most, &mut SeededRng::new(seed))
            .context("campaign hosts")?;
    }
    Ok(())
}

/// Xorshift (Marsaglia, 2003): the same seed repeats a campaign.
pub struct SeededRng(u64);

impl SeededRng {
    fn new(seed: u64) -> SeededRng {
        // Zero is a fixed point of the generator.
        SeededRng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number in 0..`bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound.max(1)
    }
}
