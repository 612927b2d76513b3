//! Tables of what is accepted, refused and printed, and the round trips.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use stripewise_units::{
    ByteSize, CpuList, List, Nanoseconds, format_bytes, format_count, format_duration,
    format_duration_beside, format_iops, format_iops_beside, format_mib_per_s,
};

fn fixed_seed() -> Config {
    Config {
        rng_seed: RngSeed::Fixed(20_071_121),
        failure_persistence: None,
        ..Config::with_cases(2_000)
    }
}

#[test]
fn sizes_are_read_as_people_type_them() {
    for (typed, bytes) in [
        ("4096", 4096),
        ("0", 0),
        ("512B", 512),
        ("8K", 8192),
        ("64k", 65_536),
        ("8KiB", 8192),
        ("8KB", 8192),
        ("8 KiB", 8192),
        (" 8K ", 8192),
        ("31.5K", 32_256),
        ("63s", 32_256),
        ("0.5s", 256),
        ("1M", 1 << 20),
        ("1.5G", 3 << 29),
        ("1.50G", 3 << 29),
        ("2T", 2 << 40),
        (".5K", 512),
        ("1.K", 1024),
        ("1P", 1 << 50),
        ("15E", 15 << 60),
        ("18446744073709551615", u64::MAX),
        ("0.0009765625K", 1),
        ("00000000000000000000000000000000000000000000001", 1),
    ] {
        assert_eq!(typed.parse(), Ok(ByteSize(bytes)), "{typed}");
    }
}

#[test]
fn bad_sizes_are_refused_with_the_reason_and_a_hint() {
    for (typed, message) in [
        ("", "nothing was given where a value is needed"),
        ("K", "`K` is not a valid size"),
        ("-8K", "`-8K` is not a valid size"),
        ("8X", "`8X` has an unknown unit (at `X`)"),
        ("8Kb/s", "`8Kb/s` has an unknown unit (at `Kb/s`)"),
        ("1.2.3K", "`1.2.3K` has an unknown unit (at `.3K`)"),
        (
            "8\u{212a}",
            "`8\u{212a}` has an unknown unit (at `\u{212a}`)",
        ),
        ("0.3", "`0.3` is not a whole number of bytes"),
        ("31.3K", "`31.3K` is not a whole number of bytes"),
        ("16E", "`16E` is too large"),
        (
            "18446744073709551616",
            "`18446744073709551616` is too large",
        ),
        ("1e3", "`1e3` has an unknown unit (at `e3`)"),
        ("8,192", "`8,192` has an unknown unit (at `,192`)"),
    ] {
        let error = typed.parse::<ByteSize>().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.hint().is_empty(), "{typed}");
    }
    let many = "9".repeat(60);
    assert!(many.parse::<ByteSize>().is_err());
    assert!(format!("0.{many}").parse::<ByteSize>().is_err());
}

#[test]
fn sizes_print_as_switches_take_them() {
    for (bytes, text) in [
        (0, "0"),
        (512, "512"),
        (1024, "1K"),
        (1536, "1.5K"),
        (8192, "8K"),
        (8193, "8193"),
        (32_256, "31.5K"),
        (3 << 29, "1.5G"),
        ((1 << 20) + 512, "1024.5K"),
        ((1 << 20) + 4096, "1028K"),
        (u64::MAX, "18446744073709551615"),
        (1 << 60, "1E"),
    ] {
        assert_eq!(ByteSize(bytes).to_string(), text);
    }
}

#[test]
fn sizes_for_people_never_show_1024_of_a_unit() {
    for (bytes, text) in [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1025, "1.0 KiB"),
        (32_256, "31.5 KiB"),
        ((1 << 20) - 1, "1.0 MiB"),
        ((1 << 20) - 52, "1023.9 KiB"),
        (1 << 20, "1 MiB"),
        ((1 << 30) - 1, "1.0 GiB"),
        (1_288_490_189, "1.2 GiB"),
        (2 << 40, "2 TiB"),
        (u64::MAX, "16.0 EiB"),
    ] {
        assert_eq!(format_bytes(bytes), text, "{bytes}");
    }
}

#[test]
fn times_are_read_as_people_type_them() {
    for (typed, ns) in [
        ("10s", 10_000_000_000),
        ("10", 10_000_000_000),
        ("1.5", 1_500_000_000),
        ("1.5s", 1_500_000_000),
        ("500ms", 500_000_000),
        ("20us", 20_000),
        ("20\u{b5}s", 20_000),
        ("20\u{3bc}s", 20_000),
        ("300ns", 300),
        ("0.3us", 300),
        ("2m", 120_000_000_000),
        ("2min", 120_000_000_000),
        ("1h", 3_600_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("1 m 30 s", 90_000_000_000),
        ("4.21 ms", 4_210_000),
        ("0", 0),
        ("18446744073709551615ns", u64::MAX),
    ] {
        assert_eq!(typed.parse(), Ok(Nanoseconds(ns)), "{typed}");
    }
}

#[test]
fn bad_times_are_refused_with_the_reason_and_a_hint() {
    for (typed, message) in [
        (" ", "nothing was given where a value is needed"),
        ("s", "`s` is not a valid duration"),
        ("10x", "`10x` has an unknown unit (at `x`)"),
        ("10s5", "`10s5` has an unknown unit"),
        ("10s1m", "`10s1m` has its units out of order (at `m`)"),
        ("10sfive", "`10sfive` has an unknown unit (at `sfive`)"),
        ("10s five", "`10s five` is not a valid duration (at `five`)"),
        ("0.3ns", "`0.3ns` is not a whole number of nanoseconds"),
        ("585y", "`585y` has an unknown unit (at `y`)"),
        ("5124096h", "`5124096h` is too long"),
        (
            "18446744073709551615ns1",
            "`18446744073709551615ns1` has an unknown unit",
        ),
    ] {
        let error = typed.parse::<Nanoseconds>().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.hint().is_empty(), "{typed}");
    }
}

#[test]
fn times_print_exactly_and_for_people() {
    for (ns, exact, people) in [
        (0, "0s", "0 ns"),
        (300, "300ns", "300 ns"),
        (1_234, "1.234us", "1.23 µs"),
        (812_000, "812us", "812 µs"),
        (999_499, "999.499us", "999 µs"),
        (999_500, "999.5us", "1.00 ms"),
        (4_213_000, "4.213ms", "4.21 ms"),
        (4_213_579, "4213.579us", "4.21 ms"),
        (9_995_000, "9.995ms", "10.0 ms"),
        (9_994_999, "9994.999us", "9.99 ms"),
        (99_950_000, "99.95ms", "100 ms"),
        (500_000_000, "500ms", "500 ms"),
        (999_999_999, "999999.999us", "1.00 s"),
        (1_500_000_000, "1.5s", "1.50 s"),
        (10_000_000_000, "10s", "10 s"),
        (59_960_000_000, "59.96s", "1 m"),
        (90_000_000_000, "90s", "1 m 30 s"),
        (120_000_000_000, "2m", "2 m"),
        (3_599_600_000_000, "3599.6s", "1 h"),
        (7_500_000_000_000, "125m", "2 h 5 m"),
        (86_399_000_000_000, "86399s", "1 d"),
        (273_600_000_000_000, "76h", "3 d 4 h"),
    ] {
        assert_eq!(Nanoseconds(ns).to_string(), exact);
        assert_eq!(format_duration(ns), people, "{ns}");
    }
    assert_eq!(format_duration(u64::MAX), "213504 d");
}

#[test]
fn counts_and_rates_are_rounded_once_and_right() {
    for (count, text) in [
        (0, "0"),
        (999, "999"),
        (1000, "1,000"),
        (9800, "9,800"),
        (123_456, "123,456"),
        (u64::MAX, "18,446,744,073,709,551,615"),
    ] {
        assert_eq!(format_count(count), text);
    }
    for (iops, text) in [
        (0.0, "0.00"),
        (0.254, "0.25"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (99.94, "99.9"),
        (99.96, "100"),
        (999.6, "1,000"),
        (12_399.7, "12,400"),
        (f64::NAN, "n/a"),
        (f64::INFINITY, "n/a"),
        (-1.0, "n/a"),
    ] {
        assert_eq!(format_iops(iops), text);
    }
    for (rate, text) in [
        (0.0, "0.00 MiB/s"),
        (9.996, "10.0 MiB/s"),
        (76.5625, "76.6 MiB/s"),
        (1234.54, "1234.5 MiB/s"),
        (f64::NAN, "n/a"),
    ] {
        assert_eq!(format_mib_per_s(rate), text);
    }
}

#[test]
fn lists_name_the_bad_item() {
    assert_eq!(
        "8K,64K".parse::<List<ByteSize>>().unwrap().to_string(),
        "8K,64K"
    );
    assert_eq!("7".parse::<List<u64>>().unwrap().0, [7]);
    for (typed, message) in [
        ("1,,2", "`1,,2` has an empty place in its list (at `,2`)"),
        ("", "nothing was given where a value is needed"),
        ("1,x", "`1,x` has a bad part: `x` is not a whole number"),
        (
            "1,4294967296",
            "`1,4294967296` has a bad part: `4294967296` is too large",
        ),
    ] {
        let error = typed.parse::<List<u32>>().unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn processors_are_sorted_and_bounded() {
    assert_eq!(
        "8,0-3,2".parse::<CpuList>().unwrap().cpus(),
        [0, 1, 2, 3, 8]
    );
    for typed in ["", "3-1", "a", "0-", "-1", "0-4294967295", "8192", "1,,2"] {
        assert!(typed.parse::<CpuList>().is_err(), "{typed}");
    }
}

#[test]
fn documents_may_hold_text_or_bare_numbers() {
    let sizes: Vec<ByteSize> = serde_json::from_str(r#"["8K", 8192]"#).unwrap();
    assert_eq!(sizes, [ByteSize(8192); 2]);
    let times: Vec<Nanoseconds> = serde_json::from_str(r#"["10s", 10, 1.5]"#).unwrap();
    assert_eq!(
        times.map_ns(),
        [10_000_000_000, 10_000_000_000, 1_500_000_000]
    );
    assert_eq!(
        serde_json::to_string(&ByteSize(32_256)).unwrap(),
        r#""31.5K""#
    );
    let error = serde_json::from_str::<ByteSize>("-1")
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("`-1` is not a valid size; hint: "),
        "{error}"
    );
}

trait MapNs {
    fn map_ns(&self) -> Vec<u64>;
}

impl MapNs for Vec<Nanoseconds> {
    fn map_ns(&self) -> Vec<u64> {
        self.iter().map(|time| time.ns()).collect()
    }
}

/// Numbers near powers of two and ten as well as arbitrary ones.
fn interesting() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (0_u32..64, 0_u64..2000).prop_map(|(bits, offset)| (1_u64 << bits).wrapping_add(offset)),
        (0_u32..20, 0_u64..2000).prop_map(|(tens, factor)| 10_u64.pow(tens).saturating_mul(factor)),
        (0_u64..1 << 30).prop_map(|sectors| sectors * 512),
    ]
}

proptest! {
    #![proptest_config(fixed_seed())]

    #[test]
    fn a_printed_size_parses_to_itself(bytes in interesting()) {
        prop_assert_eq!(ByteSize(bytes).to_string().parse(), Ok(ByteSize(bytes)));
    }

    #[test]
    fn a_printed_time_parses_to_itself(ns in interesting()) {
        prop_assert_eq!(Nanoseconds(ns).to_string().parse(), Ok(Nanoseconds(ns)));
    }

    #[test]
    fn beside_its_bound_a_number_is_on_the_side_where_it_lies(
        value in 1.0..100_000.0_f64,
        change in -0.01..0.01_f64,
    ) {
        // Closer ones are rounded to the same: a millionth is enough of any measurement.
        prop_assume!(change.abs() > 1e-6);
        let bound = value * (1.0 + change);
        let text = format_iops_beside(value, bound).replace(',', "");
        let shown: f64 = text.parse().expect("a number");
        prop_assert_eq!(shown < bound, value < bound, "{} beside {}", text, bound);
        let ns = (value * 1e6) as u64;
        let bound_ns = (bound * 1e6) as u64;
        let text = format_duration_beside(ns, bound_ns);
        // From a minute on whole seconds are shown.
        if let Some(number) = text.strip_suffix(" s").filter(|_| !text.contains('m')) {
            let shown_s: f64 = number.parse().expect("a number");
            prop_assert_eq!(shown_s < bound_ns as f64 / 1e9, ns < bound_ns, "{}", text);
        }
    }

    #[test]
    fn a_size_for_people_is_within_half_a_digit(bytes in 1_u64..1 << 62) {
        let text = format_bytes(bytes);
        let number: f64 = text.split(' ').next().unwrap().parse().unwrap();
        prop_assert!(number < 1024.0, "{}", text);
        // Half a tenth of a number that is at least 1.
        let unit_bytes = format!("1{}", text.split(' ').nth(1).unwrap()).parse::<ByteSize>().unwrap();
        let error = number - bytes as f64 / unit_bytes.bytes() as f64;
        prop_assert!(error.abs() <= 0.05 + 1e-9, "{} for {}", text, bytes);
    }

    #[test]
    fn a_time_for_people_is_within_half_a_percent(ns in 1_u64..60_000_000_000) {
        let text = format_duration(ns);
        prop_assert!(!text.starts_with("1000 "), "{}", text);
        let read: Nanoseconds = text.parse().unwrap();
        prop_assert!(read.ns().abs_diff(ns) * 200 <= ns, "{} for {}", text, ns);
    }

    #[test]
    fn a_printed_processor_list_parses_to_itself(cpus in prop::collection::vec(0_u32..100, 1..40)) {
        let typed: Vec<String> = cpus.iter().map(u32::to_string).collect();
        let list: CpuList = typed.join(",").parse().unwrap();
        prop_assert_eq!(list.to_string().parse(), Ok(list));
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in "\\PC{0,12}|[0-9.]{1,45}[a-zµ ]{0,4}") {
        let _ = text.parse::<ByteSize>();
        let _ = text.parse::<Nanoseconds>();
        let _ = text.parse::<CpuList>();
        let _ = text.parse::<List<u32>>();
    }
}
