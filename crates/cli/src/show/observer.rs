//! What a use case says while it works: on a terminal, or as JSON lines.

use super::document::{note, print_line};
use super::failures::lines;
use super::progress::Progress;
use super::style::printable;
use super::terminal::{insist, say, say_part};
use crate::switches::hints::here;
use std::cell::RefCell;
use stripewise_campaign::{Event, Observer};
use stripewise_report::wrapped;
use stripewise_units::Hint;

/// Text and a progress bar on stderr.
pub struct Terminal {
    /// No plan, no progress.
    quiet: bool,
    bar: RefCell<Option<Progress>>,
}

impl Terminal {
    pub fn new(quiet: bool) -> Terminal {
        Terminal {
            quiet,
            bar: RefCell::new(None),
        }
    }

    fn bar(&self, event: &Event<'_>) {
        let mut bar = self.bar.borrow_mut();
        match event {
            Event::Begin { title, total } => {
                *bar = Some(Progress::start(self.quiet, *total, title));
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

    /// Lines stay above the bar.
    fn above(&self, write: impl FnOnce()) {
        match &*self.bar.borrow() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Observer for Terminal {
    fn hear(&self, event: &Event<'_>) {
        match event {
            Event::Plan { text } | Event::Status { text } if !self.quiet => {
                self.above(|| plan(text));
            }
            Event::Remark { text } if !self.quiet => self.above(|| note(text)),
            Event::Note { text, hint } => self.above(|| {
                note(text);
                if let Some(hint) = hint {
                    say!("hint: {}", here().hint(hint));
                }
            }),
            Event::Failure { text, hint } => {
                let hint = hint.map(|hint| here().hint(hint));
                self.above(|| insist(&lines(text, hint.as_deref())));
            }
            Event::Warning { code, text, hint } => self.above(|| warn(*code, text, *hint)),
            other => self.bar(other),
        }
    }
}

/// Lines as they are; a sentence as wide as people read.
fn plan(text: &str) {
    match text.contains('\n') {
        true => say!("{text}"),
        false => say_part!("{}", wrapped(text, "  ")),
    }
}

fn warn(code: Option<&str>, text: &str, hint: Option<&Hint>) {
    let hint = hint.map(|hint| here().hint(hint));
    if code.is_none() {
        say!("warning: {text}");
        if let Some(hint) = hint {
            say!("hint: {hint}");
        }
        return;
    }
    let hint = hint.map(|hint| format!("hint: {hint}"));
    for text in [Some(format!("warning: {text}")), hint].iter().flatten() {
        say_part!("{}", printable(&wrapped(text, "  ")));
    }
}

/// Each event as a line of JSON on stdout.
pub struct Lines;

impl Observer for Lines {
    fn hear(&self, event: &Event<'_>) {
        print_line(event);
    }
}
