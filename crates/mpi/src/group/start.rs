//! The agreed start: compares clocks, and sends each rank an instant on its own clock.

use super::{MS, Member, S, interrupted};
use crate::carrier::Carrier;
use crate::clock::{Comparison, ROUND_TRIPS};
use crate::message::Message;
use std::time::Duration;
use stripewise_campaign::{Context, Exit, Failure, Outcome};
use stripewise_conductor::start::{ClockOffset, StartAgreement, WaitContext};
use stripewise_results::GroupRecord;
use stripewise_units::WallTime;

/// Delay from the decision to start to the start, so that all receive it in time.
const START_IN_NS: u64 = 300 * MS;
/// Additional delay per rank.
pub(super) const PER_RANK_NS: u64 = 2 * MS;
/// Time limit for round trips with one rank, once one has completed.
const COMPARING_NS: u64 = S;

impl<C: Carrier> Member<C> {
    /// Reports that everything is open here, and returns the agreement from rank 0.
    pub(super) fn agreed_start(
        &self,
        waiting: &WaitContext<'_>,
        run: u32,
    ) -> Outcome<StartAgreement> {
        let (context, preparing_ns) = (waiting.context, self.settings.patience.preparing_ns);
        if self.is_leader() {
            return self.coordinate_start(waiting, run);
        }
        self.send(
            0,
            &Message::Ready {
                run,
                skeleton: Box::new(waiting.skeleton.clone()),
            },
        );
        self.wait(context, preparing_ns, |state| {
            state.go.as_ref().is_some_and(|go| go.0 == run)
        })?;
        let go = self.state.borrow_mut().go.take();
        Ok(go.map(|go| go.1).unwrap_or_default())
    }

    fn coordinate_start(&self, waiting: &WaitContext<'_>, run: u32) -> Outcome<StartAgreement> {
        let context = waiting.context;
        if !self.losses().is_empty() {
            return Err(Failure::new(
                Exit::Target,
                "the runs that are left were not started: a host is missing",
                "find out what happened to it, and start again; what was measured is stored",
            ));
        }
        self.wait(context, self.settings.patience.preparing_ns, |state| {
            state.ready.iter().all(|ready| *ready == Some(run))
        })?;
        let offsets = match waiting.is_virtual {
            // Simulated arrays begin at an instant without a clock.
            true => vec![Some(ClockOffset::default()); self.carrier.size() as usize],
            false => self.compare_clocks(context),
        };
        if let Some(signal) = context.signal() {
            // No rank failed to answer: the queries were abandoned.
            self.ends();
            return Err(interrupted(signal));
        }
        if self.state.borrow().has_failures() {
            return Err(self.failures());
        }
        if let Some(rank) = offsets.iter().position(Option::is_none) {
            let mut state = self.state.borrow_mut();
            let why = "does not answer".to_owned();
            let text = format!("{} {why}: its clock is not known", state.name_of(rank));
            state.is_lost(rank, why);
            let hint = "check whether that host is alive, then start again";
            return Err(Failure::new(Exit::Target, text, hint));
        }
        let offsets: Vec<ClockOffset> = offsets.into_iter().flatten().collect();
        let in_ns = START_IN_NS + PER_RANK_NS * u64::from(self.carrier.size());
        let at = WallTime(self.clock.wall().ns() + in_ns);
        let hosts = self.state.borrow().names();
        let of_rank = |rank: u32, offset: ClockOffset| StartAgreement {
            at: Some(at.shifted(offset.offset_ns)),
            clock: Some(offset),
            group: Some(self.group(rank, &hosts)),
        };
        for (rank, offset) in (0_u32..).zip(&offsets).skip(1) {
            let go = Message::Go {
                run,
                at: at.shifted(offset.offset_ns),
                offset_ns: offset.offset_ns,
                error_ns: offset.error_ns,
                group: self.group(rank, &hosts),
            };
            self.send(rank, &go);
            let mut state = self.state.borrow_mut();
            let agreed = of_rank(rank, *offset);
            state.runs.agreed(run, rank as usize, &agreed);
        }
        let own = of_rank(0, ClockOffset::default());
        self.state.borrow_mut().offsets = offsets;
        Ok(own)
    }

    fn group(&self, rank: u32, hosts: &[String]) -> GroupRecord {
        GroupRecord {
            id: self.settings.group.clone(),
            rank,
            hosts: hosts.to_vec(),
        }
    }

    /// The clock of each rank minus that of rank 0; `None` for ranks that do not answer.
    pub(super) fn compare_clocks(&self, context: &Context) -> Vec<Option<ClockOffset>> {
        let mut offsets = vec![Some(ClockOffset::default())];
        for rank in 1..self.carrier.size() {
            let is_gone = self.state.borrow().gone[rank as usize].is_some();
            offsets.push(match is_gone {
                true => None,
                false => self.compare_clock(context, rank),
            });
        }
        offsets
    }

    fn compare_clock(&self, context: &Context, rank: u32) -> Option<ClockOffset> {
        let mut comparison = Comparison::default();
        let began_ns = self.clock.now_ns();
        for _ in 0..ROUND_TRIPS {
            let number = self.state.borrow_mut().next_ping();
            let (sent_at, sent_ns) = (self.clock.wall(), self.clock.now_ns());
            self.send(rank, &Message::Ping { number });
            let other = loop {
                self.look();
                if let Some(wall) = self.state.borrow_mut().answer(rank, number) {
                    break wall;
                }
                // One answer is enough, and a busy host may be slow.
                let limit_ns = match comparison.offset() {
                    Some(_) => COMPARING_NS,
                    None => self.settings.patience.answer_ns,
                };
                let is_late = self.clock.now_ns().saturating_sub(began_ns) > limit_ns;
                if is_late || context.signal().is_some() {
                    return comparison.offset();
                }
                self.keep_polling(sent_ns);
            };
            comparison.add(sent_at, self.clock.wall(), other);
        }
        comparison.offset()
    }

    /// Sleeps until the agreed instant on the monotonic clock: setting the wall
    /// clock meanwhile has no effect.
    pub(super) fn sleep_until(&self, context: &Context, at: WallTime) {
        let left_ns = u64::try_from(at.since(self.clock.wall())).unwrap_or(0);
        let until_ns = self.clock.now_ns().saturating_add(left_ns);
        while context.signal().is_none() {
            match until_ns.saturating_sub(self.clock.now_ns()) {
                0 => break,
                left_ns => std::thread::sleep(Duration::from_nanos(left_ns.min(20 * MS))),
            }
        }
    }
}
