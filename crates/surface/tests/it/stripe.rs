//! The pattern of arrays that do not tell.

use crate::simulated::{OtherLoad, Simulated};
use stripewise_array_sim::ArraySpec;
use stripewise_surface::StopReason;
use stripewise_surface::stripe::{Consistent, Limits, ProbeFindings, probe};

fn probed(spec: &ArraySpec, seed: u64) -> ProbeFindings {
    let limits = Limits {
        seed,
        ..Limits::default()
    };
    probe(&mut Simulated::new(spec), &limits, &mut |_| {})
}

#[test]
fn arrays_are_found_exactly() {
    // Text, unit, phase, columns, level.
    let arrays = [
        (
            "raid10-10k?level=0&disks=3&stripe_unit=17920&offset=63s&cache.size=128M",
            17_920,
            3_584,
            3,
            "0",
        ),
        (
            "raid10-10k?disks=8&stripe_unit=256K&offset=1M&limit.drive_iops=150",
            262_144,
            0,
            4,
            "10",
        ),
        (
            "raid5-7k2?disks=7&stripe_unit=4K&offset=512&drift_percent_per_hour=200",
            4_096,
            3_584,
            7,
            "5",
        ),
    ];
    for (text, unit, phase, columns, level) in arrays {
        let spec = ArraySpec::bundled(&format!("{text}&size=0&seed=3")).unwrap();
        let found = probed(&spec, 4)
            .outcome
            .unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
        assert_eq!(
            (found.unit_bytes, found.phase_bytes, found.columns),
            (unit, phase, columns),
            "{text}"
        );
        assert!(
            found.layouts.iter().any(|one| one.level == level),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn the_channels_of_slow_flash_are_not_taken_for_disks() {
    for (channels, page, read) in [(8, "16K", "1200us"), (4, "64K", "1500us")] {
        let text = format!(
            "sata-ssd?size=0&ssd.channels={channels}&ssd.page_size={page}&ssd.read={read}&cache.size=0"
        );
        let spec = ArraySpec::bundled(&text).unwrap();
        match probed(&spec, 5).outcome {
            Ok(found) => {
                assert_eq!(found.level(), None, "{text}: {found:?}");
                assert_eq!(found.layouts[0].level, "flash", "{text}: {found:?}");
            }
            Err(refusal) => panic!("{text}: {refusal:?}"),
        }
    }
}

#[test]
fn a_part_of_the_period_is_no_mirror() {
    // Half of the period of a RAID 0, a tenth of that of a RAID 6: each column lies on several
    // disks, as that of a mirror does.
    let arrays = [
        (
            "raid5-7k2?level=0&disks=18&stripe_unit=524288&offset=2222080&seed=238569124229153&mirror_read=hash&disk.scheduling=blend&disk.rotation_weight=0.1&disk.read_ahead=256K&disk.queue_depth=16&disk.cylinders=49585&disk.occupancy=234us&disk.zones=0&allocation_unit=4K",
            238_569_124_229_147,
            "0",
        ),
        (
            "mssqltips-2127?level=6&disks=12&parity_rotation=right-symmetric&stripe_unit=253952&offset=325632&seed=219009066741166&mirror_read=nearest&disk.scheduling=first-come&disk.rotation_weight=0.3&disk.read_ahead=1M&disk.queue_depth=32&disk.cylinders=58630&disk.occupancy=59us&disk.zones=24",
            219_009_066_741_160,
            "6",
        ),
    ];
    for (text, seed, level) in arrays {
        let spec = ArraySpec::bundled(&format!("{text}&size=0")).unwrap();
        let found = probed(&spec, seed)
            .outcome
            .unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
        assert_eq!(found.unit_bytes, spec.stripe_unit_bytes, "{text}");
        assert_eq!(u64::from(found.columns), spec.disks, "{text}");
        let is_listed = found.layouts.iter().any(|one| one.level == level);
        assert!(is_listed, "{text}: {:?}", found.layouts);
    }
}

#[test]
fn arrays_are_found_beside_other_load() {
    let load = OtherLoad {
        per_second: 150.0,
        bytes: 8192,
        writes: 0.3,
    };
    for text in [
        "disk-15k?level=0&disks=6&stripe_unit=16K&offset=63s&disk.scheduling=first-come",
        "raid10-10k?level=5&disks=5&stripe_unit=64K&offset=1M&controller.parity_rotation=left-asymmetric",
    ] {
        let spec = ArraySpec::bundled(&format!("{text}&size=0&seed=3")).unwrap();
        let mut array = Simulated::new(&spec).with_load(load);
        let found = probe(&mut array, &Limits::default(), &mut |_| {});
        let found = found
            .outcome
            .unwrap_or_else(|refusal| panic!("{text}: {refusal:?}"));
        let unit = spec.stripe_unit_bytes;
        let phase = (unit - spec.offset_bytes % unit) % unit;
        assert_eq!(
            (found.unit_bytes, found.phase_bytes),
            (unit, phase),
            "{text}"
        );
        assert_eq!(u64::from(found.columns), spec.disks, "{text}");
    }
}

#[test]
fn nothing_is_found_where_there_are_no_stripes() {
    for (text, code) in [
        ("disk-7k2?size=0&disk.scheduling=first-come", "no-pattern"),
        ("nvme?size=0", "too-fast"),
        ("sata-ssd?level=0&disks=4&stripe_unit=64K", "too-fast"),
    ] {
        let spec = ArraySpec::bundled(text).unwrap();
        let refusal = probed(&spec, 1).outcome.unwrap_err();
        assert_eq!(refusal.code, code, "{text}: {refusal:?}");
    }
}

#[test]
fn of_a_level_6_all_layouts_are_listed_that_fit() {
    for (disks, seed) in [(4, 1), (6, 2)] {
        let text = format!("raid5-7k2?level=6&disks={disks}&stripe_unit=64K&offset=63s");
        let spec = ArraySpec::bundled(&text).unwrap();
        let found = probed(&spec, seed).outcome.unwrap();
        assert_eq!((found.unit_bytes, found.phase_bytes), (65_536, 33_280));
        assert_eq!(u64::from(found.columns), disks);
        let six = |one: &Consistent| one.level == "6" && u64::from(one.disks) == disks;
        assert!(found.layouts.iter().any(six), "{:?}", found.layouts);
        assert_eq!(found.period_bytes, 65_536 * disks * (disks - 2));
    }
}

#[test]
fn a_level_6_of_an_odd_number_of_disks_is_found() {
    // Two in five of its units have the one half a period further on their own disk, and units of
    // 1 MiB repeat after 35 MiB, more than one unit for each of the most disks.
    let text = "raid10-10k?level=6&disks=7&stripe_unit=1M";
    let spec = ArraySpec::bundled(text).unwrap();
    let is_found = |seed: &u64| match probed(&spec, *seed).outcome {
        Ok(found) => {
            assert_eq!((found.unit_bytes, found.columns), (1 << 20, 7), "{seed}");
            assert_eq!(found.level(), Some("6"), "{seed}: {:?}", found.layouts);
            true
        }
        Err(_) => false,
    };
    assert!((1..=3).filter(is_found).nth(1).is_some());
}

#[test]
fn a_target_that_is_too_small_is_told_how_large_it_must_be() {
    let spec = ArraySpec::bundled("raid10-10k?size=100M").unwrap();
    let refusal = probed(&spec, 1).outcome.unwrap_err();
    assert_eq!(refusal.code, "too-small");
    assert!(refusal.reason.contains("256 MiB"), "{}", refusal.reason);
}

#[test]
fn time_that_is_over_is_no_answer() {
    let spec = ArraySpec::bundled("raid10-10k").unwrap();
    let limits = Limits {
        time_ns_max: 1_000_000_000,
        ..Limits::default()
    };
    let probed = probe(&mut Simulated::new(&spec), &limits, &mut |_| {});
    assert_eq!(probed.stop_reason, Some(StopReason::OutOfTime));
    assert_eq!(probed.outcome.unwrap_err().code, "too-few-reads");
    assert!(probed.reads > 0);
}

#[test]
fn one_seed_gives_one_answer() {
    let spec = ArraySpec::bundled("raid5-7k2?offset=63s&disks=3").unwrap();
    let (a, b) = (probed(&spec, 9), probed(&spec, 9));
    assert_eq!((a.outcome, a.reads), (b.outcome, b.reads));
}
