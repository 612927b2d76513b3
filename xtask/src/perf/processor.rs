//! CPU time of child processes that have exited.

use anyhow::{Context, Result};
use std::fs;

/// Length of a `/proc` tick, fixed wherever Linux exports ticks.
const TICK_NS: f64 = 1e9 / 100.0;

/// User and system time, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    user: u64,
    system: u64,
}

/// Of all children this process has waited for, and of their children.
pub fn of_children() -> Result<Ticks> {
    let text = fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    parse(&text).context("/proc/self/stat has no times of children")
}

/// `cutime` and `cstime` of proc(5); the name before may contain blanks and brackets.
fn parse(text: &str) -> Option<Ticks> {
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(13);
    Some(Ticks {
        user: fields.next()?.parse().ok()?,
        system: fields.next()?.parse().ok()?,
    })
}

impl Ticks {
    /// Nanoseconds of user and system time since then.
    pub fn since(self, before: Ticks) -> [f64; 2] {
        let ns = |now: u64, then: u64| now.saturating_sub(then) as f64 * TICK_NS;
        [ns(self.user, before.user), ns(self.system, before.system)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_from_behind_the_name() {
        let line = "1 (a) b) S 2 3 4 5 6 7 8 9 10 11 14 15 160 170 20 0 1 0";
        let ticks = Ticks {
            user: 160,
            system: 170,
        };
        assert_eq!(parse(line), Some(ticks));
        assert_eq!(parse("1 (a) S 2 3"), None);
        let before = Ticks {
            user: 60,
            system: 0,
        };
        assert_eq!(ticks.since(before), [1e9, 1.7e9]);
    }
}
