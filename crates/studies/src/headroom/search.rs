//! The search for the factor at which the allowed share of operations exceeds the limit.
//!
//! Steps by a factor of 1.41 from 1 find the approximate range; these runs serve no other purpose.
//! Runs at five loads around it, in random order, give the answer; they move at most three
//! times to lie around the crossing, and their width follows the slope. If no line fits,
//! the crossing is bracketed by loads that are certainly below and certainly above. A long run at
//! the lower end confirms it, or shows that a credit was spent.

use super::found::{Bound, HeadroomAnswer, by_block, by_level, of_crossing, of_ends, pooled};
use super::runs::{FACTORS, LoadRun, PlannedRun, Purpose, SearchOptions};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use stripewise_stats::{
    EXCEEDANCE_SATURATED, ExceedanceDesign, ExceedanceRun, Random, exceedance_crossing,
    exceedance_is_within, exceedance_line, exceedance_quiet_s, exceedance_verdict,
};

/// Factor between two steps of the climb.
const STEP: f64 = 1.41;
/// The five loads of a block, in units of its width.
const LEVELS: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];
/// Half the width of the first blocks, on the log scale, and limits of later ones.
const WIDTH_FIRST: f64 = 0.15;
const WIDTHS: [f64; 2] = [0.03, 0.25];
/// Range of slopes from which widths are derived.
const SLOPES: [f64; 2] = [3.0, 60.0];
const PILOT_BLOCKS: u32 = 2;
const MOVES_MAX: u32 = 4;
const REPEATS_MAX: u32 = 3;
/// Loads within this many widths of the centre still count.
const NEAR: f64 = 1.3;
const LEVELS_MIN: usize = 3;
const RUNS_MIN: usize = 12;
/// Runs at each load of a bracket; maximum loads; and when it is narrow enough.
const BRACKET_RUNS: u32 = 4;
const BRACKET_LOADS_MAX: u32 = 9;
const BRACKET_WIDTH: f64 = 0.05;
/// Number of long runs that must all fail before the answer is marked as short-lived.
const CONFIRMING_RUNS: u32 = 2;
/// None of some events in a time t leaves up to three in as long, at 95 %.
const UNSEEN: f64 = 3.0;
/// Most long runs at the lower end of a bracket.
const PROVING_RUNS_MAX: usize = 5;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    Climb {
        before: Option<(f64, f64)>,
    },
    /// Blocks that find the centre.
    Pilot {
        moves: u32,
        centre: f64,
        width: f64,
    },
    /// Blocks that are fitted.
    Fit {
        repeats: u32,
        centre: f64,
        width: f64,
    },
    Bracket {
        loads: u32,
    },
    Confirm {
        found: HeadroomAnswer,
        left: u32,
        /// The lower end only seems below the limit.
        #[serde(default)]
        is_unproven: bool,
    },
    Done,
}

/// The search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    options: SearchOptions,
    stage: Stage,
    queue: VecDeque<PlannedRun>,
    runs: Vec<LoadRun>,
    blocks: u32,
    found: Option<HeadroomAnswer>,
}

impl Search {
    /// The search before its first run.
    #[must_use]
    pub fn new(options: SearchOptions) -> Search {
        let mut search = Search {
            options,
            stage: Stage::Climb { before: None },
            queue: VecDeque::new(),
            runs: Vec::new(),
            blocks: 0,
            found: None,
        };
        search.plan(1.0_f64.max(search.options.unit), Purpose::Climb);
        search
    }

    /// The next run.
    pub fn next(&self) -> Option<&PlannedRun> {
        self.queue.front()
    }

    /// All runs so far.
    pub fn runs(&self) -> &[LoadRun] {
        &self.runs
    }

    /// The answer, once the search has ended. `None`: none was found.
    pub const fn found(&self) -> Option<&HeadroomAnswer> {
        self.found.as_ref()
    }

    /// What is certain before it ends: loads that are certainly below and certainly above.
    pub(super) fn so_far(&self) -> Option<HeadroomAnswer> {
        let (low, high) = self.ends();
        let low = low.filter(|low| self.is_within_from(*low));
        of_ends(low, high).map(|found| self.in_units(found))
    }

    /// The load of the long runs and their length together, where they were within the limit but are
    /// too short to be certain.
    pub(super) fn unproven(&self) -> Option<(f64, u64)> {
        let long = self.of_purpose(Purpose::Confirm);
        let all: Vec<ExceedanceRun> = long.clone().map(LoadRun::counts).collect();
        let factor = all.first()?.factor;
        let is_open = self.found.is_none_or(|found| found.low.is_none());
        let is_held = pooled(&all) <= self.options.share && !self.is_within_from(factor);
        (is_open && is_held).then(|| (factor, long.map(|run| run.planned.length_ns).sum()))
    }

    /// How rare stalls are that no run may have met, where the lower end is that of a line, which
    /// knows nothing of them: one in so many seconds.
    pub(super) fn unseen_stalls_s(&self) -> Option<u64> {
        let low = self.found?.low?;
        let runs = self.after_climb();
        let seconds: f64 = runs.map(|run| run.counts().seconds).sum();
        (!self.is_within_from(low)).then_some((seconds / UNSEEN) as u64)
    }

    pub(super) fn of_purpose(
        &self,
        purpose: Purpose,
    ) -> impl Iterator<Item = &LoadRun> + Clone + '_ {
        let all = self.runs.iter();
        all.filter(move |run| run.planned.purpose == purpose)
    }

    /// The runs whose counts are shown and judged: those of the climb only find the range.
    pub(super) fn after_climb(&self) -> impl Iterator<Item = &LoadRun> + '_ {
        let all = self.runs.iter();
        all.filter(|run| run.planned.purpose != Purpose::Climb)
    }

    /// Users are whole: below a crossing between two numbers of them, and one fewer than a number that
    /// was beyond the limit.
    pub(super) fn in_units(&self, found: HeadroomAnswer) -> HeadroomAnswer {
        let unit = self.options.unit;
        if unit <= 0.0 {
            return found;
        }
        let whole = |end: f64| (end / unit + 1e-9).floor();
        // The long run had at least one.
        let low = found.low.map(|low| whole(low).max(1.0) * unit);
        let high = found.high.map(|high| {
            let beyond = match found.is_short_lived {
                // The long run had the whole users below this.
                true => whole(high),
                false => (high / unit - 1e-9).ceil(),
            };
            let most = (beyond - 1.0).max(0.0) * unit;
            low.map_or(most, |low| most.max(low))
        });
        let factor = match (low, high) {
            (Some(low), Some(high)) => (whole(found.factor) * unit).clamp(low, high),
            _ => low.or(high).unwrap_or(found.factor),
        };
        HeadroomAnswer {
            factor,
            low,
            high,
            ..found
        }
    }

    /// Approximate nanoseconds of remaining runs; `ramp_ns` comes before each.
    pub fn left_ns(&self, ramp_ns: u64) -> u64 {
        let queued = self
            .queue
            .iter()
            .map(|run| run.length_ns + ramp_ns)
            .sum::<u64>();
        let blocks = 5 * u64::from(self.fit_blocks());
        let one_ns = self.options.run_ns + ramp_ns;
        let later = match &self.stage {
            Stage::Climb { .. } => (10 + blocks) * one_ns + self.options.confirm_ns,
            Stage::Pilot { .. } => blocks * one_ns + self.options.confirm_ns,
            Stage::Fit { .. } | Stage::Bracket { .. } => self.options.confirm_ns,
            Stage::Confirm { .. } | Stage::Done => 0,
        };
        queued + later
    }

    const fn fit_blocks(&self) -> u32 {
        match self.options.design {
            ExceedanceDesign::Independent => 4,
            ExceedanceDesign::Blocks => 8,
        }
    }

    /// The next run is over.
    pub fn completed(&mut self, operations: u64, beyond: u64) {
        let Some(planned) = self.queue.pop_front() else {
            return;
        };
        self.runs.push(LoadRun {
            planned,
            operations,
            beyond,
        });
        if self.queue.is_empty() {
            self.go_on();
        }
    }

    fn go_on(&mut self) {
        match self.stage.clone() {
            Stage::Climb { before } => self.climb(before),
            Stage::Pilot {
                moves,
                centre,
                width,
            } => self.pilot(moves, centre, width),
            Stage::Fit {
                repeats,
                centre,
                width,
            } => self.fit(repeats, centre, width),
            Stage::Bracket { loads } => self.bracket(loads),
            Stage::Confirm {
                found,
                left,
                is_unproven,
            } => self.confirmed(found, left, is_unproven),
            Stage::Done => {}
        }
    }

    /// Clamps a factor to the allowed values.
    fn allowed(&self, factor: f64) -> f64 {
        let [least, most] = FACTORS;
        let factor = factor.clamp(least, most);
        match self.options.unit > 0.0 {
            true => (factor / self.options.unit).round().max(1.0) * self.options.unit,
            false => factor,
        }
    }

    /// The generator of the next random choice.
    fn random(&self) -> Random {
        let drawn = (self.runs.len() + self.queue.len()) as u64;
        Random::new(self.options.seed ^ (drawn + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Plans one run at a random place in the recording.
    fn plan(&mut self, factor: f64, purpose: Purpose) {
        let mut random = self.random();
        let from_ns = (random.uniform() * self.options.recording_ns as f64) as u64;
        self.queue.push_back(PlannedRun {
            factor: match purpose {
                // At the lower end, not above it.
                Purpose::Confirm if self.options.unit > 0.0 => {
                    let whole = (factor / self.options.unit + 1e-9).floor().max(1.0);
                    whole * self.options.unit
                }
                Purpose::Confirm => factor,
                Purpose::Climb | Purpose::Fit => self.allowed(factor),
            },
            from_ns,
            seed: random.bits() >> 1,
            block: self.blocks,
            purpose,
            length_ns: match purpose {
                Purpose::Confirm => self.options.confirm_ns,
                Purpose::Climb | Purpose::Fit => self.options.run_ns,
            },
        });
        self.blocks += 1;
    }

    /// Plans blocks of five loads, in random order.
    fn plan_blocks(&mut self, count: u32, centre: f64, width: f64) {
        let mut random = self.random();
        let start = random.uniform();
        for block in 0..count {
            // The blocks' parts cover the recording evenly.
            let place = (start + f64::from(block) / f64::from(count)).fract();
            let from_ns = (place * self.options.recording_ns as f64) as u64;
            let seed = random.bits() >> 1;
            let mut levels = LEVELS;
            random.shuffle(&mut levels);
            let first = self.queue.len();
            for level in levels {
                self.plan((centre + level * width).exp(), Purpose::Fit);
            }
            if self.options.design == ExceedanceDesign::Blocks {
                for run in self.queue.iter_mut().skip(first) {
                    (run.from_ns, run.seed, run.block) = (from_ns, seed, self.blocks);
                }
                self.blocks += 1;
            }
        }
    }

    fn climb(&mut self, before: Option<(f64, f64)>) {
        let Some(last) = self.runs.last() else {
            return;
        };
        let (factor, share) = (last.planned.factor, last.share());
        let is_over = share > self.options.share;
        if let Some((other, other_share)) = before
            && (other_share > self.options.share) != is_over
        {
            let (x, y) = (other.ln(), factor.ln());
            let [low, high] = [other_share, share].map(|share| share.max(1e-9).ln());
            let part = (self.options.share.ln() - low) / (high - low);
            let centre = x + part.clamp(0.0, 1.0) * (y - x);
            return self.begin_pilot(centre);
        }
        let next = match is_over {
            true => self.allowed(factor / STEP).min(factor),
            false => self.allowed((factor * STEP).max(factor + self.options.unit)),
        };
        if next == factor {
            // At the end of the range: is it certain?
            self.stage = Stage::Bracket {
                loads: BRACKET_LOADS_MAX,
            };
            (0..BRACKET_RUNS).for_each(|_| self.plan(factor, Purpose::Fit));
            return;
        }
        self.stage = Stage::Climb {
            before: Some((factor, share)),
        };
        self.plan(next, Purpose::Climb);
    }

    fn begin_pilot(&mut self, centre: f64) {
        self.stage = Stage::Pilot {
            moves: 0,
            centre,
            width: WIDTH_FIRST,
        };
        self.plan_blocks(PILOT_BLOCKS, centre, WIDTH_FIRST);
    }

    /// Runs used for the fit.
    fn fitted(&self) -> impl Iterator<Item = ExceedanceRun> + '_ {
        self.of_purpose(Purpose::Fit).map(LoadRun::counts)
    }

    fn pilot(&mut self, moves: u32, centre: f64, width: f64) {
        let runs: Vec<ExceedanceRun> = self.fitted().collect();
        let Some(line) = exceedance_line(&runs) else {
            return self.begin_bracket();
        };
        let [flat, steep] = SLOPES;
        let next_width = (4.0_f64.ln() / line.slope.clamp(flat, steep)).clamp(WIDTHS[0], WIDTHS[1]);
        let logs = runs.iter().map(|run| run.factor.ln());
        let (least, most) = logs.fold((f64::MAX, f64::MIN), |(least, most), x| {
            (least.min(x), most.max(x))
        });
        let crossing = line.factor_at(self.options.share).ln();
        let next = crossing.clamp(least - WIDTH_FIRST, most + WIDTH_FIRST);
        let is_inside = (least - 0.02..=most + 0.02).contains(&next);
        if is_inside {
            self.stage = Stage::Fit {
                repeats: 0,
                centre: next,
                width: next_width,
            };
            return self.plan_blocks(self.fit_blocks(), next, next_width);
        }
        if moves == MOVES_MAX || (next - centre).abs() < 1e-6 && next_width == width {
            return self.begin_bracket();
        }
        self.stage = Stage::Pilot {
            moves: moves + 1,
            centre: next,
            width: next_width,
        };
        self.plan_blocks(1, next, next_width);
    }

    /// Runs of loads near the centre that are not saturated, if they can be fitted.
    fn near(&self, centre: f64, width: f64) -> Option<Vec<ExceedanceRun>> {
        let saturated = EXCEEDANCE_SATURATED * self.options.share;
        let mut near: Vec<ExceedanceRun> = Vec::new();
        let (mut levels, mut is_above) = (0, false);
        for level in by_level(self.fitted().collect()) {
            let share = pooled(&level);
            let is_near = (level[0].factor.ln() - centre).abs() <= NEAR * width + 1e-9;
            if is_near && share <= saturated {
                levels += 1;
                is_above |= share > self.options.share;
                near.extend(level);
            }
        }
        (levels >= LEVELS_MIN && near.len() >= RUNS_MIN && is_above).then_some(near)
    }

    fn fit(&mut self, repeats: u32, centre: f64, width: f64) {
        let design = self.options.design;
        let crossing = self
            .near(centre, width)
            .and_then(|runs| exceedance_crossing(&runs, self.options.share, design));
        let Some(crossing) = crossing else {
            return self.begin_bracket();
        };
        let distance = crossing.factor.ln() - centre;
        if distance.abs() <= width || repeats == REPEATS_MAX {
            return match of_crossing(&crossing) {
                Some(found) => self.begin_confirm(found, false),
                None => self.begin_bracket(),
            };
        }
        let centre = centre + distance.clamp(-width, width);
        self.stage = Stage::Fit {
            repeats: repeats + 1,
            centre,
            width,
        };
        self.plan_blocks(3, centre, width);
    }

    fn begin_bracket(&mut self) {
        self.stage = Stage::Bracket { loads: 0 };
        self.bracket(0);
    }

    /// The largest load that seems below, and the smallest certainly above it.
    fn ends(&self) -> (Option<f64>, Option<f64>) {
        let levels = by_level(self.fitted().collect());
        let verdict = |level: &Vec<ExceedanceRun>| exceedance_verdict(level, self.options.share);
        let sure = |wanted: i8| {
            let of = levels.iter().filter(move |level| verdict(level) == wanted);
            of.map(|level| level[0].factor)
        };
        let low = sure(-1).next_back();
        let high = sure(1).find(|factor| low.is_none_or(|low| *factor > low));
        (low, high)
    }

    /// Whether the runs at factors up to this surely exceed the limit together: the load at the
    /// factor itself has no smaller share beyond it.
    pub(super) fn exceeds_up_to(&self, factor: f64) -> bool {
        let runs = self.fitted().filter(|run| run.factor <= factor);
        exceedance_verdict(&by_block(runs), self.options.share) == 1
    }

    /// Whether the load at the factor is certainly within the limit: so are its own runs, or these
    /// and all at larger factors, of which none has a smaller share beyond it.
    fn is_within_from(&self, factor: f64) -> bool {
        let above: Vec<ExceedanceRun> = self
            .after_climb()
            .map(LoadRun::counts)
            .filter(|run| run.factor > factor * (1.0 - 1e-9))
            .collect();
        let own = above.iter().copied();
        let own = own.filter(|run| run.factor < factor * (1.0 + 1e-9));
        exceedance_is_within(&by_block(own), self.options.share)
            || exceedance_is_within(&by_block(above.iter().copied()), self.options.share)
    }

    fn bracket(&mut self, loads: u32) {
        let (low, high) = self.ends();
        let tried: Vec<f64> = by_level(self.fitted().collect())
            .iter()
            .map(|level| level[0].factor)
            .collect();
        let is_narrow = match (low, high) {
            (Some(low), Some(high)) => {
                (high / low).ln() < BRACKET_WIDTH || high - low <= self.options.unit * 1.01
            }
            _ => false,
        };
        let (Some(&least), Some(&most)) = (tried.first(), tried.last()) else {
            return self.end(None);
        };
        if is_narrow || loads >= BRACKET_LOADS_MAX {
            return match of_ends(low, high) {
                Some(found) => self.begin_confirm(found, true),
                None => self.end(None),
            };
        }
        let next = match (low, high) {
            (Some(low), Some(high)) => (low * high).sqrt(),
            (None, _) => least * 0.9,
            (_, None) => most * 1.1,
        };
        let is_tried = |next: f64| tried.iter().any(|one| (one / next).ln().abs() < 0.01);
        let next = match is_tried(next) {
            true => {
                next * if self.random().uniform() < 0.5 {
                    1.012
                } else {
                    0.988
                }
            }
            false => next,
        };
        self.stage = Stage::Bracket { loads: loads + 1 };
        (0..BRACKET_RUNS).for_each(|_| self.plan(next, Purpose::Fit));
    }

    fn begin_confirm(&mut self, found: HeadroomAnswer, is_unproven: bool) {
        let Some(low) = found.low else {
            return self.end(Some(found));
        };
        self.confirm(low, found, CONFIRMING_RUNS - 1, is_unproven);
    }

    /// Plans a long run.
    fn confirm(&mut self, low: f64, found: HeadroomAnswer, left: u32, is_unproven: bool) {
        self.stage = Stage::Confirm {
            found,
            left,
            is_unproven,
        };
        self.plan(low, Purpose::Confirm);
    }

    fn confirmed(&mut self, found: HeadroomAnswer, left: u32, is_unproven: bool) {
        let allowed = self.options.share;
        let low = found.low.unwrap_or(found.factor);
        let is_over = (self.runs.last()).is_some_and(|run| run.share() > allowed);
        if is_over && left > 0 {
            return self.confirm(low, found, left - 1, is_unproven);
        }
        let long: Vec<ExceedanceRun> = self
            .of_purpose(Purpose::Confirm)
            .map(LoadRun::counts)
            .collect();
        let is_short_lived = is_over && pooled(&long) > allowed;
        if !is_short_lived {
            return match is_unproven {
                true => self.prove(low, found, left),
                false => self.end(Some(found)),
            };
        }
        let lasting = HeadroomAnswer {
            factor: low,
            low: None,
            high: found.low,
            bound: Bound::AtMost,
            is_short_lived: true,
        };
        self.end(Some(lasting));
    }

    /// Long runs at the lower end of a bracket until it is certain, as long as they may suffice: else
    /// that end stays open.
    fn prove(&mut self, low: f64, found: HeadroomAnswer, left: u32) {
        let tried = self.of_purpose(Purpose::Confirm).last();
        let tried = tried.map_or(low, |run| run.planned.factor);
        if self.is_within_from(tried) {
            return self.end(Some(found));
        }
        let long = self.of_purpose(Purpose::Confirm).count();
        let longest_s = PROVING_RUNS_MAX as f64 * self.options.confirm_ns as f64 / 1e9;
        if long < PROVING_RUNS_MAX && exceedance_quiet_s(self.options.share) <= longest_s {
            return self.confirm(low, found, left, true);
        }
        self.end(of_ends(None, found.high));
    }

    fn end(&mut self, found: Option<HeadroomAnswer>) {
        self.found = found.map(|found| self.in_units(found));
        self.stage = Stage::Done;
    }
}
