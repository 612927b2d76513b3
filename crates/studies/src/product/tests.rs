//! Bundled products have sources; errors name the mistake in a file.

use super::*;

/// `2026-11-27`
fn is_day(text: &str) -> bool {
    let is_digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [4, 2, 2] && parts.into_iter().all(is_digits)
}

#[test]
fn every_bundled_product_reads_and_every_threshold_has_its_source() {
    let mut before = "";
    for (name, text) in BUNDLED {
        assert!(before < name, "{name} is out of order");
        before = name;
        let product: Product = text
            .parse()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(product.name, name);
        assert_eq!(product.refuse_unused(), Ok(()), "{name}");
        assert!(!product.about.is_empty());
        for one in product
            .requirements
            .iter()
            .filter(|one| one.limit.is_some())
        {
            let source = &one.source;
            assert!(source.url.starts_with("https://"), "{name} {}", one.name);
            assert!(is_day(&source.date), "{name} {}: date", one.name);
            assert!(
                source.quotation.len() > 10,
                "{name} {}: quotation",
                one.name
            );
            assert!(source.confidence.is_some_and(|one| one != Confidence::Own));
            assert!(
                !one.miss.is_empty() && !source.name.is_empty(),
                "{name} {}",
                one.name
            );
        }
        for other in &product.others {
            let of = format!("{name}: {}", other.says);
            assert!(other.url.starts_with("https://"), "{of}");
            assert!(is_day(&other.date), "{of}: date");
            assert!(other.quotation.len() > 10, "{of}: quotation");
            assert!(
                other.confidence.is_some_and(|one| one != Confidence::Own),
                "{of}"
            );
            assert!(!other.says.is_empty() && !other.source.is_empty(), "{name}");
        }
    }
}

const SMALL: &str = r#"
name = "small"
about = "a test"
[[file]]
name = "data"
size = "64M"
[[job]]
name = "reads"
file = "data"
options = { read = true, block = "8K", outstanding = 4 }
[[requirement]]
name = "latency"
job = "reads"
metric = "p99"
below = "10ms"
"#;

#[test]
fn a_file_of_ones_own_needs_no_source() {
    let product: Product = SMALL.parse().expect("it is sound");
    assert_eq!(product.jobs[0].workload.outstanding, 4);
    let limit = product.requirements[0].limit.expect("it has one");
    assert_eq!(limit.threshold_ns(), 9_999_999);
    assert_eq!(limit.text(product.requirements[0].metric), "p99 < 10 ms");
}

#[test]
fn a_rate_is_a_number_or_a_text() {
    for value in ["1900", "\"1900\"", "1900.0", "\"1,900\""] {
        let text = SMALL
            .replace("metric = \"p99\"", "metric = \"iops\"")
            .replace("below = \"10ms\"", &format!("at-least = {value}"));
        let product: Product = text.parse().expect(value);
        let required = &product.requirements[0];
        let limit = required.limit.expect("it has one");
        assert_eq!(limit.text(required.metric), ">= 1,900 IOPS", "{value}");
    }
}

#[test]
fn a_size_is_a_text_or_a_number_of_bytes() {
    let text = SMALL.replace("size = \"64M\"", "size = 67108864");
    let product: Product = text.parse().expect("it is a number of bytes");
    assert_eq!(product.files[0].size_bytes(), 64 << 20);
}

#[test]
fn mistakes_are_named() {
    let cases = [
        (
            "metric = \"p99\"",
            "metric = \"p98\"",
            "unknown variant `p98`",
        ),
        (
            "below = \"10ms\"",
            "at-least = \"10ms\"",
            "no limit of this kind",
        ),
        ("below = \"10ms\"", "below = \"0ms\"", "out of range"),
        ("below = \"10ms\"", "below = \"10\"", "`10` has no unit"),
        (
            "below = \"10ms\"",
            "below = \"10ms\"\nat-most = \"1ms\"",
            "two limits",
        ),
        ("job = \"reads\"", "job = \"writes\"", "no job `writes`"),
        ("file = \"data\"", "file = \"log\"", "no file `log`"),
        ("outstanding = 4", "outstanding = 0", "outstanding"),
        ("block = \"8K\"", "blok = \"8K\"", "blok"),
        ("about = \"a test\"", "abuot = \"a test\"", "abuot"),
        (
            "below =",
            "operations = \"commits\"\nbelow =",
            "has no commits",
        ),
        (
            "read = true, block = \"8K\", outstanding = 4 }\n[[requirement]]",
            "write = true, sync = \"fdatasync:8\", rate = 50 }\n[[requirement]]\noperations = \"commits\"",
            "itself waits within a commit",
        ),
        (
            "metric = \"p99\"\nbelow = \"10ms\"",
            "metric = \"mib-per-s\"\noperations = \"commits\"\nat-least = \"1\"",
            "no bytes of commits",
        ),
        ("size = \"64M\"", "size = \"64X\"", "64X"),
        (
            "size = \"64M\"",
            "size = \"4K\"",
            "a block of 8K does not fit into file `data` of 4K",
        ),
        ("name = \"latency\"", "name = \"\"", "not empty"),
    ];
    for (from, to, expected) in cases {
        let text = SMALL.replacen(from, to, 1);
        assert_ne!(text, SMALL);
        let read = text.parse::<Product>();
        let refused = read.and_then(|product| product.refuse_missing_commits());
        let error = refused.expect_err(to);
        assert!(error.to_string().contains(expected), "{to}: {error}");
    }
    let error = "name = \"x\"\nabout = \"y\""
        .parse::<Product>()
        .unwrap_err();
    assert!(error.to_string().contains("needs a name, a job"), "{error}");
}

#[test]
fn what_has_no_effect_is_refused_and_a_wrong_key_has_its_nearest() {
    let cases = [
        (
            "outstanding = 4",
            "duration = \"5s\"",
            "job `reads`: duration has no effect",
        ),
        ("outstanding = 4", "ramp = \"5s\"", "ramp has no effect"),
        ("outstanding = 4", "seed = 7", "seed has no effect"),
        ("outstanding = 4", "in-turn = true", "in-turn has no effect"),
        (
            "[[job]]",
            "[[file]]\nname = \"more\"\nsize = \"64M\"\n[[job]]",
            "file `more`: neither a job nor [commit] uses it",
        ),
        (
            "below = \"10ms\"",
            "below = \"10ms\"\nper-processor = true",
            "per-processor applies to a required rate",
        ),
    ];
    for (from, to, expected) in cases {
        let text = SMALL.replacen(from, to, 1);
        let product: Product = text.parse().expect(to);
        let error = product.refuse_unused().expect_err(to);
        assert!(error.to_string().contains(expected), "{to}: {error}");
    }
    let misspelt = SMALL.replacen("metric =", "metrc =", 1);
    let error = misspelt.parse::<Product>().expect_err("a wrong key");
    assert_eq!(error.hint().to_string(), "did you mean `metric`?");
    let misspelt = SMALL.replacen("\"p99\"", "\"p98\"", 1);
    let error = misspelt.parse::<Product>().expect_err("a wrong value");
    assert_eq!(error.hint().to_string(), "did you mean `p99`?");
    let pasted = SMALL.replacen("\"p99\"", "\u{201c}p99\u{201d}", 1);
    let error = pasted.parse::<Product>().expect_err("pasted marks");
    assert!(error.hint().to_string().contains("U+201C"), "{error}");
}

#[test]
fn mistakes_among_commit_methods_are_named() {
    let text = format!(
        "{SMALL}[commit]\nfiles = [\"data\"]\ngroups = [8]\npage = \"8K\"\n\
         guard = \"pages\"\n[commit.methods]\nfdatasync = \"sync=data\"\n"
    );
    let commit = text.parse::<Product>().expect("it is sound").commit;
    let section = commit.expect("it has one").section;
    assert_eq!((section.block_bytes, section.file_bytes), (8_192, 64 << 20));
    assert_eq!(section.guard, Some((8_192, "pages".to_owned())));
    let cases = [
        ("[\"data\"]", "[\"log\"]", "no file `log`"),
        ("[\"data\"]", "[\"data\", \"data\"]", "in another state"),
        ("[\"data\"]", "[]", "in another state"),
        ("groups = [8]", "groups = [64, 8]", "in ascending order"),
        ("groups = [8]", "groups = [1]", "in ascending order"),
        ("groups = [8]", "committers = []", "in ascending order"),
        ("groups = [8]", "committers = [65]", "up to 64"),
        ("page = \"8K\"\n", "", "belong together"),
        ("guard = \"pages\"\n", "", "belong together"),
        ("fdatasync =", "fdatasink =", "fdatasink"),
        ("\"sync=data\"", "\"\"", "on one line"),
        ("groups = [8]", "block = \"0\"", "sync=data"),
    ];
    for (from, to, expected) in cases {
        let text = text.replacen(from, to, 1);
        let error = text.parse::<Product>().expect_err(to);
        assert!(error.to_string().contains(expected), "{to}: {error}");
    }
}
