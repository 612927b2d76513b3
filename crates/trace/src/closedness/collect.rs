//! The latest spans of each task in a trace, in bounded memory; and the load as a whole.

use super::{Closedness, INSENSITIVE, LOST_SHARE_MAX, Span, Structure, closedness};
use crate::operation::Operation;
use crate::tasks::TaskId;
use std::collections::{BTreeMap, VecDeque};

/// Initial limit of spans per task.
const SPANS_PER_TASK_MAX: usize = 1 << 15;
/// Most spans of all tasks: 32 MiB.
const SPANS_MAX: usize = 1 << 21;
/// Most tasks tracked.
const TASKS_MAX: usize = 4_096;

/// A load is closed if tasks with this share of the operations wait for the disk.
const CLOSED_SHARE: f64 = 0.9;

/// Collects the operations of each task.
#[derive(Debug)]
pub struct TaskSpans {
    tasks: BTreeMap<TaskId, (u64, VecDeque<Span>)>,
    per_task_max: usize,
    retained: usize,
    operations: u64,
}

/// The result for one task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskClosedness {
    /// The task.
    pub task: TaskId,
    /// Its operations.
    pub operations: u64,
    /// Closedness of its latest operations.
    pub closedness: Closedness,
}

/// The result for the whole load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadClosedness {
    /// E of the load: the tasks' E weighted by their operations. None if events were lost (more
    /// than 0.1 %): gaps look like waiting.
    pub elasticity: Option<f64>,
    /// Its lower and upper bound; tasks without a result count from 0 to 1.
    pub elasticity_interval: [f64; 2],
    /// The tasks, busiest first.
    pub tasks: Vec<TaskClosedness>,
}

impl LoadClosedness {
    /// Whether it certainly waits for its disk: tasks with most of its operations do.
    pub fn is_closed(&self) -> bool {
        let operations = |tasks: &mut dyn Iterator<Item = &TaskClosedness>| {
            tasks.map(|task| task.operations).sum::<u64>() as f64
        };
        let all = operations(&mut self.tasks.iter());
        let is_closed = |task: &&TaskClosedness| task.closedness.structure.is_closed();
        let closed = operations(&mut self.tasks.iter().filter(is_closed));
        self.elasticity.is_some() && closed >= CLOSED_SHARE * all
    }

    /// Whether it is closed, and its rate depends on latency.
    pub fn waits(&self) -> bool {
        self.is_closed() && self.elasticity_interval[1] >= INSENSITIVE
    }
}

impl Default for TaskSpans {
    fn default() -> Self {
        TaskSpans {
            tasks: BTreeMap::new(),
            per_task_max: SPANS_PER_TASK_MAX,
            retained: 0,
            operations: 0,
        }
    }
}

impl TaskSpans {
    /// Adds an operation. One without a completion is only counted.
    pub fn add(&mut self, operation: &Operation) {
        self.operations += 1;
        let is_room = self.tasks.len() < TASKS_MAX;
        if !is_room && !self.tasks.contains_key(&operation.task) {
            return;
        }
        let (count, spans) = self.tasks.entry(operation.task).or_default();
        *count += 1;
        let Some(completed_ns) = operation.completed_ns else {
            return;
        };
        let issued_ns = operation.entered_ns.unwrap_or(operation.arrived_ns);
        if spans.len() == self.per_task_max {
            spans.pop_front();
            self.retained -= 1;
        }
        spans.push_back(Span {
            issued_ns: issued_ns.min(completed_ns),
            completed_ns,
        });
        self.retained += 1;
        if self.retained > SPANS_MAX {
            self.shorten();
        }
    }

    /// Halves the number retained per task.
    fn shorten(&mut self) {
        self.per_task_max /= 2;
        self.retained = 0;
        for (_, spans) in self.tasks.values_mut() {
            let surplus = spans.len().saturating_sub(self.per_task_max);
            spans.drain(..surplus);
            self.retained += spans.len();
        }
    }

    /// Judges each task and the load. `lost_share` is the share of lost events.
    pub fn judge(&self, lost_share: f64) -> LoadClosedness {
        let all = self.tasks.iter().map(|(task, (operations, spans))| {
            let spans: Vec<Span> = spans.iter().copied().collect();
            TaskClosedness {
                task: *task,
                operations: *operations,
                closedness: closedness(&spans),
            }
        });
        let mut tasks: Vec<TaskClosedness> = all.collect();
        tasks.sort_by_key(|one| (u64::MAX - one.operations, one.task));
        let whole = self.operations.max(1) as f64;
        let share = |one: &TaskClosedness| one.operations as f64 / whole;
        let sum = |part: fn(&Closedness) -> f64| -> f64 {
            tasks
                .iter()
                .map(|one| share(one) * part(&one.closedness))
                .sum()
        };
        let followed: f64 = tasks.iter().map(share).sum();
        let high = sum(|one| one.elasticity_interval[1]) + (1.0 - followed).max(0.0);
        let interval = [sum(|one| one.elasticity_interval[0]), high.min(1.0)];
        let is_known = |one: &TaskClosedness| one.closedness.structure != Structure::TooFew;
        let known: f64 = tasks.iter().filter(|one| is_known(one)).map(share).sum();
        let is_sound = lost_share <= LOST_SHARE_MAX && known > 0.0;
        LoadClosedness {
            elasticity: is_sound.then(|| sum(|one| one.elasticity)),
            elasticity_interval: if is_sound { interval } else { [0.0, 1.0] },
            tasks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_units::Kind;

    #[test]
    fn a_flood_of_spans_keeps_the_latest() {
        let mut spans = TaskSpans {
            per_task_max: 8,
            ..TaskSpans::default()
        };
        for at in 0..100u64 {
            spans.add(&Operation {
                completed_ns: Some(at + 5),
                ..Operation::at(at, Kind::Read, 0, 512)
            });
        }
        spans.shorten();
        let (count, retained) = &spans.tasks[&TaskId::UNKNOWN];
        assert_eq!((*count, retained.len(), spans.retained), (100, 4, 4));
        assert_eq!(retained[0].issued_ns, 96);
    }
}
