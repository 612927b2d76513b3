//! Engines that do as the test says, around the one that does nothing.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use stripewise_io_engine::backend::null::Null;
use stripewise_io_engine::{
    Abandoned, Capabilities, Completion, Engine, Error, ErrorKind, Filled, Next, OpenPlan,
    Operation, Result, Source,
};

/// Operations that [`Recorded`] engines have seen, one list for each test.
pub static LOGS: [Mutex<Vec<Operation>>; 4] = [const { Mutex::new(Vec::new()) }; 4];

/// Logs operations; `LOG` distinguishes the tests.
pub struct Recorded<const LOG: usize>(Null);

struct Listening<'a, S>(&'a mut S, &'a mut Vec<Operation>);

impl<S: Source> Source for Listening<'_, S> {
    fn next(&mut self, now_ns: u64) -> Next {
        let next = self.0.next(now_ns);
        if let Next::Operation(operation) = next {
            self.1.push(operation);
        }
        next
    }

    fn data(&mut self, operation: &Operation, buffer: &mut [u8]) {
        self.0.data(operation, buffer);
    }

    fn ready(&mut self, slot: u32, now_ns: u64) {
        self.0.ready(slot, now_ns);
    }

    fn complete(&mut self, done: Completion) {
        self.0.complete(done);
    }
}

impl<const LOG: usize> Engine for Recorded<LOG> {
    fn open(plan: &OpenPlan) -> Result<Self> {
        Null::open(plan).map(Recorded)
    }

    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn now_ns(&self) -> u64 {
        self.0.now_ns()
    }

    fn fill(&mut self, source: &mut impl Source, now_ns: u64) -> Filled {
        let mut log = LOGS[LOG].lock().expect("no test panics with it");
        self.0.fill(&mut Listening(source, &mut log), now_ns)
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

/// What happens to [`Ill`] engines in the end.
pub const STUCK: u8 = 0;
pub const BROKEN: u8 = 1;
pub const UNOPENABLE: u8 = 2;

/// How many engines of type [`UNOPENABLE`] were requested.
pub static ASKED: AtomicU32 = AtomicU32::new(0);

/// How many engines of the sort [`STUCK`] are.
pub static STUCK_THREADS: AtomicU32 = AtomicU32::new(0);

/// Works for 10,000 waits and then, by `END`, never returns or breaks; or the
/// second one cannot be opened at all.
pub struct Ill<const END: u8> {
    inner: Null,
    waits_left: u32,
}

fn error(kind: ErrorKind, what: &str) -> Error {
    Error {
        kind,
        engine: "ill",
        what: what.to_owned(),
        hint: "see a doctor",
        os: None,
    }
}

impl<const END: u8> Engine for Ill<END> {
    fn open(plan: &OpenPlan) -> Result<Self> {
        if END == UNOPENABLE && ASKED.fetch_add(1, Ordering::Relaxed) == 1 {
            return Err(error(ErrorKind::Unsupported, "it was not there"));
        }
        Ok(Ill {
            inner: Null::open(plan)?,
            waits_left: 10_000,
        })
    }

    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn now_ns(&self) -> u64 {
        self.inner.now_ns()
    }

    fn fill(&mut self, source: &mut impl Source, now_ns: u64) -> Filled {
        self.inner.fill(source, now_ns)
    }

    fn submit_and_wait(&mut self, at_least: u32, until_ns: Option<u64>) -> Result<()> {
        self.waits_left = self.waits_left.saturating_sub(1);
        if self.waits_left == 0 {
            if END == BROKEN {
                return Err(error(ErrorKind::Broken, "it fell to pieces"));
            }
            STUCK_THREADS.fetch_add(1, Ordering::Relaxed);
            // Like a thread in an uninterruptible call to the kernel.
            loop {
                std::thread::park();
            }
        }
        self.inner.submit_and_wait(at_least, until_ns)
    }

    fn reap(&mut self, source: &mut impl Source) -> u32 {
        self.inner.reap(source)
    }

    fn close(self, limit_ns: u64) -> Abandoned {
        self.inner.close(limit_ns)
    }
}

#[test]
fn plan_files_and_switches_know_the_same_engines() {
    let names = stripewise_io_engine::EngineName::ALL.map(|engine| engine.to_string());
    assert_eq!(names, stripewise_workload::ENGINE_NAMES);
}
