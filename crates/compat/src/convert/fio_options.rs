//! Which options of fio a plan carries, which change nothing that it would have to
//! carry, and why the others are refused.

use crate::fio::{Options, names, size};
use stripewise_workload::ThinkTime;

/// Options that are carried over, or judged with those that are.
const CARRIED: [&str; 44] = [
    "rw",
    "bs",
    "bsrange",
    "bssplit",
    "blockalign",
    "iodepth",
    "numjobs",
    "size",
    "io_size",
    "filesize",
    "runtime",
    "ramp_time",
    "time_based",
    "direct",
    "buffered",
    "sync",
    "fsync",
    "fdatasync",
    "filename",
    "directory",
    "nrfiles",
    "file_service_type",
    "offset",
    "rwmixread",
    "rwmixwrite",
    "thinktime",
    "thinktime_blocks",
    "thinktime_blocks_type",
    "thinktime_iotime",
    "thinktime_spin",
    "rate_iops",
    "rate_process",
    "random_distribution",
    "norandommap",
    "randseed",
    "ioengine",
    "zero_buffers",
    "buffer_compress_percentage",
    "dedupe_percentage",
    "stonewall",
    "wait_for_previous",
    "wait_for",
    "loops",
    "startdelay",
];

/// Options that change what is printed, how a file is made, or how operations are
/// handed over, and not which operations there are.
const WITHOUT_EFFECT: [&str; 65] = [
    "name",
    "description",
    "thread",
    "group_reporting",
    "new_group",
    "invalidate",
    "refill_buffers",
    "scramble_buffers",
    "softrandommap",
    "randrepeat",
    "allrandrepeat",
    "random_generator",
    "rwmixcycle",
    "write_bw_log",
    "write_lat_log",
    "write_hist_log",
    "write_iops_log",
    "write_iolog",
    "log_avg_msec",
    "log_hist_msec",
    "log_max_value",
    "log_offset",
    "log_prio",
    "log_compression",
    "per_job_logs",
    "bwavgtime",
    "iopsavgtime",
    "disk_util",
    "gtod_reduce",
    "gtod_cpu",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw_measurement",
    "clocksource",
    "clat_percentiles",
    "lat_percentiles",
    "slat_percentiles",
    "percentile_list",
    "percentile_precision",
    "significant_figures",
    "block_error_percentiles",
    "stats",
    "fadvise_hint",
    "fallocate",
    "create_serialize",
    "create_on_open",
    "create_fsync",
    "allow_file_create",
    "overwrite",
    "unlink",
    "openfiles",
    "end_fsync",
    "fsync_on_close",
    "exitall",
    "exitall_on_error",
    "exit_what",
    "continue_on_error",
    "error_dump",
    "kb_base",
    "unit_base",
    "mem",
    "iomem",
    "hipri",
    "nonvectored",
];

/// As [`WITHOUT_EFFECT`], with what to do instead.
const ELSEWHERE: [(&str, &str); 9] = [
    ("cpus_allowed", "assign processors with `run --cpus`"),
    ("cpumask", "assign processors with `run --cpus`"),
    ("cpus_allowed_policy", "assign processors with `run --cpus`"),
    ("numa_cpu_nodes", "assign processors with `run --cpus`"),
    ("numa_mem_policy", "assign processors with `run --cpus`"),
    ("sqthread_poll", "a plan's engine waits in its own way"),
    ("sqthread_poll_cpu", "a plan's engine waits in its own way"),
    (
        "registerfiles",
        "files and buffers are registered where the system allows it",
    ),
    (
        "fixedbufs",
        "files and buffers are registered where the system allows it",
    ),
];

/// Other names of the same options: the one that is given last counts, whichever
/// name it has.
const ALIASES: [(&str, &str); 8] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("ba", "blockalign"),
    ("nr_files", "nrfiles"),
    ("io_limit", "io_size"),
    ("start_delay", "startdelay"),
    ("iomem", "mem"),
];

/// The name of an option, of the several that some have.
pub(super) fn name_of(key: &str) -> String {
    let key = key.trim().to_ascii_lowercase();
    let known = ALIASES.iter().find(|(alias, _)| *alias == key);
    known.map_or(key, |(_, name)| (*name).to_owned())
}

/// What becomes of an option.
pub(super) enum Fate {
    /// It is looked at when the job is made.
    Carried,
    /// It has no effect on the load; a note says what there is instead.
    Left(Option<&'static str>),
    /// The load would be another one without it.
    Refused,
}

pub(super) fn fate(key: &str) -> Fate {
    if CARRIED.contains(&key) {
        return Fate::Carried;
    }
    if WITHOUT_EFFECT.contains(&key) {
        return Fate::Left(None);
    }
    let instead = ELSEWHERE.iter().find(|(name, _)| *name == key);
    match instead {
        Some((_, instead)) => Fate::Left(Some(instead)),
        None => Fate::Refused,
    }
}

/// Engines that read and write files and block devices. Others work on something
/// else (clusters, networks, memory, nothing), and so would not be what they were.
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

/// The first option of a job that would make another load of it.
pub(super) fn refused(options: &Options) -> Result<(), String> {
    engine(options)?;
    suffix(options)?;
    files(options)?;
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
        .is_some_and(|text| text != "random" && !text.starts_with("zipf:"))
    {
        return Err("has a random_distribution that is neither random nor zipf:THETA".to_owned());
    }
    Ok(())
}

/// Positions are multiples of the block; of several blocks fio takes the smallest, so to name
/// that one says nothing new.
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

/// fio keeps a map of each file in every process, and comes to every block once before any
/// comes again; so it does with each of its generators of random numbers. A distribution of
/// its own knows no map.
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

/// `rw=read:64k`: a gap after each block is a stride; the rest no plan can say.
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

/// Bytes that are left out after each block of a sequential job.
pub(super) fn gap(options: &Options) -> Option<u64> {
    let (_, gap) = options.get("rw")?.split_once(':')?;
    size(gap).filter(|bytes| *bytes > 0)
}

/// Several files: fio visits them in turn, unless it is asked to do otherwise.
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

/// `thinktime`: a plan's threads pause as fio's jobs do, after a number of operations
/// that were *issued*, once they have completed. fio's usual count is of those completed,
/// which is another one where several are in flight.
///
/// # Errors
/// The end of a sentence about the job.
pub(super) fn think(options: &Options, depth: u64) -> Result<Option<ThinkTime>, String> {
    let Some(text) = options.get("thinktime") else {
        return Ok(None);
    };
    let bad = |name: &str| format!("has no time in {name}={}", options.get(name).unwrap_or(""));
    let pause_ns = options
        .time_in("thinktime", 1_000)
        .ok_or_else(|| bad("thinktime"))?;
    if pause_ns == 0 {
        return Ok(None);
    }
    for (name, why) in [
        ("thinktime_spin", "a plan's threads sleep while they pause"),
        (
            "thinktime_iotime",
            "a plan counts operations between two pauses, not time",
        ),
    ] {
        if options.get(name).is_some() && options.time_in(name, 1_000) != Some(0) {
            return Err(format!("has {name}: {why}"));
        }
    }
    let every = match options.get("thinktime_blocks") {
        None => 1,
        Some(_) => options
            .count("thinktime_blocks")
            .filter(|every| *every > 0)
            .ok_or("has no number in thinktime_blocks")?,
    };
    if depth > 1 && options.get("thinktime_blocks_type") != Some("issue") {
        return Err(format!(
            "has thinktime={text} with iodepth={depth}, counted by what completed: a plan counts what was issued (thinktime_blocks_type=issue)"
        ));
    }
    Ok(Some(ThinkTime { pause_ns, every }))
}

/// `bssplit=4k/60:64k/40`, as a plan's `4K:60,64K:40`.
///
/// # Errors
/// The end of a sentence about the job.
pub(super) fn split(options: &Options) -> Result<Option<Vec<(u64, u8)>>, String> {
    let Some(text) = options.get("bssplit") else {
        return Ok(None);
    };
    let rw = options
        .rw()
        .ok_or("has an rw that only trims, or is not known")?;
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
    // Sizes without a share have what is left, evenly.
    let said: u32 = shares
        .iter()
        .filter_map(|(_, share)| *share)
        .map(u32::from)
        .sum();
    let open = shares.iter().filter(|(_, share)| share.is_none()).count() as u32;
    let left = 100_u32.checked_sub(said).ok_or_else(bad)?;
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
