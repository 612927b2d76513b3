//! One session of an experiment of either kind: one factor in blocks, or several factors in
//! passes over layouts.

use crate::steps::experiment::session::ExperimentSession;
use crate::steps::layouts::session::LayoutsSession;

/// The result of one session.
pub enum LabSitting {
    /// One factor.
    OneFactor(Box<ExperimentSession>),
    /// Layouts.
    Layouts(Box<LayoutsSession>),
}

impl From<ExperimentSession> for LabSitting {
    fn from(sitting: ExperimentSession) -> Self {
        LabSitting::OneFactor(Box::new(sitting))
    }
}

impl From<LayoutsSession> for LabSitting {
    fn from(sitting: LayoutsSession) -> Self {
        LabSitting::Layouts(Box::new(sitting))
    }
}
