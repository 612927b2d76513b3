//! The first 1,000 items of every stream as digests. Streams are part of the
//! format: a stored record says seed and workload, and the same seed must mean
//! the same operations in every version and on every machine. A digest that has
//! to change is a measurement change for the changelog.

use stripewise_workload::{
    ArrivalSchedule, Arrivals, DataPattern, DataSource, Rate, Span, Streams, Workload,
    WorkloadOptions, derived_seed,
};

/// FNV-1a of 64 bits.
fn digest(words: impl IntoIterator<Item = u64>) -> u64 {
    let bytes = words.into_iter().flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Names and texts of options.
type Options = &'static [(&'static str, &'static str)];

fn workload(options: Options) -> Workload {
    let mut given = WorkloadOptions::default();
    for (name, text) in options {
        given.set(name, text).unwrap();
    }
    given.build(&Workload::default()).unwrap()
}

fn check(name: &str, found: u64, expected: u64) {
    assert_eq!(found, expected, "{name}: {found:#018x}");
}

#[test]
fn operations_are_those_of_the_first_version() {
    let cases: [(&str, Options, u64); 10] = [
        ("uniform", &[], 0xa135_115f_1c80_3f74),
        ("mixed", &[("read-percent", "70")], 0x0074_ad61_5126_5991),
        (
            "zipf below 1",
            &[("distribution", "zipf:0.99")],
            0x5ea0_0b49_2baf_6f53,
        ),
        (
            "zipf of 1",
            &[("distribution", "zipf:1")],
            0xcceb_2f77_e985_cfb3,
        ),
        (
            "zipf above 1",
            &[("distribution", "zipf:1.5")],
            0x99fb_cbee_f8e4_a26e,
        ),
        (
            "hot",
            &[("distribution", "hot:10/90")],
            0xdf39_cc62_eae2_5b38,
        ),
        (
            "covering",
            &[("distribution", "covering")],
            0x47da_0f53_0771_1ef3,
        ),
        (
            "sequential",
            &[("sequential", "true")],
            0xf49e_c9f4_1eb0_473d,
        ),
        (
            "shared",
            &[("sequential", "true"), ("cursor", "shared")],
            0xae67_af86_5d5e_b654,
        ),
        (
            "stride",
            &[("stride", "33K"), ("seed", "5")],
            0x5c01_5309_f151_6874,
        ),
    ];
    let span = Span {
        start_bytes: 32_256,
        block_size_bytes: 8192,
        blocks: (1 << 40) + 7,
    };
    for (name, options, expected) in cases {
        let workload = Workload {
            threads: 4,
            ..workload(options)
        };
        let mut stream = Streams::new(&workload, span).stream(1);
        let operations = (0..1000).flat_map(|_| {
            let (kind, offset) = stream.next();
            [kind as u64, offset]
        });
        check(name, digest(operations), expected);
    }
}

#[test]
fn arrivals_are_those_of_the_first_version() {
    for (name, arrivals, expected) in [
        ("fixed", Arrivals::Fixed, 0x510e_f078_da61_398a),
        ("poisson", Arrivals::Poisson, 0x6d41_25fc_48f7_5c25),
    ] {
        let rate = Rate {
            iops: 7_777.7,
            arrivals,
        };
        let mut schedule = ArrivalSchedule::new(rate, 4, 1, Workload::SEED);
        check(name, digest((0..1000).map(|_| schedule.next())), expected);
    }
}

#[test]
fn data_is_that_of_the_first_version() {
    for (name, compressible_percent, dedupable_percent, expected) in [
        ("dense", 0, 0, 0x2dba_b95e_7a18_d72a),
        ("compressible", 30, 0, 0xcbde_afbc_d71a_9805),
        ("dedupable", 30, 40, 0xf33d_947e_c4d6_b5a0),
    ] {
        let pattern = DataPattern {
            compressible_percent,
            dedupable_percent,
        };
        let mut source = DataSource::new(pattern, Workload::SEED, 1);
        let mut buffer = [0; 8192];
        let words = (0..1000_u64).flat_map(|write| {
            source.fill(write * 8192 + 512, &mut buffer);
            buffer
                .chunks(8)
                .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
                .collect::<Vec<_>>()
        });
        check(name, digest(words), expected);
    }
}

#[test]
fn derived_seeds_are_those_of_the_first_version() {
    let seeds = (0..1000).map(|index| derived_seed(Workload::SEED, index));
    check("derived seeds", digest(seeds), 0x6c33_616d_d71b_9192);
}
