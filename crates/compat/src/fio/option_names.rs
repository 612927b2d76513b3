//! Names of fio's options: which ones a plan carries, which have no effect on the load, and which
//! would change it if omitted.

use stripewise_units::nearest_key;

/// Options that are converted, or checked together with those.
const CARRIED: [&str; 48] = [
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
    "end_fsync",
    "fsync_on_close",
    "hipri",
    "kb_base",
];

/// Options that affect what is printed, how a file is made, or how operations are submitted, but
/// not which operations are done.
const WITHOUT_EFFECT: [&str; 108] = [
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
    "exitall",
    "exitall_on_error",
    "exit_what",
    "continue_on_error",
    "error_dump",
    "unit_base",
    "mem",
    "iomem",
    "nonvectored",
    "do_verify",
    "verify_fatal",
    "verify_dump",
    "verify_async",
    "verify_async_cpus",
    "verify_backlog",
    "verify_backlog_batch",
    "verify_interval",
    "verify_offset",
    "verifysort",
    "verifysort_nr",
    "verify_state_load",
    "verify_state_save",
    "log_entries",
    "log_unix_epoch",
    "log_window_value",
    "disable_bw",
    "iomem_align",
    "mem_align",
    "comm",
    "unified_rw_reporting",
    "allow_mounted_write",
    "hugepage-size",
    "uid",
    "gid",
    "filetype",
    "unique_filename",
    "unlink_each_loop",
    "userspace_reap",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
    "log_compression_cpus",
    "log_hist_coarseness",
    "log_issue_time",
    "log_store_compressed",
    "job_start_clock_id",
    // Of a verification, which is refused itself.
    "experimental_verify",
    "verify_header_seed",
    "verify_pattern",
    "verify_pattern_interval",
    "verify_policy",
    "verify_write_sequence",
    // Of a steady state, likewise.
    "steadystate_duration",
    "steadystate_ramp_time",
    "steadystate_check_interval",
    "ss_dur",
    "ss_ramp",
];

/// As [`WITHOUT_EFFECT`], with an alternative.
const REPLACEMENTS: [(&str, &str); 15] = [
    ("cpus_allowed", "assign processors with `run --cpus`"),
    ("cpumask", "assign processors with `run --cpus`"),
    ("cpus_allowed_policy", "assign processors with `run --cpus`"),
    ("numa_cpu_nodes", "assign processors with `run --cpus`"),
    ("numa_mem_policy", "assign processors with `run --cpus`"),
    ("sqthread_poll", "a plan's engine waits in its own way"),
    ("nice", "run stripewise under nice instead"),
    ("prio", "run stripewise under ionice instead"),
    ("prioclass", "run stripewise under ionice instead"),
    ("ioscheduler", "set the scheduler of the device beforehand"),
    ("exec_prerun", "the command is not run"),
    ("exec_postrun", "the command is not run"),
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

/// Aliases of options: the last one given counts, under any name.
const ALIASES: [(&str, &str); 13] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("ba", "blockalign"),
    ("nr_files", "nrfiles"),
    ("io_limit", "io_size"),
    ("start_delay", "startdelay"),
    ("iomem", "mem"),
    ("timeout", "runtime"),
    ("fileoffset", "offset"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("ratemin", "rate_min"),
    ("fill_fs", "fill_device"),
];

/// The canonical name of an option.
pub(crate) fn name_of(key: &str) -> String {
    let key = key.trim().to_ascii_lowercase();
    let known = ALIASES.iter().find(|(alias, _)| *alias == key);
    known.map_or(key, |(_, name)| (*name).to_owned())
}

/// The option that was probably meant by one that is not known here. Many of fio's options are
/// not known, so only a typing error counts, not a name that begins like another.
pub(crate) fn meant(key: &str) -> Option<&'static str> {
    // No option is so long, and what takes its place may be thousands of characters.
    if key.len() > 64 {
        return None;
    }
    let fated = CARRIED.iter().chain(&WITHOUT_EFFECT).chain(&OFF_AT_ZERO);
    let with_values = NEUTRAL.iter().map(|(name, _)| *name);
    let renamed = REPLACEMENTS.iter().chain(&ALIASES).map(|(name, _)| *name);
    let known = fated.copied().chain(with_values).chain(renamed);
    let name = nearest_key(key, known)?;
    (name != key && name.len().abs_diff(key.len()) <= 2).then_some(name)
}

/// How an option is converted.
pub(crate) enum Conversion {
    /// Handled when the job is built.
    Carried,
    /// No effect on which operations are done; with an alternative, if any.
    Left(Option<&'static str>),
    /// The load would change without it.
    Refused,
}

pub(crate) fn fate(key: &str) -> Conversion {
    if CARRIED.contains(&key) {
        return Conversion::Carried;
    }
    if WITHOUT_EFFECT.contains(&key) {
        return Conversion::Left(None);
    }
    let instead = REPLACEMENTS.iter().find(|(name, _)| *name == key);
    match instead {
        Some((_, instead)) => Conversion::Left(Some(instead)),
        None => Conversion::Refused,
    }
}

/// Values with which an option has no effect.
const NEUTRAL: [(&str, &[&str]); 22] = [
    ("verify", &["0"]),
    ("percentage_random", &["100"]),
    ("percentage_sequential", &["0"]),
    ("zonemode", &["none"]),
    ("rate_process", &["linear"]),
    ("rw_sequencer", &["sequential"]),
    ("io_submit_mode", &["inline"]),
    ("iodepth_batch", &["1"]),
    ("iodepth_batch_submit", &["1"]),
    ("iodepth_batch_complete", &["1"]),
    ("iodepth_batch_complete_min", &["1"]),
    ("iodepth_batch_complete_max", &[]),
    ("lockfile", &["none"]),
    ("kb_base", &["1024"]),
    ("trim_percentage", &["0"]),
    ("flow", &["0"]),
    ("loops", &["1"]),
    ("ioscheduler", &[]),
    ("prio", &["0"]),
    ("prioclass", &["0"]),
    ("nice", &["0"]),
    ("steadystate", &["0"]),
];

/// Whether an option with this value has no effect: fio's default, or zero or off.
pub(crate) fn is_neutral(name: &str, value: &str) -> bool {
    let value = value.trim();
    match NEUTRAL.iter().find(|(known, _)| *known == name) {
        Some((_, values)) => values.contains(&value),
        // For sizes, times, counts and switches, 0 is off.
        None => OFF_AT_ZERO.contains(&name) && is_zero(value),
    }
}

/// Options that 0 disables.
const OFF_AT_ZERO: [&str; 31] = [
    "zonesize",
    "zoneskip",
    "zonerange",
    "zonecapacity",
    "latency_target",
    "latency_window",
    "max_latency",
    "rate",
    "rate_min",
    "rate_iops_min",
    "number_ios",
    "num_range",
    "bs_unaligned",
    "bs_is_seq_rand",
    "fill_device",
    "file_append",
    "pre_read",
    "opendir",
    "time_based",
    "end_fsync",
    "fsync_on_close",
    "sync_file_range",
    "atomic",
    "sprandom",
    "create_only",
    "verify_only",
    "lockmem",
    "serialize_overlap",
    "random_sequence_stride",
    "offset_increment",
    "ramp_size",
];

/// `0`, `0k`, `0ms`, `0,0`.
fn is_zero(value: &str) -> bool {
    let is_zero = |part: &str| {
        let rest = part.trim().trim_start_matches('0');
        rest.len() < part.trim().len() && !rest.starts_with(|sign: char| sign.is_ascii_digit())
    };
    value.split(',').all(is_zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_has_its_option_and_an_option_of_fio_has_none() {
        for (typed, expected) in [
            ("iodpth", Some("iodepth")),
            ("blcksize", Some("blocksize")),
            ("file_service_tyep", Some("file_service_type")),
            ("iodepth_batch_complete_max", None),
            ("verify_header", None),
            ("rate_cycle", None),
            ("rate", None),
            ("hostname", None),
        ] {
            assert_eq!(meant(typed), expected, "{typed}");
        }
    }
}
