//! Verifications of a file: simulated targets hold no data.

use crate::support::Desk;
use std::fs::File;
use std::path::PathBuf;
use stripewise_campaign::verify::{Caching, VerifyOptions, verify};
use stripewise_campaign::{Event, Exit, Observer, Permissions};
use stripewise_io_engine::EngineName;

/// Truncates a file when a phase has ended.
struct Truncates(PathBuf);

impl Observer for Truncates {
    fn hear(&self, event: &Event<'_>) {
        if matches!(event, Event::End) {
            let file = File::options().write(true).open(&self.0);
            file.and_then(|file| file.set_len(0)).expect("truncated");
        }
    }
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
