//! Any text as a plan of jobs and as a plan of an experiment: refused with a line
//! and a hint, or a plan.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stripewise_lab::plan_file::LabPlan;
use stripewise_workload::Plan;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Err(error) = text.parse::<Plan>() {
        assert!(!error.to_string().is_empty() && !error.hint().is_empty());
    }
    if let Err(error) = text.parse::<LabPlan>() {
        assert!(!error.to_string().is_empty() && !error.hint().is_empty());
    }
});
