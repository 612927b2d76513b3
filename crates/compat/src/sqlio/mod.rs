//! SQLIO v1.5.SG: its command line, its parameter file, its output.
//!
//! The program was withdrawn long ago. Its behaviour is reconstructed from its documentation and
//! published results; where neither gives the wording or behaviour, it is Stripewise's own, and
//! `docs/SQLIO.md` lists those cases.

mod arithmetic;
pub mod command;
mod consistency;
pub mod param_file;
mod print;
mod read;
mod record;
mod report;
mod setup;
mod words;

pub use arithmetic::{Counted, HISTOGRAM_BINS, initiation_us, mib_hundredths, rate_hundredths};
pub use command::Command;
pub use print::{expanding, head, size_line, tail};
pub(crate) use read::{Reader, command_in};
pub use record::report_of;
pub use report::{AccessPattern, Growth, Latencies, Operation, Pool, Prepared, Report, Timer};
pub use setup::{Setup, SetupFile, SetupJob, setup};
pub(crate) use words::words_of_call;

/// The text of `sqlio -?`, in Stripewise's own words.
pub const USAGE: &str = include_str!("usage.txt");

use stripewise_workload::CacheMode;

/// The wording for `-BH`, the only one found in published results.
pub(crate) const HARDWARE_CACHE: &str = "use hardware disk cache (but not file cache)";

/// Stripewise's wording for the others, after `buffering set to `.
const CACHE_WORDS: [(CacheMode, &str); 4] = [
    (CacheMode::Direct, HARDWARE_CACHE),
    (
        CacheMode::DirectSync,
        "use neither file cache nor hardware disk cache",
    ),
    (
        CacheMode::Buffered,
        "use file cache and hardware disk cache",
    ),
    (
        CacheMode::BufferedSync,
        "use file cache (but not hardware disk cache)",
    ),
];

/// The wording of a cache mode after `buffering set to `.
pub fn cache_words(cache: CacheMode) -> &'static str {
    let found = CACHE_WORDS.iter().find(|(known, _)| *known == cache);
    found.map_or("", |(_, words)| words)
}

fn cache_of_words(words: &str) -> Option<CacheMode> {
    let found = CACHE_WORDS.iter().find(|(_, known)| *known == words);
    found.map(|(cache, _)| *cache)
}
