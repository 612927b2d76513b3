use super::*;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// A small generator for test data: SplitMix64, seeded.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Values over all octaves up to 41 bits.
fn spread(seed: u64, length: usize) -> Vec<u64> {
    let mut state = seed;
    (0..length)
        .map(|_| random(&mut state) >> (23 + random(&mut state) % 41))
        .collect()
}

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|&value| histogram.record(value));
    histogram
}

fn by_the_crate(bytes: &[u8]) -> hdrhistogram::Histogram<u64> {
    Deserializer::new()
        .deserialize(&mut &bytes[..])
        .expect("the crate reads what we write")
}

#[test]
fn each_hdr_bucket_lies_in_one_of_ours() {
    let mut next = 0;
    for index in 0..=hdr_index(VALUE_MAX) {
        let (low, high) = hdr_range(index);
        assert_eq!((low, hdr_index(low), hdr_index(high)), (next, index, index));
        assert_eq!(Histogram::index(low), Histogram::index(high));
        next = high + 1;
    }
    assert_eq!(next, VALUE_MAX + 1);
    assert_eq!(hdr_range(HDR_INDEX_MAX).1, u64::MAX);
}

#[test]
fn histograms_come_back_equal() {
    let mut cases = vec![
        vec![],
        vec![0],
        vec![1, 1],
        vec![VALUE_MAX],
        vec![7, u64::MAX],
        vec![1_023, 1_024, 2_047, 2_048],
    ];
    cases.extend((0..50).map(|seed| spread(seed, 1 << (seed % 12))));
    for values in cases {
        let histogram = of(&values);
        assert_eq!(Histogram::from_v2(&histogram.to_v2()), Ok(histogram));
    }
}

#[test]
fn every_single_bucket_comes_back_equal() {
    for index in 0..Histogram::BUCKETS {
        let (low, high) = Histogram::range_of(index);
        let histogram = of(&[low, high, high]);
        assert_eq!(Histogram::from_v2(&histogram.to_v2()), Ok(histogram));
    }
}

#[test]
fn large_counts_come_back() {
    for bits in 0..63 {
        for count in [1u64 << bits, (1u64 << bits) - 1] {
            let mut histogram = Histogram::new();
            histogram.record_n(5_000, count);
            assert_eq!(Histogram::from_v2(&histogram.to_v2()), Ok(histogram));
        }
    }
}

// 20,011 is prime: no percentile falls on a whole rank, where the crate's
// binary fractions decide.
#[test]
fn the_hdrhistogram_crate_reads_ours_and_agrees_on_every_percentile() {
    let histogram = of(&spread(99, 20_011));
    let theirs = by_the_crate(&histogram.to_v2());
    assert_eq!(theirs.len(), histogram.count());
    for permille in 1..1_000u32 {
        let ours = histogram.percentile(f64::from(permille) / 10.0).unwrap();
        let other = theirs.value_at_quantile(f64::from(permille) / 1_000.0);
        assert_eq!(hdr_index(ours), hdr_index(other), "{permille} per mille");
    }
}

#[test]
fn histograms_of_the_crate_are_read_without_a_trailer() {
    let values = spread(5, 5_000);
    let mut theirs = hdrhistogram::Histogram::<u64>::new_with_bounds(1, VALUE_MAX, 3).unwrap();
    values
        .iter()
        .for_each(|&value| theirs.record(value).unwrap());
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&theirs, &mut bytes).unwrap();
    let read = Histogram::from_v2(&bytes).unwrap();
    let exact = of(&values);
    assert_eq!(read.count(), 5_000);
    for (a, b) in read.nonzero().zip(exact.nonzero()) {
        assert_eq!(a, b);
    }
    let (approximate, mean) = (read.mean().unwrap(), exact.mean().unwrap());
    assert!((approximate / mean - 1.0).abs() < 5e-4);
}

#[test]
fn damaged_bytes_are_refused_with_the_reason() {
    let good = of(&[1, 50_000, 3_000_000]).to_v2();
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        Histogram::from_v2(&bytes)
    };
    assert!(matches!(with(0, 9), Err(V2Error::Cookie { .. })));
    assert!(matches!(with(4, 0xff), Err(V2Error::Truncated { .. })));
    for at in [11, 15, 23, 39] {
        assert!(matches!(with(at, 9), Err(V2Error::Unsupported { .. })));
    }
    let trailer = good.len() - TRAILER_BYTES;
    assert_eq!(with(trailer, 0), Err(V2Error::Trailer));
    assert_eq!(with(trailer + 11, 99), Err(V2Error::Trailer));
    assert_eq!(with(trailer + 20, 99), Err(V2Error::Trailer));
    assert_eq!(
        Histogram::from_v2(&good[..trailer + 4]),
        Err(V2Error::Trailer)
    );
}

#[test]
fn hostile_bytes_neither_panic_nor_allocate_much() {
    // Counts beyond the last bucket, a skip of 2^63, a sum over 2^64.
    let header = &of(&[]).to_v2()[..HEADER_BYTES];
    let blob = |payload: &[u8]| {
        let mut bytes = header.to_vec();
        bytes[4..8].copy_from_slice(&(payload.len() as u32).to_be_bytes());
        bytes.extend_from_slice(payload);
        bytes
    };
    let skip_all = [0xff; 9];
    let cases: [&[u8]; 4] = [
        &[&skip_all[..], &[2]].concat(),
        &[0x80],
        &[[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]; 3].concat(),
        &[0xff, 0xff, 0xff, 0xff, 0x0f, 2],
    ];
    for payload in cases {
        let result = Histogram::from_v2(&blob(payload));
        assert!(matches!(result, Err(V2Error::Counts { .. })), "{payload:?}");
    }
    // One bit or byte changed anywhere, and any bytes at all behind the header.
    let good = of(&spread(3, 300)).to_v2();
    let mut state = 1;
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        let at = random(&mut state) as usize % bytes.len();
        bytes[at] = random(&mut state) as u8;
        bytes.truncate(bytes.len() - random(&mut state) as usize % 2 * at);
        if let Ok(histogram) = Histogram::from_v2(&bytes) {
            let again = Histogram::from_v2(&histogram.to_v2());
            assert_eq!(again, Ok(histogram));
        }
        let payload: Vec<u8> = (0..40).map(|_| random(&mut state) as u8).collect();
        let _ = Histogram::from_v2(&blob(&payload));
    }
}
