//! A recorded load made larger, in the two ways that it may grow: more users, or the same
//! users faster. They are different loads, and have different answers.

use crate::model::Request;
use stripewise_stats::Random;

/// The recording superposed `factor` times: whole copies, each shifted in a circle by a
/// random time, and one more thinned to the fraction. In the order of arrival.
///
/// A `factor` that is not a number, or below 0, counts as 0.
#[must_use]
pub fn more_users(requests: &[Request], duration_ns: u64, factor: f64, seed: u64) -> Vec<Request> {
    let mut random = Random::new(seed);
    let factor = if factor > 0.0 { factor } else { 0.0 };
    let copies = factor as usize;
    let duration = duration_ns.max(1);
    let mut all = Vec::with_capacity((requests.len() as f64 * factor) as usize + 1);
    for copy in 0..=copies {
        let share = if copy < copies {
            1.0
        } else {
            factor - copies as f64
        };
        let shift = (random.uniform() * duration as f64) as u64;
        let first = requests.first().map_or(0, |one| one.at_ns);
        for request in requests {
            if share >= 1.0 || random.uniform() < share {
                let at_ns = (request.at_ns - first + shift) % duration;
                all.push(Request { at_ns, ..*request });
            }
        }
    }
    all.sort_by_key(|request| request.at_ns);
    all
}

/// The recording with its time compressed by `factor`; a `factor` of at most 0 leaves it.
pub fn faster(
    requests: impl Iterator<Item = Request>,
    factor: f64,
) -> impl Iterator<Item = Request> {
    let factor = if factor > 0.0 { factor } else { 1.0 };
    requests.map(move |request| Request {
        at_ns: (request.at_ns as f64 / factor) as u64,
        ..request
    })
}
