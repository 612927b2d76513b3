//! Random numbers by position instead of by sequence.
//!
//! Every random quantity of a simulation is a pure function of (seed, entity, index, counter):
//! SplitMix64's finaliser (Steele, Lea, Flood 2014) over the four. No entity can affect another's
//! numbers, so two arrays that differ in one setting, such as the partition offset, see the same
//! spindle phases, the same stalls and the same failed operations: differences between them come
//! from the setting. Integers only, hence the same on every machine.

/// The user of a random number. The discriminants are part of the format: changing one changes
/// every recorded simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Entity {
    /// A spindle's phase (counter 0) and speed (counter 1); index: the drive.
    Spindle = 1,
    /// Page-time jitter of a solid-state drive; index: the drive, counter: the page access.
    Flash = 2,
    /// The faults of an operation; index: the kind of fault, counter: the operation.
    Fault = 3,
    /// When the array stalls; counter: the number of the interval.
    Stall = 4,
    /// Which copy the `hash` mirror policy reads; counter: the stripe row.
    Mirror = 5,
    /// Positions of the closed loop's load; counter: the operation.
    Load = 6,
    /// The rotation of a chunklet's drives; index: the chunklet.
    Chunklet = 7,
}

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// SplitMix64's finaliser.
const fn mix(value: u64) -> u64 {
    let z = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// 64 uniform bits for this point in this simulation.
pub const fn draw(seed: u64, entity: Entity, index: u64, counter: u64) -> u64 {
    let stream = mix(seed.wrapping_add(GOLDEN.wrapping_mul(entity as u64)));
    let stream = mix(stream ^ index.wrapping_mul(GOLDEN));
    mix(stream.wrapping_add(counter.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// A uniform number in [0, 1) with 53 bits from 64 random bits.
pub fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// A uniform integer below `limit` (0 for a limit of 0) from 64 random bits;
/// the bias of the multiplication method is below 2^-40 for the sizes used here.
pub const fn below(bits: u64, limit: u64) -> u64 {
    ((bits as u128 * limit as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_pinned_for_ever() {
        assert_eq!(
            mix(GOLDEN),
            0xE220_A839_7B1D_CDAF,
            "SplitMix64's first output for seed 0"
        );
        let a = draw(1, Entity::Spindle, 0, 0);
        assert_eq!(a, draw(1, Entity::Spindle, 0, 0));
        for other in [
            draw(2, Entity::Spindle, 0, 0),
            draw(1, Entity::Fault, 0, 0),
            draw(1, Entity::Spindle, 1, 0),
            draw(1, Entity::Spindle, 0, 1),
        ] {
            assert_ne!(a, other);
        }
    }

    #[test]
    fn uniform_numbers_have_the_mean_and_range_of_uniform_numbers() {
        let n = 20_000;
        let mut sum = 0.0;
        let mut counts = [0u32; 10];
        for counter in 0..n {
            let bits = draw(7, Entity::Load, 0, counter);
            let u = unit(bits);
            assert!((0.0..1.0).contains(&u));
            sum += u;
            counts[below(bits, 10) as usize] += 1;
        }
        assert!((sum / n as f64 - 0.5).abs() < 0.01);
        assert!(counts.iter().all(|&count| (1_800..2_200).contains(&count)));
    }
}
