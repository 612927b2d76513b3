//! Requirements that were stated with `--require`: judged, told, and turned into
//! an exit code. The verdicts travel in the document, so that a report made of it
//! says what the terminal said.

use crate::exit_codes::Exit;
use stripewise_lab::compare::Requirement;
use stripewise_report::requirement_text;
use stripewise_results::Document;

/// Judges what was required of the runs of a document.
pub fn judge(required: &[Requirement], document: &mut Document) {
    let judged = required.iter().map(|one| one.judge(&document.runs));
    document.requirements = judged.collect();
}

/// A line for each, as text.
pub fn lines(document: &Document) -> String {
    document.requirements.iter().map(requirement_text).collect()
}

/// What went well ends as a finding where a requirement is missed.
pub fn exit(document: &Document, exit: Exit) -> Exit {
    let missed = document.requirements.iter().any(|one| !one.met);
    if missed && exit == Exit::Done {
        Exit::Finding
    } else {
        exit
    }
}
