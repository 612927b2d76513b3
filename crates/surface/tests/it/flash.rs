//! Simulated flash whose truth is known, and what is no flash.

use crate::simulated::Simulated;
use stripewise_array_sim::ArraySpec;
use stripewise_surface::flash::{PausePlan, ProbeFindings, pauses, probe, write_for_pauses};

fn spec(text: &str) -> ArraySpec {
    ArraySpec::bundled(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn probed(text: &str, seed: u64) -> ProbeFindings {
    let probed = probe(
        &mut Simulated::new(&spec(text)),
        seed,
        u64::MAX,
        &mut |_| {},
    );
    assert_eq!(
        (&probed.stop_reason, &probed.refused),
        (&None, &None),
        "{text}"
    );
    probed
}

/// Drives, their page and how many units of them work at a time.
const DRIVES: [(&str, u64, u32); 6] = [
    ("sata-ssd?ssd.channels=12", 4_096, 12),
    ("nvme-consumer?ssd.channels=16", 16_384, 16),
    ("nvme", 4_096, 64),
    ("nvme?ssd.page_size=16K", 16_384, 64),
    ("nvme?ssd.channels=24&ssd.page_size=8K", 8_192, 24),
    ("sata-ssd?ssd.page_size=32K&ssd.channels=4", 32_768, 4),
];

#[test]
fn pages_and_parallel_units_of_two_drives_are_found() {
    are_found(&DRIVES[..2], 1);
}

/// Long-running tests run after the others in CI.
mod at_length {
    use super::*;

    #[test]
    #[ignore = "8 s of processor time: cargo xtask ci long"]
    fn pages_and_parallel_units_of_drives_are_found() {
        are_found(&DRIVES, 3);
    }
}

fn are_found(drives: &[(&str, u64, u32)], first_seed: u64) {
    for (seed, &(text, page, units)) in (first_seed..).zip(drives) {
        let join = if text.contains('?') { '&' } else { '?' };
        let text = format!("{text}{join}offset=0&seed={seed}");
        let found = probed(&text, seed);
        let step = &found.alignments.step_bytes;
        assert_eq!(
            step.value(),
            Some(page),
            "{text}: {step:?} {:?}",
            found.alignments.all
        );
        let [low, high] = found.parallelism.units.interval().unwrap_or_else(|| {
            panic!("{text}: {:?}", found.parallelism);
        });
        assert!(
            (low..=high).contains(&units),
            "{text}: {low} {units} {high}"
        );
        eprintln!("{text}: {low} {units} {high}");
        // Queues of a slow link widen it.
        assert!(high <= low * 10, "{text}: {low} {high}");
        // What passes over a SATA link costs more than the flash from a page on.
        let [low, high] = found.sizes.full_price_bytes.interval().expect("a price");
        assert!(
            low <= page && high >= page.min(4_096),
            "{text}: {:?}",
            found.sizes.all
        );
    }
}

#[test]
fn a_disk_is_refused_as_a_whole() {
    let probed = probe(
        &mut Simulated::new(&spec("disk-15k")),
        1,
        u64::MAX,
        &mut |_| {},
    );
    assert!(probed.refused.expect("a reason").contains("moving parts"));
    assert_eq!(probed.alignments.step_bytes.value(), None);
    let small = probe(
        &mut Simulated::new(&spec("nvme?size=64M")),
        1,
        u64::MAX,
        &mut |_| {},
    );
    assert!(small.refused.expect("a reason").contains("256 MiB"));
}

#[test]
fn the_pauses_of_collection_have_their_distance_and_length() {
    for (burst_mib, seed) in [(16, 1), (40, 2), (100, 3)] {
        let text = format!(
            "sata-ssd?seed={seed}&ssd.size=8G&ssd.collection_burst={burst_mib}M&ssd.buffer=1M&size=0"
        );
        let mut device = Simulated::new(&spec(&text));
        let plan = PausePlan {
            bytes: (burst_mib * 20) << 20,
            time_ns_max: u64::MAX,
        };
        let found = pauses(&write_for_pauses(&mut device, &plan), seed);
        let every = found
            .every_bytes
            .unwrap_or_else(|| panic!("{text}: {found:?}"));
        let [low, high] = found.every_bytes_interval.expect("an interval");
        assert!(
            (low..=high).contains(&(burst_mib << 20)),
            "{text}: {every} {low} {high}"
        );
        // Each page moves 1.12 / 0.24 - 1 others, by 16 channels; a block is erased for 512.
        let pages = (burst_mib << 20) as f64 / 4_096.0;
        let moved = 1.12 / 0.24 - 1.0;
        let truth_ns = pages / 16.0 * (moved * (60e3 + 400e3) + 3e6 / 512.0);
        let length = found.length_ns.expect("a length") as f64;
        assert!(
            (length / truth_ns - 1.0).abs() < 0.05,
            "{text}: {length} {truth_ns}"
        );
    }
    // Collection that each write pays for pauses nothing.
    let mut device = Simulated::new(&spec("sata-ssd?ssd.size=8G"));
    let plan = PausePlan {
        bytes: 1 << 30,
        time_ns_max: u64::MAX,
    };
    let found = pauses(&write_for_pauses(&mut device, &plan), 1);
    assert_eq!(found.every_bytes, None, "{found:?}");
    assert!(found.refused.is_some());
}
