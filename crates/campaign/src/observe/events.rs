//! Turns pages of the kernel's buffers into operations in the order of arrival,
//! incrementally.

use std::collections::{BTreeSet, HashMap, HashSet};
use stripewise_machine::{Process, System};
use stripewise_trace::kernel::{EventFormat, PageFormat, Recording, RecordingReport};
use stripewise_trace::{Event, InOrder, Operation, Pairer, Step, TaskId, Tasks};

/// How long an operation waits for others that arrived before and complete later.
pub const ORDER_NS: u64 = 1_000_000_000;
/// Maximum number of threads looked up.
const THREADS_MAX: usize = 1 << 16;
/// Maximum number of a process's ancestors examined.
const ANCESTORS_MAX: usize = 16;

/// The processes, and which of them belong to the named load.
#[derive(Debug, Default)]
pub struct Processes {
    last: i32,
    seen: HashSet<i32>,
    /// For each process, the first in its chain of parents with the same name.
    firsts: HashMap<i32, i32>,
    /// Titles of servers that are more specific than their names.
    pub titles: HashMap<i32, String>,
    /// All processes with operations.
    pub all: BTreeSet<i32>,
    /// The named processes and their descendants.
    pub own: BTreeSet<i32>,
}

impl Processes {
    /// Looks up a thread when it first appears: later it may be gone.
    fn see(&mut self, system: &System, thread: i32, tasks: &mut Tasks) {
        // Most events belong to the same thread as the previous one.
        if self.last == thread {
            return;
        }
        self.last = thread;
        if thread <= 0 || self.seen.len() >= THREADS_MAX || !self.seen.insert(thread) {
            return;
        }
        let Some(process) = system.process_of_thread(thread) else {
            return;
        };
        tasks.set_process(thread, process.id);
        if self.all.insert(process.id)
            && let Some(title) = system.process_title(process.id)
        {
            self.titles.insert(process.id, title);
        }
        let first = self.first_of(system, process);
        self.firsts.insert(process.id, first);
        if self.own.contains(&process.parent) {
            self.own.insert(process.id);
        }
    }
}

impl Processes {
    /// The first ancestor in the chain of processes with this one's name.
    fn first_of(&self, system: &System, mut process: Process) -> i32 {
        let name = system.process_name(process.id);
        for _ in 0..ANCESTORS_MAX {
            let parent = system.process_of_thread(process.parent);
            let Some(parent) = parent.filter(|one| system.process_name(one.id) == name) else {
                break;
            };
            process = parent;
        }
        process.id
    }
}

/// Converts pages to operations.
pub struct EventStream {
    system: System,
    recording: Recording,
    pairer: Pairer,
    order: InOrder<Operation>,
    /// When events were lost.
    losses: BTreeSet<u64>,
    /// The processes behind the operations.
    pub processes: Processes,
}

impl EventStream {
    /// A stream with these layouts. `None` if the kernel's descriptions cannot be parsed.
    pub fn new(header_page: &str, formats: &[String], own: BTreeSet<i32>) -> Option<EventStream> {
        let page_format = PageFormat::parse(header_page)?;
        let formats = formats.iter().map(|text| EventFormat::parse(text));
        let formats = formats.collect::<Option<Vec<EventFormat>>>()?;
        Some(EventStream {
            system: System::live(),
            recording: Recording::new(page_format, &formats, 0),
            pairer: Pairer::default(),
            order: InOrder::new(ORDER_NS),
            losses: BTreeSet::new(),
            processes: Processes {
                own,
                ..Processes::default()
            },
        })
    }

    /// Processes a page. A damaged one is counted, and is a loss.
    pub fn page(&mut self, bytes: &[u8]) {
        let before = self.recording.report().damaged;
        let is_after_loss = self.recording.page(bytes).unwrap_or(true);
        if is_after_loss || self.recording.report().damaged > before {
            let at = bytes
                .first_chunk::<8>()
                .map_or(0, |time| u64::from_le_bytes(*time));
            self.losses.insert(at);
        }
    }

    /// Pairs the events before this time; all buffers have been read since then.
    pub fn pair_before(&mut self, ns: u64) {
        while let Some(event) = self.recording.next_event_before(ns) {
            self.pair(&event);
        }
    }

    fn pair(&mut self, event: &Event) {
        while self.losses.first().is_some_and(|&at| at <= event.at_ns) {
            self.losses.pop_first();
            self.pairer.lose();
        }
        if matches!(event.step, Step::Enter | Step::Queue | Step::Start) {
            self.processes
                .see(&self.system, event.pid, &mut self.pairer.tasks);
        }
        self.pairer.event(event);
        self.hold();
    }

    fn hold(&mut self) {
        while let Some(operation) = self.pairer.next_operation() {
            let seen_ns = operation.completed_ns.unwrap_or(operation.arrived_ns);
            self.order.push(operation.arrived_ns, seen_ns, operation);
        }
    }

    /// The next operation in the order of arrival.
    pub fn next_operation(&mut self) -> Option<Operation> {
        self.order.pop()
    }

    /// Returns the remaining operations after the last page.
    pub fn finish(&mut self) -> Vec<Operation> {
        while let Some(event) = self.recording.last_event() {
            self.pair(&event);
        }
        self.pairer.finish();
        self.hold();
        std::iter::from_fn(|| self.order.pop_last()).collect()
    }

    /// The load that a task belongs to: processes with one name started by one of them, such as
    /// the server processes of a database. Identified by the name and the first of them.
    pub fn load_of(&self, task: TaskId) -> Option<String> {
        let name = self.tasks().name(task)?;
        let Some(pid) = self.tasks().pid(task) else {
            return Some(name);
        };
        let first = self.processes.firsts.get(&pid).unwrap_or(&pid);
        Some(format!("{name} ({first})"))
    }

    /// The tasks behind the operations.
    pub fn tasks(&self) -> &Tasks {
        &self.pairer.tasks
    }

    /// Statistics of the pages.
    pub fn recorded(&self) -> RecordingReport {
        self.recording.report()
    }
}
