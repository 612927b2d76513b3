//! One sitting of an experiment of either kind: one factor in blocks, or several factors in
//! passes over layouts.

use crate::steps::experiment::sitting::Sitting;
use crate::steps::layouts::sitting::LayoutsSitting;

/// What one sitting came to.
pub enum LabSitting {
    /// One factor.
    OneFactor(Box<Sitting>),
    /// Layouts.
    Layouts(Box<LayoutsSitting>),
}

impl From<Sitting> for LabSitting {
    fn from(sitting: Sitting) -> Self {
        LabSitting::OneFactor(Box::new(sitting))
    }
}

impl From<LayoutsSitting> for LabSitting {
    fn from(sitting: LayoutsSitting) -> Self {
        LabSitting::Layouts(Box::new(sitting))
    }
}
