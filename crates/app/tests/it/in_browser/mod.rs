//! What is shown, in a real Chromium. Each of these tests takes as long as a hundred
//! others, so `cargo test` leaves them out by name, and the second lane of `cargo xtask ci`
//! runs them.

mod browser;
mod further_pages;
mod page_controls;
mod report_pages;
mod serve_pages;
mod serve_watched;
