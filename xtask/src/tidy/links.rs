//! Relative links in Markdown must have valid targets.

use super::{Finding, Source};
use std::path::Path;

pub fn check(root: &Path, sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with(".md")) {
        for (line, link) in links(&source.text) {
            let base = Path::new(&source.path).parent().unwrap_or(Path::new(""));
            let file = link.split(['#', '?']).next().unwrap_or_default();
            let exists = match file.strip_prefix('/') {
                _ if file.is_empty() => true,
                Some(absolute) => root.join(absolute).exists(),
                None => root.join(base).join(file).exists(),
            };
            if !exists {
                let message = format!("the link to `{link}` leads nowhere");
                findings.push(Finding::new(&source.path, line, message));
            }
        }
    }
    findings
}

/// Targets of `[text](target)` outside of code, with their lines; without external links.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find(')') else {
                break;
            };
            let target = rest[..end].split(' ').next().unwrap_or_default();
            let leaves = target.contains("://") || target.starts_with("mailto:");
            if !leaves {
                found.push((index + 1, target));
            }
            rest = &rest[end..];
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("docs/decisions")).unwrap();
        std::fs::write(root.path().join("docs/glossary.md"), "").unwrap();
        let found = |text: &str| check(root.path(), &[Source::new("docs/README.md", text)]).len();
        let cases = [
            ("[a](glossary.md)", 0),
            ("[a](glossary.md#run) and [b](decisions)", 0),
            (
                "[a](/docs/glossary.md) [b](#here) [c](https://example.org/x)",
                0,
            ),
            ("[a](missing.md)", 1),
            ("[a](../missing.md) [b](gone.md \"title\")", 2),
            ("```\n[a](missing.md)\n```", 0),
        ];
        for (text, expected) in cases {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
