//! A rank in its group: its knowledge of the others, and the companion of its runs.
//!
//! Nothing here blocks inside a carrier. A rank polls its messages whenever the use
//! case reports that time passes (twenty times a second in a run, at each step of filling a
//! file), and sleeps between polls when it has to wait. Rank 0 leads: it checks all
//! others before the first byte (`before.rs`), compares clocks and decides when to start
//! (`start.rs`), monitors them and decides when to stop (`during.rs`), and ends with
//! all of them.

mod before;
mod companion;
mod during;
mod leader;
mod start;
mod state;

use crate::carrier::Carrier;
use crate::message::Message;
use crate::pieces::PIECE_BYTES_MAX;
use state::State;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stripewise_campaign::{Clock, Context, Exit, Failure, Outcome};
use stripewise_lab::hosts::HostPart;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// Interval of heartbeats.
const BEAT_EVERY_NS: u64 = S;
/// Interval of polls while only waiting.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// A rank whose clock was queried expects further queries for this long.
const ATTENTIVE_NS: u64 = 50 * MS;
/// The initial part of that without any sleep; then with short naps.
const AWAKE_NS: u64 = MS / 5;
const NAP: Duration = Duration::from_micros(50);
/// After one failure, others may follow for the same reason: wait this long to report all.
const MORE_FAILURES_NS: u64 = 500 * MS;
/// Maximum pieces that a rank sends to rank 0 without hearing from it. Open MPI accepts about
/// twenty for a stopped process, and then blocks the sender of the next one.
const UNHEARD_MAX: usize = 8;
/// A rank that goes on without rank 0 leaves the others this long to store their results.
const LAST_GRACE: Duration = Duration::from_millis(1_500);

/// Time limits for other ranks, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// A measuring rank that is silent for this long is lost: the others stop, and
    /// it is reported.
    pub silence_ns: u64,
    /// The same before anything is written, and while a run is being stored.
    pub answer_ns: u64,
    /// The same while test files are made and filled: a rank blocked by its disk
    /// still sends heartbeats ([`Heartbeat`]).
    pub preparing_ns: u64,
    /// A host without completed operations for this long has lost its disk.
    pub stall_ns: u64,
    /// Operations in flight are awaited at the planned end, before there is a record.
    pub record_ns: u64,
}

impl Timeouts {
    /// For ranks without a thread that sends heartbeats while their disk blocks them.
    #[must_use]
    pub fn without_heartbeat(self) -> Timeouts {
        Timeouts {
            answer_ns: 8 * S,
            preparing_ns: 30 * S,
            ..self
        }
    }
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            silence_ns: 5 * S,
            answer_ns: 6 * S,
            preparing_ns: 6 * S,
            stall_ns: 7 * S,
            record_ns: 45 * S,
        }
    }
}

/// Whether the process must send heartbeats although it cannot poll its messages: a
/// disk that stalls for minutes while a test file is filled blocks the rank in a system
/// call. Then another thread sends heartbeats; a stopped or
/// dead process is silent all the same. While a rank measures, it must poll itself.
#[derive(Clone, Debug, Default)]
pub struct Heartbeat {
    is_needed: Arc<AtomicBool>,
}

impl Heartbeat {
    /// Whether the others expect heartbeats.
    pub fn is_needed(&self) -> bool {
        self.is_needed.load(Ordering::Relaxed)
    }

    /// The heartbeat message and its recipients.
    pub fn beats(rank: u32, size: u32) -> (Vec<u8>, Range<u32>) {
        let to = match rank {
            0 => 1..size,
            _ => 0..1,
        };
        (Message::Beat.to_bytes(), to)
    }

    fn set(&self, is_needed: bool) {
        self.is_needed.store(is_needed, Ordering::Relaxed);
    }
}

/// Parameters of a rank.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The program's version.
    pub version: String,
    /// Name of this host.
    pub host: String,
    /// Several ranks may use one device.
    pub shared: bool,
    /// Some devices to be destroyed were named without their host.
    pub destroys_anywhere: bool,
    /// A unique id of the group; that of rank 0 counts.
    pub group: String,
    /// Time limits for other ranks.
    pub patience: Timeouts,
}

/// How a rank may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// All ranks end together.
    Together,
    /// A rank does not respond: an orderly end would wait for it.
    WithoutAll,
}

/// A rank.
pub struct Member<C> {
    carrier: C,
    clock: Box<dyn Clock>,
    settings: Settings,
    /// It was told to end, and perhaps the others too: MPI kills a process that sends to
    /// one that is gone, so nothing is sent before the results are stored.
    is_ending: Cell<bool>,
    heartbeat: Heartbeat,
    /// Queue for rank 0, in order, and the number of pieces sent since it was last heard from.
    waiting: RefCell<VecDeque<Vec<u8>>>,
    unheard: Cell<usize>,
    state: RefCell<State>,
}

impl<C> fmt::Debug for Member<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").finish_non_exhaustive()
    }
}

impl<C: Carrier> Member<C> {
    /// A rank with this carrier. `clock` is the one that the use case reads as well.
    pub fn new(carrier: C, clock: Box<dyn Clock>, settings: Settings) -> Member<C> {
        let heartbeat = Heartbeat::default();
        heartbeat.set(true);
        let state = State::new(carrier.size() as usize);
        Member {
            carrier,
            clock,
            settings,
            is_ending: Cell::new(false),
            heartbeat,
            waiting: RefCell::default(),
            unheard: Cell::new(0),
            state: RefCell::new(state),
        }
    }

    /// Whether it leads.
    pub fn is_leader(&self) -> bool {
        self.rank() == 0
    }

    /// Its rank.
    pub fn rank(&self) -> u32 {
        self.carrier.rank()
    }

    /// The heartbeat state for another thread.
    #[must_use]
    pub fn heartbeat(&self) -> Heartbeat {
        self.heartbeat.clone()
    }

    /// Tells the others that this rank cannot go on.
    pub fn report_failure(&self, failure: &Failure) {
        self.heartbeat.set(false);
        if self.is_leader() {
            self.to_all(&Message::Abort);
            return;
        }
        // Rank 0 already knows why this one ends.
        if !self.state.borrow().is_aborted {
            self.send(
                0,
                &Message::Failed {
                    text: failure.chain(),
                    hint: failure.hint.as_ref().map(ToString::to_string),
                    exit: failure.exit.code(),
                },
            );
        }
    }

    /// Hands over the results, run by run: a part for each rank, including those that were lost,
    /// as far as they got.
    pub fn collected(&self) -> Vec<Vec<HostPart>> {
        self.state.borrow_mut().runs.take_all()
    }

    /// Why ranks are missing, one line each.
    pub fn losses(&self) -> Vec<String> {
        let state = self.state.borrow();
        let gone = state.gone.iter().enumerate();
        gone.filter_map(|(rank, gone)| {
            let why = &gone.as_ref()?.why;
            Some(format!("{}: {why}", state.name_of(rank)))
        })
        .collect()
    }

    /// All work is done: sleeps until rank 0 ends all ranks together.
    pub fn close(&self) -> Shutdown {
        self.heartbeat.set(false);
        if self.is_leader() {
            self.to_all(&Message::End);
        }
        let began_ns = self.clock.now_ns();
        while !self.is_leader() {
            self.look();
            let state = self.state.borrow();
            if state.is_at_end || state.gone[0].is_some() {
                break;
            }
            let silence_ns = self.settings.patience.silence_ns;
            let silent = state.silent(false, began_ns, self.clock.now_ns(), silence_ns);
            drop(state);
            if silent.is_some() {
                self.state
                    .borrow_mut()
                    .is_lost(0, "says nothing".to_owned());
                break;
            }
            self.rest();
        }
        let state = self.state.borrow();
        let is_unanswered = state.gone.iter().flatten().any(|gone| !gone.answers);
        if is_unanswered && !self.is_leader() {
            std::thread::sleep(LAST_GRACE);
        }
        match is_unanswered {
            true => Shutdown::WithoutAll,
            false => Shutdown::Together,
        }
    }

    fn send(&self, to: u32, message: &Message) {
        if self.is_leader() || to != 0 {
            return self.carrier.send(to, message.to_bytes());
        }
        self.waiting.borrow_mut().push_back(message.to_bytes());
        self.hand_over(UNHEARD_MAX);
    }

    /// Sends the queue for rank 0, until `pieces_max` pieces have been sent since it was last heard
    /// from.
    fn hand_over(&self, pieces_max: usize) {
        while self.unheard.get() < pieces_max {
            let Some(bytes) = self.waiting.borrow_mut().pop_front() else {
                return;
            };
            let pieces = bytes.len() / PIECE_BYTES_MAX + 1;
            self.unheard.set(self.unheard.get() + pieces);
            self.carrier.send(0, bytes);
        }
    }

    fn to_all(&self, message: &Message) {
        let bytes = message.to_bytes();
        let here = self.rank();
        let others = (0..self.carrier.size()).filter(|rank| *rank != here);
        others.for_each(|rank| self.carrier.send(rank, bytes.clone()));
    }

    /// Receives all messages, and sends a heartbeat.
    pub fn look(&self) {
        while let Some((from, bytes)) = self.carrier.receive() {
            if from == 0 {
                // It receives messages: the whole queue may be sent.
                self.unheard.set(0);
                self.hand_over(usize::MAX);
            }
            self.state
                .borrow_mut()
                .mark_alive(from, self.clock.now_ns());
            match Message::from_bytes(&bytes) {
                Some(Message::Ping { number }) => {
                    let wall = self.clock.wall();
                    self.send(from, &Message::Pong { number, wall });
                    self.state.borrow_mut().pinged_ns = Some(self.clock.now_ns());
                }
                Some(message) => self.state.borrow_mut().take(from, message),
                None => {}
            }
        }
        let now_ns = self.clock.now_ns();
        let last_ns = self.state.borrow().beat_ns;
        let is_due = last_ns == 0 || now_ns.saturating_sub(last_ns) >= BEAT_EVERY_NS;
        if is_due && !self.is_ending.get() {
            self.state.borrow_mut().beat_ns = now_ns.max(1);
            match self.is_leader() {
                true => self.to_all(&Message::Beat),
                false => self.send(0, &Message::Beat),
            }
        }
    }

    /// A signal came: nothing more is sent before the results are stored.
    fn ends(&self) {
        self.is_ending.set(true);
        self.heartbeat.set(false);
    }

    /// Sleeps briefly; even less while clocks are being compared.
    fn rest(&self) {
        let pinged_ns = self.state.borrow().pinged_ns;
        let is_over = |pinged_ns| self.clock.now_ns() > pinged_ns + ATTENTIVE_NS;
        match pinged_ns {
            Some(pinged_ns) if !is_over(pinged_ns) => self.keep_polling(pinged_ns),
            _ => std::thread::sleep(LOOK_EVERY),
        }
    }

    /// Waits between polls for the answer to a message sent at `since_ns`: an immediate
    /// answer is seen immediately, and if the processors are busy with other
    /// work, they get to it.
    fn keep_polling(&self, since_ns: u64) {
        match self.clock.now_ns().saturating_sub(since_ns) < AWAKE_NS {
            true => std::hint::spin_loop(),
            false => std::thread::sleep(NAP),
        }
    }

    /// Polls until `done` returns true. Fails if another rank did, if an expected
    /// rank is silent for longer than `silence_ns`, and on a signal.
    fn wait(
        &self,
        context: &Context,
        silence_ns: u64,
        done: impl Fn(&State) -> bool,
    ) -> Outcome<()> {
        let began_ns = self.clock.now_ns();
        loop {
            self.look();
            if let Some(signal) = context.signal() {
                self.ends();
                return Err(interrupted(signal));
            }
            let mut state = self.state.borrow_mut();
            if state.has_failures() {
                drop(state);
                return Err(self.failures());
            }
            if done(&state) {
                return Ok(());
            }
            let is_alone = !self.is_leader() && state.gone[0].is_some();
            if is_alone || state.is_aborted || state.is_at_end {
                return Err(aborted());
            }
            let now_ns = self.clock.now_ns();
            if let Some(rank) = state.silent(self.is_leader(), began_ns, now_ns, silence_ns) {
                let why = is_silent(silence_ns);
                let text = format!("{} {why}", state.name_of(rank));
                state.is_lost(rank, why);
                return Err(Failure::new(
                    Exit::Target,
                    text,
                    "check whether that host is alive, then start again",
                ));
            }
            drop(state);
            self.rest();
        }
    }

    /// The reports of failed ranks, including those that fail at the same time.
    fn failures(&self) -> Failure {
        let until_ns = self.clock.now_ns() + MORE_FAILURES_NS;
        loop {
            self.look();
            let mut state = self.state.borrow_mut();
            let is_enough = state.all_answered(&state.checked);
            if is_enough || self.clock.now_ns() >= until_ns {
                return state.failure().unwrap_or_else(aborted);
            }
            drop(state);
            self.rest();
        }
    }
}

/// The message about a silent rank.
fn is_silent(silence_ns: u64) -> String {
    format!("says nothing for {} s", silence_ns / S)
}

fn interrupted(signal: u8) -> Failure {
    Failure::new(
        Exit::Interrupted(signal),
        "interrupted while the hosts waited for each other",
        "start again; what was measured before is kept",
    )
}

/// For ranks that do not lead, and print nothing.
fn aborted() -> Failure {
    Failure::new(
        Exit::Target,
        "the others cannot continue",
        "see the message of rank 0",
    )
}
