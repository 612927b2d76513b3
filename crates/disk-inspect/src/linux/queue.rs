//! The block layer's view of a disk: its `queue` directory and driver attributes.

use super::tree::Tree;
use crate::storage::Queue;
use std::path::Path;

/// The queue of a whole disk, from its sysfs directory.
pub fn queue(tree: Tree, disk: &Path) -> Queue {
    let file = |name: &str| disk.join("queue").join(name);
    let number = |name: &str| tree.value::<u32>(file(name));
    let above_zero = |name: &str| tree.value::<u64>(file(name)).filter(|value| *value > 0);
    Queue {
        logical_sector_bytes: number("logical_block_size").filter(|size| *size > 0),
        physical_sector_bytes: number("physical_block_size").filter(|size| *size > 0),
        rotational: tree.flag(file("rotational")),
        scheduler: tree
            .word(file("scheduler"))
            .and_then(|text| scheduler(&text)),
        nr_requests: number("nr_requests"),
        queue_depth: tree.value(disk.join("device/queue_depth")),
        atomic_write_unit_min_bytes: tree.value(file("atomic_write_unit_min_bytes")),
        atomic_write_unit_max_bytes: tree.value(file("atomic_write_unit_max_bytes")),
        polls: tree.flag(file("io_poll")),
        hardware_queues: hardware_queues(tree, disk),
        max_sectors_kib: number("max_sectors_kb"),
        write_cache: tree.word(file("write_cache")),
        forced_unit_access: tree.flag(file("fua")),
        zoned: tree.word(file("zoned")).filter(|model| model != "none"),
        optimal_io_bytes: above_zero("optimal_io_size"),
        minimum_io_bytes: above_zero("minimum_io_size"),
        counts_operations: tree.flag(file("iostats")),
        alignment_offset_bytes: tree.value(disk.join("alignment_offset")),
        chunk_bytes: above_zero("chunk_sectors").and_then(|sectors| sectors.checked_mul(512)),
    }
}

/// `none [mq-deadline] kyber`: the one in brackets, or the only one.
pub(super) fn scheduler(text: &str) -> Option<String> {
    let chosen = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let only = || {
        let mut words = text.split_whitespace();
        let word = words.next()?;
        (words.next().is_none() && !word.contains(['[', ']'])).then_some(word)
    };
    chosen.or_else(only).map(str::to_owned)
}

fn hardware_queues(tree: Tree, disk: &Path) -> Option<u32> {
    let count = tree
        .names(disk.join("mq"))
        .iter()
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .count();
    u32::try_from(count).ok().filter(|count| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::scheduler;

    #[test]
    fn the_scheduler_is_the_one_in_brackets() {
        for (text, chosen) in [
            ("none [mq-deadline] kyber bfq ", Some("mq-deadline")),
            ("[none] mq-deadline", Some("none")),
            ("none", Some("none")),
            ("none mq-deadline", None),
            ("", None),
            ("[", None),
        ] {
            assert_eq!(scheduler(text).as_deref(), chosen, "{text}");
        }
    }
}
