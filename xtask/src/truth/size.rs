//! Number of trials per study, and their seeds.

use stripewise_stats::Random;

/// Number of trials of each kind.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub coverage: usize,
    pub aligned: usize,
    pub drift: usize,
    pub power: usize,
    /// Arrays with stripes, targets without, and disks: 300 of each over three seeds.
    pub arrays: usize,
    /// Observed loads, and captures, of each kind.
    pub observed: usize,
    /// Operations of each long run that verifies a true effect.
    pub truth_operations: u64,
}

impl Size {
    const FULL: Size = Size {
        coverage: 1_000,
        aligned: 200,
        drift: 1_000,
        power: 200,
        arrays: 100,
        observed: 1_000,
        truth_operations: 1_000_000,
    };

    pub fn share(share: f64) -> Size {
        let part = |count: usize| ((count as f64 * share).ceil() as usize).max(10);
        Size {
            coverage: part(Size::FULL.coverage),
            aligned: part(Size::FULL.aligned),
            drift: part(Size::FULL.drift),
            power: part(Size::FULL.power),
            arrays: part(Size::FULL.arrays),
            observed: part(Size::FULL.observed),
            truth_operations: (Size::FULL.truth_operations as f64 * share) as u64,
        }
    }
}

/// A seed for one trial of one study.
pub fn seed_of(seed: u64, study: u64, number: usize) -> u64 {
    let mut random = Random::new(seed ^ (study << 48) ^ ((number as u64) << 8));
    random.bits()
}
