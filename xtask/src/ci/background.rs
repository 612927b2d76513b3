//! Steps that run in parallel: in separate processes, whose output is printed when they are done,
//! as interleaved lines of two steps are unreadable.

use super::{BACKGROUND_STEPS, Done};
use anyhow::{Context, Result, anyhow};
use std::fs::File;
use std::io::{Read, Seek};
use std::process::{Child, Command, Stdio};
use suite::shell;

pub struct BackgroundJob {
    child: Child,
    captured: File,
}

impl BackgroundJob {
    pub fn start() -> Result<BackgroundJob> {
        let captured = tempfile::tempfile().context("cannot keep what steps print")?;
        let names = BACKGROUND_STEPS.map(|(name, _)| name);
        println!("== beside what follows: {}\n", names.join("; "));
        let child = Command::new(shell::own_program()?)
            .arg("ci")
            .args(names)
            .stdin(Stdio::null())
            .stdout(captured.try_clone()?)
            .stderr(captured.try_clone()?)
            .spawn()
            .context("cannot start the steps that run beside")?;
        Ok(BackgroundJob { child, captured })
    }

    /// Waits for them, prints their output, and returns how each ended.
    pub fn end(mut self) -> Result<Vec<Done>> {
        self.child.wait()?;
        let mut captured = Vec::new();
        self.captured.rewind()?;
        self.captured.read_to_end(&mut captured)?;
        let captured = String::from_utf8_lossy(&captured);
        println!("== what ran beside\n{captured}");
        Ok(BACKGROUND_STEPS
            .map(|(name, _)| done(name, &captured))
            .into())
    }
}

/// From the closing line of a step.
fn done(name: &'static str, captured: &str) -> Done {
    let closing = captured.lines().rev().find_map(|line| {
        let (result, rest) = line.strip_suffix(name)?.split_once(' ')?;
        let seconds: f64 = rest.trim().strip_suffix(" s")?.trim().parse().ok()?;
        Some((result.to_owned(), seconds))
    });
    let (found, seconds) = match closing {
        Some((result, seconds)) if result == "passed" => (Ok(None), seconds),
        Some((_, seconds)) => (Err(anyhow!("failed; its output is above")), seconds),
        None => (
            Err(anyhow!("did not come to its end; its output is above")),
            0.0,
        ),
    };
    Done {
        name,
        seconds,
        found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_step_ended_is_in_its_closing_line() {
        let captured = "== a real kernel\nFAILED    171 s  a real kernel\npassed     31 s  b\n";
        let failed = done("a real kernel", captured);
        assert!(failed.found.is_err() && failed.seconds == 171.0);
        let passed = done("b", captured);
        assert!(passed.found.is_ok() && passed.seconds == 31.0);
        assert!(done("c", captured).found.is_err());
    }
}
