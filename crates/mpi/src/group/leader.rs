//! Commands that decide from result to result: rank 0 decides, and sends the others the
//! target to open and each run.

use super::{Member, S, aborted};
use crate::carrier::Carrier;
use crate::message::Message;
use crate::places::HostTargets;
use serde_json::Value;
use std::rc::Rc;
use stripewise_campaign::{Context, Failure, Outcome};
use stripewise_cli::HostDocument;
use stripewise_conductor::host_group::{HostGroup, Step, TargetUse};
use stripewise_conductor::start::Companion;
use stripewise_lab::hosts::HostPart;
use stripewise_workload::derived_seed;

/// Hosts that verify end when their own work does, not at one moment: after a signal, this is
/// how long to wait for them.
const SIGNALLED_NS: u64 = S * 2 / 5;

impl<C: Carrier> Member<C> {
    /// The targets by this rank's names for them. Rank 0 has read them, and the
    /// map; it sends both once all ranks have introduced themselves.
    pub fn targets(
        &self,
        context: &Context,
        read: Option<(Vec<String>, HostTargets)>,
    ) -> Outcome<Vec<String>> {
        let answer_ns = self.settings.patience.answer_ns;
        let (texts, places) = if let Some((texts, places)) = read {
            self.gather(context)?;
            self.to_all(&Message::Targets {
                texts: texts.clone(),
                places: places.clone(),
            });
            (texts, places)
        } else {
            self.greet();
            self.wait(context, answer_ns, |state| state.targets.is_some())?;
            self.state.borrow_mut().targets.take().unwrap_or_default()
        };
        places
            .named_targets(&texts, &self.settings.host, self.rank())
            .map_err(Failure::from)
    }

    /// Reports what this rank found by itself. On rank 0, returns what all found, once they have.
    ///
    /// # Errors
    /// If a rank no longer answers.
    pub fn found(&self, context: &Context, document: Value) -> Outcome<Vec<HostDocument>> {
        if !self.is_leader() {
            self.heartbeat.set(false);
            self.send(0, &Message::Found { document });
            return Ok(Vec::new());
        }
        self.state.borrow_mut().take(0, Message::Found { document });
        self.await_found(context);
        let state = self.state.borrow();
        let found = state.found.iter().enumerate();
        let found = found.filter_map(|(rank, document)| {
            let (host, document) = (state.name_of(rank), document.clone()?);
            Some(HostDocument { host, document })
        });
        Ok(found.collect())
    }

    fn await_found(&self, context: &Context) {
        let began_ns = self.clock.now_ns();
        let silence_ns = self.settings.patience.answer_ns;
        loop {
            self.look();
            let now_ns = self.clock.now_ns();
            let mut state = self.state.borrow_mut();
            let reported_text = match state.silent(true, began_ns, now_ns, silence_ns) {
                Some(rank) => {
                    let why = super::is_silent(silence_ns);
                    let text = format!("{} {why}", state.name_of(rank));
                    state.is_lost(rank, why);
                    Some(text)
                }
                None => state.failure().map(|failure| failure.chain()),
            };
            let mut left = state.found.iter().zip(&state.gone);
            let is_done = left.all(|(found, gone)| found.is_some() || gone.is_some());
            drop(state);
            if let Some(text) = reported_text {
                context.note(text);
            }
            let is_late = now_ns.saturating_sub(began_ns) > SIGNALLED_NS;
            if is_done || context.signal().is_some() && is_late {
                return;
            }
            self.rest();
        }
    }
}

impl<C: Carrier + 'static> HostGroup for Member<C> {
    fn aim(&self, aim: &TargetUse) {
        self.to_all(&Message::TargetUse {
            aim: Box::new(aim.clone()),
        });
    }

    fn opened(&self, context: &Context) -> Outcome<(String, TargetUse)> {
        let named = self.targets(context, None)?;
        let Ok([target]) = <[String; 1]>::try_from(named) else {
            return Err(Failure::usage(
                "the map names several targets for this host, and the command takes one",
                "give each host one target, or use `stripewise-mpi run`",
            ));
        };
        let answer_ns = self.settings.patience.answer_ns;
        self.wait(context, answer_ns, |state| state.aim.is_some())?;
        let aim = self.state.borrow_mut().aim.take().ok_or_else(aborted)?;
        Ok((target, aim))
    }

    fn tell(&self, step: &Step) {
        self.to_all(&Message::Step {
            step: Box::new(step.clone()),
        });
    }

    fn next(&self, context: &Context) -> Outcome<Option<Step>> {
        let answer_ns = self.settings.patience.answer_ns;
        self.wait(context, answer_ns, |state| {
            !state.steps.is_empty() || state.is_at_end
        })?;
        let step = self.state.borrow_mut().steps.pop_front();
        let rank = u64::from(self.rank());
        // Hosts that share a device must not read the same blocks one after the other.
        Ok(step.map(|mut step| {
            for (_, workload) in &mut step.jobs {
                workload.seed = derived_seed(workload.seed, rank);
            }
            step
        }))
    }

    fn measured(&self) -> Vec<HostPart> {
        let mut state = self.state.borrow_mut();
        let last = state.run.saturating_sub(1);
        state.runs.take(last)
    }

    fn hosts(&self) -> u64 {
        u64::from(self.carrier.size())
    }

    fn companion(self: Rc<Self>) -> Rc<dyn Companion> {
        self
    }
}
