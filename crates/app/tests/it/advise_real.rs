//! `advise` where nothing is simulated: a directory, a device that may only be read, devices
//! without permission, and one on which layouts are made.

use crate::support::*;
use rustix::process::Signal;

#[test]
fn a_directory_is_measured_at_base_offsets_and_keeps_what_is_there() {
    let desk = Desk::new();
    let volume = desk.volume();
    let arguments = [
        "advise",
        &volume,
        "--mix",
        "random-read=100",
        "--vary",
        "offset=1M,2M",
        "--size",
        "16M",
        "--passes",
        "6",
        "--busy-ok",
        "--explain",
    ];
    let answer = desk.run(&arguments);
    let answer = match code_of_answer(&answer) {
        // Other load may make one of two equal places look worse.
        1 => answer.ended(1),
        _ => answer.done(),
    };
    answer.printed(&[
        "\nOffset ",
        "Mix IOPS",
        "\n1M ",
        "\n2M ",
        "6 passes",
        "nothing is made here",
        "Saved  6 passes",
    ]);
    assert_eq!(names(&volume), Vec::<String>::new(), "no file is left");
    let id = desk.json(&["lab", "plans"]).at("layouts.0.id").text();
    let again = desk.run(&["lab", "resume", &id, "--json"]).json();
    for field in ["recommendation.layout.offset", "layouts.0.layout.offset"] {
        assert!(again.at(field).text().ends_with('M'), "{field}");
    }
    assert!(!again.at("effects").items().is_empty());
    assert!(!again.at("not_tried").items().is_empty());
}

fn code_of_answer(answer: &Answer) -> i32 {
    answer.code.unwrap_or(-1)
}

#[test]
fn what_cannot_be_measured_is_answered_by_arithmetic_and_says_so() {
    own_process!();
    if !can_run("what_cannot_be_measured_is_answered", &["root", "losetup"]) {
        return;
    }
    let (desk, first, second) = (Desk::new(), Loop::new(64 * MIB), Loop::new(64 * MIB));
    let before = run("sha256sum", &[&first.device]);
    // Every cell writes, and writing is not permitted.
    let page = desk.file("advice.html");
    let arguments = [
        "advise",
        &first.device,
        "--mix",
        "random-write=100",
        "--busy-ok",
        "--report",
        &page,
    ];
    let answer = desk.run(&arguments).done();
    answer.printed(&[
        "by arithmetic, not measured",
        "Nothing was measured",
        "--destroy",
        "It is a bound",
    ]);
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(
        !html.contains("figure-ranking") && html.contains("by arithmetic"),
        "{html}"
    );
    // 8K on 64K: one in eight.
    let both = format!("{},{}", first.name(), second.name());
    let document = desk.json(&["advise", &both, "--mix", "random-read=100"]);
    assert_eq!(document.at("recommendation.layout.offset").text(), "1M");
    assert!(document.at("recommendation.gain_percent").is_null());
    assert!(document.at("layouts").items().is_empty());
    let effect = document.at("effects.0");
    assert!(effect.at("by_arithmetic").truth());
    assert!((effect.at("percent").number() - 12.5).abs() < 0.01);
    assert!(desk.ids().is_empty(), "nothing was run");
    assert_eq!(run("sha256sum", &[&first.device]), before);
}

#[test]
fn a_device_that_layouts_are_made_on_is_named_and_left_blank_when_interrupted() {
    own_process!();
    if !can_run(
        "a_device_that_layouts_are_made_on",
        &["root", "losetup", "mkfs.ext4"],
    ) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(256 * MIB));
    let (name, other) = (device.name().to_owned(), "loop63");
    let partition = format!("{}p1", device.device);
    let arguments = [
        "advise",
        &name,
        "--mix",
        "random-read=100",
        "--size",
        "16M",
        "--busy-ok",
    ];
    let of = |destroy: &str| [&arguments[..], &["--destroy", destroy]].concat().join(" ");
    let run_it = |destroy: &str| {
        let line = of(destroy);
        desk.run(&line.split(' ').collect::<Vec<_>>())
    };
    run_it(other).failed(3, &["needs `--destroy`"]);
    let line = of(&name);
    let mut running = desk.start(&line.split(' ').collect::<Vec<_>>());
    running.until("Every layout gets");
    running.until_true("a partition", || std::path::Path::new(&partition).exists());
    running.signal(Signal::INT);
    running.wait().ended(130).said(&["lab resume"]);
    assert!(!std::path::Path::new(&partition).exists());
    let found = run("wipefs", &["--no-act", &device.device]);
    assert!(found.is_empty(), "{found}");
    desk.run(&["lab", "clean"])
        .done()
        .printed(&["No test file is kept"]);
}

#[test]
fn layouts_lie_side_by_side_only_where_that_can_be_judged() {
    let desk = Desk::new();
    let volume = desk.volume();
    let base = ["--mix", "random-read=70,random-write=30", "--slots"];
    let slots =
        |target: &str, more: &[&str]| desk.run(&[&["advise", target][..], &base, more].concat());
    let offsets = ["--vary", "offset=63s,1M", "--vary", "stripe-unit=64K,128K"];
    slots(&volume, &["--size", "16M", "--busy-ok"]).failed(2, &["nothing is made on it"]);
    let large = [&offsets[..], &["--size", "1T"]].concat();
    slots("sim:raid10-10k", &large).failed(2, &["4 slots of 1", "are there"]);
    // Too few passes to judge the noise by.
    let few = desk.write(
        "few.toml",
        "target = \"sim:raid10-10k\"\nslots = true\npasses = 6\nmix = \"random-read=100\"\n\
         [factors]\noffset = [\"63s\", \"1M\"]\n",
    );
    desk.run(&["lab", "run", &few])
        .failed(2, &["6 passes of 2 layouts leave 4 values"]);
    let short = [&offsets[..], &["--json"]].concat();
    let document = slots("sim:raid10-10k?offset=63s", &short).ended(1).json();
    assert_eq!(document.at("recommendation.layout.offset").text(), "1M");
    let notes = document.at("notes").items();
    let shown_text = notes
        .iter()
        .any(|note| note.text().contains("best slot is ahead of the worst by"));
    assert!(shown_text, "{}", document.json());
    // The runs say where they were.
    let places = desk.ids().into_iter().map(|id| {
        let record = desk.json(&["history", "show", &id]);
        let workload = record.at("runs.0.jobs.0.workload");
        workload.at("base_offset_bytes").count()
    });
    let places: std::collections::BTreeSet<u64> = places.collect();
    assert_eq!(places.len(), 4, "{places:?}");
}

#[test]
fn a_run_without_an_operation_is_made_again_before_it_ends_the_experiment() {
    let desk = Desk::new();
    let volume = desk.volume();
    let text = format!(
        "target = \"{volume}\"\nsize = \"16M\"\npasses = 6\n[factors]\noutstanding = [\"1\", \"4\"]\n\
         [defaults]\nduration = \"10ns\"\nramp = \"0s\"\n[[cell]]\nname = \"read\"\nread = true\n"
    );
    let plan = desk.write("plan.toml", &text);
    desk.run(&["lab", "run", &plan, "--busy-ok"])
        .ended(4)
        .said(&["completed no operation", "make runs longer"])
        .printed(&["0 passes are finished"]);
    assert_eq!(desk.ids().len(), 3, "it was tried three times");
}
