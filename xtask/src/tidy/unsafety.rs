//! Unsafe code: where it is allowed, and that each use has a reason.

use super::bans::contains;
use super::config::{Config, covers};
use super::{Finding, Source};

pub fn check(sources: &[Source], config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources {
        findings.extend(check_code(source, &config.unsafe_folders));
        findings.extend(check_root(source, &config.unsafe_folders));
    }
    findings
}

fn check_code(source: &Source, folders: &[String]) -> Vec<Finding> {
    let Some(code) = &source.code else {
        return Vec::new();
    };
    let texts: Vec<&str> = source.text.lines().collect();
    let mut findings = Vec::new();
    for (index, line) in code.lines().enumerate() {
        if !contains(line, "unsafe") {
            continue;
        }
        if !covers(folders, &source.path) {
            let message = "unsafe code belongs in the folders that xtask/tidy.toml names";
            findings.push(Finding::new(&source.path, index + 1, message));
        } else if !contains(line, "unsafe fn") && !has_reason(&texts, index) {
            let message = "unsafe code without a `// SAFETY:` comment right above";
            findings.push(Finding::new(&source.path, index + 1, message));
        }
    }
    findings
}

/// Whether a comment with `SAFETY:` ends directly above the line, or above the lines of the same
/// statement, or is on the line itself.
fn has_reason(texts: &[&str], index: usize) -> bool {
    const STATEMENT_LINES_MAX: usize = 6;
    if texts[index].contains("SAFETY:") {
        return true;
    }
    let mut above = texts[..index].iter().rev().map(|line| line.trim());
    let mut code_lines = 0;
    loop {
        match above.next() {
            Some(line) if line.starts_with("//") => {
                if line.contains("SAFETY:") {
                    return true;
                }
            }
            Some(line) if line.starts_with("#[") => {}
            // The statement may begin on an earlier line.
            Some(line) if !line.is_empty() && !line.ends_with([';', '}']) => {
                code_lines += 1;
                if code_lines > STATEMENT_LINES_MAX {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Crates without unsafe folders must forbid it, so that the compiler checks it too.
fn check_root(source: &Source, folders: &[String]) -> Vec<Finding> {
    let Some(folder) = source
        .path
        .strip_suffix("src/lib.rs")
        .or_else(|| source.path.strip_suffix("src/main.rs"))
    else {
        return Vec::new();
    };
    let may = folders.iter().any(|place| place.starts_with(folder));
    if may || source.text.contains("#![forbid(unsafe_code)]") {
        return Vec::new();
    }
    let message = "`#![forbid(unsafe_code)]` is missing";
    vec![Finding::new(&source.path, 0, message)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        let folders = ["crates/a/src/backend/".to_owned()];
        let source = Source::new(path, text);
        check_code(&source, &folders).len() + check_root(&source, &folders).len()
    }

    #[test]
    fn unsafe_code_needs_its_place_and_its_reason() {
        let cases = [
            ("crates/b/src/x.rs", "// SAFETY: none\nunsafe { f() }", 1),
            (
                "crates/b/src/x.rs",
                "// unsafe { f() }\nlet unsafely = 1;",
                0,
            ),
            ("crates/a/src/backend/x.rs", "let y = unsafe { f() };", 1),
            (
                "crates/a/src/backend/x.rs",
                "// SAFETY: f is fine\n// here.\nlet y = unsafe { f() };",
                0,
            ),
            (
                "crates/a/src/backend/x.rs",
                "// SAFETY: f is fine\nlet y =\n    unsafe { f() };",
                0,
            ),
            (
                "crates/a/src/backend/x.rs",
                "// SAFETY: of g\ng();\nlet y = unsafe { f() };",
                1,
            ),
            (
                "crates/a/src/backend/x.rs",
                "// SAFETY: sent\nunsafe impl Send for A {}",
                0,
            ),
            ("crates/a/src/backend/x.rs", "unsafe impl Send for A {}", 1),
            ("crates/a/src/backend/x.rs", "pub unsafe fn f() {}", 0),
            ("crates/a/src/lib.rs", "//! A.", 0),
            ("crates/b/src/lib.rs", "//! B.", 1),
            ("crates/b/src/main.rs", "//! B.\n#![forbid(unsafe_code)]", 0),
        ];
        for (path, text, expected) in cases {
            assert_eq!(found(path, text), expected, "{path}: {text}");
        }
    }
}
