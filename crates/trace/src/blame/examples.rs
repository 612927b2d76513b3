//! The slowest operations, with the other activity at the device.

use super::features::Features;
use crate::operation::Operation;
use crate::tasks::TaskId;
use std::collections::BTreeMap;

const EXAMPLES: usize = 5;

/// One slow operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example {
    /// The operation.
    pub operation: Operation,
    /// Operations at the device when it was issued.
    pub in_flight: usize,
    /// Of those, the number from the task with the most.
    pub of_busiest: usize,
    /// That task.
    pub busiest: TaskId,
}

/// The slowest operations, with the other activity at the device.
pub(super) fn examples(operations: &[Operation], features: &Features) -> Vec<Example> {
    let mut slow: Vec<&Operation> = features
        .slow
        .iter()
        .map(|one| &operations[one.index])
        .collect();
    slow.sort_by_key(|one| u64::MAX - one.whole_ns().unwrap_or(0));
    slow.truncate(EXAMPLES);
    let example = |one: &&Operation| {
        let at = one.issued_or_arrived_ns();
        let mut by_task: BTreeMap<TaskId, usize> = BTreeMap::new();
        for other in operations {
            let is_there = other.issued_or_arrived_ns() < at
                && other.completed_ns.is_none_or(|done| done > at);
            if is_there && other.device == one.device {
                *by_task.entry(other.task).or_default() += 1;
            }
        }
        let busiest = by_task.iter().max_by_key(|(_, count)| **count);
        let (busiest, of_busiest) = busiest.map_or((TaskId::UNKNOWN, 0), |(task, n)| (*task, *n));
        Example {
            operation: **one,
            in_flight: by_task.values().sum(),
            of_busiest,
            busiest,
        }
    };
    slow.iter().map(example).collect()
}
