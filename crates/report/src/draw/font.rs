//! The embedded font: Roboto Regular, Apache licence, in `assets/roboto`.
//! Widths of text come from it, so that labels are placed where they fit.

use skrifa::MetadataProvider;
use skrifa::instance::{LocationRef, Size};
use std::sync::LazyLock;

/// The font file as it was published.
pub(crate) const ROBOTO: &[u8] = include_bytes!("../../assets/roboto/Roboto-Regular.ttf");
/// Where Roboto is not installed, a browser takes the next one.
pub(crate) const FAMILY: &str = "Roboto, Helvetica Neue, Arial, sans-serif";

const ASCII: usize = 128;

/// Widths of ASCII characters in em; others are taken for a digit's width.
static WIDTHS: LazyLock<[f64; ASCII]> = LazyLock::new(|| {
    let font = skrifa::FontRef::new(ROBOTO).expect("the embedded font is whole");
    let (map, metrics) = (
        font.charmap(),
        font.glyph_metrics(Size::new(1.0), LocationRef::default()),
    );
    std::array::from_fn(|code| {
        let glyph = map.map(char::from(code as u8));
        glyph
            .and_then(|glyph| metrics.advance_width(glyph))
            .map_or(0.0, f64::from)
    })
});

/// The width of a line of text in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let em: f64 = text
        .chars()
        .map(|character| {
            WIDTHS[if character.is_ascii() {
                character as usize
            } else {
                usize::from(b'0')
            }]
        })
        .sum();
    em * size
}

/// Text in lines of at most `limit` pixels, broken between words.
pub(crate) fn wrapped(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + width(" ", size) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Text cut to at most `limit` pixels, with a sign that it was.
pub(crate) fn cut(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_owned();
    }
    let mut short = text.to_owned();
    while !short.is_empty() && width(&short, size) + size > limit {
        short.pop();
    }
    short + "\u{2026}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // Digits are equally wide, so that numbers line up.
        assert!(
            "0123456789"
                .chars()
                .all(|digit| (width(&digit.to_string(), 1000.0) - width("0", 1000.0)).abs() < 1.0)
        );
        assert!((500.0..600.0).contains(&width("0", 1000.0)));
        assert!(width("WWW", 12.0) > 2.0 * width("iii", 12.0));
        let lines = wrapped(&"word ".repeat(40), 13.0, 300.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, 13.0) <= 300.0));
        assert!(width(&cut("a very long name indeed", 12.0, 60.0), 12.0) <= 66.0);
    }
}
