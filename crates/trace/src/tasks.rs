//! Tasks as small numbers: thread, its process, and its name.
//!
//! Threads are combined by process only if the caller gives the process of each
//! ([`Tasks::set_process`]): the kernel's block events carry thread ids.

use crate::event::Comm;
use std::collections::HashMap;

/// Distinct tasks of one trace; later ones count as unknown.
const TASKS_MAX: usize = 1 << 16;

/// A task of one trace, as an index into its [`Tasks`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(u32);

impl TaskId {
    /// A task that the source does not name.
    pub const UNKNOWN: TaskId = TaskId(0);

    /// The index, 0 for an unknown task.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The task of an index that [`TaskId::index`] gave.
    pub const fn from_index(index: usize) -> TaskId {
        TaskId(index as u32)
    }
}

/// The tasks of a trace.
#[derive(Clone, Debug)]
pub struct Tasks {
    by_pid: HashMap<(i32, Comm), TaskId>,
    all: Vec<(i32, Comm)>,
    processes: HashMap<i32, i32>,
}

impl Default for Tasks {
    fn default() -> Self {
        Tasks {
            by_pid: HashMap::new(),
            all: vec![(0, Comm::default())],
            processes: HashMap::new(),
        }
    }
}

impl Tasks {
    /// Sets the process (thread group) of a thread. Its later operations count for the process.
    pub fn set_process(&mut self, thread: i32, process: i32) {
        if self.processes.len() < TASKS_MAX {
            self.processes.insert(thread, process);
        }
    }

    /// The number of a task; [`TaskId::UNKNOWN`] without a pid and a name, and for those
    /// beyond 65,535.
    pub fn id(&mut self, pid: i32, comm: Comm) -> TaskId {
        if pid <= 0 && comm.is_empty() {
            return TaskId::UNKNOWN;
        }
        let key = match self.processes.get(&pid) {
            Some(&process) => {
                // A process is named after its first name seen.
                let first = self.all.iter().find(|(known, _)| *known == process);
                (process, first.map_or(comm, |(_, name)| *name))
            }
            None => (pid, comm),
        };
        if let Some(&id) = self.by_pid.get(&key) {
            return id;
        }
        if self.all.len() >= TASKS_MAX {
            return TaskId::UNKNOWN;
        }
        let id = TaskId(self.all.len() as u32);
        self.all.push(key);
        self.by_pid.insert(key, id);
        id
    }

    /// The process id of a task; None if unknown.
    pub fn pid(&self, task: TaskId) -> Option<i32> {
        let (pid, _) = self.all.get(task.index())?;
        (*pid > 0).then_some(*pid)
    }

    /// The name of a task in the kernel: at most 15 bytes, which the program may set freely.
    pub fn name(&self, task: TaskId) -> Option<String> {
        let (_, comm) = self.all.get(task.index())?;
        (!comm.is_empty()).then(|| comm.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_for_their_process_once_that_is_known() {
        let mut tasks = Tasks::default();
        let comm = Comm::new(b"postgres");
        let alone = tasks.id(100, comm);
        assert_eq!(tasks.id(101, comm), TaskId(2));
        tasks.set_process(101, 100);
        assert_eq!(tasks.id(101, Comm::new(b"worker")), alone);
        assert_eq!(tasks.name(alone).as_deref(), Some("postgres"));
        assert_eq!(tasks.pid(alone), Some(100));
        assert_eq!(tasks.id(0, Comm::default()), TaskId::UNKNOWN);
        assert_eq!(tasks.pid(TaskId::UNKNOWN), None);
    }
}
