//! What a program that does the same on many hosts puts in: `stripewise-mpi`.

use crate::failure::{Failure, Outcome};
use std::rc::Rc;
use stripewise_conductor::host_group::HostGroup;
use stripewise_conductor::start::Companion;
use stripewise_lab::hosts::HostPart;
use stripewise_workload::Request;

/// What a host found by itself.
#[derive(Clone, Debug)]
pub struct HostDocument {
    /// Its name, with the rank where several are on it.
    pub host: String,
    /// Its document.
    pub document: serde_json::Value,
}

/// One of several hosts that do the same.
pub trait Together {
    /// It is the one that people look at.
    fn leads(&self) -> bool;

    /// What goes along with its runs.
    fn companion(&self) -> Rc<dyn Companion>;

    /// The request that all of them run, with what is this host's own. Only the one that
    /// leads has read one.
    ///
    /// # Errors
    /// Where the others do not answer, or it cannot be this host's.
    fn request(
        &self,
        context: &stripewise_campaign::Context,
        read: Option<Request>,
    ) -> Outcome<Request>;

    /// What goes along with a command that decides from result to result.
    fn group(&self) -> Rc<dyn HostGroup>;

    /// The targets of such a command by the names that this host has for them. Only the one
    /// that leads has read them, as they were typed.
    ///
    /// # Errors
    /// Where the others do not answer, or the map lacks this host.
    fn targets(
        &self,
        context: &stripewise_campaign::Context,
        read: Option<&[String]>,
    ) -> Outcome<Vec<String>>;

    /// What this host found by itself. On the one that leads: what all found, by rank.
    ///
    /// # Errors
    /// Where one of them does not say it any more.
    fn found(
        &self,
        context: &stripewise_campaign::Context,
        document: serde_json::Value,
    ) -> Outcome<Vec<HostDocument>>;

    /// Something happens here: time for a look at what the others say.
    fn look(&self);

    /// What was measured, run by run, a part for each host.
    fn collected(&self) -> Vec<Vec<HostPart>>;

    /// Hosts that were lost on the way, each with why.
    fn losses(&self) -> Vec<String>;

    /// This host cannot go on.
    fn failed(&self, failure: &Failure);
}
