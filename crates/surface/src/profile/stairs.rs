//! The best-fitting step function: means over stretches, by least squares over all segmentations
//! (Bellman 1961), with as many stretches as the Bayesian information criterion justifies.
//!
//! A recursive bisection misses steps of a staircase: at a large scale none of them stands out.

use stripewise_stats::mean;

/// Most values segmented: more are averaged first.
const VALUES_MAX: usize = 512;
/// Most stretches.
const STRETCHES_MAX: usize = 48;
/// Fewest values per stretch.
const LENGTH_MIN: usize = 3;
/// Cost of a step, in logarithms of the number of values: its position, its height, and the
/// correlation of neighbours that are medians of the same values.
const STEP_COST: f64 = 4.0;

/// Steps of the best fit: indices of the first value after each.
pub(super) fn stairs(values: &[f64]) -> Vec<usize> {
    let group = values.len().div_ceil(VALUES_MAX).max(1);
    let grouped: Vec<f64> = values
        .chunks(group)
        .map(|part| mean(part).unwrap_or(0.0))
        .collect();
    let mut cuts: Vec<usize> = best(&grouped).iter().map(|cut| cut * group).collect();
    if group > 1 {
        place_exactly(values, &mut cuts);
    }
    cuts
}

/// Prefix sums, so that the squares around the mean of any stretch are a subtraction.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        // Relative to their mean, to limit cancellation.
        let middle = mean(values).unwrap_or(0.0);
        let mut sums = Sums {
            values: vec![0.0],
            squares: vec![0.0],
        };
        let (mut sum, mut square) = (0.0, 0.0);
        for value in values {
            sum += value - middle;
            square += (value - middle).powi(2);
            sums.values.push(sum);
            sums.squares.push(square);
        }
        sums
    }

    /// Squares around the mean of a range of values.
    fn around_mean(&self, from: usize, to: usize) -> f64 {
        let sum = self.values[to] - self.values[from];
        let square = self.squares[to] - self.squares[from];
        (square - sum * sum / (to - from) as f64).max(0.0)
    }
}

fn best(values: &[f64]) -> Vec<usize> {
    let n = values.len();
    let stretches = STRETCHES_MAX.min(n / LENGTH_MIN);
    if stretches < 2 {
        return Vec::new();
    }
    let sums = Sums::of(values);
    // The least squares of the first values in each number of stretches, and where the last begins.
    let mut least: Vec<f64> = (0..=n)
        .map(|to| match to < LENGTH_MIN {
            true => f64::MAX,
            false => sums.around_mean(0, to),
        })
        .collect();
    let mut begins: Vec<Vec<usize>> = vec![vec![0; n + 1]];
    let floor = 1e-12 * sums.squares[n].max(1e-12);
    let criterion = |squares: f64, cuts: usize| {
        let n = n as f64;
        n * libm::log((squares.max(floor)) / n) + STEP_COST * cuts as f64 * libm::log(n)
    };
    let (mut chosen, mut lowest) = (0, criterion(least[n], 0));
    for cuts in 1..stretches {
        let mut next = vec![f64::MAX; n + 1];
        let mut begin = vec![0; n + 1];
        for to in LENGTH_MIN * (cuts + 1)..=n {
            let squares = |from: usize| least[from] + sums.around_mean(from, to);
            let places = LENGTH_MIN * cuts..=to - LENGTH_MIN;
            let best = places
                .map(|from| (squares(from), from))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            (next[to], begin[to]) = best.unwrap_or((f64::MAX, 0));
        }
        least = next;
        begins.push(begin);
        let value = criterion(least[n], cuts);
        if value < lowest {
            (chosen, lowest) = (cuts, value);
        }
    }
    let mut cuts = Vec::new();
    let mut to = n;
    for number in (1..=chosen).rev() {
        to = begins[number][to];
        cuts.push(to);
    }
    cuts.reverse();
    cuts
}

/// Located to the value, between the neighbours.
fn place_exactly(values: &[f64], cuts: &mut [usize]) {
    let sums = Sums::of(values);
    for number in 0..cuts.len() {
        let from = number.checked_sub(1).map_or(0, |before| cuts[before]);
        let to = cuts.get(number + 1).copied().unwrap_or(values.len());
        let squares = |at: usize| sums.around_mean(from, at) + sums.around_mean(at, to);
        let places = from + 1..to;
        let least = places.min_by(|a, b| squares(*a).total_cmp(&squares(*b)));
        cuts[number] = least.unwrap_or(cuts[number]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_stats::Random;

    fn curve(steps: usize, length: usize, noise: f64, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..steps * length)
            .map(|index| 100.0 - 4.0 * (index / length) as f64 + noise * random.normal())
            .collect()
    }

    #[test]
    fn each_of_many_small_steps_is_found() {
        for seed in 0..20 {
            let found = stairs(&curve(12, 16, 0.8, seed));
            let truth: Vec<usize> = (1..12).map(|step| step * 16).collect();
            assert_eq!(found.len(), truth.len(), "{seed}: {found:?}");
            let near = |(found, truth): (&usize, &usize)| found.abs_diff(*truth) <= 1;
            assert!(found.iter().zip(&truth).all(near), "{seed}: {found:?}");
        }
    }

    #[test]
    fn noise_alone_has_no_steps() {
        let none = (0..50).filter(|seed| stairs(&curve(1, 192, 1.0, *seed)).is_empty());
        assert_eq!(none.count(), 50);
        assert!(stairs(&[1.0; 5]).is_empty() && stairs(&[]).is_empty());
    }

    #[test]
    fn steps_of_thousands_of_values_are_placed_to_the_value() {
        let found = stairs(&curve(3, 1_001, 0.5, 7));
        let near = |(found, truth): (&usize, usize)| found.abs_diff(truth) <= 2;
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().zip([1_001, 2_002]).all(near), "{found:?}");
    }
}
