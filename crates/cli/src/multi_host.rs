//! The interface of a program that does the same on many hosts: `stripewise-mpi`.

use crate::failure::{Failure, Outcome};
use std::rc::Rc;
use stripewise_conductor::host_group::HostGroup;
use stripewise_conductor::start::Companion;
use stripewise_lab::hosts::HostPart;
use stripewise_workload::Request;

/// The document of one host.
#[derive(Clone, Debug)]
pub struct HostDocument {
    /// Its name, with the rank if several are on it.
    pub host: String,
    /// Its document.
    pub document: serde_json::Value,
}

/// One of several hosts that do the same.
pub trait MultiHost {
    /// Whether it leads: its output is shown.
    fn is_leader(&self) -> bool;

    /// The companion of its runs.
    fn companion(&self) -> Rc<dyn Companion>;

    /// The request that all of them run, adapted to this host. Only the
    /// leader has read one.
    ///
    /// # Errors
    /// If the others do not answer, or it cannot be adapted to this host.
    fn request(
        &self,
        context: &stripewise_campaign::Context,
        read: Option<Request>,
    ) -> Outcome<Request>;

    /// The group behind a command that decides from result to result.
    fn group(&self) -> Rc<dyn HostGroup>;

    /// The targets of such a command by this host's names for them. Only the
    /// leader has read them, as typed.
    ///
    /// # Errors
    /// If the others do not answer, or the map lacks this host.
    fn targets(
        &self,
        context: &stripewise_campaign::Context,
        read: Option<&[String]>,
    ) -> Outcome<Vec<String>>;

    /// Reports what this host found by itself. On the leader, returns what all found, by rank.
    ///
    /// # Errors
    /// If one of them no longer answers.
    fn found(
        &self,
        context: &stripewise_campaign::Context,
        document: serde_json::Value,
    ) -> Outcome<Vec<HostDocument>>;

    /// Processes messages of the others. Called when an event occurs here.
    fn look(&self);

    /// The measurements, run by run, with a part for each host.
    fn collected(&self) -> Vec<Vec<HostPart>>;

    /// Lost hosts, each with the reason.
    fn losses(&self) -> Vec<String>;

    /// Reports that this host cannot go on.
    fn failed(&self, failure: &Failure);
}
