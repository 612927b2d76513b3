//! The share of time during which a task waited for a processor.

use stripewise_machine::System;

/// Maximum number of samples kept; beyond it, every second one is dropped.
const LOOKS_MAX: usize = 8_192;
/// Initial sampling interval.
const BETWEEN_NS: u64 = 50_000_000;

/// The kernel's counter over time.
#[derive(Debug)]
pub struct Pressure {
    system: System,
    between_ns: u64,
    /// Time, and the counter in microseconds.
    looks: Vec<(u64, u64)>,
}

impl Default for Pressure {
    fn default() -> Self {
        Pressure {
            system: System::live(),
            between_ns: BETWEEN_NS,
            looks: Vec::new(),
        }
    }
}

impl Pressure {
    /// Takes a sample if it is due.
    pub fn look(&mut self, now_ns: u64) {
        let is_due = |last: &(u64, u64)| now_ns >= last.0 + self.between_ns;
        if !self.looks.last().is_none_or(is_due) {
            return;
        }
        if let Some(total_us) = self.system.processor_pressure_us() {
            self.add(now_ns, total_us);
        }
    }

    fn add(&mut self, now_ns: u64, total_us: u64) {
        self.looks.push((now_ns, total_us));
        if self.looks.len() > LOOKS_MAX {
            let mut number = 0;
            self.looks.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.between_ns *= 2;
        }
    }

    /// The share of the time between two moments, 0 to 1; `None` without samples.
    pub fn between(&self, from_ns: u64, to_ns: u64) -> Option<f64> {
        let first = self.looks.partition_point(|look| look.0 <= from_ns);
        let last = self.looks.partition_point(|look| look.0 < to_ns);
        let before = self.looks.get(first.saturating_sub(1))?;
        let after = self.looks.get(last).or(self.looks.last())?;
        let passed_ns = after.0.checked_sub(before.0).filter(|ns| *ns > 0)?;
        let waited_us = after.1.saturating_sub(before.1);
        Some((waited_us as f64 * 1e3 / passed_ns as f64).min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_of_the_looks_around_a_period() {
        let mut pressure = Pressure::default();
        assert_eq!(pressure.between(0, 10), None);
        for k in 0..20_000u64 {
            // Half of the time from sample 10,000 on.
            pressure.add(k * 1_000_000, k.saturating_sub(10_000) * 500);
        }
        assert!(pressure.looks.len() <= LOOKS_MAX);
        assert_eq!(pressure.between(1_000_000_000, 2_000_000_000), Some(0.0));
        let later = pressure.between(15_000_000_000, 16_000_000_000).unwrap();
        assert!((later - 0.5).abs() < 0.01, "{later}");
    }
}
