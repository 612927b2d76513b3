//! Colour, only if wanted, and never as the only carrier of a meaning.

use crate::switches::{Color, Global};
use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use stripewise_report::Emphasis;
use stripewise_units::{acts, shown_instead};

/// Bold, green, red, yellow, and the end of each.
const ESCAPES: [&str; 5] = ["\x1b[1m", "\x1b[32m", "\x1b[1;31m", "\x1b[33m", "\x1b[0m"];

/// Placeholders for these until the text is printed: being random, they cannot appear in a
/// file name or label by design.
static MARKS: LazyLock<[String; 5]> = LazyLock::new(|| {
    let key = RandomState::new();
    [0, 1, 2, 3, 4].map(|mark| format!("\x1b[{:016x}", key.hash_one(mark)))
});

/// Makes text safe for a terminal. Labels, file names and other tools'
/// results are untrusted: of control characters, only line endings, tabs and
/// our own marks stay, so that no text moves the cursor or hides a line, and
/// bidirectional controls, which reverse the order of letters, become visible.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_odd = |sign: char| acts(sign) && sign != '\n' && sign != '\t';
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let marks = MARKS.iter().map(String::as_str).zip(ESCAPES);
        let mut known = marks.chain([("\r\n", "\r\n")]);
        let mark = known.find(|(mark, _)| rest.starts_with(mark));
        if let Some((mark, shown)) = mark {
            clean.push_str(shown);
            rest = &rest[mark.len()..];
            continue;
        }
        match is_odd(sign) {
            true => clean.push_str(&shown_instead(sign)),
            false => clean.push(sign),
        }
        rest = &rest[sign.len_utf8()..];
    }
    Cow::Owned(clean)
}

/// Whether stdout and stderr take colour.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// Derives it from the switch, the terminal and the environment.
    ///
    /// `no_colour`: the environment disables colour (`NO_COLOR`, `TERM=dumb`).
    pub fn of(global: &Global, stdout_is_terminal: bool, no_colour: bool) -> Self {
        let colour = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => stdout_is_terminal && !no_colour,
        };
        Style { colour }
    }

    /// Whether the terminal supports escapes, so that lines can be redrawn.
    pub fn is_drawn(self) -> bool {
        self.colour
    }

    /// A heading, to be passed to [`printable`].
    pub fn heading(self, text: &str) -> String {
        self.paint(Emphasis::Strong, text)
    }

    /// A part of a text, to be passed to [`printable`].
    pub fn paint(self, emphasis: Emphasis, text: &str) -> String {
        let [bold, green, red, yellow, plain] = &*MARKS;
        let mark = match emphasis {
            Emphasis::Strong => bold,
            Emphasis::Good => green,
            Emphasis::Bad => red,
            Emphasis::Care => yellow,
        };
        match self.colour {
            true => format!("{mark}{text}{plain}"),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_of_anybodys_words_do_not_reach_the_terminal() {
        let cases = [
            ("plain\n\ttext", "plain\n\ttext"),
            (
                "a\u{1b}[2Jb\u{1b}]0;x\u{7}",
                "a\u{fffd}[2Jb\u{fffd}]0;x\u{fffd}",
            ),
            ("one\r\ntwo\rthree", "one\r\ntwo\u{fffd}three"),
            ("\u{9b}31m\u{7f}", "\u{fffd}31m\u{fffd}"),
            ("\u{1b}[1mloud\u{1b}[0m", "\u{fffd}[1mloud\u{fffd}[0m"),
            ("ünï 数据", "ünï 数据"),
            ("gpj.\u{202e}exe\u{200f}", r"gpj.\u{202e}exe\u{200f}"),
        ];
        for (text, shown) in cases {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn a_heading_is_bold_and_ends_so_whatever_is_in_it() {
        let heading = Style { colour: true }.heading("Volumes of \u{1b}[0m");
        let shown = "\u{1b}[1mVolumes of \u{fffd}[0m\u{1b}[0m";
        assert_eq!(printable(&heading), shown);
        assert_eq!(Style { colour: false }.heading("Volumes"), "Volumes");
    }
}
