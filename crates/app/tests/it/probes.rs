//! `probe` and `profile`, as a user meets them.

use crate::support::{Desk, users_file};

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
fn nothing_is_made_to_be_probed() {
    let desk = Desk::new();
    for command in [&["probe", "stripe"][..], &["profile"]] {
        let mut words = command.to_vec();
        let volume = desk.volume();
        words.extend([volume.as_str(), "--busy-ok"]);
        desk.run(&words).failed(2, &["hint:"]);
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
fn of_a_solid_state_drive_the_profile_says_that_position_does_not_matter() {
    let desk = Desk::new();
    desk.run(&["profile", "sim:sata-ssd"])
        .done()
        .printed(&["does not matter"]);
}
