//! Placeholder for an engine of another operating system, so that callers need no `cfg`.

use std::convert::Infallible;
use std::marker::PhantomData;

use crate::{Abandoned, Capabilities, Engine, Error, ErrorKind, Filled, OpenPlan, Result, Source};

/// The missing engine.
pub trait UnsupportedEngine {
    /// The engine's name.
    const ENGINE: &'static str;
    /// The reason, as text.
    const WHAT: &'static str;
}

/// An engine that cannot be opened: the type has no values.
pub struct Absent<M> {
    never: Infallible,
    what: PhantomData<M>,
}

/// The error for the missing engine.
pub(super) fn refuse<M: UnsupportedEngine>() -> Error {
    Error {
        kind: ErrorKind::Unsupported,
        engine: M::ENGINE,
        what: M::WHAT.to_owned(),
        hint: "use <--engine> threads",
        os: None,
    }
}

impl<M: UnsupportedEngine> Engine for Absent<M> {
    fn open(_plan: &OpenPlan) -> Result<Self> {
        Err(refuse::<M>())
    }

    fn capabilities(&self) -> &Capabilities {
        let _ = self.what;
        match self.never {}
    }

    fn now_ns(&self) -> u64 {
        match self.never {}
    }

    fn fill(&mut self, _source: &mut impl Source, _now_ns: u64) -> Filled {
        match self.never {}
    }

    fn submit_and_wait(&mut self, _at_least: u32, _until_ns: Option<u64>) -> Result<()> {
        match self.never {}
    }

    fn reap(&mut self, _source: &mut impl Source) -> u32 {
        match self.never {}
    }

    fn close(self, _limit_ns: u64) -> Abandoned {
        match self.never {}
    }
}
