//! Minimal parsing of command-line arguments.

use anyhow::{Context, Result, bail};
use std::str::FromStr;

/// The remaining arguments.
pub struct Arguments {
    rest: Vec<String>,
}

impl Arguments {
    /// From these words.
    pub fn new(arguments: impl Iterator<Item = String>) -> Arguments {
        Arguments {
            rest: arguments.collect(),
        }
    }

    /// Takes the first word.
    pub fn command(&mut self) -> Option<String> {
        (!self.rest.is_empty()).then(|| self.rest.remove(0))
    }

    /// Takes a switch without a value.
    pub fn flag(&mut self, name: &str) -> bool {
        let before = self.rest.len();
        self.rest.retain(|argument| argument != name);
        self.rest.len() < before
    }

    /// Takes a switch with a value.
    pub fn value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>> {
        let Some(at) = self.rest.iter().position(|argument| argument == name) else {
            return Ok(None);
        };
        if at + 1 == self.rest.len() {
            bail!("{name} needs a value");
        }
        let value = self.rest.remove(at + 1);
        self.rest.remove(at);
        let parsed = value.parse().ok();
        parsed
            .map(Some)
            .with_context(|| format!("{name} cannot be `{value}`"))
    }

    /// The remaining arguments: words, no switches.
    pub fn words(self) -> Result<Vec<String>> {
        match self.rest.iter().find(|word| word.starts_with('-')) {
            Some(extra) => bail!("unexpected argument `{extra}`"),
            None => Ok(self.rest),
        }
    }

    /// Fails if anything is left.
    pub fn finish(self) -> Result<()> {
        match self.rest.first() {
            Some(extra) => bail!("unexpected argument `{extra}`"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Arguments {
        Arguments::new(words.iter().map(ToString::to_string))
    }

    #[test]
    fn switches_are_taken_in_any_order_and_what_is_left_is_refused() {
        let mut left = arguments(&["perf", "--pairs", "3", "--gate"]);
        assert_eq!(left.command().as_deref(), Some("perf"));
        assert!(left.flag("--gate"));
        assert!(!left.flag("--gate"));
        assert_eq!(left.value::<u32>("--pairs").unwrap(), Some(3));
        assert_eq!(left.value::<u32>("--seconds").unwrap(), None);
        assert!(left.finish().is_ok());
        assert!(arguments(&["--what"]).finish().is_err());
        assert!(arguments(&["--pairs"]).value::<u32>("--pairs").is_err());
        assert!(
            arguments(&["--pairs", "x"])
                .value::<u32>("--pairs")
                .is_err()
        );
    }
}
