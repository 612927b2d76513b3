//! Procedure Q: the share of operations beyond a threshold against a limit.
//!
//! Per second of due time, n operations were due and k of them were beyond the threshold
//! (late, failed, never issued, never completed). N and K are their sums, p = K/N, M the
//! seconds measured, D0 the longest clustering assumed, L the limit of the share.
//!
//! 1. For batches of b = 1, 2, 4, ... <= M/10, M/20 and M/10 seconds, B = floor(M/b) of
//!    them: V_b = B/(B-1) sum (k_j - p n_j)^2 M/(bB). V is the largest.
//! 2. deff = max(V / (N p (1-p)), D0 N/M, 1), n_e = 0.805 N/deff (Korn and Graubard 1998,
//!    with the largest clustering that any batch length shows).
//! 3. w = max(largest k_j of batches of M/20, D0 N/M); p+ = min((K + w)/N, 1): the stretch
//!    that happens to be quiet has a low variance as well, so the worst batch counts twice.
//! 4. P_met = 1 - I_L(n_e p+ + 1, n_e (1 - p+)); P_missed = I_L(n_e p, n_e (1-p) + 1), 1
//!    where K = 0. I is the regularised incomplete beta function.

use super::{DEGREES_SHARE, ONE_SIDE, STALL_S};
use crate::distribution::{border, incomplete_beta};
use crate::sample::Estimate;
use serde::{Deserialize, Serialize};

/// Fewest seconds that are judged: twenty batches.
const SECONDS_MIN: usize = 20;
/// D_eff / L times this is the number of seconds that decides a share of a fifth of the limit in
/// six of seven measurements.
const SECONDS_OVER_CLUSTER: f64 = 15.0;

/// A second of due time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueSecond {
    /// Operations due in it.
    pub due: u64,
    /// Of those, operations beyond the threshold; at most `due`.
    pub beyond: u64,
}

/// A second's contribution to two sums: operations, and the judged amount.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Second {
    pub(super) count: f64,
    pub(super) amount: f64,
}

impl From<&DueSecond> for Second {
    fn from(second: &DueSecond) -> Second {
        Second {
            count: second.due as f64,
            amount: second.beyond as f64,
        }
    }
}

/// A limit on the share of operations beyond a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareRule {
    /// L, above 0 and below 1: 0.01 for a p99.
    pub share_max: f64,
    /// D0: clustered stalls last at most this many seconds in total.
    pub stall_s: f64,
}

impl ShareRule {
    /// The rule for a share, with the default assumption.
    pub fn new(share_max: f64) -> ShareRule {
        ShareRule {
            share_max,
            stall_s: STALL_S,
        }
    }
}

/// Result for a share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareJudgement {
    /// Share seen beyond the threshold, with its interval at 95 %.
    pub share: Estimate,
    /// Probability of so small a share if the true share were the limit: met if below alpha.
    pub p_met: f64,
    /// Probability of so large a share if the true share were the limit: missed if below alpha.
    pub p_missed: f64,
    /// D_eff: the observed length of a cluster in seconds; at least D0.
    pub cluster_s: f64,
    /// Seconds measured.
    pub seconds: usize,
    /// Stalls are clustered for longer than assumed. `p_met` uses the observed clustering, not the
    /// assumption, so it still decides.
    pub is_clustered: bool,
    /// Seconds that usually suffice for a decision, at the current clustering.
    pub seconds_wanted: f64,
}

/// Judges a share. None below 20 seconds (n = 0, 1, 2 among them), where nothing was due,
/// or where the limit is not between 0 and 1.
///
/// ```
/// use stripewise_stats::{DueSecond, ShareRule, judge_share};
/// // Half an hour at 200 a second, none late: less than 1 % is late.
/// let quiet = vec![DueSecond { due: 200, beyond: 0 }; 1_800];
/// let found = judge_share(&quiet, ShareRule::new(0.01)).unwrap();
/// assert!(found.p_met < 1e-5 && found.p_missed == 1.0);
/// // Of three minutes that cannot be said.
/// let found = judge_share(&quiet[..180], ShareRule::new(0.01)).unwrap();
/// assert!(found.p_met > 0.3);
/// ```
pub fn judge_share(seconds: &[DueSecond], rule: ShareRule) -> Option<ShareJudgement> {
    let limit = rule.share_max;
    let sums: Vec<Second> = seconds.iter().map(Second::from).collect();
    let due: f64 = sums.iter().map(|second| second.count).sum();
    if sums.len() < SECONDS_MIN || due <= 0.0 || !(limit > 0.0 && limit < 1.0) {
        return None;
    }
    let measured = sums.len() as f64;
    let assumed = rule.stall_s * due / measured;
    let cluster = clustering(&sums);
    let beyond = cluster.total;
    let share = (beyond / due).min(1.0);
    let spread = due * share * (1.0 - share);
    let seen = if spread > 0.0 {
        cluster.variance / spread
    } else {
        0.0
    };
    let deff = seen.max(assumed).max(1.0);
    let effective = DEGREES_SHARE * due / deff;
    let plus = ((beyond + cluster.worst.max(assumed)) / due).min(1.0);
    let missed = |limit: f64| p_missed(effective, share, limit);
    let met = |limit: f64| p_met(effective, plus, limit);
    let cluster_s = deff * measured / due;
    Some(ShareJudgement {
        share: Estimate {
            value: share,
            // P_missed rises with the limit, P_met falls.
            low: match share {
                0.0 => 0.0,
                _ => border(1.0, |limit| missed(limit) < ONE_SIDE),
            },
            high: border(1.0, |limit| met(limit) > ONE_SIDE),
            level: 0.95,
        },
        p_met: met(limit),
        p_missed: missed(limit),
        cluster_s,
        seconds: sums.len(),
        // Two operations or more: a single one is as long as the time to the next.
        is_clustered: seen > assumed.max(2.0) * 1.000_001,
        seconds_wanted: SECONDS_OVER_CLUSTER * cluster_s / limit,
    })
}

fn p_met(effective: f64, plus: f64, limit: f64) -> f64 {
    let rest = effective * (1.0 - plus);
    if rest <= 0.0 {
        return 1.0;
    }
    1.0 - incomplete_beta(effective * plus + 1.0, rest, limit)
}

fn p_missed(effective: f64, share: f64, limit: f64) -> f64 {
    if share <= 0.0 {
        return 1.0;
    }
    incomplete_beta(effective * share, effective * (1.0 - share) + 1.0, limit)
}

/// Clustering of the judged amount.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Clustering {
    /// The total amount.
    pub(super) total: f64,
    /// V: variance of the total, the largest over all batch lengths.
    pub(super) variance: f64,
    /// The largest amount of a batch of M/20.
    pub(super) worst: f64,
}

/// Steps 1 and 3 of the procedure, of at least 20 seconds.
pub(super) fn clustering(seconds: &[Second]) -> Clustering {
    let measured = seconds.len();
    let count: f64 = seconds.iter().map(|second| second.count).sum();
    let total: f64 = seconds.iter().map(|second| second.amount).sum();
    let ratio = total / count;
    let mut lengths: Vec<usize> = (0..)
        .map(|power| 1 << power)
        .take_while(|length| *length <= measured / 10)
        .collect();
    lengths.extend([measured / 20, measured / 10]);
    let mut found = Clustering {
        total,
        variance: 0.0,
        worst: 0.0,
    };
    for length in lengths {
        let batches = (measured / length) as f64;
        let mut squares = 0.0;
        let mut worst: f64 = 0.0;
        for batch in seconds.chunks_exact(length) {
            let due: f64 = batch.iter().map(|second| second.count).sum();
            let amount: f64 = batch.iter().map(|second| second.amount).sum();
            squares += (amount - ratio * due) * (amount - ratio * due);
            worst = worst.max(amount);
        }
        let covered = length as f64 * batches;
        let variance = squares * batches / (batches - 1.0) * measured as f64 / covered;
        found.variance = found.variance.max(variance);
        if length == measured / 20 {
            found.worst = worst;
        }
    }
    found
}
