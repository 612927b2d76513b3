//! What is written, judged by a real compressor and by counting copies.

use flate2::{Compression, write::DeflateEncoder};
use std::collections::{HashMap, HashSet};
use std::io::Write;
use stripewise_workload::{DataPattern, DataSource};

fn source(compressible_percent: u8, dedupable_percent: u8) -> DataSource {
    let pattern = DataPattern {
        compressible_percent,
        dedupable_percent,
    };
    DataSource::new(pattern, 7, 0)
}

fn filled(source: &mut DataSource, offset_bytes: u64, length: usize) -> Vec<u8> {
    // Not zeros: what is left unfilled must show.
    let mut buffer = vec![0xaa; length];
    source.fill(offset_bytes, &mut buffer);
    buffer
}

/// Compressed size over size.
fn ratio(data: &[u8]) -> f64 {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().len() as f64 / data.len() as f64
}

#[test]
fn a_compressor_gains_nothing() {
    for length in [512, 4096, 65_536, 1 << 20] {
        let data = filled(&mut source(0, 0), 0, length);
        assert!(ratio(&data) >= 1.0, "{length}: {}", ratio(&data));
    }
    // Also not over many writes together.
    let mut source = source(0, 0);
    let data: Vec<u8> = (0..256)
        .flat_map(|_| filled(&mut source, 0, 4096))
        .collect();
    assert!(ratio(&data) >= 1.0);
}

#[test]
fn a_compressor_gains_the_share_that_was_asked_for() {
    for percent in [1, 10, 25, 50, 75, 90, 99, 100] {
        for length in [4096, 8192, 1 << 20] {
            let data = filled(&mut source(percent, 0), 0, length);
            let expected = 1.0 - f64::from(percent) / 100.0;
            let found = ratio(&data);
            assert!(
                (found - expected).abs() < 0.02,
                "{percent} %, {length}: {found}"
            );
        }
    }
}

#[test]
fn each_four_kib_of_the_target_has_its_own_zeros() {
    let mut source = source(25, 0);
    // A write at sector 63 that starts in the middle of a block.
    let data = filled(&mut source, 32_256, 8192);
    for (index, byte) in data.chunks(512).enumerate() {
        let inside = (32_256 + index as u64 * 512) % 4096;
        let zeros = byte.iter().all(|byte| *byte == 0);
        assert_eq!(zeros, inside >= 3072, "sector {index}");
    }
}

#[test]
fn no_block_repeats_within_a_source_nor_between_threads_nor_with_the_fill() {
    let mut seen = HashSet::new();
    let mut blocks = 0;
    for thread in [0, 1, 255, DataSource::FILL_THREAD] {
        let mut source = DataSource::new(DataPattern::default(), 7, thread);
        for write in 0..1_000_u64 {
            // The same offset again and again.
            let data = filled(&mut source, 8192 * (write % 2), 8192);
            // Even the sectors and their first 16 bytes are different.
            for sector in data.chunks(512) {
                seen.insert(<[u8; 16]>::try_from(&sector[..16]).unwrap());
                blocks += 1;
            }
        }
    }
    assert_eq!(seen.len(), blocks);
}

#[test]
fn the_dedupable_share_is_copies_of_a_few_blocks() {
    for percent in [1, 30, 70, 100] {
        let mut copies: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut source = source(0, percent);
        for write in 0..1_000 {
            for block in filled(&mut source, write * 32_768, 32_768).chunks(4096) {
                *copies.entry(block.to_vec()).or_default() += 1;
            }
        }
        let repeated: Vec<u32> = copies
            .values()
            .copied()
            .filter(|count| *count > 1)
            .collect();
        let share = f64::from(repeated.iter().sum::<u32>()) / 80.0;
        assert!(
            (share - f64::from(percent)).abs() < 2.0,
            "{percent} %: {share}"
        );
        assert!(repeated.len() <= 16, "{percent} %: {}", repeated.len());
    }
}

#[test]
fn threads_share_the_blocks_that_repeat() {
    let pattern = DataPattern {
        compressible_percent: 50,
        dedupable_percent: 100,
    };
    let blocks = |thread| -> HashSet<Vec<u8>> {
        let mut source = DataSource::new(pattern, 7, thread);
        (0..300).map(|_| filled(&mut source, 0, 4096)).collect()
    };
    assert_eq!(blocks(0), blocks(1));
    assert!(blocks(0).iter().all(|block| block[2048..] == [0; 2048]));
}

#[test]
fn any_length_at_any_offset_is_filled_completely() {
    for (compressible, dedupable) in [(0, 0), (30, 0), (0, 50), (30, 50)] {
        let mut source = source(compressible, dedupable);
        for length in [0, 1, 63, 64, 65, 511, 512, 4095, 4097, 10_000] {
            for offset in [0, 1, 512, 4095, 32_256, (1 << 50) + 512] {
                let data = filled(&mut source, offset, length);
                // A run of twelve untouched bytes has a chance of 2^-96.
                let untouched = data.windows(12).any(|run| run == [0xaa; 12]);
                assert!(!untouched, "{length} at {offset}");
            }
        }
    }
}

#[test]
fn the_same_seed_and_thread_give_the_same_data() {
    for (compressible, dedupable) in [(0, 0), (30, 40)] {
        let pattern = DataPattern {
            compressible_percent: compressible,
            dedupable_percent: dedupable,
        };
        let data = |seed, thread| {
            let mut source = DataSource::new(pattern, seed, thread);
            filled(&mut source, 0, 512);
            filled(&mut source, 4096, 16_384)
        };
        assert_eq!(data(1, 2), data(1, 2));
        assert_ne!(data(1, 2), data(2, 2));
        assert_ne!(data(1, 2), data(1, 3));
    }
}

#[test]
fn bytes_and_bits_are_evenly_spread() {
    let data = filled(&mut source(0, 0), 0, 1 << 20);
    let mut counts = [0_u32; 256];
    for byte in &data {
        counts[usize::from(*byte)] += 1;
    }
    let mean = data.len() as f64 / 256.0;
    let chi_square: f64 = counts
        .iter()
        .map(|&count| (f64::from(count) - mean).powi(2) / mean)
        .sum();
    // 255 degrees of freedom: 0.1 % lie above 330.5, 0.1 % below 190.9.
    assert!((190.9..330.5).contains(&chi_square), "{chi_square}");
}
