//! Agreement with `sfdisk -J`, `parted` and `lsblk -t -J`, where they can say it.

use crate::borrowed::{Loop, can_run, directory, skip};
use crate::scratch::Scratch;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use stripewise_disk_formats::medium::Medium;
use stripewise_disk_formats::tables::{self, PartitionTable};
use stripewise_disk_inspect::survey::Request;
use stripewise_disk_inspect::{Inspect, System};

const SIZE_BYTES: u64 = 256 << 20;

/// Scripts of sfdisk: MBR with logical partitions, GPT, odd places.
const SCRIPTS: [(&str, &str); 6] = [
    (
        "mbr-63s",
        "label: dos\nstart=63, size=20000, type=83\nstart=40960, size=40000, type=7\n",
    ),
    (
        "mbr-36k",
        "label: dos\nstart=72, size=20000, type=83, bootable\n",
    ),
    (
        "mbr-logical",
        "label: dos\nstart=128, size=20000, type=83\nstart=40960, size=300000, type=5\n\
         start=43008, size=20000, type=82\nstart=65600, size=20001, type=83\nstart=90112, size=4096, type=fd\n",
    ),
    (
        "gpt-1m",
        "label: gpt\nstart=2048, size=2048, type=21686148-6449-6E6F-744E-656564454649\nstart=4096, size=200000\n",
    ),
    (
        "gpt-63s",
        "label: gpt\nfirst-lba: 34\nstart=63, size=20000\nstart=131072, size=100000, name=data\n",
    ),
    (
        "gpt-many",
        "label: gpt\ntable-length: 256\nstart=2048, size=2048\nstart=8192, size=2048\n",
    ),
];

/// An image partitioned by sfdisk; `None` where the tool is missing.
fn image(name: &str, script: &str) -> Option<Scratch> {
    // Tests run side by side, each on images of its own.
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let scratch = Scratch::new(&format!("agreement-{name}-{number}"));
    scratch.file.set_len(SIZE_BYTES).expect("a sparse file");
    let mut child = Command::new("sfdisk")
        .arg("--quiet")
        .arg(&scratch.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(script.as_bytes()).expect("a script");
    drop(input);
    assert!(child.wait().expect("an end").success(), "{name}");
    Some(scratch)
}

fn table(path: &Path) -> PartitionTable {
    let file = std::fs::File::open(path).expect("the image");
    let found = tables::read(&mut Medium::new(file, SIZE_BYTES), None);
    found.expect("readable").expect("a table")
}

fn tool_output_of(command: &str, arguments: &[&str]) -> Option<serde_json::Value> {
    let output = Command::new(command).args(arguments).output().ok()?;
    assert!(output.status.success(), "{command} {arguments:?}");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn tables_are_read_as_sfdisk_reads_them() {
    const NAME: &str = "tables_are_read_as_sfdisk_reads_them";
    for (name, script) in SCRIPTS {
        let Some(scratch) = image(name, script) else {
            return skip(NAME, "sfdisk");
        };
        let path = scratch.path.to_str().expect("text");
        let tool_output = tool_output_of("sfdisk", &["-J", path]).expect("sfdisk was there");
        let tool_output = &tool_output["partitiontable"];
        let found = table(&scratch.path);
        let label = if tool_output["label"] == "dos" {
            "mbr"
        } else {
            "gpt"
        };
        assert_eq!(found.kind.name(), label, "{name}");
        assert_eq!(found.id.as_deref(), tool_output["id"].as_str(), "{name}");
        let wanted: Vec<(u64, u64, String)> = tool_output["partitions"]
            .as_array()
            .expect("partitions")
            .iter()
            .map(|one| {
                let kind = one["type"].as_str().expect("a type");
                let kind = match u8::from_str_radix(kind, 16) {
                    Ok(number) => format!("0x{number:02x}"),
                    Err(_) => kind.to_owned(),
                };
                (
                    one["start"].as_u64().unwrap() * 512,
                    one["size"].as_u64().unwrap() * 512,
                    kind,
                )
            })
            .collect();
        let own: Vec<(u64, u64, String)> = found
            .partitions
            .iter()
            .map(|one| (one.start_bytes, one.size_bytes, one.type_id.clone()))
            .collect();
        assert_eq!(own, wanted, "{name}");
        assert_eq!(found.problems, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn parted_finds_the_same_partitions_aligned() {
    const NAME: &str = "parted_finds_the_same_partitions_aligned";
    for (name, script) in SCRIPTS {
        let Some(scratch) = image(name, script) else {
            return skip(NAME, "sfdisk");
        };
        for partition in table(&scratch.path).partitions {
            let number = partition.number.to_string();
            let Ok(output) = Command::new("parted")
                .arg("-s")
                .arg(&scratch.path)
                .args(["align-check", "optimal", &number])
                .output()
            else {
                return skip(NAME, "parted");
            };
            // For a file parted wants a multiple of 1 MiB.
            let wanted = partition.start_bytes % (1 << 20) == 0;
            assert_eq!(output.status.success(), wanted, "{name} {number}");
        }
    }
}

/// A loop device over an image, with its partitions.
fn attached(scratch: &Scratch, sector: &str) -> Loop {
    let options = ["--partscan", "--sector-size", sector];
    Loop::over(scratch.path.clone(), directory(), &options)
}

#[test]
fn loop_devices_are_described_as_lsblk_describes_them() {
    const NAME: &str = "loop_devices_are_described_as_lsblk_describes_them";
    if !can_run(NAME, &["root", "losetup"]) {
        return;
    }
    for (name, script) in SCRIPTS {
        let Some(scratch) = image(name, script) else {
            return skip(NAME, "sfdisk");
        };
        let attached = attached(&scratch, "512");
        let columns = "NAME,SIZE,ALIGNMENT,MIN-IO,OPT-IO,PHY-SEC,LOG-SEC,ROTA";
        let Some(tool_output) =
            tool_output_of("lsblk", &["-b", "-J", "-o", columns, &attached.device])
        else {
            return skip(NAME, "lsblk");
        };
        let tool_output = &tool_output["blockdevices"][0];
        let request = Request {
            device: Some(attached.device.clone()),
            ..Request::default()
        };
        let survey = System::live().survey(&request).expect("a survey");
        let own = |disk: &&stripewise_disk_inspect::survey::Disk| {
            attached.device.ends_with(&format!("/{}", disk.device.name))
        };
        let disk = survey.disks.iter().find(own).expect("the loop device");
        let queue = &disk.device.queue;
        let number = |key: &str| tool_output[key].as_u64();
        assert_eq!(Some(disk.device.size_bytes), number("size"), "{name}");
        assert_eq!(
            queue.logical_sector_bytes.map(u64::from),
            number("log-sec"),
            "{name}"
        );
        assert_eq!(
            queue.physical_sector_bytes.map(u64::from),
            number("phy-sec"),
            "{name}"
        );
        assert_eq!(queue.minimum_io_bytes, number("min-io"), "{name}");
        assert_eq!(
            queue.optimal_io_bytes.unwrap_or(0),
            number("opt-io").unwrap_or(0),
            "{name}"
        );
        assert_eq!(queue.alignment_offset_bytes, number("alignment"), "{name}");
        assert_eq!(queue.rotational, tool_output["rota"].as_bool(), "{name}");
        // The kernel's partitions, where this one scans them, are the table's.
        for partition in disk.partitions.iter().filter(|one| one.in_kernel) {
            assert!(
                !partition.entry.type_id.is_empty(),
                "{name} {}",
                partition.name
            );
        }
        let table = disk.table.as_ref().expect("a table");
        assert_eq!(disk.partitions.len(), table.partitions.len(), "{name}");
    }
}

#[test]
fn a_disk_with_sectors_of_4_kib_is_read_as_sfdisk_reads_it() {
    const NAME: &str = "a_disk_with_sectors_of_4_kib_is_read_as_sfdisk_reads_it";
    if !can_run(NAME, &["root", "losetup"]) {
        return;
    }
    let scratch = Scratch::new("agreement-4k");
    scratch.file.set_len(SIZE_BYTES).expect("a sparse file");
    let attached = attached(&scratch, "4096");
    let made = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "printf 'label: gpt\\nstart=256, size=1000\\nstart=2560, size=1000\\n' | sfdisk --quiet --no-reread --no-tell-kernel {}",
            attached.device
        ))
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        return skip(NAME, "sfdisk");
    }
    let tool_output =
        tool_output_of("sfdisk", &["-J", &attached.device]).expect("sfdisk was there");
    assert_eq!(tool_output["partitiontable"]["sectorsize"], 4096);
    let found = table(&scratch.path);
    assert_eq!(found.sector_bytes, 4096);
    let own: Vec<u64> = found
        .partitions
        .iter()
        .map(|one| one.start_bytes / 4096)
        .collect();
    let wanted: Vec<u64> = tool_output["partitiontable"]["partitions"]
        .as_array()
        .expect("partitions")
        .iter()
        .map(|one| one["start"].as_u64().unwrap())
        .collect();
    assert_eq!(own, wanted);
}
