//! How much more of a load a target carries before it exceeds its latency limit.
//!
//! A load may grow in two ways with different answers: more users (copies of it at
//! random shifts), and the same users faster (time compressed). For a closed load, whose
//! users wait for the disk, there is a third: how many users, each with think times
//! as recorded.

mod chart;
mod document;
mod found;
mod grow;
mod runs;
mod search;
mod text;

pub use document::{
    ClosedDocument, GrowthDocument, HEADROOM_SCHEMA_VERSION, HeadroomDocument, HeadroomRun,
    LoadDocument,
};
pub use found::{Bound, HeadroomAnswer};
pub use runs::{FACTORS, LoadRun, PlannedRun, Purpose, SearchOptions};
pub use search::Search;

use crate::limits::AppliesTo;
use crate::{NextStep, PlacedJob, Run, RunId, Study, StudyTime};
use grow::{beyond, counts, grown, held_up, recorded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stripewise_report::Sheet;
use stripewise_results::{Counting, FidelityRecord, RunRecord, Status};
use stripewise_stats::{EXCEEDANCE_SATURATED, ExceedanceDesign, Slo};
use stripewise_workload::Workload;

/// Ramp before measuring, in which queues fill.
const RAMP_NS: u64 = 1_000_000_000;

/// A replay whose fidelity score exceeds this says nothing about the recording.
const FIDELITY_MAX: f64 = 1.5;

/// Too late: more than this share of the operations left late because of the program itself.
const OWN_LAG_SHARE_MAX: f64 = 0.01;

/// The program is the limit if the answer exceeds this share of what it can issue.
const ISSUER_SHARE_MAX: f64 = 0.9;

/// In which way the load grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// More users: copies, or a higher rate.
    MoreUsers,
    /// The same users, faster.
    Faster,
    /// More users who wait for the disk.
    WaitingUsers,
}

impl Growth {
    /// As used in titles and tables.
    const fn words(self) -> &'static str {
        match self {
            Growth::MoreUsers => "more users",
            Growth::Faster => "the same users, faster",
            Growth::WaitingUsers => "users who wait",
        }
    }
}

impl Growth {
    /// As used in documents and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Growth::MoreUsers => "more-users",
            Growth::Faster => "faster",
            Growth::WaitingUsers => "waiting-users",
        }
    }
}

/// The load at factor 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HeadroomLoad {
    /// A recording.
    Recorded(Box<Workload>),
    /// Jobs of a profile: with rates, or closed.
    Jobs(Vec<PlacedJob>),
}

/// Known facts about the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadFacts {
    /// Its name.
    pub name: String,
    /// Operations of the recording, and its length; `None` for a profile.
    pub operations: Option<u64>,
    /// Nanoseconds.
    pub duration_ns: Option<u64>,
    /// IOPS at factor 1; `None` for a closed profile.
    pub iops: Option<f64>,
    /// Users at factor 1 if they certainly wait for the disk: tasks of the recording,
    /// or operations in flight of a profile.
    pub waiting_users: Option<u32>,
    /// It waits for the disk: the rate of an open replay is a lower bound on what is carried.
    #[serde(default)]
    pub waits: bool,
    /// Whether it waits for the disk, as text.
    pub closedness: String,
    /// How parts of the recording are drawn, by whether rates vary on scales as long as runs.
    pub design: ExceedanceDesign,
    /// The recording over time; `None` for a profile.
    pub timeline: Option<LoadTimeline>,
    /// The cap of the target that this load reaches first, if one is known.
    pub cap: Option<KnownCap>,
}

impl LoadFacts {
    /// It waits for the disk. Loads stored before models recorded this have waiting users.
    pub const fn waits(&self) -> bool {
        self.waits || self.waiting_users.is_some()
    }
}

/// How sure it is that nothing gets through a cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CapNature {
    /// It stands behind a burst, which was driven to its end.
    BehindBurst,
    /// A limiter sets it.
    #[default]
    Limiter,
    /// A limiter, or what the device could do then: a measurement is worth more.
    Undecided,
}

/// A cap that `limits` found on the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownCap {
    /// What it counts: `IOPS` or `bytes/s`.
    pub unit: String,
    /// Which operations it holds.
    #[serde(default)]
    pub applies_to: AppliesTo,
    /// So many a second.
    pub per_s: f64,
    /// So many times the load reach it.
    pub factor: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// What it is known to be.
    #[serde(default)]
    pub nature: CapNature,
    /// The series of the runs that showed it.
    pub series: String,
}

impl KnownCap {
    /// Whether the result lies above it and it is known to be a limiter's. Short runs on a burst
    /// credit would show the same for every factor below theirs.
    fn bounds(&self, found: &HeadroomAnswer) -> bool {
        self.nature != CapNature::Undecided
            && (found.bound != Bound::AtMost || found.is_short_lived)
            && found.low.unwrap_or(found.factor) > self.high
    }
}

/// A whole recording over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadTimeline {
    /// The width of a bin.
    pub bin_ns: u64,
    /// IOPS in each slice.
    pub iops: Vec<f64>,
    /// The part that is the load, if not all of it.
    pub busiest_ns: Option<[u64; 2]>,
}

/// The question and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadroomOptions {
    /// The latency limit: a percentile.
    pub slo: Slo,
    /// The load.
    pub load: HeadroomLoad,
    /// Known facts about the load.
    pub facts: LoadFacts,
    /// Length of a run.
    pub run_ns: u64,
    /// Length of the confirming run.
    pub confirm_ns: u64,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Operations beyond the limit, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct KindBeyond {
    operations: u64,
    beyond: u64,
}

/// One question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// How the load grows.
    pub growth: Growth,
    /// The search.
    pub search: Search,
    /// Reads and writes of runs that are not saturated.
    kinds: [KindBeyond; 2],
}

/// The study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Headroom {
    options: HeadroomOptions,
    questions: Vec<Question>,
    made: u32,
    spent_ns: u64,
    own_lags: u64,
    due: u64,
    own_cost_ns: Option<f64>,
    fidelity: Option<FidelityRecord>,
}

impl Headroom {
    /// The study before its first run. `None` if the limit is not a percentile.
    pub fn new(options: HeadroomOptions) -> Option<Headroom> {
        let share = allowed_share(&options.slo)?;
        let facts = &options.facts;
        let growths: &[Growth] = match (&options.load, facts.waits(), facts.waiting_users) {
            (HeadroomLoad::Recorded(_), false, _) => &[Growth::MoreUsers, Growth::Faster],
            (HeadroomLoad::Recorded(_), true, Some(_)) => {
                &[Growth::MoreUsers, Growth::WaitingUsers]
            }
            (HeadroomLoad::Jobs(_), true, _) => &[Growth::WaitingUsers],
            (_, _, None) | (HeadroomLoad::Jobs(_), false, _) => &[Growth::MoreUsers],
        };
        let question = |growth: Growth| Question {
            growth,
            search: Search::new(SearchOptions {
                share,
                run_ns: options.run_ns,
                confirm_ns: options.confirm_ns,
                recording_ns: facts.duration_ns.unwrap_or(1),
                design: facts.design,
                unit: match (growth, facts.waiting_users) {
                    (Growth::WaitingUsers, Some(users)) => 1.0 / f64::from(users.max(1)),
                    _ => 0.0,
                },
                seed: options.seed ^ (growth as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d),
            }),
            kinds: [KindBeyond::default(); 2],
        };
        Some(Headroom {
            questions: growths.iter().copied().map(question).collect(),
            options,
            made: 0,
            spent_ns: 0,
            own_lags: 0,
            due: 0,
            own_cost_ns: None,
            fidelity: None,
        })
    }

    /// The parameters of the study.
    pub const fn options(&self) -> &HeadroomOptions {
        &self.options
    }

    /// The questions, answered or not.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// How like the load the confirming run was.
    pub const fn fidelity(&self) -> Option<&FidelityRecord> {
        self.fidelity.as_ref()
    }

    /// Why there is no answer, if the runs themselves show it.
    pub fn refused(&self) -> Option<String> {
        if self.own_lags as f64 > OWN_LAG_SHARE_MAX * self.due as f64 {
            return Some(format!(
                "{:.1} % of the operations left late because the program could not issue them in time",
                100.0 * self.own_lags as f64 / self.due as f64
            ));
        }
        if let Some(fidelity) = self.misfit() {
            return Some(format!(
                "the replay was not like the recording: its {} differ by {:.1} times what halves of the recording do",
                fidelity.worst_feature, fidelity.score
            ));
        }
        let iops = self.options.facts.iops?;
        let issued = |question: &Question| Some(self.answer(question)?.factor * iops);
        let most = self.questions.iter().filter_map(issued).fold(0.0, f64::max);
        let busy = most * self.own_cost_ns? / 1e9;
        (busy > ISSUER_SHARE_MAX).then(|| {
            format!(
                "the program itself cannot issue more than {:.0} operations a second",
                most / busy
            )
        })
    }

    /// The fidelity of the replay if it was another load than the recording: no further run of it
    /// adds anything.
    fn misfit(&self) -> Option<&FidelityRecord> {
        let fidelity = self.fidelity.as_ref();
        fidelity.filter(|one| one.score > FIDELITY_MAX)
    }

    /// Whether anything remains to be measured.
    pub fn is_open(&self) -> bool {
        self.current().is_some()
    }

    /// The answer to one of the questions, or what is certain so far; capped at what a known
    /// limiter lets through: runs shorter than a burst credit carry more than
    /// that.
    pub fn answer(&self, question: &Question) -> Option<HeadroomAnswer> {
        let found = match question.search.next() {
            Some(_) => question.search.so_far()?,
            None => *question.search.found()?,
        };
        let cap = self.options.facts.cap.as_ref();
        let cap = cap.filter(|cap| question.growth != Growth::WaitingUsers && cap.bounds(&found));
        Some(cap.map_or(found, |cap| HeadroomAnswer {
            factor: cap.high,
            low: None,
            high: Some(cap.high),
            bound: Bound::AtMost,
            is_short_lived: true,
        }))
    }

    /// How long the answer was seen to hold: a credit that lasts longer is not excluded.
    /// `None` if no run held, or a known cap decides.
    pub fn held_ns(&self, question: &Question) -> Option<u64> {
        let found = self.answer(question)?;
        let is_confirmed = question.search.found().is_some() && found.low.is_some();
        is_confirmed.then_some(self.options.confirm_ns)
    }

    /// Whether the target carries the load as it is, factor 1; `None` where that is not known.
    pub fn is_carried(&self) -> Option<bool> {
        if self.is_below_load() {
            return Some(false);
        }
        let mut carried = self.questions.iter().filter_map(|one| self.carried(one));
        if carried.any(|factor| factor >= 1.0 - 1e-9) {
            return Some(true);
        }
        let exceeds = |one: &Question| one.search.exceeds_up_to(1.0 + 1e-9);
        self.bounding().any(exceeds).then_some(false)
    }

    /// The answer to one of the questions is less than the load as it is.
    fn is_below_load(&self) -> bool {
        let mut ends = self.bounding().filter_map(|one| self.answer(one)?.high);
        // Whole users add up to 1 but for rounding.
        ends.any(|high| high < 1.0 - 1e-9)
    }

    /// The questions whose answers bound what is carried: for waiting users, the rate is a lower
    /// bound.
    fn bounding(&self) -> impl Iterator<Item = &Question> {
        let waits = self.options.facts.waits();
        let all = self.questions.iter();
        all.filter(move |one| !(waits && one.growth == Growth::MoreUsers))
    }

    /// The largest factor that is known to be carried. Where a cap is the answer, runs above it
    /// were within the limit, and what is below it spends no credit.
    fn carried(&self, question: &Question) -> Option<f64> {
        match (self.limited_by(question), &self.options.facts.cap) {
            (Some("cap"), Some(cap)) => Some(cap.low),
            _ => self.answer(question)?.low,
        }
    }

    /// What reaches the limit first: reads, writes, or a known cap.
    fn limited_by(&self, question: &Question) -> Option<&'static str> {
        let is_capped = |cap: &KnownCap| {
            let answer = self.answer(question);
            answer.is_some_and(|answer| answer.bound == Bound::AtMost && answer.factor == cap.high)
        };
        match self.options.facts.cap.as_ref().is_some_and(is_capped) {
            true => Some("cap"),
            false => question.limited_by(),
        }
    }

    fn current(&self) -> Option<(usize, &PlannedRun)> {
        if self.misfit().is_some() {
            return None;
        }
        let open = self.questions.iter().enumerate();
        let mut open = open.filter_map(|(index, one)| Some((index, one.search.next()?)));
        open.next()
    }

    /// The jobs of a run.
    fn jobs(&self, growth: Growth, planned: &PlannedRun) -> Vec<PlacedJob> {
        match &self.options.load {
            HeadroomLoad::Recorded(workload) => {
                vec![PlacedJob::new(
                    "replay",
                    recorded(workload, growth, planned),
                )]
            }
            HeadroomLoad::Jobs(jobs) => jobs
                .iter()
                .map(|job| PlacedJob {
                    workload: grown(&job.workload, planned),
                    ..job.clone()
                })
                .collect(),
        }
    }
}

/// The share of operations that may exceed the limit.
pub fn allowed_share(slo: &Slo) -> Option<f64> {
    use stripewise_stats::LatencyStatistic as Statistic;
    match slo.percentile {
        Statistic::P50 => Some(0.5),
        Statistic::P90 => Some(0.1),
        Statistic::P95 => Some(0.05),
        Statistic::P99 => Some(0.01),
        Statistic::P999 => Some(0.001),
        Statistic::Mean | Statistic::Max => None,
    }
}

impl Study for Headroom {
    fn loads(&self) -> Vec<PlacedJob> {
        let largest = |growth: Growth| {
            let planned = PlannedRun {
                // One load's in-flight limit applies: only closed profiles grow in depth.
                factor: match (&self.options.load, growth) {
                    (HeadroomLoad::Jobs(_), Growth::WaitingUsers) => FACTORS[1],
                    _ => 1.0,
                },
                from_ns: 0,
                seed: 0,
                block: 0,
                purpose: Purpose::Confirm,
                length_ns: self.options.confirm_ns,
            };
            self.jobs(growth, &planned)
        };
        self.questions
            .iter()
            .flat_map(|one| largest(one.growth))
            .collect()
    }

    fn next(&self) -> NextStep {
        let Some((index, planned)) = self.current() else {
            return NextStep::Done;
        };
        let growth = self.questions[index].growth;
        let words = growth.words();
        let jobs = self.jobs(growth, planned);
        let counting = Counting::transfers(vec![self.options.slo.limit_ns]);
        NextStep::Run(Box::new(Run {
            id: RunId(self.made),
            title: format!("{:.2} times, {words}", planned.factor),
            counting: vec![counting; jobs.len()],
            growing: Vec::new(),
            jobs,
            part: format!("headroom {words}"),
            simulated_operations_min: 0,
        }))
    }

    fn completed(&mut self, run: RunId, record: &RunRecord) {
        if run.0 != self.made || record.status != Status::Complete {
            return;
        }
        let Some((index, planned)) = self.current() else {
            return;
        };
        let (purpose, length_ns) = (planned.purpose, planned.length_ns);
        self.made += 1;
        self.spent_ns += length_ns + RAMP_NS;
        let limit_ns = self.options.slo.limit_ns;
        let allowed = allowed_share(&self.options.slo).unwrap_or(1.0);
        let (mut operations, mut over) = (0, 0);
        let mut kinds = [KindBeyond::default(); 2];
        for job in &record.jobs {
            let (all, beyond_limit) = counts(job, limit_ns);
            operations += all;
            over += beyond_limit;
            let own_lags = job.outcome.due.as_ref().map_or(0, |due| due.own_lags);
            self.own_lags += own_lags;
            let is_held_up = own_lags == 0 && held_up(job, limit_ns);
            self.due += all;
            self.own_cost_ns = job.engine.null_ns_per_operation.or(self.own_cost_ns);
            for (sum, kind) in kinds
                .iter_mut()
                .zip([&job.outcome.read, &job.outcome.write])
            {
                let more = beyond(kind, limit_ns);
                sum.operations += more.operations;
                sum.beyond += more.beyond;
            }
            let replay = job.outcome.replay.as_ref();
            let fidelity = replay.and_then(|replay| replay.fidelity.clone());
            let is_within = beyond_limit as f64 <= allowed * all as f64 && !is_held_up;
            if purpose == Purpose::Confirm && is_within && self.fidelity.is_none() {
                self.fidelity = fidelity;
            }
        }
        let question = &mut self.questions[index];
        if (over as f64) < EXCEEDANCE_SATURATED * allowed * operations as f64 {
            for (sum, more) in question.kinds.iter_mut().zip(kinds) {
                sum.operations += more.operations;
                sum.beyond += more.beyond;
            }
        }
        question.search.completed(operations, over);
    }

    fn rested(&mut self) {}

    fn time(&self) -> StudyTime {
        let left = self.questions.iter().map(|one| one.search.left_ns(RAMP_NS));
        StudyTime {
            spent_ns: self.spent_ns,
            left_ns: if self.is_open() { left.sum() } else { 0 },
        }
    }

    fn sheet(&self) -> Sheet {
        text::sheet(self)
    }
}

impl Question {
    /// The kind of operation with the largest share beyond the limit.
    pub fn limited_by(&self) -> Option<&'static str> {
        let [reads, writes] = self.kinds.map(|kind| match kind.operations {
            0 => 0.0,
            operations => kind.beyond as f64 / operations as f64,
        });
        match reads.max(writes) > 0.0 {
            true if reads >= writes => Some("reads"),
            true => Some("writes"),
            false => None,
        }
    }
}

#[cfg(test)]
mod tests;
