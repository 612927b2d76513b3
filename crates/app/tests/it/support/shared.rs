//! What several tests look at, made once: each has a copy of the store.

use super::{Desk, Json};
use std::sync::OnceLock;

/// A whole bench: what `--json` printed, and its store.
pub struct BenchResult {
    pub printed: String,
    store: Vec<u8>,
}

impl BenchResult {
    /// A desk where this was the only thing done.
    pub fn desk(&self) -> Desk {
        let desk = Desk::new();
        std::fs::write(desk.store(), &self.store).expect("a store");
        desk
    }

    pub fn document(&self) -> Json {
        Json::parse(&self.printed).expect("a document")
    }
}

/// The five series of a simulated solid-state drive.
pub fn bench_of_a_drive() -> &'static BenchResult {
    static BENCHED: OnceLock<BenchResult> = OnceLock::new();
    BENCHED.get_or_init(|| {
        let desk = Desk::new();
        let bench = ["bench", "sim:sata-ssd", "--step", "1s", "--json"];
        let printed = desk.run(&bench).done().stdout;
        let store = std::fs::read(desk.store()).expect("a store");
        BenchResult { printed, store }
    })
}
