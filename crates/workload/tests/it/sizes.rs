//! Jobs whose operations have several sizes.

use std::collections::BTreeMap;
use stripewise_workload::{
    BlockSizes, CursorKind, Distribution, Pattern, Request, RequestJob, Streams, TargetLimits,
    Workload, WorkloadOptions, alignment_bytes, validate,
};

const TARGET: TargetLimits = TargetLimits {
    size_bytes: 1 << 30,
    logical_sector_bytes: 512,
};

fn of(block: &str, pattern: Pattern) -> Workload {
    let mut options = WorkloadOptions::default();
    options.set("block", block).unwrap();
    let base = Workload {
        pattern,
        base_offset_bytes: 63 * 512,
        ..Workload::default()
    };
    options.build(&base).unwrap()
}

fn random(distribution: Distribution) -> Pattern {
    Pattern::Random { distribution }
}

#[test]
fn each_size_comes_as_often_as_it_should_and_lies_where_it_should() {
    let all = [
        random(Distribution::Uniform),
        random(Distribution::Zipf { theta: 0.9 }),
        random(Distribution::Hot {
            space_percent: 10,
            operations_percent: 90,
        }),
    ];
    for pattern in all {
        let workload = of("512:30,4K:40,60K:30", pattern);
        assert_eq!(workload.block_size_bytes, 60 << 10);
        let span = validate(&workload, TARGET).unwrap();
        let mut stream = Streams::new(&workload, span).stream(0);
        assert!(stream.is_mixed());
        let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
        for _ in 0..20_000 {
            let (_, offset, size) = stream.next_sized();
            *seen.entry(size).or_default() += 1;
            assert!(offset >= span.start_bytes && offset + size <= span.end_bytes());
            let relative = offset - span.start_bytes;
            assert!(
                relative.is_multiple_of(alignment_bytes(size)),
                "{relative} {size}"
            );
        }
        // Binomial(20,000, 0.3): standard deviation 65.
        let near = |size: u64, expected: u32| seen[&size].abs_diff(expected) < 300;
        assert!(
            near(512, 6_000) && near(4096, 8_000) && near(60 << 10, 6_000),
            "{seen:?}"
        );
    }
}

#[test]
fn sequential_operations_follow_each_other_whatever_their_size() {
    for cursor in [CursorKind::Own, CursorKind::Shared] {
        let workload = of("4K:50,64K:50", Pattern::Sequential { cursor });
        let span = validate(
            &workload,
            TargetLimits {
                size_bytes: 1 << 20,
                ..TARGET
            },
        )
        .unwrap();
        let mut stream = Streams::new(&workload, span).stream(0);
        let mut next = span.start_bytes;
        let mut wrapped = 0;
        for _ in 0..1_000 {
            let (_, offset, size) = stream.next_sized();
            if offset != next {
                assert!(next + size > span.end_bytes() || cursor == CursorKind::Shared);
                wrapped += 1;
            }
            assert!(offset + size <= span.end_bytes());
            next = offset + size;
        }
        assert!(wrapped > 10, "{wrapped}");
    }
}

#[test]
fn one_seed_gives_one_stream_and_reads_and_writes_mix() {
    let workload = Workload {
        read_percent: 70,
        ..of("8K:90,64K:10", random(Distribution::Uniform))
    };
    let span = validate(&workload, TARGET).unwrap();
    let take = |index: u32| {
        let mut stream = Streams::new(&workload, span).stream(index);
        (0..500).map(|_| stream.next_sized()).collect::<Vec<_>>()
    };
    assert_eq!(take(0), take(0));
    assert_ne!(take(0), take(1));
    let reads = take(0)
        .iter()
        .filter(|one| one.0 == stripewise_workload::Kind::Read)
        .count();
    assert!((300..400).contains(&reads), "{reads}");
}

#[test]
fn what_does_not_go_with_several_sizes_is_refused() {
    let cases = [
        (
            Workload {
                pattern: Pattern::Stride {
                    stride_bytes: 1 << 20,
                    cursor: CursorKind::Own,
                },
                ..of("4K:60,64K:40", random(Distribution::Uniform))
            },
            "a stride goes",
        ),
        (
            Workload {
                pattern: random(Distribution::Covering),
                ..of("4K:60,64K:40", random(Distribution::Uniform))
            },
            "covering counts blocks of one",
        ),
        (
            Workload {
                block_size_bytes: 8192,
                ..of("4K:60,64K:40", random(Distribution::Uniform))
            },
            "the largest of several sizes",
        ),
        (
            Workload {
                base_offset_bytes: 1 << 20,
                ..of("512:60,64K:40", random(Distribution::Uniform))
            },
            "logical sector of 4096",
        ),
    ];
    let target = TargetLimits {
        logical_sector_bytes: 4096,
        ..TARGET
    };
    for (workload, words) in cases {
        let error = validate(&workload, target).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.option(), "block");
    }
}

#[test]
fn requests_and_plans_carry_the_distribution() {
    let workload = of("4K:60,64K:40", random(Distribution::Uniform));
    let request = Request {
        jobs: vec![RequestJob {
            name: "mixed".to_owned(),
            targets: vec!["sim:nvme".to_owned()],
            workload: workload.clone(),
        }],
        ..Request::default()
    };
    let json = request.to_json();
    assert!(json.contains("\"block_sizes\": \"4K:60,64K:40\""), "{json}");
    assert_eq!(Request::from_json(&json), Ok(request));
    let plan: stripewise_workload::Plan = "[defaults]\nblock = \"8K\"\n[[job]]\nname = \"a\"\ntarget = \"x\"\nblock = \"4K:60,64K:40\"\n[[job]]\nname = \"b\"\ntarget = \"x\"\n"
        .parse()
        .unwrap();
    assert_eq!(plan.jobs[0].workload.block_sizes, workload.block_sizes);
    assert_eq!(plan.jobs[1].workload.block_sizes, BlockSizes::default());
    assert_eq!(plan.jobs[1].workload.block_size_bytes, 8192);
}
