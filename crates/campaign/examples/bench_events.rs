//! A complete front end: runs a bench on a simulated array and prints its events as JSON
//! lines, with the answers of its series last.
//!
//! `cargo run -p stripewise-campaign --example bench_events -- sim:nvme`

use std::error::Error;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use stripewise_campaign::bench::{BenchOptions, bench, planned};
use stripewise_campaign::{
    Clock, Context, Event, FileSystemSize, Interrupt, Observer, Permissions, Surroundings,
};
use stripewise_lab::{SeriesKind, series_of};

/// Prints each event as a line.
struct Lines;

impl Observer for Lines {
    fn on_event(&self, event: &Event<'_>) {
        if let Ok(line) = serde_json::to_string(event) {
            println!("{line}");
        }
    }
}

struct System(Instant);

impl Clock for System {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn timestamp(&self) -> String {
        // A real front end would use a calendar.
        "2026-01-01T00:00:00.000Z".to_owned()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args().nth(1).unwrap_or("sim:nvme".to_owned());
    let directory = tempfile::tempdir()?;
    let random_seed = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64;
    let context = Context::new(Surroundings {
        clock: Box::new(System(Instant::now())),
        observer: Box::new(Lines),
        interrupt: Interrupt::default(),
        store: Some(directory.path().join("results.db")),
        store_is_named: true,
        command: vec!["bench_events".to_owned(), target.clone()],
        version: env!("CARGO_PKG_VERSION").to_owned(),
        random_seed: [random_seed, random_seed],
        file_system_size: FileSystemSize::Measured,
    });
    let options = BenchOptions {
        series: vec![SeriesKind::RandomRead],
        ..BenchOptions::of(target)
    };
    let plan = planned(&options)?;
    let mut store = context.open_store()?;
    let permissions = Permissions::default();
    let benched = bench(&context, &mut store, &options, plan, &permissions)?;
    benched.ended?;
    for series in series_of(&benched.records) {
        println!("{}", serde_json::to_string(&series)?);
    }
    Ok(())
}
