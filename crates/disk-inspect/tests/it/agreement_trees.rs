//! Results for the machines in `tests/trees`, compared with other tools: `lsblk --sysroot` on the
//! whole tree, `sfdisk -J` and `parted` on the bytes of its disks. The tools are run; what each
//! cannot report is noted where it is left out.

use crate::borrowed::skip;
use crate::golden::TREES;
use crate::machine::Machine;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use stripewise_disk_formats::tables::{Copy, Role, TableKind};
use stripewise_disk_inspect::Inspect;
use stripewise_disk_inspect::storage::BlockDevice;
use stripewise_disk_inspect::survey::{Disk, Request, Survey};

const MEBIBYTE: u64 = 1 << 20;

fn survey(machine: &Machine) -> Survey {
    let survey = machine.system().survey(&Request::default());
    survey.expect("a survey")
}

/// All devices that `lsblk` lists, those below others too.
fn flat<'j>(devices: &'j Value, found: &mut Vec<&'j Value>) {
    for device in devices.as_array().into_iter().flatten() {
        found.push(device);
        flat(&device["children"], found);
    }
}

/// `lsblk` lists what `/sys/block` has, which is not among what we read.
fn add_block_links(root: &Path) {
    let class = root.join("sys/class/block");
    let block = root.join("sys/block");
    std::fs::create_dir_all(&block).expect("a folder");
    for entry in std::fs::read_dir(&class).expect("devices").flatten() {
        if entry.path().join("partition").exists() {
            continue;
        }
        let target = std::fs::read_link(entry.path()).expect("a link");
        // One folder less deep than the link that is copied.
        let target = target.strip_prefix("..").expect("a relative link");
        std::os::unix::fs::symlink(target, block.join(entry.file_name())).expect("a link");
    }
}

/// What `lsblk` says of a tree; `None` where it is missing or knows no `--sysroot`.
fn lsblk(root: &Path) -> Option<Value> {
    // Only columns read from the tree: it queries the running system for the rest.
    let columns = "NAME,SIZE,START,ALIGNMENT,MIN-IO,OPT-IO,PHY-SEC,LOG-SEC,ROTA";
    let output = Command::new("timeout")
        .args(["20", "lsblk", "--sysroot"])
        .arg(root)
        .args(["-b", "-J", "-o", columns])
        .output()
        .ok()?;
    let tool_output = serde_json::from_slice(&output.stdout).ok();
    tool_output.filter(|_| output.status.success())
}

fn same_queue(tree: &str, device: &BlockDevice, tool_output: &Value) {
    let name = &device.name;
    let queue = &device.queue;
    let number = |key: &str| tool_output[key].as_u64();
    assert_eq!(Some(device.size_bytes), number("size"), "{tree} {name}");
    for (own, key) in [
        (queue.logical_sector_bytes.map(u64::from), "log-sec"),
        (queue.physical_sector_bytes.map(u64::from), "phy-sec"),
        (queue.minimum_io_bytes, "min-io"),
        // Zero is how the kernel says that it knows none.
        (queue.optimal_io_bytes.or(Some(0)), "opt-io"),
        (queue.alignment_offset_bytes, "alignment"),
    ] {
        // A file that a tree lacks is no fact for us, and 0 for lsblk.
        assert_eq!(
            own.unwrap_or(0),
            number(key).unwrap_or(0),
            "{tree} {name} {key}"
        );
    }
    if let Some(rotational) = queue.rotational {
        assert_eq!(
            Some(rotational),
            tool_output["rota"].as_bool(),
            "{tree} {name}"
        );
    }
}

#[test]
fn every_tree_has_the_sizes_starts_and_hints_that_lsblk_reads_there() {
    const NAME: &str = "every_tree_has_the_sizes_starts_and_hints_that_lsblk_reads_there";
    let mut compared = 0;
    for tree in TREES {
        let machine = Machine::new(tree);
        add_block_links(machine.system().root());
        let Some(tool_output) = lsblk(machine.system().root()) else {
            return skip(NAME, "lsblk with --sysroot and START");
        };
        let mut listed = Vec::new();
        flat(&tool_output["blockdevices"], &mut listed);
        let of = |name: &str| {
            let found = listed.iter().find(|one| one["name"] == name);
            *found.unwrap_or_else(|| panic!("{tree}: lsblk does not list {name}"))
        };
        for disk in survey(&machine).disks {
            // lsblk calls device-mapper devices by their names there.
            let device = &disk.device;
            same_queue(
                tree,
                device,
                of(device.mapper_name.as_ref().unwrap_or(&device.name)),
            );
            for part in disk.partitions.iter().filter(|part| part.in_kernel) {
                let tool_output = of(&part.name);
                let start = tool_output["start"].as_u64().expect("a start");
                assert_eq!(part.entry.start_bytes, start * 512, "{tree} {}", part.name);
                if part.entry.role != Role::Extended {
                    let size = tool_output["size"].as_u64();
                    assert_eq!(Some(part.entry.size_bytes), size, "{tree} {}", part.name);
                }
                compared += 1;
            }
        }
    }
    assert!(compared >= 30, "only {compared} partitions");
}

/// The disks of a tree that have a table which tools can read from a plain file:
/// those take sectors of 512 bytes.
fn tabled(machine: &Machine) -> Vec<(PathBuf, Disk)> {
    let root = machine.system().root().to_path_buf();
    survey(machine)
        .disks
        .into_iter()
        .filter(|disk| {
            disk.table
                .as_ref()
                .is_some_and(|table| table.sector_bytes == 512)
        })
        .map(|disk| (root.join("dev").join(&disk.device.name), disk))
        .collect()
}

#[test]
fn tables_of_every_tree_are_read_as_sfdisk_reads_them() {
    const NAME: &str = "tables_of_every_tree_are_read_as_sfdisk_reads_them";
    let mut compared = Vec::new();
    for tree in TREES {
        let machine = Machine::new(tree);
        for (path, disk) in tabled(&machine) {
            let Ok(output) = Command::new("sfdisk").arg("-J").arg(&path).output() else {
                return skip(NAME, "sfdisk");
            };
            let context = format!("{tree} {}", disk.device.name);
            let tool_output: Value = serde_json::from_slice(&output.stdout).expect(&context);
            let tool_output = &tool_output["partitiontable"];
            let table = disk.table.as_ref().expect("a table");
            let label = if table.kind == TableKind::Mbr {
                "dos"
            } else {
                "gpt"
            };
            assert_eq!(tool_output["label"], label, "{context}");
            assert_eq!(tool_output["id"].as_str(), table.id.as_deref(), "{context}");
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_damaged = matches!(table.headers, Some((Copy::Damaged(_), _)));
            let says_damaged = words.contains("primary GPT table is corrupt");
            assert_eq!(is_damaged, says_damaged, "{context}: {words}");
            let theirs: Vec<(u64, u64, String)> = tool_output["partitions"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|one| {
                    let bytes = |key: &str| one[key].as_u64().expect("a number") * 512;
                    let kind = one["type"].as_str().expect("a type");
                    let kind = match u8::from_str_radix(kind, 16) {
                        Ok(number) => format!("0x{number:02x}"),
                        Err(_) => kind.to_owned(),
                    };
                    (bytes("start"), bytes("size"), kind)
                })
                .collect();
            let own = table.partitions.iter();
            let own: Vec<(u64, u64, String)> = own
                .map(|one| (one.start_bytes, one.size_bytes, one.type_id.clone()))
                .collect();
            assert_eq!(own, theirs, "{context}");
            compared.push(tree);
        }
    }
    compared.dedup();
    assert!(compared.len() >= 10, "only {compared:?}");
}

#[test]
fn parted_finds_the_partitions_of_every_tree_where_we_do_and_as_aligned() {
    const NAME: &str = "parted_finds_the_partitions_of_every_tree_where_we_do_and_as_aligned";
    let mut compared = 0;
    for tree in TREES {
        let machine = Machine::new(tree);
        for (path, disk) in tabled(&machine) {
            let context = format!("{tree} {}", disk.device.name);
            let parted = |arguments: &[&str]| {
                let mut command = Command::new("parted");
                command
                    .args(["-s", "-m"])
                    .arg(&path)
                    .args(arguments)
                    .output()
            };
            let Ok(printed) = parted(&["unit", "B", "print"]) else {
                return skip(NAME, "parted");
            };
            let text = String::from_utf8_lossy(&printed.stdout).into_owned();
            // `1:32256B:500105249279B:500105217024B:ext4::;`, a line for each.
            let theirs: Vec<(u32, u64, u64)> = text
                .lines()
                .filter_map(|line| {
                    let mut fields = line.split(':');
                    let number = fields.next()?.parse().ok()?;
                    let mut bytes = || fields.next()?.strip_suffix('B')?.parse::<u64>().ok();
                    let (start, _end, size) = (bytes()?, bytes()?, bytes()?);
                    Some((number, start, size))
                })
                .collect();
            let table = disk.table.as_ref().expect("a table");
            let own = table.partitions.iter();
            let own: Vec<(u32, u64, u64)> = own
                .map(|one| (one.number, one.start_bytes, one.size_bytes))
                .collect();
            assert_eq!(own, theirs, "{context}: {text}");
            for (number, start, _) in own {
                let number = number.to_string();
                let tool_output = parted(&["align-check", "optimal", &number]).expect("parted");
                // For a file parted wants multiples of 1 MiB, as our information does.
                let volume = |check: &str| format!("{context} {number} at {start}: {check}");
                let is_multiple = start % MEBIBYTE == 0;
                assert_eq!(
                    tool_output.status.success(),
                    is_multiple,
                    "{}",
                    volume("optimal")
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= 20, "only {compared} partitions");
}
