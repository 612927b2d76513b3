//! Derives the answer from the measurements.

use super::effects::effects;
use super::limits::{Limit, LimitState, limits};
use super::measured::{CellValue, MixCell};
use super::passes::SCREENING_FINISH;
use super::plain::{is_on_page, plainness, why};
use super::question::Question;
use super::words;
use stripewise_results::{
    AdviceCell, AdviceRecord, LayoutLevels, LayoutRecord, LimitRecord, RecommendationRecord,
    VariationRecord,
};
use stripewise_stats::{BestSet, Estimate, Passes, mean, median};

/// Confidence of the answer.
const LEVEL: f64 = 0.95;
/// Confidence of the set if limits choose as well: part of the error is spent on them.
const LEVEL_WITH_LIMITS: f64 = 0.97;

/// Everything derived from the scores of one mix.
struct Ranking {
    /// The layouts that were measured to the end.
    alive: Vec<usize>,
    passes: Passes,
    best: BestSet,
    /// For each of `alive`, whether it breaks no limit.
    candidates: Vec<bool>,
    /// For each of `alive`, whether it may be recommended at all: see [`is_on_page`].
    on_page: Vec<bool>,
    /// For each of `alive`, whether the best is searched for among these.
    rivals: Vec<bool>,
}

impl Ranking {
    /// May be recommended, and is not shown to be behind the best.
    fn may_be_best(&self, place: usize) -> bool {
        self.candidates[place] && self.on_page[place] && self.best.in_set[place]
    }
}

impl Question<'_> {
    fn shares(&self) -> Vec<f64> {
        self.cells.iter().map(|cell| cell.share_percent).collect()
    }

    fn alive(&self) -> Vec<usize> {
        let passes = self.measured.passes.len();
        let whole = |layout: &usize| self.measured.passes_of(*layout) == passes;
        (0..self.set.len()).filter(whole).collect()
    }

    /// The logarithm of the margin's rate.
    fn margin(&self) -> f64 {
        libm::log1p(-self.margin_percent / 100.0)
    }

    fn ranking(&self, shares: &[f64], limits: &[Limit], level: f64) -> Option<Ranking> {
        let alive = self.alive();
        let passes = Passes::new(&self.measured.scores(&alive, shares))?;
        let choosing = || limits.iter().filter(|limit| !limit.is_void);
        let limit_state = |layout: &usize, wanted: fn(LimitState) -> bool| {
            choosing().all(|limit| wanted(limit.standings[*layout]))
        };
        let candidates: Vec<bool> = (alive.iter())
            .map(|layout| limit_state(layout, |one| one != LimitState::Breaks))
            .collect();
        let meets: Vec<bool> = (alive.iter())
            .map(|layout| limit_state(layout, |one| one == LimitState::Meets))
            .collect();
        let on_page: Vec<bool> = (alive.iter())
            .map(|layout| is_on_page(self.set, *layout))
            .collect();
        // If none is shown to meet all limits, those that may are compared. Layouts that are never
        // recommended do not compete, unless there is nothing else.
        let on_page_too = |some: &[bool]| -> Vec<bool> {
            let pairs = some.iter().zip(&on_page);
            pairs.map(|(some, on_page)| *some && *on_page).collect()
        };
        let preferred = [on_page_too(&meets), on_page_too(&candidates), meets];
        let rivals = preferred.into_iter().find(|some| some.contains(&true));
        let rivals = rivals.unwrap_or_else(|| candidates.clone());
        let best = passes.best(&rivals, level, self.seed);
        Some(Ranking {
            alive,
            passes,
            best,
            candidates,
            on_page,
            rivals,
        })
    }

    fn level(&self, limits: &[Limit]) -> f64 {
        let screened = self.alive().len() < self.set.len();
        let limited = limits.iter().any(|limit| !limit.is_void);
        match (screened, limited) {
            (_, true) => LEVEL_WITH_LIMITS,
            (true, false) => SCREENING_FINISH,
            (false, false) => LEVEL,
        }
    }
}

/// The smallest log-scale difference between two layouts that the measurements so far can
/// distinguish; `None` below two passes. An experiment stops when this is within
/// the margin, never on the set of the best itself.
pub fn resolution(question: &Question<'_>) -> Option<f64> {
    let limits = limits(question.measured, question.cells, question.set.len());
    let level = question.level(&limits);
    let ranking = question.ranking(&question.shares(), &limits, level)?;
    Some(ranking.best.resolution)
}

/// The answer; `None` if fewer than two passes or layouts were measured.
pub fn judge(question: &Question<'_>) -> Option<AdviceRecord> {
    let limits = limits(question.measured, question.cells, question.set.len());
    let level = question.level(&limits);
    let ranking = question.ranking(&question.shares(), &limits, level)?;
    let survivors = survivors(question, &limits, level, &ranking);
    let choice = choice(question, &ranking, &survivors.holds);
    let layouts = layouts(question, &ranking, &limits);
    let chosen = choice.as_ref().map(|choice| ranking.alive[choice.place]);
    let variations = survivors.record(question, choice.as_ref().map(|choice| choice.place));
    let all: Vec<usize> = (0..question.set.len()).collect();
    let rows = question.measured.scores(&all, &question.shares());
    let recommendation = choice.map(|choice| choice.record(question, &ranking));
    let present_is_outside = present_is_outside(question, &ranking, recommendation.as_ref());
    let mut record = AdviceRecord {
        title: question.title.to_owned(),
        target: question.target.to_owned(),
        profile: question.profile.map(str::to_owned),
        factors: question.set.records(),
        recommendation,
        present: question.present.map(|present| question.set.levels(present)),
        cells: cells(question, &layouts),
        layouts: layouts.into_iter().map(|(_, record)| record).collect(),
        effects: effects(question.set, &rows, LEVEL, chosen),
        limits: limits
            .iter()
            .map(|limit| limit_record(question, limit))
            .collect(),
        variations,
        margin_percent: question.margin_percent,
        resolution_percent: percent(ranking.best.resolution),
        level,
        passes: u32::try_from(question.measured.passes.len()).unwrap_or(u32::MAX),
        present_is_outside,
        not_tried: question
            .set
            .left_out
            .iter()
            .map(words::left_out(question.set))
            .collect(),
        ..AdviceRecord::default()
    };
    words::write(question, &mut record, &open(question, &limits));
    Some(record)
}

fn percent(log: f64) -> f64 {
    100.0 * libm::expm1(log)
}

/// The layouts of which it is not known whether they meet the limits.
fn open(question: &Question<'_>, limits: &[Limit]) -> Vec<LayoutLevels> {
    let choosing = || limits.iter().filter(|limit| !limit.is_void);
    let is_open =
        |layout: &usize| choosing().any(|limit| limit.standings[*layout] == LimitState::Open);
    let layouts = (0..question.set.len()).filter(is_open);
    layouts.map(|layout| question.set.levels(layout)).collect()
}

/// Which layouts stay among the best, or within the margin of them, whatever the unsourced
/// shares are.
struct Survivors {
    /// Each variation: cell, factor, and for each of `alive` whether it holds.
    each: Vec<(usize, f64, Vec<bool>)>,
    /// For each of `alive`, whether it holds in all of them.
    holds: Vec<bool>,
}

fn survivors(
    question: &Question<'_>,
    limits: &[Limit],
    level: f64,
    ranking: &Ranking,
) -> Survivors {
    let assumed = question.cells.iter().enumerate();
    let assumed = assumed.filter(|(_, cell)| cell.assumed && cell.share_percent > 0.0);
    let scored = question
        .cells
        .iter()
        .filter(|cell| cell.share_percent > 0.0);
    // A mix of one part does not depend on its share.
    let several = scored.count() > 1;
    let mut each = Vec::new();
    for (cell, _) in assumed.filter(|_| several) {
        for by in [0.5, 2.0] {
            let mut shares = question.shares();
            shares[cell] *= by;
            let Some(other) = question.ranking(&shares, limits, level) else {
                continue;
            };
            let near = |l: usize| other.best.ahead[l].low >= question.margin();
            let holds = (0..other.alive.len()).map(|l| other.best.in_set[l] || near(l));
            each.push((cell, by, holds.collect::<Vec<bool>>()));
        }
    }
    let all = |l: usize| each.iter().all(|(_, _, holds)| holds[l]);
    let holds = (0..ranking.alive.len()).map(all).collect();
    Survivors { each, holds }
}

impl Survivors {
    fn record(&self, question: &Question<'_>, choice: Option<usize>) -> Vec<VariationRecord> {
        let record = |(cell, by, holds): &(usize, f64, Vec<bool>)| VariationRecord {
            cell: question.cells[*cell].name.clone(),
            by: *by,
            choice_holds: choice.is_some_and(|place| holds[place]),
        };
        self.each.iter().map(record).collect()
    }
}

/// The recommended layout.
struct Choice {
    /// Its index in `alive`.
    place: usize,
    is_shown: bool,
    why: String,
}

/// The plainest of those that are shown to be good enough, else the plainest of those
/// that may be the best; in both cases preferring those that hold whatever the assumed
/// shares are. If some are shown to meet all limits, one of these. The present one stays if it may be
/// the best: a gain that is not shown is no reason to rebuild an array.
fn choice(question: &Question<'_>, ranking: &Ranking, holds: &[bool]) -> Option<Choice> {
    let may = |l: &usize| ranking.candidates[*l] && ranking.on_page[*l] && ranking.rivals[*l];
    let places = || (0..ranking.alive.len()).filter(may);
    let good = |l: &usize| ranking.best.ahead[*l].low >= question.margin();
    let in_set = |l: &usize| ranking.best.in_set[*l];
    let of = |places: Vec<usize>, is_shown: bool| {
        let plain = |l: &&usize| plainness(question.set, ranking.alive[**l], question.present);
        let place = *places.iter().min_by_key(plain)?;
        let layout = ranking.alive[place];
        let why = match places.len() {
            1 if question.present != Some(layout) => why_alone(question, ranking, place, is_shown),
            _ => why(question.set, layout, question.present),
        };
        Some(Choice {
            place,
            is_shown,
            why,
        })
    };
    let is_present = |l: &usize| question.present == Some(ranking.alive[*l]);
    let stays = |l: &usize| is_present(l) && in_set(l) && holds[*l];
    let good_places: Vec<usize> = places().filter(|l| good(l) && holds[*l]).collect();
    if let Some(present) = places().find(stays)
        && !good_places.contains(&present)
    {
        return of(vec![present], false);
    }
    of(good_places, true)
        .or_else(|| of(places().filter(|l| in_set(l) && holds[*l]).collect(), false))
        .or_else(|| of(places().filter(in_set).collect(), false))
}

/// Why it was chosen if no other one qualifies, so that it does not contradict that several may be
/// the best.
fn why_alone(question: &Question<'_>, ranking: &Ranking, place: usize, is_shown: bool) -> String {
    let good = |l: &usize| ranking.best.ahead[*l].low >= question.margin();
    let others = (0..ranking.alive.len()).filter(|&l| l != place && ranking.may_be_best(l));
    let others: Vec<usize> = others.collect();
    let not_shown = others.iter().filter(|&l| !good(l)).count();
    match (is_shown, not_shown) {
        (true, 1) => return "of the other one that may be the best this is not shown".to_owned(),
        (true, 2..) => {
            return format!("of the {not_shown} others that may be the best this is not shown");
        }
        _ => {}
    }
    if others.iter().any(|&l| ranking.rivals[l]) {
        return "of those that may be the best it alone is as good with each assumed share halved \
                and doubled"
            .to_owned();
    }
    if !others.is_empty() {
        return "of those that may be the best it alone is shown to meet the limits".to_owned();
    }
    // Those that start off a page were not counted.
    let on_page = (0..question.set.len()).filter(|layout| is_on_page(question.set, *layout));
    let on_page = on_page.count();
    if on_page == 1 {
        return "it is the only one that starts at a multiple of 4 KiB".to_owned();
    }
    let alone = match (is_shown, on_page == question.set.len()) {
        (true, true) => "it alone is shown to be that good",
        (true, false) => "it alone of these is shown to be that good",
        (false, true) => "every other layout is worse or breaks a limit",
        (false, false) => {
            "every other one that starts at a multiple of 4 KiB is worse or breaks a limit"
        }
    };
    alone.to_owned()
}

impl Choice {
    fn record(self, question: &Question<'_>, ranking: &Ranking) -> RecommendationRecord {
        let layout = ranking.alive[self.place];
        let gain = question
            .present
            .and_then(|present| gain(question, ranking, present, layout));
        RecommendationRecord {
            layout: question.set.levels(layout),
            gain_percent: gain.map(|gain| percent(gain.value)),
            gain_percent_low: gain.map(|gain| percent(gain.low)),
            gain_percent_high: gain.map(|gain| percent(gain.high)),
            is_shown: self.is_shown,
            is_present: question.present == Some(layout),
            why: self.why,
        }
    }
}

/// The gain of a layout over the present one. If that was dropped on the way, from the
/// passes that have both.
fn gain(
    question: &Question<'_>,
    ranking: &Ranking,
    present: usize,
    layout: usize,
) -> Option<Estimate> {
    let place = |of: &[usize], layout: usize| of.iter().position(|&one| one == layout);
    if let Some(reference) = place(&ranking.alive, present) {
        let gains = ranking.passes.gains_over(reference, LEVEL, question.seed);
        return Some(gains[place(&ranking.alive, layout)?]);
    }
    let all: Vec<usize> = (0..question.set.len()).collect();
    let passes = Passes::new(&question.measured.scores(&all, &question.shares()))?;
    Some(passes.gains_over(present, LEVEL, question.seed)[layout])
}

/// Shown to be behind the best, or behind the choice, by more than the margin; or it breaks a limit
/// that another layout meets, or was dropped on the way.
fn present_is_outside(
    question: &Question<'_>,
    ranking: &Ranking,
    choice: Option<&RecommendationRecord>,
) -> bool {
    let Some(present) = question.present else {
        return false;
    };
    let gain = choice.and_then(|choice| choice.gain_percent_low);
    let is_behind = |l: usize| {
        let is_of_choice = gain.is_some_and(|low| low > question.margin_percent);
        is_of_choice || ranking.best.ahead[l].high < question.margin()
    };
    let place = ranking.alive.iter().position(|&layout| layout == present);
    place.is_none_or(|l| !ranking.candidates[l] || is_behind(l))
}

/// All layouts with their results; the best first, then those that break a limit,
/// then those that were dropped.
fn layouts(
    question: &Question<'_>,
    ranking: &Ranking,
    limits: &[Limit],
) -> Vec<(usize, LayoutRecord)> {
    let all: Vec<usize> = (0..question.set.len()).collect();
    let early = Passes::new(&question.measured.scores(&all, &question.shares()));
    let early_best = early.as_ref().map(|passes| {
        let rivals = vec![true; all.len()];
        let best = passes.best(&rivals, question.level(limits), question.seed);
        (passes.levels(LEVEL, question.seed), best)
    });
    let levels = ranking.passes.levels(LEVEL, question.seed);
    let mut records = Vec::new();
    for layout in all {
        let place = ranking.alive.iter().position(|&alive| alive == layout);
        let known = match (place, &early_best) {
            (Some(l), _) => Some((levels[l], ranking.best.ahead[l])),
            (None, Some((levels, best))) => Some((levels[layout], best.ahead[layout])),
            (None, None) => None,
        };
        let Some((score, ahead)) = known else {
            continue;
        };
        let measured = u32::try_from(question.measured.passes_of(layout)).unwrap_or(u32::MAX);
        let record = LayoutRecord {
            layout: question.set.levels(layout),
            score: libm::exp(score.value),
            low: libm::exp(score.low),
            high: libm::exp(score.high),
            ahead_percent: percent(ahead.value),
            ahead_percent_low: percent(ahead.low),
            ahead_percent_high: percent(ahead.high),
            among_best: place.is_some_and(|l| ranking.may_be_best(l)),
            is_present: question.present == Some(layout),
            breaks: broken(question, limits, layout),
            dropped_after: place.is_none().then_some(measured),
        };
        records.push((layout, record));
    }
    let rank = |record: &LayoutRecord| (record.dropped_after.is_some(), record.breaks.is_some());
    records.sort_by(|(_, a), (_, b)| (rank(a).cmp(&rank(b))).then(b.score.total_cmp(&a.score)));
    records
}

/// The first limit that a layout breaks, as text.
fn broken(question: &Question<'_>, limits: &[Limit], layout: usize) -> Option<String> {
    let breaks = |limit: &&Limit| !limit.is_void && limit.standings[layout] == LimitState::Breaks;
    let limit = limits.iter().find(breaks)?;
    Some(words::limit(&question.cells[limit.cell].name, limit.p99_ns))
}

fn limit_record(question: &Question<'_>, limit: &Limit) -> LimitRecord {
    let count = |wanted: LimitState| {
        let of = limit.standings.iter().filter(|one| **one == wanted);
        u32::try_from(of.count()).unwrap_or(u32::MAX)
    };
    LimitRecord {
        cell: question.cells[limit.cell].name.clone(),
        p99_ns: limit.p99_ns,
        met: count(LimitState::Meets),
        broken: count(LimitState::Breaks),
        is_void: limit.is_void,
    }
}

fn cells(question: &Question<'_>, layouts: &[(usize, LayoutRecord)]) -> Vec<AdviceCell> {
    let all: f64 = question.shares().iter().sum();
    let cell = |(number, cell): (usize, &MixCell)| {
        let values = |layout: &usize| question.measured.cell(*layout, number);
        let order = || layouts.iter().map(|(layout, _)| layout);
        AdviceCell {
            name: cell.name.clone(),
            what: cell.what.clone(),
            share_percent: match all > 0.0 {
                true => 100.0 * cell.share_percent / all,
                false => 0.0,
            },
            assumed: cell.assumed,
            iops: order().map(|layout| geometric(&values(layout))).collect(),
            latency_ns_p99: order().map(|layout| middle_p99(&values(layout))).collect(),
        }
    };
    question.cells.iter().enumerate().map(cell).collect()
}

fn geometric(values: &[CellValue]) -> Option<f64> {
    let logs: Vec<f64> = values.iter().map(|value| libm::log(value.iops)).collect();
    mean(&logs).map(libm::exp)
}

fn middle_p99(values: &[CellValue]) -> Option<f64> {
    let known: Vec<f64> = values
        .iter()
        .filter_map(|value| value.latency_ns_p99)
        .collect();
    median(&known)
}
