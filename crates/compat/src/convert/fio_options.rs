//! fio options that would change the load and have no equivalent in a plan.

use crate::fio::{Options, Rw, gap, names, size};
use stripewise_units::nearest;

const RW: [&str; 7] = [
    "read",
    "write",
    "rw",
    "readwrite",
    "randread",
    "randwrite",
    "randrw",
];

/// Engines that read and write files and block devices. Others work on something else (clusters,
/// networks, memory, nothing).
const ENGINES: [&str; 11] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "libaio",
    "posixaio",
    "io_uring",
    "windowsaio",
    "solarisaio",
    "mmap",
];

/// The first option of a job that would change the load.
pub(super) fn refused(options: &Options) -> Result<(), String> {
    engine(options)?;
    if options
        .get("kb_base")
        .is_some_and(|base| base.trim() != "1024")
    {
        return Err(
            "has kb_base, with which its units are not of 1,024: write sizes as numbers of bytes"
                .to_owned(),
        );
    }
    suffix(options)?;
    files(options)?;
    if ["fsync", "fdatasync"]
        .iter()
        .all(|name| options.count(name).is_some_and(|every| every > 0))
    {
        return Err("has fsync and fdatasync: a plan syncs in one way".to_owned());
    }
    let zero = |name: &str| {
        let value = options.get(name).unwrap_or("0");
        value
            .trim_start_matches('0')
            .trim_end_matches(['s', 'm', 'u'])
            .is_empty()
    };
    if !zero("startdelay") {
        return Err("has startdelay: all jobs of a plan that run at once begin at once".to_owned());
    }
    if options
        .get("loops")
        .is_some_and(|loops| loops.trim() != "1")
        && options.get("runtime").is_none()
    {
        return Err(
            "has loops: a plan runs for a time, not for a number of passes; give runtime"
                .to_owned(),
        );
    }
    aligned_by_blocks(options)?;
    if options
        .get("random_distribution")
        .is_some_and(|text| text != "random" && !is_zipf(text))
    {
        return Err("has a random_distribution that is neither random nor zipf:THETA".to_owned());
    }
    Ok(())
}

/// `zipf:THETA`, for both directions and without a centre.
fn is_zipf(text: &str) -> bool {
    let theta = text.strip_prefix("zipf:");
    theta.is_some_and(|theta| theta.parse::<f64>().is_ok())
}

/// Positions are multiples of the block; of several sizes fio takes the smallest, so naming that
/// one is redundant.
fn aligned_by_blocks(options: &Options) -> Result<(), String> {
    let Some(align) = options.get("blockalign").map(size) else {
        return Ok(());
    };
    let smallest = match split(options)? {
        Some(sizes) => sizes.iter().map(|(bytes, _)| *bytes).min(),
        None => options.block_size(),
    };
    if align == smallest {
        return Ok(());
    }
    Err("has blockalign, which is not the block size: a plan's positions are multiples of the block".to_owned())
}

/// fio keeps a map of each file in every process, and visits every block once before any is
/// repeated, with each of its random generators. Non-uniform distributions do not use the map.
pub(super) fn keeps_random_map(options: &Options) -> bool {
    let is_uniform = matches!(options.get("random_distribution"), None | Some("random"));
    options.rw().is_some_and(|rw| rw.random) && is_uniform && !options.is_on("norandommap")
}

fn engine(options: &Options) -> Result<(), String> {
    match options
        .get("ioengine")
        .filter(|name| !ENGINES.contains(name))
    {
        Some(engine) => Err(format!(
            "has ioengine={engine}, which does not read and write files and block devices as a plan does"
        )),
        None => Ok(()),
    }
}

/// `rw=read:64k`: a gap after each block is a stride; a plan cannot express the rest.
fn suffix(options: &Options) -> Result<(), String> {
    let Some((kind, rest)) = options.get("rw").and_then(|rw| rw.split_once(':')) else {
        return Ok(());
    };
    let is_random = kind.trim().starts_with("rand");
    if !is_random && gap(options).is_some() {
        return Ok(());
    }
    Err(format!(
        "has rw={kind}:{rest}: a plan cannot express what follows the colon ({})",
        if is_random {
            "how often a new position is drawn"
        } else {
            "steps back"
        }
    ))
}

/// # Errors
/// The end of a sentence about the job.
pub(super) fn known_rw(options: &Options) -> Result<Rw, String> {
    let rw = options.rw();
    rw.ok_or_else(|| {
        let typed = options.get("rw").unwrap_or("");
        let near = nearest(typed, RW).filter(|_| !typed.contains("trim"));
        let near = near.map(|near| format!(" (did you mean {near}?)"));
        let near = near.unwrap_or_default();
        format!("has rw={typed}: it trims, or is not known{near}")
    })
}

/// Several files: fio visits them in turn unless configured otherwise.
fn files(options: &Options) -> Result<(), String> {
    if options.count("nrfiles").is_some_and(|files| files > 1) {
        return Err("has nrfiles: fio chooses the names of these files, and a plan needs them; list them in filename".to_owned());
    }
    let count = options.get("filename").map_or(1, |text| names(text).len()) as u64;
    if count < 2 {
        return Ok(());
    }
    match options.get("file_service_type").unwrap_or("roundrobin") {
        "roundrobin" | "roundrobin:1" => Ok(()),
        order => Err(format!(
            "has file_service_type={order}: a plan's threads visit the files of a job in turn, one operation on each"
        )),
    }
}

/// `bssplit=4k/60:64k/40`, as a plan's `4K:60,64K:40`.
///
/// # Errors
/// The end of a sentence about the job.
pub(super) fn split(options: &Options) -> Result<Option<Vec<(u64, u8)>>, String> {
    let Some(text) = options.get("bssplit") else {
        return Ok(None);
    };
    let rw = known_rw(options)?;
    let parts: Vec<&str> = text.split(',').collect();
    let reads = parts.first().copied().unwrap_or_default();
    let writes = parts
        .get(1)
        .copied()
        .filter(|part| !part.is_empty())
        .unwrap_or(reads);
    let one = match (rw.reads, rw.writes) {
        (true, false) => reads,
        (false, true) => writes,
        _ if reads == writes => reads,
        _ => return Err("has a bssplit of its own for writes: make a job for each".to_owned()),
    };
    let bad = || format!("has bssplit={text}, whose sizes and shares cannot be parsed");
    let mut shares: Vec<(u64, Option<u8>)> = Vec::new();
    for part in one.split(':') {
        let (bytes, share) = part.split_once('/').unwrap_or((part, ""));
        let share = match share.trim() {
            "" => None,
            share => Some(share.parse().map_err(|_| bad())?),
        };
        shares.push((size(bytes).ok_or_else(bad)?, share));
    }
    // Sizes without a percentage share the remainder evenly.
    let stated_percent: u32 = shares
        .iter()
        .filter_map(|(_, share)| *share)
        .map(u32::from)
        .sum();
    let open = shares.iter().filter(|(_, share)| share.is_none()).count() as u32;
    let left = 100_u32.checked_sub(stated_percent).ok_or_else(bad)?;
    let each = left.checked_div(open).unwrap_or(0);
    if each * open != left {
        return Err(format!(
            "has bssplit={text}, whose shares are not whole percentages that add up to 100"
        ));
    }
    let share = |share: Option<u8>| share.unwrap_or(each as u8);
    Ok(Some(
        shares
            .into_iter()
            .map(|(bytes, of)| (bytes, share(of)))
            .collect(),
    ))
}
