//! One session of an experiment of either kind: one factor in blocks, or several factors in
//! passes over layouts.

use crate::steps::experiment::session::ExperimentSession;
use crate::steps::layouts::session::LayoutsSession;

/// The result of one session.
pub enum LabSession {
    /// One factor.
    OneFactor(Box<ExperimentSession>),
    /// Layouts.
    Layouts(Box<LayoutsSession>),
}

impl From<ExperimentSession> for LabSession {
    fn from(session: ExperimentSession) -> Self {
        LabSession::OneFactor(Box::new(session))
    }
}

impl From<LayoutsSession> for LabSession {
    fn from(session: LayoutsSession) -> Self {
        LabSession::Layouts(Box::new(session))
    }
}
