//! The embedded font: Roboto Regular, Apache licence, in `assets/roboto`.
//! Text widths come from it, so that labels are placed where they fit.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The font file as it was published.
pub(crate) const ROBOTO: &[u8] = include_bytes!("../../assets/roboto/Roboto-Regular.ttf");
/// Its Latin subset, for SVG files.
pub(crate) const ROBOTO_LATIN: &[u8] = include_bytes!("../../assets/roboto/roboto-latin.woff2");
/// If Roboto is not installed, a browser uses the next one.
pub(crate) const FAMILY: &str = "Roboto, Helvetica Neue, Arial, sans-serif";

/// The scripts that Roboto covers end below this.
const LETTERS_END: u32 = 0x2300;
/// Assumed width of other letters in em: half of a Chinese one would be too little, and
/// too wide an estimate cuts nothing off.
const WIDE: f64 = 1.0;
const UNKNOWN: f64 = 0.6;

/// Widths in em of the letters in Roboto.
static WIDTHS: LazyLock<HashMap<char, f64>> = LazyLock::new(|| {
    let font = ttf_parser::Face::parse(ROBOTO, 0).expect("the embedded font is whole");
    let em = f64::from(font.units_per_em());
    let letters = (0x20..LETTERS_END).filter_map(char::from_u32);
    let known = letters.filter_map(|letter| {
        let width = font.glyph_hor_advance(font.glyph_index(letter)?)?;
        Some((letter, f64::from(width) / em))
    });
    known.collect()
});

/// Whether the embedded font has all of these letters, so that [`width`] is exact.
pub(crate) fn has_all(text: &str) -> bool {
    text.chars().all(|letter| WIDTHS.contains_key(&letter))
}

/// The width of a line of text in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let em: f64 = text.chars().map(width_of).sum();
    em * size
}

/// Characters that only affect their neighbours and are invisible themselves.
pub(crate) fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{200b}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

fn width_of(letter: char) -> f64 {
    match WIDTHS.get(&letter) {
        _ if is_invisible(letter) => 0.0,
        Some(width) => *width,
        None if u32::from(letter) >= 0x1100 => WIDE,
        None => UNKNOWN,
    }
}

/// Wraps text into lines of at most `limit` pixels, broken between words; a longer word
/// is cut.
pub(crate) fn wrapped(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + width(" ", size) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, size, limit)),
        }
    }
    lines
}

/// As [`wrapped`], with at most `lines_max` lines; the last one shows if text was cut.
pub(crate) fn wrapped_to(text: &str, size: f64, limit: f64, lines_max: usize) -> Vec<String> {
    let mut lines = wrapped(text, size, limit);
    if lines.len() > lines_max {
        lines.truncate(lines_max);
        if let Some(last) = lines.last_mut() {
            let longer = format!("{last} \u{2026}");
            *last = match width(&longer, size) <= limit {
                true => longer,
                false => cut(&longer, size, limit),
            };
        }
    }
    lines
}

/// Cuts text to at most `limit` pixels, with a mark if it was cut; no bracket stays open.
pub(crate) fn cut(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_owned();
    }
    let mut short = text.to_owned();
    while !short.is_empty() && width(&short, size) + size > limit {
        short.pop();
    }
    if let Some(open) = short
        .rfind('(')
        .filter(|open| !short[*open..].contains(')'))
    {
        short.truncate(open);
        short.truncate(short.trim_end().len());
    }
    short + "\u{2026}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // Digits have equal width, so that numbers line up.
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
        // No bracket stays open.
        let open = cut("8K in flight (where it was fastest)", 12.0, 120.0);
        assert_eq!(open, "8K in flight\u{2026}");
        let two = wrapped_to(&"word ".repeat(80), 13.0, 300.0, 2);
        assert!(two.len() == 2 && two[1].ends_with('\u{2026}'));
        assert!(has_all("µs · Привет") && !has_all("磁盘"));
    }
}
