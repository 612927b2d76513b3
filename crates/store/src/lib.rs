//! The SQLite file that keeps every result, and its migrations.
#![forbid(unsafe_code)]
