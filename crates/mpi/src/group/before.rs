//! Before the first byte: which ranks are present, the request, and whether all can run it.

use super::Member;
use super::state::{Greeting, State};
use crate::carrier::Carrier;
use crate::message::Message;
use crate::places::HostTargets;
use stripewise_campaign::{Context, Failure, Outcome};
use stripewise_conductor::start::MeasuredPlace;
use stripewise_workload::Request;

impl<C: Carrier> Member<C> {
    /// The request that all run, with this rank's own targets and seeds. Rank 0 has read
    /// it, and the map; it sends both once all ranks have introduced themselves.
    ///
    /// # Errors
    /// If a rank runs another version of the program or does not answer, if
    /// another rank failed, or if the map lacks this host.
    pub fn request(
        &self,
        context: &Context,
        read: Option<(Request, HostTargets)>,
    ) -> Outcome<Request> {
        let answer_ns = self.settings.patience.answer_ns;
        let (request, places) = if let Some((request, places)) = read {
            self.gather(context)?;
            self.to_all(&Message::Request {
                request: Box::new(request.clone()),
                places: places.clone(),
            });
            (request, places)
        } else {
            self.greet();
            self.wait(context, answer_ns, |state| state.request.is_some())?;
            self.state.borrow_mut().request.take().unwrap_or_default()
        };
        places
            .resolve(request, &self.settings.host, self.rank())
            .map_err(Failure::from)
    }

    /// Introduces this rank.
    pub(super) fn greet(&self) {
        let greeting = Message::Greeting {
            version: self.settings.version.clone(),
            host: self.settings.host.clone(),
            destroys_anywhere: self.settings.destroys_anywhere,
        };
        match self.is_leader() {
            true => self.state.borrow_mut().take(0, greeting),
            false => self.send(0, &greeting),
        }
    }

    /// On rank 0: waits until all have introduced themselves, and refuses incompatible
    /// ones.
    pub(super) fn gather(&self, context: &Context) -> Outcome<()> {
        self.greet();
        self.wait(context, self.settings.patience.answer_ns, |state| {
            state.greetings.iter().all(Option::is_some)
        })?;
        self.state.borrow().refuse_others()
    }

    /// This rank has checked its targets. Returns once all have.
    pub(super) fn agree(
        &self,
        context: &Context,
        targets: &[MeasuredPlace],
        plan: &str,
    ) -> Outcome<()> {
        let answer_ns = self.settings.patience.answer_ns;
        let checked = Message::Checked {
            targets: targets.to_vec(),
            plan: plan.to_owned(),
        };
        if !self.is_leader() {
            self.send(0, &checked);
            return self.wait(context, answer_ns, |state| state.may_proceed);
        }
        self.state.borrow_mut().take(0, checked);
        self.wait(context, answer_ns, |state| {
            state.checked.iter().all(Option::is_some)
        })?;
        self.state.borrow().refuse_plans()?;
        if !self.settings.shared {
            self.state.borrow().refuse_shared()?;
        }
        self.to_all(&Message::Proceed);
        Ok(())
    }
}

impl State {
    /// Refuses other versions, and devices to be destroyed that are named without a host.
    fn refuse_others(&self) -> Outcome<()> {
        let all: Vec<&Greeting> = self.greetings.iter().flatten().collect();
        let Some(first) = all.first() else {
            return Ok(());
        };
        let others = all.iter().enumerate();
        let other = |(rank, greeting): (usize, &&Greeting)| {
            let (name, version) = (self.name_of(rank), &greeting.version);
            (*version != first.version).then(|| format!("{name} runs version {version}"))
        };
        let other: Vec<String> = others.filter_map(other).collect();
        if !other.is_empty() {
            let text = format!(
                "{}, and {} version {} of the program",
                other.join(", "),
                self.name_of(0),
                first.version
            );
            return Err(Failure::usage(
                text,
                "install the same program on all hosts; nothing was done on any of them",
            ));
        }
        let are_several = all.iter().any(|greeting| greeting.host != first.host);
        if are_several && all.iter().any(|greeting| greeting.destroys_anywhere) {
            return Err(Failure::usage(
                "--destroy names a device without its host, and it may be another disk on each",
                "name the host as well, once for each: --destroy HOST:NAME",
            ));
        }
        Ok(())
    }

    fn refuse_plans(&self) -> Outcome<()> {
        let mut plans = self.checked.iter().flatten().map(|checked| &checked.plan);
        let Some(first) = plans.next() else {
            return Ok(());
        };
        match plans.position(|plan| plan != first) {
            None => Ok(()),
            Some(at) => Err(Failure::usage(
                format!(
                    "{} would not measure the same as {}: a different number of targets",
                    self.name_of(at + 1),
                    self.name_of(0)
                ),
                "give each host as many targets in the map as the others",
            )),
        }
    }

    /// Refuses two ranks of one host on one file or device, or one on the disk of the other's
    /// partition, whatever their names.
    fn refuse_shared(&self) -> Outcome<()> {
        let mut seen: Vec<(&str, &MeasuredPlace)> = Vec::new();
        for (checked, greeting) in self.checked.iter().zip(&self.greetings) {
            let (Some(checked), Some(greeting)) = (checked, greeting) else {
                continue;
            };
            let host = greeting.host.as_str();
            for place in &checked.targets {
                let mut others = seen.iter().filter(|(other, _)| *other == host);
                if let Some((_, other)) =
                    others.find(|(_, other)| other.identity.overlaps(&place.identity))
                {
                    return Err(shared(host, &other.name, &place.name));
                }
            }
            // The same file twice within a rank concerns only that rank.
            seen.extend(checked.targets.iter().map(|place| (host, place)));
        }
        Ok(())
    }
}

fn shared(host: &str, one: &str, other: &str) -> Failure {
    let what = match one == other {
        true => one.to_owned(),
        false => format!("the same bytes: {one} and {other}"),
    };
    Failure::usage(
        format!("two ranks on {host} would work on {what}"),
        "give each rank a target of its own ({rank} in its name, or --map), or allow it with --shared",
    )
}
