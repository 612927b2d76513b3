//! Runs an engine for a worker that verifies: opens, fills, reaps, closes it.

use stripewise_io_engine::backend::{
    faulty::Faulty, linux_io_uring::Uring, portable_threads::Threads, windows_iocp::Iocp,
};
use stripewise_io_engine::{Engine, EngineName, Error, Next, OpenPlan, Result, Source};

/// Maximum wait of a worker, so that it sees a stop even if nothing completes.
const WAIT_NS_MAX: u64 = 50_000_000;
/// How long to wait for operations in flight when a worker has finished, in nanoseconds.
pub const DRAIN_LIMIT_NS: u64 = 60_000_000_000;

/// The result of running an engine.
#[derive(Debug, Default)]
pub struct EngineRun {
    /// It was opened; otherwise `failure` says why not.
    pub opened: bool,
    /// Why no better engine was available.
    pub fallbacks: Vec<String>,
    /// Why it ended early.
    pub failure: Option<Error>,
}

/// Opens the engine of this name and runs it for `source` until that has finished.
/// Operations still in flight a minute later are abandoned.
pub fn work<S: Source>(name: EngineName, plan: &OpenPlan, source: &mut S) -> EngineRun {
    match (name, plan.faults.is_some()) {
        (EngineName::Uring, false) => live::<Uring, S>(plan, source),
        (EngineName::Uring, true) => live::<Faulty<Uring>, S>(plan, source),
        (EngineName::Iocp, false) => live::<Iocp, S>(plan, source),
        (EngineName::Iocp, true) => live::<Faulty<Iocp>, S>(plan, source),
        (_, false) => live::<Threads, S>(plan, source),
        (_, true) => live::<Faulty<Threads>, S>(plan, source),
    }
}

fn live<E: Engine, S: Source>(plan: &OpenPlan, source: &mut S) -> EngineRun {
    let mut engine = match E::open(plan) {
        Ok(engine) => engine,
        Err(error) => {
            return EngineRun {
                failure: Some(error),
                ..EngineRun::default()
            };
        }
    };
    let fallbacks = engine.capabilities().fallbacks.clone();
    let failure = turn(&mut engine, source).err();
    engine.close(0);
    EngineRun {
        opened: true,
        fallbacks,
        failure,
    }
}

/// Fills, waits and reaps until nothing remains to be done.
fn turn<E: Engine>(engine: &mut E, source: &mut impl Source) -> Result<()> {
    let mut in_flight = 0;
    let mut stopped_ns = None;
    loop {
        let now_ns = engine.now_ns();
        let filled = engine.fill(source, now_ns);
        in_flight += filled.taken;
        if filled.then == Next::Finished {
            if in_flight == 0 {
                return Ok(());
            }
            let since_ns = *stopped_ns.get_or_insert(now_ns);
            if now_ns.saturating_sub(since_ns) > DRAIN_LIMIT_NS {
                return Ok(());
            }
        } else {
            stopped_ns = None;
        }
        engine.submit_and_wait(1, Some(now_ns + WAIT_NS_MAX))?;
        in_flight -= engine.reap(source);
    }
}
