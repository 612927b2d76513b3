//! Files of the workspace, and Rust code with the parts blanked out that rules must not see.
//! Blanking preserves lines and columns.

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};
use std::ops::Range;
use std::path::Path;

/// A text file.
#[derive(Debug)]
pub struct Source {
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// Unchanged content.
    pub text: String,
    /// Rust only: without comments, string contents, and tests.
    pub code: Option<String>,
    /// Rust only: as `code`, but with strings.
    pub code_and_texts: Option<String>,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Source {
        let shown = path.ends_with(".rs").then(|| match is_test(path) {
            true => (String::new(), String::new()),
            false => code(text),
        });
        let (code, code_and_texts) = shown.unzip();
        Source {
            path: path.to_owned(),
            code,
            code_and_texts,
            text: text.to_owned(),
        }
    }
}

/// In tests, benches and examples, by path.
pub fn is_test(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let file = parts.next().unwrap_or_default();
    file == "tests.rs"
        || parts.any(|folder| matches!(folder, "tests" | "benches" | "examples" | "fuzz"))
}

/// All text files below `root`, in order, without build output and Git's folder.
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
            // Binary files are skipped.
            if let Ok(text) = String::from_utf8(std::fs::read(entry.path())?) {
                sources.push(Source::new(&path, &text));
            }
        }
    }
    Ok(())
}

/// Rust code reduced to its tokens, without strings and with them: everything else is blanked,
/// including items marked `#[cfg(test)]`. Text that is not Rust stays unchanged, for all rules to
/// see.
fn code(text: &str) -> (String, String) {
    let Ok(tokens) = text.parse::<TokenStream>() else {
        return (text.to_owned(), text.to_owned());
    };
    let blank = |byte| if byte == b'\n' { b'\n' } else { b' ' };
    let blank: Vec<u8> = text.bytes().map(blank).collect();
    let mut shown = Shown {
        text,
        code: blank.clone(),
        code_and_texts: blank,
    };
    shown.all(tokens);
    let as_text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (as_text(shown.code), as_text(shown.code_and_texts))
}

struct Shown<'a> {
    text: &'a str,
    code: Vec<u8>,
    code_and_texts: Vec<u8>,
}

impl Shown<'_> {
    fn all(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            if self.is_comment(&token) {
                // The rest of the attribute it represents: `!`, and the brackets.
                tokens.find(|token| matches!(token, TokenTree::Group(_)));
                continue;
            }
            if is_mark_of_tests(&token, tokens.peek()) {
                skip_item(&mut tokens);
                continue;
            }
            match token {
                TokenTree::Group(group) => {
                    self.show(group.span_open().byte_range(), true);
                    self.all(group.stream());
                    self.show(group.span_close().byte_range(), true);
                }
                TokenTree::Literal(literal) => {
                    self.show(literal.span().byte_range(), !is_text(&literal));
                }
                token => self.show(token.span().byte_range(), true),
            }
        }
    }

    /// Whether it is a documentation comment, which is parsed as an attribute.
    fn is_comment(&self, token: &TokenTree) -> bool {
        let is_hash = matches!(token, TokenTree::Punct(punct) if punct.as_char() == '#');
        is_hash && !self.text[token.span().byte_range()].starts_with('#')
    }

    fn show(&mut self, range: Range<usize>, is_code: bool) {
        let token = &self.text.as_bytes()[range.clone()];
        self.code_and_texts[range.clone()].copy_from_slice(token);
        if is_code {
            self.code[range].copy_from_slice(token);
        }
    }
}

/// Strings, bytes and characters; not numbers.
fn is_text(literal: &Literal) -> bool {
    literal.to_string().contains(['"', '\''])
}

/// Whether a test-only item begins: `#[cfg(test)]`.
fn is_mark_of_tests(token: &TokenTree, follows: Option<&TokenTree>) -> bool {
    let is_hash = matches!(token, TokenTree::Punct(punct) if punct.as_char() == '#');
    let mark = match follows {
        Some(TokenTree::Group(group)) if is_hash => group.stream().to_string(),
        _ => return false,
    };
    mark.split_whitespace().collect::<String>() == "cfg(test)"
}

/// To the braces that end an item, or to an earlier semicolon.
fn skip_item(tokens: &mut impl Iterator<Item = TokenTree>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            TokenTree::Punct(punct) if punct.as_char() == ';' => return,
            _ => {}
        }
    }
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
            (r"f('\'', '\\', b'x')", "f(    ,     ,     )"),
            (
                "/// b\nfn c() -> u8 { 1_u8 }",
                "     \nfn c() -> u8 { 1_u8 }",
            ),
            ("//! b\n/** d */ c", "     \n         c"),
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
