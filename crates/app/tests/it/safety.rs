//! Nothing is destroyed that Stripewise did not make. Everything here is tried on
//! files, loop devices and mounts that the tests make themselves.

use crate::support::{
    Answer, Desk, Json, Loop, MIB, Mount, can_run, codes, long_enough, names, read_by_another, run,
    users_file, with_json,
};

const SHORT: [&str; 3] = ["--duration", "100ms", "--busy-ok"];

fn writing<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["run", target, "--write"];
    all.extend(SHORT);
    all.extend(more);
    all
}

/// The job of a run whose window is long enough to write something.
fn written(desk: &Desk, target: &str, permission: &[&str]) -> Json {
    let measure = |duration: &str| {
        let run = [
            "run",
            target,
            "--write",
            "--busy-ok",
            "--duration",
            duration,
        ];
        desk.job(&[&run[..], permission].concat())
    };
    long_enough(measure, |job| {
        job.at("outcome.write.operations").count() > 0
    })
}

fn reading(target: &str) -> Vec<&str> {
    let mut all = vec!["run", target];
    all.extend(SHORT);
    all
}

#[test]
fn a_users_file_is_not_written_without_leave() {
    own_process!();
    let desk = Desk::new();
    let file = desk.file("precious");
    let data = users_file(&file, 4 * MIB);
    for switches in [
        &["--write"][..],
        &["--read-percent", "99"],
        &["--write", "--keep"],
    ] {
        let mut all = vec!["run", &file];
        all.extend(SHORT);
        all.extend(switches);
        desk.run(&all).failed(3, &["--overwrite", &file]);
    }
    desk.run(&["prepare", &file, "--size", "8M", "--busy-ok"])
        .failed(3, &[&file]);
    assert!(
        std::fs::read(&file).expect("there") == data,
        "it was changed"
    );
    desk.run(&reading(&file)).done();
    assert!(
        std::fs::read(&file).expect("there") == data,
        "reading changed it"
    );
    assert_eq!(desk.ids().len(), 1);
}

/// Whatever runs leave in a kept file is recognised as theirs; a note that somebody left
/// in it is not.
#[test]
fn a_kept_file_is_written_again_after_any_run_and_not_after_somebody_else() {
    own_process!();
    let desk = Desk::new();
    let file = desk.file("kept");
    desk.run(&["prepare", &file, "--size", "16M", "--busy-ok"])
        .done();
    let loads: [&[&str]; 6] = [
        &["--block", "4K", "--random", "--threads", "2"],
        &[
            "--block",
            "512",
            "--cache",
            "buffered",
            "--compressible",
            "60",
        ],
        &["--block", "5000", "--cache", "buffered", "--random"],
        &["--block", "1M", "--dedupable", "40", "--compressible", "25"],
        &["--block", "64K", "--random", "--compressible", "100"],
        &["--block", "8K", "--sequential", "--engine", "threads"],
    ];
    for load in loads.iter().chain(&loads) {
        desk.run(&writing(&file, load)).done();
    }
    let mut bytes = std::fs::read(&file).expect("there");
    let at = bytes.len() - 5000;
    bytes[at..at + 2000].copy_from_slice(&b"do not lose this. ".repeat(112)[..2000]);
    // In place: a kept file is known by its inode.
    let written = std::fs::File::options().write(true).open(&file);
    std::io::Write::write_all(&mut written.expect("it opens"), &bytes).expect("written");
    desk.run(&writing(&file, &[]))
        .failed(3, &["--overwrite", "did not write"]);
    assert!(
        std::fs::read(&file).expect("there") == bytes,
        "it was changed"
    );
}

#[test]
fn bench_reads_a_users_file_and_says_why_it_does_not_write() {
    let desk = Desk::new();
    let file = desk.file("precious");
    let data = users_file(&file, 16 * MIB);
    let arguments = [
        "bench",
        &file,
        "--busy-ok",
        "--time",
        "2s",
        "--step",
        "50ms",
        "--json",
    ];
    let answer = desk.run(&arguments);
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    assert!(
        answer.stderr.contains("only reads are measured"),
        "{}",
        answer.stderr
    );
    for run in answer.json().at("runs").items() {
        assert_eq!(run.at("jobs.0.workload.read_percent").count(), 100);
    }
    assert!(
        std::fs::read(&file).expect("there") == data,
        "it was changed"
    );
}

#[test]
fn with_leave_a_users_file_is_written_and_keeps_its_size() {
    own_process!();
    let desk = Desk::new();
    let file = desk.file("scratch");
    // No multiple of a block.
    let data = users_file(&file, MIB + 100);
    written(&desk, &file, &["--overwrite"]);
    let after = std::fs::read(&file).expect("there");
    assert_eq!(after.len(), data.len());
    assert!(after != data, "nothing was written");
}

#[test]
fn a_file_with_two_names_is_never_written() {
    own_process!();
    let desk = Desk::new();
    let (file, other) = (desk.file("one"), desk.file("two"));
    let data = users_file(&file, MIB);
    std::fs::hard_link(&file, &other).expect("a link");
    for name in [&file, &other] {
        desk.run(&writing(name, &["--overwrite"]))
            .failed(3, &["2 names"]);
    }
    assert!(
        std::fs::read(&other).expect("there") == data,
        "it was changed"
    );
}

#[test]
fn the_backing_of_a_loop_device_is_never_written() {
    own_process!();
    let test = "the_backing_of_a_loop_device_is_never_written";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(4 * MIB, &[]);
    let backing = crate::support::text(&device.backing);
    let before = std::fs::read(backing).expect("there");
    desk.run(&writing(backing, &["--overwrite"]))
        .failed(3, &[&device.device]);
    assert!(
        std::fs::read(backing).expect("there") == before,
        "it was changed"
    );
}

#[test]
fn a_swap_file_is_never_written() {
    own_process!();
    let test = "a_swap_file_is_never_written";
    if !can_run(test, &["root", "mkswap", "swapon", "swapoff"]) {
        return;
    }
    let desk = Desk::new();
    let file = desk.file("swap");
    users_file(&file, 4 * MIB);
    run("chmod", &["600", &file]);
    run("mkswap", &[&file]);
    if !std::process::Command::new("swapon")
        .arg(&file)
        .output()
        .is_ok_and(|on| on.status.success())
    {
        return crate::support::machine::skip_kernel(test, "swap files here");
    }
    let _off = Swap(file.clone());
    let before = std::fs::read(&file).expect("there");
    desk.run(&writing(&file, &["--overwrite"]))
        .failed(3, &["swap"]);
    assert!(
        std::fs::read(&file).expect("there") == before,
        "it was changed"
    );
}

/// Takes a swap file out of use.
struct Swap(String);

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = std::process::Command::new("swapoff").arg(&self.0).output();
    }
}

#[test]
fn a_link_is_followed_to_a_file_and_not_to_a_new_one() {
    own_process!();
    let desk = Desk::new();
    let (file, link) = (desk.file("file"), desk.file("link"));
    let data = users_file(&file, MIB);
    std::os::unix::fs::symlink(&file, &link).expect("a link");
    desk.run(&reading(&link)).done();
    desk.run(&writing(&link, &[])).failed(3, &["--overwrite"]);
    assert!(
        std::fs::read(&file).expect("there") == data,
        "it was changed"
    );
    let dangling = desk.file("dangling");
    let victim = desk.file("victim");
    std::os::unix::fs::symlink(&victim, &dangling).expect("a link");
    let prepared = desk.run(&["prepare", &dangling, "--size", "4M", "--busy-ok"]);
    prepared.failed(3, &["dangling"]);
    assert!(
        std::fs::symlink_metadata(&victim).is_err(),
        "made through a link"
    );
}

#[test]
fn test_files_have_no_name_and_are_gone_afterwards() {
    let desk = Desk::new();
    let volume = desk.volume();
    let mut running = desk.start(&[
        "run",
        &volume,
        "--busy-ok",
        "--size",
        "4M",
        "--duration",
        "400ms",
        "--write",
    ]);
    running.until("Measuring");
    // While it runs: a file without a name, or, where that is not possible, one
    // that is made by us alone.
    let during = names(&volume);
    running.wait().done();
    assert!(during.len() <= 1, "{during:?}");
    assert!(names(&volume).is_empty());
}

#[test]
fn a_kept_file_is_known_and_used_again_without_leave() {
    let desk = Desk::new();
    let volume = desk.volume();
    desk.run(&[
        "run",
        &volume,
        "--size",
        "4M",
        "--keep",
        "--duration",
        "50ms",
        "--busy-ok",
    ])
    .done();
    let kept = names(&volume);
    assert_eq!(kept.len(), 1, "{kept:?}");
    let kept = format!("{volume}/{}", kept[0]);
    let job = desk.job(&writing(&kept, &[]));
    assert_eq!(job.at("target.size_bytes").count(), 4 * MIB);
    assert!(std::fs::metadata(&kept).expect("it stays").len() == 4 * MIB);
    // A copy carries the mark, and is the user's all the same.
    let copy = format!("{volume}/copy");
    run("cp", &["-a", &kept, &copy]);
    desk.run(&writing(&copy, &[]))
        .failed(3, &["--overwrite", "copy"]);
    // So is our file to somebody with another store.
    let other = Desk::new();
    other.run(&writing(&kept, &[])).failed(3, &["--overwrite"]);
}

#[test]
fn prepare_makes_a_dense_file_of_data_that_does_not_repeat() {
    own_process!();
    use std::os::unix::fs::MetadataExt;
    let desk = Desk::new();
    let file = desk.file("made");
    let made = desk.json(&["prepare", &file, "--size", "4M", "--busy-ok"]);
    assert_eq!(made.at("path").text(), file);
    assert_eq!(made.at("size_bytes").count(), 4 * MIB);
    let metadata = std::fs::metadata(&file).expect("made");
    assert_eq!(metadata.len(), 4 * MIB);
    assert!(metadata.blocks() * 512 >= 4 * MIB, "sparse");
    let data = std::fs::read(&file).expect("readable");
    let mut blocks: Vec<&[u8]> = data.chunks(4096).collect();
    blocks.sort();
    blocks.dedup();
    assert_eq!(blocks.len(), 1024);
    // Every byte value about equally often: 4 MiB of noise.
    let mut counts = [0_u32; 256];
    data.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    assert!(counts.iter().all(|count| (15_000..18_000).contains(count)));
    desk.run(&["prepare", &file, "--size", "4M", "--busy-ok"])
        .failed(3, &[&file]);
    assert!(std::fs::read(&file).expect("readable") == data);
}

#[test]
fn a_directory_of_a_database_needs_leave() {
    let desk = Desk::new();
    for name in ["ibdata1", "PG_VERSION", "master.mdf", "sales.LDF"] {
        let directory = desk.file(&format!("of-{name}"));
        std::fs::create_dir(&directory).expect("a directory");
        std::fs::write(format!("{directory}/{name}"), "x").expect("a file");
        let refused = ["run", &directory, "--size", "4M", "--duration", "50ms"];
        desk.run(&refused)
            .failed(6, &["database", name, "--busy-ok"]);
        assert_eq!(names(&directory), [name]);
        let mut allowed = refused.to_vec();
        allowed.push("--busy-ok");
        desk.run(&allowed).done();
        assert_eq!(names(&directory), [name]);
    }
}

#[test]
fn a_devices_data_stays_without_leave_by_name() {
    own_process!();
    let test = "a_devices_data_stays_without_leave_by_name";
    if !can_run(test, &["root", "losetup"]) {
        return;
    }
    let desk = Desk::new();
    // Past the cache, which would void what is read.
    let device = Loop::dense(16 * MIB, &["--direct-io=on"]);
    let before = read_by_another(&device.device);
    desk.run(&writing(&device.device, &[]))
        .failed(3, &["--destroy", device.name()]);
    desk.run(&writing(&device.device, &["--overwrite"]))
        .failed(3, &["--destroy"]);
    for wrong in ["", "yes", "loop", "sda", "/dev/null"] {
        desk.run(&writing(&device.device, &["--destroy", wrong]))
            .failed(3, &[device.name()]);
    }
    let bench = [
        "bench",
        &device.device,
        "--busy-ok",
        "--time",
        "2s",
        "--step",
        "50ms",
        "--json",
    ];
    let answer = desk.run(&bench);
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    for word in ["only reads are measured", "--destroy", "Writes: nothing"] {
        assert!(answer.stderr.contains(word), "{word}: {}", answer.stderr);
    }
    let document = answer.json();
    for series in document.at("series").items() {
        assert!(series.at("name").text().ends_with("-read"));
    }
    assert!(read_by_another(&device.device) == before, "it was changed");
    let job = written(&desk, &device.device, &["--destroy", device.name()]);
    assert_eq!(job.at("target.kind").text(), "device");
    assert_eq!(job.at("target.device.name").text(), device.name());
    assert!(read_by_another(&device.device) != before);
}

#[test]
fn a_mounted_device_is_never_written() {
    own_process!();
    let test = "a_mounted_device_is_never_written";
    if !can_run(test, &["root", "losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::new(32 * MIB);
    let mount = Mount::made(&["mkfs.ext4", "-q", "-F"], &device, &[]);
    let file = format!("{}/precious", mount.text());
    let data = users_file(&file, MIB);
    desk.run(&writing(&device.device, &["--destroy", device.name()]))
        .failed(3, &["mounted", mount.text()]);
    desk.run(&reading(&device.device)).done();
    assert!(std::fs::read(&file).expect("there") == data);
}

#[test]
fn a_volume_keeps_its_free_space() {
    own_process!();
    let test = "a_volume_keeps_its_free_space";
    if !can_run(test, &["root", "losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::new(64 * MIB);
    let mount = Mount::made(&["mkfs.ext4", "-q", "-F"], &device, &[]);
    for arguments in [
        &["run", mount.text(), "--size", "50M", "--busy-ok"][..],
        &["bench", mount.text(), "--size", "50M", "--busy-ok"],
        &[
            "prepare",
            &format!("{}/made", mount.text()),
            "--size",
            "50M",
            "--busy-ok",
        ],
    ] {
        desk.run(arguments)
            .failed(3, &["must stay", "a quarter", "free"]);
    }
    assert!(names(mount.text()).is_empty());
}

#[test]
fn small_volumes_can_be_benched() {
    own_process!();
    let test = "small_volumes_can_be_benched";
    if !can_run(test, &["root", "losetup", "mkfs.ext4", "mount"]) {
        return;
    }
    for mib in [1024, 300] {
        let desk = Desk::new();
        let device = Loop::new(mib * MIB);
        let mount = Mount::made(&["mkfs.ext4", "-q", "-F"], &device, &[]);
        let mut all = vec!["bench", mount.text(), "--busy-ok"];
        all.extend(["--time", "2s", "--step", "50ms"]);
        // Where steps are so short, there may be no answer.
        let answer = desk.run(&with_json(&all));
        assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
        for run in answer.json().at("runs").items() {
            let size = run.at("jobs.0.target.size_bytes").count();
            assert!((MIB..mib * MIB / 4).contains(&size), "{size} of {mib} MiB");
        }
        assert!(names(mount.text()).is_empty());
    }
}

#[test]
fn more_than_256_in_flight_must_be_asked_for_by_number() {
    let desk = Desk::new();
    let volume = desk.volume();
    let plan = |load: &str| {
        let jobs: String = (0..5)
            .map(|job| {
                format!(
                    "[[job]]\nname = \"j{job}\"\ntarget = \"{volume}\"\nsize = \"1M\"\n\
                     duration = \"50ms\"\n{load}\n"
                )
            })
            .collect();
        desk.write("plan.toml", &jobs)
    };
    let path = plan("threads = 2\noutstanding = 32");
    desk.run(&["run", "--plan", &path, "--busy-ok"]).done();
    // The ladders of bench end at 256 unless told otherwise.
    let document = desk.json(&[
        "bench",
        "sim:nvme",
        "--series",
        "random-read",
        "--step",
        "100ms",
    ]);
    let most = document
        .at("series.0.steps")
        .items()
        .iter()
        .map(|step| step.at("threads").count() * step.at("outstanding").count())
        .max();
    assert_eq!(most, Some(256));
}

#[test]
fn odd_targets_are_refused_with_words() {
    own_process!();
    let desk = Desk::new();
    let fifo = desk.file("fifo");
    run("mkfifo", &[&fifo]);
    let empty = desk.write("empty", "");
    for target in [
        fifo.as_str(),
        &empty,
        "/dev/null",
        "/dev/zero",
        "/proc/version",
    ] {
        let answer: Answer = desk.run(&reading(target));
        assert!(
            matches!(answer.code, Some(2 | 3)),
            "{target}: {:?}",
            answer.code
        );
        answer.said(&[target]);
    }
    // The store itself is never a target to write to.
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let store = desk.file("results.db");
    desk.run(&writing(&store, &["--overwrite"]))
        .failed(3, &["results.db"]);
    assert_eq!(desk.ids().len(), 1);
}

#[test]
fn a_clean_run_on_a_prepared_file_has_no_grave_warning() {
    let desk = Desk::new();
    let file = desk.file("made");
    desk.run(&["prepare", &file, "--size", "8M", "--busy-ok"])
        .done();
    let job = desk.job(&reading(&file));
    let found = codes(&job);
    for grave in [
        "sparse-file",
        "never-written",
        "zero-data",
        "repeating-data",
        "compressible-data",
        "errors",
        "null-engine",
        "skipped",
        "abandoned-operations",
        "arrivals-not-issued",
    ] {
        assert!(!found.contains(&grave.to_owned()), "{grave} in {found:?}");
    }
    // What temporary files lie on is the machine's: memory, or a loop device that is cached.
    let of_the_place = ["page-cache", "device-saw-less"];
    let warnings = job.at("warnings").items();
    let void = warnings
        .iter()
        .filter(|warning| warning.at("severity").text() == "void");
    let void: Vec<String> = void.map(|warning| warning.at("code").text()).collect();
    assert!(
        void.iter()
            .all(|code| of_the_place.contains(&code.as_str())),
        "{found:?}"
    );
}

#[test]
fn in_a_process_namespace_of_its_own_a_device_is_written_only_with_busy_ok() {
    own_process!();
    let test = "in_a_process_namespace_of_its_own_a_device_is_written_only_with_busy_ok";
    if !can_run(test, &["root", "losetup", "unshare"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::new(32 * MIB);
    let apart = |arguments: &[&str]| {
        let command = desk.command(arguments);
        let mut outer = std::process::Command::new("unshare");
        outer.args(["-pf", "--mount-proc"]);
        outer.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => outer.env(name, value),
                None => outer.env_remove(name),
            };
        }
        Answer::of(&mut outer)
    };
    let run = ["run", &device.device, "--write", "--duration", "100ms"];
    let destroy = ["--destroy", device.name()];
    let all = [&run[..], &destroy[..]].concat();
    apart(&all).failed(6, &["cannot be seen from here", "--busy-ok"]);
    let partition = ["partition", &device.device, "--align", "1M", "--yes"];
    let all = [&partition[..], &destroy[..]].concat();
    apart(&all).failed(6, &["cannot be seen from here", "--busy-ok"]);
    let format = "--fs ext4 --allocation-unit 4K --yes";
    let format: Vec<&str> = ["format", &device.device]
        .into_iter()
        .chain(format.split(" "))
        .collect();
    let all = [&format[..], &destroy[..]].concat();
    apart(&all).failed(6, &["cannot be seen from here", "--busy-ok"]);
    apart(&partition[..4])
        .done()
        .printed(&["unseen", "--busy-ok"]);
    let all = [&run[..], &destroy[..], &["--busy-ok"]].concat();
    apart(&all).done().warned(&["cannot be seen from here"]);
    let all = [&partition[..], &destroy[..], &["--busy-ok"]].concat();
    apart(&all).done();
}
