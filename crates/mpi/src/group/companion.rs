//! The companion of a rank's runs.

use super::Member;
use crate::carrier::Carrier;
use crate::message::Message;
use crate::runs::parts_of;
use stripewise_campaign::{Context, Outcome};
use stripewise_conductor::start::{Companion, MeasuredPlace, StartAgreement, WaitContext};
use stripewise_results::{Interval, RunRecord, Status};
use stripewise_runner::IntervalSummary;

impl<C: Carrier> Companion for Member<C> {
    fn checked(&self, context: &Context, targets: &[MeasuredPlace], plan: &str) -> Outcome<()> {
        self.agree(context, targets, plan)
    }

    fn ready(&self, waiting: &WaitContext<'_>) -> Outcome<StartAgreement> {
        self.heartbeat.set(false);
        let run = {
            let mut state = self.state.borrow_mut();
            let (run, rank) = (state.run, self.rank() as usize);
            state.ready[rank] = Some(run);
            state.runs.begin(run, rank, waiting.skeleton.clone());
            state.stop = None;
            run
        };
        let agreed = self.agreed_start(waiting, run)?;
        if !waiting.is_virtual
            && let Some(at) = agreed.at
        {
            self.sleep_until(waiting.context, at);
        }
        Ok(agreed)
    }

    fn interval(&self, summary: &IntervalSummary, intervals: &[Interval]) {
        let jobs = parts_of(summary, intervals);
        let run = self.state.borrow().run;
        match self.is_leader() {
            true => self.state.borrow_mut().runs.interval(run, 0, jobs),
            false if self.is_ending.get() => {}
            false => self.send(0, &Message::Interval { run, jobs }),
        }
    }

    fn stops(&self, context: &Context) -> bool {
        if context.signal().is_some() {
            self.ends();
        }
        self.look();
        if self.is_alone(context) {
            return true;
        }
        if self.is_leader() && !self.is_ending.get() {
            self.detect_losses(context);
        }
        let state = self.state.borrow();
        let is_due = state.stop.is_some_and(|at| self.clock.wall() >= at);
        is_due || state.is_aborted
    }

    fn iops_now(&self) -> Option<f64> {
        let total = || self.state.borrow().runs.iops_now();
        self.is_leader().then(total)
    }

    fn finished(&self, context: &Context, record: &RunRecord) {
        let mut jobs = record.jobs.iter();
        let is_virtual = jobs.any(|job| job.engine.name == "simulated");
        let record = record.clone().without_intervals().without_histograms();
        let run = {
            let mut state = self.state.borrow_mut();
            state.run += 1;
            state.run - 1
        };
        if !self.is_leader() {
            if self.is_alone(context) {
                return;
            }
            let record = Box::new(record);
            self.send(0, &Message::Record { run, record });
            // Rank 0 compares clocks once more. Nothing is lost if it does not.
            let _ = self.wait(context, self.settings.patience.answer_ns, |state| {
                state.runs_over > run
            });
            return;
        }
        if context.signal().is_none() {
            // Decisions from here on may take time.
            self.heartbeat.set(true);
        }
        let is_early = record.status == Status::Partial;
        self.state.borrow_mut().runs.record(run, 0, record);
        if is_early {
            self.stop_all();
        }
        self.await_records(context, run);
        if context.signal().is_none() && !is_virtual {
            let before = self.state.borrow().offsets.clone();
            let after = self.compare_clocks(context);
            self.state.borrow_mut().runs.drifted(run, &before, &after);
        }
        self.to_all(&Message::RunOver { run });
    }
}
