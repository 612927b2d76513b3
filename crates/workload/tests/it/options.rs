//! From switches to a workload.

use stripewise_workload::{
    Arrivals, BlockSizes, CacheMode, CursorKind, DataPattern, Distribution, Pattern, Rate,
    SyncPolicy, Workload, WorkloadOptions, parse_rate,
};

/// Switches as one line: `read-percent=70 block=8K`.
fn options(line: &str) -> WorkloadOptions {
    let mut options = WorkloadOptions::default();
    for pair in line.split_whitespace() {
        let (name, text) = pair.split_once('=').unwrap_or((pair, "true"));
        options.set(name, text).unwrap();
    }
    options
}

#[test]
fn no_options_are_the_base() {
    let built = options("").build(&Workload::default());
    assert_eq!(built, Ok(Workload::default()));
    let base = Workload {
        pattern: Pattern::Sequential {
            cursor: CursorKind::Shared,
        },
        read_percent: 30,
        ..Workload::default()
    };
    assert_eq!(options("").build(&base), Ok(base));
}

#[test]
fn every_option_reaches_its_field() {
    let line = "read-percent=70 discard-percent=5 stride=64K cursor=shared block=16K threads=4 outstanding=32 \
                duration=1m ramp=5s size=10G base-offset=63s cache=direct-sync sync=fdatasync:8 \
                rate=5000 arrivals=poisson compressible=50% dedupable=10 seed=42";
    let expected = Workload {
        recorded: None,
        read_percent: 70,
        discard_percent: 5,
        pattern: Pattern::Stride {
            stride_bytes: 65_536,
            cursor: CursorKind::Shared,
        },
        block_size_bytes: 16_384,
        threads: 4,
        outstanding: 32,
        in_turn: false,
        block_sizes: BlockSizes::default(),
        duration_ns: 60_000_000_000,
        ramp_ns: 5_000_000_000,
        base_offset_bytes: 32_256,
        size_bytes: Some(10 << 30),
        cache: CacheMode::DirectSync,
        sync: Some(SyncPolicy::fdatasync(8)),
        atomic: false,
        dsync: false,
        poll: false,
        think_time: None,
        rate: Some(Rate {
            iops: 5000.0,
            arrivals: Arrivals::Poisson,
        }),
        data: DataPattern {
            compressible_percent: 50,
            dedupable_percent: 10,
        },
        seed: 42,
    };
    assert_eq!(options(line).build(&Workload::default()), Ok(expected));
}

#[test]
fn choices_of_kind_and_pattern_are_understood() {
    let zipf = Pattern::Random {
        distribution: Distribution::Zipf { theta: 1.0 },
    };
    let own = Pattern::Sequential {
        cursor: CursorKind::Own,
    };
    for (line, read_percent, pattern) in [
        ("read distribution=zipf:1", 100, zipf),
        ("write random distribution=zipf:1", 0, zipf),
        ("read-percent=0 sequential", 0, own),
        ("sequential cursor=own", 100, own),
    ] {
        let workload = options(line).build(&Workload::default()).unwrap();
        assert_eq!(
            (workload.read_percent, workload.pattern),
            (read_percent, pattern)
        );
    }
}

#[test]
fn options_that_exclude_or_need_each_other_are_refused() {
    for (line, message) in [
        ("read write", "read and write exclude each other"),
        (
            "write read-percent=10",
            "write and read-percent exclude each other",
        ),
        (
            "random sequential",
            "random and sequential exclude each other",
        ),
        ("stride=64K random", "random and stride exclude each other"),
        (
            "stride=64K sequential",
            "sequential and stride exclude each other",
        ),
        (
            "cursor=shared",
            "cursor shared applies to sequential and strided positions only",
        ),
        (
            "sequential distribution=uniform",
            "distribution uniform needs random positions",
        ),
        ("arrivals=poisson", "arrivals poisson needs a rate"),
        (
            "read sync=fdatasync",
            "sync fdatasync has no writes to sync",
        ),
        ("threads=4097", "threads 4097 is outside of 1 to 4096"),
    ] {
        let error = options(line).build(&Workload::default()).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn bad_values_and_names_are_refused() {
    for (name, text, message) in [
        ("read-percent", "101", "`101` is not a valid percentage"),
        ("read-percent", "-1", "`-1` is not a valid percentage"),
        ("threads", "4294967296", "`4294967296` is too large"),
        ("threads", "x", "`x` is not a whole number"),
        ("block", "8Q", "`8Q` has an unknown unit (at `Q`)"),
        ("rate", "0", "`0` is not a valid rate"),
        ("rate", "inf", "`inf` is not a valid rate"),
        ("read", "false", "`false` is not a valid value for read"),
        ("blok", "8K", "`blok` is not an option of a workload"),
    ] {
        let error = WorkloadOptions::default().set(name, text).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.hint().is_empty());
    }
    let error = WorkloadOptions::default().set("blok", "8K").unwrap_err();
    assert_eq!(error.hint(), "did you mean `block`?");
    assert_eq!(parse_rate("0.5"), Ok(0.5));
}

#[test]
fn every_name_can_be_set() {
    let text = |name| match name {
        "read" | "write" | "discard" | "random" | "sequential" | "in-turn" | "atomic" | "dsync"
        | "poll" => "true",
        "think-time" => "7ms",
        "distribution" => "uniform",
        "cursor" => "own",
        "cache" => "direct",
        "sync" => "fdatasync",
        "arrivals" => "fixed",
        _ => "7",
    };
    for name in WorkloadOptions::NAMES {
        let mut options = WorkloadOptions::default();
        options.set(name, text(name)).unwrap();
        assert_ne!(options, WorkloadOptions::default(), "{name}");
    }
}

#[test]
fn defaults_fill_what_was_not_said_but_never_contradict() {
    let defaults = options(
        "read-percent=70 distribution=hot:10/90 block=64K sync=fdatasync arrivals=poisson threads=8",
    );
    for (line, expected) in [
        (
            "",
            "read-percent=70 distribution=hot:10/90 block=64K sync=fdatasync threads=8",
        ),
        (
            "block=8K",
            "read-percent=70 distribution=hot:10/90 block=8K sync=fdatasync threads=8",
        ),
        ("read", "read distribution=hot:10/90 block=64K threads=8"),
        (
            "write sequential",
            "write sequential block=64K sync=fdatasync threads=8",
        ),
        (
            "random rate=5",
            "read-percent=70 random distribution=hot:10/90 block=64K sync=fdatasync rate=5 arrivals=poisson threads=8",
        ),
    ] {
        let merged = options(line).or(&defaults);
        assert_eq!(merged, options(expected), "{line}");
        assert!(merged.build(&Workload::default()).is_ok(), "{line}");
    }
    let sequential = options("stride=64K cursor=shared base-offset=63s");
    assert_eq!(
        options("random").or(&sequential),
        options("random base-offset=63s")
    );
    assert_eq!(
        options("sequential").or(&sequential),
        options("sequential cursor=shared base-offset=63s")
    );
}
