//! Holm's correction: many tests, one error rate.

/// Holm's adjusted p-values (Holm 1979), in the order given: a row is
/// significant at level alpha when its adjusted value is at most alpha, and the
/// probability of any false alarm among all rows is then at most alpha,
/// whatever their dependence.
///
/// The k-th smallest of m becomes the largest of (m - j + 1) * p_j over j <= k,
/// at most 1. Values that are not numbers count as 1. n = 0: empty; n = 1:
/// unchanged; n = 2: the smaller doubled, the larger at least that.
///
/// ```
/// use stripewise_stats::holm;
/// assert_eq!(holm(&[0.03, 0.01, 0.5]), [0.06, 0.03, 0.5]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let p = |k: usize| {
        if p_values[k].is_nan() {
            1.0
        } else {
            p_values[k]
        }
    };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p(a).total_cmp(&p(b)));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest = 0f64;
    for (rank, &k) in order.iter().enumerate() {
        let remaining = (p_values.len() - rank) as f64;
        largest = largest.max(remaining * p(k)).min(1.0);
        adjusted[k] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_keep_the_order_and_are_never_smaller() {
        let cases: [(&[f64], &[f64]); 6] = [
            (&[], &[]),
            (&[0.2], &[0.2]),
            (&[0.02, 0.04], &[0.04, 0.04]),
            (&[0.7, 0.6], &[1.0, 1.0]),
            (&[f64::NAN, 0.01], &[1.0, 0.02]),
            // Times 1, 2, 3 and 4 in order of size, never falling.
            (
                &[0.125, 0.0625, 0.03125, 0.015625],
                &[0.125, 0.125, 0.09375, 0.0625],
            ),
        ];
        for (given, adjusted) in cases {
            assert_eq!(holm(given), adjusted, "{given:?}");
        }
    }
}
