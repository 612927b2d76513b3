//! Escapes text of users and devices for HTML and SVG, script data, and
//! Markdown.

use crate::sheet_text::is_unit;
use stripewise_units::{acts, shown_instead};

/// Escapes text inside an element or a quoted attribute of HTML or XML. Control
/// characters, which XML does not allow, become a replacement character, and
/// bidirectional controls become visible.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' => safe.push(letter),
            letter if acts(letter) => safe.push_str(&shown_instead(letter)),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

/// A sentence, escaped: no line ends between a number and its unit.
pub(crate) fn sentence(text: &str) -> String {
    let mut words = text.split(' ');
    let mut before = words.next().unwrap_or_default();
    let mut joined = before.to_owned();
    for word in words {
        joined.push(match is_unit(word, before) {
            true => '\u{a0}',
            false => ' ',
        });
        joined.push_str(word);
        before = word;
    }
    escaped(&joined)
}

/// Escapes JSON inside a `script` element: no `<` can end the element or open a comment,
/// and JSON decodes the escapes to the same characters.
pub(crate) fn json_in_script(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_with_their_units() {
        assert_eq!(
            sentence("11.6 % (95 % interval) below 5 ms, 3 s. With 8 in flight: ms"),
            "11.6\u{a0}% (95\u{a0}% interval) below 5\u{a0}ms, 3\u{a0}s. With 8 in flight: ms"
        );
        assert_eq!(sentence("p99 < 5 ms"), "p99 &lt; 5\u{a0}ms");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn no_text_can_open_or_close_an_element() {
        for text in [
            "<script>alert(1)</script>",
            "</script><!--",
            "\"onload='x'",
            "a\u{0}b\u{7}",
        ] {
            let safe = escaped(text);
            assert!(
                !safe.contains(['<', '>', '"', '\'', '\u{0}', '\u{7}']),
                "{safe}"
            );
            let json = serde_json::to_string(text).unwrap();
            let data = json_in_script(&json);
            assert!(!data.contains('<'), "{data}");
            assert_eq!(serde_json::from_str::<String>(&data).unwrap(), text);
        }
    }
}
