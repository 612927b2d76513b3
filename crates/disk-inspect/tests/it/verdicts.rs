//! Verdicts on volumes whose place is known.

use stripewise_disk_inspect::verdict::{
    Boundary, CheckOutcome, Judgement, LayoutVerdict, Nature, Place, Subject, Suspect, UnitSource,
    Usage, judge,
};

const K: u64 = 1024;
const SECTOR_63: u64 = 63 * 512;

fn place(offset_bytes: u64, sector: u32, nature: Nature) -> Place {
    Place {
        disk: "sda".to_owned(),
        offset_bytes,
        logical_sector_bytes: Some(512),
        physical_sector_bytes: Some(sector),
        alignment_offset_bytes: 0,
        nature,
        may_hide_pages: false,
        ends: None,
        distrusted: None,
    }
}

fn boundary(offset_bytes: u64, unit_bytes: u64) -> Boundary {
    Boundary {
        first_unit_bytes: 0,
        layer: "md0".to_owned(),
        level: Some("raid5".to_owned()),
        unit_bytes,
        source: UnitSource::Array,
        offset_bytes,
        volume_bytes: 0,
        piece_bytes: None,
        full_stripe_bytes: unit_bytes.checked_mul(3),
        parity: true,
    }
}

fn subject(places: Vec<Place>, boundaries: Vec<Boundary>) -> Subject {
    Subject {
        boundaries,
        places,
        usage: Usage::FileSystem,
        ..Subject::default()
    }
}

fn judged(subject: &Subject) -> Judgement {
    judge(subject, &[8 * K, 64 * K])
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn each_verdict_has_its_rule_and_its_exit_code() {
    let single = |offset, sector| subject(vec![place(offset, sector, Nature::Single)], vec![]);
    let hidden = |offset| subject(vec![place(offset, 512, Nature::MayBeArray)], vec![]);
    let striped = |offset, unit| {
        subject(
            vec![place(offset, 512, Nature::MayBeArray)],
            vec![boundary(offset, unit)],
        )
    };
    for (name, subject, verdict, finding) in [
        (
            "512n at 63s",
            single(SECTOR_63, 512),
            LayoutVerdict::NotStriped,
            false,
        ),
        (
            "512e at 63s",
            single(SECTOR_63, 4096),
            LayoutVerdict::SectorSplit,
            true,
        ),
        (
            "512e at 1M",
            single(1 << 20, 4096),
            LayoutVerdict::NotStriped,
            false,
        ),
        (
            "unknown at 63s",
            hidden(SECTOR_63),
            LayoutVerdict::Suspect(512),
            true,
        ),
        (
            "unknown at 36K",
            hidden(36 * K),
            LayoutVerdict::Suspect(4 * K),
            true,
        ),
        (
            "unknown at 32K",
            hidden(32 * K),
            LayoutVerdict::Suspect(32 * K),
            true,
        ),
        (
            "unknown at 1M",
            hidden(1 << 20),
            LayoutVerdict::UnknownStripeUnit(Some(1 << 20)),
            false,
        ),
        (
            "unknown at 64K",
            hidden(64 * K),
            LayoutVerdict::UnknownStripeUnit(Some(64 * K)),
            false,
        ),
        (
            "unknown at 0",
            hidden(0),
            LayoutVerdict::UnknownStripeUnit(None),
            false,
        ),
        (
            "63s on 64K",
            striped(SECTOR_63, 64 * K),
            LayoutVerdict::SplitsAbove(512),
            true,
        ),
        (
            "36K on 64K",
            striped(36 * K, 64 * K),
            LayoutVerdict::SplitsAbove(4 * K),
            true,
        ),
        (
            "64K on 64K",
            striped(64 * K, 64 * K),
            LayoutVerdict::Aligned,
            false,
        ),
        (
            "64K on 256K",
            striped(64 * K, 256 * K),
            LayoutVerdict::SplitsAbove(64 * K),
            false,
        ),
        (
            "32K on 256K",
            striped(32 * K, 256 * K),
            LayoutVerdict::SplitsAbove(32 * K),
            true,
        ),
        // Operations larger than the unit always cross; that is no misalignment.
        (
            "1M on 16K",
            striped(1 << 20, 16 * K),
            LayoutVerdict::Aligned,
            false,
        ),
        (
            "8K on 16K",
            striped(8 * K, 16 * K),
            LayoutVerdict::SplitsAbove(8 * K),
            true,
        ),
        (
            "64K on 192K",
            striped(64 * K, 192 * K),
            LayoutVerdict::SplitsAbove(64 * K),
            false,
        ),
    ] {
        let found = judged(&subject);
        assert_eq!((found.verdict, found.finding), (verdict, finding), "{name}");
        assert_eq!(
            found
                .checks
                .iter()
                .any(|check| check.result == CheckOutcome::Finding),
            finding,
            "{name}: {:?}",
            found.checks
        );
    }
}

/// A case of [`check_suspect`]: name, disks, boundaries above them, requested sizes, and the
/// largest power of two in the offset if that makes it suspect.
type SuspectCase<'a> = (&'a str, Vec<Place>, Vec<Boundary>, &'a [u64], Option<u64>);

fn check_suspect<'a>(cases: impl IntoIterator<Item = SuspectCase<'a>>) {
    for (name, places, boundaries, sizes, suspect) in cases {
        let subject = subject(places, boundaries);
        let found = judge(&subject, sizes);
        let is_suspect = match found.verdict {
            LayoutVerdict::Suspect(bytes) => Some(bytes),
            _ => None,
        };
        assert_eq!(is_suspect, suspect, "{name}: {:?}", found.verdict);
        assert_eq!(found.finding, suspect.is_some(), "{name}");
        let check = found
            .checks
            .iter()
            .find(|check| check.name == "suspect-offset");
        assert_eq!(check.is_some(), suspect.is_some(), "{name}");
        if let Some(check) = check {
            assert_eq!(check.result, CheckOutcome::Finding);
            assert!(check.text.contains("`stripewise align`"), "{}", check.text);
        }
    }
}

/// Flash at an offset: its pages may be larger than its sectors.
fn flash(offset: u64) -> Place {
    Place {
        may_hide_pages: true,
        ..place(offset, 512, Nature::Single)
    }
}

/// What may be an array, at an offset.
fn hidden(offset: u64) -> Place {
    place(offset, 512, Nature::MayBeArray)
}

#[test]
fn an_offset_over_what_is_not_known_is_suspect_unless_harm_is_excluded() {
    check_suspect([
        // One rotating disk of 512-byte sectors: the only thing that is silent at 63.
        (
            "rotating",
            vec![place(SECTOR_63, 512, Nature::Single)],
            vec![],
            &[64 * K][..],
            None,
        ),
        (
            "flash at 63s",
            vec![flash(SECTOR_63)],
            vec![],
            &[64 * K],
            Some(512),
        ),
        ("flash at 36K", vec![flash(36 * K)], vec![], &[64 * K], None),
        (
            "array at 36K for 4K",
            vec![hidden(36 * K)],
            vec![],
            &[4 * K],
            None,
        ),
        (
            "array at 64K for 256K",
            vec![hidden(64 * K)],
            vec![],
            &[256 * K],
            Some(64 * K),
        ),
        ("array at 0", vec![hidden(0)], vec![], &[64 * K], None),
    ]);
}

#[test]
fn what_lies_above_or_is_known_decides_what_is_suspect() {
    let beside = || Boundary {
        layer: "sda".to_owned(),
        ..boundary(1 << 20, 64 * K)
    };
    check_suspect([
        // One of two disks that may be arrays is enough, also below an array that is
        // aligned itself.
        (
            "the second",
            vec![hidden(1 << 20), hidden(SECTOR_63)],
            vec![],
            &[64 * K][..],
            Some(512),
        ),
        (
            "below md",
            vec![hidden(SECTOR_63)],
            vec![boundary(0, 64 * K)],
            &[64 * K],
            Some(512),
        ),
        // Pieces of 16K arrive, which no unit cuts that starts at a multiple of 16K.
        (
            "small pieces",
            vec![hidden(48 * K)],
            vec![boundary(0, 16 * K)],
            &[64 * K],
            None,
        ),
        // The stripe unit of that very disk is known.
        (
            "known",
            vec![hidden(1 << 20)],
            vec![beside()],
            &[64 * K],
            None,
        ),
        // The jumper for old systems: byte 0 as the drive sees it.
        (
            "shifted",
            vec![Place {
                alignment_offset_bytes: 3584,
                ..flash(SECTOR_63)
            }],
            vec![],
            &[64 * K],
            None,
        ),
    ]);
}

#[test]
fn an_empty_partition_is_suspect_too_but_none_whose_place_does_not_matter() {
    for (usage, finding) in [
        (Usage::FileSystem, true),
        (Usage::Other, true),
        (Usage::Unused, true),
        (Usage::Unknown, true),
        (Usage::Exempt, false),
    ] {
        let mut subject = subject(vec![place(SECTOR_63, 512, Nature::MayBeArray)], vec![]);
        subject.usage = usage;
        let found = judged(&subject);
        assert_eq!(found.verdict, LayoutVerdict::Suspect(512), "{usage:?}");
        assert_eq!(found.finding, finding, "{usage:?}");
    }
}

#[test]
fn an_empty_partition_counts_and_what_is_exempt_never_does() {
    for (usage, finding) in [
        (Usage::Exempt, false),
        (Usage::Unused, true),
        (Usage::Unknown, true),
    ] {
        for (sector, boundaries, verdict) in [
            (4096, vec![], LayoutVerdict::SectorSplit),
            (
                4096,
                vec![boundary(SECTOR_63, 64 * K)],
                LayoutVerdict::SectorSplit,
            ),
            (
                512,
                vec![boundary(SECTOR_63, 64 * K)],
                LayoutVerdict::SplitsAbove(512),
            ),
        ] {
            let mut subject = subject(vec![place(SECTOR_63, sector, Nature::Single)], boundaries);
            subject.usage = usage;
            let found = judged(&subject);
            assert_eq!(
                (found.verdict, found.finding),
                (verdict, finding),
                "{usage:?}"
            );
        }
    }
    // A member of an array that is not running has no file system, but is used.
    let mut other = subject(vec![place(SECTOR_63, 4096, Nature::Single)], vec![]);
    other.usage = Usage::Other;
    assert!(judged(&other).finding);
    let mut other = subject(vec![], vec![boundary(SECTOR_63, 64 * K)]);
    other.usage = Usage::Other;
    assert!(!judged(&other).finding);
}

#[test]
fn a_disk_whose_sectors_are_shifted_is_measured_from_there() {
    let mut shifted = place(SECTOR_63, 4096, Nature::Single);
    // Drives with the jumper for old systems: sector 63 is on a boundary.
    shifted.alignment_offset_bytes = 3584;
    let found = judged(&subject(vec![shifted.clone()], vec![]));
    assert_eq!(
        (found.verdict, found.finding),
        (LayoutVerdict::NotStriped, false)
    );
    shifted.offset_bytes = 1 << 20;
    let found = judged(&subject(vec![shifted], vec![]));
    assert_eq!(
        (found.verdict, found.finding),
        (LayoutVerdict::SectorSplit, true)
    );
    assert!(
        found.checks[0]
            .text
            .contains("(1048576 - 3584) mod 4096 = 512"),
        "{}",
        found.checks[0].text
    );
}

#[test]
fn the_worst_of_several_boundaries_decides_and_pieces_keep_their_phase() {
    let mut below = boundary(1 << 20, 64 * K);
    // A later piece of the volume: byte 4 MiB + 4 KiB of it lies at 1 MiB.
    below.volume_bytes = (4 << 20) + 4 * K;
    assert_eq!(below.phase_bytes(), 60 * K);
    let subject = subject(vec![], vec![boundary(0, 64 * K), below]);
    assert_eq!(judged(&subject).verdict, LayoutVerdict::SplitsAbove(4 * K));
}

#[test]
fn stripes_over_stripes_are_judged_by_the_pieces_that_arrive() {
    // The layers above and below, and where the first piece is there and in the volume; verdict and
    // finding for 8K, 64K and 1M.
    for (above, below, at, lead, verdict, finding) in [
        // LVM stripes of 16K over md chunks of 64K: the second array has the volume's
        // byte 16K at its data's start, and nothing is wrong.
        (
            16 * K,
            64 * K,
            1024 * K,
            16 * K,
            LayoutVerdict::Aligned,
            false,
        ),
        (
            64 * K,
            256 * K,
            1024 * K,
            64 * K,
            LayoutVerdict::Aligned,
            false,
        ),
        // Pieces as large as, or larger than, the chunks below.
        (
            256 * K,
            64 * K,
            1024 * K,
            256 * K,
            LayoutVerdict::Aligned,
            false,
        ),
        // Extents that start at 192K, as old LVM had it: whole units of 64K.
        (64 * K, 256 * K, 192 * K, 0, LayoutVerdict::Aligned, false),
        // The arrays lie on a partition at 63 sectors: every layer's units are cut.
        (
            64 * K,
            64 * K,
            63 * 512,
            0,
            LayoutVerdict::SplitsAbove(512),
            true,
        ),
        (
            16 * K,
            64 * K,
            36 * K,
            0,
            LayoutVerdict::SplitsAbove(4 * K),
            true,
        ),
        // 96K pieces on 64K: what both have in common is 32K.
        (96 * K, 64 * K, 32 * K, 0, LayoutVerdict::Aligned, false),
    ] {
        let lower = Boundary {
            volume_bytes: lead,
            piece_bytes: Some(above),
            ..boundary(at, below)
        };
        let place = place(at, 512, Nature::Single);
        let subject = subject(vec![place], vec![boundary(0, above), lower]);
        let found = judge(&subject, &[8 * K, 64 * K, 1024 * K]);
        let context = format!("{above} over {below} at {at}: {:?}", found.checks);
        assert_eq!(
            (found.verdict, found.finding),
            (verdict, finding),
            "{context}"
        );
    }
}

#[test]
fn a_unit_that_is_no_power_of_two_is_judged_by_what_both_have_in_common() {
    // 64K on 96K cross once in three from any multiple of 32K, including 0: that is reported, and
    // the rule is the same for all units.
    for (offset, sizes, splits_above, finding, excused) in [
        (1 << 20, &[8 * K, 64 * K][..], Some(32 * K), true, true),
        (1 << 20, &[8 * K, 32 * K], Some(32 * K), false, false),
        (96 * K, &[8 * K, 64 * K], None, false, false),
        (1 << 20, &[96 * K], Some(32 * K), true, false),
        (36 * K, &[8 * K, 64 * K], Some(4 * K), true, false),
        (SECTOR_63, &[8 * K], Some(512), true, false),
        // No size of an operation that is not a power of two is a finding below it.
        (32 * K, &[12 * K], Some(32 * K), false, false),
    ] {
        let subject = subject(
            vec![place(offset, 512, Nature::MayBeArray)],
            vec![Boundary {
                layer: "sda".to_owned(),
                ..boundary(offset, 96 * K)
            }],
        );
        let found = judge(&subject, sizes);
        let verdict = splits_above.map_or(LayoutVerdict::Aligned, LayoutVerdict::SplitsAbove);
        assert_eq!(
            (found.verdict, found.finding),
            (verdict, finding),
            "{offset} {sizes:?}"
        );
        let mut checks = found.checks.iter();
        let check = checks.find(|check| check.name == "stripe-unit").unwrap();
        assert_eq!(check.result == CheckOutcome::Finding, finding);
        let says = check.text.contains("no more often than from a boundary");
        assert_eq!(says, excused, "{offset} {sizes:?}: {}", check.text);
    }
}

#[test]
fn costs_are_told_in_the_words_of_the_law() {
    let words = |offset: u64, unit: u64| {
        let subject = subject(vec![], vec![boundary(offset, unit)]);
        let found = judged(&subject);
        found
            .costs
            .iter()
            .map(|cost| cost.words())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        words(SECTOR_63, 64 * K),
        [
            "8K: 1 in 8 operations touches two disks (none if aligned)",
            "64K: every operation touches two disks (none if aligned)"
        ]
    );
    assert_eq!(
        words(64 * K, 256 * K),
        [
            "8K: no operation touches two disks",
            "64K: no operation touches two disks"
        ]
    );
    assert_eq!(
        words(SECTOR_63, 16 * K)[1],
        "64K: an operation touches 5 stripe units (4 if aligned)"
    );
}

#[test]
fn large_sectors_partial_pages_and_dynamic_disks_are_warned_of() {
    let mut subject = subject(
        vec![place(1 << 20, 16_384, Nature::Single)],
        vec![boundary(SECTOR_63, 64 * K)],
    );
    subject.suspect = Some(Suspect::DynamicDisk);
    let found = judged(&subject);
    for name in ["sector-size", "parity-page", "dynamic-disk"] {
        let check = found.checks.iter().find(|check| check.name == name);
        assert_eq!(
            check.map(|check| check.result),
            Some(CheckOutcome::Warning),
            "{name}"
        );
    }
    assert!(
        found
            .checks
            .iter()
            .any(|check| check.text.contains("SQL Server"))
    );
}

#[test]
fn numbers_at_the_edge_do_no_harm() {
    for offset in [0, 1, u64::MAX] {
        for unit in [1, 3, u64::MAX] {
            let mut one = boundary(offset, unit);
            one.volume_bytes = u64::MAX;
            one.full_stripe_bytes = Some(u64::MAX);
            let mut far = place(offset, u32::MAX, Nature::MayBeArray);
            far.alignment_offset_bytes = u64::MAX;
            let found = judge(&subject(vec![far], vec![one]), &[1, u64::MAX]);
            assert_eq!(found.costs.len(), 2);
        }
    }
}

#[test]
fn a_volume_is_placed_by_where_units_begin() {
    // Units of 64K that begin 512 bytes behind byte 0 of the disk.
    let lies = |offset_bytes| Boundary {
        first_unit_bytes: 512,
        source: UnitSource::Measured,
        ..boundary(offset_bytes, 64 << 10)
    };
    assert_eq!(lies(512).phase_bytes(), 0);
    assert_eq!(lies(512 + (1 << 20)).phase_bytes(), 0);
    assert_eq!(lies(1 << 20).phase_bytes(), (64 << 10) - 512);
    assert_eq!(boundary(1 << 20, 64 << 10).phase_bytes(), 0);
}
