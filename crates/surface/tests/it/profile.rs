//! Surfaces whose truth is known.

use crate::serial::{Busy, Lay, Serial};
use crate::simulated::Simulated;
use stripewise_array_sim::ArraySpec;
use stripewise_surface::profile::{Findings, Plan, Spot, analyse, measure};
use stripewise_surface::{Device, ProbeIo, ProbeResult, StopReason};

fn findings(text: &str, seed: u64) -> (Findings, f64) {
    let spec = ArraySpec::bundled(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let plan = Plan {
        seed,
        ..Plan::default()
    };
    let measured = measure(&mut Simulated::new(&spec), &plan, &mut |_| {});
    assert_eq!(measured.stop_reason, None, "{text}");
    (analyse(&measured), measured.size_bytes as f64)
}

#[test]
fn zones_seeks_and_rotation_of_disks_are_found() {
    let disks = [
        ("disk-7k2", 7_200.0, 5, (175_000, 4, 1_872, 950), 7.5, 17.1),
        ("disk-15k", 15_000.0, 8, (50_000, 8, 977, 570), 3.5, 7.4),
        (
            "disk-7k2?disk.rpm=5400",
            5_400.0,
            12,
            (175_000, 4, 1_872, 950),
            7.5,
            17.1,
        ),
    ];
    for (name, rpm, zones, (cylinders, heads, outer, inner), average_ms, full_ms) in disks {
        let join = if name.contains('?') { '&' } else { '?' };
        let text = format!("{name}{join}disk.zones={zones}&offset=0&seed=3&size=0");
        let (found, size) = findings(&text, 5);
        // Where zones begin: the law in the middle of each, as the model has it.
        let lengths: Vec<f64> = (0..zones)
            .map(|zone| {
                let part = (f64::from(zone) + 0.5) / f64::from(zones);
                f64::from(outer) - (f64::from(outer) - f64::from(inner)) * part
            })
            .collect();
        let tracks = f64::from(cylinders) * f64::from(heads) / f64::from(zones);
        let mut sector = 0.0;
        let truth: Vec<f64> = lengths
            .iter()
            .map(|length| {
                sector += length * tracks * 512.0;
                sector
            })
            .collect();
        assert_eq!(found.zones.len(), zones as usize, "{text}");
        for (boundary, truth) in found.boundaries.iter().zip(&truth) {
            let off = (boundary.at_bytes as f64 - truth).abs() / size;
            assert!(off < 0.02, "{text}: {off}");
        }
        let rotation = found.rotation.expect("it turns");
        // Spindles differ by a thousandth from their nominal speed.
        assert!(
            (rotation.rpm / rpm - 1.0).abs() < 0.001 + 1e-4,
            "{rotation:?}"
        );
        let seeks = found.seeks.expect("it has an arm");
        let near = |found_ns: f64, ms: f64, within: f64| (found_ns / 1e6 / ms - 1.0).abs() < within;
        // Reads cannot tell what firmware adds to each movement of the arm from the arm.
        let with_firmware = |ms: f64| ms + 0.15;
        let average = near(seeks.average_ns, with_firmware(average_ms), 0.05);
        assert!(average, "{text}: {seeks:?}");
        let full = near(seeks.full_ns, with_firmware(full_ms), 0.08);
        assert!(full, "{text}: {seeks:?}");
        assert!(seeks.track_ns < 1e6, "{text}: {seeks:?}");
        assert!(found.position_matters);
    }
}

/// The farthest of some places from the nearest of others.
fn farthest(places: &[f64], others: &[f64]) -> f64 {
    let nearest = |place: &f64| {
        let away = others.iter().map(|other| (other - place).abs());
        away.fold(f64::INFINITY, f64::min)
    };
    places.iter().map(nearest).fold(0.0, f64::max)
}

#[test]
fn places_do_not_follow_the_angles_of_tracks() {
    // Evenly spaced places began at slowly drifting angles: a boundary too many at 99.5 % of
    // the one disk, two within a zone of the other.
    let disks = [
        (
            "disk.zones=9&disk.sectors_per_track_outer=1209&disk.sectors_per_track_inner=725&disk.cylinders=48109&disk.heads=1&disk.rpm=10000&disk.seek_average=3509us&disk.seek_full=7018us&disk.occupancy=67us",
            (9, 1_209.0, 725.0),
            241_117_009_503_348,
        ),
        (
            "disk.zones=8&disk.sectors_per_track_outer=907&disk.sectors_per_track_inner=544&disk.cylinders=159250&disk.heads=1&disk.rpm=5400&disk.seek_average=7458us&disk.seek_full=16183us&disk.occupancy=205us",
            (8, 907.0, 544.0),
            126_339_983_358_619,
        ),
    ];
    for (keys, (zones, outer, inner), seed) in disks {
        let text = format!("disk-7k2?{keys}&offset=0&size=0&seed={seed}");
        let (found, size) = findings(&text, seed + 1);
        let found: Vec<f64> = found
            .boundaries
            .iter()
            .map(|one| one.at_bytes as f64)
            .collect();
        // The law in the middle of each zone, as the model has it.
        let length =
            |zone: i32| outer - (outer - inner) * (f64::from(zone) + 0.5) / f64::from(zones);
        let until = |end: i32| (0..end).map(length).sum::<f64>();
        let share = |end: i32| size * until(end) / until(zones);
        let truth: Vec<f64> = (1..zones).map(share).collect();
        let off = farthest(&found, &truth).max(farthest(&truth, &found)) / size;
        assert!(off < 0.02, "{text}: {off}");
    }
}

#[test]
fn a_rate_that_falls_evenly_has_no_zones() {
    let (found, _) = findings("disk-15k?size=0", 1);
    assert!(found.zones.is_empty(), "{:?}", found.zones);
    assert!(found.position_matters);
    assert!(found.rate_max.unwrap() > 1.5 * found.rate_min.unwrap());
}

#[test]
fn on_a_solid_state_drive_position_does_not_matter() {
    let (found, _) = findings("sata-ssd", 1);
    assert!(!found.position_matters, "{:?}", found.zones);
    assert_eq!((found.rotation, found.seeks), (None, None));
    assert!(found.access.unwrap().p50_ns < 1_000_000);
}

/// Of a disk that is read as a whole, and has one.
fn one_spot(disk: &mut impl Device) -> Spot {
    let plan = Plan {
        full: true,
        places: 16,
        time_ns_max: u64::MAX,
        ..Plan::default()
    };
    let measured = measure(disk, &plan, &mut |_| {});
    let [spot] = measured.spots[..] else {
        panic!("one spot: {:?}", measured.spots);
    };
    spot
}

#[test]
fn a_spot_is_found_that_is_slow_beside_its_neighbours() {
    // A batch of pieces takes 50 ms, the slow one 300 ms: a spot, though not eight times
    // as long as a batch.
    let mut disk = Serial::new(Lay::RoundRobin, 1 << 40, &[3.1], Busy::IDLE, 1);
    disk.size_bytes = 256 << 20;
    disk.slow = Some((80_000_000..80_050_000, 300e6));
    let spot = one_spot(&mut disk);
    let end = spot.offset_bytes + spot.length_bytes;
    assert!(
        spot.offset_bytes <= 80_000_000 && end >= 80_050_000,
        "{spot:?}"
    );
    assert!(
        spot.length_bytes <= 128 << 10 && !spot.unreadable,
        "{spot:?}"
    );
}

/// A disk that serves one read after the other in 3 ms, below a layer that holds back what
/// touches a place, all of that at once, as dm-delay does.
struct HeldBack {
    now_ns: u64,
    slow: std::ops::Range<u64>,
}

impl Device for HeldBack {
    fn size_bytes(&self) -> u64 {
        160 << 20
    }

    fn sector_bytes(&self) -> u32 {
        512
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }

    fn run_batch(
        &mut self,
        requests: &[ProbeIo],
        answers: &mut Vec<ProbeResult>,
    ) -> Result<(), StopReason> {
        answers.clear();
        let (mut straight_ns, mut held_ns) = (0, 300_000_000);
        for io in requests {
            let end = io.offset_bytes + u64::from(io.length_bytes);
            let is_slow = io.offset_bytes < self.slow.end && end > self.slow.start;
            let latency_ns = if is_slow {
                &mut held_ns
            } else {
                &mut straight_ns
            };
            *latency_ns += 3_000_000;
            answers.push(ProbeResult {
                latency_ns: *latency_ns,
                whole: true,
                medium_error: false,
            });
        }
        let last_ns = answers.iter().map(|one| one.latency_ns).max();
        self.now_ns += last_ns.unwrap_or(0);
        Ok(())
    }

    fn rest(&mut self, rest_ns: u64) -> Result<(), StopReason> {
        self.now_ns += rest_ns;
        Ok(())
    }
}

#[test]
fn a_spot_across_two_pieces_is_found_whole_though_both_end_at_once() {
    for boundary in [1, 3, 17, 141].map(|number| number << 19) {
        for (before, behind) in [(1_024, 130_048), (65_536, 65_536), (130_048, 1_024)] {
            let slow = boundary - before..boundary + behind;
            let mut disk = HeldBack {
                now_ns: 0,
                slow: slow.clone(),
            };
            let spot = one_spot(&mut disk);
            let end = spot.offset_bytes + spot.length_bytes;
            assert!(
                spot.offset_bytes <= slow.start && end >= slow.end,
                "{spot:?}"
            );
            assert!(spot.length_bytes <= 256 << 10, "{spot:?}");
        }
    }
}

#[test]
fn of_a_device_that_disappears_what_was_measured_is_kept_and_marked() {
    let mut disk = Serial::new(Lay::RoundRobin, 1 << 40, &[3.1], Busy::IDLE, 1);
    disk.gone_ns = 8_000_000_000;
    let measured = measure(&mut disk, &Plan::default(), &mut |_| {});
    let Some(StopReason::Gone(why)) = &measured.stop_reason else {
        panic!("{:?}", measured.stop_reason);
    };
    assert!(why.contains("could be read before"), "{why}");
    // How soon reads failed is not taken for a rate, and the rest of the disk not for a spot.
    let fastest = measured
        .rates
        .iter()
        .map(|rate| rate.bytes_per_s)
        .fold(0.0, f64::max);
    assert!(fastest < 300e6, "{fastest}");
    assert!(!measured.rates.is_empty() && measured.spots.is_empty());
    assert!(measured.bytes_read < 1 << 30);
    // A device that is gone from the start.
    disk.gone_ns = 0;
    let measured = measure(&mut disk, &Plan::default(), &mut |_| {});
    assert!(
        matches!(&measured.stop_reason, Some(StopReason::Gone(why)) if why.contains("nothing can be read"))
    );
}
