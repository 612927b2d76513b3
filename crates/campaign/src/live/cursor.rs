//! What a viewer has already received: text sent with a response and returned
//! with the next request.

use std::collections::BTreeMap;

/// Maximum number of jobs; no run has more at once.
const JOBS_MAX: usize = 64;
/// Maximum characters of a cursor.
const LETTERS_MAX: usize = 4_096;

/// The next interval of each job of each run in progress, and the last finished run whose
/// warnings were sent. As text: `RUN.JOB=NEXT~...~w=RUN`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    next: BTreeMap<String, u64>,
    warned: String,
}

impl Cursor {
    /// Parses returned text; ignores invalid parts.
    pub fn of(text: &str) -> Cursor {
        let mut cursor = Cursor::default();
        if text.len() > LETTERS_MAX {
            return cursor;
        }
        for (name, value) in text.split('~').filter_map(|part| part.split_once('=')) {
            match (name, value.parse()) {
                ("w", _) => value.clone_into(&mut cursor.warned),
                (_, Ok(next)) if cursor.next.len() < JOBS_MAX => {
                    cursor.next.insert(name.to_owned(), next);
                }
                _ => {}
            }
        }
        cursor
    }

    /// The first interval of a job not sent yet.
    pub(super) fn next(&self, run: &str, job: usize) -> u64 {
        self.next.get(&format!("{run}.{job}")).copied().unwrap_or(0)
    }

    pub(super) fn see(&mut self, run: &str, job: usize, next: u64) {
        if self.next.len() < JOBS_MAX {
            self.next.insert(format!("{run}.{job}"), next);
        }
    }

    /// Ids sort by time: warnings of runs after this one are new.
    pub(super) fn warned(&self) -> &str {
        &self.warned
    }

    pub(super) fn warn(&mut self, run: &str) {
        if run > self.warned.as_str() {
            run.clone_into(&mut self.warned);
        }
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, next) in &self.next {
            write!(f, "{name}={next}~")?;
        }
        write!(f, "w={}", self.warned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_went_and_nonsense_is_nothing() {
        let mut cursor = Cursor::default();
        cursor.see("20261122-194715-r7wm", 0, 17);
        cursor.warn("20261122-194715-aaaa");
        assert_eq!(Cursor::of(&cursor.to_string()), cursor);
        assert_eq!(cursor.next("20261122-194715-r7wm", 0), 17);
        assert_eq!(cursor.next("20261122-194715-r7wm", 1), 0);
        for text in ["", "~~~", "=", "a=b", "a=-1", &"x=1~".repeat(5_000)] {
            assert_eq!(Cursor::of(text).next("x", 0), 0, "{text:.20}");
        }
    }
}
