//! A rank as seen by the command-line library.

use crate::carrier::Carrier;
use crate::group::Member;
use crate::places::HostTargets;
use serde_json::Value;
use std::path::PathBuf;
use std::rc::Rc;
use stripewise_campaign::{Context, Failure, Outcome};
use stripewise_cli::{HostDocument, MultiHost};
use stripewise_conductor::host_group::HostGroup;
use stripewise_conductor::input::{PLAN_BYTES_MAX, read_text};
use stripewise_conductor::start::Companion;
use stripewise_lab::hosts::HostPart;
use stripewise_workload::Request;

/// A member, and the path of rank 0's map.
pub struct GroupMember<C> {
    member: Rc<Member<C>>,
    map: Option<PathBuf>,
}

impl<C: Carrier + 'static> GroupMember<C> {
    /// Wraps this member.
    pub fn new(member: Rc<Member<C>>, map: Option<PathBuf>) -> GroupMember<C> {
        GroupMember { member, map }
    }

    fn places(&self, context: &Context) -> Outcome<HostTargets> {
        let Some(path) = &self.map else {
            return Ok(HostTargets::default());
        };
        let hint = "check the path given to --map";
        let text = read_text(context, path, PLAN_BYTES_MAX, hint)?;
        HostTargets::from_toml(&text).map_err(Failure::from)
    }
}

impl<C: Carrier + 'static> MultiHost for GroupMember<C> {
    fn is_leader(&self) -> bool {
        self.member.is_leader()
    }

    fn companion(&self) -> Rc<dyn Companion> {
        Rc::clone(&self.member) as Rc<dyn Companion>
    }

    fn request(&self, context: &Context, read: Option<Request>) -> Outcome<Request> {
        let read: Option<Outcome<_>> = read.map(|request| Ok((request, self.places(context)?)));
        self.member.request(context, read.transpose()?)
    }

    fn group(&self) -> Rc<dyn HostGroup> {
        Rc::clone(&self.member) as Rc<dyn HostGroup>
    }

    fn targets(&self, context: &Context, read: Option<&[String]>) -> Outcome<Vec<String>> {
        let read: Option<Outcome<_>> =
            read.map(|texts| Ok((texts.to_vec(), self.places(context)?)));
        self.member.targets(context, read.transpose()?)
    }

    fn found(&self, context: &Context, document: Value) -> Outcome<Vec<HostDocument>> {
        self.member.found(context, document)
    }

    fn look(&self) {
        self.member.look();
    }

    fn collected(&self) -> Vec<Vec<HostPart>> {
        self.member.collected()
    }

    fn losses(&self) -> Vec<String> {
        self.member.losses()
    }

    fn failed(&self, failure: &Failure) {
        self.member.report_failure(failure);
    }
}
