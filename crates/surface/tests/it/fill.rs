//! Fills of simulated drives whose fast part is known.

use crate::simulated::Simulated;
use stripewise_array_sim::ArraySpec;
use stripewise_surface::fill::{FillPlan, Step, analyse, came_back, write, write_after_rest};
use stripewise_surface::{Device, StopReason};

const GIB: u64 = 1 << 30;

#[test]
fn the_end_of_the_fast_part_and_what_comes_back_lie_in_their_intervals() {
    let drives = [
        (16, 3, 170, 600, 2),
        (24, 7, 100, 300, 5),
        (12, 1, 60, 100, 1),
    ];
    for (seed, (size, fast, program_us, refill, rest_s)) in (1..).zip(drives) {
        let text = format!(
            "nvme-consumer?seed={seed}&size=0&ssd.size={size}G&ssd.fast={fast}G&ssd.fast_program={program_us}us\
             &ssd.fast_refill={refill}M&controller.link=0&ssd.jitter_percent=30"
        );
        let spec = ArraySpec::bundled(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut device = Simulated::new(&spec);
        let plan = FillPlan {
            bytes: device.size_bytes(),
            time_ns_max: u64::MAX,
        };
        let written = write(&mut device, &plan, &mut || None);
        assert_eq!(
            (written.stop_reason, written.failed_bytes),
            (None, 0),
            "{text}"
        );
        let curve = analyse(&written.steps, seed);
        let found = curve.fast_part().expect("a fast part");
        let [low, high] = found.interval_bytes();
        assert!((low..=high).contains(&(fast * GIB)), "{text}: {found:?}");
        let off = found.end.at_bytes.abs_diff(fast * GIB);
        assert!(off < fast * GIB / 30, "{text}: {found:?}");
        // 32 channels with pages of 16 KiB.
        let rate = 32.0 * 16_384.0 / 333e-6;
        let slow = curve.stretches.last().expect("two").bytes_per_s;
        assert!((slow / rate - 1.0).abs() < 0.03, "{text}: {slow} {rate}");

        let rest_ns = rest_s * 1_000_000_000;
        let again = write_after_rest(&mut device, &plan, rest_ns, &curve, &mut || None);
        let back = came_back(&again.steps, &curve, rest_ns, seed).expect("something");
        let truth = (rest_s * refill) << 20;
        let [low, high] = back.interval_bytes;
        assert!((low..=high).contains(&truth), "{text}: {back:?} {truth}");
        // The drive's memory of 32 MiB, either way, and steps.
        assert!(
            high - low < truth / 2 + (128 << 20),
            "{text}: {back:?} {truth}"
        );
    }
}

#[test]
fn collection_is_a_change_of_the_rate_too() {
    // Fresh: collection begins when all flash was used once, 12 % behind the capacity.
    let text = "sata-ssd?size=0&ssd.size=4G&ssd.preconditioned=false&ssd.spare_percent=10";
    let spec = ArraySpec::bundled(text).expect("a drive");
    let mut device = Simulated::new(&spec);
    let plan = FillPlan {
        bytes: device.size_bytes(),
        time_ns_max: u64::MAX,
    };
    let first = write(&mut device, &plan, &mut || None);
    // The buffer of 32 MiB, and nothing else.
    let first = analyse(&first.steps, 1);
    assert_eq!(first.changes.len(), 1, "{first:?}");
    assert!(first.changes[0].at_bytes < 64 << 20, "{first:?}");
    let second = write(&mut device, &plan, &mut || None);
    let curve = analyse(&second.steps, 1);
    assert_eq!(curve.changes.len(), 1, "{curve:?}");
    let truth = 4 * GIB / 10;
    assert!(
        curve.changes[0].at_bytes.abs_diff(truth) < 64 << 20,
        "{curve:?}"
    );
}

/// From the outer to the inner zones the rate of a disk falls to a half, by and by: no cache.
#[test]
fn a_rate_that_falls_evenly_is_no_fast_part_and_a_step_in_it_is_one() {
    let curve = |after_step: f64| {
        let step = |number: u64| {
            let mib_per_s = 102.0 - 0.125 * number as f64 + 0.2 * (number % 3) as f64;
            let mib_per_s = if number < 100 {
                mib_per_s
            } else {
                mib_per_s * after_step
            };
            Step {
                from_bytes: number << 26,
                length_bytes: 1 << 26,
                duration_ns: (64e9 / mib_per_s) as u64,
                temperature_millicelsius: None,
            }
        };
        analyse(&(0..400).map(step).collect::<Vec<Step>>(), 1)
    };
    let disk = curve(1.0);
    assert!(!disk.changes.is_empty());
    assert_eq!(disk.fast_part(), None, "{disk:?}");
    let cached = curve(0.5);
    let found = cached.fast_part().expect("a fast part");
    assert!(
        found.end.at_bytes.abs_diff(100 << 26) <= 2 << 26,
        "{found:?}"
    );
}

#[test]
fn time_that_is_over_keeps_what_was_measured() {
    let spec = ArraySpec::bundled("nvme-consumer?ssd.size=8G").expect("a drive");
    let mut device = Simulated::new(&spec);
    let plan = FillPlan {
        bytes: device.size_bytes(),
        time_ns_max: 500_000_000,
    };
    let written = write(&mut device, &plan, &mut || Some(40_000));
    assert_eq!(written.stop_reason, Some(StopReason::OutOfTime));
    assert!(!written.steps.is_empty() && written.bytes() < plan.bytes);
    assert_eq!(written.steps[0].temperature_millicelsius, Some(40_000));
}
