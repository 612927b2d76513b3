//! State shared by all requests.

use crate::guard::Guard;
use crate::runs::{AllowedPath, Runs};
use axum::extract::State;
use std::path::PathBuf;
use std::sync::Arc;
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
}

impl Shared {
    pub(crate) fn new(serving: &Serving<'_>, guard: Guard, allowed: Vec<AllowedPath>) -> Shared {
        Shared {
            view: serving.view.clone(),
            program: serving.program.clone(),
            guard,
            children: Semaphore::new(CHILDREN_MAX),
            runs: Arc::new(Runs::new(allowed, serving.busy_ok)),
        }
    }
}
