//! The agreed start: compares clocks, and sends each rank an instant on its own clock.

use super::state::Answer;
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
/// Ranks whose clocks are compared at the same time. More would wait for each other at rank 0, which
/// makes round trips longer and offsets less certain.
const AT_ONCE: usize = 16;

/// The comparison with the clock of one rank, and the question that it has not answered.
struct Query {
    rank: u32,
    comparison: Comparison,
    began_ns: u64,
    number: u32,
    sent_at: WallTime,
    sent_ns: u64,
}

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
        let is_known = std::mem::replace(&mut self.state.borrow_mut().has_sent_names, true);
        let names_sent: &[String] = if is_known { &[] } else { &hosts };
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
                group: self.group(rank, names_sent),
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
        let size = self.carrier.size();
        let mut offsets = vec![None; size as usize];
        offsets[0] = Some(ClockOffset::default());
        let is_here = |rank: &u32| self.state.borrow().gone[*rank as usize].is_none();
        let mut left = (1..size).filter(is_here);
        let mut asked: Vec<Query> = Vec::new();
        loop {
            let room = AT_ONCE - asked.len();
            asked.extend(left.by_ref().take(room).map(|rank| self.begin(rank)));
            let Some(sent_ns) = asked.iter().map(|query| query.sent_ns).max() else {
                return offsets;
            };
            self.look();
            let answers = self.state.borrow_mut().take_answers();
            let answered_at = self.clock.wall();
            let is_over = context.signal().is_some();
            asked.retain_mut(|query| {
                let goes_on = self.go_on(query, &answers, answered_at) && !is_over;
                if !goes_on {
                    offsets[query.rank as usize] = query.comparison.offset();
                }
                goes_on
            });
            if is_over {
                return offsets;
            }
            if answers.is_empty() {
                self.keep_polling(sent_ns);
            }
        }
    }

    fn begin(&self, rank: u32) -> Query {
        let mut query = Query {
            rank,
            comparison: Comparison::default(),
            began_ns: self.clock.now_ns(),
            number: 0,
            sent_at: self.clock.wall(),
            sent_ns: 0,
        };
        self.ask(&mut query);
        query
    }

    fn ask(&self, query: &mut Query) {
        query.number = self.state.borrow_mut().next_ping();
        (query.sent_at, query.sent_ns) = (self.clock.wall(), self.clock.now_ns());
        let number = query.number;
        self.send(query.rank, &Message::Ping { number });
    }

    /// Takes the answer if it is there, and asks again; `false` once enough is known or the rank is
    /// late.
    fn go_on(&self, query: &mut Query, answers: &[Answer], answered_at: WallTime) -> bool {
        let of_query = (query.rank, query.number);
        let answer = answers
            .iter()
            .find(|answer| (answer.0, answer.1) == of_query);
        if let Some((_, _, other)) = answer {
            query.comparison.add(query.sent_at, answered_at, *other);
            if query.comparison.trips >= ROUND_TRIPS {
                return false;
            }
            self.ask(query);
            return true;
        }
        // One answer is enough, and a busy host may be slow.
        let limit_ns = match query.comparison.offset() {
            Some(_) => COMPARING_NS,
            None => self.settings.patience.answer_ns,
        };
        self.clock.now_ns().saturating_sub(query.began_ns) <= limit_ns
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
