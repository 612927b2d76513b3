//! Words that belong nowhere: names of places and tools that only those who
//! work there could understand.

use super::config::Config;
use super::{Finding, Source};

pub fn check(sources: &[Source], config: &Config) -> Vec<Finding> {
    let words: Vec<String> = config.words_rot13.iter().map(|word| rot13(word)).collect();
    let mut findings = Vec::new();
    for source in sources {
        for (index, line) in source.text.lines().enumerate() {
            let line = line.to_lowercase();
            if let Some(word) = words.iter().find(|word| line.contains(word.as_str())) {
                let message =
                    format!("`{word}` means nothing to a stranger; say it in the project's words");
                findings.push(Finding::new(&source.path, index + 1, message));
            }
        }
    }
    findings
}

/// Letters thirteen places on, and back again; all else as it is.
fn rot13(word: &str) -> String {
    word.chars()
        .map(|c| match c {
            'a'..='z' => char::from((c as u8 - b'a' + 13) % 26 + b'a'),
            _ => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_file_and_case() {
        let config = Config {
            words_rot13: vec!["/sbb/".to_owned()],
            ..Config::default()
        };
        let found = |text| check(&[Source::new("docs/a.md", text)], &config).len();
        assert_eq!(found("see /FOO/bar"), 1);
        assert_eq!(found("see /food"), 0);
    }
}
