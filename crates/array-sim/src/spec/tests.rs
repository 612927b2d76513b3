use super::*;
use crate::Simulate;

const FILE: &str = "level = \"10\"\ndisks = 4\n\n[disk]\nrpm = 10000\n";

fn error(text: &str) -> SpecError {
    ArraySpec::parse(text, "x.toml").expect_err(text)
}

#[test]
fn every_bundled_array_parses_builds_and_says_where_it_comes_from() {
    assert_eq!(bundled().len(), 17);
    for known in bundled() {
        let spec = known.spec();
        assert!(
            !spec.title.is_empty() && !spec.source.is_empty(),
            "{}",
            known.name
        );
        assert!(
            known.text.starts_with("# "),
            "{} names its source first",
            known.name
        );
        let array = spec.build();
        assert!(array.size_bytes() > 1 << 30, "{}", known.name);
        assert_eq!(array.facts(), spec.facts());
    }
}

#[test]
fn a_description_reads_back_to_the_same_array() {
    for known in bundled() {
        let spec = known.spec();
        let text = spec.describe();
        let again = ArraySpec::parse(&text, known.name).unwrap_or_else(|e| panic!("{e}\n{text}"));
        // The section of the other kind of drive is not written.
        assert_eq!(again.describe(), text);
        let (a, b) = (spec.build(), again.build());
        assert_eq!(a.size_bytes(), b.size_bytes());
    }
    let mut spec = ArraySpec {
        title: "with \"quotes\"\nand a line".to_owned(),
        ..ArraySpec::default()
    };
    spec.disk.rotation_weight = 0.1;
    spec.disk.seek_track_ns = 123_457;
    assert_eq!(ArraySpec::parse(&spec.describe(), "x").unwrap(), spec);
}

#[test]
fn overrides_replace_what_the_file_says() {
    let read = |_: &str| Ok(FILE.to_owned());
    let spec = ArraySpec::from_target(
        "my/raid.toml?offset=63s&stripe_unit=256K&disks=6&level=0&seed=7&rpm=15000&cache=1M&allocation_unit=64K&file_offset=4K",
        read,
    )
    .unwrap();
    let facts = spec.facts();
    assert_eq!(facts.partition_offset_bytes, 32_256);
    assert_eq!(facts.stripe_unit_bytes, 256 << 10);
    assert_eq!(facts.stripe_width_bytes, 6 * (256 << 10));
    assert_eq!(
        facts.file_offset_bytes,
        64 << 10,
        "rounded up to an allocation unit"
    );
    assert_eq!(
        (spec.seed, spec.disk.rpm, spec.cache.size_bytes),
        (7, 15_000, 1 << 20)
    );
    let named = ArraySpec::bundled("raid10-10k?level=raid5").unwrap();
    assert_eq!(named.level, crate::layout::Level::Raid5);
    let aligned = ArraySpec::from_target("raid10-10k?size=10G", |_| unreachable!()).unwrap();
    assert_eq!(aligned.build().size_bytes(), 10 << 30);
}

/// The text of a file, and the expected error: line, key, words of the problem, words of the hint.
type Bad = (
    &'static str,
    Option<usize>,
    &'static str,
    &'static str,
    &'static str,
);

/// Lines appended to a good file of five.
#[rustfmt::skip]
const BAD_LINES: &[Bad] = &[
    ("rmp = 1", Some(6), "disk.rmp", "no such key", "disk.rpm"),
    ("seek_track = \"1s\"", Some(6), "disk.seek_track", "from 0s to 100ms", "seek to"),
    ("seek_track = 0.3", Some(6), "disk.seek_track", "a time with its unit", "seek to"),
    ("cylinders = 0", Some(6), "disk.cylinders", "from 1 to 1000000", "arm"),
    ("heads = \"many\"", Some(6), "disk.heads", "`many` is not a whole number", "tracks"),
    ("scheduling = \"fast\"", Some(6), "disk.scheduling", "blend, first-come", "chooses"),
    ("rotation_weight = nan", Some(6), "disk.rotation_weight", "from 0 to 1", "SATF"),
    ("rotation_weight = [1]", Some(6), "disk.rotation_weight", "a single value", "quotes"),
    ("[raid]\nx = 1", Some(6), "raid", "no such section", "[controller]"),
    ("[ssd]\nchannels = 8", Some(7), "ssd.channels", "other kind", "drive ="),
    ("seek_average = \"90ms\"", Some(6), "disk.seek_average", "rising curve", "typical"),
];

/// Whole files.
#[rustfmt::skip]
const BAD_FILES: &[Bad] = &[
    ("level = \"10\"\ndisks = 5\n", Some(2), "disks", "pairs", "even"),
    ("level = \"6\"\ndisks = 3\n", Some(2), "disks", "at least 4", "RAID 6"),
    ("level = \"5\"\n", None, "disks", "does not have", "at least 3"),
    ("disks = 4\n", None, "level", "does not have", "level ="),
    ("level = \"0\"\ndisks = 1\nstripe_unit = \"1000\"\n", Some(3), "stripe_unit", "multiple", "512"),
    ("level = \"single\"\noffset = \"900G\"\n", Some(2), "offset", "beyond the end", "inside"),
    ("level = \"single\"\nsize = \"900G\"\n", Some(2), "size", "has room for", "smaller"),
    ("level = \"5\"\ndisks = 3\nstripe_unit = \"6K\"\n", Some(3), "stripe_unit", "multiple of 4K", "4K"),
    ("level = \"single\"\n[faults]\nstall = \"2s\"\nstall_interval = \"1s\"\n", Some(3), "faults.stall", "never end", "several"),
    ("level = \"single\"\n[limit]\nburst_operations = 5\n", Some(3), "limit.burst_operations", "without a cap", "limit.iops"),
    ("level = \n", Some(1), "", "", "key = value"),
];

#[test]
fn bad_files_are_refused_with_line_key_range_and_hint() {
    let appended = BAD_LINES
        .iter()
        .map(|bad| (format!("{FILE}{}\n", bad.0), bad));
    let whole = BAD_FILES.iter().map(|bad| (bad.0.to_owned(), bad));
    for (text, &(_, line, key, says, hints)) in appended.chain(whole) {
        let error = error(&text);
        let message = format!("{error}; hint: {}", error.hint());
        assert_eq!(error.line(), line, "{message}");
        assert_eq!(error.key(), key, "{message}");
        assert!(error.to_string().contains(says), "{message}");
        assert!(error.hint().contains(hints), "{message}");
        assert_eq!(error.origin(), "x.toml");
    }
}

#[test]
fn the_first_problem_by_line_is_told() {
    let error = error("level = \"single\"\nwrong = 1\ndisks = 0\n");
    assert_eq!((error.line(), error.key()), (Some(2), "wrong"));
}

#[test]
fn bad_names_and_overrides_say_what_would_be_good() {
    let missing = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    for (target, says, hints) in [
        ("raid11", "no such array", "raid10-10k"),
        ("none.toml", "cannot read", "sim list"),
        ("raid10-10k?offset", "has no value", "key=value"),
        (
            "raid10-10k?ofset=1M",
            "no such key",
            "did you mean `offset`",
        ),
        ("raid10-10k?disks=3", "pairs", "even"),
        ("raid10-10k?disks=two", "whole number", "drives"),
        (
            "nvme?iops=1&burst_operations=5&bandwidth=x",
            "a size from",
            "cap",
        ),
    ] {
        let error = ArraySpec::from_target(target, missing).unwrap_err();
        let message = format!("{error}; hint: {}", error.hint());
        assert!(error.to_string().contains(says), "{message}");
        assert!(error.hint().contains(hints), "{message}");
    }
}

#[test]
fn each_key_refuses_what_lies_outside_its_range_and_is_listed() {
    let listed = keys();
    assert_eq!(listed.len(), keys::KEYS.len());
    for (key, info) in keys::KEYS.iter().zip(&listed) {
        assert!(!info.meaning.is_empty());
        let mut spec = ArraySpec::default();
        let value = key.value(&spec);
        let plain = value.trim_matches('"');
        key.set(&mut spec, plain)
            .unwrap_or_else(|e| panic!("default of {}: {e}", key.path));
        assert_eq!(spec, ArraySpec::default(), "{}", key.path);
        if info.permitted != "text" {
            assert!(key.set(&mut spec, "-99").is_err(), "{}", key.path);
            assert!(key.set(&mut spec, "").is_err(), "{}", key.path);
            assert!(key.set(&mut spec, "1e300").is_err(), "{}", key.path);
        }
    }
}

#[test]
fn the_maps_of_all_drives_together_have_to_fit_into_memory() {
    let map = "nvme?ssd.page_map=true&ssd.page_size=4K";
    let cases = [
        ("&ssd.size=16G", true),
        ("&ssd.size=17G", false),
        ("&level=0&ssd.size=16G&disks=4", true),
        ("&level=0&ssd.size=16G&disks=16", false),
        (
            "&level=0&ssd.size=1M&disks=1024&ssd.pages_per_block=64",
            true,
        ),
        // Small drives with large blocks have much flash, too.
        (
            "&level=0&ssd.size=1M&disks=1024&ssd.pages_per_block=65536",
            false,
        ),
    ];
    for (more, fits) in cases {
        let missing = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let read = ArraySpec::from_target(&format!("{map}{more}"), missing);
        match read {
            Ok(_) => assert!(fits, "{more}"),
            Err(error) => {
                assert!(!fits, "{more}: {error}");
                assert_eq!(error.key(), "ssd.page_map", "{error}");
                let hint = error.hint();
                assert!(hint.contains("smaller ssd.size"), "{hint}");
            }
        }
    }
}
