//! Progress with an ETA on stderr. On a terminal a line that is drawn again; in a
//! log file nothing but one line when a long part starts. Silent with `--quiet`.

use crate::show::terminal::{Output, say};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stripewise_units::format_duration;

/// One part of the work whose length is known in nanoseconds or bytes.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Progress over `total` units; what a unit is stays with the caller, who
    /// words the message.
    pub fn start(output: &Output, quiet: bool, total: u64, message: &str) -> Self {
        if quiet || !output.stderr_is_terminal() {
            if !quiet && !message.is_empty() {
                say!(output, "{message} ...");
            }
            return Progress { bar: None };
        }
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(8));
        // The template is a constant; should it ever be wrong, the default does.
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{bar:30}] {wide_msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(message.to_owned());
        Progress { bar: Some(bar) }
    }

    /// Where we are, and how long it may still take.
    pub fn update(&self, position: u64, message: &str, left_ns: Option<u64>) {
        if let Some(bar) = &self.bar {
            bar.set_position(position);
            let eta = left_ns
                .map(|left| format!("ETA {}, ", format_duration(left)))
                .unwrap_or_default();
            // Cut at the terminal's width, and what is cut is not the time that is left.
            bar.set_message(format!("{eta}{message}"));
        }
    }

    /// The number of units in all has become known better.
    pub fn set_total(&self, total: u64) {
        if let Some(bar) = &self.bar {
            bar.set_length(total);
        }
    }

    /// Writes lines that stay, above the bar.
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
