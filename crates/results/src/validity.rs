//! Which numbers count as answers. One rule wherever a number is printed, drawn, required, compared
//! or stored: what a `void` warning concerns is not the disk's result and cannot be used for an
//! answer.

use crate::{JobRecord, JobRow, RunRecord, Severity, Warning};
use stripewise_units::distinct;

fn void_among<'a>(warnings: impl Iterator<Item = &'a Warning>) -> Vec<&'a str> {
    let void = warnings.filter(|warning| warning.severity == Severity::Void);
    distinct(void.map(|warning| warning.code.as_str()))
}

/// Each code once, among the warnings that count, in order of appearance: the first of its warnings,
/// and the number of runs that have one.
pub fn warnings_by_code(
    runs: &[RunRecord],
    counts: impl Fn(&Warning) -> bool,
) -> Vec<(&Warning, usize)> {
    let mut found: Vec<(&Warning, usize)> = Vec::new();
    for run in runs {
        let mut of_this_run: Vec<&str> = Vec::new();
        for warning in run.all_warnings().filter(|one| counts(one)) {
            if of_this_run.contains(&warning.code.as_str()) {
                continue;
            }
            of_this_run.push(&warning.code);
            match found.iter_mut().find(|(one, _)| one.code == warning.code) {
                Some((_, count)) => *count += 1,
                None => found.push((warning, 1)),
            }
        }
    }
    found
}

impl RunRecord {
    /// All its warnings, those of its jobs first.
    pub fn all_warnings(&self) -> impl Iterator<Item = &Warning> {
        let of_jobs = self.jobs.iter().flat_map(|job| &job.warnings);
        of_jobs.chain(&self.warnings)
    }

    /// Whether it or one of its jobs has a warning of this code.
    pub fn has_warning(&self, code: &str) -> bool {
        self.all_warnings().any(|warning| warning.code == code)
    }

    /// Codes of the warnings that void numbers of this run, without duplicates: of the run as a
    /// whole and of all of its jobs. Empty: its numbers count.
    pub fn void_codes(&self) -> Vec<&str> {
        let of_jobs = self.jobs.iter().flat_map(|job| &job.warnings);
        void_among(self.warnings.iter().chain(of_jobs))
    }

    /// Codes of the warnings that void the numbers of one of its jobs: of that job
    /// and of the run as a whole. Empty: they count.
    pub fn void_codes_of<'a>(&'a self, job: &'a JobRecord) -> Vec<&'a str> {
        void_among(job.warnings.iter().chain(&self.warnings))
    }
}

impl<'a> JobRow<'a> {
    /// Codes of the warnings that void its numbers. Empty: they count.
    pub fn void_codes(&self) -> Vec<&'a str> {
        self.run.void_codes_of(self.job)
    }

    /// Whether no warning voids its numbers.
    pub fn is_valid(&self) -> bool {
        self.void_codes().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_units::Hint;

    fn warning(code: &str, severity: Severity) -> Warning {
        Warning {
            code: code.to_owned(),
            severity,
            message: String::new(),
            short: String::new(),
            hint: Hint::default(),
        }
    }

    fn job(warnings: Vec<Warning>) -> JobRecord {
        JobRecord {
            name: "job".to_owned(),
            warnings,
            ..JobRecord::default()
        }
    }

    #[test]
    fn a_void_warning_of_the_run_voids_all_jobs_and_one_of_a_job_only_that_job() {
        let mut run = RunRecord {
            jobs: vec![
                job(vec![
                    warning("zero-data", Severity::Void),
                    warning("not-steady", Severity::Warning),
                    warning("zero-data", Severity::Void),
                ]),
                job(vec![warning("few-operations", Severity::Note)]),
            ],
            ..RunRecord::empty()
        };
        let of = |run: &RunRecord| -> Vec<Vec<String>> {
            let rows = JobRow::of(std::slice::from_ref(run));
            rows.map(|row| row.void_codes().into_iter().map(str::to_owned).collect())
                .collect()
        };
        assert_eq!(run.void_codes(), ["zero-data"]);
        assert_eq!(of(&run), [vec!["zero-data".to_owned()], vec![]]);
        run.warnings = vec![warning("suspended", Severity::Void)];
        assert_eq!(run.void_codes(), ["suspended", "zero-data"]);
        assert_eq!(of(&run)[1], ["suspended"]);
        let rows: Vec<bool> = JobRow::of(std::slice::from_ref(&run))
            .map(|row| row.is_valid())
            .collect();
        assert_eq!(rows, [false, false]);
        assert!(RunRecord::empty().void_codes().is_empty());
    }
}
