//! The program as a user runs it: command lines in; exit codes, one JSON document
//! on stdout, and words on stderr out.
//!
//! Each test has a directory and a store of its own and leaves nothing behind; one that
//! claims or mounts a device, or changes a file that is judged afterwards, has a process of
//! its own.
//! What needs root or a tool that is not there is skipped by name, or fails where
//! `STRIPEWISE_REQUIRE_TOOLS=1`. Nothing here depends on how fast the machine is.
#![cfg(target_os = "linux")]

#[path = "../../../../tests/support/own_process.rs"]
#[macro_use]
mod own_process;

mod support;

mod accepted;
mod advise;
mod advise_real;
mod align;
mod answers;
mod article;
mod bench;
mod bench_answers;
mod book;
mod busy;
mod check;
mod compare;
mod convert;
mod discards;
mod disks;
mod doctor;
mod documents;
mod engines;
mod events;
mod every_night;
mod fault_table;
mod faults;
mod foreseen;
mod format;
mod golden;
mod grids;
mod headroom;
mod hints;
mod history;
mod import;
mod in_browser;
mod interruption;
mod lab;
mod last;
mod layouts;
mod like;
mod limits;
mod made_layouts;
mod merge;
mod names;
mod observe;
mod output;
mod page_examples;
mod page_words;
mod partition;
mod pictures;
mod plans;
mod power_cut;
mod probe_faults;
mod probes;
mod qualify;
mod questions;
mod quiet;
mod report;
mod requests;
mod run_verified;
mod safety;
mod serve;
mod serve_api;
mod serve_crowd;
mod serve_store;
mod sqlio;
mod stores;
mod streams;
mod tails;
mod terminals;
mod threads;
mod trust;
mod trust_caps;
mod verify;
mod volume_limits;
mod watch;
mod widths;
mod witness;
