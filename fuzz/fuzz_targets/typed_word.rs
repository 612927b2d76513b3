//! Any text as a word that people type: a size, a time, a list, a limit, a rate, a
//! target, the changes to a simulated array. What is understood prints itself so that
//! it is understood again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::LazyLock;
use stripewise_array_sim::ArraySpec;
use stripewise_lab::compare::Requirement;
use stripewise_stats::Slo;
use stripewise_targets::TargetName;
use stripewise_units::{ByteSize, CpuList, List, Nanoseconds, parse_count};

static ARRAY: LazyLock<ArraySpec> =
    LazyLock::new(|| ArraySpec::bundled("raid10-10k").expect("a known array"));

/// Read, printed, and read again.
fn again<T: FromStr + Display + PartialEq>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let printed = value.to_string();
        match printed.parse::<T>() {
            Ok(same) => assert!(same == value, "{text:?} prints as {printed:?}"),
            Err(_) => panic!("{text:?} prints as {printed:?}, which is not understood"),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    again::<ByteSize>(text);
    again::<Nanoseconds>(text);
    again::<CpuList>(text);
    again::<Slo>(text);
    again::<List<ByteSize>>(text);
    let _ = parse_count(text);
    let _ = stripewise_workload::parse_rate(text);
    let _ = text.parse::<Requirement>();
    let _ = text.parse::<TargetName>();
    let _ = ARRAY.clone().with_overrides(text);
});
