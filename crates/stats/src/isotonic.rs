//! Isotonic regression, and where it crosses a level.

/// The non-decreasing sequence with the least squared distance from `values`, equally weighted:
/// pool adjacent violators. n = 0: empty; n = 1: itself.
///
/// ```
/// use stripewise_stats::isotonic;
/// assert_eq!(isotonic(&[1.0, 3.0, 2.0, 5.0]), [1.0, 2.5, 2.5, 5.0]);
/// ```
pub fn isotonic(values: &[f64]) -> Vec<f64> {
    // Sum and count of each pool.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for &value in values {
        let mut pool = (value, 1);
        while let Some(&(sum, count)) = pools.last() {
            if sum / count as f64 <= pool.0 / pool.1 as f64 {
                break;
            }
            pools.pop();
            pool = (pool.0 + sum, pool.1 + count);
        }
        pools.push(pool);
    }
    pools
        .iter()
        .flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count))
        .collect()
}

/// Where a rising curve crosses a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CrossingAt {
    /// Before its first point: all of it is above.
    Before,
    /// Between its points, by linear interpolation.
    Within(f64),
    /// After its last point: none of it is above.
    Beyond,
}

/// Where the isotonic curve through the points `(x, y)`, which are ordered by x, crosses `level`.
/// None without points.
pub fn isotonic_crossing(points: &[(f64, f64)], level: f64) -> Option<CrossingAt> {
    let values: Vec<f64> = points.iter().map(|&(_, y)| y).collect();
    let rising = isotonic(&values);
    let first_above = rising.iter().position(|&value| value > level);
    Some(match first_above {
        _ if points.is_empty() => return None,
        None => CrossingAt::Beyond,
        Some(0) => CrossingAt::Before,
        Some(above) => {
            let (low, high) = (rising[above - 1], rising[above]);
            let share = (level - low) / (high - low);
            let (from, to) = (points[above - 1].0, points[above].0);
            CrossingAt::Within(from + share * (to - from))
        }
    })
}
