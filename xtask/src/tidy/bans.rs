//! Calls and names allowed only in some places.

use super::config::{Ban, Config, covers};
use super::{Finding, Source};

pub fn check(sources: &[Source], config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        for ban in &config.bans {
            findings.extend(check_one(source, ban));
        }
    }
    findings
}

fn check_one(source: &Source, ban: &Ban) -> Vec<Finding> {
    let shown = if ban.in_texts {
        &source.code_and_texts
    } else {
        &source.code
    };
    let Some(code) = shown else {
        return Vec::new();
    };
    let applies = ban.within.is_empty() || covers(&ban.within, &source.path);
    if !applies || covers(&ban.allowed, &source.path) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in code.lines().enumerate() {
        if let Some(pattern) = ban.patterns.iter().find(|pattern| contains(line, pattern)) {
            let message = format!("`{pattern}` does not belong here: {}", ban.reason);
            findings.push(Finding::new(&source.path, index + 1, message));
        }
    }
    findings
}

/// Whether `line` contains `pattern`; a pattern that begins or ends with a letter matches whole
/// words only.
pub fn contains(line: &str, pattern: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut from = 0;
    while let Some(found) = line[from..].find(pattern) {
        let (begin, end) = (from + found, from + found + pattern.len());
        let before = line[..begin].chars().next_back().is_some_and(word);
        let after = line[end..].chars().next().is_some_and(word);
        let starts = pattern.starts_with(word);
        let ends = pattern.ends_with(word);
        if !(starts && before || ends && after) {
            return true;
        }
        from = begin + line[begin..].chars().next().map_or(1, char::len_utf8);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ban() -> Ban {
        Ban {
            reason: "no clock here".to_owned(),
            patterns: vec![
                "Instant::now".to_owned(),
                ".write(true)".to_owned(),
                "linux".to_owned(),
            ],
            within: Vec::new(),
            allowed: vec![
                "crates/app/src/".to_owned(),
                "crates/a/src/one.rs".to_owned(),
            ],
            in_texts: false,
        }
    }

    #[test]
    fn banned_calls_are_found_where_they_are_not_allowed() {
        let cases = [
            ("crates/a/src/b.rs", "let t = Instant::now();", 1),
            (
                "crates/a/src/b.rs",
                "use std::time; time::Instant::now()",
                1,
            ),
            ("crates/a/src/b.rs", "MyInstant::now()", 0),
            ("crates/a/src/b.rs", "// Instant::now", 0),
            ("crates/a/src/b.rs", "\"Instant::now\"", 0),
            ("crates/a/src/b.rs", "options.write(true)", 1),
            ("crates/a/src/b.rs", "linux_io_uring", 0),
            ("crates/a/src/b.rs", "linux_io; linux::x", 1),
            ("crates/app/src/b.rs", "Instant::now()", 0),
            ("crates/application/src/b.rs", "Instant::now()", 1),
            ("crates/a/src/one.rs", "Instant::now()", 0),
            ("crates/a/tests/b.rs", "Instant::now()", 0),
            (
                "crates/a/src/b.rs",
                "#[cfg(test)]\nmod tests { fn f() { Instant::now(); } }",
                0,
            ),
        ];
        for (path, text, expected) in cases {
            let found = check_one(&Source::new(path, text), &ban());
            assert_eq!(found.len(), expected, "{path}: {text}");
        }
    }

    #[test]
    fn a_ban_can_be_of_one_folder_and_look_into_texts() {
        let ban = Ban {
            within: vec!["crates/runner/src/".to_owned()],
            in_texts: true,
            ..ban()
        };
        let found = |path| check_one(&Source::new(path, "f(\"linux\")"), &ban).len();
        assert_eq!(found("crates/runner/src/a.rs"), 1);
        assert_eq!(found("crates/other/src/a.rs"), 0);
    }
}
