//! Other tools' formats, on examples of our own in the same form.

mod anything;
mod arithmetic;
mod carried;
mod commands;
mod contradictions;
mod conversions;
mod fio_export;
mod forms;
mod found_in_use;
mod line_damage;
mod mutations;
mod parsers;
#[path = "../../../../tests/support/skips.rs"]
mod skips;
mod sources;
mod sqlio_output;
mod tools;
