//! Colour, only where it is wanted, and never the only carrier of a meaning.

use crate::cli::{Color, Global};
use std::io::IsTerminal;

/// Whether stdout and stderr take colour.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// From the switch, the terminal and `NO_COLOR`.
    pub fn of(global: &Global) -> Self {
        let colour = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::io::stdout().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            }
        };
        Style { colour }
    }

    /// A heading.
    pub fn heading(self, text: &str) -> String {
        if self.colour {
            format!("\x1b[1m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
