//! What ranks say to each other: JSON, a message at a time. A few KiB a second and host.

use crate::places::Places;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stripewise_conductor::host_group::{Aim, Step};
use stripewise_conductor::start::MeasuredPlace;
use stripewise_lab::hosts::PartInterval;
use stripewise_results::{GroupRecord, RunRecord};
use stripewise_units::WallTime;
use stripewise_workload::Request;

/// A message. Rank 0 leads: the others talk to it, and it talks to all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum Message {
    /// To rank 0, before anything else: who is here. Every version of the program
    /// understands it, so that another version can be named.
    Greeting {
        /// The program's version.
        version: String,
        /// Name of the host.
        host: String,
        /// A device may be destroyed that was named without its host.
        #[serde(default)]
        destroys_anywhere: bool,
    },
    /// From rank 0: what is to be measured, and where on which host.
    Request {
        /// As rank 0 has read it.
        request: Box<Request>,
        /// The map.
        places: Places,
    },
    /// From rank 0, of a command that decides from result to result: its targets.
    Targets {
        /// As they were typed.
        texts: Vec<String>,
        /// The map.
        places: Places,
    },
    /// From rank 0: what is done to the target.
    Aim {
        /// All of it.
        aim: Box<Aim>,
    },
    /// From rank 0: a run that is made next.
    Step {
        /// With the seeds of rank 0.
        step: Box<Step>,
    },
    /// To rank 0: what this rank found by itself.
    Found {
        /// Its document.
        document: Value,
    },
    /// To rank 0: what was asked can be done here, as far as that can be judged without
    /// touching anything.
    Checked {
        /// Files and devices that this rank measures on.
        targets: Vec<MeasuredPlace>,
        /// What is measured, without the names of targets and the seeds.
        plan: String,
    },
    /// From rank 0: all can do it. Bytes may be written now.
    Proceed,
    /// To rank 0: everything is open and filled.
    Ready {
        /// Number of the run, from 0.
        run: u32,
        /// The record as far as it is known: what is left of a rank that is lost.
        skeleton: Box<RunRecord>,
    },
    /// From rank 0: what does your clock show?
    Ping {
        /// Comes back with the answer.
        number: u32,
    },
    /// The answer.
    Pong {
        /// As asked.
        number: u32,
        /// The clock.
        wall: WallTime,
    },
    /// From rank 0: start then.
    Go {
        /// Number of the run.
        run: u32,
        /// On the receiver's clock.
        at: WallTime,
        /// The receiver's clock minus that of rank 0, nanoseconds.
        offset_ns: i64,
        /// How exact that is, nanoseconds.
        error_ns: u64,
        /// All of them, with the receiver's rank.
        group: GroupRecord,
    },
    /// To rank 0: an interval of a run, job by job.
    Interval {
        /// Number of the run.
        run: u32,
        /// In the order of the jobs.
        jobs: Vec<PartInterval>,
    },
    /// Both ways: still here.
    Beat,
    /// From rank 0: stop at that moment of the receiver's clock.
    Stop {
        /// When.
        at: WallTime,
    },
    /// To rank 0: a run is over, and this rank's own store has it.
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
        /// The code to end with.
        exit: u8,
    },
    /// From rank 0: nothing will come of it, because a rank failed.
    Abort,
    /// From rank 0: the clocks were compared once more, and the run is done with.
    RunOver {
        /// Number of the run.
        run: u32,
    },
    /// From rank 0: all is done; ranks end together.
    End,
}

impl Message {
    /// As bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        // Plain fields with text as keys: there is nothing that JSON cannot hold.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// From bytes; `None` for what no rank of this version sends.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Message> {
        serde_json::from_slice(bytes).ok()
    }
}
