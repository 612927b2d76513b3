//! Every warning that this kind of machine can provoke, provoked for real.

use crate::support::machine::{skip, skip_kernel};
use crate::support::{
    Answer, Cgroup, Desk, Json, Loop, MIB, Mount, as_unprivileged, can_run, codes, long_enough,
    only_job, run, users_file,
};

/// The warning of this code, which must be there.
#[track_caller]
fn warning(job: &Json, code: &str) -> Json {
    let warnings = job.at("warnings").items();
    let found = warnings
        .iter()
        .find(|warning| warning.at("code").text() == code);
    let found = found
        .unwrap_or_else(|| panic!("no {code} in {:?}", codes(job)))
        .clone();
    assert!(!found.at("message").text().is_empty());
    assert!(!found.at("hint").text().is_empty(), "{code} has no hint");
    found
}

#[track_caller]
fn check_void(job: &Json, code: &str) {
    assert_eq!(warning(job, code).at("severity").text(), "void", "{code}");
}

fn read(desk: &Desk, target: &str, more: &[&str]) -> Json {
    let mut all = vec!["run", target, "--busy-ok"];
    if !more.contains(&"--duration") {
        all.extend(["--duration", "100ms"]);
    }
    all.extend(more);
    desk.job(&all)
}

#[test]
fn a_sparse_file_is_not_a_disk() {
    let desk = Desk::new();
    let file = desk.file("sparse");
    std::fs::File::create(&file)
        .and_then(|file| file.set_len(8 * MIB))
        .expect("sparse");
    check_void(&read(&desk, &file, &[]), "sparse-file");
    let words = desk.run(&["history", "show", "last"]).done().stdout;
    assert!(words.contains("sparse-file"), "{words}");
}

#[test]
fn space_that_was_never_written_is_not_a_disk() {
    let desk = Desk::new();
    let file = desk.file("reserved");
    let made = std::fs::File::create(&file).expect("a file");
    let flags = rustix::fs::FallocateFlags::empty();
    if rustix::fs::fallocate(&made, flags, 0, 8 * MIB).is_err() {
        return skip(
            "space_that_was_never_written_is_not_a_disk",
            "a file system with fallocate",
        );
    }
    check_void(&read(&desk, &file, &[]), "never-written");
}

#[test]
fn zeros_repeats_and_text_are_told() {
    let desk = Desk::new();
    let zeros = vec![0; 8 << 20];
    let noise: Vec<u8> = users_file(&desk.file("noise"), 4096);
    let repeats = noise.repeat(2048);
    let text: String = (0..)
        .map(|row| format!("insert into sales values ({row}, 'x', 'not much news here');\n"))
        .take(140_000)
        .collect();
    for (name, data, code) in [
        ("zeros", zeros, "zero-data"),
        ("repeats", repeats, "repeating-data"),
        ("text", text.into_bytes(), "compressible-data"),
    ] {
        let file = desk.file(name);
        std::fs::write(&file, data).expect("written");
        run("sync", &[&file]);
        warning(&read(&desk, &file, &[]), code);
    }
    // What was made as asked for is not held against the user, but told.
    let volume = desk.volume();
    let made = desk.job(&[
        "run",
        &volume,
        "--busy-ok",
        "--size",
        "4M",
        "--duration",
        "100ms",
        "--compressible",
        "60",
    ]);
    warning(&made, "compressible-data");
}

#[test]
fn the_page_cache_is_told() {
    let desk = Desk::new();
    warning(&desk.job_on_file(&["--cache", "buffered"]), "page-cache");
}

#[test]
fn memory_is_not_a_disk() {
    own_process!();
    let test = "memory_is_not_a_disk";
    if !can_run(test, &["root", "mount"]) {
        return;
    }
    let desk = Desk::new();
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=64M", "tmpfs"]);
    let file = format!("{}/data", mount.text());
    users_file(&file, 8 * MIB);
    let load = ["--outstanding", "64", "--engine", "threads", "--duration"];
    let measure = |duration: &str| read(&desk, &file, &[&load[..], &[duration]].concat());
    // Of few operations too little is known.
    let has_many = |job: &Json| !codes(job).contains(&"few-operations".to_owned());
    let job = long_enough(measure, has_many);
    check_void(&job, "in-memory");
    // Memory answers before a second operation is under way, on our own processor.
    warning(&job, "outstanding-below-asked");
    // Where others share the processors, one run may get too few of them to say so.
    let bound = |job: &Json| codes(job).contains(&"cpu-bound".to_owned());
    let again = || (0..5).any(|_| bound(&read(&desk, &file, &["--threads", "4"])));
    assert!(bound(&job) || again(), "not bound: {:?}", codes(&job));
}

#[test]
fn btrfs_off_block_alignment_reads_its_cache() {
    own_process!();
    let test = "btrfs_off_block_alignment_reads_its_cache";
    if !can_run(test, &["root", "losetup", "mkfs.btrfs", "mount"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::new(256 * MIB);
    let mount = Mount::made(
        &["mkfs.btrfs", "-q", "-f"],
        &device,
        &["-o", "compress-force=zstd:1"],
    );
    let file = format!("{}/data", mount.text());
    users_file(&file, 8 * MIB);
    run("sync", &["-f", &file]);
    let off = read(&desk, &file, &["--block", "512"]);
    warning(&off, "direct-io-cached");
    warning(&off, "copy-on-write");
    warning(&off, "compressed-file-system");
    let on = read(&desk, &file, &["--block", "4K"]);
    assert!(
        !codes(&on).contains(&"direct-io-cached".to_owned()),
        "{:?}",
        codes(&on)
    );
}

#[test]
fn a_loop_device_without_direct_io_is_told_and_with_it_is_not() {
    own_process!();
    let test = "a_loop_device_without_direct_io_is_told_and_with_it_is_not";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let desk = Desk::new();
    let cached = Loop::dense(8 * MIB, &["--direct-io=off"]);
    warning(&read(&desk, &cached.device, &[]), "loop-cached");
    drop(cached);
    let direct = Loop::dense(8 * MIB, &["--direct-io=on", "--sector-size", "4096"]);
    let job = read(&desk, &direct.device, &[]);
    if job
        .maybe("target.device.loop_direct_io")
        .is_some_and(|direct| direct.truth())
    {
        // The file behind it may lie on another loop device, which is cached.
        let of_ours = format!("{} reads and writes", direct.name());
        let warnings = job.at("warnings").items();
        let messages = warnings.iter().map(|warning| warning.at("message").text());
        let about_ours: Vec<String> = messages.filter(|text| text.contains(&of_ours)).collect();
        assert!(about_ours.is_empty(), "{about_ours:?}");
    } else {
        skip_kernel(test, "direct I/O of loop devices on this file system");
    }
}

#[test]
fn a_small_file_is_told_and_one_beyond_the_known_cache_is_not() {
    let desk = Desk::new();
    let has = |size: &str| {
        let found = codes(&desk.job_on_file(&["--cache-size", size]));
        found.contains(&"smaller-than-cache".to_owned())
    };
    assert!(has("64M"));
    assert!(!has("1M"));
}

#[test]
fn a_narrow_span_of_a_spinning_disk_is_told() {
    own_process!();
    let test = "a_narrow_span_of_a_spinning_disk_is_told";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(64 * MIB, &[]);
    let spins = format!("/sys/block/{}/queue/rotational", device.name());
    if std::fs::write(&spins, "1").is_err() {
        return skip_kernel(test, "loop devices that can be told to spin");
    }
    warning(
        &read(&desk, &device.device, &["--size", "4M"]),
        "narrow-span",
    );
}

#[test]
fn a_queue_limit_below_what_was_asked_is_told() {
    own_process!();
    let test = "a_queue_limit_below_what_was_asked_is_told";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(8 * MIB, &[]);
    let job = read(&desk, &device.device, &["--outstanding", "1024"]);
    warning(&job, "device-queue-limit");
}

#[test]
fn a_cpu_quota_is_told() {
    own_process!();
    let test = "a_cpu_quota_is_told";
    if !can_run(test, &["root", "mount"]) {
        return;
    }
    let Some(group) = Cgroup::new("cpu") else {
        return skip_kernel(test, "control groups of version 1");
    };
    // So little that it is reached beside any other load.
    if !(group.set("cpu.cfs_period_us", "50000") && group.set("cpu.cfs_quota_us", "1000")) {
        return skip_kernel(test, "CPU quotas");
    }
    let desk = Desk::new();
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=64M", "tmpfs"]);
    let file = format!("{}/data", mount.text());
    users_file(&file, 4 * MIB);
    let command = desk.command(&["run", &file, "--busy-ok", "--duration", "500ms", "--json"]);
    let answer = Answer::of(&mut group.wrap(&command)).done();
    let document = answer.json();
    let quota = document.at("runs.0.host.cpu.quota").number();
    assert!((quota - 0.02).abs() < 0.001, "{quota}");
    warning(&only_job(&document), "cpu-quota");
}

#[test]
fn other_load_on_the_device_is_told() {
    own_process!();
    let test = "other_load_on_the_device_is_told";
    if !can_run(test, &["root", "losetup", "dd"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(32 * MIB, &[]);
    let load = format!(
        "while :; do dd if={} of=/dev/null bs=1M iflag=direct status=none; done",
        device.device
    );
    let load = Load::start(&load);
    let job = read(&desk, &device.device, &["--rate", "20", "--duration", "1s"]);
    drop(load);
    warning(&job, "other-load");
}

/// A shell with what it started, ended with the test.
struct Load(std::process::Child);

impl Load {
    fn start(script: &str) -> Load {
        use std::os::unix::process::CommandExt;
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", script]).process_group(0);
        Load(shell.spawn().expect("sh"))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        if let Some(group) = group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

#[test]
fn an_ordinary_user_with_little_locked_memory_gets_plain_buffers_not_another_engine() {
    let test = "an_ordinary_user_with_little_locked_memory_gets_plain_buffers_not_another_engine";
    if !can_run(test, &["root", "setpriv", "prlimit", "chown"]) {
        return;
    }
    let desk = Desk::new();
    let volume = desk.volume();
    run(
        "chown",
        &["-R", "65534:65534", crate::support::text(desk.path())],
    );
    run("chmod", &["755", crate::support::text(desk.path())]);
    let load = ["--size", "4M", "--block", "64K", "--outstanding", "32"];
    let measure = |duration: &str| {
        let run = [
            "run",
            &volume,
            "--busy-ok",
            "--json",
            "--duration",
            duration,
        ];
        let command = desk.command(&[&run[..], &load].concat());
        let mut limited = std::process::Command::new("prlimit");
        limited.arg("--memlock=65536:65536").arg("--");
        let as_user = as_unprivileged(&command, &[]);
        limited
            .arg(as_user.get_program())
            .args(as_user.get_args())
            .current_dir(desk.path());
        only_job(&Answer::of(&mut limited).done().json())
    };
    let job = long_enough(measure, |job| job.at("outcome.operations").count() > 0);
    if job.at("engine.name").text() != "io_uring" {
        return skip_kernel(test, "io_uring for ordinary users");
    }
    assert!(!job.at("engine.registered_buffers").truth());
    let shown_text = warning(&job, "engine-fallback");
    assert!(
        shown_text.at("message").text().contains("memlock"),
        "{:?}",
        shown_text
    );
    let why = job.at("engine.fallbacks").items();
    assert!(
        why.iter().any(|why| why.text().contains("memlock")),
        "{why:?}"
    );
}

#[test]
fn few_operations_and_short_looks_are_told() {
    let desk = Desk::new();
    let job = desk.job(&["run", "sim:disk-7k2", "--duration", "500ms"]);
    warning(&job, "few-operations");
    let job = desk.job(&["run", "sim:nvme", "--duration", "500ms"]);
    warning(&job, "few-for-p999");
}

#[test]
fn bursts_that_end_are_told() {
    let desk = Desk::new();
    let job = desk.job(&[
        "run",
        "sim:nvme?limit.iops=1000&limit.burst_iops=5000&limit.burst_operations=60000",
        "--outstanding",
        "32",
        "--duration",
        "40s",
    ]);
    warning(&job, "step-down");
}

#[test]
fn cells_of_a_grid_that_the_sector_forbids_are_left_out_and_told() {
    own_process!();
    let test = "cells_of_a_grid_that_the_sector_forbids_are_left_out_and_told";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(8 * MIB, &["--sector-size", "4096"]);
    let load = ["--busy-ok", "--duration", "50ms", "--block", "512,4K,8K"];
    let mut all = vec!["run", &device.device, "--json"];
    all.extend(load);
    let answer = desk.run(&all).done();
    assert!(
        answer.stderr.contains("left out: --block 512"),
        "{}",
        answer.stderr
    );
    let runs = answer.json().at("runs").items();
    assert_eq!(runs.len(), 2);
    for run in &runs {
        let shown_text = warning(&run.at("jobs.0"), "skipped");
        assert!(shown_text.at("message").text().contains("512"));
    }
    // One that leaves nothing is a mistake.
    desk.run(&["run", &device.device, "--busy-ok", "--block", "512"])
        .failed(2, &["4096"]);
}
