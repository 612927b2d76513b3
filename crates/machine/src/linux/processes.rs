//! Processes: the process of a thread, its descendants, its open files.

use super::tree::{Tree, field_number};
use crate::Process;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

/// Most open files examined.
const FILES_MAX: usize = 4_096;
/// Most words of a title.
const TITLE_WORDS_MAX: usize = 2;

pub fn process_of_thread(tree: Tree, thread: i32) -> Option<Process> {
    let status = tree.text(format!("/proc/{thread}/status"))?;
    let number = |key: &str| i32::try_from(field_number(&status, key)?).ok();
    Some(Process {
        id: number("Tgid")?,
        parent: number("PPid")?,
    })
}

pub fn process_tree(tree: Tree, root: i32) -> Vec<i32> {
    if !tree.exists(format!("/proc/{root}/status")) {
        return Vec::new();
    }
    let ids = tree
        .names("/proc")
        .into_iter()
        .filter_map(|name| name.parse().ok());
    let parents: HashMap<i32, i32> = ids
        .filter_map(|id| Some((id, process_of_thread(tree, id)?.parent)))
        .collect();
    let descends = |id: i32| {
        let mut at = id;
        // A chain of parents is never longer than the list of processes.
        for _ in 0..parents.len() {
            match parents.get(&at) {
                Some(&parent) if parent == root => return true,
                Some(&parent) => at = parent,
                None => return false,
            }
        }
        false
    };
    let mut found: Vec<i32> = parents
        .keys()
        .copied()
        .filter(|&id| id == root || descends(id))
        .collect();
    found.sort_unstable();
    found
}

/// `postgres: checkpointer`, as a single argument of the command line, which no program name looks
/// like.
pub fn process_title(tree: Tree, process: i32) -> Option<String> {
    let name = tree.word(format!("/proc/{process}/comm"))?;
    let line = tree.text(format!("/proc/{process}/cmdline"))?;
    let first = line.split('\0').next()?.trim();
    let title = first.strip_prefix(&name)?.strip_prefix(": ")?;
    // The rest, such as users, addresses and queries, varies.
    let kind = title.split_whitespace().take(TITLE_WORDS_MAX);
    Some(format!("{name}: {}", kind.collect::<Vec<&str>>().join(" ")))
}

pub fn open_files(tree: Tree, process: i32) -> Vec<PathBuf> {
    let directory = format!("/proc/{process}/fd");
    let names = tree.names(&directory).into_iter().take(FILES_MAX);
    let files =
        names.filter_map(|name| std::fs::read_link(tree.path(format!("{directory}/{name}"))).ok());
    // Pipes, sockets and the like have names that are not paths.
    let files: BTreeSet<PathBuf> = files
        .filter(|path| path.is_absolute() && path.is_file())
        .collect();
    files.into_iter().collect()
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=12345`.
pub fn processor_pressure_us(tree: Tree) -> Option<u64> {
    let text = tree.text("/proc/pressure/cpu")?;
    let some = text.lines().find(|line| line.starts_with("some"))?;
    some.split("total=").nth(1)?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_descend_and_threads_belong_to_them() {
        let root = tempfile::tempdir().unwrap();
        for (id, group, parent) in [
            (10, 10, 1),
            (11, 10, 1),
            (20, 20, 10),
            (30, 30, 20),
            (40, 40, 1),
        ] {
            let directory = root.path().join(format!("proc/{id}"));
            std::fs::create_dir_all(&directory).unwrap();
            let status = format!("Name:\tx\nTgid:\t{group}\nPid:\t{id}\nPPid:\t{parent}\n");
            std::fs::write(directory.join("status"), status).unwrap();
        }
        std::fs::create_dir_all(root.path().join("proc/pressure")).unwrap();
        let pressure = "some avg10=1.00 avg60=0.00 avg300=0.00 total=4711\nfull avg10=0 total=1\n";
        std::fs::write(root.path().join("proc/pressure/cpu"), pressure).unwrap();
        std::fs::write(root.path().join("proc/20/comm"), "postgres\n").unwrap();
        let title = "postgres: checkpointer \0\0\0";
        std::fs::write(root.path().join("proc/20/cmdline"), title).unwrap();
        std::fs::write(root.path().join("proc/30/comm"), "fio\n").unwrap();
        std::fs::write(root.path().join("proc/30/cmdline"), "fio\0--name=a\0").unwrap();
        let tree = Tree::new(root.path());
        let title = process_title(tree, 20);
        assert_eq!(title.as_deref(), Some("postgres: checkpointer"));
        assert_eq!(process_title(tree, 30), None);
        let process = process_of_thread(tree, 11).unwrap();
        assert_eq!((process.id, process.parent), (10, 1));
        assert_eq!(process_tree(tree, 10), [10, 20, 30]);
        assert_eq!(process_tree(tree, 99), [0; 0]);
        assert_eq!(process_of_thread(tree, 99), None);
        assert_eq!(processor_pressure_us(tree), Some(4_711));
    }
}
