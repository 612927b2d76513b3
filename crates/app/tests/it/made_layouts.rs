//! Layouts that are really made: on loop devices of their own, one disk each, as md is not
//! in every kernel (`tests/vm` has four disks). Refusals, an experiment to its end, Ctrl-C,
//! and what a killed one leaves.

use crate::support::*;
use rustix::process::Signal;
use std::path::Path;

const TOOLS: [&str; 3] = ["root", "losetup", "mkfs.ext4"];

/// An experiment of runs of 400 ms.
fn plan(desk: &Desk, device: &str, more: &str) -> String {
    plan_of(desk, device, more, "400ms")
}

/// One that is not over before it is stopped.
fn endless_plan(desk: &Desk, device: &str, more: &str) -> String {
    plan_of(desk, device, more, "1h")
}

fn plan_of(desk: &Desk, device: &str, more: &str, duration: &str) -> String {
    let text = format!(
        r#"
devices = ["{device}"]
passes = 6
{more}
[defaults]
duration = "{duration}"
ramp = "0s"
[[cell]]
name = "read"
read = true
[[cell]]
name = "write"
write = true
"#
    );
    desk.write("plan.toml", &text)
}

const TWO: &str = "size = \"16M\"\n[factors]\noffset = [\"63s\", \"1M\"]";

/// Where an experiment is when a signal comes.
#[derive(Clone, Copy)]
enum Moment {
    /// Its last partition is there; next comes its file system.
    Partitioned,
    /// The file system is mounted; next a test file is made.
    Mounted,
    /// It measures.
    Measuring,
}

impl Moment {
    /// Waits for it. `last` is the number of the last partition that is made.
    fn wait(self, desk: &Desk, running: &mut Running, device: &Loop, last: u32) {
        let part = format!("{}p", device.device);
        let partition = format!("{part}{last}");
        running.until_true("a partition", || Path::new(&partition).exists());
        let mounts = format!("/proc/{}/mounts", running.pid());
        match self {
            Moment::Partitioned => (),
            Moment::Mounted => running.until_true("a mount", || {
                let mounts = std::fs::read(&mounts).unwrap_or_default();
                String::from_utf8_lossy(&mounts).contains(&part)
            }),
            Moment::Measuring => until_measured(desk, running, 1),
        }
    }
}

/// Neither a table nor a superblock is on it, and nothing of it is mounted or shown.
#[track_caller]
fn is_blank(device: &Loop) {
    run("blockdev", &["--flushbufs", &device.device]);
    let found = run("wipefs", &["--no-act", &device.device]);
    assert!(found.is_empty(), "{found}");
    // Others may mount what has no name in UTF-8.
    let mounts = std::fs::read("/proc/self/mounts").expect("mounts");
    let mounts = String::from_utf8_lossy(&mounts);
    let part = format!("{}p", device.device);
    let is_ours = |from: &str| from == device.device || from.starts_with(&part);
    let mut sources = mounts.lines().filter_map(|line| line.split(' ').next());
    assert!(!sources.any(is_ours), "{mounts}");
    let block = Path::new("/sys/block").join(device.name());
    let part = format!("{}p", device.name());
    let shown = std::fs::read_dir(block).expect("its directory").flatten();
    let shown: Vec<_> = shown
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().starts_with(&part))
        .collect();
    assert!(shown.is_empty(), "{shown:?}");
}

#[test]
fn what_cannot_be_made_is_refused_before_the_first_byte() {
    own_process!();
    if !can_run("what_cannot_be_made_is_refused", &TOOLS) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(256 * MIB));
    let name = device.name().to_owned();
    let destroy = |plan: &str| desk.run(&["lab", "run", plan, "--destroy", &name, "--busy-ok"]);
    let good = plan(&desk, &name, TWO);
    desk.run(&["lab", "run", &good])
        .failed(3, &["needs `--destroy`", &format!("--destroy {name}")]);
    let both = format!("{name},loop63");
    desk.run(&["lab", "run", &good, "--destroy", &both])
        .failed(2, &["loop63", "does not use"]);
    for (more, says) in [
        (
            "size = \"16M\"\n[factors]\noffset = [\"63s\", \"31.5K\"]",
            "make no difference",
        ),
        ("[factors]\noffset = [\"1M\"]", "one level only"),
        ("[factors]\noffsett = [\"63s\", \"1M\"]", "`offset`"),
        (
            "[factors]\nstripe-unit = [\"64K\", \"128K\"]",
            "nothing is striped",
        ),
        (
            "size = \"16M\"\n[layout]\noffset = \"1M\"\n[factors]\noffset = [\"63s\", \"1M\"]",
            "both varied and fixed",
        ),
        (
            "size = \"4G\"\n[factors]\noffset = [\"63s\", \"1M\"]",
            "needs devices of",
        ),
    ] {
        desk.write("plan.toml", "");
        let bad = plan(&desk, &name, more);
        destroy(&bad).failed(2, &[says]);
        desk.run(&["lab", "plan", &bad]).failed(2, &[says]);
    }
    is_blank(&device);
    let mounted = Mount::made(&["mkfs.ext4", "-q"], &device, &[]);
    let good = plan(&desk, &name, TWO);
    destroy(&good).failed(3, &[&name, "mounted"]);
    drop(mounted);
    let found = run("wipefs", &["--no-act", "--noheadings", &device.device]);
    assert!(found.contains("ext4"), "it is still there: {found}");
}

#[test]
fn an_experiment_is_planned_made_measured_and_leaves_a_blank_device() {
    own_process!();
    if !can_run("an_experiment_is_planned_made", &TOOLS) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(256 * MIB));
    run("mkfs.ext4", &["-q", &device.device]);
    let name = device.name().to_owned();
    let plan = plan(&desk, &name, TWO);
    desk.run(&["lab", "plan", &plan]).done().printed(&[
        "2 layouts",
        "an ext4 file system",
        "Destroyed, all data on:",
        &name,
        "192 MiB",
    ]);
    // Time for one pass, and for one more when it goes on.
    let arguments = ["lab", "run", &plan, "--destroy", &name, "--busy-ok"];
    let first = [&arguments[..], &["--time", "1s"]].concat();
    desk.run(&first)
        .ended(1)
        .printed(&["1 pass is finished", "lab resume", "--time TIME"]);
    is_blank(&device);
    let id = desk.json(&["lab", "plans"]).at("layouts.0.id").text();
    let again = ["lab", "resume", &id, "--destroy", &name, "--busy-ok"];
    let again = [&again[..], &["--time", "1s", "--json"]].concat();
    let answer = desk.run(&again).done().json();
    assert_eq!(answer.at("layouts").items().len(), 2);
    assert_eq!(answer.at("status").text(), "complete");
    is_blank(&device);
    // Every run was on a partition where its layout says.
    let ids = desk.ids();
    assert!(ids.len() >= 2 * 2 * 2, "{}", ids.len());
    for id in &ids[..4] {
        let record = desk.json(&["history", "show", id]);
        let record = record.at("runs.0");
        let level = record.at("experiment.level").text();
        let offset = record.at("jobs.0.target.partition_offset_bytes").count();
        let expected = match level.as_str() {
            "offset 63s" => 32_256,
            _ => 1 << 20,
        };
        assert_eq!(offset, expected, "{level}");
    }
    // The commands that it prints make the layout that it recommends.
    for command in answer.at("commands").items() {
        if command.at("place").text() == "linux" {
            let line = command.at("line").text();
            let mut words: Vec<&str> = line.split(' ').collect();
            assert_eq!(words.remove(0), "stripewise", "{line}");
            words.push("--busy-ok");
            desk.run(&words).done();
        }
    }
    let start = std::fs::read_to_string(format!("/sys/class/block/{name}p1/start"));
    let expected = match answer.at("recommendation.layout.offset").text().as_str() {
        "63s" => "63",
        _ => "2048",
    };
    assert_eq!(start.expect("a partition").trim(), expected);
    desk.run(&["lab", "clean"])
        .done()
        .printed(&["No test file is kept"]);
}

#[test]
fn an_interrupted_experiment_takes_down_what_it_made_and_can_go_on() {
    own_process!();
    if !can_run("an_interrupted_experiment_takes_down", &TOOLS) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(256 * MIB));
    let name = device.name().to_owned();
    let plan = endless_plan(&desk, &name, TWO);
    let arguments = ["lab", "run", &plan, "--destroy", &name, "--busy-ok"];
    let mut running = desk.start(&arguments);
    Moment::Partitioned.wait(&desk, &mut running, &device, 1);
    running.signal(Signal::INT);
    running.wait().ended(130);
    is_blank(&device);
    // The device is named each time.
    let id = desk.json(&["lab", "plans"]).at("layouts.0.id").text();
    desk.run(&["lab", "resume", &id])
        .failed(3, &["needs `--destroy`"]);
}

#[test]
fn what_a_killed_experiment_leaves_is_found_and_taken_down() {
    own_process!();
    if !can_run("what_a_killed_experiment_leaves", &TOOLS) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(256 * MIB));
    let stranger = Loop::new(256 * MIB);
    run("mkfs.ext4", &["-q", &stranger.device]);
    let name = device.name().to_owned();
    let plan = endless_plan(&desk, &name, TWO);
    for moment in [Moment::Partitioned, Moment::Mounted, Moment::Measuring] {
        let arguments = ["lab", "run", &plan, "--destroy", &name, "--busy-ok"];
        let mut running = desk.start(&arguments);
        moment.wait(&desk, &mut running, &device, 1);
        running.signal(Signal::KILL);
        running.wait().ended(137);
        desk.run(&["lab", "clean"])
            .done()
            .printed(&["would be taken down"]);
        // Not without its name, and not by another's.
        desk.run(&["lab", "clean", "--yes"])
            .ended(3)
            .said(&["was not named"]);
        let other = ["lab", "clean", "--yes", "--destroy", stranger.name()];
        desk.run(&other).ended(3).said(&["was not named"]);
        let arguments = ["lab", "clean", "--yes", "--destroy", &name, "--busy-ok"];
        desk.run(&arguments).done();
        is_blank(&device);
        desk.run(&["lab", "clean"])
            .done()
            .printed(&["No test file"]);
    }
    // Something else on the same device is nobody's business.
    run("mkfs.ext4", &["-q", "-F", &device.device]);
    let arguments = ["lab", "clean", "--yes", "--destroy", &name, "--busy-ok"];
    desk.run(&arguments).done();
    for one in [&device, &stranger] {
        let found = run("wipefs", &["--no-act", "--noheadings", &one.device]);
        assert!(found.contains("ext4"), "{found}");
    }
}

/// Four layouts on a device with room for four slots.
const FOUR: &str = "size = \"16M\"\nslots = true\n[factors]\noffset = [\"63s\", \"1M\"]\nallocation-unit = [\"2K\", \"4K\"]";

/// By layout, the slot of its last run: where its partition starts, without the offset that
/// the layout has itself.
fn slots_of(desk: &Desk) -> std::collections::BTreeMap<String, u64> {
    let mut slots = std::collections::BTreeMap::new();
    for id in desk.ids().iter().rev() {
        let record = desk.json(&["history", "show", id]);
        let record = record.at("runs.0");
        let level = record.at("experiment.level").text();
        let inside = match level.starts_with("offset 63s") {
            true => 32_256,
            false => 1 << 20,
        };
        let start = record.at("jobs.0.target.partition_offset_bytes").count();
        assert_eq!((start - inside) % (4 << 20), 0, "{level} at {start}");
        slots.insert(level, start - inside);
    }
    slots
}

#[test]
fn layouts_in_slots_lie_side_by_side_and_change_places() {
    own_process!();
    if !can_run("layouts_in_slots_lie_side_by_side", &TOOLS) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(640 * MIB));
    let name = device.name().to_owned();
    let small = Loop::new(256 * MIB);
    let too_small = plan(&desk, small.name(), FOUR);
    let destroy =
        |plan: &str, name: &str| desk.run(&["lab", "run", plan, "--destroy", name, "--busy-ok"]);
    destroy(&too_small, small.name()).failed(2, &["in a slot needs devices of"]);
    let two = plan(&desk, &name, TWO);
    desk.run(&["lab", "run", &two, "--slots", "--destroy", &name])
        .failed(2, &["6 passes of 2 layouts leave 4 values"]);
    is_blank(&device);
    let plan = plan(&desk, &name, FOUR);
    desk.run(&["lab", "plan", &plan])
        .done()
        .printed(&["divided into 4 slots of 156 MiB"]);
    let first = [
        "lab",
        "run",
        &plan,
        "--destroy",
        &name,
        "--busy-ok",
        "--time",
        "1s",
    ];
    desk.run(&first)
        .ended(1)
        .warned(&["4 slots of 156 MiB"])
        .printed(&["1 pass is finished"]);
    is_blank(&device);
    let before = slots_of(&desk);
    let places: std::collections::BTreeSet<&u64> = before.values().collect();
    assert_eq!((before.len(), places.len()), (4, 4), "{before:?}");
    let id = desk.json(&["lab", "plans"]).at("layouts.0.id").text();
    let again = [
        "lab",
        "resume",
        &id,
        "--destroy",
        &name,
        "--busy-ok",
        "--time",
        "1s",
    ];
    desk.run(&again)
        .ended(1)
        .printed(&["2 passes are finished", "separated from slots"]);
    is_blank(&device);
    let after = slots_of(&desk);
    let moved = after
        .iter()
        .filter(|(layout, slot)| before[*layout] != **slot);
    assert_eq!(moved.count(), 4, "{before:?} {after:?}");
}

#[test]
fn what_a_killed_experiment_leaves_in_slots_is_taken_down_as_well() {
    own_process!();
    if !can_run("what_a_killed_experiment_leaves_in_slots", &TOOLS) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(640 * MIB));
    let name = device.name().to_owned();
    let plan = endless_plan(&desk, &name, FOUR);
    let arguments = ["lab", "run", &plan, "--destroy", &name, "--busy-ok"];
    for (signal, moment) in [
        (Signal::KILL, Moment::Partitioned),
        (Signal::KILL, Moment::Mounted),
        (Signal::INT, Moment::Mounted),
        (Signal::KILL, Moment::Measuring),
    ] {
        let mut running = desk.start(&arguments);
        moment.wait(&desk, &mut running, &device, 4);
        running.signal(signal);
        let ended = running.wait();
        if signal == Signal::INT {
            ended.ended(130);
            is_blank(&device);
            continue;
        }
        // What is asked for is what is wanted: the device, not its partitions.
        let requested = format!("--yes --destroy {name}.");
        let shown_text = desk.run(&["lab", "clean"]).done().printed(&[&requested]);
        let of_parts = format!("--destroy {name}p");
        assert!(
            !shown_text.stdout.contains(&of_parts),
            "{}",
            shown_text.stdout
        );
        for left in desk.json(&["lab", "clean"]).at("layouts").items() {
            assert_eq!(left.at("destroy.0").text(), name);
            assert_eq!(left.at("destroy").items().len(), 1);
        }
        desk.run(&["lab", "clean", "--yes"])
            .ended(3)
            .said(&["was not named", &name]);
        let clean = ["lab", "clean", "--yes", "--destroy", &name, "--busy-ok"];
        desk.run(&clean).done();
        is_blank(&device);
        desk.run(&["lab", "clean"])
            .done()
            .printed(&["No test file"]);
    }
}
