//! Stands in for io_uring where it does not exist, so that callers need no `cfg`.

use crate::{Abandoned, Capabilities, Engine, Error, ErrorKind, Filled, OpenPlan, Result, Source};

/// An engine that cannot be opened: the type has no values.
pub enum Uring {}

/// Says that io_uring is not here.
///
/// # Errors
/// Always: [`ErrorKind::Unsupported`].
pub fn probe() -> Result<()> {
    Err(Error {
        kind: ErrorKind::Unsupported,
        engine: "io_uring",
        what: "io_uring exists only on Linux".to_owned(),
        hint: "use --engine threads",
        os: None,
    })
}

impl Engine for Uring {
    fn open(_plan: &OpenPlan) -> Result<Self> {
        probe().and(Err(Error {
            kind: ErrorKind::Unsupported,
            engine: "io_uring",
            what: String::new(),
            hint: "",
            os: None,
        }))
    }

    fn capabilities(&self) -> &Capabilities {
        match *self {}
    }

    fn now_ns(&self) -> u64 {
        match *self {}
    }

    fn fill(&mut self, _source: &mut impl Source, _now_ns: u64) -> Filled {
        match *self {}
    }

    fn submit_and_wait(&mut self, _at_least: u32, _until_ns: Option<u64>) -> Result<()> {
        match *self {}
    }

    fn reap(&mut self, _source: &mut impl Source) -> u32 {
        match *self {}
    }

    fn close(self, _limit_ns: u64) -> Abandoned {
        match self {}
    }
}
