//! The sentences of an experiment: what an offset costs, why, and what to do.
//!
//! Costs are in per cent of the faster side, gains in per cent of the
//! slower one; both come from the same interval.

use super::cause::{Cause, CauseQuestion, LayoutFacts, Probe, judge_cause};
use super::kind::{Kind, KindFinding, cost_of_gain, gain_of_faster, is_found, kinds_of};
use super::metric::Metric;
use super::needs::blocks_for_verdict;
use super::plan::{ExperimentPlan, Level};
use super::rows::Row;
use stripewise_results::{ComparisonRecord, Verdict};
use stripewise_stats::{Comparison, Estimate};
use stripewise_units::{ByteSize, capitalised, counted};
use stripewise_workload::Pattern;

/// Below this gain, no one moves a volume.
const WORTH_PERCENT: f64 = 1.0;
/// Where partitioning tools start.
const BOUNDARY_BYTES: u64 = 1 << 20;

/// Everything the sentences of one table need.
struct Table<'a> {
    plan: &'a ExperimentPlan,
    judged: &'a [(Row, Verdict)],
    level: usize,
    facts: &'a LayoutFacts,
}

/// Writes sentences and notes of one table.
pub(super) fn write(
    plan: &ExperimentPlan,
    judged: &[(Row, Verdict)],
    level: usize,
    facts: &LayoutFacts,
    record: &mut ComparisonRecord,
) {
    let table = Table {
        plan,
        judged,
        level,
        facts,
    };
    let kinds = kinds_of(plan, judged, level);
    let mut effects: Vec<Effect> = kinds.iter().flat_map(|kind| table.effects(kind)).collect();
    effects.sort_by(|x, y| y.gain.value.total_cmp(&x.gain.value));
    for effect in &effects {
        record.sentences.push(table.effect_words(effect));
    }
    record.sentences.extend(not_in_the_mean(&effects));
    let reservations: Vec<String> = effects
        .iter()
        .flat_map(|effect| reservations(&effect.causes))
        .collect();
    for reservation in reservations {
        if !record.sentences.contains(&reservation) {
            record.sentences.push(reservation);
        }
    }
    record.sentences.extend(table.advice(&effects));
    for kind in kinds
        .iter()
        .filter(|kind| kind.says() == KindFinding::Mixed)
    {
        record.sentences.push(table.mixed_words(kind));
    }
    record.sentences.extend(table.nothing_words(&kinds));
    record.sentences.extend(table.undecided_words(&kinds));
    record.notes.extend(table.notes(record));
}

/// One direction found among the rows of one kind.
struct Effect<'a> {
    kind: &'a Kind<'a>,
    /// The only row with the effect; `None`: the mean over all rows of the kind.
    row: Option<&'a Row>,
    /// B is the better side.
    b_is_faster: bool,
    /// Of the better over the worse side, in throughput or in shorter latency.
    /// Its interval is above 0; otherwise it is not reported as an effect.
    gain: Estimate,
    /// The upper bound on the gain of any row of the kind, from its interval.
    gain_percent_max: f64,
    causes: Causes,
}

/// The causes by the size of blocks; none if the levels are no offsets, or blocks of that size are
/// not seen to have the effect.
type Causes = Vec<(u64, Option<Cause>)>;

impl Table<'_> {
    fn baseline(&self) -> &Level {
        &self.plan.levels[self.plan.baseline]
    }

    fn other(&self) -> &Level {
        &self.plan.levels[self.level]
    }

    /// The two offsets, if the levels differ in nothing else.
    fn offsets(&self) -> Option<(u64, u64)> {
        let (a, b) = (self.baseline(), self.other());
        let (from, to) = (a.base_offset_bytes?, b.base_offset_bytes?);
        let alike = Level {
            name: a.name.clone(),
            base_offset_bytes: a.base_offset_bytes,
            size_bytes: a.size_bytes,
            ..b.clone()
        };
        (from != to && alike == *a).then_some((from, to))
    }

    /// The findings of a kind: the mean over its rows if its interval
    /// supports it; else each row with a finding, by its own interval.
    fn effects<'a>(&self, kind: &'a Kind<'a>) -> Vec<Effect<'a>> {
        let b_is_faster = match kind.says() {
            KindFinding::Better => true,
            KindFinding::Worse => false,
            _ => return Vec::new(),
        };
        // For latency, the better side has less: invert the ratio again.
        let turned = b_is_faster == self.plan.metric.more_is_better();
        let gain = |comparison: Option<Comparison>| {
            let difference = comparison?.interval_percent?;
            Some(gain_of_faster(difference, turned))
        };
        let shown = |gain: &Estimate| gain.low > 0.0;
        let of_rows = kind.rows.iter().map(|(row, _)| gain(row.comparison));
        let gain_percent_max = of_rows
            .flatten()
            .fold(0.0, |most: f64, gain| most.max(gain.high));
        let effect = |row: Option<&'a Row>, gain: Estimate| Effect {
            kind,
            row,
            b_is_faster,
            gain,
            gain_percent_max,
            causes: self.causes(kind, row, b_is_faster, gain),
        };
        if let Some(mean) = gain(kind.pooled).filter(shown) {
            return vec![effect(None, mean)];
        }
        let found = kind.rows.iter().filter(|row| is_found(row.1));
        found
            .filter_map(|(row, _)| Some(effect(Some(row), gain(row.comparison).filter(shown)?)))
            .collect()
    }

    /// The causes of an effect, each block's by its own gain.
    fn causes(
        &self,
        kind: &Kind<'_>,
        row: Option<&Row>,
        b_is_faster: bool,
        gain: Estimate,
    ) -> Causes {
        let mut parts = kind.by_block(self.plan);
        if let Some(row) = row {
            parts.retain(|part| part.rows.iter().any(|(own, _)| own.cell == row.cell));
        }
        let turned = b_is_faster == self.plan.metric.more_is_better();
        let own = |part: &Kind<'_>| {
            let gain = gain_of_faster(part.pooled?.interval_percent?, turned);
            (gain.low > 0.0).then_some(gain)
        };
        // Only together may they show the effect.
        let is_gain_of_all = row.is_some() || !parts.iter().any(|part| own(part).is_some());
        let of_part = |part: &Kind<'_>| {
            let gain = if is_gain_of_all {
                Some(gain)
            } else {
                own(part)
            };
            let cause = gain.and_then(|gain| self.cause(part, row, b_is_faster, gain));
            (part.workload.block_size_bytes, cause)
        };
        parts.iter().map(of_part).collect()
    }

    /// The cause, if the levels are offsets. The law of crossings is about the amount of
    /// work, and so about rates and, with a fixed number in flight, mean
    /// latencies; not about percentiles.
    fn cause(
        &self,
        kind: &Kind<'_>,
        row: Option<&Row>,
        b_is_faster: bool,
        gain: Estimate,
    ) -> Option<Cause> {
        let metric = self.plan.metric;
        let lawful = metric.more_is_better() || metric == Metric::LatencyMean;
        let (from, to) = self.offsets().filter(|_| lawful)?;
        let (slow_bytes, fast_bytes) = if b_is_faster { (from, to) } else { (to, from) };
        let workload = &kind.workload;
        let question = CauseQuestion {
            slow_bytes,
            fast_bytes,
            block_size_bytes: workload.block_size_bytes,
            writes: workload.read_percent < 100,
            random: matches!(workload.pattern, Pattern::Random { .. }),
            gain_percent_low: gain.low,
            // A third level is compared with the mean over the kind's rows.
            probe: match row {
                None => self.probe(kind, slow_bytes, fast_bytes, b_is_faster),
                Some(_) => None,
            },
        };
        Some(judge_cause(self.facts, &question))
    }

    /// How a third level behaved that lies on the 4 KiB grid but not on the
    /// block's, if the slow one lies on neither and the fast one on both: its
    /// whole interval is on one side of half the effect.
    fn probe(&self, kind: &Kind<'_>, slow: u64, fast: u64, b_is_faster: bool) -> Option<Probe> {
        let start_bytes = self.facts.start_bytes.unwrap_or(0);
        let block = kind.workload.block_size_bytes;
        let on = |offset: u64, grid: u64| start_bytes.saturating_add(offset).is_multiple_of(grid);
        if on(slow, 4096) || !on(fast, block) {
            return None;
        }
        let third = self.plan.levels.iter().position(|level| {
            level
                .base_offset_bytes
                .is_some_and(|offset| on(offset, 4096) && !on(offset, block))
        })?;
        let whole = kind.pooled?.interval_percent?.value;
        let half = 100.0 * f64::exp_m1(0.5 * (whole / 100.0).ln_1p());
        let alike = |like_b: bool| {
            if like_b == b_is_faster {
                Probe::LikeFast
            } else {
                Probe::LikeSlow
            }
        };
        // The baseline itself can be the third offset only as the slow or the fast one.
        let of_third = kinds_of(self.plan, self.judged, third)
            .into_iter()
            .find(|other| other.pattern == kind.pattern && other.operation == kind.operation)?
            .by_block(self.plan)
            .into_iter()
            .find(|part| part.workload.block_size_bytes == block)?
            .pooled?
            .interval_percent?;
        if of_third.contains(half) {
            None
        } else {
            Some(alike((of_third.value > half) == (whole > half)))
        }
    }

    fn effect_words(&self, effect: &Effect<'_>) -> String {
        let plan = self.plan;
        let kind = effect.kind;
        let (fast, slow) = if effect.b_is_faster {
            (self.other(), self.baseline())
        } else {
            (self.baseline(), self.other())
        };
        let cost = effect.gain.map(cost_of_gain);
        let because = because(&effect.causes);
        let start = start_words(&slow.name);
        let is_offset = self.offsets().is_some();
        let place = match effect.row {
            Some(row) => format!(" in the row {}", plan.cells[row.cell].name),
            // Other factors may change the load.
            None if is_offset => format!(" ({})", self.loads(kind)),
            None => String::new(),
        };
        let better = &fast.name;
        let words = match (is_offset, plan.metric.more_is_better()) {
            (true, true) => format!(
                "Starting at {start} instead of {better} costs {} {} of its {} {}{place}{because}.",
                self.facts.subject,
                spread(cost),
                kind.adjective(),
                plan.metric.words()
            ),
            (true, false) => format!(
                "Starting at {start} instead of {better} makes the {} of {} on {} {} longer{place}{because}.",
                plan.metric.words(),
                kind.plural(),
                self.facts.subject,
                spread(effect.gain),
            ),
            (false, true) => format!(
                "{} gives {} more {} {} than {}{place}.",
                fast.name,
                spread(effect.gain),
                kind.adjective(),
                plan.metric.words(),
                slow.name
            ),
            (false, false) => format!(
                "With {} the {} of {} is {} shorter than with {}{place}.",
                fast.name,
                plan.metric.words(),
                kind.plural(),
                spread(cost),
                slow.name
            ),
        };
        match kind.found() {
            found if found < kind.rows.len() && effect.row.is_none() => format!(
                "{words} This is the mean of {} rows; it was found in {found} of them.",
                kind.rows.len()
            ),
            _ => words,
        }
    }

    /// The loads of the rows of a kind: `8K 8x4`; `mean of 8K 1x4 to 8K 64x4`.
    fn loads(&self, kind: &Kind<'_>) -> String {
        let one = |row: &&(Row, Verdict)| {
            let load = &self.plan.cells[row.0.cell].workload;
            format!(
                "{} {}x{}",
                load.block_text(),
                load.threads,
                load.outstanding
            )
        };
        match kind.rows.as_slice() {
            [] => String::new(),
            [only] => one(only),
            [first, .., last] => format!("mean of {} to {}", one(first), one(last)),
        }
    }

    /// Another level starts on a boundary of 1 MiB and this one does not: it is a third offset that
    /// shows the cause, or not what one would choose.
    fn is_second_choice(&self) -> bool {
        let start = self.facts.start_bytes.unwrap_or(0);
        let on_boundary = |level: &Level| {
            let base = level.base_offset_bytes;
            base.is_some_and(|base| (start + base).is_multiple_of(BOUNDARY_BYTES))
        };
        let numbered = self.plan.levels.iter().enumerate();
        let mut rivals =
            numbered.filter(|(level, _)| ![self.plan.baseline, self.level].contains(level));
        !on_boundary(self.other()) && rivals.any(|(_, level)| on_boundary(level))
    }

    /// The target already starts where the better level does: on a boundary of 1 MiB.
    fn is_start_aligned(&self) -> bool {
        let Some((start, (from, to))) = self.facts.start_bytes.zip(self.offsets()) else {
            return false;
        };
        let on_boundary = |base: u64| (start + base).is_multiple_of(BOUNDARY_BYTES);
        // At 0 it is a whole disk: what is created on it starts elsewhere.
        start > 0 && on_boundary(0) && on_boundary(to) && !on_boundary(from)
    }

    /// Advice about an offset that costs something.
    fn advice(&self, effects: &[Effect<'_>]) -> Option<String> {
        self.offsets()?;
        let (here, other) = (&self.baseline().name, &self.other().name);
        let largest = |b_is_faster: bool| {
            effects
                .iter()
                .filter(|effect| effect.b_is_faster == b_is_faster)
                .map(|effect| effect.gain_percent_max)
                .fold(0.0, f64::max)
        };
        match (largest(true), largest(false)) {
            (0.0, 0.0) => None,
            (_, 0.0) if self.is_second_choice() => None,
            (_, 0.0) if self.is_start_aligned() => Some(format!(
                "This volume already starts on a boundary of 1 MiB, as {other} does: there is nothing to gain here. {here} shows what a badly placed one would cost.",
            )),
            (gain, 0.0) if gain < WORTH_PERCENT => Some(format!(
                "Use {other} for a new volume, which costs nothing; an existing one is not worth moving for less than {}.",
                percent_up(gain)
            )),
            (gain, 0.0) => Some(format!(
                "Worth it when you build a volume: let it start at {other}. Moving an existing one gains at most {} in these loads.",
                percent_up(gain)
            )),
            (0.0, _) => Some(format!("Stay with {here}: {other} is slower.")),
            _ => Some(format!(
                "Neither {here} nor {other} is better in every row: decide by the kind of I/O that matters to you."
            )),
        }
    }

    fn mixed_words(&self, kind: &Kind<'_>) -> String {
        let (a, b) = (&self.baseline().name, &self.other().name);
        let rows = |verdict| {
            let of_rows: Vec<String> = kind
                .rows
                .iter()
                .filter(|row| row.1 == verdict)
                .map(|row| self.plan.cells[row.0.cell].name.clone())
                .collect();
            of_rows.join(", ")
        };
        format!(
            "{}: {b} is better than {a} in {}, and worse in {}.",
            capitalised(&kind.plural()),
            rows(Verdict::Better),
            rows(Verdict::Worse)
        )
    }

    /// Kinds without a finding, in one sentence.
    fn nothing_words(&self, kinds: &[Kind<'_>]) -> Option<String> {
        let mut nothing = kinds
            .iter()
            .filter(|kind| kind.says() == KindFinding::Nothing)
            .filter_map(|kind| Some((percent_up(kind.difference_percent_max()?), kind.plural())));
        let (largest, what) = nothing.next()?;
        let mut words = format!(
            "No difference larger than {largest} in {} between {} and {} was found for {what}",
            self.plan.metric.words(),
            self.baseline().name,
            self.other().name
        );
        for (largest, what) in nothing {
            words.push_str(&format!(", or larger than {largest} for {what}"));
        }
        Some(words + ".")
    }

    fn undecided_words(&self, kinds: &[Kind<'_>]) -> Option<String> {
        let undecided: Vec<String> = kinds
            .iter()
            .filter(|kind| kind.says() == KindFinding::Undecided)
            .map(Kind::plural)
            .collect();
        if undecided.is_empty() {
            return None;
        }
        let needed = blocks_for_verdict(self.judged.len(), self.plan.level);
        let had = self
            .judged
            .iter()
            .map(|(row, _)| row.pairs.len())
            .min()
            .unwrap_or(0);
        if had >= needed as usize {
            let room = kinds
                .iter()
                .filter(|kind| kind.says() == KindFinding::Undecided);
            let room = room.filter_map(Kind::difference_percent_max);
            let hidden = match room.reduce(f64::max) {
                Some(largest) => format!(
                    "the noise hides any difference below {}",
                    percent_up(largest)
                ),
                None => "it has no interval".to_owned(),
            };
            return Some(format!(
                "Whether {} differs from {} for {} is not known: {hidden}.",
                self.other().name,
                self.baseline().name,
                undecided.join(", ")
            ));
        }
        Some(format!(
            "There is no verdict on {} yet: a verdict on {} needs {needed} blocks, and there are only {had}.",
            undecided.join(", "),
            match self.judged.len() {
                1 => "one row".to_owned(),
                rows => format!("{rows} rows"),
            },
        ))
    }

    fn notes(&self, record: &ComparisonRecord) -> Vec<String> {
        let mut notes = Vec::new();
        let rows = self.judged.len();
        let level = 100.0 * self.plan.level;
        let together = if rows > 1 {
            format!("; verdicts account for {rows} tests (Holm)")
        } else {
            String::new()
        };
        notes.push(format!("Intervals are at {level:.0} %{together}."));
        notes.extend(self.missing(record));
        if let Some(drift) = &record.drift {
            let what = format!("{} with {}", self.plan.metric.words(), self.baseline().name);
            let [low, high] = drift.interval_percent;
            let words = if drift.found {
                format!(
                    "While it ran, {what} changed by {:+.1} % ({low:+.1} to {high:+.1} %); both sides share that block by block.",
                    drift.percent
                )
            } else if specifies_anything([low, high]) {
                format!(
                    "While it ran, {what} did not change by more than {}.",
                    percent_up(low.abs().max(high.abs()))
                )
            } else {
                format!("Whether {what} changed while it ran is hidden by the noise.")
            };
            notes.push(words);
        }
        notes
    }
}

/// All blocks have the same cause.
fn have_one(causes: &[(u64, Option<Cause>)]) -> bool {
    causes.windows(2).all(|pair| pair[0].1 == pair[1].1)
}

/// The clause on the cause, which says for which blocks it holds where they differ.
fn because(causes: &[(u64, Option<Cause>)]) -> String {
    let mut each = causes
        .iter()
        .filter_map(|(bytes, cause)| Some((bytes, (*cause)?.clause())));
    if have_one(causes) {
        return each.next().map(|(_, clause)| clause).unwrap_or_default();
    }
    let each: Vec<String> = each
        .filter_map(|(bytes, clause)| {
            let clause = clause.strip_prefix(" because ")?;
            Some(format!("with {} blocks {clause}", ByteSize(*bytes)))
        })
        .collect();
    match each.is_empty() {
        true => String::new(),
        false => format!(" because {}", each.join(", and ")),
    }
}

/// The sentences about causes that are not known.
fn reservations(causes: &[(u64, Option<Cause>)]) -> Vec<String> {
    let mut each = causes
        .iter()
        .filter_map(|(bytes, cause)| Some((bytes, (*cause)?.reservation(*bytes)?)));
    if have_one(causes) {
        return each.next().map(|(_, words)| words).into_iter().collect();
    }
    each.map(|(bytes, words)| format!("With {} blocks: {words}", ByteSize(*bytes)))
        .collect()
}

impl Table<'_> {
    /// Rows for which some blocks have no value; those blocks are left out.
    fn missing(&self, record: &ComparisonRecord) -> Vec<String> {
        let blocks = record.a.from.len() / self.plan.cells.len().max(1);
        self.judged
            .iter()
            .filter(|(row, _)| row.level == self.level && row.pairs.len() < blocks)
            .map(|(row, _)| {
                let why = if self.plan.metric == Metric::LatencyP999 {
                    " (it needs 10,000 operations in a run)"
                } else {
                    ""
                };
                format!(
                    "{}: {} of {blocks} blocks have no {}{why}.",
                    capitalised(&self.plan.cells[row.cell].name),
                    blocks - row.pairs.len(),
                    self.plan.metric.words(),
                )
            })
            .collect()
    }
}

/// Effects in single rows that the mean over their kind does not show.
fn not_in_the_mean(effects: &[Effect<'_>]) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for effect in effects.iter().filter(|effect| effect.row.is_some()) {
        let pooled = effect.kind.pooled.and_then(|mean| mean.interval_percent);
        let Some(mean) = pooled.filter(|_| effect.kind.rows.len() > 1) else {
            continue;
        };
        let sentence = format!(
            "Over all {} rows of {} the mean does not show it: it lies between {:+.1} and {:+.1} %.",
            effect.kind.rows.len(),
            effect.kind.plural(),
            mean.low,
            mean.high
        );
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}

/// `10.9 % (9.8-12.1 %)`. An interval that begins above 0 is not printed as if it
/// began there.
fn spread(estimate: Estimate) -> String {
    let decimals = if estimate.low < 0.05 { 2 } else { 1 };
    format!(
        "{:.decimals$} % ({:.decimals$}-{:.decimals$} %)",
        estimate.value, estimate.low, estimate.high
    )
}

/// Rounded up to a tenth, since it is an upper bound; what does not differ at all has no sign.
fn percent_up(percent: f64) -> String {
    format!("{:.1} %", (percent * 10.0 - 1e-9).ceil() / 10.0 + 0.0)
}

/// An offset that people know in sectors is given in sectors, too.
fn start_words(name: &str) -> String {
    match name.parse::<ByteSize>() {
        Ok(ByteSize(bytes)) if bytes < 1 << 20 && !bytes.is_multiple_of(4096) => {
            let sectors = counted((bytes / 512) as usize, "sector", "sectors");
            if bytes.is_multiple_of(512) && !name.ends_with('s') {
                format!("{name} ({sectors})")
            } else if bytes.is_multiple_of(512) {
                sectors
            } else {
                name.to_owned()
            }
        }
        _ => name.to_owned(),
    }
}

/// An interval, in per cent, that holds 0 and extends beyond a fifth of the rate either way is
/// too wide to exclude an effect: nothing was found because of noise.
const NOTHING_PERCENT: [f64; 2] = [-20.0, 25.0];

pub(super) fn specifies_anything([low, high]: [f64; 2]) -> bool {
    low >= NOTHING_PERCENT[0] && high <= NOTHING_PERCENT[1]
}

#[cfg(test)]
mod tests {
    use super::percent_up;

    #[test]
    fn a_bound_is_rounded_up_and_none_is_negative() {
        assert_eq!(percent_up(0.0), "0.0 %");
        assert_eq!(percent_up(0.01), "0.1 %");
        assert_eq!(percent_up(2.0), "2.0 %");
    }
}
