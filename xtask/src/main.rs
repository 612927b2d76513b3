//! The project's own tasks: `cargo xtask test | steady-tests | tidy | ci | schemas | accuracy |
//! fuzz | truth | perf | agree | campaigns | book | dist | nightly`.
//!
//! `ci` runs exactly the steps of continuous integration; `tidy` checks the architecture; `perf`
//! and `agree` compare with fio; `dist` packs the downloads; `nightly` runs everything that takes
//! too long for every change.
#![forbid(unsafe_code)]

mod aarch64;
mod accuracy;
mod book;
// Links and system calls: needs Unix, as do the campaigns' tools.
#[cfg(unix)]
mod campaigns;
mod ci;
mod dist;
mod fuzz;
mod nightly;
mod perf;
mod schema;
mod tidy;
mod truth;
mod wine;

// Fuzz targets use libFuzzer's macro name; tests turn each into a plain function.
#[cfg(all(test, target_os = "linux"))]
extern crate self as libfuzzer_sys;

use anyhow::{Result, bail};
use std::process::ExitCode;
use suite::arguments::Arguments;
use suite::{root, shell};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--unsteady | --long] [WORD...]
                          all tests, or those whose names hold one of the words; at the end
                          what failed, and what was skipped for lack of which tool;
                          --unsteady: those that ever failed by chance, under load;
                          --long: those that are left out as they take long
  steady-tests [--quiet 5] [--loaded 5] [--processes 10] [--unsteady 0]
       [--minutes N] [--ledger FILE]
                          this many passes over the tests in random order: without load, under
                          load (busy processors, a busy disk, little memory), those that
                          start processes, those that were ever unsteady; goes on where
                          it was stopped, and passes of one commit add up
  tidy                    check arrows between crates, banned calls, unsafe code,
                          lengths of files, words, links
  ci [WORD...]            what continuous integration runs, or its steps of these words
  accuracy                simulated arrays beside the published tables; fails where
                          a figure is not what docs/ARRAY_MODEL.md claims
  fuzz [--seconds 5 | --runs N] [--seed 1] [--jobs N] [TARGET...]
       [--sanitizer address]
                          every parser of outside bytes under libFuzzer, by the
                          stable compiler; the sanitizer needs a nightly one; see
                          fuzz/README.md
  perf [--gate | --rates | --table | --scale]
                          instructions per operation, IOPS and processor time beside
                          fio's; --gate: only the limit on our own instructions;
                          --rates: no instructions; --table: processor time of our own;
                          --scale: imports, lists, reports and exports against their
                          size; fails where one grows faster than it
       [--device DEV] [--t-io-uring PATH] [--pairs 20] [--seconds 2]
       [--threads 1] [--outstanding 128] [--block-bytes 8192]
       [--binary PATH]    instead of building one
  agree [--device DEV] [--pairs 30] [--seconds 1] [--binary PATH]
                          agreement with fio on a target that the disk bounds
  truth [--share 0.1] [--only abcdefg] [--seeds 1,2]
                          experiments whose answer is known: false alarms, coverage,
                          power, on simulated arrays; fails where a bound is missed
        --real [--tries 20] [--seconds 120] [--binary PATH]
                          A/A on a loop device, by the program itself
        --throttled [--tries 5] [--binary PATH]
                          benches of a loop device held to a known rate
        --sustained [--tries 100] [--seed 1] [--binary PATH]
                          bench, align and check on simulated arrays with caches, fast
                          parts and buckets, against long runs
  dist [--only linux|linux-aarch64|windows] [--out DIRECTORY] [--binary PATH]
                          what users download: static binaries for Linux on two
                          processors, each as a tar.gz, a .deb and a .rpm, a zip for
                          Windows, manifests for package managers, and the SHA-256 of all
  book [--out DIRECTORY] [--binary PATH]
                          the documentation as one folder of HTML (target/book)
  schemas                 writes docs/schema from the types that --json prints
  wine                    the Windows program and suites under Wine (tests/wine)
  campaigns [--seconds 600] [--seed 1] [--only kill|syscalls|swap|hosts] [--binary PATH]
                          commands killed at random moments, system calls of the
                          store that fail, paths that change while they are opened
  nightly                 long property tests, fuzzing with the sanitizer, truth,
                          agree, diskstats, campaigns, dist
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = Arguments::new(std::env::args().skip(1));
    match arguments.command().as_deref() {
        Some("schemas") => {
            arguments.finish()?;
            write_schemas(&root::path())
        }
        Some("wine") => {
            arguments.finish()?;
            wine::run(&root::path())
        }
        Some("tidy") => {
            arguments.finish()?;
            tidy::run(&root::path())
        }
        Some("ci") => ci::run(&root::path(), &arguments.words()?),
        Some("accuracy") => {
            arguments.finish()?;
            accuracy::run()
        }
        Some("fuzz") => fuzz::run(&root::path(), arguments),
        Some("truth") => truth::run(arguments),
        Some("perf") => perf::run(arguments),
        Some("agree") => perf::agree::run(arguments),
        Some("book") => book::run(arguments),
        Some("dist") => dist::run(arguments),
        #[cfg(unix)]
        Some("campaigns") => campaigns::run(&root::path(), arguments),
        Some("nightly") => {
            arguments.finish()?;
            nightly::run(&root::path())
        }
        Some("help" | "--help" | "-h") => {
            print!("{USAGE}");
            Ok(())
        }
        _ => bail!("no such command\n{USAGE}"),
    }
}

/// The types are in crates that xtask does not depend on: one of their tests writes the files.
fn write_schemas(root: &std::path::Path) -> Result<()> {
    let package = ["test", "--quiet", "--package", "stripewise-cli"];
    let mut test = shell::cargo(root, &package);
    test.args(["--test", "it", "schemas::"]);
    test.env("STRIPEWISE_WRITE_SCHEMAS", "1");
    shell::run(&mut test)
}
