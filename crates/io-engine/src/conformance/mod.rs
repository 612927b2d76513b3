//! One suite for every back end: what [`Engine`] promises, as tests.
//!
//! [`run`] takes an engine type and a [`Fixture`] that makes files (the caller opens them for
//! writing), runs every case, and panics with the case's name at the first violation. Cases that
//! need something the system lacks are returned as skips with a reason, for the caller to count.
//! Times are checked only logically (not before, not never), so a slow machine causes no failures.

mod cases;
pub mod request_log;
mod script;

use std::any::Any;
use std::fs::File;

use crate::backend::sys;
use crate::{Clock, Engine, ErrorKind, OpenPlan};

/// Provides what the cases need. Every file holds [`pattern`], is readable and writable unless
/// stated otherwise, and is deleted automatically.
pub trait Fixture {
    /// An ordinary file.
    fn file(&self, size_bytes: u64) -> File;
    /// A file that cannot be written through.
    fn read_only(&self, size_bytes: u64) -> File;
    /// A file that bypasses the page cache, on which misaligned operations fail; or why not.
    ///
    /// # Errors
    /// What is missing.
    fn direct(&self, size_bytes: u64) -> Result<File, String>;
    /// Interrupts the calling thread with signals repeatedly until the guard is dropped; or why it
    /// cannot.
    ///
    /// # Errors
    /// What is missing.
    fn interrupt_me(&self) -> Result<Box<dyn Any>, String>;
    /// The current contents of a file.
    fn contents(&self, file: &File) -> Vec<u8> {
        contents(file)
    }
}

/// The byte that test files hold at an offset.
pub fn pattern(offset_bytes: u64) -> u8 {
    // Any odd multiplier works; adjacent words and pages must differ.
    word(offset_bytes / 8)[(offset_bytes % 8) as usize]
}

fn word(number: u64) -> [u8; 8] {
    (number + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .to_le_bytes()
}

/// [`pattern`] for a range of offsets.
pub fn patterns(offsets: std::ops::Range<u64>) -> Vec<u8> {
    let words = offsets.start / 8..offsets.end.div_ceil(8);
    let mut bytes = Vec::new();
    // Tests are not optimised: a step per word, not per byte.
    words.for_each(|number| bytes.extend_from_slice(&word(number)));
    let skip = (offsets.start % 8) as usize;
    bytes[skip..skip + (offsets.end - offsets.start) as usize].to_vec()
}

/// The contents of a file, by positioned reads: a file open for overlapped I/O has no position.
///
/// # Panics
/// If it cannot be read.
pub fn contents(file: &File) -> Vec<u8> {
    let mut bytes = vec![0; file.metadata().expect("its length").len() as usize];
    let mut got = 0;
    while got < bytes.len() {
        let count = sys::read_at(file, &mut bytes[got..], got as u64, 0).expect("reads");
        assert!(count > 0, "the file ends before its length");
        got += count;
    }
    bytes
}

/// How an engine differs from a full one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// It reads and writes.
    Full,
    /// It only pretends to.
    MovesNoData,
    /// It submits each operation in `fill`, so none can be dropped later.
    SubmitsInFill,
    /// It sends commands to devices, which have a fixed end, and accepts no more than fits one
    /// command.
    Commands,
    /// It polls for operations on devices, with commands or not, and has no syncs.
    PolledBlocks,
}

impl Scope {
    fn leaves_out<E>(self, case: &Case<E>) -> bool {
        let is_one_of = |names: &[&str]| names.contains(&case.name);
        match self {
            Scope::Full => false,
            Scope::MovesNoData => case.needs_data,
            Scope::SubmitsInFill => case.name == cases::NEVER_SUBMITTED,
            Scope::Commands => is_one_of(&cases::OF_FILES),
            Scope::PolledBlocks => is_one_of(&cases::OF_FILES) || is_one_of(&cases::WITH_SYNCS),
        }
    }
}

/// Result of a run of the suite; failures panic instead.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Names of the cases that passed.
    pub passed: Vec<&'static str>,
    /// Names of the cases that could not run, and why.
    pub skipped: Vec<(&'static str, String)>,
}

/// What a case needs.
struct Case<E> {
    name: &'static str,
    needs_data: bool,
    run: fn(&dyn Fixture) -> CaseOutcome<E>,
}

/// `Err` is the reason for a skip.
type CaseOutcome<E> = Result<std::marker::PhantomData<E>, String>;

/// Runs every case against one engine.
///
/// # Errors
/// The reason, if the engine does not exist on this system.
///
/// # Panics
/// If the engine breaks a promise.
pub fn run<E: Engine>(fixture: &dyn Fixture, scope: Scope) -> Result<Report, String> {
    let plan = OpenPlan::new(Vec::new(), 1, 4096, Clock::start());
    match E::open(&plan) {
        Ok(engine) => drop(engine.close(0)),
        Err(error) if error.kind == ErrorKind::Unsupported => return Err(error.to_string()),
        Err(error) => panic!("the engine does not open: {error}"),
    }
    let mut report = Report::default();
    for case in cases::all::<E>() {
        if scope.leaves_out(&case) {
            continue;
        }
        // Shown by the test harness only if the case then fails.
        println!("case: {}", case.name);
        match (case.run)(fixture) {
            Ok(_) => report.passed.push(case.name),
            Err(reason) => report.skipped.push((case.name, reason)),
        }
    }
    Ok(report)
}
