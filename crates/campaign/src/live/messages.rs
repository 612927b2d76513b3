//! Messages of a server besides the store's contents: runs that it started, and
//! refusals. Defined here so that their schema is published with all others.

use serde::{Deserialize, Serialize};

/// A file or device that runs may be started on.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct AllowedTarget {
    /// As the user typed it.
    pub name: String,
}

/// A run to start. It can only read: this type offers nothing else.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// `bench` or `run`.
    pub what: String,
    /// One of the allowed, or `sim:NAME`.
    pub target: String,
    /// The user's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// As behind `--block`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// As behind `--threads`, of `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<String>,
    /// As behind `--outstanding`, of `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<String>,
    /// As behind `--duration`, of `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// As behind `--time`, of `bench`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// A run that goes on or has ended.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct Started {
    /// `bench` or `run`.
    pub what: String,
    /// On what.
    pub target: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// What it does now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Time that all of it may still take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_ns: Option<u64>,
    /// What must be known of it, the last words last.
    pub notes: Vec<String>,
    /// The code that it ended with; absent while it goes on, and where a signal ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// It has ended.
    pub has_ended: bool,
}

/// What may be started here, and what was started last.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StartedHere {
    /// Files and devices besides simulated arrays.
    pub allowed: Vec<AllowedTarget>,
    /// Absent where nothing was started yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Started>,
}

/// Whether something was done: a run was started, or there was one to stop.
#[derive(Clone, Copy, Debug, Serialize, schemars::JsonSchema)]
pub struct Done {
    /// It was.
    pub done: bool,
}

/// Where another browser may sign in, once.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LoginPath {
    /// Behind the server's address: `/login#TOKEN`.
    pub path: String,
}

/// A refusal or a failure, with the status of the answer.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Refused {
    /// What is wrong.
    pub error: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
