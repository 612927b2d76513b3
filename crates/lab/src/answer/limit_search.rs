//! Where the runs for an answer are made, and in which order.

use super::AROUND;
use crate::ladder::{Load, Step};
use crate::series::SeriesKind;
use stripewise_results::AnswerPlace;
use stripewise_stats::Slo;
use stripewise_stats::{
    CrossingAt, CurvePoint, PLATEAU_SHARE, Random, isotonic, isotonic_crossing, knee, may_rise,
};

/// A crossing at more than this many times the plateau's load does not affect the rate of
/// the plateau.
const CLEAR_OF_LIMIT: f64 = 1.5;

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AnswerGoal {
    /// The rate where the limit is crossed, at about this many in flight.
    Crossing { in_flight: f64 },
    /// The rate of the smallest load that gives as much as any: one of these, in
    /// rising order.
    Plateau { loads: [Load; 3] },
    /// The rate at one load.
    Level {
        load: Load,
        place: AnswerPlace,
        /// More load may give more: see [`may_rise`].
        rising: bool,
    },
}

/// What a climb says about where to look. `steps` are its steps that count, by work in
/// flight. None without steps.
pub(crate) fn goal_of(kind: SeriesKind, slo: Slo, steps: &[Step]) -> Option<AnswerGoal> {
    let level = |index: usize, place, rising| AnswerGoal::Level {
        load: steps[index].load,
        place,
        rising,
    };
    let last = steps.len().checked_sub(1)?;
    if !kind.climbs() {
        return Some(level(0, AnswerPlace::Only, false));
    }
    let known = steps.iter().filter_map(|step| {
        let latency_ns = step.latency_ns.filter(|ns| *ns > 0)?;
        let u = libm::log(f64::from(step.load.in_flight()));
        Some((u, libm::log(latency_ns as f64)))
    });
    let points: Vec<(f64, f64)> = known.collect();
    let rates: Vec<f64> = steps.iter().map(|step| step.iops).collect();
    let is_flat = !may_rise(&rates);
    let flat = flat_from(steps);
    // One step past the first that gives as much as any: that one may have been lucky.
    let beyond = (flat + 1).min(last);
    Some(
        match isotonic_crossing(&points, libm::log(slo.limit_ns as f64))? {
            CrossingAt::Before => match knee_of(steps) {
                Some(knee) => level(knee, AnswerPlace::Knee, false),
                None => level(flat, AnswerPlace::Highest, false),
            },
            // A stream may lose farther on what random I/O does not.
            CrossingAt::Beyond if is_flat && kind.reported_in_bytes() => {
                level(beyond, AnswerPlace::Plateau, false)
            }
            CrossingAt::Beyond if is_flat => AnswerGoal::Plateau {
                loads: [flat, flat + 1, flat + 2].map(|index| steps[index.min(last)].load),
            },
            CrossingAt::Beyond => level(last, AnswerPlace::Plateau, true),
            CrossingAt::Within(u) => {
                let in_flight = libm::exp(u);
                let clear = |index: usize| {
                    f64::from(steps[index].load.in_flight()) * CLEAR_OF_LIMIT <= in_flight
                };
                // A stream's latency grows with the depth alone: once the device gives what
                // it can, where exactly the limit is crossed changes nothing.
                match kind.reported_in_bytes() && is_flat {
                    true if clear(beyond) => level(beyond, AnswerPlace::Plateau, false),
                    true if clear(flat) => level(flat, AnswerPlace::Plateau, false),
                    _ => AnswerGoal::Crossing { in_flight },
                }
            }
        },
    )
}

/// The fewest in flight of a climb that give as much as any of its steps.
pub(crate) fn least_in_flight(steps: &[Step]) -> Option<u32> {
    Some(steps.get(flat_from(steps))?.load.in_flight())
}

/// The first step that gives as much as any other, within 3 %, on the rising curve
/// nearest to all of them.
fn flat_from(steps: &[Step]) -> usize {
    let rates: Vec<f64> = steps.iter().map(|step| step.iops).collect();
    let rising = isotonic(&rates);
    let most = rising.last().copied().unwrap_or(0.0);
    let flat = rising.iter().position(|rate| *rate >= PLATEAU_SHARE * most);
    flat.unwrap_or(0)
}

fn knee_of(steps: &[Step]) -> Option<usize> {
    let curve: Vec<CurvePoint> = steps
        .iter()
        .map(|step| CurvePoint {
            load: u64::from(step.load.in_flight()),
            rate: step.iops,
        })
        .collect();
    let at = knee(&curve)?.kneedle?;
    let mut loads = curve.iter().map(|point| point.load);
    loads.position(|load| load == at)
}

/// The loads of the runs, block by block, drawn from a seed.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    random: Random,
    cores: u32,
    in_flight_max: u32,
    least: Option<u32>,
}

impl Order {
    pub(crate) fn new(seed: u64, cores: u32, in_flight_max: u32) -> Order {
        Order {
            random: Random::new(seed),
            cores,
            in_flight_max,
            least: None,
        }
    }

    /// With few in flight, also runs at this load: by the climb, it gives as much as any.
    pub(crate) fn with_least(self, least: Option<u32>) -> Order {
        Order { least, ..self }
    }

    /// A block of loads around a crossing, in random order.
    pub(crate) fn block(&mut self, in_flight: f64) -> Vec<Load> {
        let loads = match in_flight < FEW_IN_FLIGHT {
            true => self.sectors_around(in_flight),
            false => around(in_flight, self.cores, self.in_flight_max),
        };
        self.shuffled(loads)
    }

    /// The two whole loads on either side of a crossing, one below them and one above; the lower of
    /// the two twice, since it is most often the answer. If a smaller load may already reach the
    /// rate, that load once instead.
    fn sectors_around(&self, in_flight: f64) -> Vec<Load> {
        let most = self.in_flight_max.max(1);
        // A float-to-integer cast saturates.
        let lower = (in_flight as u32).clamp(1, most);
        let below = lower.saturating_sub(1);
        let likely = self.least.filter(|least| *least < below).unwrap_or(lower);
        let wanted = [below, likely, lower, lower + 1, lower + 2];
        let within = wanted.map(|load| load.clamp(1, most));
        within.map(|load| Load::exactly(load, self.cores)).to_vec()
    }

    /// A block of these loads, in random order.
    pub(crate) fn shuffled(&mut self, mut loads: Vec<Load>) -> Vec<Load> {
        self.random.shuffle(&mut loads);
        loads
    }
}

/// Below this many in flight, one operation more is a large step, over which latency may jump:
/// each whole load is measured separately.
pub(crate) const FEW_IN_FLIGHT: f64 = 10.0;

/// Five loads around a crossing.
fn around(in_flight: f64, cores: u32, in_flight_max: u32) -> Vec<Load> {
    let max = f64::from(in_flight_max);
    let near = |share: f64| Load::near((share * in_flight).clamp(1.0, max), cores);
    AROUND.map(near).to_vec()
}
