//! The store from outside: what comes back, what survives, what is refused.

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod damage;
mod faults;
mod history;
#[cfg(target_os = "linux")]
#[path = "../../../../tests/support/holder.rs"]
mod holder;
mod killed;
mod migrations;
mod refused;
#[cfg(unix)]
mod rights;
mod roundtrip;
#[path = "../../../../tests/support/skips.rs"]
mod skips;
mod together;

/// Records and stores for the tests.
mod common;
