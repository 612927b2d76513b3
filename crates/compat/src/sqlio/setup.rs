//! Converts SQLIO's options to a run: files, and jobs on them.

use super::command::{Access, Affinity, Buffering, Command, refuse};
use super::param_file::Target;
use super::{AccessPattern, Pool, Report, Timer, cache_words};
use crate::Error;
use stripewise_workload::{CacheMode, CursorKind, Distribution, Pattern, Workload};

const NS_PER_S: u64 = 1_000_000_000;
const BYTES_PER_MB: u64 = 1_048_576;
/// The default of `-f`: a missing file gets the size of that matrix if nothing else gives a size.
const COLUMNS_DEFAULT: u64 = 64;

/// A file or raw target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupFile {
    /// As SQLIO would print it: `L:testfile.dat`, `D:`, `9:`.
    pub name: String,
    /// A volume or disk, which is neither made nor expanded.
    pub raw: bool,
    /// Size from the parameter file.
    pub specified_bytes: Option<u64>,
    /// Size to make or expand it to if none is given.
    pub needed_bytes: u64,
    /// Below this it must be expanded: the pattern would not fit.
    pub least_bytes: u64,
}

/// One pool of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct SetupJob {
    /// Unique within its run.
    pub name: String,
    /// Indices of its files.
    pub files: Vec<usize>,
    /// Its workload.
    pub workload: Workload,
    /// Processor mask of its threads; 0: any.
    pub mask: u64,
}

/// The run described by a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Without duplicates.
    pub files: Vec<SetupFile>,
    /// Run concurrently.
    pub jobs: Vec<SetupJob>,
}

/// The run described by `command`; `targets` are those of its parameter file, if any.
///
/// # Errors
/// Raw targets without a size in a pattern that needs one; a start beyond the end of a file of
/// given size.
pub fn setup(command: &Command, targets: Option<&[Target]>) -> Result<Setup, Error> {
    let mut setup = Setup {
        files: Vec::new(),
        jobs: Vec::new(),
    };
    match targets {
        None => {
            let names = command.target_names();
            let files = names
                .iter()
                .map(|name| setup.file(command, name, None))
                .collect::<Result<Vec<_>, _>>()?;
            setup.job(command, files, command.threads, None, mask_of(command));
        }
        Some(targets) => {
            for target in targets {
                let bytes = target.megabytes.map(|size| size * BYTES_PER_MB);
                let file = setup.file(command, &target.file, bytes)?;
                setup.job(command, vec![file], target.threads, bytes, target.mask);
            }
        }
    }
    Ok(setup)
}

/// The processor mask of `-p` and `-a`.
fn mask_of(command: &Command) -> u64 {
    match command.affinity {
        Affinity::None => 0,
        Affinity::Processor { number, .. } => 1_u64.checked_shl(number).unwrap_or(0),
        Affinity::Mask { mask, .. } => mask,
    }
}

impl Setup {
    /// The index of a file; a file named by several lines is one.
    fn file(
        &mut self,
        command: &Command,
        name: &str,
        specified_bytes: Option<u64>,
    ) -> Result<usize, Error> {
        let raw = is_raw(name);
        if raw && specified_bytes.is_none() && command.matrix_blocks().is_none() {
            return Err(refuse(
                format!("{name} is a raw target: -frandom and -fsequential need its size"),
                "give the size in MB in a parameter file: <name> <threads> <mask> <size>",
            ));
        }
        let block = command.block_kib * 1024;
        let start = command.start_blocks.saturating_mul(block);
        let blocks = command
            .matrix_blocks()
            .unwrap_or(COLUMNS_DEFAULT.saturating_mul(command.run_length));
        let needed = blocks.saturating_mul(block).saturating_add(start);
        if needed > 1 << 60 {
            return Err(refuse(
                format!("-f, -i, -b and -S together reach {needed} bytes into {name}"),
                "lower -i, -f or -S",
            ));
        }
        if let Some(bytes) = specified_bytes
            && bytes < start.saturating_add(block)
        {
            return Err(refuse(
                format!(
                    "-S{} starts beyond the end of {name}, which is to have {bytes} bytes",
                    command.start_blocks
                ),
                "give a smaller -S, or a larger size",
            ));
        }
        let known = self.files.iter().position(|file| file.name == name);
        let Some(index) = known else {
            self.files.push(SetupFile {
                name: name.to_owned(),
                raw,
                specified_bytes,
                needed_bytes: needed,
                least_bytes: match command.matrix_blocks() {
                    Some(_) => needed,
                    None => start.saturating_add(block),
                },
            });
            return Ok(self.files.len() - 1);
        };
        let file = &mut self.files[index];
        file.specified_bytes = file.specified_bytes.max(specified_bytes);
        Ok(index)
    }

    fn job(
        &mut self,
        command: &Command,
        files: Vec<usize>,
        threads: u32,
        specified_bytes: Option<u64>,
        mask: u64,
    ) {
        let first = self
            .files
            .get(files[0])
            .map_or("", |file| file.name.as_str());
        // Job names are unique and short; the file is in the target.
        let name = match self.jobs.len() {
            0 => first.chars().take(48).collect(),
            number => format!(
                "{}#{}",
                first.chars().take(48).collect::<String>(),
                number + 1
            ),
        };
        let workload = workload(command, threads, files.len(), specified_bytes);
        self.jobs.push(SetupJob {
            name,
            files,
            workload,
            mask,
        });
    }

    /// Threads over all jobs.
    pub fn threads(&self) -> u32 {
        self.jobs.iter().map(|job| job.workload.threads).sum()
    }

    /// The report with what SQLIO prints before files and results are ready; `counts_per_second`:
    /// clock resolution.
    pub fn report(&self, command: &Command, counts_per_second: u64) -> Report {
        let timer = command.latency.map(|latency| Timer {
            name: if latency.processor_timer {
                "processor"
            } else {
                "system"
            }
            .to_owned(),
            counts_per_second,
        });
        let mut first = 0;
        let pools = self.jobs.iter().map(|job| {
            let threads = job.workload.threads;
            let pool = Pool {
                file: self.files[job.files[0]].name.clone(),
                threads,
                first,
                last: first + threads - 1,
                mask: job.mask,
            };
            first += threads;
            pool
        });
        let pools = match command.parameter_file {
            Some(_) => pools.collect(),
            None => Vec::new(),
        };
        Report {
            version: "v1.5.SG".to_owned(),
            timer,
            parameter_file: command.parameter_file.clone(),
            pools,
            threads: self.threads(),
            operation: command.operation,
            seconds: command.seconds,
            files: self.files.iter().map(|file| file.name.clone()).collect(),
            block_kib: command.block_kib,
            pattern: words_of(command),
            outstanding: command.outstanding,
            buffering: command
                .buffering
                .map(|_| cache_words(cache(command)).to_owned()),
            prepared: Vec::new(),
            other: affinity_lines(command),
            iops_hundredths: 0,
            mib_hundredths: 0,
            initiation_us: None,
            latency_ms: None,
            histogram_percent: None,
            other_results: Vec::new(),
        }
    }
}

/// `X:` is a volume, `9:` a disk.
fn is_raw(name: &str) -> bool {
    name.strip_suffix(':').is_some_and(|name| {
        let letter = name.len() == 1 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        let number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        letter || number
    })
}

/// The cache mode of `-B`.
pub(super) fn cache(command: &Command) -> CacheMode {
    match command.buffering {
        None | Some(Buffering::None) => CacheMode::DirectSync,
        Some(Buffering::Hardware) => CacheMode::Direct,
        Some(Buffering::Yes) => CacheMode::Buffered,
        Some(Buffering::Software) => CacheMode::BufferedSync,
    }
}

/// The access pattern.
pub(super) fn pattern(command: &Command) -> Pattern {
    match command.access {
        Access::Random => Pattern::Random {
            distribution: Distribution::Uniform,
        },
        // One position per file, shared by all threads.
        Access::Sequential => Pattern::Sequential {
            cursor: CursorKind::Shared,
        },
        Access::Stripe(columns) => Pattern::Stride {
            stride_bytes: columns.saturating_mul(command.block_kib * 1024),
            cursor: CursorKind::Columns,
        },
    }
}

fn workload(
    command: &Command,
    threads: u32,
    files: usize,
    specified_bytes: Option<u64>,
) -> Workload {
    let block = command.block_kib * 1024;
    let start = command.start_blocks.saturating_mul(block);
    let matrix = command
        .matrix_blocks()
        .map(|blocks| blocks.saturating_mul(block));
    let specified = specified_bytes.map(|bytes| bytes.saturating_sub(start));
    Workload {
        read_percent: match command.operation {
            super::Operation::Read => 100,
            super::Operation::Write => 0,
        },
        // A single row of one column has no stride.
        pattern: match pattern(command) {
            Pattern::Stride { stride_bytes, .. }
                if matrix.is_some_and(|size| stride_bytes >= size) =>
            {
                Pattern::Sequential {
                    cursor: CursorKind::Columns,
                }
            }
            pattern => pattern,
        },
        block_size_bytes: block,
        threads,
        outstanding: command.outstanding.unwrap_or(1),
        in_turn: command.outstanding.is_none() && files > 1,
        duration_ns: command.seconds.saturating_mul(NS_PER_S),
        base_offset_bytes: start,
        size_bytes: matrix.or(specified),
        cache: cache(command),
        ..Workload::default()
    }
}

/// Line 6. No published result shows stripes: the wording is Stripewise's.
fn words_of(command: &Command) -> AccessPattern {
    match command.access {
        Access::Random => AccessPattern::Random,
        Access::Sequential => AccessPattern::Sequential,
        Access::Stripe(columns) => AccessPattern::Other(format!(
            "stripe IOs, {columns} columns of {} IOs",
            command.run_length
        )),
    }
}

/// No published result shows `-p` and `-a`: the wording is Stripewise's.
fn affinity_lines(command: &Command) -> Vec<String> {
    let line = match command.affinity {
        _ if command.parameter_file.is_some() => return Vec::new(),
        Affinity::None => return Vec::new(),
        Affinity::Processor { number, .. } => format!("\tall threads run on processor {number}"),
        Affinity::Mask {
            mask,
            round_robin: true,
            ..
        } => format!("\tthreads run on the processors of mask {mask:#x} ({mask}) in turn"),
        Affinity::Mask { mask, .. } => {
            format!("\tthreads run on the processors of mask {mask:#x} ({mask})")
        }
    };
    vec![line]
}
