//! Derives from a request its runs and the targets they share.

use crate::measure::PlacedJob;
use stripewise_units::path_of;
use stripewise_workload::{Request, RequestPart};

/// The runs of a request.
#[derive(Clone, Debug, Default)]
pub struct PlannedRuns {
    /// As typed.
    pub targets: Vec<String>,
    /// In order; jobs of one run are concurrent. Their targets are indices.
    pub runs: Vec<Vec<PlacedJob>>,
}

impl PlannedRuns {
    /// The runs of a request.
    pub fn of(request: &Request) -> PlannedRuns {
        let mut targets = Vec::new();
        let of_job: Vec<Vec<usize>> = request
            .jobs
            .iter()
            .map(|job| {
                let each = job.targets.iter();
                each.map(|text| index_of(text, request.part, &mut targets))
                    .collect()
            })
            .collect();
        let runs = request.runs().into_iter().map(|run| {
            let jobs = run.into_iter().map(|(job, workload)| PlacedJob {
                name: request.jobs[job].name.clone(),
                targets: of_job[job].clone(),
                workload,
            });
            jobs.collect()
        });
        PlannedRuns {
            runs: runs.collect(),
            targets,
        }
    }
}

/// In a plan, a directory gives each job a test file of its own. Any other target that
/// several jobs name is shared, as the cells of a grid share all targets.
fn index_of(text: &str, part: RequestPart, targets: &mut Vec<String>) -> usize {
    let is_shared = part == RequestPart::Grid || !path_of(text).is_dir();
    let known = targets.iter().position(|known| is_shared && known == text);
    known.unwrap_or_else(|| {
        targets.push(text.to_owned());
        targets.len() - 1
    })
}
