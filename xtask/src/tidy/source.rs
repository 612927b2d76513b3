//! Files of the workspace, and Rust code with everything blanked out that a rule
//! about code should not see. Blanking keeps lines and columns.

use anyhow::{Context, Result};
use std::path::Path;

/// A text file.
#[derive(Debug)]
pub struct Source {
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// As it is.
    pub text: String,
    /// Rust only: without comments, contents of texts, and tests.
    pub code: Option<String>,
    /// Rust only: as `code`, with the texts.
    pub code_and_texts: Option<String>,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Source {
        let is_rust = path.ends_with(".rs");
        let code = |texts| {
            is_rust.then(|| {
                if is_test(path) {
                    return String::new();
                }
                blank_tests(
                    &blank(text, Keep { texts }),
                    &blank(text, Keep { texts: false }),
                )
            })
        };
        Source {
            path: path.to_owned(),
            code: code(false),
            code_and_texts: code(true),
            text: text.to_owned(),
        }
    }
}

/// Tests, benches and examples, by their place.
pub fn is_test(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let file = parts.next().unwrap_or_default();
    file == "tests.rs"
        || parts.any(|folder| matches!(folder, "tests" | "benches" | "examples" | "fuzz"))
}

/// All text files below `root`, in order, but for what is built and what Git keeps.
pub fn read_all(root: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    collect(root, "", &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn collect(root: &Path, folder: &str, sources: &mut Vec<Source>) -> Result<()> {
    let directory = root.join(folder);
    let entries = std::fs::read_dir(&directory)
        .with_context(|| format!("cannot read {}", directory.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name
        } else {
            format!("{folder}/{name}")
        };
        let kind = entry.file_type()?;
        if kind.is_dir() && !matches!(path.as_str(), ".git" | "target") {
            collect(root, &path, sources)?;
        } else if kind.is_file() {
            // What is not text is none of our business.
            if let Ok(text) = String::from_utf8(std::fs::read(entry.path())?) {
                sources.push(Source::new(&path, &text));
            }
        }
    }
    Ok(())
}

/// What [`blank`] leaves standing besides code.
#[derive(Clone, Copy)]
struct Keep {
    texts: bool,
}

/// Replaces comments, and texts unless they are kept, by spaces.
fn blank(text: &str, keep: Keep) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (length, shown) = next_token(rest);
        let token = &rest[..length];
        match shown {
            Shown::Code => out.push_str(token),
            Shown::Text if keep.texts => out.push_str(token),
            Shown::Text | Shown::Comment => {
                out.extend(token.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            }
        }
        rest = &rest[length..];
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Code,
    Text,
    Comment,
}

/// Length in bytes and sort of what `rest` begins with.
fn next_token(rest: &str) -> (usize, Shown) {
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), Shown::Comment);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), Shown::Comment);
    }
    if let Some(length) = raw_text(rest) {
        return (length, Shown::Text);
    }
    if rest.starts_with('"') {
        return (quoted(rest, '"'), Shown::Text);
    }
    if rest.starts_with('\'') {
        return match character(rest) {
            Some(length) => (length, Shown::Text),
            None => (1, Shown::Code),
        };
    }
    // A word is one token, so that the `r` of `for"` begins no raw text.
    let word = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(rest.len());
    let first = rest.chars().next().map_or(1, char::len_utf8);
    match &rest[..word] {
        "b" | "c" => (1, Shown::Code),
        _ => (word.max(first), Shown::Code),
    }
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Length of `r"..."`, `r#"..."#`, `br"..."`.
fn raw_text(rest: &str) -> Option<usize> {
    let start = ["r", "br", "cr"].into_iter().find_map(|prefix| {
        let after = rest.strip_prefix(prefix)?;
        let hashes = after.len() - after.trim_start_matches('#').len();
        after[hashes..]
            .starts_with('"')
            .then_some((prefix.len() + hashes + 1, hashes))
    });
    let (begin, hashes) = start?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(match rest[begin..].find(&end) {
        Some(at) => begin + at + end.len(),
        None => rest.len(),
    })
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// Length of a character literal; `None` for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut inner = rest[1..].chars();
    let first = inner.next()?;
    if first == '\\' {
        return Some(quoted(rest, '\''));
    }
    (inner.next() == Some('\'')).then(|| 2 + first.len_utf8())
}

/// Blanks items marked `#[cfg(test)]` in `shown`, whose braces are found in
/// `code` (of equal length, without texts).
fn blank_tests(shown: &str, code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = shown.as_bytes().to_vec();
    // Texts may hold characters of several bytes, which blanking makes one.
    if shown.len() != code.len() {
        return blank_tests_by_line(shown, code);
    }
    let mut from = 0;
    while let Some(found) = code[from..].find(MARK) {
        let begin = from + found;
        let end = begin + item_length(&code[begin..]);
        for byte in &mut out[begin..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        from = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// As [`blank_tests`], whole lines.
fn blank_tests_by_line(shown: &str, code: &str) -> String {
    let blanked = blank_tests(code, code);
    let lines = shown.lines().zip(code.lines()).zip(blanked.lines());
    lines
        .map(|((shown, code), blanked)| if code == blanked { shown } else { "" })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Length of an item: to its closing brace, or to a semicolon before any brace.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            ';' if depth == 0 => return at + 1,
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        Source::new("crates/a/src/b.rs", text).code.unwrap()
    }

    #[test]
    fn comments_texts_and_tests_are_not_code() {
        let cases = [
            ("a // b\nc", "a     \nc"),
            ("a /* b /* c */ d */ e", "a                   e"),
            (r#"f("b\"c", 'd', 'e)"#, r"f(      ,    , 'e)"),
            (r###"f(r#"b"c"#, br"x")"###, "f(        ,      )"),
            (r"f('\'', '\\', b'x')", "f(    ,     , b   )"),
            ("for\"x\"", "for   "),
            (
                "a\n#[cfg(test)]\nmod tests {\n b {}\n}\nc",
                "a\n            \n           \n     \n \nc",
            ),
            ("#[cfg(test)]\nmod tests;\nc", "            \n          \nc"),
        ];
        for (text, expected) in cases {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn texts_are_seen_by_rules_that_ask_for_them() {
        let source = Source::new(
            "src/b.rs",
            "f(\"é x\"); // y\n#[cfg(test)]\nmod t { \"z\" }\n",
        );
        let seen = source.code_and_texts.unwrap();
        assert!(
            seen.contains("é x") && !seen.contains('y') && !seen.contains('z'),
            "{seen}"
        );
    }

    #[test]
    fn files_of_tests_have_no_code_to_check() {
        for path in [
            "crates/a/tests/it/main.rs",
            "crates/a/src/b/tests.rs",
            "crates/a/benches/b.rs",
        ] {
            assert_eq!(Source::new(path, "x").code.as_deref(), Some(""), "{path}");
        }
        assert_eq!(
            Source::new("crates/a/src/b.rs", "x").code.as_deref(),
            Some("x")
        );
        assert_eq!(Source::new("README.md", "x").code, None);
    }
}
