//! Characters that web pages, mail and word processors substitute for typed ones: `–size` and
//! `“a b”` are not `--size` and `"a b"`.

/// A pasted word: the character in it, and the intended one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Typeset {
    sign: char,
    typed: char,
}

impl Typeset {
    /// How to fix it.
    ///
    /// ```
    /// let found = stripewise_units::typeset("–kW").unwrap();
    /// assert_eq!(found.hint(), "type `-` instead of `–` (U+2013), which pages and word processors make of it");
    /// ```
    pub fn hint(self) -> String {
        let Typeset { sign, typed } = self;
        format!(
            "type `{typed}` instead of `{sign}` (U+{:04X}), which pages and word processors make of it",
            u32::from(sign)
        )
    }
}

/// Whether a character is a dash other than the ASCII one.
pub fn is_typeset_dash(letter: char) -> bool {
    matches!(letter, '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// The first double quotation mark other than the ASCII one, on the line of a file where its parser
/// failed, at byte `at`.
pub fn typeset_quote_at(text: &str, at: usize) -> Option<Typeset> {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    typeset_quote(text[line..].lines().next()?)
}

fn typeset_quote(text: &str) -> Option<Typeset> {
    let sign = text.chars().find(|letter| is_quote(*letter))?;
    Some(Typeset { sign, typed: '"' })
}

const fn is_quote(letter: char) -> bool {
    matches!(letter, '\u{201c}'..='\u{201e}')
}

/// The substituted character in a word of a command line: a dash before the name of a switch, a
/// quotation mark without its counterpart, or a pair of them in a word that needs none. Names may
/// contain such characters, and quoted texts are valid.
pub fn typeset(word: &str) -> Option<Typeset> {
    let behind = word.trim_start_matches('-');
    let mut letters = behind.chars();
    if let Some(sign) = letters.next().filter(|sign| is_typeset_dash(*sign)) {
        let is_switch = letters
            .next()
            .is_some_and(|next| next.is_alphabetic() || next == '-' || is_typeset_dash(next));
        return is_switch.then_some(Typeset { sign, typed: '-' });
    }
    let count = |signs: &[char]| word.matches(signs).count();
    let unpaired = |open: &[char], close: &[char], typed: char| {
        let (opened, closed) = (count(open), count(close));
        let sign = word
            .chars()
            .find(|sign| open.contains(sign) || close.contains(sign))?;
        (opened != closed).then_some(Typeset { sign, typed })
    };
    let needs_none = || {
        let is_plain = |letter: char| letter.is_ascii_graphic() || is_quote(letter);
        typeset_quote(word).filter(|_| word.chars().all(is_plain))
    };
    unpaired(&['\u{201c}', '\u{201e}'], &['\u{201d}'], '"')
        .or_else(|| unpaired(&['\u{2018}', '\u{201a}'], &[], '\''))
        .or_else(needs_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasted_signs_are_found_and_names_are_left_alone() {
        for (word, sign) in [
            ("\u{2013}kW", Some('\u{2013}')),
            ("\u{2014}size", Some('\u{2014}')),
            ("\u{2212}b8", Some('\u{2212}')),
            ("-\u{2013}size", Some('\u{2013}')),
            ("\u{2013}\u{2013}size", Some('\u{2013}')),
            ("\u{201c}my", Some('\u{201c}')),
            ("run\u{201d}", Some('\u{201d}')),
            ("\u{2018}my", Some('\u{2018}')),
            ("-kW", None),
            ("--size", None),
            ("a\u{2013}b.dat", None),
            ("./\u{2013}kW", None),
            ("\u{2013} a remark", None),
            ("\u{201c}t.dat\u{201d}", Some('\u{201c}')),
            ("--label=\u{201c}x\u{201d}", Some('\u{201c}')),
            ("\u{201c}a text\u{201d}", None),
            ("\u{201c}\u{6d4b}\u{8bd5}\u{201d}", None),
            ("the disk\u{2019}s", None),
            ("", None),
        ] {
            assert_eq!(typeset(word).map(|found| found.sign), sign, "{word}");
        }
    }
}
