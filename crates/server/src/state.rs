//! State shared by all requests.

use crate::guard::Guard;
use crate::runs::{AllowedPath, Runs};
use axum::body::Bytes;
use axum::extract::State;
use std::fs::metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;
use stripewise_campaign::Outcome;
use stripewise_campaign::live::{Serving, View};
use tokio::sync::Semaphore;

/// Maximum concurrent children that make documents: each may need a hundred megabytes.
const CHILDREN_MAX: usize = 2;

/// The state extractor of handlers.
pub(crate) type App = State<Arc<Shared>>;

pub(crate) struct Shared {
    /// The store, and the clock.
    pub(crate) view: View,
    /// Path of this program.
    pub(crate) program: PathBuf,
    pub(crate) guard: Guard,
    /// Permits for children that make documents.
    pub(crate) children: Semaphore,
    /// Runs started from the page.
    pub(crate) runs: Arc<Runs>,
    /// The last answer about trends, for which up to 20,000 runs are read.
    pub(crate) trends: LastAnswer,
}

/// The last answer to a question about the store.
#[derive(Default)]
pub(crate) struct LastAnswer(Mutex<Option<KnownAnswer>>);

/// An answer that holds until the store changes.
struct KnownAnswer {
    question: String,
    store: StoreState,
    answer: Bytes,
}

/// Lengths and times of change, nanoseconds since 1970, of the store's file and its log.
type StoreState = [Option<(u64, u128)>; 2];

fn state_of(store: &Path) -> StoreState {
    // SQLite puts the log beside the file that a link leads to.
    let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    let mut log = store.clone().into_os_string();
    log.push("-wal");
    [store, PathBuf::from(log)].map(|path| {
        let found = metadata(path).ok()?;
        let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some((found.len(), changed.as_nanos()))
    })
}

impl Shared {
    pub(crate) fn new(serving: &Serving<'_>, guard: Guard, allowed: Vec<AllowedPath>) -> Shared {
        Shared {
            view: serving.view.clone(),
            program: serving.program.clone(),
            guard,
            children: Semaphore::new(CHILDREN_MAX),
            runs: Arc::new(Runs::new(allowed, serving.busy_ok)),
            trends: LastAnswer::default(),
        }
    }
}

impl LastAnswer {
    /// The last answer, if it is to this question and the store has not changed since; otherwise a
    /// new one.
    pub(crate) fn of(
        &self,
        store: &Path,
        question: &str,
        make: impl FnOnce() -> Outcome<Bytes>,
    ) -> Outcome<Bytes> {
        // Whoever asks meanwhile waits for the same answer.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let store = state_of(store);
        if let Some(known) = &*known
            && (known.question.as_str(), known.store) == (question, store)
        {
            return Ok(known.answer.clone());
        }
        let answer = make()?;
        *known = Some(KnownAnswer {
            question: question.to_owned(),
            store,
            answer: answer.clone(),
        });
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_holds_until_the_store_changes() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store.db");
        let last = LastAnswer::default();
        let mut made = 0;
        let mut ask = |question: &str| {
            let make = || {
                made += 1;
                Ok(Bytes::from(made.to_string()))
            };
            last.of(&store, question, make).unwrap()
        };
        assert_eq!((ask("a"), ask("a")), ("1".into(), "1".into()));
        std::fs::write(&store, "a run").unwrap();
        assert_eq!((ask("a"), ask("a")), ("2".into(), "2".into()));
        assert_eq!(ask("b"), "3");
        std::fs::write(folder.path().join("store.db-wal"), "another").unwrap();
        assert_eq!((ask("b"), ask("b")), ("4".into(), "4".into()));
    }
}
