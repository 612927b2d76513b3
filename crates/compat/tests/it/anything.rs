//! Any bytes through each reader, and what must hold of whatever comes out. Fuzz targets
//! have it, too.

use stripewise_compat::convert::{Surroundings, Tool, convert};
use stripewise_compat::sqlio::{Command, param_file, report_of, setup};
use stripewise_compat::{Error, import};
use stripewise_results::{JobRow, RunRecord};

/// Errors say something, and what to do.
pub fn check_error(error: &Error) {
    assert!(!error.to_string().is_empty() && !error.hint().is_empty());
    assert!(error.lines().iter().all(|problem| problem.line > 0));
}

/// Any bytes as results of another tool.
///
/// # Panics
/// When something that must hold does not.
pub fn import_anything(bytes: &[u8]) {
    let file = match import(bytes, "fuzz") {
        Ok(file) => file,
        Err(error) => return check_error(&error),
    };
    assert!(!file.runs.is_empty());
    for run in &file.runs {
        let json = serde_json::to_string(run).expect("records are JSON");
        let back: RunRecord = serde_json::from_str(&json).expect("that reads back");
        // Of jobs that differ in what they say, a record keeps what all of them do.
        assert_eq!(serde_json::to_string(&back).ok(), Some(json));
        for job in &run.jobs {
            let row = JobRow { run, job };
            let _ = (row.in_flight(), row.offset_bytes());
            let numbers = [
                row.iops(),
                row.mib_per_s(),
                row.latency("mean"),
                row.latency("max"),
            ];
            let sound = |number: &f64| number.is_finite() && *number >= 0.0;
            assert!(numbers.iter().flatten().all(sound), "{numbers:?}");
        }
        if let Some(report) = report_of(run) {
            // What was printed again is read as the same.
            let text = report.to_string();
            let again = import(text.as_bytes(), "fuzz").expect("our own output");
            let same = again.runs.first().and_then(report_of);
            assert_eq!(same.map(|same| same.to_string()), Some(text));
        }
    }
}

/// Any bytes as a batch file, command lines, a job file and a parameter file.
///
/// # Panics
/// When something that must hold does not.
pub fn convert_anything(bytes: &[u8]) {
    let parameter_file = |_: &str| Some(bytes.to_vec());
    let target = |name: &str| name.len().is_multiple_of(2).then(|| format!("/mnt/{name}"));
    let surroundings = Surroundings {
        parameter_file: &parameter_file,
        target: &target,
    };
    for tool in [Tool::Sqlio, Tool::Diskspd, Tool::Fio] {
        if let Err(error) = convert(tool, bytes, "fuzz", &surroundings) {
            check_error(&error);
        }
    }
    let command = Command::default();
    match param_file::read(bytes, "fuzz", &command) {
        Ok(targets) => {
            if let Ok(setup) = setup(&command, Some(&targets)) {
                let _ = setup.report(&command, 1).to_string();
            }
        }
        Err(error) => check_error(&error),
    }
}
