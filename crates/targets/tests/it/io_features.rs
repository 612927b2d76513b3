//! Uncached, atomic and polled operations are refused, with the reason, where they are not
//! to be had. In memory they never are.

use crate::support::{
    MIB, Watching, assert_untouched, discarding, filling, overwriting, plan, prepare, reading,
    refused, users_file, writing,
};
use stripewise_targets::ErrorKind::{Refused, Unusable, Usage};
use stripewise_targets::{Access, Intent, IoFeatures, PlanContext};
use stripewise_workload::{CacheMode, Workload};

fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").expect("a directory in memory")
}

#[test]
fn uncached_operations_are_tried_and_refused_where_the_file_system_cannot() {
    own_process!();
    let directory = in_memory();
    let path = users_file(directory.path(), "data", MIB);
    let uncached = |intent: Intent| Intent {
        cache: CacheMode::Dontcache,
        cache_by_name: true,
        ..intent
    };
    let planned = plan(&path, &uncached(reading())).expect("known only when it is opened");
    refused(prepare(planned), Unusable, "RWF_DONTCACHE");
    // Before a byte of a test file is written.
    let planned = plan(directory.path(), &uncached(filling(1))).expect("a plan");
    refused(prepare(planned), Unusable, "Linux 6.14");
    // A grid may come to it later.
    let target = prepare(plan(&path, &reading()).expect("a plan")).expect("buffered");
    refused(
        target.open(CacheMode::Dontcache, Access::Read),
        Unusable,
        "--cache buffered",
    );
}

#[test]
fn nothing_is_discarded_that_was_not_judged_for_it() {
    own_process!();
    let top = crate::support::directory();
    let path = users_file(top.path(), "data", MIB);
    let discards = Workload {
        read_percent: 0,
        discard_percent: 100,
        ..Workload::default()
    };
    // Planned for writing, even a file of Stripewise's; a load that comes later by another way.
    for (place, options) in [(path.as_path(), overwriting()), (top.path(), filling(1))] {
        let target = prepare(plan(place, &options).expect("a plan")).expect("to be written");
        refused(target.fits(&discards), Refused, "planned without discards");
        target.finish().expect("gone");
    }
    // Planned for reading only, whatever the intent says of discards.
    for options in [reading(), discarding(reading())] {
        let target = prepare(plan(&path, &options).expect("a plan")).expect("to be read");
        refused(target.fits(&discards), Refused, "planned without discards");
    }
    let passed = Intent {
        features: IoFeatures::default().passed_through(true),
        ..writing()
    };
    refused(plan(&path, &discarding(passed)), Usage, "no discards");
    let planned = plan(top.path(), &discarding(filling(1))).expect("a plan");
    assert!(
        planned
            .to_string()
            .contains("\nDiscards: what they hit is lost"),
        "{planned}"
    );
    let target = prepare(planned);
    let target = target.expect("made for it");
    target.fits(&discards).expect("a file of ours");
    assert_untouched(&path, MIB);
}

/// A test file may take hours to fill: unsuitable sizes are detected before.
#[test]
fn sizes_that_do_not_fit_are_refused_before_a_byte_is_written() {
    own_process!();
    let top = crate::support::directory();
    let discards = |block_size_bytes, base_offset_bytes| Workload {
        read_percent: 0,
        discard_percent: 100,
        block_size_bytes,
        base_offset_bytes,
        ..Workload::default()
    };
    let with = |load: Workload| Intent {
        loads: vec![load],
        ..discarding(filling(1))
    };
    for (load, expected_text) in [
        (discards(512, 0), "a block of 512"),
        (discards(8192, 512), "none begins at 512"),
    ] {
        let planned = plan(top.path(), &with(load)).expect("known only when it is made");
        let mut begins = Watching::new(|_| panic!("something is filled"));
        let prepared = stripewise_targets::prepare(planned, &PlanContext::none(), &mut begins);
        refused(prepared, Unusable, expected_text);
    }
    let planned = plan(top.path(), &with(discards(8192, 0))).expect("a plan");
    prepare(planned).expect("whole blocks");
}

#[test]
fn atomic_writes_are_refused_where_there_are_none() {
    own_process!();
    let directory = in_memory();
    let path = users_file(directory.path(), "data", MIB);
    let atomic = Intent {
        features: IoFeatures {
            atomic: true,
            ..IoFeatures::default()
        },
        ..overwriting()
    };
    // Commands are sent to NVMe devices alone.
    let commands = Intent {
        features: IoFeatures::default().passed_through(true),
        ..reading()
    };
    for place in [directory.path(), &path] {
        refused(plan(place, &commands), Usage, "/dev/ng0n1");
    }
    let buffered = Intent {
        cache: CacheMode::Buffered,
        ..commands
    };
    refused(plan(&path, &buffered), Usage, "--cache");
    let planned = plan(&path, &atomic).expect("known only when it is opened");
    refused(prepare(planned), Unusable, "atomic writes");
    let target = prepare(plan(&path, &overwriting()).expect("a plan")).expect("plain");
    let workload = Workload {
        read_percent: 0,
        atomic: true,
        ..Workload::default()
    };
    refused(target.fits(&workload), Unusable, "atomic writes");
    target.fits(&Workload::default()).expect("asks for nothing");
}
