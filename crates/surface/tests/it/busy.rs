//! Disks of different speed on a busy machine: the truth or a refusal.

use crate::serial::{Busy, Lay, Serial};
use stripewise_surface::stripe::{Limits, ProbeFindings, probe};

const UNEVEN_MS: [f64; 4] = [3.0, 4.0, 5.0, 6.0];

fn probed(mut device: Serial, seed: u64) -> ProbeFindings {
    let limits = Limits {
        seed,
        time_ns_max: 1_500_000_000_000,
        ..Limits::default()
    };
    let probed = probe(&mut device, &limits, &mut |_| {});
    eprintln!(
        "{:?} {} at {}, seed {seed}: {:?}, {} reads, {:.0} s, period {:?}",
        device.lay,
        device.unit_bytes,
        device.phase_bytes,
        probed.outcome.as_ref().map(|p| (
            p.unit_bytes,
            p.phase_bytes,
            p.columns,
            p.copies,
            p.contrast
        )),
        probed.reads,
        probed.duration_ns as f64 / 1e9,
        probed.period_bytes,
    );
    probed
}

/// What is made of an array of four such disks: whether it was found exactly. A wrong
/// answer fails.
fn is_found((lay, unit_kib): (Lay, u64), from_sector_63: bool, busy: Busy, seed: u64) -> bool {
    let unit = unit_kib * 1024;
    let mut device = Serial::new(lay, unit, &UNEVEN_MS, busy, seed * 100 + unit);
    if from_sector_63 {
        device.phase_bytes = (unit - 32_256 % unit) % unit;
    }
    let (columns, level) = match lay {
        Lay::RoundRobin => (4, "0"),
        Lay::Pairs => (2, "10"),
    };
    let truth = (unit, device.phase_bytes, columns);
    match probed(device, seed).outcome {
        Err(_) => false,
        Ok(found) => {
            assert!(found.layouts.iter().any(|one| one.level == level));
            let found = (found.unit_bytes, found.phase_bytes, found.columns);
            assert_eq!(found, truth);
            true
        }
    }
}

#[test]
fn disks_of_different_speed_are_found_exactly() {
    assert!(is_found((Lay::RoundRobin, 64), false, Busy::IDLE, 0));
    assert!(is_found((Lay::RoundRobin, 96), true, Busy::IDLE, 1));
    assert!(is_found((Lay::Pairs, 16), true, Busy::IDLE, 1));
}

#[test]
fn a_loaded_machine_is_no_obstacle() {
    assert!(is_found((Lay::Pairs, 128), true, Busy::LOADED, 1));
}

#[test]
fn on_a_machine_that_is_swamped_an_answer_is_right() {
    is_found((Lay::RoundRobin, 64), true, Busy::SWAMPED, 0);
}

#[test]
#[ignore = "a minute: all units, from byte 0 and from sector 63"]
fn all_units_on_idle_loaded_and_swamped_machines() {
    for busy in [Busy::IDLE, Busy::LOADED, Busy::SWAMPED] {
        for number in 0..16 {
            let lay = [Lay::RoundRobin, Lay::Pairs][number as usize % 2];
            let unit_kib = [16, 64, 96, 128][number as usize / 2 % 4];
            let found = is_found((lay, unit_kib), number >= 8, busy, number);
            assert!(found || busy.waits > 0.4);
        }
    }
}
