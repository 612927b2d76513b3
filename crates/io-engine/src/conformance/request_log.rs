//! An engine that always uses features beyond plain operations: the suite's plans are plain, and
//! this adds [`IoFeatures`] to them.

use std::marker::PhantomData;

use crate::{Abandoned, Capabilities, Engine, Filled, IoFeatures, OpenPlan, Result, Source};

/// Features required of an engine.
pub trait RequiredFeatures {
    /// The features.
    const FEATURES: IoFeatures;
}

/// No features, to build on.
pub const PLAIN: IoFeatures = IoFeatures {
    dontcache: false,
    atomic: false,
    dsync: false,
    fsync: false,
    poll: false,
    scattered: false,
    discards: false,
};

/// Polled completions.
pub struct Polled;

impl RequiredFeatures for Polled {
    const FEATURES: IoFeatures = IoFeatures {
        poll: true,
        ..PLAIN
    };
}

/// An engine with these features.
pub struct WithFeatures<E, A>(E, PhantomData<A>);

impl<E: Engine, A: RequiredFeatures> Engine for WithFeatures<E, A> {
    fn open(plan: &OpenPlan) -> Result<Self> {
        let mut plan = plan.clone();
        plan.features = A::FEATURES;
        E::open(&plan).map(|engine| WithFeatures(engine, PhantomData))
    }

    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn now_ns(&self) -> u64 {
        self.0.now_ns()
    }

    fn fill(&mut self, source: &mut impl Source, now_ns: u64) -> Filled {
        self.0.fill(source, now_ns)
    }

    fn submit_and_wait(&mut self, at_least: u32, until_ns: Option<u64>) -> Result<()> {
        self.0.submit_and_wait(at_least, until_ns)
    }

    fn reap(&mut self, source: &mut impl Source) -> u32 {
        self.0.reap(source)
    }

    fn close(self, limit_ns: u64) -> Abandoned {
        self.0.close(limit_ns)
    }
}
