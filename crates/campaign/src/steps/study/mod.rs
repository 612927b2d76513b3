//! Published studies: the printed figures, with new ones next to them.
//!
//! | file | content |
//! |---|---|
//! | `designs` | the studies: tables, printed figures, what is not explained |
//! | `document` | published and new figures side by side |
//! | `sheet` | the same for people, with charts |
//! | `stored_study` | a study reconstructed from its runs |

pub mod designs;
mod document;
mod sheet;
mod stored_study;

pub use document::{StudyDocument, StudyRate, StudyRow, StudyTable};
pub use sheet::study_sheet;
pub use stored_study::{is_study, rendered_study};

use stripewise_results::{JobRow, RunRecord, Status};

/// A run's rate, unless it was interrupted.
pub fn rate_of(record: &RunRecord) -> Option<f64> {
    let job = record.jobs.first()?;
    let row = JobRow { run: record, job };
    row.iops().filter(|_| record.status == Status::Complete)
}
