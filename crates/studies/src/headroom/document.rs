//! What `headroom --json` prints.

use super::{Bound, Growth, Headroom, HeadroomAnswer, KnownCap, Question};
use crate::Origin;
use serde::{Deserialize, Serialize};
use stripewise_results::FidelityRecord;

/// Incremented when a field is removed or changes its meaning.
pub const HEADROOM_SCHEMA_VERSION: u32 = 1;

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct GrowthDocument {
    /// So many times the load; of an open answer the end that is known.
    pub factor: f64,
    /// Ends of the 95 % interval; null where an end is open.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Whether the factor is known, or one end of it.
    pub bound: Bound,
    /// What reaches the limit first: `reads` or `writes`; `cap` where a known cap lets less through.
    pub limited_by: Option<String>,
    /// The factor holds for as long as a short run; a long one at the lower end was beyond.
    pub is_short_lived: bool,
    /// For how long a run at the lower end held, seconds: a burst credit that lasts longer was not spent. Null where
    /// no run did.
    #[serde(default)]
    pub held_for_s: Option<f64>,
}

/// Of a load whose users wait for the disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ClosedDocument {
    /// Operations a second that the target carries at least; null where not known.
    pub rate_at_least: Option<f64>,
    /// Users, each with think times as recorded; null where not known.
    pub users: Option<f64>,
    /// Ends of the 95 % interval of the users.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Whether the users are known, or one end of them; null where not known.
    pub bound: Option<Bound>,
    /// For how long a run at the lower end held, seconds; null where no run did.
    #[serde(default)]
    pub held_for_s: Option<f64>,
}

/// The load at factor 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LoadDocument {
    /// Its name.
    pub name: String,
    /// Operations of the recording.
    pub operations: Option<u64>,
    /// Its length, seconds.
    pub duration_s: Option<f64>,
    /// Operations a second.
    pub iops: Option<f64>,
}

/// A run, in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HeadroomRun {
    /// How the load grew.
    pub growth: Growth,
    /// So many times.
    pub factor: f64,
    /// `climb`, `fit` or `confirm`.
    pub purpose: String,
    /// Operations that were due.
    pub operations: u64,
    /// Those beyond the limit.
    pub beyond: u64,
}

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct HeadroomDocument {
    /// Version of this form.
    pub schema_version: u32,
    /// The series of its runs.
    pub id: String,
    /// As typed.
    pub target: String,
    /// RFC 3339, UTC: when it began; empty where an earlier version stored the answer.
    #[serde(default)]
    pub started_at: String,
    /// Name of the machine that measured; empty as `started_at`.
    #[serde(default)]
    pub host: String,
    /// The load.
    pub load: LoadDocument,
    /// The limit, as typed.
    pub slo: String,
    /// More users.
    pub more_users: Option<GrowthDocument>,
    /// The same users, faster.
    pub faster: Option<GrowthDocument>,
    /// Of a load that waits for the disk.
    pub closed: Option<ClosedDocument>,
    /// The cap of the target that the load meets first; null where none is known.
    pub known_cap: Option<KnownCap>,
    /// How like the load the confirming run was.
    pub fidelity: Option<FidelityRecord>,
    /// Whether the load waits for the disk, in words.
    pub closedness: String,
    /// Why there is no answer.
    pub refused: Option<String>,
    /// It was interrupted, and `--resume` goes on with it: the answers are what is certain so far.
    #[serde(default)]
    pub resumable: bool,
    /// What the answers come from.
    pub runs: Vec<HeadroomRun>,
}

impl HeadroomDocument {
    /// The document of a study.
    pub fn of(study: &Headroom, origin: &Origin<'_>) -> HeadroomDocument {
        let options = study.options();
        let facts = &options.facts;
        let refused = study.refused();
        let of = |growth: Growth| study.questions().iter().find(|one| one.growth == growth);
        let answer = |growth: Growth| {
            of(growth)
                .filter(|_| refused.is_none())
                .and_then(|question| growth_document(study, question))
        };
        let waiting = answer(Growth::WaitingUsers);
        let more_users = answer(Growth::MoreUsers);
        let users = f64::from(facts.waiting_users.unwrap_or(0));
        let closed = facts.waits().then(|| ClosedDocument {
            rate_at_least: (more_users.as_ref()).and_then(|found| Some(found.low? * facts.iops?)),
            users: waiting.as_ref().map(|found| found.factor * users),
            low: waiting.as_ref().and_then(|found| Some(found.low? * users)),
            high: waiting.as_ref().and_then(|found| Some(found.high? * users)),
            bound: waiting.as_ref().map(|found| found.bound),
            held_for_s: waiting.as_ref().and_then(|found| found.held_for_s),
        });
        HeadroomDocument {
            schema_version: HEADROOM_SCHEMA_VERSION,
            id: origin.id.to_owned(),
            target: origin.target.to_owned(),
            started_at: origin.started_at.to_owned(),
            host: origin.host.to_owned(),
            load: LoadDocument {
                name: facts.name.clone(),
                operations: facts.operations,
                duration_s: facts.duration_ns.map(|ns| ns as f64 / 1e9),
                iops: facts.iops,
            },
            slo: options.slo.to_string(),
            faster: answer(Growth::Faster),
            more_users,
            closed,
            known_cap: facts.cap.clone(),
            fidelity: study.fidelity().cloned(),
            closedness: facts.closedness.clone(),
            refused,
            resumable: study.is_open(),
            runs: study.questions().iter().flat_map(runs).collect(),
        }
    }
}

fn growth_document(study: &Headroom, question: &Question) -> Option<GrowthDocument> {
    let found = study.answer(question)?;
    // Waiting users demand less from a slower target: the rate is a lower bound.
    let waits = study.options().facts.waits() && question.growth != Growth::WaitingUsers;
    let lower = found.low.filter(|_| waits && found.bound == Bound::At);
    let found = lower.map_or(found, |low| HeadroomAnswer {
        factor: low,
        high: None,
        bound: Bound::AtLeast,
        ..found
    });
    Some(GrowthDocument {
        factor: found.factor,
        low: found.low,
        high: found.high,
        bound: found.bound,
        limited_by: study.limited_by(question).map(str::to_owned),
        is_short_lived: found.is_short_lived,
        held_for_s: study.held_ns(question).map(|ns| ns as f64 / 1e9),
    })
}

fn runs(question: &Question) -> impl Iterator<Item = HeadroomRun> + '_ {
    question.search.runs().iter().map(|run| HeadroomRun {
        growth: question.growth,
        factor: run.planned.factor,
        purpose: format!("{:?}", run.planned.purpose).to_lowercase(),
        operations: run.operations,
        beyond: run.beyond,
    })
}
