//! While ranks measure: which are lost, when all stop, and whose record is awaited.

use super::start::PER_RANK_NS;
use super::state::State;
use super::{MS, Member, S, Timeouts, is_silent};
use crate::carrier::Carrier;
use crate::message::Message;
use stripewise_campaign::Context;
use stripewise_units::WallTime;

/// Delay from the decision to stop to the stop, so that all receive it in time.
const STOP_IN_NS: u64 = 200 * MS;
/// How long to wait for records if all were stopped early, and after a
/// signal: mpirun kills a process one second after that.
const STOPPED_NS: u64 = 8 * S;
const SIGNALLED_NS: u64 = 400 * MS;

impl<C: Carrier> Member<C> {
    /// Stops all remaining ranks at one moment.
    pub(super) fn stop_all(&self) {
        let in_ns = STOP_IN_NS + PER_RANK_NS * u64::from(self.carrier.size());
        let at = WallTime(self.clock.wall().ns() + in_ns);
        let offsets = {
            let mut state = self.state.borrow_mut();
            if state.stop.is_some() {
                return;
            }
            state.stop = Some(at);
            state.offsets.clone()
        };
        for (rank, offset) in (0_u32..).zip(offsets).skip(1) {
            let at = at.shifted(offset.offset_ns);
            self.send(rank, &Message::Stop { at });
        }
    }

    /// On rank 0: reports ranks that were lost, stopped early, or whose disk does not respond,
    /// and stops the others.
    pub(super) fn detect_losses(&self, context: &Context) {
        let now_ns = self.clock.now_ns();
        let patience = &self.settings.patience;
        let found = self.state.borrow_mut().loss(now_ns, patience);
        if let Some(text) = found {
            context.note(text);
            self.stop_all();
        }
    }

    /// Whether rank 0 is silent; the results are kept without it.
    pub(super) fn is_alone(&self, context: &Context) -> bool {
        let silence_ns = self.settings.patience.silence_ns;
        let mut state = self.state.borrow_mut();
        if self.is_leader() || state.gone[0].is_some() {
            return !self.is_leader();
        }
        let now_ns = self.clock.now_ns();
        if state.silent(false, 0, now_ns, silence_ns).is_none() {
            return false;
        }
        let why = is_silent(silence_ns);
        let text = format!("rank 0 {why}; each host keeps what it measured");
        state.is_lost(0, why);
        drop(state);
        // The others print nothing: one message is enough.
        context.note(text);
        true
    }

    /// Waits for the records of all remaining ranks; silent ones count as lost.
    pub(super) fn await_records(&self, context: &Context, run: u32) {
        let began_ns = self.clock.now_ns();
        loop {
            self.look();
            let limit_ns = match (context.signal(), self.state.borrow().stop) {
                (Some(_), _) => SIGNALLED_NS,
                (None, Some(_)) => STOPPED_NS.min(self.settings.patience.record_ns),
                (None, None) => self.settings.patience.record_ns,
            };
            let now_ns = self.clock.now_ns();
            let is_late = now_ns.saturating_sub(began_ns) > limit_ns;
            if is_late && context.signal().is_some() {
                return;
            }
            let late_ns = is_late.then_some(limit_ns);
            let patience = &self.settings.patience;
            let missing = self
                .state
                .borrow_mut()
                .missing(run, now_ns, late_ns, patience);
            if let Some(text) = missing.reported_text {
                context.note(text);
            }
            if missing.is_none_left {
                return;
            }
            self.rest();
        }
    }
}

/// Findings while waiting for records.
struct MissingRecords {
    /// A loss, as a sentence.
    reported_text: Option<String>,
    /// All expected records have arrived.
    is_none_left: bool,
}

impl State {
    /// A newly detected loss: a sentence with the host's name.
    fn loss(&mut self, now_ns: u64, patience: &Timeouts) -> Option<String> {
        let stops = |text: String| Some(format!("{text}; all hosts stop"));
        if let Some(rank) = self.silent(true, 0, now_ns, patience.silence_ns) {
            let why = is_silent(patience.silence_ns);
            let text = format!("{} {why}", self.name_of(rank));
            self.is_lost(rank, why);
            return stops(text);
        }
        if let Some(failure) = self.failure() {
            return stops(failure.chain());
        }
        if self.stop.is_some() {
            return None;
        }
        if let Some(rank) = self.runs.stopped_early(self.run) {
            let why = self.runs.because(self.run, rank);
            return stops(format!("{}: {why}", self.name_of(rank)));
        }
        let rank = self.runs.stalled(self.run, patience.stall_ns)?;
        let seconds = patience.stall_ns / S;
        let name = self.name_of(rank);
        stops(format!(
            "{name}: no operation has completed for {seconds} s"
        ))
    }

    fn missing(
        &mut self,
        run: u32,
        now_ns: u64,
        late_ns: Option<u64>,
        patience: &Timeouts,
    ) -> MissingRecords {
        let mut reported_text = self.failure().map(|failure| failure.chain());
        let gone: Vec<bool> = self.gone.iter().map(Option::is_some).collect();
        let late = late_ns.and_then(|limit_ns| {
            let rank = self.runs.without_record(run, &gone)?;
            let seconds = limit_ns / S;
            Some((rank, format!("has not ended its run for {seconds} s")))
        });
        let silent = self.silent(true, 0, now_ns, patience.answer_ns);
        let silent = silent.map(|rank| (rank, is_silent(patience.answer_ns)));
        if let Some((rank, why)) = silent.or(late) {
            reported_text = Some(format!("{} {why}", self.name_of(rank)));
            self.is_lost(rank, why);
        }
        let gone: Vec<bool> = self.gone.iter().map(Option::is_some).collect();
        MissingRecords {
            reported_text,
            is_none_left: self.runs.without_record(run, &gone).is_none(),
        }
    }
}
