//! Ranks as threads of one process: every rank is a use case with its own
//! store, clock and targets, and messages travel through memory.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use stripewise_campaign::merge::merge_parts;
use stripewise_campaign::run::{RunExtras, RunResult, run};
use stripewise_campaign::{
    Clock, Context, Event, FileSystemSize, Interrupt, Observer, Outcome, Permissions, Surroundings,
};
use stripewise_lab::hosts::HostPart;
use stripewise_mpi::{
    Carrier, Heartbeat, HostTargets, Member, Message, Settings, Shutdown, Timeouts,
};
use stripewise_results::{RunRecord, Status};
use stripewise_store::Store;
use stripewise_units::WallTime;
use stripewise_workload::{Request, RequestJob, Workload};

pub const S: u64 = 1_000_000_000;
/// Never reached unless something is broken.
const NEVER_NS: u64 = 300 * S;
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Messages from every rank to every rank, in order.
type MessageQueue = Arc<Mutex<Vec<VecDeque<(u32, Vec<u8>)>>>>;

/// Carries messages until its rank falls silent.
pub struct Memory {
    rank: u32,
    size: u32,
    post: MessageQueue,
    time: Arc<Time>,
    /// It sends and receives nothing more after sending this many intervals.
    intervals_left: AtomicU32,
    is_silent: AtomicBool,
    /// On a clock query it sends nothing and raises this instead.
    raises_at_ping: Option<Interrupt>,
}

impl Carrier for Memory {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn send(&self, to: u32, bytes: Vec<u8>) {
        if self.is_silent.load(Ordering::Relaxed) {
            return;
        }
        let message = Message::from_bytes(&bytes);
        if let (Some(Message::Pong { .. }), Some(interrupt)) = (&message, &self.raises_at_ping) {
            interrupt.raise(2);
            return;
        }
        if let Some(Message::Interval { .. }) = message {
            let left = self.intervals_left.fetch_sub(1, Ordering::Relaxed) - 1;
            self.is_silent.store(left == 0, Ordering::Relaxed);
        }
        self.time.mark_alive(self.rank);
        self.post.lock().unwrap()[to as usize].push_back((self.rank, bytes));
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        match self.is_silent.load(Ordering::Relaxed) {
            true => None,
            false => self.post.lock().unwrap()[self.rank as usize].pop_front(),
        }
    }
}

/// The clock of all ranks. It is paused while an expected rank is silent for
/// longer than `UNHEARD_MAX_NS`: on a machine too busy for that rank, no other rank counts
/// it as silent.
struct Time(Mutex<Pace>);

struct Pace {
    now_ns: u64,
    read: Instant,
    /// It does not advance past this.
    until_ns: u64,
    /// Ranks expected to send, and those that have not since `until_ns` was set.
    talkers: BTreeSet<u32>,
    unheard: BTreeSet<u32>,
}

/// Ranks send something every second.
const UNHEARD_MAX_NS: u64 = 2 * S;

impl Time {
    fn of(talkers: BTreeSet<u32>) -> Time {
        let mut pace = Pace {
            now_ns: 0,
            read: Instant::now(),
            until_ns: 0,
            unheard: BTreeSet::new(),
            talkers,
        };
        pace.go_on();
        Time(Mutex::new(pace))
    }

    fn now_ns(&self) -> u64 {
        let mut pace = self.0.lock().unwrap();
        let read = Instant::now();
        let passed_ns = read.duration_since(pace.read).as_nanos() as u64;
        pace.read = read;
        pace.now_ns = (pace.now_ns + passed_ns).min(pace.until_ns);
        pace.now_ns
    }

    fn mark_alive(&self, rank: u32) {
        let mut pace = self.0.lock().unwrap();
        pace.unheard.remove(&rank);
        pace.go_on();
    }

    /// The rank is done, and sends nothing more.
    fn is_done(&self, rank: u32) {
        self.0.lock().unwrap().talkers.remove(&rank);
        self.mark_alive(rank);
    }
}

impl Pace {
    fn go_on(&mut self) {
        if self.unheard.is_empty() {
            self.unheard.clone_from(&self.talkers);
            self.until_ns = match self.talkers.is_empty() {
                true => u64::MAX,
                false => self.now_ns + UNHEARD_MAX_NS,
            };
        }
    }
}

/// A wall clock that is wrong by this much.
#[derive(Clone)]
struct Wrong {
    time: Arc<Time>,
    by_ns: i64,
}

impl Clock for Wrong {
    fn now_ns(&self) -> u64 {
        self.time.now_ns()
    }

    fn timestamp(&self) -> String {
        let text = self.wall().to_string();
        format!("{}Z", &text[..23])
    }

    fn wall(&self) -> WallTime {
        WallTime(1_800_000_000 * S + self.now_ns()).shifted(self.by_ns)
    }
}

/// What a rank reports to people.
#[derive(Clone)]
struct Notes {
    texts: Arc<Mutex<Vec<String>>>,
    /// How long its target does not respond when opened.
    held_up_ns: u64,
    time: Arc<Time>,
}

impl Observer for Notes {
    fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::Note { text, .. } => self.texts.lock().unwrap().push((*text).to_owned()),
            Event::Plan { text } if text.starts_with("Target: ") => {
                let until_ns = self.time.now_ns() + self.held_up_ns;
                while self.time.now_ns() < until_ns {
                    std::thread::sleep(LOOK_EVERY);
                }
            }
            _ => {}
        }
    }
}

/// Parameters of a rank.
#[derive(Clone, Debug)]
pub struct Rank {
    pub version: &'static str,
    pub host: String,
    pub target: String,
    pub clock_by_ns: i64,
    /// It never sends anything.
    pub is_silent: bool,
    /// It sends nothing after eight intervals.
    pub falls_silent: bool,
    pub is_shared: bool,
    pub destroys_anywhere: bool,
    /// How long its target does not respond when opened.
    pub held_up_ns: u64,
    /// Another thread sends heartbeats meanwhile.
    pub has_pulse: bool,
    /// Its stop request.
    pub interrupt: Interrupt,
    /// On a clock query it sends nothing and raises this instead.
    pub raises_at_ping: Option<Interrupt>,
}

impl Rank {
    pub fn on(host: &str, target: &str) -> Rank {
        Rank {
            version: "1",
            host: host.to_owned(),
            target: target.to_owned(),
            clock_by_ns: 0,
            is_silent: false,
            falls_silent: false,
            is_shared: false,
            destroys_anywhere: false,
            held_up_ns: 0,
            has_pulse: true,
            interrupt: Interrupt::default(),
            raises_at_ping: None,
        }
    }

    /// Whether the others receive messages from it while it runs.
    fn is_alive(&self) -> bool {
        self.has_pulse && !self.is_silent && !self.falls_silent
    }
}

/// The results of a rank.
#[derive(Debug)]
pub struct Came {
    pub ended: Result<Vec<RunRecord>, String>,
    pub notes: Vec<String>,
    pub parts: Vec<Vec<HostPart>>,
    /// On rank 0: the merged records.
    pub merged: Option<Vec<RunRecord>>,
    pub closing: Shutdown,
}

/// The request of all: each rank has its own target through the map `{target}`.
pub fn request(workload: &Workload, repetitions: u32) -> Request {
    Request {
        jobs: vec![RequestJob {
            name: "job".to_owned(),
            targets: vec!["{target}".to_owned()],
            workload: workload.clone(),
        }],
        repetitions,
        interval_ns: S / 4,
        engine: "threads".to_owned(),
        cache_by_name: true,
        ..Request::default()
    }
}

/// A group of ranks, and the directory of their stores.
pub struct Group {
    pub directory: tempfile::TempDir,
    pub patience: Timeouts,
}

impl Group {
    pub fn new() -> Group {
        Group {
            directory: tempfile::tempdir().unwrap(),
            patience: Timeouts {
                silence_ns: NEVER_NS,
                answer_ns: NEVER_NS,
                preparing_ns: NEVER_NS,
                stall_ns: NEVER_NS,
                record_ns: NEVER_NS,
            },
        }
    }

    pub fn store_of(&self, rank: usize) -> PathBuf {
        self.directory.path().join(format!("{rank}.db"))
    }

    /// A non-empty file.
    pub fn file(&self, name: &str) -> String {
        let file = self.directory.path().join(name);
        let content: Vec<u8> = (0..1_u32 << 20).map(|at| (at * 7 / 3) as u8).collect();
        std::fs::write(&file, content).unwrap();
        file.to_str().unwrap().to_owned()
    }

    /// All run the same concurrently.
    pub fn run(&self, ranks: &[Rank], request: &Request) -> Vec<Came> {
        self.each(ranks, &|member, own| {
            let read = member.is_leader().then(|| (request.clone(), places(ranks)));
            received(member, own, read)
        })
    }

    /// Each rank does this, concurrently.
    pub fn each<T: Send>(&self, ranks: &[Rank], work: &Work<'_, T>) -> Vec<T> {
        let post: MessageQueue = Arc::new(Mutex::new(vec![VecDeque::new(); ranks.len()]));
        let is_silence_judged = ranks
            .iter()
            .any(|rank| !rank.is_alive() || rank.held_up_ns > 0);
        let talkers = (0..).zip(ranks).filter(|(_, rank)| rank.is_alive());
        let talkers = talkers.map(|(number, _)| number);
        let time = Arc::new(Time::of(match is_silence_judged {
            true => talkers.collect(),
            false => BTreeSet::new(),
        }));
        let of_rank = |number: usize, rank: &Rank| -> T {
            let carrier = Memory {
                rank: number as u32,
                size: ranks.len() as u32,
                post: Arc::clone(&post),
                time: Arc::clone(&time),
                intervals_left: AtomicU32::new(if rank.falls_silent { 8 } else { u32::MAX }),
                is_silent: AtomicBool::new(rank.is_silent),
                raises_at_ping: rank.raises_at_ping.clone(),
            };
            let clock = Wrong {
                time: Arc::clone(&time),
                by_ns: rank.clock_by_ns,
            };
            one(
                &self.store_of(number),
                rank,
                carrier,
                clock,
                self.patience,
                work,
            )
        };
        let of_rank = &of_rank;
        std::thread::scope(|scope| {
            let ranks = ranks.iter().enumerate();
            let threads = ranks.map(|(number, rank)| scope.spawn(move || of_rank(number, rank)));
            let threads: Vec<_> = threads.collect();
            let received = threads.into_iter().map(|thread| thread.join().unwrap());
            received.collect()
        })
    }
}

/// The work of a rank, given its own state.
pub type Work<'a, T> = dyn Fn(&Rc<Member<Memory>>, &mut Own) -> T + Sync + 'a;

/// The state of each rank.
pub struct Own {
    pub context: Context,
    pub store: Store,
    notes: Notes,
}

/// The map of all ranks.
pub fn places(ranks: &[Rank]) -> HostTargets {
    let mut text = "[hosts]\n".to_owned();
    for rank in ranks {
        let line = format!("{} = \"{}\"\n", rank.host, rank.target);
        if !text.contains(&line) {
            text += &line;
        }
    }
    HostTargets::from_toml(&text).unwrap()
}

fn one<T>(
    store: &Path,
    rank: &Rank,
    carrier: Memory,
    clock: Wrong,
    patience: Timeouts,
    work: &Work<'_, T>,
) -> T {
    let time = Arc::clone(&clock.time);
    let notes = Notes {
        texts: Arc::default(),
        held_up_ns: rank.held_up_ns,
        time: Arc::clone(&time),
    };
    let context = Context::new(Surroundings {
        clock: Box::new(clock.clone()),
        observer: Box::new(notes.clone()),
        interrupt: rank.interrupt.clone(),
        store: Some(store.to_owned()),
        store_is_named: true,
        command: vec!["test".to_owned()],
        version: rank.version.to_owned(),
        random_seed: [u64::from(carrier.rank) + 7, 11],
        file_system_size: FileSystemSize::AtMost { bytes: 4 << 30 },
    });
    let settings = Settings {
        version: rank.version.to_owned(),
        host: rank.host.clone(),
        shared: rank.is_shared,
        destroys_anywhere: rank.destroys_anywhere,
        group: "group".to_owned(),
        patience,
    };
    let (number, size, post) = (carrier.rank, carrier.size, Arc::clone(&carrier.post));
    let member = Rc::new(Member::new(carrier, Box::new(clock), settings));
    let store = context.open_store().unwrap();
    let mut own = Own {
        context,
        store,
        notes,
    };
    let heartbeat = member.heartbeat();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (bytes, to) = Heartbeat::beats(number, size);
            while !is_over.load(Ordering::Relaxed) {
                if rank.is_alive() && heartbeat.is_needed() {
                    time.mark_alive(number);
                    let mut post = post.lock().unwrap();
                    (to.clone())
                        .for_each(|to| post[to as usize].push_back((number, bytes.clone())));
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        });
        // Also if the work panics: nothing must wait for a thread that never ends.
        let _over = Over(&is_over, &time, number);
        work(&member, &mut own)
    })
}

/// Marks the end of a rank when dropped.
struct Over<'a>(&'a AtomicBool, &'a Time, u32);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.is_done(self.2);
    }
}

fn received(
    member: &Rc<Member<Memory>>,
    own: &mut Own,
    read: Option<(Request, HostTargets)>,
) -> Came {
    let Own {
        context,
        store,
        notes,
    } = own;
    let ran = ran(context, store, member, read);
    if let Err(failure)
    | Ok(RunResult {
        ended: Err(failure),
        ..
    }) = &ran
    {
        member.report_failure(failure);
    }
    let parts = member.collected();
    let is_partial = !member.losses().is_empty()
        || parts
            .iter()
            .flatten()
            .any(|part| part.run.status != Status::Complete);
    let merged = (member.is_leader() && parts.iter().any(|parts| !parts.is_empty())).then(|| {
        merge_parts(context, store, parts.clone(), is_partial, None)
            .unwrap()
            .records
    });
    let closing = member.close();
    let reported = notes.texts.lock().unwrap().clone();
    Came {
        ended: match ran {
            Err(failure)
            | Ok(RunResult {
                ended: Err(failure),
                ..
            }) => Err(failure.chain()),
            Ok(ran) => Ok(ran.records),
        },
        notes: reported,
        parts,
        merged,
        closing,
    }
}

fn ran(
    context: &Context,
    store: &mut Store,
    member: &Rc<Member<Memory>>,
    read: Option<(Request, HostTargets)>,
) -> Outcome<RunResult> {
    let request = member.request(context, read)?;
    let extras = RunExtras {
        companion: Some(Rc::clone(member) as Rc<_>),
        ..RunExtras::default()
    };
    // Others use the disk below these files, including other tests.
    let permissions = Permissions {
        busy_ok: true,
        ..Permissions::default()
    };
    run(context, store, request, &permissions, extras)
}
