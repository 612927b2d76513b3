//! The documentation has every code, and advice changes where it was followed.

use super::clean::*;
use crate::trust::{Code, Evidence, judge, store_behind, wrong_data};
use std::path::Path;
use stripewise_results::{SustainedClaim, TargetKind};
use stripewise_workload::CacheMode;

#[test]
fn the_documentation_lists_exactly_the_codes_of_the_source_by_the_alphabet() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/WARNINGS.md");
    let text = std::fs::read_to_string(path).expect("docs/WARNINGS.md");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let documented: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    let mut in_source: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    in_source.sort_unstable();
    assert_eq!(documented, in_source);
    for row in rows {
        assert!(
            row.len() == 4 && row.iter().all(|cell| !cell.is_empty()),
            "a row needs four cells: {row:?}"
        );
    }
}

#[test]
fn codes_are_kebab_case_and_unique() {
    let mut observed_mut = std::collections::HashSet::new();
    for code in Code::ALL {
        let text = code.as_str();
        assert!(observed_mut.insert(text), "{text} twice");
        assert!(
            text.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{text}"
        );
    }
}

fn hint(evidence: &Evidence, code: Code) -> String {
    let found = judge(evidence)
        .into_iter()
        .find(|warning| warning.code == code.as_str());
    found
        .unwrap_or_else(|| panic!("{} did not fire", code.as_str()))
        .hint
        .to_string()
}

#[test]
fn advice_changes_where_it_was_followed_or_cannot_help() {
    let mut evidence = clean();
    evidence.outcome.cpu_user_ns_per_operation = 500_000.0;
    assert!(hint(&evidence, Code::CpuBound).contains("--threads 4"));
    evidence.workload.threads = 4;
    evidence.outcome.cpu_user_ns_per_operation = 2_000_000.0;
    assert!(hint(&evidence, Code::CpuBound).contains("all processors are in use"));
    evidence.host.cpu.quota = Some(1.0);
    assert!(hint(&evidence, Code::CpuBound).contains("quota"));

    let mut evidence = clean();
    for (index, interval) in evidence.outcome.intervals.iter_mut().enumerate() {
        interval.read_operations = 3_000 - 80 * index as u64;
    }
    assert!(hint(&evidence, Code::NotSteady).contains("--ramp, and"));
    evidence.workload.ramp_ns = 60_000_000_000;
    assert!(hint(&evidence, Code::NotSteady).contains("was not enough"));
    evidence.quick = true;
    assert!(hint(&evidence, Code::NotSteady).contains("--thorough"));

    // Writes that were quicker at first, in a part of the first round and in all of it.
    let mut evidence = clean();
    rates(&mut evidence, |index| if index == 0 { 20_000 } else { 300 });
    assert!(!hint(&evidence, Code::NotSteady).contains("--steady"));
    evidence.workload.read_percent = 0;
    assert!(hint(&evidence, Code::NotSteady).contains("--steady"));
    rates(&mut evidence, |index| if index < 8 { 20_000 } else { 300 });
    assert!(hint(&evidence, Code::StepDown).contains("--steady"));
    let found = judge(&evidence);
    let absorbed = "may have absorbed the first 1.2 GiB";
    assert!(found.iter().any(|one| one.message.contains(absorbed)));
    evidence.sustained = Some(super::cases::pilot(SustainedClaim::AtLeast));
    assert!(!hint(&evidence, Code::StepDown).contains("--steady"));

    let mut evidence = clean();
    evidence.sustained = Some(super::cases::pilot(SustainedClaim::CacheAbsorbs));
    assert_eq!(hint(&evidence, Code::NotSustained), "give it more time");
    evidence.workload.read_percent = 0;
    assert!(hint(&evidence, Code::NotSustained).contains("--cache-size"));
    evidence.cache_size_bytes = Some(1 << 30);
    assert_eq!(hint(&evidence, Code::NotSustained), "give it more time");

    let mut evidence = clean();
    evidence.workload.cache = CacheMode::Buffered;
    assert!(hint(&evidence, Code::PageCache).contains("leave out --cache"));
    evidence.direct_refused = Some("tmpfs".into());
    assert!(hint(&evidence, Code::PageCache).contains("allows direct"));

    let mut evidence = clean();
    evidence.outcome.operations = 50;
    assert!(hint(&evidence, Code::FewOperations).contains("--duration"));
    evidence.interrupted = true;
    assert!(hint(&evidence, Code::FewOperations).contains("stopped early"));
}

#[test]
fn advice_fits_the_target_and_the_command() {
    let on_device = |change: fn(&mut Evidence)| {
        let mut evidence = clean();
        evidence.target.kind = TargetKind::Device;
        change(&mut evidence);
        evidence
    };
    // A device has no path for `prepare`, and no file to name a directory instead of.
    let zeros = on_device(|e| content(e).blocks_zero = 1_000);
    let advice = hint(&zeros, Code::ZeroData);
    assert!(!advice.contains("prepare") && !advice.contains("instead of the file"));
    let text = on_device(|e| content(e).blocks_compressible = 900);
    assert!(!hint(&text, Code::CompressibleData).contains("instead of the file"));
    // No size was given.
    let spins = |e: &mut Evidence| {
        device(e).queue.rotational = Some(true);
        device(e).size_bytes = 10_000 * GIB;
    };
    let mut narrow = on_device(|_| {});
    spins(&mut narrow);
    assert!(!hint(&narrow, Code::NarrowSpan).contains("--size"));
    narrow.workload.size_bytes = Some(GIB);
    assert!(hint(&narrow, Code::NarrowSpan).contains("leave out --size"));
    let small = on_device(|e| e.target.size_bytes = GIB / 8);
    assert!(!hint(&small, Code::SmallerThanCache).contains("--size"));
    // `bench` sets the threads itself.
    let mut busy = clean();
    busy.outcome.cpu_user_ns_per_operation = 500_000.0;
    busy.quick = true;
    assert!(hint(&busy, Code::CpuBound).contains("`stripewise run TARGET --threads 4`"));
}

#[test]
fn what_makes_a_result_void_is_foreseen() {
    let foreseen = |evidence: &Evidence| {
        let found = crate::trust::foreseen(evidence);
        found.into_iter().map(|warning| warning.code).collect()
    };
    let none: Vec<String> = foreseen(&clean());
    assert!(none.is_empty(), "{none:?}");
    let mut holes = clean();
    layout(&mut holes).hole_bytes = 150 * GIB;
    assert_eq!(foreseen(&holes), ["sparse-file"]);
    // Some of them are for the end.
    layout(&mut holes).hole_bytes = 40 * GIB;
    assert!(foreseen(&holes).is_empty());
    let mut zeros = clean();
    content(&mut zeros).blocks_zero = 1_000;
    assert_eq!(foreseen(&zeros), ["zero-data"]);
}

#[test]
fn fallbacks_name_what_to_change() {
    for (reason, advice) in [
        ("kernel.io_uring_disabled is 2", "sysctl"),
        (
            "io_uring_setup: Operation not permitted (EPERM), perhaps seccomp",
            "seccomp",
        ),
        (
            "registering buffers: Cannot allocate memory, RLIMIT_MEMLOCK is 8 MiB",
            "ulimit -l",
        ),
        ("ENOSYS", "newer kernel"),
        ("gremlins", "doctor"),
    ] {
        let mut evidence = clean();
        evidence.engine.fallbacks = vec![reason.into()];
        assert!(
            hint(&evidence, Code::EngineFallback).contains(advice),
            "{reason}"
        );
    }
}

/// Linux answers ENOSPC for what lies behind the end of a device, also where that
/// end is 0 now, as the device was unplugged: nothing there can be made room in.
#[test]
fn enospc_of_a_device_is_no_full_file_system() {
    let failing = |kind, after_the_stop: bool| {
        let mut evidence = clean();
        evidence.target.kind = kind;
        if after_the_stop {
            evidence.outcome.drain.errors = 3;
            evidence.outcome.drain.operations = 8;
            evidence.outcome.drain.first_error = Some("write at byte 8192: ENOSPC".into());
        } else {
            let errors = &mut evidence.outcome.errors;
            errors.total = 3;
            errors.by_reason.insert("write ENOSPC".into(), 3);
        }
        hint(&evidence, Code::Errors)
    };
    for after_the_stop in [false, true] {
        let device = failing(TargetKind::Device, after_the_stop);
        assert!(device.contains("unplugged"), "{device}");
        assert!(!device.contains("make room"), "{device}");
        for kind in [TargetKind::File, TargetKind::TestFile] {
            let file = failing(kind, after_the_stop);
            assert!(file.contains("make room"), "{file}");
            assert!(!file.contains("unplugged"), "{file}");
        }
    }
}

#[test]
fn a_store_that_joined_intervals_says_so() {
    assert!(wrong_data(&std::collections::BTreeMap::new()).is_none());
    let faults = std::collections::BTreeMap::from([("torn".to_owned(), 2)]);
    let warning = wrong_data(&faults).expect("void");
    assert!(warning.message.contains("2 torn"), "{}", warning.message);
    assert!(store_behind(0).is_none());
    let warning = store_behind(1_200).expect("a note");
    assert_eq!(warning.code, Code::StoreBehind.as_str());
    assert!(warning.message.contains("1,200 stored intervals"));
    assert!(warning.hint.contains("--store"), "{}", warning.hint);
}
