//! Shows the events of a use case: on a terminal, or as JSON lines.

use super::failures::lines;
use super::progress::Progress;
use super::terminal::{Output, say};
use std::cell::RefCell;
use std::rc::Rc;
use stripewise_campaign::{Event, Observer};
use stripewise_units::Hint;

/// Text and a progress bar on stderr.
pub struct Terminal {
    output: Rc<Output>,
    /// No plan, no progress.
    quiet: bool,
    bar: RefCell<Option<Progress>>,
}

impl Terminal {
    pub fn new(output: Rc<Output>, quiet: bool) -> Terminal {
        Terminal {
            output,
            quiet,
            bar: RefCell::new(None),
        }
    }

    fn bar(&self, event: &Event<'_>) {
        let mut bar = self.bar.borrow_mut();
        match event {
            Event::Begin { title, total } => {
                *bar = Some(Progress::start(&self.output, self.quiet, *total, title));
            }
            Event::Progress {
                title,
                position,
                left_ns,
            } => {
                if let Some(bar) = &*bar {
                    bar.update(*position, title, *left_ns);
                }
            }
            Event::Total { total } => {
                if let Some(bar) = &*bar {
                    bar.set_total(*total);
                }
            }
            Event::End => *bar = None,
            _ => {}
        }
    }

    /// Prints lines above the bar.
    fn above(&self, write: impl FnOnce()) {
        match &*self.bar.borrow() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Observer for Terminal {
    fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::Plan { text } | Event::Status { text } if !self.quiet => {
                self.above(|| self.output.explain(&format!("{text}\n")));
            }
            Event::Remark { text } if !self.quiet => self.above(|| self.output.note(text)),
            Event::Note { text, hint } => self.above(|| {
                self.output.note(text);
                if let Some(hint) = hint {
                    say!(self.output, "hint: {}", self.output.words().hint(hint));
                }
            }),
            Event::Failure { text, hint } => {
                let hint = hint.map(|hint| self.output.words().hint(hint));
                self.above(|| self.output.insist(&lines(text, hint.as_deref())));
            }
            Event::Warning { code, text, hint } => {
                self.above(|| warn(&self.output, *code, text, *hint));
            }
            other => self.bar(other),
        }
    }
}

fn warn(output: &Output, code: Option<&str>, text: &str, hint: Option<&Hint>) {
    let hint = hint.map(|hint| format!("hint: {}", output.words().hint(hint)));
    for text in [Some(format!("warning: {text}")), hint].iter().flatten() {
        match code {
            Some(_) => output.explain(&format!("{text}\n")),
            None => say!(output, "{text}"),
        }
    }
}

/// Each event as a line of JSON on stdout.
pub struct Lines(pub Rc<Output>);

impl Observer for Lines {
    fn on_event(&self, event: &Event<'_>) {
        self.0.print_line(event);
    }
}
