//! Control groups, version 1 and 2: our own group and its ancestors in the hierarchy of one
//! controller, and their limits.

use super::mounts::{Mount, mounts};
use super::tree::{Tree, field_number};
use crate::Throttle;
use crate::host::CpuQuota;
use crate::observe::CgroupCpu;
use crate::throttle::{GroupCounts, GroupIo};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use stripewise_units::{DeviceNumber, NameText};

/// Limits above this are "none" in version 1 (2^63 rounded to a page).
const MEMORY_UNLIMITED: u64 = 1 << 62;

/// One group: its directory, and its name inside the hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub directory: PathBuf,
    pub name: String,
    /// Version 2.
    pub unified: bool,
}

/// Our group and its ancestors, our own first, in every hierarchy that has the controller. With
/// both versions mounted, a controller is in one of them, but the other may have empty groups;
/// their missing files do no harm.
pub fn groups(tree: Tree, controller: &str) -> Vec<Group> {
    let all = mounts(tree);
    let text = tree.text("/proc/self/cgroup").unwrap_or_default();
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(id), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let unified = id == "0" && controllers.is_empty();
        if !unified && !controllers.split(',').any(|name| name == controller) {
            continue;
        }
        let mount = all.iter().find(|mount| {
            if unified {
                mount.kind == "cgroup2"
            } else {
                mount.kind == "cgroup" && mount.option(controller).is_some()
            }
        });
        if let Some(mount) = mount {
            groups.extend(ancestors(tree, mount, path, unified));
        }
    }
    groups
}

fn ancestors(tree: Tree, mount: &Mount, path: &str, unified: bool) -> Vec<Group> {
    // In a container the path may be the host's, only a part of which is mounted.
    let inside = Path::new(path)
        .strip_prefix(&mount.root)
        .or_else(|_| Path::new(path).strip_prefix("/"))
        .unwrap_or(Path::new(""));
    let has_dots = inside.components().any(|part| part.as_os_str() == "..");
    let inside = if has_dots || !tree.exists(mount.mount_point.join(inside)) {
        Path::new("")
    } else {
        inside
    };
    inside
        .ancestors()
        .map(|part| Group {
            directory: mount.mount_point.join(part),
            name: format!("/{}", part.as_text()),
            unified,
        })
        .collect()
}

/// The tightest CPU quota of all groups.
pub fn cpu_quota(tree: Tree) -> Option<CpuQuota> {
    groups(tree, "cpu")
        .into_iter()
        .filter_map(|group| {
            let (quota_us, period_us) = if group.unified {
                let text = tree.word(group.directory.join("cpu.max"))?;
                let (quota, period) = text.split_once(' ')?;
                (quota.parse().ok()?, period.trim().parse().ok()?)
            } else {
                // -1 for none does not parse as an unsigned number.
                (
                    tree.value(group.directory.join("cpu.cfs_quota_us"))?,
                    tree.value(group.directory.join("cpu.cfs_period_us"))?,
                )
            };
            (period_us > 0).then_some(CpuQuota {
                cgroup: group.name,
                quota_us,
                period_us,
            })
        })
        .min_by(|a, b| f64::total_cmp(&a.processors(), &b.processors()))
}

/// Quota statistics summed over all groups: an ancestor's quota throttles us as our own does.
pub fn cpu_statistics(tree: Tree) -> CgroupCpu {
    let mut sum = CgroupCpu::default();
    for group in groups(tree, "cpu") {
        let Some(text) = tree.text(group.directory.join("cpu.stat")) else {
            continue;
        };
        let number = |key: &str| field_number(&text, key).unwrap_or(0);
        sum.periods = sum.periods.saturating_add(number("nr_periods"));
        sum.periods_throttled = sum.periods_throttled.saturating_add(number("nr_throttled"));
        sum.throttled_ns = sum
            .throttled_ns
            .saturating_add(number("throttled_time"))
            .saturating_add(number("throttled_usec").saturating_mul(1000));
    }
    sum
}

/// The tightest memory limit of all groups.
pub fn memory_limit_bytes(tree: Tree) -> Option<u64> {
    groups(tree, "memory")
        .iter()
        .filter_map(|group| {
            let name = if group.unified {
                "memory.max"
            } else {
                "memory.limit_in_bytes"
            };
            tree.value::<u64>(group.directory.join(name))
        })
        .filter(|limit| *limit < MEMORY_UNLIMITED)
        .min()
}

/// I/O limits on these devices. Version 1 is flat: an ancestor's limit does not
/// bind its children (Documentation/admin-guide/cgroup-v1/blkio-controller.rst),
/// so only our own group counts there.
pub fn throttles(tree: Tree, devices: &[DeviceNumber]) -> Vec<Throttle> {
    let mut found: Vec<Throttle> = Vec::new();
    let mut flat_seen = false;
    for controller in ["blkio", "io"] {
        for group in groups(tree, controller) {
            if group.unified {
                // Both names match the single unified hierarchy.
                if controller == "io" {
                    found.extend(unified_throttles(tree, &group));
                }
            } else if !flat_seen {
                flat_seen = true;
                found.extend(flat_throttles(tree, &group));
            }
        }
    }
    found.retain(|throttle| devices.contains(&throttle.number));
    found
}

/// Limits of all visible control groups, whatever processes are in them.
pub fn all_throttles(tree: Tree) -> Vec<Throttle> {
    let each = all_groups(tree).into_iter().flat_map(|group| {
        let group = Group {
            name: group.directory.as_text(),
            ..group
        };
        match group.unified {
            true => unified_throttles(tree, &group),
            false => flat_throttles(tree, &group),
        }
    });
    each.collect()
}

/// All groups of the hierarchies that count I/O, parents before children; at most 4,096.
fn all_groups(tree: Tree) -> Vec<Group> {
    const GROUPS_MAX: usize = 4_096;
    let mut found = Vec::new();
    let mut waiting: Vec<Group> = Vec::new();
    for mount in mounts(tree) {
        let is_flat = mount.kind == "cgroup" && mount.option("blkio").is_some();
        if mount.kind == "cgroup2" || is_flat {
            waiting.push(Group {
                directory: mount.mount_point,
                name: "/".to_owned(),
                unified: !is_flat,
            });
        }
    }
    while let Some(group) = waiting.pop() {
        let below = tree.names(&group.directory).into_iter().map(|name| Group {
            directory: group.directory.join(&name),
            name: format!("{}/{name}", group.name.trim_end_matches('/')),
            unified: group.unified,
        });
        let is_group = |one: &Group| tree.exists(one.directory.join("cgroup.procs"));
        waiting.extend(below.filter(is_group));
        found.push(group);
        if found.len() == GROUPS_MAX {
            break;
        }
    }
    found
}

/// I/O of each control group itself, without its child groups, since it was created; groups without
/// I/O are omitted.
pub fn io_by_group(tree: Tree) -> Vec<GroupIo> {
    let groups = all_groups(tree);
    let mut found: Vec<GroupIo> = Vec::new();
    let mut places: HashMap<(&Path, DeviceNumber), usize> = HashMap::new();
    for group in &groups {
        let all = match group.unified {
            true => unified_io(tree, group),
            false => flat_io(tree, group),
        };
        for one in all {
            // Version 2 includes child groups in a group's counts.
            if group.unified {
                let above = group.directory.parent();
                let above = above.and_then(|above| places.get(&(above, one.number)));
                if let Some(&parent) = above {
                    found[parent].counts.subtract(&one.counts);
                }
                places.insert((&group.directory, one.number), found.len());
            }
            found.push(one);
        }
    }
    found.retain(|one| one.counts != GroupCounts::default());
    found
}

/// Lines such as `8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0`.
fn unified_io(tree: Tree, group: &Group) -> Vec<GroupIo> {
    let text = tree.text(group.directory.join("io.stat"));
    let text = text.unwrap_or_default();
    let each = text.lines().filter_map(|line| {
        let (number, rest) = line.split_once(' ')?;
        let value = |key: &str| {
            let mut words = rest.split_whitespace();
            let value = words.find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            value.and_then(|value| value.parse().ok()).unwrap_or(0)
        };
        Some(GroupIo {
            cgroup: group.name.clone(),
            number: number.parse().ok()?,
            counts: GroupCounts {
                reads: value("rios"),
                writes: value("wios"),
                read_bytes: value("rbytes"),
                written_bytes: value("wbytes"),
            },
        })
    });
    each.collect()
}

/// Lines such as `8:16 Read 192`; version 1 counts each group separately.
fn flat_io(tree: Tree, group: &Group) -> Vec<GroupIo> {
    let mut found: Vec<GroupIo> = Vec::new();
    for (file, is_bytes) in [
        ("blkio.throttle.io_serviced", false),
        ("blkio.throttle.io_service_bytes", true),
    ] {
        let text = tree.text(group.directory.join(file)).unwrap_or_default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(number), Some(kind), Some(value)) =
                (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let (Ok(number), Ok(value)) = (number.parse(), value.parse()) else {
                continue;
            };
            let at = found.iter().position(|known| known.number == number);
            let at = at.unwrap_or_else(|| {
                found.push(GroupIo {
                    cgroup: group.name.clone(),
                    number,
                    counts: GroupCounts::default(),
                });
                found.len() - 1
            });
            let counts = &mut found[at].counts;
            match (kind, is_bytes) {
                ("Read", false) => counts.reads = value,
                ("Write", false) => counts.writes = value,
                ("Read", true) => counts.read_bytes = value,
                ("Write", true) => counts.written_bytes = value,
                _ => {}
            }
        }
    }
    found
}

fn flat_throttles(tree: Tree, group: &Group) -> Vec<Throttle> {
    let mut found: Vec<Throttle> = Vec::new();
    type Field = fn(&mut Throttle) -> &mut Option<u64>;
    let files: [(&str, Field); 4] = [
        ("read_bps", |throttle| &mut throttle.read_bytes_per_s),
        ("write_bps", |throttle| &mut throttle.write_bytes_per_s),
        ("read_iops", |throttle| &mut throttle.read_iops),
        ("write_iops", |throttle| &mut throttle.write_iops),
    ];
    for (file, field) in files {
        let path = group
            .directory
            .join(format!("blkio.throttle.{file}_device"));
        for line in tree.text(path).unwrap_or_default().lines() {
            let mut words = line.split_whitespace();
            let number = words.next().and_then(|word| word.parse().ok());
            let limit = words.next().and_then(|word| word.parse().ok());
            let (Some(number), Some(limit)) = (number, limit) else {
                continue;
            };
            let at = found.iter().position(|known| known.number == number);
            let at = at.unwrap_or_else(|| {
                found.push(named(tree, group, number));
                found.len() - 1
            });
            *field(&mut found[at]) = Some(limit);
        }
    }
    found
}

fn unified_throttles(tree: Tree, group: &Group) -> Vec<Throttle> {
    let text = tree
        .text(group.directory.join("io.max"))
        .unwrap_or_default();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(number) = words.next().and_then(|word| word.parse().ok()) else {
            continue;
        };
        let mut throttle = named(tree, group, number);
        for word in words {
            let Some((key, value)) = word.split_once('=') else {
                continue;
            };
            // `max` is not a number, and means no limit.
            let limit = value.parse().ok();
            match key {
                "rbps" => throttle.read_bytes_per_s = limit,
                "wbps" => throttle.write_bytes_per_s = limit,
                "riops" => throttle.read_iops = limit,
                "wiops" => throttle.write_iops = limit,
                _ => {}
            }
        }
        found.push(throttle);
    }
    found
}

fn named(tree: Tree, group: &Group, number: DeviceNumber) -> Throttle {
    Throttle {
        cgroup: group.name.clone(),
        number,
        device: super::block::directory(tree, number)
            .and_then(|directory| Some(directory.file_name()?.to_str()?.to_owned()))
            .unwrap_or_default(),
        ..Throttle::default()
    }
}
