//! `disks`: images, loop devices and captured machines in; tables, verdicts and
//! exit codes out.

#[path = "../../../disk-inspect/tests/it/layout.rs"]
mod layout;

use crate::report::schema;
use crate::support::{
    Answer, Desk, Json, Loop, MIB, as_unprivileged, can_run, run, text, with_json,
};
use layout::lay_out;
use std::path::{Path, PathBuf};

const SCHEMA: &str = include_str!("../../../../docs/schema/disks-1.schema.json");

/// An image with a table of sfdisk, and ext4 in the first partition where asked.
fn image(desk: &Desk, name: &str, script: &str, file_system_at: Option<u64>) -> String {
    let path = desk.file(name);
    let file = std::fs::File::create_new(&path).expect("an image");
    file.set_len(64 * MIB).expect("its size");
    run(
        "sh",
        &["-c", &format!("printf '{script}' | sfdisk --quiet {path}")],
    );
    if let Some(at) = file_system_at {
        let options = format!("offset={at}");
        run(
            "mkfs.ext4",
            &["-q", "-F", "-b", "4096", "-E", &options, &path, "8192"],
        );
    }
    path
}

fn volume(document: &Json, index: usize) -> Json {
    document.at("volumes").items()[index].clone()
}

/// Lays out a captured machine of disk-inspect's tests below a desk.
pub fn machine(desk: &Desk, name: &str) -> PathBuf {
    let trees = Path::new(env!("CARGO_MANIFEST_DIR")).join("../disk-inspect/tests/trees");
    let lines = std::fs::read_to_string(trees.join(format!("{name}.tree"))).expect("a tree");
    let root = desk.path().join(name);
    lay_out(lines.lines(), &root);
    root
}

#[test]
fn an_image_says_where_its_partitions_start_to_the_byte() {
    if !can_run(
        "an_image_says_where_its_partitions_start_to_the_byte",
        &["sfdisk", "mkfs.ext4"],
    ) {
        return;
    }
    let desk = Desk::new();
    for (name, label, start, extra) in [
        ("mbr63", "dos", 63, ""),
        ("mbr36k", "dos", 72, ""),
        ("gpt64k", "gpt", 128, "first-lba: 34\\n"),
        ("gpt1m", "gpt", 2048, ""),
    ] {
        let script = format!("label: {label}\\n{extra}start={start}, size=100000\\n");
        let path = image(&desk, name, &script, Some(start * 512));
        let code = i32::from(start < 128);
        let found = desk.run(&with_json(&["disks", &path])).ended(code).json();
        let partition = found.at("disks").items()[0].at("partitions").items()[0].clone();
        assert_eq!(partition.at("number").count(), 1);
        assert_eq!(partition.at("start_bytes").count(), start * 512);
        assert_eq!(partition.at("size_bytes").count(), 100_000 * 512);
        let volume = volume(&found, 0);
        assert_eq!(volume.at("file_system").text(), "ext4");
        assert_eq!(volume.at("allocation_unit_bytes").count(), 4096);
        assert_eq!(volume.at("offset_bytes").count(), start * 512);
        // Below 64K, the largest of `--for`, an array below would be crossed.
        let verdict = match code {
            1 => "suspect",
            _ => "unknown-stripe-unit",
        };
        assert_eq!(volume.at("verdict").text(), verdict);
        let suits = 1u64 << (start * 512).trailing_zeros();
        assert_eq!(volume.at("verdict_bytes").count(), suits);
    }
    // What has a name but no table, no file system: a file, and where it lies.
    let plain = desk.write("plain", "words");
    let found = desk.run(&["disks", &plain]);
    assert!(found.stdout.contains("plain is on "), "{}", found.stdout);
}

#[test]
fn a_stripe_unit_that_is_given_decides_and_is_kept_until_forgotten() {
    if !can_run(
        "a_stripe_unit_that_is_given_decides_and_is_kept_until_forgotten",
        &["sfdisk", "mkfs.ext4"],
    ) {
        return;
    }
    let desk = Desk::new();
    let path = image(
        &desk,
        "old",
        "label: dos\\nstart=63, size=100000\\n",
        Some(63 * 512),
    );
    // Nothing is known, and harm is not excluded; no store is made just to look.
    let unknown = desk.run(&["disks", &path]);
    unknown.ended(1).printed(&[
        "verdict: suspect",
        "--stripe-unit",
        "--raid single",
        "stripewise align",
    ]);
    assert!(!desk.store().exists());
    let given = [
        "disks",
        &path,
        "--stripe-unit",
        "64K",
        "--raid",
        "raid5:4",
        "--note",
        "shelf 2",
    ];
    let found = desk.run(&given);
    assert_eq!(found.code, Some(1), "{}", found.stderr);
    for words in [
        "splits above 512",
        "given",
        "1 in 8 operations touches two disks",
        "raid5 of 4 disks",
        "shelf 2",
    ] {
        assert!(found.stdout.contains(words), "{words}: {}", found.stdout);
    }
    // A note is kept, and what is given with it: it need not be said again; smaller operations are fine with it.
    let again = desk.run(&with_json(&["disks", &path]));
    assert_eq!(again.code, Some(1));
    let document = again.json();
    assert_eq!(volume(&document, 0).at("stripe_unit_bytes").count(), 65_536);
    assert_eq!(volume(&document, 0).at("verdict").text(), "splits-above");
    assert_eq!(
        document.at("disks").items()[0].at("given.note").text(),
        "shelf 2"
    );
    assert_eq!(desk.run(&["disks", &path, "--for", "512"]).code, Some(0));
    assert_eq!(desk.run(&["disks", &path, "--forget"]).code, Some(1));
    assert_eq!(desk.run(&["disks", &path]).code, Some(1));
    // What is given counts for this once, and is kept where somebody says so.
    let single = ["disks", &path, "--raid", "single"];
    desk.run(&single).ended(0).printed(&["not striped"]);
    assert_eq!(desk.run(&["disks", &path]).code, Some(1));
    desk.run(&[&single[..], &["--keep"]].concat()).ended(0);
    assert_eq!(desk.run(&["disks", &path]).code, Some(0));
    // What contradicts itself, or what is kept, is refused, and changes nothing.
    let unit = ["disks", &path, "--stripe-unit", "64K"];
    desk.run(&unit).failed(2, &["contradicts the level single"]);
    let both = [&single[..], &["--stripe-unit", "64K", "--forget"]].concat();
    desk.run(&both).failed(2, &["has no stripe unit"]);
    assert_eq!(desk.run(&["disks", &path]).code, Some(0));
}

#[test]
fn captured_machines_give_their_exit_codes() {
    let desk = Desk::new();
    for (name, code) in [
        ("sata-512n", 0),
        ("sata-512e-63s", 1),
        ("sas-4kn", 0),
        ("nvme", 0),
        ("md-raid10", 1),
        ("lvm-on-md", 0),
        ("dm-crypt", 0),
        ("multipath", 1),
        ("mbr-logical", 0),
        ("gpt-damaged", 0),
        // The second partition is empty and at an odd sector.
        ("raid-64k-on-256k", 1),
        ("dynamic-disk", 0),
    ] {
        let root = machine(&desk, name);
        let found = desk.run(&["disks", "--sysroot", text(&root)]);
        assert_eq!(
            found.code,
            Some(code),
            "{name}: {}{}",
            found.stdout,
            found.stderr
        );
        let document = desk.run(&["disks", "--sysroot", text(&root), "--json"]);
        let faults = schema::faults_of(&document.ended(code).stdout, SCHEMA);
        assert!(
            faults.is_empty(),
            "{name}: {:#?}",
            &faults[..faults.len().min(5)]
        );
        let too_wide: Vec<&str> = found
            .stdout
            .lines()
            .filter(|line| line.chars().count() > 100)
            .collect();
        assert!(too_wide.is_empty(), "{name}: {too_wide:?}");
    }
    // 256K operations do cross at 64K on stripes of 256K.
    let root = desk.path().join("raid-64k-on-256k");
    assert_eq!(
        desk.run(&["disks", "--sysroot", text(&root), "--for", "256K"])
            .code,
        Some(1)
    );
}

#[test]
fn one_device_is_answered_for_itself() {
    let desk = Desk::new();
    let root = machine(&desk, "md-raid10");
    for (device, code, volumes) in [
        ("md0p1", 1, 1),
        ("md0p2", 1, 1),
        ("md0p3", 0, 1),
        ("md0", 1, 3),
        ("sdc", 1, 3),
    ] {
        let found = desk.run(&["disks", device, "--sysroot", text(&root), "--json"]);
        assert_eq!(found.code, Some(code), "{device}: {}", found.stderr);
        let all = found.json().at("volumes").items().len();
        assert_eq!(all, volumes, "{device}: {}", found.stdout);
    }
    // FAT by the kernel's name; which FAT it is stands in `holds`.
    let root = machine(&desk, "nvme");
    let found = desk.run(&["disks", "nvme0n1p1", "--sysroot", text(&root), "--json"]);
    let document = found.json();
    assert_eq!(document.at("volumes.0.file_system").text(), "vfat");
    let kind = document.at("disks.0.partitions.0.holds.kind");
    assert_eq!(kind.text(), "vfat (FAT32)");
}

#[test]
fn diskpar_and_diskext_are_imitated_for_scripts() {
    let desk = Desk::new();
    let root = machine(&desk, "sata-512n");
    let found = desk.run(&["disks", "--sysroot", text(&root), "--like", "diskpar"]);
    for line in [
        "---- Drive 0 Geometry Infomation ----",
        "StatringOffset = 32256",
        "HiddenSectors = 63",
        "PartitionType = 131",
    ] {
        assert!(
            found.stdout.lines().any(|own| own == line),
            "{line}: {}",
            found.stdout
        );
    }
    let found = desk.run(&["disks", "--sysroot", text(&root), "--like", "diskext"]);
    assert!(
        found.stdout.contains("       Offset: 32256\n"),
        "{}",
        found.stdout
    );
    assert!(
        found.stdout.contains("   Mounted at: /srv/bind\n"),
        "{}",
        found.stdout
    );
}

#[test]
fn a_loop_device_is_shown_with_what_it_stands_on() {
    own_process!();
    if !can_run(
        "a_loop_device_is_shown_with_what_it_stands_on",
        &["root", "losetup", "sfdisk"],
    ) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::with(64 * MIB, &["-P"]);
    run(
        "sh",
        &[
            "-c",
            &format!(
                "printf 'label: gpt\\nfirst-lba: 34\\nstart=63, size=2000\\n' | sfdisk --quiet {}",
                device.device
            ),
        ],
    );
    let found = desk.run(&["disks", &device.device]);
    assert_eq!(found.code, Some(1), "{}", found.stderr);
    assert!(
        found.stdout.contains("verdict: suspect"),
        "{}",
        found.stdout
    );
    assert!(found.stdout.contains("32256"), "{}", found.stdout);
    assert!(
        found.stdout.contains(text(&device.backing)),
        "{}",
        found.stdout
    );
    // An ordinary user is told what could not be read, and how to get it.
    if can_run(
        "a_loop_device_is_shown_with_what_it_stands_on",
        &["setpriv"],
    ) {
        let command = desk.command(&["disks", &device.device]);
        let found = Answer::of(&mut as_unprivileged(&command, &[]));
        assert!(
            found.stderr.contains("run as root"),
            "{}{}",
            found.stdout,
            found.stderr
        );
    }
}

#[test]
fn mistakes_are_named_with_a_hint() {
    let desk = Desk::new();
    let plain = desk.write("plain", "words");
    for (arguments, code) in [
        (vec!["disks", "/dev/no-such-disk"], 3),
        (vec!["disks", "--for", "0"], 2),
        (vec!["disks", "--stripe-unit", "64K"], 2),
        (vec!["disks", &plain, "--raid", "raid7"], 2),
        (vec!["disks", &plain, "--raid", "raid5:2"], 2),
        (vec!["disks", &plain, "--sector", "1000"], 2),
        (vec!["disks", "--sysroot", "/no/such/tree"], 2),
        (vec!["disks", "no-such-disk", "--sysroot", "/proc"], 3),
    ] {
        let found = desk.run(&arguments);
        assert_eq!(found.code, Some(code), "{arguments:?}: {}", found.stderr);
        assert!(
            found.stderr.contains("hint: "),
            "{arguments:?}: {}",
            found.stderr
        );
    }
}
