//! Limits of latency: as they are typed, printed and judged.

use proptest::prelude::*;
use stripewise_stats::{LatencyStatistic, Slo};
use stripewise_units::ParseError;

#[test]
fn latency_limits_are_read_and_judged() {
    for (typed, percentile, limit_ns, inclusive) in [
        ("p99<5ms", LatencyStatistic::P99, 5_000_000, false),
        ("P50 <= 800us", LatencyStatistic::P50, 800_000, true),
        ("p90<1s", LatencyStatistic::P90, 1_000_000_000, false),
        ("p99.9<10ms", LatencyStatistic::P999, 10_000_000, false),
        ("p999<10ms", LatencyStatistic::P999, 10_000_000, false),
        ("mean<2ms", LatencyStatistic::Mean, 2_000_000, false),
        ("max:1s", LatencyStatistic::Max, 1_000_000_000, true),
    ] {
        let expected = Slo {
            percentile,
            limit_ns,
            inclusive,
        };
        assert_eq!(typed.parse(), Ok(expected), "{typed}");
        assert_eq!(expected.is_met_by(limit_ns), inclusive);
        assert!(expected.is_met_by(limit_ns - 1) && !expected.is_met_by(limit_ns + 1));
    }
    for (typed, message) in [
        ("p99", "`p99` has no `<`"),
        ("p98<5ms", "`p98<5ms` limits `p98`, which is not known"),
        ("<5ms", "`<5ms` limits ``, which is not known"),
        (
            "p99<5x",
            "`p99<5x` has a bad part: `5x` has an unknown unit (at `x`)",
        ),
        ("p99<0ms", "`p99<0ms` can never be kept (at `0ms`)"),
        ("p99<5", "`p99<5` has no unit of time (at `5`)"),
    ] {
        let error: ParseError = typed.parse::<Slo>().unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

proptest! {
    #[test]
    fn a_printed_limit_parses_to_itself(which in 0_usize..6, limit_ns in 1_u64.., inclusive: bool) {
        let slo = Slo { percentile: LatencyStatistic::ALL[which], limit_ns, inclusive };
        prop_assert_eq!(slo.to_string().parse(), Ok(slo));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,12}|p99[<:=0-9.]{1,45}[a-zµ ]{0,4}") {
        if let Err(error) = text.parse::<Slo>() {
            prop_assert!(!error.to_string().is_empty() && !error.hint().is_empty());
        }
    }
}
