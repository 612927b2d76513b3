use super::*;
use crate::Random;

#[test]
fn few_differences_behave_as_documented() {
    let p = |d: &[f64]| signed_rank(d).map(|t| (t.p_two_sided, t.p_greater, t.p_less));
    assert_eq!(p(&[]), Some((1.0, 1.0, 1.0)));
    assert_eq!(p(&[0.0, 0.0]), Some((1.0, 1.0, 1.0)));
    assert_eq!(p(&[3.0]), Some((1.0, 0.5, 1.0)));
    assert_eq!(p(&[3.0, 4.0]), Some((0.5, 0.25, 1.0)));
    assert_eq!(p(&[f64::NAN]), None);
    for n in 0..6 {
        assert_eq!(
            signed_rank_interval(&[1.0, 2.0, 3.0, 4.0, 5.0][..n.min(5)], 0.95),
            None
        );
    }
}

#[test]
fn the_distribution_is_that_of_all_sign_patterns() {
    // Ranks with ties, doubled, against the enumeration of all 2^n patterns.
    for ranks in [
        vec![2, 4, 6, 8, 10, 12, 14],
        vec![3, 3, 6, 9, 9, 12],
        vec![5; 8],
    ] {
        let total: u64 = ranks.iter().sum();
        let mut counts = vec![0u32; total as usize + 1];
        for pattern in 0u32..1 << ranks.len() {
            let sum: u64 = (0..ranks.len())
                .filter(|k| pattern >> k & 1 == 1)
                .map(|k| ranks[k])
                .sum();
            counts[sum as usize] += 1;
        }
        let all = f64::from(1u32 << ranks.len());
        for (w, p) in distribution(&ranks).iter().enumerate() {
            assert_eq!(*p, f64::from(counts[w]) / all, "{ranks:?}, w = {w}");
        }
    }
}

#[test]
fn the_interval_is_the_set_of_centres_that_the_test_accepts() {
    let mut random = Random::new(21);
    for n in [6, 7, 10, 15, 25] {
        let d: Vec<f64> = (0..n).map(|_| random.normal() + 0.3).collect();
        for level in [0.80, 0.90, 0.95] {
            let interval = signed_rank_interval(&d, level).unwrap();
            let p = |centre: f64| {
                let shifted: Vec<f64> = d.iter().map(|x| x - centre).collect();
                signed_rank(&shifted).unwrap().p_two_sided
            };
            let inside = 1e-9 * interval.width();
            for end in [interval.low + inside, interval.high - inside] {
                assert!(p(end) > 1.0 - level, "n = {n}, level {level}");
            }
            for end in [interval.low - inside, interval.high + inside] {
                assert!(
                    p(end) <= (1.0 - level) * (1.0 + 1e-9),
                    "n = {n}, level {level}"
                );
            }
        }
    }
}

#[test]
fn the_numbers_of_differences_that_tables_need_are_known() {
    let cases = [
        (0.05, Some(6)),
        (0.05 / 36.0, Some(11)),
        (0.05 / 108.0, Some(13)),
        (1.0, Some(1)),
        (0.0, None),
    ];
    for (p_value, count) in cases {
        assert_eq!(signed_rank_count_min(p_value), count, "{p_value}");
    }
    // The interval needs as many.
    for n in 1..20 {
        let d: Vec<f64> = (0..n).map(f64::from).collect();
        let level = 1.0 - 0.05 / 36.0;
        assert_eq!(
            signed_rank_interval(&d, level).is_some(),
            n >= 11,
            "n = {n}"
        );
    }
}

#[test]
fn equal_differences_have_an_interval_of_no_width() {
    let interval = signed_rank_interval(&[0.0; 12], 0.95).unwrap();
    assert_eq!(
        (interval.low, interval.value, interval.high),
        (0.0, 0.0, 0.0)
    );
    let test = signed_rank(&[2.5; 12]).unwrap();
    assert_eq!(test.p_two_sided, 2.0 / 4_096.0);
}

#[test]
fn exact_and_normal_agree_where_they_meet() {
    let mut random = Random::new(22);
    for shift in [0.0, 0.1, 0.15, 0.2] {
        let d: Vec<f64> = (0..EXACT_COUNT_MAX)
            .map(|_| random.normal() + shift)
            .collect();
        let exact = signed_rank(&d).unwrap().p_two_sided;
        let mut rising = d.clone();
        rising.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        let doubled = doubled_ranks(&rising);
        let sum = rising
            .iter()
            .zip(&doubled)
            .filter(|(d, _)| **d > 0.0)
            .map(|(_, r)| r)
            .sum();
        let (less, greater) = normal_tails(&doubled, sum);
        let normal = (2.0 * less.min(greater)).min(1.0);
        let allowed = if exact < 0.06 { 3e-4 } else { 1e-3 };
        assert!((exact - normal).abs() < allowed, "{exact} {normal}");
    }
    let (exact, _) = critical_count(EXACT_COUNT_MAX, 0.95).unwrap();
    let (normal, _) = critical_count(EXACT_COUNT_MAX + 1, 0.95).unwrap();
    // One more difference moves c by about 84.
    assert!((60..110).contains(&(normal - exact)), "{exact} {normal}");
}
