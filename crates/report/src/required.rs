//! What was required of runs and of the loads of benches: the one verdict on each, and whose it is.

use crate::identity::bench_of;
use crate::sheet::Judgement;
use crate::words::{found_words, gravest_first, line_for};
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

/// ` for sim:nvme`: whose requirement it is, where a document has several benches.
pub(crate) fn for_bench(requirement: &RequirementRecord, document: &Document) -> String {
    match bench_of(requirement, document).as_str() {
        "" => String::new(),
        bench => format!(" for {bench}"),
    }
}

/// Requirements in a line, the worst verdict first, as a qualification has its own:
/// `missed (iops>=700 missed: 674 IOPS (random 8K read); p99<1s met: ...)`. `None` if there are
/// none.
pub(crate) fn required_words(document: &Document) -> Option<String> {
    let sorted = gravest_first(&document.requirements);
    let worst = sorted.first()?.verdict().word();
    let each = sorted.iter().map(|one| {
        let (required, word) = (&one.requirement, one.verdict().word());
        let bench = for_bench(one, document);
        format!("{required} {word}{bench}: {}", found_words(one))
    });
    let each: Vec<String> = each.collect();
    Some(format!("{worst} ({})", each.join("; ")))
}

/// A line for each requirement, those not met first: `MISSED: p99<1ms: 3.2 ms (...)`; of several
/// benches `MISSED for sim:nvme: p99<1ms: 3.2 ms (...)`. Of a bench, whose table has the loads,
/// what was measured is left out where it would take a second line, unless `explain` asks for it.
/// What would decide an undecided one stays.
pub(crate) fn requirement_lines(document: &Document, explain: bool) -> Vec<String> {
    let is_brief = !explain && !document.series.is_empty();
    let line = |one: &RequirementRecord| {
        let line = line_for(one, &for_bench(one, document));
        let is_decided = one.verdict() != RequirementVerdict::Undecided;
        match is_brief && is_decided && line.chars().count() > LINE_CHARS {
            true => {
                let shorter = RequirementRecord {
                    of: String::new(),
                    ..one.clone()
                };
                line_for(&shorter, &for_bench(one, document))
            }
            false => line,
        }
    };
    let sorted = gravest_first(&document.requirements).into_iter();
    sorted.map(line).collect()
}

/// A line of 80 columns below a verdict, without its indentation.
const LINE_CHARS: usize = 78;

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
