//! `verify`: what passes, what is found, and what is refused.

use crate::support::{
    Answer, Desk, Json, Loop, Mount, can_run, long_enough, names, text, unwrapped,
    written_by_another,
};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;

const SECTOR: u64 = 512;

/// A short burn-in of a test file.
fn burn_in<'a>(volume: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec!["verify", volume, "--busy-ok", "--size", "16M"];
    if !more.contains(&"--duration") {
        all.extend(["--duration", "300ms"]);
    }
    all.extend(more);
    all
}

fn classes(document: &Json) -> BTreeSet<String> {
    let faults = document.at("faults").items();
    faults
        .iter()
        .map(|fault| fault.at("class").text())
        .collect()
}

#[test]
fn what_keeps_what_it_was_given_passes_and_nothing_is_left() {
    let desk = Desk::new();
    let volume = desk.volume();
    for cache in ["direct", "buffered", "mixed"] {
        let document = desk.json(&burn_in(&volume, &["--cache", cache]));
        assert_eq!(document.at("verdict").text(), "passed", "{cache}");
        assert_eq!(document.at("faults").items().len(), 0);
        assert_eq!(document.at("faults_by_class").json(), "{}");
        // Everything was read once more at the end, at least.
        assert!(document.at("verified_bytes").count() >= 16 << 20, "{cache}");
        assert!(document.at("operations").count() > 32);
        let phases = document.at("phases").items();
        assert_eq!(phases.last().expect("phases").at("cache").text(), "direct");
    }
    assert_eq!(names(&volume), Vec::<String>::new());
}

#[test]
fn any_profile_is_verified_and_a_wrong_one_is_named() {
    let desk = Desk::new();
    let volume = desk.volume();
    for profile in ["postgresql", "virtual-machines"] {
        let measure = |duration: &str| {
            desk.json(&burn_in(
                &volume,
                &["--profile", profile, "--duration", duration],
            ))
        };
        let document = long_enough(measure, |document| at_work(document) > 0);
        assert_eq!(document.at("verdict").text(), "passed", "{profile}");
    }
    desk.run(&burn_in(&volume, &["--profile", "nonesuch"]))
        .failed(2, &["nonesuch", "hint:"]);
    assert_eq!(names(&volume), Vec::<String>::new());
}

/// Its own first pass fills the file: nothing writes it before.
#[test]
fn a_test_file_is_written_once_before_the_work() {
    let desk = Desk::new();
    let volume = desk.volume();
    let answer = desk.run(&burn_in(&volume, &[])).done();
    for word in ["Filled", "Filling"] {
        assert!(!answer.stderr.contains(word), "{}", answer.stderr);
    }
}

/// Of a disk that is not there: its memory and its passes are known all the same.
#[test]
fn a_plan_needs_no_disk_of_its_size() {
    let desk = Desk::new();
    let plan = desk.json(&["verify", "--plan", "--size", "16T"]);
    let number = |name: &str| plan.at(name).number() as u64;
    assert_eq!(number("size_bytes"), 16 << 40);
    assert_eq!(number("map_bytes") >> 20, 4 << 10);
    let line = desk
        .run(&["verify", "--plan", "--size", "16T", "-q"])
        .done();
    assert_eq!(line.stdout.lines().count(), 1, "{}", line.stdout);
    assert!(
        line.stdout.starts_with("16 TiB: 4.0 GiB of memory"),
        "{}",
        line.stdout
    );
    for (switches, word) in [
        (&["--plan"][..], "--size"),
        (&["--plan", "--size", "1T", "/dev/sdb"], "--plan"),
        (&["--plan", "--size", "1M", "--threads", "256"], "--size"),
    ] {
        desk.run(&[&["verify"], switches].concat())
            .failed(2, &[word, "hint:"]);
    }
}

#[test]
fn several_devices_are_verified_at_once() {
    own_process!();
    if !can_run("several_devices_are_verified_at_once", &["losetup"]) {
        return;
    }
    let desk = Desk::new();
    let [one, other] = [(); 2].map(|()| Loop::dense(16 << 20, &[]));
    let both = [
        "verify",
        text(one.path()),
        text(other.path()),
        "--busy-ok",
        "--duration",
        "200ms",
    ];
    desk.run(&[&both[..], &["--destroy", one.name()]].concat())
        .failed(3, &["--destroy"]);
    let more = ["--destroy", one.name(), "--destroy", other.name()];
    let document = desk.json(&[&both[..], &more].concat());
    assert_eq!(document.at("verdict").text(), "passed");
    assert_eq!(document.at("targets").items().len(), 2);
    assert!(document.at("verified_bytes").count() >= 32 << 20);
}

/// Operations between the first pass and the last.
fn at_work(document: &Json) -> u64 {
    let work = &document.at("phases").items()[1];
    let operations = ["read.operations", "write.operations"].map(|kind| work.at(kind).count());
    operations.iter().sum()
}

/// A burn-in with torn writes, one in twenty, that works for long enough to have some. The
/// first pass has fewer operations than the first that is struck.
fn torn(desk: &Desk, volume: &str) -> Answer {
    let inject = ["--inject", "torn=4096@every=20 write", "--json"];
    let measure = |duration: &str| {
        let more = [&inject[..], &["--duration", duration]].concat();
        desk.run(&burn_in(volume, &more))
    };
    long_enough(measure, |answer| at_work(&answer.json()) > 1_000)
}

#[test]
fn torn_writes_are_found_and_end_with_1() {
    let desk = Desk::new();
    let volume = desk.volume();
    let document = torn(&desk, &volume).ended(1).json();
    assert_eq!(document.at("verdict").text(), "faults");
    let found = classes(&document);
    assert!(found.contains("torn"), "{found:?}");
    // Where the part that arrived was overwritten since, the rest looks lost; where the rest
    // was, what a scan saw before looks old. In the part of the file that is cut and grows
    // again, what did not arrive is zeros.
    let allowed = ["torn", "lost-write", "stale-read", "dropped"];
    assert!(
        found.iter().all(|class| allowed.contains(&class.as_str())),
        "{found:?}"
    );
    for fault in document.at("faults").items() {
        for field in ["target_name", "expected.what", "found.what", "message"] {
            assert!(!fault.at(field).text().is_empty(), "{field}");
        }
        assert!(fault.at("length_bytes").count() >= SECTOR);
    }
    let by_class = document.at("faults_by_class.torn").count();
    assert!(by_class >= 1 && by_class <= document.at("faults").items().len() as u64);
}

/// The page, the picture and the tables of a stored verification.
#[test]
fn a_verification_has_a_report_in_every_form() {
    let desk = Desk::new();
    let volume = desk.volume();
    let faults = torn(&desk, &volume).ended(1).json();
    let id = faults.at("id").text();
    let report = |format: &str| {
        desk.run(&["report", &id, "--format", format, "--output=-"])
            .done()
            .stdout
    };
    let found = faults.at("faults").items();
    let first = &found[0];
    let place = first.at("offset_bytes").count().to_string();
    let counted = first.at("class").text();
    let page = report("html");
    let verdict = "<span class=\"missed\">Faults:</span>";
    for words in [
        verdict,
        &counted,
        &format!("<td>{place}</td>"),
        "Pass 1: write",
        "Burn-in",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("<script"), "it needs none");
    let csv = report("csv");
    assert_eq!(csv.lines().count(), found.len() + 1, "{csv}");
    assert!(
        csv.lines()
            .nth(1)
            .is_some_and(|line| line.starts_with(&counted) && line.contains(&place))
    );
    let markdown = report("md");
    assert!(
        markdown.contains("**Faults:** ") && markdown.contains(&format!("| {place} |")),
        "{markdown}"
    );
    assert!(report("svg").contains(">Faults<"));
    let kept: serde_json::Value = serde_json::from_str(&report("json")).expect("JSON");
    assert_eq!(kept["faults"].as_array().map(Vec::len), Some(found.len()));
    // What passed says so, and has no table of faults.
    let passed = desk.json(&burn_in(&volume, &[])).at("id").text();
    let page = desk.run(&["report", &passed, "--output=-"]).done().stdout;
    assert!(
        page.contains("<span class=\"met\">Passed:</span> no fault in "),
        "{page}"
    );
    assert!(!page.contains("<h2>Faults</h2>") && page.contains(">no fault<"));
    desk.run(&["report", &passed, "--require", "p99<5ms", "--output=-"])
        .failed(2, &["is a verification", "hint:"]);
    desk.run(&[
        "report",
        &passed,
        "--format",
        "svg",
        "--chart",
        "ladder",
        "--output=-",
    ])
    .failed(2, &["no chart `ladder`", "a verification has one picture"]);
}

#[test]
fn failed_writes_are_no_faults() {
    let desk = Desk::new();
    let volume = desk.volume();
    for inject in ["fail=5@every=5 write", "short=512@every=5 write"] {
        let measure = |duration: &str| {
            let more = ["--inject", inject, "--json", "--duration", duration];
            desk.run(&burn_in(&volume, &more))
        };
        let answer = long_enough(measure, |answer| at_work(&answer.json()) > 100);
        let document = answer.ended(4).json();
        assert_eq!(document.at("verdict").text(), "errors", "{inject}");
        let total = document.at("errors.total").count();
        // Each place is named, and once.
        let named = document.at("errors.first").items();
        let places: BTreeSet<String> = named.iter().map(Json::text).collect();
        assert!(
            places.len() > 1 && places.len() == named.len(),
            "{places:?}"
        );
        assert!(places.len() as u64 <= total);
        assert!(
            places.iter().all(|place| place.contains("(write of ")),
            "{places:?}"
        );
        assert_eq!(classes(&document), BTreeSet::new(), "{inject}");
    }
}

#[test]
fn it_stops_after_so_many_faults() {
    let desk = Desk::new();
    let volume = desk.volume();
    let more = [
        "--inject",
        "torn=4096@every=20 write",
        "--stop-after",
        "1",
        "--duration",
        "1h",
    ];
    let document = desk.run(&[&burn_in(&volume, &more)[..], &["--json"]].concat());
    let document = document.ended(1).json();
    assert!(!document.at("faults").items().is_empty());
}

#[test]
fn what_cannot_be_verified_is_refused_before_anything_is_written() {
    own_process!();
    let desk = Desk::new();
    let volume = desk.volume();
    let theirs = desk.write("theirs.txt", &"somebody's work\n".repeat(4096));
    let before = std::fs::read(&theirs).expect("readable");
    desk.run(&["verify", "sim:nvme"])
        .failed(2, &["no data", "hint:"]);
    desk.run(&["verify", &volume, "--engine", "null"])
        .failed(2, &["null engine", "hint:"]);
    desk.run(&["verify", &volume, &volume])
        .failed(2, &["named twice", "hint:"]);
    desk.run(&["verify", "dataset:oja-nisula-2007-offset"])
        .failed(2, &["published table"]);
    desk.run(&["verify", &theirs, "--busy-ok"])
        .failed(3, &["--overwrite"]);
    desk.run(&["verify", &volume, "--capacity"])
        .failed(2, &["is not a device", "hint:"]);
    desk.run(&["verify", &theirs, "--image", "--busy-ok"])
        .failed(3, &["has a stamp", "hint:"]);
    desk.run(&["verify"]).failed(2, &["hint:"]);
    assert_eq!(std::fs::read(&theirs).expect("readable"), before);
    assert_eq!(names(&volume), Vec::<String>::new());
}

/// Nothing is made, not even a file that would stay, for what cannot be done with it.
#[test]
fn sizes_that_are_too_small_are_refused_with_the_smallest() {
    own_process!();
    let desk = Desk::new();
    let volume = desk.volume();
    let short = |more: &[&str]| {
        let all = [
            "verify",
            &volume,
            "--busy-ok",
            "--keep",
            "--duration",
            "100ms",
        ];
        desk.run(&[&all[..], more].concat())
    };
    for size in ["10K", "1048575", "0"] {
        short(&["--size", size]).failed(2, &["too little for the test file", "--size 1M"]);
    }
    short(&["--size", "1M", "--threads", "200"]).failed(
        2,
        &["too little for pages of 8 KiB for 200 threads", "--threads"],
    );
    short(&["--profile", "nonesuch"]).failed(2, &["nonesuch", "hint:"]);
    // Where one of two is refused, no file was made for the other.
    let theirs = desk.file("theirs.txt");
    written_by_another(&theirs, "somebody's work\n".repeat(65_536).as_bytes());
    short(&["--size", "1M", &theirs]).failed(3, &["--overwrite"]);
    assert_eq!(names(&volume), Vec::<String>::new());
    let document = desk.json(&[
        "verify",
        &volume,
        "--busy-ok",
        "--size",
        "1M",
        "--duration",
        "100ms",
    ]);
    assert_eq!(document.at("targets.0.size_bytes").count(), 1 << 20);
    // Of what is there already, any size is taken that has a page for each thread.
    let used = [
        "verify",
        &theirs,
        "--busy-ok",
        "--overwrite",
        "--duration",
        "100ms",
    ];
    let before = std::fs::read(&theirs).expect("readable");
    desk.run(&[&used[..], &["--size", "10K"]].concat())
        .failed(2, &["--size 10 KiB is too little"]);
    assert_eq!(std::fs::read(&theirs).expect("readable"), before);
    let document = desk.json(&[&used[..], &["--size", "20K"]].concat());
    assert_eq!(document.at("targets.0.size_bytes").count(), 20 << 10);
    let after = std::fs::read(&theirs).expect("readable");
    assert_eq!(after[20 << 10..], before[20 << 10..]);
}

/// A file that somebody has open, and a device that is mounted, whatever is permitted; and
/// neither `verify` nor `run --verify` writes a byte.
#[test]
fn what_is_in_use_is_refused_before_anything_is_written() {
    own_process!();
    let desk = Desk::new();
    let theirs = desk.write("theirs.db", &"somebody's work\n".repeat(65_536));
    let before = std::fs::read(&theirs).expect("readable");
    let held = OpenOptions::new().append(true).open(&theirs).expect("open");
    let commands: [&[&str]; 3] = [
        &["verify"],
        &["verify", "--power-cut", "--witness", "|echo READY; cat"],
        &["run", "--verify", "--write"],
    ];
    for command in commands {
        let on_file = [command, &[&theirs, "--overwrite", "--busy-ok"]].concat();
        desk.run(&on_file).failed(3, &["open in"]);
    }
    drop(held);
    assert_eq!(std::fs::read(&theirs).expect("readable"), before);
    let needs = ["root", "losetup", "mkfs.ext4", "mount"];
    if !can_run(
        "what_is_in_use_is_refused_before_anything_is_written",
        &needs,
    ) {
        return;
    }
    let device = Loop::dense(32 << 20, &[]);
    let mount = Mount::made(&["mkfs.ext4", "-q", "-F"], &device, &[]);
    let file = mount.path.join("precious");
    std::fs::write(&file, &before).expect("written");
    for command in commands {
        let on_device = [command, &[text(device.path()), "--destroy", device.name()]].concat();
        desk.run(&on_device).failed(3, &["mounted"]);
    }
    assert_eq!(std::fs::read(&file).expect("there"), before);
}

/// The file that a burn-in left in this directory.
fn kept(desk: &Desk, volume: &str) -> String {
    let document = desk.json(&burn_in(volume, &["--keep"]));
    let found = names(volume);
    assert_eq!(found.len(), 1, "{}", document.json());
    let path = text(&Path::new(volume).join(&found[0])).to_owned();
    let target = &document.at("targets").items()[0];
    assert_eq!(target.at("kept_at").text(), path);
    path
}

/// Changes one byte in each of `count` different sectors, at places that a small generator
/// draws; returns where the sectors begin.
fn change_bytes(path: &Path, size_bytes: u64, count: usize) -> BTreeSet<u64> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .expect("it opens");
    let mut word = 0x2545_f491_4f6c_dd1d_u64;
    let mut struck = BTreeSet::new();
    while struck.len() < count {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        let at = word % size_bytes;
        if !struck.insert(at / SECTOR * SECTOR) {
            continue;
        }
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).expect("read");
        file.write_all_at(&[byte[0] ^ (1 + (word >> 40) as u8 % 255)], at)
            .expect("written");
    }
    file.sync_all().expect("synced");
    struck
}

/// The places of all faults of a document, in sectors.
fn places(document: &Json) -> BTreeSet<u64> {
    let faults = document.at("faults").items();
    let of = |fault: &Json| {
        let start = fault.at("offset_bytes").count();
        (start..start + fault.at("length_bytes").count()).step_by(SECTOR as usize)
    };
    faults.iter().flat_map(of).collect()
}

#[test]
fn no_test_file_is_made_to_be_an_image() {
    let desk = Desk::new();
    let volume = desk.volume();
    desk.run(&["verify", &volume, "--image", "--busy-ok"])
        .failed(2, &["is a directory", "hint: name the file"]);
    assert_eq!(std::fs::read_dir(&volume).expect("there").count(), 0);
}

#[test]
fn an_image_tells_its_age_and_every_changed_byte() {
    own_process!();
    let desk = Desk::new();
    let volume = desk.volume();
    let path = kept(&desk, &volume);
    let whole = desk.json(&["verify", "--image", &path, "--busy-ok"]);
    assert_eq!(whole.at("verdict").text(), "passed");
    let left = &whole.at("left").items()[0];
    assert_eq!(left.at("bytes").count(), 16 << 20);
    assert!(!left.at("id").text().is_empty(), "the store knows the run");
    assert!(left.at("oldest_age_ns").count() >= left.at("newest_age_ns").count());
    // A copy, elsewhere.
    let copy = desk.file("copy");
    std::fs::copy(&path, &copy).expect("copied");
    let struck = change_bytes(Path::new(&copy), 16 << 20, 1000);
    let answer = desk.run(&["verify", "--image", &copy, "--busy-ok", "--json"]);
    let document = answer.ended(1).json();
    assert_eq!(places(&document), struck);
    assert_eq!(classes(&document), BTreeSet::from(["damaged".to_owned()]));
}

#[test]
fn a_copy_is_held_against_the_record_of_its_run() {
    own_process!();
    let desk = Desk::new();
    let volume = desk.volume();
    let path = kept(&desk, &volume);
    let whole = std::fs::read(&path).expect("the kept file");
    let copy = desk.file("copy");
    let judged = |bytes: &[u8]| {
        std::fs::write(&copy, bytes).expect("a copy");
        desk.run(&["verify", "--image", &copy, "--busy-ok"])
    };
    let same = judged(&whole).done();
    assert!(
        same.stdout.contains("judged by its record\n"),
        "{}",
        same.stdout
    );
    assert!(
        same.stdout.contains("PASSED: no fault in 16 MiB"),
        "{}",
        same.stdout
    );
    let mut holes = whole.clone();
    holes[800 << 10..1200 << 10].fill(0);
    let found = judged(&holes[..12 << 20]).ended(1).stdout;
    let found = unwrapped(&found);
    assert!(
        found.contains("FAULTS: 1 dropped, 1 lost-write; "),
        "{found}"
    );
    assert!(found.contains(", byte 819200"), "{found}");
    assert!(found.contains(", 400 KiB; expected what the run wrote last, found zeros"));
    assert!(found.contains("byte 12582912, 4 MiB; "), "{found}");
    // Where nothing is known of the run nothing is claimed.
    let other_store = Desk::new();
    let judge = ["verify", "--image", &copy, "--busy-ok"];
    std::fs::write(&copy, &holes).expect("a copy");
    let open = other_store.run(&judge).ended(1).stdout;
    let open = unwrapped(&open);
    assert!(
        open.contains("NOT PROVEN: 400 KiB may be right or wrong: "),
        "{open}"
    );
    std::fs::write(&copy, &whole).expect("a copy");
    let open = other_store.run(&judge).done().stdout;
    let open = unwrapped(&open);
    assert!(open.contains("PASSED: no fault in 16 MiB"), "{open}");
    assert!(
        open.contains("; judged by stamps alone, without the record of run "),
        "{open}"
    );
}

#[test]
fn bytes_changed_behind_a_loop_device_are_all_found() {
    own_process!();
    if !can_run(
        "bytes_changed_behind_a_loop_device_are_all_found",
        &["losetup"],
    ) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(24 << 20, &[]);
    let path = text(device.path()).to_owned();
    desk.run(&["verify", &path, "--duration", "200ms"])
        .failed(3, &["--destroy"]);
    let burn_in = [
        "verify",
        &path,
        "--destroy",
        device.name(),
        "--busy-ok",
        "--duration",
        "200ms",
    ];
    let document = desk.json(&burn_in);
    assert_eq!(document.at("verdict").text(), "passed");
    assert_eq!(
        document.at("targets").items()[0].at("kind").text(),
        "device"
    );
    let struck = change_bytes(device.path(), 24 << 20, 1000);
    let answer = desk.run(&["verify", "--image", &path, "--busy-ok", "--json"]);
    let document = answer.ended(1).json();
    assert_eq!(places(&document), struck);
    let lba = document.at("faults").items()[0].at("lba").count();
    assert_eq!(Some(&(lba * SECTOR)), struck.first());
}

#[test]
fn a_whole_device_is_written_and_read_once_and_goes_on_where_it_was_stopped() {
    own_process!();
    if !can_run("a_whole_device_goes_on_where_it_was_stopped", &["losetup"]) {
        return;
    }
    let desk = Desk::new();
    let device = Loop::dense(40 << 20, &[]);
    let path = text(device.path()).to_owned();
    let whole = [
        "verify",
        &path,
        "--capacity",
        "--destroy",
        device.name(),
        "--busy-ok",
    ];
    // Each takes two seconds, two at a time: the rest would need more than half a minute.
    let slowly = [
        &whole[..],
        &[
            "--inject",
            "delay=2000000000@every=1",
            "--outstanding",
            "2",
            "--json",
        ],
    ]
    .concat();
    let before = std::fs::read(&device.backing).expect("there");
    let mut running = desk.start(&slowly);
    running.until_true("a first write", || {
        std::fs::read(&device.backing).expect("there")[..1 << 20] != before[..1 << 20]
    });
    running.signal(rustix::process::Signal::INT);
    let answer = running.wait().ended(130);
    assert_eq!(answer.json().at("verdict").text(), "interrupted");
    assert!(
        !answer.stdout.contains("real_bytes"),
        "it is not known before everything was read: {}",
        answer.stdout
    );
    let written = answer.json().at("phases").items()[0]
        .at("write.bytes")
        .count();
    assert!(written < 40 << 20, "{written}");
    let answer = desk
        .run(&[&whole[..], &["--json"]].concat())
        .warned(&["Goes on with the pass"]);
    let document = answer.ended(0).json();
    assert_eq!(document.at("verdict").text(), "passed");
    assert_eq!(document.at("capacity.real_bytes").count(), 40 << 20);
    let rest = document.at("phases").items()[0].at("write.bytes").count();
    assert!(
        rest + written >= 40 << 20 && rest <= 40 << 20,
        "{written} and {rest}"
    );
    assert_eq!(document.at("verified_bytes").count(), 40 << 20);
    // And the next one begins anew.
    let answer = desk.run(&[&whole[..], &["--json"]].concat()).ended(0);
    assert!(!answer.stderr.contains("Goes on"), "{}", answer.stderr);
}

#[test]
fn ctrl_c_keeps_what_was_verified() {
    let desk = Desk::new();
    let volume = desk.volume();
    let mut running = desk.start(&burn_in(&volume, &["--duration", "60s", "--json"]));
    running.until("Working");
    running.signal(rustix::process::Signal::INT);
    let document = running.wait().ended(130).json();
    assert_eq!(document.at("verdict").text(), "interrupted");
    assert_eq!(
        document.at("phases").items()[0].at("write.bytes").count(),
        16 << 20
    );
    assert_eq!(names(&volume), Vec::<String>::new());
}

#[test]
fn a_file_that_others_cut_or_remove_meanwhile_is_named_beside_the_verdict() {
    own_process!();
    let desk = Desk::new();
    for cut in [true, false] {
        let file = desk.file("data");
        desk.run(&["prepare", &file, "--size", "64M", "--busy-ok"])
            .done();
        // Of the first half alone: no write gives the file its length back.
        let verify = ["verify", &file, "--size", "32M", "--busy-ok"];
        let mut run = desk.start(&[&verify[..], &["--duration", "1h", "--json"]].concat());
        run.until("Working");
        if cut {
            let opened = OpenOptions::new().write(true).open(&file);
            opened.and_then(|opened| opened.set_len(0)).expect("cut");
        } else {
            std::fs::remove_file(&file).expect("removed");
            run.signal(rustix::process::Signal::INT);
        }
        let answer = run.wait();
        let code = answer.code.unwrap_or_default();
        // Where nothing was read between the cut and the stop, no fault was seen.
        let expected: &[i32] = if cut { &[1, 4] } else { &[130] };
        assert!(expected.contains(&code), "{code}: {}", answer.stderr);
        let changed = answer.json().at("targets.0.changed").text();
        let says = if cut { "was cut" } else { "was removed" };
        assert!(changed.starts_with(says), "{changed}");
        if cut {
            std::fs::remove_file(&file).expect("ours");
        }
    }
}
