//! Where operations go, and which kind they are.

use proptest::prelude::*;
use std::collections::HashSet;
use stripewise_workload::{
    CursorKind, Distribution, Kind, Pattern, Span, Stream, Streams, Workload,
};

const UNIFORM: Pattern = Pattern::Random {
    distribution: Distribution::Uniform,
};

fn random(distribution: &str) -> Pattern {
    Pattern::Random {
        distribution: distribution.parse().unwrap(),
    }
}

fn sequential(cursor: CursorKind) -> Pattern {
    Pattern::Sequential { cursor }
}

fn stride(stride_bytes: u64, cursor: CursorKind) -> Pattern {
    Pattern::Stride {
        stride_bytes,
        cursor,
    }
}

fn span(blocks: u64) -> Span {
    Span {
        start_bytes: 32_256,
        block_size_bytes: 8192,
        blocks,
    }
}

fn streams(pattern: Pattern, threads: u32, span: Span) -> Streams {
    let workload = Workload {
        pattern,
        threads,
        ..Workload::default()
    };
    Streams::new(&workload, span)
}

/// The next `count` positions in bytes from the start of the span.
fn take(stream: &mut Stream, span: Span, count: usize) -> Vec<u64> {
    (0..count)
        .map(|_| stream.next().1 - span.start_bytes)
        .collect()
}

/// The same in blocks.
fn take_blocks(stream: &mut Stream, span: Span, count: usize) -> Vec<u64> {
    let bytes = take(stream, span, count);
    bytes
        .iter()
        .inspect(|offset| assert_eq!(*offset % span.block_size_bytes, 0))
        .map(|offset| offset / span.block_size_bytes)
        .collect()
}

#[test]
fn uniform_positions_hit_every_block_equally_often() {
    const DRAWS: usize = 200_000;
    let span = span(100);
    let mut hits = [0_u32; 100];
    for block in take_blocks(&mut streams(UNIFORM, 1, span).stream(0), span, DRAWS) {
        hits[block as usize] += 1;
    }
    let mean = DRAWS as f64 / 100.0;
    let chi_square: f64 = hits
        .iter()
        .map(|&hits| (f64::from(hits) - mean).powi(2) / mean)
        .sum();
    // 99 degrees of freedom: 0.1 % lie above 148.2, 0.1 % below 60.3.
    assert!((60.3..148.2).contains(&chi_square), "{chi_square}");
}

#[test]
fn spans_of_petabytes_are_covered_from_end_to_end() {
    let span = Span {
        start_bytes: 1 << 20,
        block_size_bytes: 512,
        blocks: 1 << 41,
    };
    assert_eq!(span.size_bytes(), 1 << 50);
    for pattern in [
        UNIFORM,
        random("zipf:0.8"),
        random("hot:10/50"),
        random("covering"),
        sequential(CursorKind::Own),
        sequential(CursorKind::Shared),
        stride(3 << 40, CursorKind::Own),
        stride((1 << 46) + 512, CursorKind::Shared),
    ] {
        let mut sixteenths = HashSet::new();
        let streams = streams(pattern, 16, span);
        for thread in 0..16 {
            let mut stream = streams.stream(thread);
            for offset in take(&mut stream, span, 1000) {
                assert!(offset + 512 <= 1 << 50, "{pattern:?} {offset}");
                sixteenths.insert(offset >> 46);
            }
        }
        let shared = matches!(
            pattern,
            Pattern::Sequential {
                cursor: CursorKind::Shared
            }
        );
        assert_eq!(sixteenths.len(), if shared { 1 } else { 16 }, "{pattern:?}");
    }
}

#[test]
fn a_single_block_is_always_the_position() {
    let span = span(1);
    for pattern in [
        UNIFORM,
        random("zipf:1"),
        random("hot:50/50"),
        random("covering"),
        sequential(CursorKind::Own),
        sequential(CursorKind::Shared),
        stride(512, CursorKind::Own),
    ] {
        let mut stream = streams(pattern, 3, span).stream(2);
        assert_eq!(take(&mut stream, span, 5), [0; 5], "{pattern:?}");
    }
}

#[test]
fn threads_and_seeds_draw_different_positions() {
    let span = span(1 << 40);
    let mut seen = HashSet::new();
    for seed in [0, 1, 2, u64::MAX] {
        let workload = Workload {
            seed,
            threads: 256,
            ..Workload::default()
        };
        let streams = Streams::new(&workload, span);
        for thread in [0, 1, 2, 100, 255] {
            seen.extend(take_blocks(&mut streams.stream(thread), span, 100));
        }
    }
    // 2,000 draws from 2^40: a collision has a chance of two in a million.
    assert_eq!(seen.len(), 2_000);
}

#[test]
fn a_base_offset_moves_all_positions_and_changes_nothing_else() {
    let shifted = Span {
        start_bytes: 1 << 20,
        ..span(1000)
    };
    for pattern in [
        UNIFORM,
        random("zipf:0.99"),
        random("hot:10/90"),
        random("covering"),
        stride(65_536, CursorKind::Own),
    ] {
        let one = take(
            &mut streams(pattern, 2, span(1000)).stream(1),
            span(1000),
            500,
        );
        let other = take(&mut streams(pattern, 2, shifted).stream(1), shifted, 500);
        assert_eq!(one, other, "{pattern:?}");
    }
}

#[test]
fn a_mix_of_kinds_leaves_positions_as_they_are_and_has_its_share() {
    let positions = |read_percent| {
        let workload = Workload {
            read_percent,
            ..Workload::default()
        };
        let mut stream = Streams::new(&workload, span(1000)).stream(0);
        let operations: Vec<(Kind, u64)> = (0..20_000).map(|_| stream.next()).collect();
        let reads = operations.iter().filter(|(kind, _)| *kind == Kind::Read);
        let offsets: Vec<u64> = operations.iter().map(|(_, offset)| *offset).collect();
        (reads.count(), offsets)
    };
    let (all, expected) = positions(100);
    assert_eq!(all, 20_000);
    assert_eq!(positions(0).0, 0);
    for read_percent in [1, 50, 70, 99] {
        let (reads, offsets) = positions(read_percent);
        let share = reads as f64 / 200.0;
        assert!((share - f64::from(read_percent)).abs() < 1.5, "{share}");
        assert_eq!(offsets, expected);
    }
}

#[test]
fn the_hot_part_takes_its_share_and_lies_at_the_start() {
    for (text, hot_blocks, share) in [
        ("hot:10/90", 100, 0.9),
        ("hot:1/99", 10, 0.99),
        ("hot:50/50", 500, 0.5),
        ("hot:99/1", 990, 0.01),
    ] {
        let span = span(1000);
        let blocks = take_blocks(&mut streams(random(text), 1, span).stream(0), span, 50_000);
        let hot = blocks.iter().filter(|block| **block < hot_blocks).count();
        assert!(
            (hot as f64 / 50_000.0 - share).abs() < 0.01,
            "{text}: {hot}"
        );
        let touched: HashSet<u64> = blocks.into_iter().collect();
        assert!(touched.iter().any(|block| *block >= hot_blocks));
        assert!(touched.iter().all(|block| *block < 1000));
    }
}

#[test]
fn zipf_threads_agree_on_which_blocks_are_popular() {
    let span = span(1 << 30);
    let streams = streams(random("zipf:1.2"), 8, span);
    let favourite = |thread| {
        let blocks = take_blocks(&mut streams.stream(thread), span, 2_000);
        let count = |block: u64| blocks.iter().filter(|other| **other == block).count();
        blocks.iter().copied().max_by_key(|&block| count(block))
    };
    let first = favourite(0);
    assert!((1..8).all(|thread| favourite(thread) == first));
    assert!(first.unwrap() > 1000, "the popular block is scattered");
}

#[test]
fn own_sequential_cursors_start_at_their_share_and_wrap() {
    let span = span(10);
    let streams = streams(sequential(CursorKind::Own), 4, span);
    for (thread, first) in [(0, 0), (1, 2), (2, 5), (3, 7)] {
        let blocks = take_blocks(&mut streams.stream(thread), span, 25);
        let expected: Vec<u64> = (first..first + 25).map(|block| block % 10).collect();
        assert_eq!(blocks, expected, "thread {thread}");
    }
}

#[test]
fn threads_of_a_shared_cursor_cover_the_span_together_once_a_round() {
    let span = span(4_000);
    let streams = streams(sequential(CursorKind::Shared), 4, span);
    let mut blocks: Vec<u64> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|thread| {
                let mut stream = streams.stream(thread);
                scope.spawn(move || take_blocks(&mut stream, span, 2_000))
            })
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    blocks.sort_unstable();
    let expected: Vec<u64> = (0..4_000).flat_map(|block| [block, block]).collect();
    assert_eq!(blocks, expected);
}

#[test]
fn threads_cover_the_span_together_in_each_pass() {
    let span = span(4_001);
    let streams = streams(random("covering"), 4, span);
    let seen: Vec<std::sync::atomic::AtomicU32> = (0..4_001).map(|_| 0.into()).collect();
    // However unevenly the threads get on: 3 passes of numbers in all.
    let shares = [1, 2_000, 4_000, 3 * 4_001 - 6_001];
    std::thread::scope(|scope| {
        for (thread, share) in (0..).zip(shares) {
            let (mut stream, seen) = (streams.stream(thread), &seen);
            scope.spawn(move || {
                for block in take_blocks(&mut stream, span, share) {
                    seen[block as usize].fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    assert!(seen.into_iter().all(|hits| hits.into_inner() == 3));
}

#[test]
fn passes_of_a_covering_order_differ_and_so_do_seeds() {
    let span = span(1_000);
    let passes = |seed| {
        let workload = Workload {
            pattern: random("covering"),
            seed,
            ..Workload::default()
        };
        let mut stream = Streams::new(&workload, span).stream(0);
        [0, 1].map(|_| take_blocks(&mut stream, span, 1_000))
    };
    let orders: Vec<Vec<u64>> = [passes(1), passes(2)].concat();
    for (index, one) in orders.iter().enumerate() {
        for other in &orders[index + 1..] {
            let same = one.iter().zip(other).filter(|(one, other)| one == other);
            // 1 is expected; above 8 comes once in a million.
            assert!(same.count() <= 8);
        }
    }
}

#[test]
fn a_stride_goes_on_one_block_further_in_each_pass() {
    let span = span(8);
    let mut stream = streams(stride(3 * 8192, CursorKind::Own), 1, span).stream(0);
    let expected = [0, 3, 6, 1, 4, 7, 2, 5, 0, 3, 6];
    assert_eq!(take_blocks(&mut stream, span, 11), expected);
    let mut second = streams(stride(3 * 8192, CursorKind::Own), 2, span).stream(1);
    assert_eq!(take_blocks(&mut second, span, 4), [3, 6, 1, 4]);
}

#[test]
fn a_stride_below_the_block_overlaps_and_wraps() {
    let span = span(2);
    let mut stream = streams(stride(4096, CursorKind::Own), 1, span).stream(0);
    assert_eq!(take(&mut stream, span, 5), [0, 4096, 8192, 0, 4096]);
}

#[test]
fn threads_deal_out_the_columns_of_a_matrix_among_them() {
    // Rows of 4 blocks, 3 rows: columns 0 and 1 are the first thread's.
    let span = span(12);
    let streams = streams(stride(4 * 8192, CursorKind::Columns), 2, span);
    let of_thread = |thread| take_blocks(&mut streams.stream(thread), span, 8);
    assert_eq!(of_thread(0), [0, 4, 8, 1, 5, 9, 0, 4]);
    assert_eq!(of_thread(1), [2, 6, 10, 3, 7, 11, 2, 6]);
}

#[test]
fn parts_of_a_sequential_span_are_walked_apart() {
    let span = span(6);
    let streams = streams(sequential(CursorKind::Columns), 2, span);
    let of_thread = |thread| take_blocks(&mut streams.stream(thread), span, 4);
    assert_eq!(of_thread(0), [0, 1, 2, 0]);
    assert_eq!(of_thread(1), [3, 4, 5, 3]);
}

proptest! {
    #![proptest_config(crate::fixed_seed(500))]

    #[test]
    fn strides_of_whole_blocks_touch_every_block_once_a_round(
        blocks in 1_u64..300,
        step in 1_u64..300,
        shared: bool,
    ) {
        let span = span(blocks);
        let cursor = if shared { CursorKind::Shared } else { CursorKind::Own };
        let mut stream = streams(stride(step * 8192, cursor), 1, span).stream(0);
        for _ in 0..2 {
            let mut round = take_blocks(&mut stream, span, blocks as usize);
            round.sort_unstable();
            prop_assert_eq!(round, (0..blocks).collect::<Vec<_>>());
        }
    }

    #[test]
    fn covering_touches_every_block_once_a_pass(
        blocks in 1_u64..800,
        read_percent in 0_u8..=100,
        seed: u64,
    ) {
        let span = span(blocks);
        let workload = Workload {
            pattern: random("covering"),
            read_percent,
            seed,
            ..Workload::default()
        };
        let mut stream = Streams::new(&workload, span).stream(0);
        for _ in 0..3 {
            let mut pass = take_blocks(&mut stream, span, blocks as usize);
            pass.sort_unstable();
            prop_assert_eq!(pass, (0..blocks).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_pattern_ever_leaves_the_span(
        blocks in 1_u64..100_000,
        stride_sectors in 1_u64..100_000,
        threads in 1_u32..20,
        which in 0_usize..9,
        seed: u64,
    ) {
        let pattern = [
            UNIFORM,
            random("covering"),
            random("zipf:1"),
            random("hot:1/99"),
            sequential(CursorKind::Own),
            stride(stride_sectors * 512, CursorKind::Own),
            stride(stride_sectors * 512, CursorKind::Shared),
            sequential(CursorKind::Columns),
            stride(stride_sectors * 512, CursorKind::Columns),
        ][which];
        let workload = Workload { pattern, threads, seed, read_percent: 50, ..Workload::default() };
        let span = span(blocks);
        let streams = Streams::new(&workload, span);
        for thread in [0, threads - 1] {
            let mut stream = streams.stream(thread);
            for _ in 0..200 {
                let (_, offset) = stream.next();
                prop_assert!(offset >= span.start_bytes);
                prop_assert!(offset + span.block_size_bytes <= span.end_bytes());
            }
        }
    }

    #[test]
    fn neighbours_of_a_stride_are_a_stride_apart_until_it_wraps(
        blocks in 2_u64..1000,
        stride_sectors in 1_u64..2000,
    ) {
        let span = span(blocks);
        let step = stride_sectors * 512;
        let mut stream = streams(stride(step, CursorKind::Own), 1, span).stream(0);
        let offsets = take(&mut stream, span, 500);
        let last_start = span.size_bytes() - span.block_size_bytes;
        for pair in offsets.windows(2) {
            let wrapped = pair[0] + step > last_start;
            prop_assert!(wrapped || pair[1] == pair[0] + step, "{:?}", pair);
        }
    }
}
