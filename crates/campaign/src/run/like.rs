//! The eight runs of CrystalDiskMark: four loads, read and written.

use super::{RunExtras, RunResult, requirements, run};
use stripewise_conductor::context::Context;
use stripewise_conductor::failure::Outcome;
use stripewise_conductor::permissions::Permissions;
use stripewise_conductor::targets::reads_instead;
use stripewise_lab::compare::Requirement;
use stripewise_store::Store;
use stripewise_workload::{
    CursorKind, Distribution, Pattern, PlanOrder, Request, RequestJob, Workload,
};

/// CrystalDiskMark's measured time per line, in nanoseconds.
const DURATION_NS: u64 = 5_000_000_000;

/// Parameters of these runs.
#[derive(Clone, Debug)]
pub struct LikeOptions {
    /// As typed.
    pub target: String,
    /// Only the reads.
    pub read_only: bool,
    /// Bytes of the target in use, or of the test file.
    pub size_bytes: Option<u64>,
    /// Measured time of each line; `None`: five seconds, as in CrystalDiskMark.
    pub duration_ns: Option<u64>,
    /// Name of the I/O engine.
    pub engine: String,
    /// Seed of all streams.
    pub seed: u64,
    /// The user's label.
    pub label: Option<String>,
    /// Requirements on these runs.
    pub require: Vec<Requirement>,
}

/// One of the four lines: name, block size, operations in flight, sequential.
type Line = (&'static str, u64, u32, bool);

const LINES: [Line; 4] = [
    ("SEQ1M Q8T1", 1 << 20, 8, true),
    ("SEQ1M Q1T1", 1 << 20, 1, true),
    ("RND4K Q32T1", 4 << 10, 32, false),
    ("RND4K Q1T1", 4 << 10, 1, false),
];

/// The request for them: reads first, so that a read-only target is left
/// unchanged as far as it gets.
pub fn crystaldiskmark(options: &LikeOptions) -> Request {
    let job = |(name, block_size_bytes, outstanding, sequential): Line, read: bool| RequestJob {
        name: format!("{name} {}", if read { "read" } else { "write" }),
        targets: vec![options.target.clone()],
        workload: Workload {
            read_percent: if read { 100 } else { 0 },
            pattern: match sequential {
                true => Pattern::Sequential {
                    cursor: CursorKind::Own,
                },
                false => Pattern::Random {
                    distribution: Distribution::Uniform,
                },
            },
            block_size_bytes,
            outstanding,
            duration_ns: options.duration_ns.unwrap_or(DURATION_NS),
            size_bytes: options.size_bytes,
            seed: options.seed,
            ..Workload::default()
        },
    };
    let reads = LINES.into_iter().map(|line| job(line, true));
    let writes = LINES.into_iter().map(|line| job(line, false));
    let writes = writes.filter(|_| !options.read_only);
    Request {
        label: options.label.clone(),
        jobs: reads.chain(writes).collect(),
        order: PlanOrder::Alone,
        engine: options.engine.clone(),
        requirements: options.require.iter().map(ToString::to_string).collect(),
        cache_by_name: false,
        ..Request::default()
    }
}

/// Runs them. If the target may not be written and no flag permits it, only
/// the reads, with a note.
///
/// # Errors
/// If it cannot begin; nothing was measured then.
pub fn run_like_crystaldiskmark(
    context: &Context,
    store: &mut Store,
    options: &LikeOptions,
    permissions: &Permissions,
) -> Outcome<RunResult> {
    let request = crystaldiskmark(options);
    requirements(&request)?;
    let all = run(context, store, request, permissions, RunExtras::default());
    match all {
        Err(failure) if !options.read_only => {
            reads_instead(context, permissions, failure)?;
            let reading = LikeOptions {
                read_only: true,
                ..options.clone()
            };
            let request = crystaldiskmark(&reading);
            run(context, store, request, permissions, RunExtras::default())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_those_that_everybody_quotes() {
        let mut options = LikeOptions {
            target: "sim:nvme".to_owned(),
            read_only: false,
            size_bytes: None,
            duration_ns: None,
            engine: "auto".to_owned(),
            seed: 1,
            label: None,
            require: Vec::new(),
        };
        let request = crystaldiskmark(&options);
        let names: Vec<&str> = request.jobs.iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names.len(), 8);
        assert_eq!(
            (names[0], names[7]),
            ("SEQ1M Q8T1 read", "RND4K Q1T1 write")
        );
        for job in &request.jobs {
            assert!(stripewise_report::is_like_job(&job.name), "{}", job.name);
            let load = &job.workload;
            let random = matches!(load.pattern, Pattern::Random { .. });
            let expected = match job.name.as_str() {
                "SEQ1M Q8T1 read" => (1 << 20, 8, false, 100),
                "SEQ1M Q1T1 read" => (1 << 20, 1, false, 100),
                "RND4K Q32T1 read" => (4096, 32, true, 100),
                "RND4K Q1T1 read" => (4096, 1, true, 100),
                "SEQ1M Q8T1 write" => (1 << 20, 8, false, 0),
                "SEQ1M Q1T1 write" => (1 << 20, 1, false, 0),
                "RND4K Q32T1 write" => (4096, 32, true, 0),
                _ => (4096, 1, true, 0),
            };
            let found = (
                load.block_size_bytes,
                load.outstanding,
                random,
                load.read_percent,
            );
            assert_eq!((found, load.threads), (expected, 1), "{}", job.name);
        }
        options.read_only = true;
        let request = crystaldiskmark(&options);
        assert_eq!(request.jobs.len(), 4);
        assert!(
            request
                .jobs
                .iter()
                .all(|job| job.workload.read_percent == 100)
        );
    }
}
