//! Verifications of a file: simulated targets hold no data.

use crate::support::{Desk, with};
use std::fs::File;
use std::path::{Path, PathBuf};
use stripewise_campaign::run::{RunExtras, run};
use stripewise_campaign::verify::{Caching, VerifyOptions, verify};
use stripewise_campaign::{Event, Exit, Observer, Permissions};
use stripewise_io_engine::EngineName;
use stripewise_workload::{CacheMode, Request, Workload};

fn truncate(file: &Path) {
    let file = File::options().write(true).open(file);
    file.and_then(|file| file.set_len(0)).expect("truncated");
}

/// Truncates a file when a phase has ended.
struct Truncates(PathBuf);

impl Observer for Truncates {
    fn on_event(&self, event: &Event<'_>) {
        if matches!(event, Event::End) {
            truncate(&self.0);
        }
    }
}

/// Truncates a file before it is read at the end of a run.
struct TruncatesBeforeTheLastReading(PathBuf);

impl Observer for TruncatesBeforeTheLastReading {
    fn on_event(&self, event: &Event<'_>) {
        if matches!(event, Event::Begin { title, .. } if title.starts_with("Reading everything")) {
            truncate(&self.0);
        }
    }
}

#[test]
fn no_run_follows_one_whose_last_reading_failed() {
    let desk = Desk::new();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("data");
    std::fs::write(&file, vec![1; 1 << 20]).expect("a file");
    let observer = TruncatesBeforeTheLastReading(file.clone());
    let context = desk.context_with(Box::new(observer));
    let load = Workload {
        read_percent: 0,
        cache: CacheMode::Buffered,
        duration_ns: 600_000_000_000,
        ..Workload::default()
    };
    let request = Request {
        repetitions: 2,
        // A run of so many milliseconds may write nothing, and then there is nothing to read.
        operations_max_per_thread: Some(20),
        engine: "threads".to_owned(),
        verify: true,
        ..with(file.to_str().expect("UTF-8"), [load])
    };
    let permissions = Permissions {
        overwrite: true,
        busy_ok: true,
        ..Permissions::default()
    };
    let mut store = context.open_store().expect("a store");
    let extras = RunExtras::default();
    let ran = run(&context, &mut store, request, &permissions, extras).expect("it begins");
    ran.ended.expect("it ends well");
    assert_eq!(ran.records.len(), 1, "the second would overwrite it");
    let verification = ran.records[0].verification.as_ref().expect("verified");
    assert!(!verification.read_at_end);
    assert!(verification.faults.is_empty(), "{:?}", verification.faults);
}

#[test]
fn a_file_that_is_truncated_between_two_phases_ends_with_a_document() {
    let desk = Desk::new();
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("data");
    std::fs::write(&file, vec![1; 1 << 20]).expect("a file");
    let context = desk.context_with(Box::new(Truncates(file.clone())));
    let options = VerifyOptions {
        targets: vec![file.to_str().expect("UTF-8").to_owned()],
        duration_ns: 1,
        size_bytes: None,
        capacity: false,
        caching: Caching::Buffered,
        threads: 1,
        outstanding: 1,
        load_by_number: false,
        profile: None,
        read_percent: 50,
        seed: 1,
        engine: EngineName::Threads,
        stop_after: 10,
        faults: None,
        companion: None,
    };
    let permissions = Permissions {
        overwrite: true,
        busy_ok: true,
        ..Permissions::default()
    };
    let mut store = context.open_store().expect("a store");
    let document = verify(&context, &mut store, &options, &permissions).expect("a document");
    assert_eq!(document.phases.len(), 1, "only the first was made");
    assert!(document.faults.is_empty(), "{:?}", document.faults);
    let changed = document.targets[0].changed.as_deref();
    assert!(changed.is_some_and(|changed| changed.starts_with("was cut from 1 MiB")));
    let exit = stripewise_campaign::steps::verification::exit_of(&context, &document);
    assert_eq!(exit, Exit::InputOutput);
}
