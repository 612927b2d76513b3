//! A test desk: a store, an observer that records events, and requests.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use stripewise_campaign::run::{RunExtras, run};
use stripewise_campaign::{
    Clock, Context, Event, FileSystemSize, Interrupt, Observer, Permissions, Surroundings,
};
use stripewise_results::{JobRecord, RunRecord};
use stripewise_workload::{PlanOrder, Request, RequestJob, Workload};
use tempfile::TempDir;

/// Names of the events, in order.
#[derive(Clone, Default)]
pub struct EventLog(pub Rc<RefCell<Vec<serde_json::Value>>>);

impl Observer for EventLog {
    fn on_event(&self, event: &Event<'_>) {
        let value = serde_json::to_value(event).expect("an event is JSON");
        self.0.borrow_mut().push(value);
    }
}

impl EventLog {
    pub fn of_kind(&self, kind: &str) -> usize {
        let all = self.0.borrow();
        all.iter().filter(|event| event["event"] == kind).count()
    }
}

/// A stopped clock: simulations do not depend on it.
struct Still;

impl Clock for Still {
    fn now_ns(&self) -> u64 {
        0
    }

    fn timestamp(&self) -> String {
        "2026-11-22T12:00:00.000Z".to_owned()
    }
}

pub struct Desk {
    directory: TempDir,
    pub event_log: EventLog,
    pub interrupt: Interrupt,
}

impl Desk {
    pub fn new() -> Desk {
        Desk {
            directory: tempfile::tempdir().expect("a directory"),
            event_log: EventLog::default(),
            interrupt: Interrupt::default(),
        }
    }

    pub fn context(&self) -> Context {
        self.context_with(Box::new(self.event_log.clone()))
    }

    pub fn context_with(&self, observer: Box<dyn Observer>) -> Context {
        // Each has ids of its own, even in a copied store.
        static CONTEXTS: AtomicU64 = AtomicU64::new(0);
        let number = CONTEXTS.fetch_add(1, Ordering::Relaxed);
        Context::new(Surroundings {
            clock: Box::new(Still),
            observer,
            interrupt: self.interrupt.clone(),
            store: Some(self.store()),
            store_is_named: true,
            command: vec!["test".to_owned()],
            version: "0".to_owned(),
            random_seed: [7 + number * 10_007, 11],
            file_system_size: FileSystemSize::AtMost { bytes: 4 << 30 },
        })
    }

    /// A desk with a copy of this store.
    pub fn with_store(store: &[u8]) -> Desk {
        let desk = Desk::new();
        std::fs::write(desk.store(), store).expect("a store");
        desk
    }

    fn store(&self) -> PathBuf {
        self.directory.path().join("results.db")
    }

    /// The store's bytes, for [`Desk::with_store`]; no process has it open.
    pub fn into_store(self) -> Vec<u8> {
        std::fs::read(self.store()).expect("a store")
    }

    /// Runs a request, which must succeed; returns its records.
    #[track_caller]
    pub fn run(&self, request: Request) -> Vec<RunRecord> {
        run_in(&self.context(), request)
    }

    /// Runs one load on one target; returns the only job of the only run.
    #[track_caller]
    pub fn job(&self, target: &str, workload: Workload) -> JobRecord {
        let mut records = self.run(with(target, [workload]));
        assert_eq!((records.len(), records[0].jobs.len()), (1, 1));
        records.remove(0).jobs.remove(0)
    }
}

/// Short random reads with these numbers of threads, one after the other.
pub fn request(target: &str, threads: &[u32]) -> Request {
    let load = |threads: &u32| Workload {
        threads: *threads,
        duration_ns: 20_000_000,
        ..Workload::default()
    };
    with(target, threads.iter().map(load))
}

/// Loads on one target, one after the other, for their own durations.
pub fn with(target: &str, loads: impl IntoIterator<Item = Workload>) -> Request {
    let jobs = loads.into_iter().map(|workload| RequestJob {
        name: "job".to_owned(),
        targets: vec![target.to_owned()],
        workload,
    });
    Request {
        jobs: jobs.collect(),
        order: PlanOrder::Alone,
        ..Request::default()
    }
}

/// Runs a request, which must succeed; returns its records.
#[track_caller]
pub fn run_in(context: &Context, request: Request) -> Vec<RunRecord> {
    let mut store = context.open_store().expect("a store");
    let (permissions, extras) = (Permissions::default(), RunExtras::default());
    let ran = run(context, &mut store, request, &permissions, extras).expect("it begins");
    ran.ended.expect("it ends well");
    ran.records
}

/// The id under which several runs are stored.
#[track_caller]
pub fn series_of(records: &[RunRecord]) -> String {
    records[0].series.clone().expect("a series")
}
