//! Counts the user instructions of a whole process.
//!
//! Uses hardware counters if available, otherwise callgrind, which counts executed instructions one
//! by one: exact, about fifty times slower, and without cycles. Both count everything from start to
//! end; the programs run long enough that start-up is negligible.

use super::programs::Program;
use anyhow::{Context, Result};
use std::process::Command;
use suite::shell;

/// Available instruction counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counters {
    /// `perf stat`.
    Hardware,
    /// `valgrind --tool=callgrind`.
    Callgrind,
}

/// Costs of a process.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub instructions: u64,
    /// `None` if not counted.
    pub cycles: Option<u64>,
    pub operations: u64,
}

impl Cost {
    pub fn instructions_per_operation(&self) -> f64 {
        self.instructions as f64 / self.operations as f64
    }
}

impl Counters {
    /// The best counter on this machine.
    pub fn best() -> Option<Counters> {
        let probe = Command::new("perf")
            .args(["stat", "-x,", "-e", "instructions:u,cycles:u", "true"])
            .output();
        let counted = probe.is_ok_and(|output| {
            let text = String::from_utf8_lossy(&output.stderr);
            output.status.success() && parse_perf(&text).is_some()
        });
        if counted {
            return Some(Counters::Hardware);
        }
        shell::has("valgrind").then_some(Counters::Callgrind)
    }

    pub fn name(self) -> &'static str {
        match self {
            Counters::Hardware => "hardware counters, whole process",
            Counters::Callgrind => "callgrind, whole process",
        }
    }

    /// Runs the program once and counts.
    pub fn measure(self, program: &Program) -> Result<Cost> {
        let (stdout, instructions, cycles) = self.count(|before| program.command(before))?;
        Ok(Cost {
            instructions,
            cycles,
            operations: program.parse(&stdout)?.operations_in_all,
        })
    }

    /// Runs a command once, prefixed by the counter's command: its output, instructions and cycles.
    pub fn count(
        self,
        command: impl Fn(&[String]) -> Command,
    ) -> Result<(String, u64, Option<u64>)> {
        let directory = tempfile::tempdir()?;
        let file = super::text(&directory.path().join("counts"));
        // By default callgrind leaves its profile in the current folder.
        let profile = format!("--callgrind-out-file={file}");
        let before = match self {
            Counters::Hardware => vec![
                "perf",
                "stat",
                "-x,",
                "-e",
                "instructions:u,cycles:u",
                "-o",
                &file,
                "--",
            ],
            Counters::Callgrind => vec!["valgrind", "--tool=callgrind", &profile],
        };
        let before: Vec<String> = before.into_iter().map(str::to_owned).collect();
        let output = shell::read_measured(&mut command(&before))?;
        let (instructions, cycles) = match self {
            Counters::Hardware => parse_perf(&std::fs::read_to_string(&file)?)
                .map(|(instructions, cycles)| (instructions, Some(cycles))),
            Counters::Callgrind => parse_callgrind(&output.stderr).map(|count| (count, None)),
        }
        .context("the counter's output has no counts")?;
        Ok((output.stdout, instructions, cycles))
    }
}

/// Instructions and cycles of `perf stat -x,`.
fn parse_perf(text: &str) -> Option<(u64, u64)> {
    let count = |event: &str| {
        let line = text.lines().find(|line| line.contains(event))?;
        line.split(',').next()?.parse().ok()
    };
    Some((count("instructions:u")?, count("cycles:u")?))
}

/// `==123== Collected : 4567`.
fn parse_callgrind(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_what_was_not_counted_is_not_zero() {
        let counted = "1234,,instructions:u,900,100.00,,\n5678,,cycles:u,900,100.00,,\n";
        assert_eq!(parse_perf(counted), Some((1234, 5678)));
        let absent =
            "<not supported>,,instructions:u,0,100.00,,\n<not supported>,,cycles:u,0,100.00,,\n";
        assert_eq!(parse_perf(absent), None);
        let valgrind = "==7== Events    : Ir\n==7== Collected : 224711\n==7==\n";
        assert_eq!(parse_callgrind(valgrind), Some(224_711));
        assert_eq!(parse_callgrind("==7== killed"), None);
    }
}
