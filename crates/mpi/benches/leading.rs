//! The cost of leading 64, 250 and 1,000 hosts on rank 0: the intervals of 64 are recorded once, and
//! replayed at one per second from each host, through the code that keeps the group together.
//! Measures the processor time of the thread, not wall-clock time (goal: under 2 % of a core for 64
//! hosts, and linear). `cargo bench -p stripewise-mpi`; with `--test`, a few, as a smoke test.
//!
//! Linux only: processor time is read from `/proc/thread-self/schedstat`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use stripewise_campaign::run::{RunExtras, run};
use stripewise_campaign::{
    Clock, Context, FileSystemSize, Interrupt, NullObserver, Outcome, Permissions, Surroundings,
};
use stripewise_conductor::start::{Companion, StartAgreement, WaitContext};
use stripewise_lab::hosts::{Merge, MissingHosts, PartInterval};
use stripewise_mpi::{Carrier, Member, Message, Settings, Timeouts, parts_of};
use stripewise_results::{GroupRecord, Interval, RunRecord, StartRecord};
use stripewise_runner::IntervalSummary;
use stripewise_units::WallTime;
use stripewise_workload::{Request, RequestJob, Workload};

const S: u64 = 1_000_000_000;
/// Different arrays, so that histograms differ.
const ARRAYS: [&str; 4] = [
    "sim:raid10-10k",
    "sim:sata-ssd",
    "sim:nvme",
    "sim:raid10-10k?disks=4",
];

/// The clock of the replay.
#[derive(Clone, Default)]
struct Replayed(Arc<AtomicU64>);

impl Clock for Replayed {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn timestamp(&self) -> String {
        "2026-01-01T00:00:00.000Z".to_owned()
    }

    fn wall(&self) -> WallTime {
        WallTime(1_800_000_000 * S + self.now_ns())
    }
}

/// Collects what a host reports about a run.
#[derive(Debug, Default)]
struct Recorder {
    skeleton: RefCell<Option<RunRecord>>,
    intervals: RefCell<Vec<Vec<PartInterval>>>,
}

impl Companion for Recorder {
    fn ready(&self, waiting: &WaitContext<'_>) -> Outcome<StartAgreement> {
        *self.skeleton.borrow_mut() = Some(waiting.skeleton.clone());
        Ok(StartAgreement::default())
    }

    fn interval(&self, summary: &IntervalSummary, intervals: &[Interval]) {
        self.intervals
            .borrow_mut()
            .push(parts_of(summary, intervals));
    }
}

/// A run of a host: its messages before and after, and each interval.
struct Recorded {
    skeleton: RunRecord,
    intervals: Vec<Vec<PartInterval>>,
    record: RunRecord,
}

/// Records a run of `seconds` intervals of one second.
fn recorded(target: &str, seconds: u64, seed: u64) -> Recorded {
    let folder = tempfile::tempdir().unwrap();
    let context = Context::new(Surroundings {
        clock: Box::new(Replayed::default()),
        observer: Box::new(NullObserver),
        interrupt: Interrupt::default(),
        store: Some(folder.path().join("store.db")),
        store_is_named: true,
        command: vec!["bench".to_owned()],
        version: "1".to_owned(),
        random_seed: [seed, 1],
        file_system_size: FileSystemSize::Measured,
    });
    let request = Request {
        jobs: vec![RequestJob {
            name: "job".to_owned(),
            targets: vec![target.to_owned()],
            workload: Workload {
                duration_ns: seconds * S,
                read_percent: 70,
                outstanding: 32,
                seed,
                ..Workload::default()
            },
        }],
        interval_ns: S,
        engine: "threads".to_owned(),
        ..Request::default()
    };
    let recorder = Rc::new(Recorder::default());
    let extras = RunExtras {
        companion: Some(Rc::clone(&recorder) as Rc<_>),
        ..RunExtras::default()
    };
    let mut store = context.open_store().unwrap();
    let ran = run(
        &context,
        &mut store,
        request,
        &Permissions::default(),
        extras,
    )
    .unwrap();
    ran.ended.unwrap();
    Recorded {
        skeleton: recorder.skeleton.take().unwrap(),
        intervals: recorder.intervals.take(),
        record: ran.records[0].clone(),
    }
}

/// Messages with their senders.
type MessageQueue = Rc<RefCell<VecDeque<(u32, Vec<u8>)>>>;

/// Delivers messages when they are due.
struct Replay {
    size: u32,
    come: MessageQueue,
}

impl Carrier for Replay {
    fn rank(&self) -> u32 {
        0
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn send(&self, _to: u32, _bytes: Vec<u8>) {}

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        self.come.borrow_mut().pop_front()
    }
}

/// Nanoseconds that this thread was on a processor.
fn processor_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

fn start_of(rank: u32, hosts: u32) -> StartRecord {
    StartRecord {
        measured_from: WallTime(1_800_000_000 * S + u64::from(rank) * 10_000),
        clock_offset_ns: Some(0),
        group: Some(GroupRecord {
            id: "group".to_owned(),
            rank,
            hosts: (0..hosts).map(|host| format!("host{host}")).collect(),
        }),
        ..StartRecord::default()
    }
}

/// Rank 0 and its incoming messages.
struct Rank0 {
    member: Member<Replay>,
    clock: Replayed,
    come: MessageQueue,
}

impl Rank0 {
    fn of(hosts: u32) -> Rank0 {
        let come = MessageQueue::default();
        let carrier = Replay {
            size: hosts,
            come: Rc::clone(&come),
        };
        let clock = Replayed::default();
        let settings = Settings {
            version: "1".to_owned(),
            host: "host0".to_owned(),
            shared: false,
            destroys_anywhere: false,
            group: "group".to_owned(),
            patience: Timeouts::default(),
        };
        Rank0 {
            member: Member::new(carrier, Box::new(clock.clone()), settings),
            clock,
            come,
        }
    }

    fn handle(&self, from: u32, message: &Message) -> usize {
        let bytes = message.to_bytes();
        let length = bytes.len();
        self.come.borrow_mut().push_back((from, bytes));
        length
    }

    /// One second of all hosts: bytes received, and the processor time they took.
    fn second(&self, hosts: u32, parts: &[Recorded], second: usize) -> (usize, u64) {
        let mut bytes = 0;
        for (rank, part) in (0..hosts).zip(parts.iter().cycle()) {
            let jobs = part.intervals[second].clone();
            bytes += self.handle(rank, &Message::Interval { run: 0, jobs });
            bytes += self.handle(rank, &Message::Beat);
        }
        // Twenty polls a second, as during a measurement.
        let before_ns = processor_ns();
        for _ in 0..20 {
            self.clock.0.fetch_add(S / 20, Ordering::Relaxed);
            self.member.look();
        }
        (bytes, processor_ns() - before_ns)
    }
}

fn main() {
    let is_test = std::env::args().any(|word| word == "--test");
    let (recordings, seconds) = if is_test { (4, 3) } else { (64, 10) };
    let array = |rank: u32| ARRAYS[rank as usize % ARRAYS.len()];
    let parts = (0..recordings).map(|rank| recorded(array(rank), seconds, u64::from(rank) + 1));
    let parts: Vec<Recorded> = parts.collect();
    let groups: &[u32] = if is_test { &[4, 9] } else { &[64, 250, 1_000] };
    for &hosts in groups {
        lead(hosts, &parts, seconds);
    }
}

/// Replays these recordings, in turn, as those of so many hosts.
fn lead(hosts: u32, parts: &[Recorded], seconds: u64) {
    let rank0 = Rank0::of(hosts);
    for (rank, part) in (0..hosts).zip(parts.iter().cycle()) {
        let skeleton = Box::new(part.skeleton.clone());
        rank0.handle(rank, &Message::Ready { run: 0, skeleton });
    }
    rank0.member.look();
    let (mut bytes, mut used_ns) = (0, 0);
    for second in 0..seconds as usize {
        let (more_bytes, more_ns) = rank0.second(hosts, parts, second);
        (bytes, used_ns) = (bytes + more_bytes, used_ns + more_ns);
    }
    for (rank, part) in (0..hosts).zip(parts.iter().cycle()) {
        let mut record = part.record.clone().without_intervals().without_histograms();
        record.host.name = format!("host{rank}");
        record.start = Some(Box::new(start_of(rank, hosts)));
        let record = Box::new(record);
        rank0.handle(rank, &Message::Record { run: 0, record });
    }
    rank0.member.look();
    let before_ns = processor_ns();
    let merge: Merge = rank0.member.collected().remove(0).into_iter().collect();
    let merged = merge.total(MissingHosts::Refused).unwrap();
    let merging_ns = processor_ns() - before_ns;
    let facts = merged.run.merged.as_ref().unwrap();
    assert_eq!(
        (facts.hosts.len(), facts.intervals),
        (hosts as usize, seconds)
    );
    let each = (facts.hosts.iter()).map(|host| host.read.operations + host.write.operations);
    assert_eq!(merged.run.jobs[0].outcome.operations, each.sum::<u64>());
    println!(
        "{hosts} hosts, an interval a second each, {seconds} s: {:.2} ms of processor time a \
         second of measuring ({:.2} % of a core), {} KiB a second; merging all at the end: {:.0} ms \
         of processor time",
        used_ns as f64 / 1e6 / seconds as f64,
        used_ns as f64 / 1e7 / seconds as f64,
        bytes / 1024 / seconds as usize,
        merging_ns as f64 / 1e6,
    );
}
