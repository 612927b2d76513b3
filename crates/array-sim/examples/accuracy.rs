//! Prints the accuracy report; `cargo xtask accuracy` does the same and checks it.

// Few targets use the published tables; all use the code that drives an array.
#[allow(dead_code, unused_imports)]
#[path = "../tests/accuracy/mod.rs"]
mod accuracy;

use accuracy::{OPERATIONS, report};

fn main() {
    let operations = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let report = report(operations.unwrap_or(OPERATIONS));
    print!("{report}");
    if !report.passed() {
        std::process::exit(1);
    }
}
