//! Published studies: what was printed, and own figures beside it.
//!
//! | file | what |
//! |---|---|
//! | `designs` | the studies: tables, printed figures, what is not explained |
//! | `document` | published and own figures side by side |
//! | `sheet` | the same for people, with pictures |
//! | `stored_study` | a study read back from its runs |

pub mod designs;
mod document;
mod sheet;
mod stored_study;

pub use document::{StudyDocument, StudyRate, StudyRow, StudyTable};
pub use sheet::study_sheet;
pub use stored_study::{is_study, rendered_study};

use stripewise_results::{JobRow, RunRecord, Status};

/// A run's rate, where it was not cut short.
pub fn rate_of(record: &RunRecord) -> Option<f64> {
    let job = record.jobs.first()?;
    let row = JobRow { run: record, job };
    row.iops().filter(|_| record.status == Status::Complete)
}
