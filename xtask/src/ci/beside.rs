//! Steps that run in parallel: in separate processes, whose output is printed when they are done,
//! as interleaved lines of two steps are unreadable.

use super::{BESIDE, Done};
use anyhow::{Context, Result, anyhow};
use std::fs::File;
use std::io::{Read, Seek};
use std::process::{Child, Command, Stdio};
use suite::shell;

pub struct Beside {
    child: Child,
    said: File,
}

impl Beside {
    pub fn start() -> Result<Beside> {
        let said = tempfile::tempfile().context("cannot keep what steps print")?;
        let names = BESIDE.map(|(name, _)| name);
        println!("== beside what follows: {}\n", names.join("; "));
        let child = Command::new(shell::own_program()?)
            .arg("ci")
            .args(names)
            .stdin(Stdio::null())
            .stdout(said.try_clone()?)
            .stderr(said.try_clone()?)
            .spawn()
            .context("cannot start the steps that run beside")?;
        Ok(Beside { child, said })
    }

    /// Waits for them, prints their output, and returns how each ended.
    pub fn end(mut self) -> Result<Vec<Done>> {
        self.child.wait()?;
        let mut said = Vec::new();
        self.said.rewind()?;
        self.said.read_to_end(&mut said)?;
        let said = String::from_utf8_lossy(&said);
        println!("== what ran beside\n{said}");
        Ok(BESIDE.map(|(name, _)| done(name, &said)).into())
    }
}

/// From the closing line of a step.
fn done(name: &'static str, said: &str) -> Done {
    let closing = said.lines().rev().find_map(|line| {
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
        let said = "== a real kernel\nFAILED    171 s  a real kernel\npassed     31 s  b\n";
        let failed = done("a real kernel", said);
        assert!(failed.found.is_err() && failed.seconds == 171.0);
        let passed = done("b", said);
        assert!(passed.found.is_ok() && passed.seconds == 31.0);
        assert!(done("c", said).found.is_err());
    }
}
