//! One read of a target through an engine: checks that measuring can work at all. Nothing is
//! written.

use std::fs::File;
use std::sync::Arc;
use stripewise_io_engine::backend::{
    linux_io_uring::Uring, portable_threads::Threads, windows_iocp::Iocp,
};
use stripewise_io_engine::{
    Clock, Completion, Engine, EngineName, Kind, Next, OpenPlan, Operation, Source, error_name,
};
use stripewise_targets::{Access, Target};
use stripewise_workload::CacheMode;

/// How long to wait. A disk that has to spin up takes some seconds.
const WAIT_NS: u64 = 30_000_000_000;
/// How long to wait for a read that was given up.
const CLOSE_NS: u64 = 1_000_000_000;
/// Length of the read, if the target is that large.
const LENGTH_BYTES: u64 = 4096;

/// Result of one read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The engine used; never [`EngineName::Auto`].
    pub engine: EngineName,
    /// `Ok` if the bytes arrived, otherwise why not: `read EIO`.
    pub outcome: Result<(), String>,
    /// How to resolve it; empty if it worked.
    pub hint: &'static str,
}

/// Reads the target's first block once through the engine that a run would choose, and once through
/// the threads engine if that differs. The descriptors are opened as for a run. Takes at most half
/// a minute each.
pub fn trial_reads(target: &Target) -> Vec<Trial> {
    let chosen = EngineName::Auto.choose().engine;
    let mut engines = vec![chosen];
    if chosen != EngineName::Threads {
        engines.push(EngineName::Threads);
    }
    engines
        .into_iter()
        .map(|engine| trial_read(engine, target))
        .collect()
}

fn trial_read(engine: EngineName, target: &Target) -> Trial {
    let sector = u64::from(target.logical_sector_bytes()).max(1);
    let wanted = target.size_bytes().min(LENGTH_BYTES).max(sector);
    let length_bytes = u32::try_from(wanted / sector * sector).unwrap_or(512);
    let outcome = match target.open(CacheMode::Direct, Access::Read) {
        Ok(file) => by_name(engine, file, length_bytes),
        Err(error) => Err((error.to_string(), "")),
    };
    let (outcome, hint) = match outcome {
        Ok(()) => (Ok(()), ""),
        Err((why, hint)) => (Err(why), hint),
    };
    Trial {
        engine,
        outcome,
        hint,
    }
}

type FailureReason = (String, &'static str);

fn by_name(engine: EngineName, file: File, length_bytes: u32) -> Result<(), FailureReason> {
    match engine {
        EngineName::Iocp => through::<Iocp>(file, length_bytes),
        EngineName::Uring => through::<Uring>(file, length_bytes),
        _ => through::<Threads>(file, length_bytes),
    }
}

fn through<E: Engine>(file: File, length_bytes: u32) -> Result<(), FailureReason> {
    let failed = |error: stripewise_io_engine::Error| (error.to_string(), HINT_ENGINE);
    let clock = Clock::start();
    let plan = OpenPlan::new(vec![Arc::new(file)], 1, length_bytes, clock);
    let mut engine = E::open(&plan).map_err(failed)?;
    let mut one = SingleRead {
        length_bytes,
        issued: false,
        result: None,
    };
    let until_ns = engine.now_ns().saturating_add(WAIT_NS);
    let now_ns = engine.now_ns();
    engine.fill(&mut one, now_ns);
    while one.result.is_none() && engine.now_ns() < until_ns {
        engine.submit_and_wait(1, Some(until_ns)).map_err(failed)?;
        engine.reap(&mut one);
    }
    let result = one.result;
    engine.close(CLOSE_NS);
    judge(result, length_bytes)
}

const HINT_ENGINE: &str = "measure through another engine: `stripewise run --engine threads`";

fn judge(result: Option<i32>, length_bytes: u32) -> Result<(), FailureReason> {
    let why = |what: String, hint| Err((what, hint));
    match result {
        None => why(
            "the read did not come back within 30 s".to_owned(),
            stripewise_units::advice(
                "find out why the device does not answer: `dmesg`, `dmsetup info` (suspended?)",
                "find out why the device does not answer: Event Viewer, Windows Logs, System",
            ),
        ),
        Some(number) if number < 0 => {
            let name = error_name(number.saturating_neg());
            let hint = match name.as_str() {
                "EAGAIN" => HINT_ENGINE,
                "EIO" | "EREMOTEIO" | "EILSEQ" | "ENODATA" => {
                    "look at the kernel's log (`dmesg`) and the disk's own (`smartctl -a`): the \
                     first block cannot be read"
                }
                "ENXIO" | "ENODEV" => "check that the device is still there (`lsblk`)",
                _ => stripewise_units::advice(
                    "look at the kernel's log (`dmesg`) for what the device reports",
                    "look at Event Viewer, Windows Logs, System, for what the device reports",
                ),
            };
            why(format!("read {name}"), hint)
        }
        Some(got) if got.unsigned_abs() != length_bytes => why(
            format!("the read ended after {got} of {length_bytes} bytes"),
            "check that nothing truncates the file, and that its file system is healthy",
        ),
        Some(_) => Ok(()),
    }
}

/// Issues a read of the first block, once.
struct SingleRead {
    length_bytes: u32,
    issued: bool,
    result: Option<i32>,
}

impl Source for SingleRead {
    fn next(&mut self, _now_ns: u64) -> Next {
        if std::mem::replace(&mut self.issued, true) {
            return Next::Finished;
        }
        Next::Operation(Operation {
            slot: 0,
            file: 0,
            kind: Kind::Read,
            offset_bytes: 0,
            length_bytes: self.length_bytes,
        })
    }

    fn data(&mut self, _operation: &Operation, _buffer: &mut [u8]) {}

    fn complete(&mut self, done: Completion) {
        self.result = Some(done.result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_fails_says_how_and_what_to_do() {
        let cases = [
            (Some(-5), "read EIO", "dmesg"),
            (Some(-11), "read EAGAIN", "--engine"),
            (Some(-6), "read ENXIO", "lsblk"),
            (Some(-200), "read error 200", "dmesg"),
            (Some(512), "512 of 4096 bytes", "file"),
            (None, "within 30 s", "dmsetup info"),
        ];
        for (result, expected_text, hint) in cases {
            let (what, hint_text) = judge(result, 4096).expect_err(expected_text);
            assert!(what.contains(expected_text), "{what}");
            assert!(hint_text.contains(hint), "{hint_text}");
        }
        assert_eq!(judge(Some(4096), 4096), Ok(()));
    }
}
