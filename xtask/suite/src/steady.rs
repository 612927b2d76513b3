//! `cargo xtask steady-tests`: repeats the suite in random order, quiet and under load, until it is
//! proven steady. A file keeps the results, so that passes of one commit accumulate over several
//! calls.

use crate::arguments::Arguments;
use crate::load::Load;
use crate::outcome::Outcome;
use crate::passes::{Done, Group, Kind, Ledger, order};
use crate::{Programs, ProgressMode, THREADS, names, print_skips, shell};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Concurrent test binaries.
const AT_ONCE: usize = 2;

/// Test binaries whose tests start processes, or claim resources that another process may hold.
const OF_PROCESSES: [&str; 11] = [
    "app it",
    "device-guard",
    "disk-inspect it",
    "disk-provision it",
    "io-engine it",
    "machine it",
    "mpi it",
    "runner it",
    "store it",
    "targets",
    "targets it",
];

/// Tests that ever failed by chance, with their test binary: a line each.
const UNSTEADY: &str = include_str!("unsteady.txt");

/// Required passes of each kind. Whole passes include the tests that start processes: with five of
/// each kind, ten more of those make twenty.
#[derive(Clone, Debug)]
pub struct SteadyOptions {
    passes: Vec<(Kind, u32)>,
    /// No group begins after this.
    time: Option<Duration>,
    ledger: PathBuf,
}

impl SteadyOptions {
    /// From the arguments of `steady-tests`.
    ///
    /// # Errors
    /// If an argument is unknown.
    pub fn parse(mut arguments: Arguments) -> Result<SteadyOptions> {
        let mut passes = Vec::new();
        for (kind, usual) in Kind::ALL.into_iter().zip([5, 5, 10, 0]) {
            let asked = arguments.value(&format!("--{}", kind.name()))?;
            passes.push((kind, asked.unwrap_or(usual)));
        }
        let minutes: Option<u64> = arguments.value("--minutes")?;
        let ledger: Option<PathBuf> = arguments.value("--ledger")?;
        arguments.finish()?;
        Ok(SteadyOptions {
            passes,
            time: minutes.map(|minutes| Duration::from_secs(60 * minutes)),
            ledger: ledger.unwrap_or_else(|| folder().join("passes.jsonl")),
        })
    }
}

/// Folder for the results of steady-tests.
fn folder() -> PathBuf {
    crate::root::target_directory().join("steady-tests")
}

/// Runs the tests that were ever unsteady, once, under load.
///
/// # Errors
/// If one fails, or no longer exists.
pub fn unsteady_tests(root: &Path) -> Result<()> {
    let suite = Suite::build(root)?;
    let mut ledger = Ledger::in_memory();
    suite.pass(Kind::Unsteady, 1, &mut ledger, None)?;
    let mut outcome = Outcome::default();
    for done in ledger.of(Kind::Unsteady) {
        outcome.counts.passed += done.passed;
        outcome.counts.failed += done.failures.len() as u64;
        outcome.failures.extend(done.failures.iter().cloned());
        outcome.add_skips(done.skips.clone());
    }
    outcome.close(Kind::Unsteady.words())
}

/// Runs passes until all requested ones are complete, or the time is over.
///
/// # Errors
/// If a test fails, or something cannot be run.
pub fn steady_tests(root: &Path, options: &SteadyOptions) -> Result<()> {
    let until = options.time.map(|time| Instant::now() + time);
    let mut ledger = Ledger::read(&options.ledger, &commit(root)?)?;
    let suite = Suite::build(root)?;
    for &(kind, passes) in &options.passes {
        for pass in 1..=passes {
            suite.pass(kind, pass, &mut ledger, until)?;
        }
    }
    close(&ledger, options)
}

/// The results for the commit: failures, then a line for each kind.
fn close(ledger: &Ledger, options: &SteadyOptions) -> Result<()> {
    let mut failed = 0;
    for kind in Kind::ALL {
        for done in ledger.of(kind) {
            for (name, text) in &done.failures {
                println!(
                    "FAILED in pass {} of {}: {name}\n{text}",
                    done.pass,
                    kind.words()
                );
            }
        }
    }
    let mut skips = Outcome::default();
    for done in Kind::ALL.into_iter().flat_map(|kind| ledger.of(kind)) {
        skips.add_skips(done.skips.clone());
    }
    print_skips(&skips.skips);
    println!("\nCommit {}", ledger.commit);
    let mut is_whole = true;
    for &(kind, passes) in &options.passes {
        let of = || ledger.of(kind);
        let failures: usize = of().map(|done| done.failures.len()).sum();
        let ran: u64 = of().map(|done| done.passed).sum::<u64>() + failures as u64;
        let whole = ledger.whole_passes(kind);
        failed += failures;
        is_whole &= whole >= passes;
        if ran > 0 || passes > 0 {
            println!(
                "{whole} of {passes} passes, {ran} tests run, {failures} failures: {}",
                kind.words()
            );
        }
    }
    if failed > 0 {
        bail!("{failed} failures");
    }
    if !is_whole {
        println!("Not all passes are done: the same command goes on.");
    }
    Ok(())
}

/// The tested commit. Uncommitted changes have no id for accumulating results.
fn commit(root: &Path) -> Result<String> {
    let git = |arguments: &[&str]| -> Result<String> {
        let output = shell::read(Command::new("git").current_dir(root).args(arguments))?;
        Ok(output.stdout.trim().to_owned())
    };
    if !git(&["status", "--porcelain"])?.is_empty() {
        bail!("there are changes that are not committed: passes add up by commit");
    }
    git(&["rev-parse", "HEAD"])
}

/// All tests that there are.
struct Suite {
    programs: Programs,
    tests: Vec<(usize, String)>,
}

impl Suite {
    fn build(root: &Path) -> Result<Suite> {
        let programs = Programs::build(root)?;
        let mut tests = Vec::new();
        for (at, program) in programs.all.iter().enumerate() {
            tests.extend(names(program)?.into_iter().map(|name| (at, name)));
        }
        Ok(Suite { programs, tests })
    }

    /// The tests in a pass of this kind.
    fn of(&self, kind: Kind) -> Result<Vec<(usize, String)>> {
        let of_program = |wanted: &dyn Fn(&str) -> bool| {
            let tests = self.tests.iter();
            let tests = tests.filter(|(at, _)| wanted(&self.programs.all[*at].name));
            tests.cloned().collect()
        };
        match kind {
            Kind::Quiet | Kind::Loaded => Ok(self.tests.clone()),
            Kind::Processes => Ok(of_program(&|name| OF_PROCESSES.contains(&name))),
            Kind::Unsteady => unsteady(UNSTEADY)
                .map(|(program, test)| {
                    let found = self.tests.iter().find(|(at, name)| {
                        self.programs.all[*at].name == program && name == test
                    });
                    found.cloned().with_context(|| {
                        format!("xtask/suite/src/unsteady.txt names a test that is gone: {program} {test}")
                    })
                })
                .collect(),
        }
    }

    /// The rest of a pass.
    fn pass(
        &self,
        kind: Kind,
        pass: u32,
        ledger: &mut Ledger,
        until: Option<Instant>,
    ) -> Result<()> {
        let seed = format!("{} {kind:?} {pass}", ledger.commit);
        let groups = order(&seed, &self.of(kind)?);
        let done = ledger.groups(kind, pass);
        let left: Vec<usize> = (0..groups.len()).filter(|at| !done.contains(at)).collect();
        let is_over = || until.is_some_and(|until| Instant::now() >= until);
        if left.is_empty() || is_over() {
            return Ok(());
        }
        println!("== pass {pass}, {}: {} groups", kind.words(), left.len());
        let load = kind.is_loaded().then(|| Load::start(&folder()));
        let shared = Mutex::new((ledger, load.transpose()?));
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            while let Some(&at) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                if is_over() {
                    return Ok(());
                }
                let began = Instant::now();
                let group = &groups[at];
                let mut outcome = self.run_group(group)?;
                let ran = outcome.counts.all();
                if outcome.failures.is_empty() && ran != group.tests.len() as u64 {
                    outcome.failed(&self.programs.all[group.program].name, "left out tests");
                }
                let done = Done {
                    kind,
                    pass,
                    group: at,
                    groups: groups.len(),
                    passed: outcome.counts.passed,
                    failures: outcome.failures,
                    skips: outcome.skips,
                };
                self.show(group, &done, began.elapsed());
                let mut shared = shared.lock().expect("no thread has panicked");
                if let Some(load) = &mut shared.1 {
                    load.keep_up()?;
                }
                shared.0.keep(done)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
            let mut ended = workers.into_iter().map(|worker| worker.join());
            ended.try_for_each(|ended| ended.expect("no worker panics"))
        })
    }

    fn run_group(&self, group: &Group) -> Result<Outcome> {
        let mut arguments = vec!["--exact"];
        arguments.extend(group.tests.iter().map(String::as_str));
        let program = &self.programs.all[group.program];
        (self.programs).run(
            program,
            &arguments,
            THREADS / AT_ONCE,
            ProgressMode::Nothing,
        )
    }

    fn show(&self, group: &Group, done: &Done, took: Duration) {
        println!(
            "{} of {}: {} tests of {} passed, {} failed, {:.0} s",
            done.group + 1,
            done.groups,
            done.passed,
            self.programs.all[group.program].name,
            done.failures.len(),
            took.as_secs_f64()
        );
        for (name, text) in &done.failures {
            println!("FAILED: {name}\n{text}");
        }
    }
}

/// The program and name of each test in a list.
fn unsteady(list: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = list.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let named: BTreeSet<(&str, &str)> = lines.filter_map(|line| line.rsplit_once(' ')).collect();
    named.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsteady_tests_are_a_program_and_a_name_a_line() {
        let list = "# why\n\napp it faults::a\nunits b::c\napp it faults::a\n";
        let found: Vec<_> = unsteady(list).collect();
        assert_eq!(found, [("app it", "faults::a"), ("units", "b::c")]);
        assert!(unsteady(UNSTEADY).count() > 0);
    }
}
