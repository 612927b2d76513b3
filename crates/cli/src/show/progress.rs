//! Progress with an ETA on stderr. On a terminal, a line that is redrawn; in a
//! log file, only one line when a long part starts. Silent with `--quiet`.

use crate::show::terminal::{Output, say};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stripewise_units::format_duration;

/// One part of the work whose length is known in nanoseconds or bytes.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Progress over `total` units; the caller, who words the
    /// message, defines the unit.
    pub fn start(output: &Output, quiet: bool, total: u64, message: &str) -> Self {
        if quiet || !output.stderr_is_terminal() {
            if !quiet && !message.is_empty() {
                say!(output, "{message} ...");
            }
            return Progress { bar: None };
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
        // The template is a constant; if it is wrong, the default style is used.
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:30}] {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(message.to_owned());
        Progress { bar: Some(bar) }
    }

    /// The position, and the time that may remain.
    pub fn update(&self, position: u64, message: &str, left_ns: Option<u64>) {
        if let Some(bar) = &self.bar {
            bar.set_position(position);
            let eta = left_ns
                .map(|left| format!("ETA {}, ", format_duration(left)))
                .unwrap_or_default();
            // The ETA comes first, so that cutting at the terminal's width keeps it.
            bar.set_message(format!("{eta}{message}"));
        }
    }

    /// Corrects the total number of units.
    pub fn set_total(&self, total: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(total);
        }
    }

    /// Writes permanent lines above the bar.
    pub fn suspend(&self, write: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
