//! Messages between ranks: JSON, a few KiB per second and host.

use crate::places::HostTargets;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stripewise_conductor::host_group::{Step, TargetUse};
use stripewise_conductor::start::MeasuredPlace;
use stripewise_lab::hosts::PartInterval;
use stripewise_results::{GroupRecord, RunRecord};
use stripewise_units::WallTime;
use stripewise_workload::Request;

/// A message. Rank 0 leads: the others send to it, and it sends to all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum Message {
    /// To rank 0, first: introduces a rank. Every version of the program
    /// understands it, so that another version can be reported.
    Greeting {
        /// The program's version.
        version: String,
        /// Name of the host.
        host: String,
        /// Some device to be destroyed was named without its host.
        #[serde(default)]
        destroys_anywhere: bool,
    },
    /// From rank 0: the request, and the targets of each host.
    Request {
        /// As read by rank 0.
        request: Box<Request>,
        /// The map.
        places: HostTargets,
    },
    /// From rank 0, for a command that decides from result to result: its targets.
    Targets {
        /// As typed.
        texts: Vec<String>,
        /// The map.
        places: HostTargets,
    },
    /// From rank 0: what will be done to the target.
    #[serde(rename = "aim")]
    TargetUse {
        /// All of it.
        aim: Box<TargetUse>,
    },
    /// From rank 0: the next run.
    Step {
        /// With the seeds of rank 0.
        step: Box<Step>,
    },
    /// To rank 0: what this rank found by itself.
    Found {
        /// Its document.
        document: Value,
    },
    /// To rank 0: the request can be carried out here, as far as that can be checked without
    /// changing anything.
    Checked {
        /// Files and devices that this rank measures on.
        targets: Vec<MeasuredPlace>,
        /// The plan, without the names of targets and the seeds.
        plan: String,
    },
    /// From rank 0: all can do it. Writing may begin.
    Proceed,
    /// To rank 0: everything is open and filled.
    Ready {
        /// Number of the run, from 0.
        run: u32,
        /// The record as far as it is known: the remnant if the rank is lost.
        skeleton: Box<RunRecord>,
    },
    /// From rank 0: a clock query.
    Ping {
        /// Returned with the answer.
        number: u32,
    },
    /// The answer to a clock query.
    Pong {
        /// Number of the query.
        number: u32,
        /// Clock reading.
        wall: WallTime,
    },
    /// From rank 0: start at this time.
    Go {
        /// Number of the run.
        run: u32,
        /// On the receiver's clock.
        at: WallTime,
        /// The receiver's clock minus that of rank 0, nanoseconds.
        offset_ns: i64,
        /// Error bound, in nanoseconds.
        error_ns: u64,
        /// The group, with the receiver's rank; the names of all hosts only with the first run.
        group: GroupRecord,
    },
    /// To rank 0: an interval of a run, job by job.
    Interval {
        /// Number of the run.
        run: u32,
        /// In the order of the jobs.
        jobs: Vec<PartInterval>,
    },
    /// Both ways: heartbeat.
    Beat,
    /// From rank 0: stop at that moment of the receiver's clock.
    Stop {
        /// When.
        at: WallTime,
    },
    /// To rank 0: a run is over, and stored on this rank.
    Record {
        /// Number of the run.
        run: u32,
        /// Without intervals and histograms.
        record: Box<RunRecord>,
    },
    /// To rank 0: this rank cannot go on.
    Failed {
        /// What failed, and why: a line for people.
        text: String,
        /// What to do about it.
        hint: Option<String>,
        /// The exit code.
        exit: u8,
    },
    /// From rank 0: the group gives up, because a rank failed.
    Abort,
    /// From rank 0: the clocks were compared again, and the run is finished.
    RunOver {
        /// Number of the run.
        run: u32,
    },
    /// From rank 0: all is done; ranks end together.
    End,
}

impl Message {
    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // All fields are plain with text keys, so serialisation cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Deserialises; `None` for anything no rank of this version sends.
    pub fn from_bytes(bytes: &[u8]) -> Option<Message> {
        serde_json::from_slice(bytes).ok()
    }
}
