//! What was required of the loads of a bench: the one verdict on each, for tables and pictures.

use crate::sheet::Judgement;
use stripewise_results::{
    Document, RequirementRecord, RequirementVerdict, SeriesAnswer, SeriesRecord,
};

/// A requirement, and its outcome for one load.
pub(crate) type LoadRequirement<'a> = (&'a RequirementRecord, RequirementVerdict);

/// What was required of a load.
pub(crate) fn required_of<'a>(
    series: &SeriesRecord,
    document: &'a Document,
) -> Vec<LoadRequirement<'a>> {
    let of_load = |one: &'a RequirementRecord| {
        let mut all = one.series.iter();
        let found = all.find(|found| found.id == series.id && found.name == series.name)?;
        Some((one, found.verdict))
    };
    document.requirements.iter().filter_map(of_load).collect()
}

/// The verdict on a load with an answer: on what was required of it if anything was, else on its
/// latency limit.
pub(crate) fn verdict_on_load(
    answer: &SeriesAnswer,
    required: &[LoadRequirement<'_>],
) -> (Judgement, &'static str) {
    let worst = RequirementVerdict::worst(required.iter().map(|(_, verdict)| *verdict));
    match worst {
        Some(verdict @ RequirementVerdict::Missed) => (Judgement::Bad, verdict.word()),
        Some(verdict @ RequirementVerdict::Undecided) => (Judgement::Open, verdict.word()),
        Some(verdict @ RequirementVerdict::Met) => (Judgement::Good, verdict.word()),
        None if answer.is_within => (Judgement::Good, "ok"),
        None => (Judgement::Bad, "missed"),
    }
}
