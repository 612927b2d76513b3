//! What a workload may ask for, alone and of its target.

use proptest::prelude::*;
use stripewise_workload::{
    Arrivals, CacheMode, CursorKind, DataPattern, Distribution, Pattern, Rate, Span, SyncPolicy,
    TargetLimits, ThinkTime, Workload, WorkloadError, WorkloadOptions, check, validate,
};

const TARGET: TargetLimits = TargetLimits {
    size_bytes: 1 << 30,
    logical_sector_bytes: 512,
};

/// A change and the start of the message that it must lead to.
type Case = (fn(&mut Workload), &'static str);

fn with(change: impl FnOnce(&mut Workload)) -> Workload {
    let mut workload = Workload::default();
    change(&mut workload);
    workload
}

/// The message must start as expected, and there must be a hint.
fn refused(result: Result<impl std::fmt::Debug, WorkloadError>, start: &str) {
    let error = result.expect_err(start);
    assert!(
        error.to_string().starts_with(start),
        "{error}\nwanted: {start}"
    );
    assert!(!error.hint().is_empty());
}

#[test]
fn writes_and_their_sync_are_a_commit_unless_the_load_itself_waits_within_it() {
    let every = |every: u32| Workload {
        read_percent: 0,
        sync: Some(SyncPolicy::fdatasync(every)),
        ..Workload::default()
    };
    let rate = Some(Rate {
        iops: 100.0,
        arrivals: Arrivals::Fixed,
    });
    let think = |every: u32| {
        Some(ThinkTime {
            pause_ns: 1_000,
            every,
        })
    };
    for (workload, is_commit) in [
        (Workload::default(), false),
        (every(1), true),
        (every(8), true),
        (Workload { rate, ..every(1) }, true),
        (Workload { rate, ..every(8) }, false),
        (
            Workload {
                think_time: think(16),
                ..every(8)
            },
            true,
        ),
        (
            Workload {
                think_time: think(12),
                ..every(8)
            },
            false,
        ),
        (
            Workload {
                think_time: think(8),
                read_percent: 50,
                ..every(8)
            },
            false,
        ),
        (
            Workload {
                read_percent: 100,
                ..every(1)
            },
            false,
        ),
    ] {
        assert_eq!(workload.has_commits(), is_commit, "{workload:?}");
    }
}

#[test]
fn limits_are_allowed_and_what_lies_beyond_is_refused() {
    let good: [fn(&mut Workload); 10] = [
        |w| w.block_size_bytes = 512,
        |w| w.block_size_bytes = 64 << 20,
        |w| w.threads = 4096,
        |w| w.outstanding = 4096,
        |w| (w.threads, w.outstanding) = (16, 4096),
        |w| w.read_percent = 0,
        |w| w.duration_ns = 1,
        |w| w.data.compressible_percent = 100,
        |w| w.pattern = zipf(5.0),
        |w| w.rate = fixed(1e9),
    ];
    for change in good {
        assert_eq!(check(&with(change)), Ok(()));
    }
    let bad: [Case; 21] = [
        (|w| w.read_percent = 101, "read-percent 101 is above 100"),
        (|w| w.block_size_bytes = 511, "block 511 is outside"),
        (
            |w| w.block_size_bytes = (64 << 20) + 512,
            "block 65536.5K is outside",
        ),
        (|w| w.block_size_bytes = 0, "block 0 is outside"),
        (|w| w.threads = 0, "threads 0 is outside"),
        (|w| w.threads = 4097, "threads 4097 is outside"),
        (|w| w.outstanding = 0, "outstanding 0 is outside"),
        (|w| w.outstanding = 4097, "outstanding 4097 is outside"),
        (
            |w| (w.threads, w.outstanding) = (17, 4096),
            "outstanding 4096 with 17 threads makes 69,632 operations in flight",
        ),
        (|w| w.duration_ns = 0, "duration 0s measures nothing"),
        (
            |w| w.duration_ns = u64::MAX,
            "duration 18446744073709551.615us is longer",
        ),
        (|w| w.ramp_ns = u64::MAX, "ramp "),
        (
            |w| w.pattern = zipf(0.0),
            "distribution zipf:0 is out of range",
        ),
        (
            |w| w.pattern = zipf(5.1),
            "distribution zipf:5.1 is out of range",
        ),
        (
            |w| w.pattern = zipf(f64::NAN),
            "distribution zipf:NaN is out of range",
        ),
        (|w| w.pattern = stride(0), "stride 0 never moves"),
        (|w| w.rate = fixed(0.0), "rate 0 is not above 0"),
        (|w| w.rate = fixed(f64::NAN), "rate NaN is not above 0"),
        (
            |w| w.data.dedupable_percent = 101,
            "dedupable 101 is above 100",
        ),
        (
            |w| w.sync = Some(SyncPolicy::fdatasync(0)),
            "sync fdatasync:0 never syncs",
        ),
        (
            |w| w.sync = Some(SyncPolicy::fdatasync(1)),
            "sync fdatasync has no writes to sync",
        ),
    ];
    for (change, start) in bad {
        refused(check(&with(change)), start);
        refused(validate(&with(change), TARGET), start);
    }
}

fn zipf(theta: f64) -> Pattern {
    Pattern::Random {
        distribution: Distribution::Zipf { theta },
    }
}

fn stride(stride_bytes: u64) -> Pattern {
    Pattern::Stride {
        stride_bytes,
        cursor: CursorKind::Own,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is the type of the field")]
fn fixed(iops: f64) -> Option<Rate> {
    Some(Rate {
        iops,
        arrivals: Arrivals::Fixed,
    })
}

#[test]
fn spans_have_whole_blocks_and_stay_inside_the_target() {
    for (base, size, block, expected) in [
        (0, None, 8192, (0, 131_072)),
        (32_256, None, 8192, (32_256, 131_068)),
        (512, Some(8192 * 3 + 4096), 8192, (512, 3)),
        ((1 << 30) - 8192, None, 8192, ((1 << 30) - 8192, 1)),
        (0, Some(1 << 30), 1 << 20, (0, 1024)),
    ] {
        let workload = with(|w| {
            (w.base_offset_bytes, w.size_bytes, w.block_size_bytes) = (base, size, block);
        });
        let span = validate(&workload, TARGET).unwrap();
        assert_eq!((span.start_bytes, span.blocks), expected);
        assert_eq!(span.block_size_bytes, block);
    }
    let bad: [Case; 6] = [
        (
            |w| w.base_offset_bytes = 1 << 30,
            "base-offset 1G leaves no room for a block of 8K",
        ),
        (|w| w.base_offset_bytes = u64::MAX - 511, "base-offset "),
        (
            |w| w.size_bytes = Some((1 << 30) + 512),
            "size 1048576.5K goes past the end",
        ),
        (|w| w.size_bytes = Some(0), "size 0 is less than one block"),
        (
            |w| w.size_bytes = Some(4096),
            "size 4K is less than one block of 8K",
        ),
        (
            |w| w.pattern = stride(1 << 30),
            "stride 1G does not fit in the 1 GiB in use",
        ),
    ];
    for (change, start) in bad {
        refused(validate(&with(change), TARGET), start);
    }
    // No offset was requested.
    let small = TargetLimits {
        size_bytes: 4096,
        ..TARGET
    };
    let found = validate(&with(|_| {}), small);
    refused(found, "block 8K is more than the target has: 4,096 bytes");
}

#[test]
fn direct_modes_need_whole_sectors_and_buffered_ones_do_not() {
    let native = TargetLimits {
        logical_sector_bytes: 4096,
        ..TARGET
    };
    let changes: [Case; 3] = [
        (
            |w| w.block_size_bytes = 512,
            "block 512 is not a multiple of the target's logical sector of 4096 bytes",
        ),
        (
            |w| w.base_offset_bytes = 32_256,
            "base-offset 31.5K is not a multiple",
        ),
        (
            |w| w.pattern = stride(512 * 9),
            "stride 4.5K is not a multiple",
        ),
    ];
    for (change, start) in changes {
        for cache in [CacheMode::Direct, CacheMode::DirectSync] {
            let workload = with(|w| {
                change(w);
                w.cache = cache;
            });
            refused(validate(&workload, native), start);
            assert!(validate(&workload, TARGET).is_ok());
        }
        for cache in [CacheMode::Buffered, CacheMode::BufferedSync] {
            let workload = with(|w| {
                change(w);
                w.cache = cache;
            });
            assert!(validate(&workload, native).is_ok());
        }
    }
    let error = validate(&with(|w| w.base_offset_bytes = 32_256), native).unwrap_err();
    assert_eq!(
        error.hint(),
        "the next multiple is 32K; --cache buffered takes any"
    );
    assert_eq!(error.option(), "base-offset");
}

#[test]
fn words_print_as_they_are_typed() {
    for text in [
        "uniform",
        "covering",
        "zipf:0.99",
        "zipf:5",
        "hot:10/90",
        "hot:1/99",
    ] {
        assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
    }
    for text in ["direct", "direct-sync", "buffered", "buffered-sync"] {
        let mode: CacheMode = text.parse().unwrap();
        assert_eq!(mode.to_string(), text);
        assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{text}\""));
    }
    for text in ["fdatasync", "fdatasync:32", "fsync", "fsync:8"] {
        assert_eq!(text.parse::<SyncPolicy>().unwrap().to_string(), text);
    }
    for text in ["fixed", "poisson"] {
        assert_eq!(text.parse::<Arrivals>().unwrap().to_string(), text);
    }
    for text in ["own", "shared"] {
        assert_eq!(text.parse::<CursorKind>().unwrap().to_string(), text);
    }
}

#[test]
fn bad_words_are_refused_with_the_reason_and_what_is_accepted() {
    for (typed, message) in [
        ("zipf", "`zipf` is not a distribution"),
        ("zipf:", "`zipf:` has no number after the colon"),
        (
            "zipf:inf",
            "`zipf:inf` has an exponent outside of 0 < THETA <= 5",
        ),
        (
            "zipf:nan",
            "`zipf:nan` has an exponent outside of 0 < THETA <= 5",
        ),
        (
            "zipf:-1",
            "`zipf:-1` has an exponent outside of 0 < THETA <= 5",
        ),
        ("hot:10", "`hot:10` has no second share after a `/`"),
        ("hot:0/90", "`hot:0/90` has a share outside of 1 to 99"),
        ("hot:10/100", "`hot:10/100` has a share outside of 1 to 99"),
        ("hot:300/1", "`hot:300/1` has a share outside of 1 to 99"),
        (
            "Uniform",
            "`Uniform` is not a distribution: did you mean uniform?",
        ),
        (
            "zipfian:1.1",
            "`zipfian:1.1` is not a distribution: did you mean zipf:1.1?",
        ),
    ] {
        let error = typed.parse::<Distribution>().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.hint().contains("hot:SPACE/OPERATIONS"));
    }
    for typed in [
        "",
        "fdatasync:",
        "fdatasync:0",
        "fdatasync:4294967296",
        "sync",
        "fsync:-1",
    ] {
        assert!(typed.parse::<SyncPolicy>().is_err(), "{typed}");
    }
    let error = "driect".parse::<CacheMode>().unwrap_err();
    assert_eq!(error.to_string(), "`driect` is not a cache mode");
    assert_eq!(error.hint(), "did you mean direct?");
    let error = "odirect-please".parse::<CacheMode>().unwrap_err();
    assert_eq!(
        error.hint(),
        "use one of direct, direct-sync, buffered, buffered-sync, dontcache"
    );
}

#[test]
fn a_workload_survives_the_record() {
    let workload = Workload {
        pattern: Pattern::Random {
            distribution: Distribution::Zipf { theta: 0.99 },
        },
        rate: fixed(1234.5),
        sync: Some(SyncPolicy::fdatasync(4)),
        read_percent: 70,
        data: DataPattern {
            compressible_percent: 30,
            dedupable_percent: 5,
        },
        ..Workload::default()
    };
    let json = serde_json::to_string(&workload).unwrap();
    assert!(
        json.contains(r#""pattern":"random","distribution":"zipf:0.99""#),
        "{json}"
    );
    assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), workload);
}

proptest! {
    #![proptest_config(crate::fixed_seed(2_000))]

    #[test]
    fn a_printed_distribution_parses_to_itself(
        theta in 1e-9_f64..=5.0,
        space_percent in 1_u8..=99,
        operations_percent in 1_u8..=99,
    ) {
        for distribution in [
            Distribution::Zipf { theta },
            Distribution::Hot { space_percent, operations_percent },
        ] {
            prop_assert_eq!(distribution.to_string().parse(), Ok(distribution));
        }
    }

    #[test]
    fn what_is_valid_lies_inside_its_target(
        size_bytes in prop_oneof![0_u64..1 << 20, any::<u64>()],
        block_sectors in 1_u64..300,
        base_sectors in prop_oneof![0_u64..3000, 0_u64..1 << 55],
        asked in prop::option::of(prop_oneof![0_u64..1 << 20, any::<u64>()]),
    ) {
        let workload = with(|w| {
            w.block_size_bytes = block_sectors * 512;
            w.base_offset_bytes = base_sectors * 512;
            w.size_bytes = asked;
        });
        let limits = TargetLimits { size_bytes, logical_sector_bytes: 512 };
        if let Ok(Span { start_bytes, block_size_bytes, blocks }) = validate(&workload, limits) {
            let end = u128::from(start_bytes) + u128::from(blocks) * u128::from(block_size_bytes);
            prop_assert!(blocks > 0 && end <= u128::from(size_bytes));
            prop_assert_eq!(start_bytes, workload.base_offset_bytes);
        }
    }
}

#[test]
fn think_times_are_read_printed_and_checked() {
    for (typed, pause_ns, every, printed) in [
        ("10ms", 10_000_000, 1, "10ms"),
        ("10ms:1", 10_000_000, 1, "10ms"),
        ("1m30s:32", 90_000_000_000, 32, "1m30s:32"),
        (" 0.5s:4 ", 500_000_000, 4, "0.5s:4"),
    ] {
        let think: ThinkTime = typed.parse().unwrap();
        assert_eq!(think, ThinkTime { pause_ns, every });
        assert_eq!(printed.parse::<ThinkTime>().unwrap(), think);
    }
    for typed in [
        "", "10", "soon", "10ms:", "10ms:0", "10ms:x", ":4", "10ms:4:4",
    ] {
        // A bare number is seconds, as of every time.
        let read = typed.parse::<ThinkTime>();
        assert_eq!(read.is_ok(), typed == "10", "{typed}: {read:?}");
    }
    let rate = Some(Rate {
        iops: 5.0,
        arrivals: Arrivals::Fixed,
    });
    for (workload, expected_text) in [
        (
            Workload {
                rate,
                think_time: Some(ThinkTime {
                    pause_ns: 1,
                    every: 1,
                }),
                ..Workload::default()
            },
            "think-time 1ns cannot be combined with --rate: the operations of an open loop arrive on a schedule",
        ),
        (
            Workload {
                think_time: Some(ThinkTime {
                    pause_ns: 0,
                    every: 1,
                }),
                ..Workload::default()
            },
            "think-time 0s is not a valid pause",
        ),
        (
            Workload {
                think_time: Some(ThinkTime {
                    pause_ns: u64::MAX,
                    every: 1,
                }),
                ..Workload::default()
            },
            "is longer than a year",
        ),
        (
            Workload {
                rate,
                in_turn: true,
                ..Workload::default()
            },
            "in-turn cannot be combined with --rate",
        ),
    ] {
        let error = check(&workload).unwrap_err();
        assert!(error.to_string().contains(expected_text), "{error}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn of_think_time_and_a_rate_a_job_takes_only_one_from_its_defaults() {
    let options = |pairs: &[(&str, &str)]| {
        let mut options = WorkloadOptions::default();
        for (name, text) in pairs {
            options.set(name, text).unwrap();
        }
        options
    };
    let defaults = options(&[("rate", "50"), ("arrivals", "poisson")]);
    let thinks = options(&[("think-time", "1ms")]).or(&defaults);
    assert_eq!((thinks.rate, thinks.arrivals), (None, None));
    let defaults = options(&[("think-time", "1ms"), ("in-turn", "true")]);
    let open = options(&[("rate", "50")]).or(&defaults);
    assert_eq!((open.think_time, open.in_turn), (None, false));
    let neither = options(&[("threads", "2")]).or(&defaults);
    assert!(neither.think_time.is_some() && neither.in_turn);
}
