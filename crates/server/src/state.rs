//! What all requests share.

use crate::guard::Guard;
use crate::runs::{Allowed, Runs};
use std::path::PathBuf;
use stripewise_campaign::live::{Serving, View};
use tokio::sync::Semaphore;

/// Children that make documents at a time: each may need a hundred megabytes.
const CHILDREN_MAX: usize = 2;

pub(crate) struct Shared {
    /// The store, and the time.
    pub(crate) view: View,
    /// This program.
    pub(crate) program: PathBuf,
    pub(crate) guard: Guard,
    /// Children that make documents.
    pub(crate) children: Semaphore,
    /// Runs that were started here.
    pub(crate) runs: Runs,
}

impl Shared {
    pub(crate) fn new(serving: &Serving<'_>, guard: Guard, allowed: Vec<Allowed>) -> Shared {
        Shared {
            view: serving.view.clone(),
            program: serving.program.clone(),
            guard,
            children: Semaphore::new(CHILDREN_MAX),
            runs: Runs::new(allowed),
        }
    }
}
