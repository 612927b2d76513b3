//! What a rank has received from the others.

use crate::message::Message;
use crate::places::HostTargets;
use crate::runs::Runs;
use serde_json::Value;
use std::collections::VecDeque;
use stripewise_campaign::{Exit, Failure};
use stripewise_conductor::host_group::{Step, TargetUse};
use stripewise_conductor::start::{ClockOffset, MeasuredPlace, StartAgreement};
use stripewise_units::{Hint, WallTime};
use stripewise_workload::Request;

/// A rank's introduction.
#[derive(Clone, Debug)]
pub(super) struct Greeting {
    pub(super) version: String,
    pub(super) host: String,
    pub(super) destroys_anywhere: bool,
}

/// A rank's checked targets and plan.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) targets: Vec<MeasuredPlace>,
    pub(super) plan: String,
}

/// Why a rank no longer takes part.
#[derive(Clone, Debug)]
pub(super) struct Departure {
    pub(super) why: String,
    /// It reported that itself, and still answers.
    pub(super) answers: bool,
}

/// The report of a failed rank.
#[derive(Clone, Debug)]
struct RankFailure {
    rank: usize,
    text: String,
    hint: Option<String>,
    exit: u8,
}

/// The rank, the number of the query, and the clock of the rank.
pub(super) type Answer = (u32, u32, WallTime);

#[derive(Default)]
pub(super) struct State {
    /// When each rank was last heard from; 0 for never.
    pub(super) last_heard_ns: Vec<u64>,
    /// When this rank last sent a heartbeat.
    pub(super) beat_ns: u64,
    pub(super) greetings: Vec<Option<Greeting>>,
    pub(super) checked: Vec<Option<Checked>>,
    pub(super) request: Option<(Request, HostTargets)>,
    /// For a command that decides from result to result: its targets as rank 0 read them,
    /// its aim, and the pending runs.
    pub(super) targets: Option<(Vec<String>, HostTargets)>,
    pub(super) aim: Option<TargetUse>,
    pub(super) steps: VecDeque<Step>,
    /// What each rank found by itself.
    pub(super) found: Vec<Option<Value>>,
    pub(super) may_proceed: bool,
    /// Number of the current run, and the run that each rank is ready for.
    pub(super) run: u32,
    pub(super) ready: Vec<Option<u32>>,
    pub(super) go: Option<(u32, StartAgreement)>,
    /// Names of all hosts by rank, as rank 0 sent them with the first run.
    hosts: Vec<String>,
    /// On rank 0: they were sent.
    pub(super) has_sent_names: bool,
    /// Number of clock queries so far, and unprocessed answers. Numbers are not
    /// reused, so a late answer cannot match a later query.
    pings: u32,
    pongs: Vec<Answer>,
    /// When rank 0 last queried the clock.
    pub(super) pinged_ns: Option<u64>,
    /// When to stop, on this rank's clock.
    pub(super) stop: Option<WallTime>,
    /// The group gives up: a rank failed.
    pub(super) is_aborted: bool,
    pub(super) gone: Vec<Option<Departure>>,
    /// Failures not handled yet.
    reported: Vec<RankFailure>,
    /// Number of runs that rank 0 has finished with.
    pub(super) runs_over: u32,
    pub(super) is_at_end: bool,
    pub(super) runs: Runs,
    pub(super) offsets: Vec<ClockOffset>,
}

impl State {
    pub(super) fn new(size: usize) -> State {
        State {
            last_heard_ns: vec![0; size],
            greetings: vec![None; size],
            checked: vec![None; size],
            found: vec![None; size],
            ready: vec![None; size],
            gone: vec![None; size],
            runs: Runs::new(size),
            offsets: vec![ClockOffset::default(); size],
            ..State::default()
        }
    }

    pub(super) fn mark_alive(&mut self, from: u32, now_ns: u64) {
        if let Some(last_heard_ns) = self.last_heard_ns.get_mut(from as usize) {
            *last_heard_ns = now_ns.max(1);
        }
    }

    pub(super) fn take(&mut self, from: u32, message: Message) {
        let rank = from as usize;
        if rank >= self.gone.len() {
            return;
        }
        match message {
            Message::Greeting {
                version,
                host,
                destroys_anywhere,
            } => {
                self.greetings[rank] = Some(Greeting {
                    version,
                    host,
                    destroys_anywhere,
                });
            }
            Message::Checked { targets, plan } => {
                self.checked[rank] = Some(Checked { targets, plan });
            }
            Message::Request { request, places } => self.request = Some((*request, places)),
            Message::Targets { texts, places } => self.targets = Some((texts, places)),
            Message::TargetUse { aim } => self.aim = Some(*aim),
            Message::Step { step } => self.steps.push_back(*step),
            Message::Found { document } => self.found[rank] = Some(document),
            Message::Proceed => self.may_proceed = true,
            Message::Ready { run, skeleton } => {
                self.ready[rank] = Some(run);
                self.runs.begin(run, rank, *skeleton);
            }
            Message::Pong { number, wall } => self.pongs.push((from, number, wall)),
            Message::Go {
                run,
                at,
                offset_ns,
                error_ns,
                mut group,
            } => {
                match group.hosts.is_empty() {
                    true => group.hosts.clone_from(&self.hosts),
                    false => self.hosts.clone_from(&group.hosts),
                }
                let clock = Some(ClockOffset {
                    offset_ns,
                    error_ns,
                });
                let (at, group) = (Some(at), Some(group));
                self.go = Some((run, StartAgreement { at, clock, group }));
            }
            Message::Interval { run, jobs } => self.runs.interval(run, rank, jobs),
            Message::Stop { at } => self.stop = Some(at),
            Message::Record { run, record } => self.runs.record(run, rank, *record),
            Message::Failed { text, hint, exit } => self.reported.push(RankFailure {
                rank,
                text,
                hint,
                exit,
            }),
            Message::Abort => self.is_aborted = true,
            Message::RunOver { run } => self.runs_over = run.saturating_add(1),
            Message::End => self.is_at_end = true,
            Message::Beat | Message::Ping { .. } => {}
        }
    }

    /// The number of the next clock query.
    pub(super) fn next_ping(&mut self) -> u32 {
        self.pings = self.pings.wrapping_add(1);
        self.pings
    }

    /// The answers that have come since; late ones among them belong to no query any more.
    pub(super) fn take_answers(&mut self) -> Vec<Answer> {
        std::mem::take(&mut self.pongs)
    }

    /// The host's name, with the rank if several are on it.
    pub(super) fn name_of(&self, rank: usize) -> String {
        let name = |rank: usize| Some(self.greetings.get(rank)?.as_ref()?.host.as_str());
        let Some(host) = name(rank) else {
            return format!("rank {rank}");
        };
        let same = (0..self.greetings.len()).filter(|other| name(*other) == Some(host));
        match same.count() {
            1 => host.to_owned(),
            _ => format!("{host}:{rank}"),
        }
    }

    /// Hosts by rank.
    pub(super) fn names(&self) -> Vec<String> {
        let greetings = self.greetings.iter().enumerate();
        let host = |(rank, greeting): (usize, &Option<Greeting>)| match greeting {
            Some(greeting) => greeting.host.clone(),
            None => format!("rank {rank}"),
        };
        greetings.map(host).collect()
    }

    /// A rank that is overdue: rank 0 expects all others, the others expect rank 0.
    pub(super) fn silent(
        &self,
        leader: bool,
        began_ns: u64,
        now_ns: u64,
        silence_ns: u64,
    ) -> Option<usize> {
        let is_silent = |rank: &usize| {
            let last_ns = self.last_heard_ns[*rank].max(began_ns);
            self.gone[*rank].is_none() && now_ns.saturating_sub(last_ns) > silence_ns
        };
        match leader {
            true => (1..self.last_heard_ns.len()).find(is_silent),
            false => Some(0).filter(is_silent),
        }
    }

    /// A rank no longer answers.
    pub(super) fn is_lost(&mut self, rank: usize, why: String) {
        self.gone[rank] = Some(Departure {
            why,
            answers: false,
        });
    }

    pub(super) fn has_failures(&self) -> bool {
        !self.reported.is_empty()
    }

    /// Whether all ranks have reported, or failed.
    pub(super) fn all_answered<T>(&self, reported_text: &[Option<T>]) -> bool {
        let failed = |rank: usize| self.reported.iter().any(|reported| reported.rank == rank);
        let mut reported_text = reported_text.iter().enumerate().skip(1);
        reported_text.all(|(rank, reported_text)| {
            reported_text.is_some() || failed(rank) || self.gone[rank].is_some()
        })
    }

    /// The reports of failed ranks, one line each, as one failure. Those ranks no longer take
    /// part.
    pub(super) fn failure(&mut self) -> Option<Failure> {
        let reported = std::mem::take(&mut self.reported);
        let first = reported.first()?.clone();
        let lines = reported.into_iter().map(|reported| {
            let line = format!("{}: {}", self.name_of(reported.rank), reported.text);
            self.gone[reported.rank] = Some(Departure {
                why: reported.text,
                answers: true,
            });
            line
        });
        let lines: Vec<String> = lines.collect();
        Some(Failure {
            hint: first.hint.map(Hint::plain),
            ..Failure::of(exit_of(first.exit), lines.join("\n"))
        })
    }
}

/// The exit for this process exit code.
fn exit_of(code: u8) -> Exit {
    match code {
        2 => Exit::Usage,
        4 => Exit::InputOutput,
        5 => Exit::Store,
        6 => Exit::Busy,
        129.. => Exit::Interrupted(code - 128),
        _ => Exit::Target,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::GroupRecord;

    #[test]
    fn answers_are_taken_once_with_their_questions() {
        let mut state = State::new(3);
        let (first, second) = (state.next_ping(), state.next_ping());
        assert_ne!(first, second);
        for (from, number, ns) in [(1, first, 5), (2, second, 9)] {
            let wall = WallTime(ns);
            state.take(from, Message::Pong { number, wall });
        }
        let both = [(1, first, WallTime(5)), (2, second, WallTime(9))];
        assert_eq!(state.take_answers(), both);
        assert!(state.take_answers().is_empty());
    }

    #[test]
    fn the_names_of_hosts_come_with_the_first_run_only() {
        let mut state = State::new(3);
        let go = |run, hosts: &[&str]| Message::Go {
            run,
            at: WallTime(7),
            offset_ns: 0,
            error_ns: 0,
            group: GroupRecord {
                id: "group".to_owned(),
                rank: 1,
                hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
            },
        };
        for (run, sent) in [(0, &["alpha", "beta", "gamma"][..]), (1, &[]), (2, &[])] {
            state.take(0, go(run, sent));
            let (number, agreed) = state.go.take().expect("it may start");
            let group = agreed.group.expect("a group");
            assert_eq!((number, group.hosts.len()), (run, 3));
            assert_eq!(group.hosts[1], "beta");
        }
    }
}
