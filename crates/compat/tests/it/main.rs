//! Other tools' formats, on examples of our own in the same form.

mod arithmetic;
mod commands;
mod conversions;
mod mutations;
mod parsers;
mod sqlio_output;
mod tools;
