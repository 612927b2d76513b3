//! What a program that does the same on many hosts puts in: `stripewise-mpi`.

use crate::failure::{Failure, Outcome};
use std::rc::Rc;
use stripewise_campaign::steps::start::Companion;
use stripewise_lab::hosts::HostPart;
use stripewise_workload::Request;

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

    /// Something happens here: time for a look at what the others say.
    fn look(&self);

    /// What was measured, run by run, a part for each host.
    fn collected(&self) -> Vec<Vec<HostPart>>;

    /// Hosts that were lost on the way, each with why.
    fn losses(&self) -> Vec<String>;

    /// This host cannot go on.
    fn failed(&self, failure: &Failure);
}
