//! The parameter file (`-F`): one target per line, with its own threads.
//!
//! ```text
//! <file name> <threads> [<mask> [<size MB>]]
//! # a comment
//! ```

use super::command::{Access, Command, FILES_MAX, THREADS_MAX, mask};
use crate::text::{decode, lines};
use crate::{Error, LineProblem};
use stripewise_units::typeset;

/// Larger sizes are mistakes: 16 TiB.
const MEGABYTES_MAX: u64 = 16 << 20;

/// Line syntax, for hints.
const LINE: &str = "each line is: file name, threads, and optionally mask and size in MB: c:\\testfile.dat 2 0x0 100";

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As typed.
    pub file: String,
    /// Its own threads.
    pub threads: u32,
    /// Processor mask of its threads; 0: any.
    pub mask: u64,
    /// Its size in units of 1,048,576 bytes, if given.
    pub megabytes: Option<u64>,
}

/// The targets of a parameter file; at least one. `command` is the one that names the file: with
/// stripes, sizes are not allowed.
///
/// # Errors
/// Every line with a syntax error; no target; too many threads.
pub fn read(bytes: &[u8], source_name: &str, command: &Command) -> Result<Vec<Target>, Error> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Error::new(source_name, "names no target", LINE));
    }
    let text = decode(bytes, source_name)?;
    let mut targets = Vec::new();
    let mut problems = Vec::new();
    for line in lines(&text) {
        let trimmed = line.text.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        match target(trimmed, command) {
            Ok(target) => targets.push(target),
            Err(reason) => problems.push(LineProblem {
                line: line.number,
                reason,
            }),
        }
        if targets.len() > FILES_MAX || problems.len() > FILES_MAX {
            break;
        }
    }
    if !problems.is_empty() {
        return Err(Error::of_lines(source_name, problems, LINE));
    }
    if targets.is_empty() {
        return Err(Error::new(source_name, "names no target", LINE));
    }
    let threads: u32 = targets.iter().map(|target| target.threads).sum();
    if targets.len() > FILES_MAX || threads > THREADS_MAX {
        return Err(Error::new(
            source_name,
            format!(
                "has more than {FILES_MAX} files or {THREADS_MAX} threads in all ({threads} threads)"
            ),
            "use fewer at once",
        ));
    }
    for target in &targets {
        command.check_columns(target.threads)?;
    }
    Ok(targets)
}

fn target(line: &str, command: &Command) -> Result<Target, String> {
    let (file, rest) = name_of(line)?;
    if let Some(sign) = typeset(file) {
        return Err(format!("has {file}: {}", sign.hint()));
    }
    // Contemporary descriptions show a comment after the size, following an asterisk.
    let words: Vec<&str> = rest
        .split_whitespace()
        .take_while(|word| !word.starts_with(['*', '#']))
        .collect();
    let digits = |word: &str| -> Option<u64> {
        let all = word.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| word.parse().ok()).flatten()
    };
    let Some(threads) = words.first().and_then(|word| digits(word)) else {
        return Err("has no number of threads after the file name".to_owned());
    };
    if !(1..=u64::from(THREADS_MAX)).contains(&threads) {
        return Err(format!("asks for {threads} threads: 1 to {THREADS_MAX}"));
    }
    let mask = match words.get(1) {
        None => 0,
        Some(word) => mask(word).ok_or_else(|| {
            format!("has `{word}` where a processor mask such as 0x0 is expected")
        })?,
    };
    let megabytes = match words.get(2) {
        None => None,
        Some(word) => Some(
            digits(word)
                .filter(|size| (1..=MEGABYTES_MAX).contains(size))
                .ok_or_else(|| format!("has `{word}` where a size in MB is expected"))?,
        ),
    };
    if let Some(more) = words.get(3) {
        return Err(format!("continues with `{more}` after the size"));
    }
    if megabytes.is_some() && matches!(command.access, Access::Stripe(_)) {
        return Err("gives a size, which goes with -frandom and -fsequential only".to_owned());
    }
    Ok(Target {
        file: file.to_owned(),
        threads: threads as u32,
        mask,
        megabytes,
    })
}

/// The name, and the rest; a name with spaces is in double quotes.
fn name_of(line: &str) -> Result<(&str, &str), String> {
    let (name, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted
            .split_once('"')
            .ok_or("has a quotation mark that does not end")?,
        None => line.split_once(char::is_whitespace).unwrap_or((line, "")),
    };
    if name.is_empty() || name.chars().count() > 256 {
        return Err("has no file name of 1 to 256 characters".to_owned());
    }
    Ok((name, rest))
}
