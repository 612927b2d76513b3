//! `probe` and `profile`, as a user meets them.

use crate::support::{Desk, Loop, MIB, Mount, can_run, skip, users_file};

#[test]
fn the_pattern_of_an_array_is_found_to_the_sector() {
    let desk = Desk::new();
    let array = "sim:raid10-10k?offset=63s&stripe_unit=96K&disks=6";
    let found = desk.json(&["probe", "stripe", array]);
    assert_eq!(found.at("stripe_unit_bytes").count(), 98_304);
    // Byte 0 lies 63 sectors inside a unit.
    assert_eq!(found.at("phase_bytes").count(), 98_304 - 32_256);
    assert_eq!(found.at("byte_0_in_unit_bytes").count(), 32_256);
    assert_eq!(found.at("disks").count(), 3);
    assert_eq!(found.at("level").text(), "10");
    assert_eq!(found.at("layouts").items()[0].at("disks").count(), 6);
    assert!(found.at("confidence").number() > 0.99);
    assert!(found.at("reads").count() > 1_000);
    assert!(found.at("refused").is_null());
}

#[test]
fn a_solid_state_drive_gets_no_answer_and_the_reason() {
    let desk = Desk::new();
    let found = desk.json(&["probe", "stripe", "sim:nvme"]);
    for unknown in ["stripe_unit_bytes", "phase_bytes", "disks", "level"] {
        assert!(found.at(unknown).is_null(), "{unknown}");
    }
    assert!(found.at("refused").text().contains("solid-state"));
    desk.run(&["probe", "stripe", "sim:nvme"])
        .done()
        .printed(&["No answer", "solid-state"]);
}

#[test]
fn a_target_that_is_too_small_is_refused_with_the_size_that_it_takes() {
    let desk = Desk::new();
    desk.run(&["probe", "stripe", "sim:raid10-10k?size=100M"])
        .ended(3)
        .printed(&["256 MiB"]);
    let file = desk.file("data");
    users_file(&file, 64 << 10);
    desk.run(&["profile", &file, "--busy-ok"])
        .failed(3, &["64 KiB", "64 MiB", "hint:"]);
}

#[test]
fn a_file_in_memory_is_no_disk() {
    let memory = tempfile::Builder::new()
        .prefix("stripewise-app-")
        .tempdir_in("/dev/shm");
    let Ok(memory) = memory else {
        return skip("a_file_in_memory_is_no_disk", "/dev/shm");
    };
    let desk = Desk::new();
    let file = memory.path().join("data");
    let file = file.to_str().expect("a name");
    users_file(file, 65 << 20);
    for command in [
        &["profile"][..],
        &["probe", "stripe"],
        &["probe", "flash"],
        &["probe", "flash", "--write", "64M", "--overwrite"],
        &["profile", "--fill", "--overwrite"],
    ] {
        let words = [command, &[file, "--busy-ok"]].concat();
        desk.run(&words).failed(3, &["tmpfs", "in memory", "hint:"]);
    }
    let directory = memory.path().to_str().expect("a name");
    let fill = ["profile", "--fill", directory, "--size", "64M"];
    desk.run(&fill).failed(3, &["in memory"]);
    let held = std::fs::read_dir(directory).expect("there");
    assert_eq!(held.count(), 1);
}

#[test]
fn holes_of_a_file_are_no_disk() {
    let desk = Desk::new();
    let file = desk.file("holes");
    let made = std::fs::File::create(&file).expect("made");
    made.set_len(1 << 30).expect("long");
    for command in [&["profile"][..], &["probe", "stripe"], &["probe", "flash"]] {
        let words = [command, &[&file, "--busy-ok"]].concat();
        desk.run(&words)
            .failed(3, &["sparse", "never allocated", "hint:"]);
    }
}

#[test]
fn nothing_is_made_to_be_probed() {
    let desk = Desk::new();
    for command in [&["probe", "stripe"][..], &["profile"]] {
        let mut words = command.to_vec();
        let volume = desk.volume();
        words.extend([volume.as_str(), "--busy-ok"]);
        desk.run(&words)
            .failed(2, &["is a directory", "hint:", "--fill"]);
        assert_eq!(std::fs::read_dir(&volume).expect("there").count(), 0);
    }
    desk.run(&["probe", "stripe", "dataset:oja-nisula-2007-offset"])
        .failed(2, &["published table"]);
}

#[test]
fn time_that_is_too_short_is_a_reason() {
    let desk = Desk::new();
    let found = desk.json(&["probe", "stripe", "sim:raid10-10k", "--time", "1s"]);
    assert_eq!(found.at("refused_code").text(), "too-few-reads");
}

#[test]
fn a_surface_is_measured_drawn_and_kept() {
    own_process!();
    let desk = Desk::new();
    let (svg, png, csv) = (
        desk.file("one.svg"),
        desk.file("one.png"),
        desk.file("one.csv"),
    );
    let disk = "sim:disk-15k?disk.zones=4&offset=0";
    let found = desk.json(&["profile", disk, "-o", &svg, "-o", &png, "-o", &csv]);
    assert_eq!(found.at("zones").items().len(), 4);
    assert_eq!(found.at("boundaries").items().len(), 3);
    let rpm = found.at("rotation.rpm").number();
    assert!((rpm / 15_000.0 - 1.0).abs() < 0.0012, "{rpm}");
    assert!(found.at("position_matters").truth());
    let drawn = std::fs::read_to_string(&svg).expect("written");
    assert!(drawn.contains("MiB/s") && drawn.contains("rpm") && drawn.contains("<circle"));
    // Bars show how access times are distributed.
    assert!(drawn.contains("opacity=\"0.3\""));
    let pixels = std::fs::read(&png).expect("written");
    assert!(pixels.starts_with(b"\x89PNG"));
    let table = std::fs::read_to_string(&csv).expect("written");
    assert!(table.starts_with("kind,offset_bytes"));
    assert!(
        table
            .lines()
            .filter(|line| line.starts_with("rate,"))
            .count()
            > 100
    );
    // A file that is there stays; nothing is measured for it.
    desk.run(&["profile", disk, "-o", &svg])
        .failed(2, &["hint:"]);
    desk.run(&["profile", disk, "-o", "surface.doc"])
        .failed(2, &[".svg"]);
}

#[test]
fn a_fill_finds_the_fast_cache_and_what_a_rest_gives_back() {
    let desk = Desk::new();
    // 4 GiB are fast; 600 MiB of them are back after a second.
    let disk = "sim:nvme-consumer?ssd.size=16G&ssd.fast=4G";
    let (svg, csv) = (desk.file("fill.svg"), desk.file("fill.csv"));
    let found = desk.json(&[
        "profile", disk, "--fill", "--idle", "3s", "-o", &svg, "-o", &csv,
    ]);
    let near = |found: f64, truth: f64, within: f64| (found / truth - 1.0).abs() < within;
    let fast = found.at("fast_bytes").number();
    assert!(near(fast, 4.0 * 1_073_741_824.0, 0.02), "{fast}");
    // A buffer that fills may be a stretch of its own; behind the cache there is one rate.
    let slow = found
        .at("stretches")
        .items()
        .last()
        .expect("one")
        .at("bytes_per_s");
    assert!(
        near(slow.number(), 32.0 * 16_384.0 / 333e-6, 0.01),
        "{}",
        slow.number()
    );
    let back = found.at("rest.back.bytes").number();
    assert!(near(back, 1_800.0 * 1_048_576.0, 0.06), "{back}");
    let drawn = std::fs::read_to_string(&svg).expect("written");
    assert!(drawn.contains("Written, GiB") && drawn.contains("fast cache"));
    // Two curves, each with its name.
    assert!(drawn.contains(">the fill<") && drawn.contains(">after 3 s idle<"));
    let table = std::fs::read_to_string(&csv).expect("written");
    assert!(table.lines().any(|line| line.starts_with("rest,")));
    desk.run(&["profile", disk, "--fill", "--idle", "3s"])
        .done()
        .printed(&["fast cache: 4", "after 3 s idle 1.", "are back"]);
    // One rate, and a rest that has nothing to give back.
    desk.run(&[
        "profile",
        "sim:sata-ssd?ssd.size=2G&ssd.buffer=1M",
        "--fill",
    ])
    .done()
    .printed(&["the rate does not change"]);
}

#[test]
fn a_fill_writes_only_what_it_may() {
    own_process!();
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 80 << 20);
    let before = std::fs::read(&file).expect("there");
    desk.run(&["profile", &file, "--fill", "--busy-ok"])
        .failed(3, &["--overwrite", "hint:"]);
    assert_eq!(std::fs::read(&file).expect("there"), before);
    desk.run(&["profile", &file, "--destroy", "data"])
        .failed(2, &["--fill"]);
    desk.run(&["profile", "sim:nvme-consumer", "--fill", "--size", "1M"])
        .failed(3, &["64 MiB", "hint:"]);
    let volume = desk.volume();
    let found = desk.json(&["profile", &volume, "--fill", "--size", "64M", "--busy-ok"]);
    assert_eq!(found.at("written_bytes").count(), 64 << 20);
    assert!(found.at("steps").items().iter().len() > 0);
    assert_eq!(std::fs::read_dir(&volume).expect("there").count(), 0);
}

#[test]
fn of_a_solid_state_drive_the_profile_says_that_position_does_not_matter() {
    let desk = Desk::new();
    desk.run(&["profile", "sim:sata-ssd"]).done().printed(&[
        "does not matter",
        "by read size",
        "by reads at once",
    ]);
    let found = desk.json(&["profile", "sim:nvme"]);
    let batches = found.at("batches").items();
    let rate = |number: usize| batches[number].at("reads_per_s").number();
    // One read at a time, and 32 of them.
    assert!(rate(batches.len() - 1) > 4.0 * rate(0));
}

#[test]
fn flash_shows_its_pages_units_and_pauses() {
    let desk = Desk::new();
    let drive = "sim:nvme?ssd.page_size=16K&ssd.channels=16&offset=0";
    let found = desk.json(&["probe", "flash", drive]);
    assert_eq!(found.at("alignment_bytes").count(), 16_384);
    let units = found.at("parallel_units_interval").items();
    assert!(
        units[0].count() <= 16 && 16 <= units[1].count(),
        "{units:?}"
    );
    assert!(found.at("pauses").is_null());
    assert!(found.at("pauses_refused").text().contains("--write"));
    // Collection in bursts of 32 MiB.
    let drive = "sim:sata-ssd?ssd.size=4G&ssd.collection_burst=32M&ssd.buffer=1M";
    let found = desk.json(&["probe", "flash", drive, "--write", "512M"]);
    let every = found.at("pauses.every_bytes").number();
    assert!((every / 33_554_432.0 - 1.0).abs() < 0.02, "{every}");
    desk.run(&["probe", "flash", drive, "--write", "512M"])
        .done()
        .printed(&["alignment", "4K", "every 32", "pauses of"]);
    desk.run(&["probe", "flash", "sim:disk-15k"])
        .done()
        .printed(&["No answer", "moving parts"]);
    desk.run(&["probe", "flash", "sim:nvme?size=64M"])
        .failed(3, &["256 MiB", "hint:"]);
    desk.run(&["probe", "flash", drive, "--overwrite"])
        .failed(2, &["--write"]);
}

#[test]
fn what_a_simulated_array_shows_is_kept_with_no_disk() {
    let desk = Desk::new();
    desk.run(&["probe", "stripe", "sim:raid10-10k", "--accept"])
        .failed(2, &["simulated", "hint:"]);
}

#[test]
fn the_profile_of_a_file_says_where_the_file_lies() {
    own_process!();
    let test = "the_profile_of_a_file_says_where_the_file_lies";
    if !can_run(test, &["root", "losetup", "mkfs.ext4"]) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(192 * MIB));
    let mount = Mount::made(&["mkfs.ext4", "-q", "-F"], &device, &[]);
    let file = format!("{}/data", mount.text());
    users_file(&file, 64 * MIB);
    let page = desk.file("surface.html");
    let profile = ["profile", &file, "--places", "16", "--busy-ok", "-o", &page];
    let found = desk.json(&profile);
    let extents = found.at("extents").items();
    assert_eq!(found.at("extents_count").count(), extents.len() as u64);
    // Piece after piece, and each of them somewhere on the device.
    let mut end = 0;
    for extent in &extents {
        assert_eq!(extent.at("offset_bytes").count(), end);
        assert!(extent.at("device_bytes").count() > 0);
        end += extent.at("length_bytes").count();
    }
    assert_eq!(end, 64 * MIB);
    let html = std::fs::read_to_string(&page).expect("written");
    assert!(html.contains("Where the file is on the device"));
}

#[test]
fn two_profiles_are_compared_and_a_page_holds_one() {
    let desk = Desk::new();
    let page = desk.file("surface.html");
    let profile = |disk: &str, more: &[&str]| {
        let words = [&["profile", disk, "--places", "64"], more].concat();
        desk.json(&words).at("id").text()
    };
    let a = profile("sim:disk-15k?disk.zones=3&offset=0&seed=1", &["-o", &page]);
    let same = profile(
        "sim:disk-15k?disk.zones=3&offset=0&seed=1",
        &["--seed", "2"],
    );
    let slow = profile("sim:disk-7k2?offset=0", &[]);
    let html = std::fs::read_to_string(&page).expect("written");
    assert!(html.starts_with("<!doctype html>") && html.contains("<svg") && html.contains("Zones"));
    for table in ["Access times of random reads", "Seeks", "begins between"] {
        assert!(html.contains(table), "{table}");
    }
    assert!(!html.contains("<script"));
    let found = desk.json(&["compare", &a, &same]);
    let rate = found.at("rate.percent").number();
    assert!(rate.abs() < 0.5, "{rate}");
    assert_eq!(found.at("changed_places").items().len(), 0);
    desk.run(&["compare", &a, &slow]).ended(1).printed(&[
        "transfer rate",
        "access time",
        "64 places",
    ]);
    // A run is none.
    desk.run(&["compare", &a, "dataset:mssqltips-2127"])
        .failed(2, &["profile", "hint:"]);
}
