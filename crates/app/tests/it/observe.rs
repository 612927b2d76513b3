//! `observe`, as a user meets it: traces in files, and this machine where that is possible.

use crate::support::{Desk, Loop, MIB, Running, can_run, skip, unwrapped};
use std::io::Write;
use std::process::Command;

/// Rows of 40 s, 500 operations a second: time, kind, offset, sectors, latency, in
/// microseconds. From 16 to 18 s the disk takes 5 to 13 ms in place of 1.
fn rows() -> String {
    let row = |k: u64| {
        let kind = if k % 10 < 7 { "R" } else { "W" };
        let is_slow = (8_000..9_000).contains(&k);
        let latency = if is_slow {
            5_000 + k * 104_729 % 8_000
        } else {
            900 + k % 200
        };
        let offset = (k * 7_919 % 100_000) * 8_192;
        format!("{} {kind} {offset} 16 {latency}\n", k * 2_000)
    };
    (0..20_000).map(row).collect()
}

const COLUMNS: &str = "time=us,op=R/W,offset=bytes,size=sectors,latency=us";

#[test]
fn what_a_trace_makes_inexact_is_said() {
    let desk = Desk::new();
    let columns = "-,time=us,device,op=R/W,offset=bytes,size=bytes";
    let row = |at: u64, device: u64| format!("7,{at},d{device},R,{},4096\n", at * 8_192);
    let many: String = (0..300).map(|k| row(k, k)).collect();
    let joined: String = (0..300).map(|k| row(k % 150 * 100_000, 1)).collect();
    for (text, says) in [
        (many, "the first 128 devices are counted one by one"),
        (joined, "out of order"),
    ] {
        let trace = desk.write("trace.csv", &text);
        let words = ["observe", "--from", &trace, "--columns", columns];
        let seen = unwrapped(&desk.run(&words).done().stdout);
        assert!(seen.contains(says), "{seen}");
    }
}

#[test]
fn a_trace_without_times_has_no_rates_and_is_not_replayed() {
    let desk = Desk::new();
    let rows: String = (0..100)
        .map(|k| format!("/dev/sdb read {} 4096\n", k * 8_192))
        .collect();
    let text = format!("fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n{rows}");
    let trace = desk.write("v2.log", &text);
    let observed = desk.run(&["observe", "--from", &trace]).done();
    assert!(
        observed.stdout.contains("all operations have one time"),
        "{}",
        observed.stdout
    );
    assert!(
        observed.stdout.contains("100 % reads"),
        "{}",
        observed.stdout
    );
    assert!(!observed.stdout.contains(" IOPS, "), "{}", observed.stdout);
    desk.run(&["run", "sim:nvme", "--trace", &trace])
        .failed(2, &["does not say when they arrived", "hint:"]);
    let model = desk.file("v2.swmodel");
    let refused = desk.run(&["observe", "--from", &trace, "--model", &model]);
    let refused = refused.ended(3).stderr;
    assert!(refused.contains("no model was made"), "{refused}");
    assert!(!std::path::Path::new(&model).exists());
    let huge = desk.write("huge.csv", "0,W,18446744073709551104,4096\n9,W,0,4096\n");
    let columns = "time=us,op=R/W,offset=bytes,size=bytes";
    desk.run(&["run", "sim:nvme", "--trace", &huge, "--columns", columns])
        .failed(2, &["which no disk has", "hint:"]);
}

/// `trace-cmd` marks where its ring was too small.
#[test]
fn lost_events_of_a_trace_are_named_with_what_helps() {
    let desk = Desk::new();
    let mut text = "cpus=2\n".to_owned();
    for k in 0..400 {
        let [issued, done] = [0, 100].map(|us| format!("10.{:06}", k * 1_000 + us));
        text += &format!(
            " fio-12   [001]  {issued}: block_rq_issue: 8,0 R 4096 () {} + 8 [fio]\n",
            k * 8
        );
        if k == 200 {
            text += "CPU:1 [LOST 1717 EVENTS]\n";
        }
        text += &format!(
            " <idle>-0 [001]  {done}: block_rq_complete: 8,0 R () {} + 8 [0]\n",
            k * 8
        );
    }
    let trace = desk.write("lossy.txt", &text);
    let answer = desk.run(&["observe", "--from", &trace, "--json"]).ended(1);
    let found = answer.json();
    assert_eq!(found.at("lost_events").count(), 1_718);
    let device = &found.at("devices").items()[0];
    assert_eq!(device.at("reads").count(), 399);
    assert!(device.at("depth_mean").is_null());
    assert_eq!(device.at("latency_ns.read.max").count(), 100_000);
    assert_eq!(
        found.at("verdicts").items()[0].at("cause").text(),
        "lost-events"
    );
    desk.run(&["observe", "--from", &trace]).ended(1).printed(&[
        "No verdict",
        "1,718 events were lost",
        "too small",
        "trace-cmd record -b",
        "at least 1,000 IOPS",
    ]);
}

#[test]
fn a_trace_with_a_slow_device_is_counted_and_blamed() {
    let desk = Desk::new();
    let trace = desk.write("load.txt", &rows());
    let command = ["observe", "--from", &trace, "--columns", COLUMNS];
    let answer = desk.run(&[&command[..], &["--json"]].concat()).ended(1);
    let found = answer.json();
    assert!((found.at("observed_s").number() - 40.0).abs() < 0.01);
    assert!(found.at("lost_events").is_null() && found.at("overhead_percent").is_null());
    let device = &found.at("devices").items()[0];
    assert_eq!(device.at("reads").count(), 14_000);
    assert_eq!(device.at("writes").count(), 6_000);
    assert_eq!(device.at("read_bytes").count(), 14_000 * 8_192);
    let p99 = device.at("latency_ns").at("read").at("p99").count();
    assert!((11_200_000..11_600_000).contains(&p99), "{p99}");
    assert!((device.at("depth_mean").number() - 0.70).abs() < 0.01);
    let blame = found.at("blame").items();
    assert_eq!(blame[0].at("cause").text(), "device");
    assert!(blame[0].at("operations").count() >= 950);
    assert!(blame[0].at("low").number() <= blame[0].at("share").number());
    let verdict = &found.at("verdicts").items()[0];
    assert_eq!(verdict.at("cause").text(), "device");
    assert_eq!(verdict.at("examples").items().len(), 5);
    // The same for people, on one screen, and again from the store.
    let text = desk
        .run(&command)
        .ended(1)
        .printed(&["Slow: ", "at the device", "500 IOPS"]);
    assert!(text.stdout.lines().count() <= 24, "{}", text.stdout);
    let is_narrow = |line: &str| line.chars().count() <= 100;
    assert!(text.stdout.lines().all(is_narrow), "{}", text.stdout);
    let id = found.at("id").text();
    desk.run(&["history"])
        .done()
        .printed(&[&id, "observe", "load", "500 IOPS"]);
    desk.run(&["history", "show", &id])
        .done()
        .printed(&["Slow: "]);
    let line = desk.run(&["history", "show", &id, "-q"]).done().stdout;
    assert!(line.contains("load.txt: Slow: "), "{line}");
    assert!(line.ends_with(&format!(" [{id}]\n")), "{line}");
    // Nothing changed since, and what is no observation is refused beside one.
    let compared = desk.json(&["compare", &id, "last"]);
    let first = &compared.at("rows").items()[0];
    assert_eq!(first.at("change_percent").number(), 0.0);
    desk.run(&["compare", &id, "last"])
        .done()
        .printed(&["reads, p99", "+0.0 %"]);
    desk.run(&["compare", &id, "dataset:oja-nisula-2007-offset"])
        .failed(2, &["is not", "hint:"]);
    desk.run(&["compare", "nope", &id])
        .failed(2, &["`nope`", "hint:"]);
}

#[test]
fn pages_tables_and_a_model_are_written() {
    let desk = Desk::new();
    let trace = desk.write("load.txt", &rows());
    let files = [
        "page.html",
        "page.md",
        "table.csv",
        "picture.svg",
        "document.json",
    ];
    let files = files.map(|name| desk.file(name));
    let model = desk.file("load.swmodel");
    let mut command = vec![
        "observe",
        "--from",
        &trace,
        "--columns",
        COLUMNS,
        "--model",
        &model,
    ];
    files.iter().for_each(|file| command.extend(["-o", file]));
    desk.run(&command).ended(1);
    let read = |name: &str| std::fs::read_to_string(name).expect("a file");
    assert!(read(&files[0]).contains("Whose") || read(&files[0]).contains("Slow"));
    assert!(read(&files[1]).contains("| reads"));
    assert_eq!(read(&files[2]).lines().count(), 1 + 400);
    assert!(read(&files[3]).contains("<svg"));
    assert_eq!(&std::fs::read(&model).expect("a model")[..2], b"\x1f\x8b");
    // Nothing is overwritten, and nothing read before that is said.
    desk.run(&command).failed(2, &["already exists", "hint:"]);
}

#[test]
fn an_anonymous_observation_has_no_names() {
    let desk = Desk::new();
    let mut text = String::new();
    for k in 0..2_000u64 {
        let (at, sector) = (k * 1_000, k * 8);
        let who = "4711  Q  R";
        let event = |letter: char, ns: u64| {
            let time = format!(
                "{}.{:09}",
                (at * 1_000 + ns) / 1_000_000_000,
                (at * 1_000 + ns) % 1_000_000_000
            );
            format!(
                "  8,0    1        {k}     {time}  {} {sector} + 8 [secretd]\n",
                who.replace('Q', &letter.to_string())
            )
        };
        text.push_str(&event('Q', 0));
        text.push_str(&event('G', 1_000));
        text.push_str(&event('D', 2_000));
        text.push_str(&event('C', 200_000));
    }
    let trace = desk.write("secret-load.txt", &text);
    let named = desk.run(&["observe", "--from", &trace, "--json"]).done();
    assert!(named.stdout.contains("secretd") && named.stdout.contains("4711"));
    let found = named.json();
    let process = &found.at("devices").items()[0].at("by_process").items()[0];
    assert_eq!(process.at("reads").count(), 2_000);
    assert_eq!(found.at("devices").items()[0].at("name").text(), "8:0");
    let model = desk.file("load.swmodel");
    let words = [
        "observe",
        "--from",
        &trace,
        "--anonymous",
        "--json",
        "--model",
        &model,
    ];
    let anonymous = desk.run(&words).done();
    for secret in ["secret", "4711"] {
        assert!(!anonymous.stdout.contains(secret), "{}", anonymous.stdout);
    }
    assert_eq!(anonymous.json().at("host").text(), "");
    // fio names files.
    let rows =
        "fio version 3 iolog\n1 /secret/a add\n5 /secret/a read 0 4096\n9 /secret/b read 0 512\n";
    let trace = desk.write("secret-fio.log", rows);
    let words = ["observe", "--from", &trace, "--json"];
    let named = desk.run(&words).done();
    assert!(named.stdout.contains("/secret/b"), "{}", named.stdout);
    let anonymous = desk.run(&[&words[..], &["--anonymous"]].concat()).done();
    assert!(!anonymous.stdout.contains("secret"), "{}", anonymous.stdout);
    assert!(anonymous.stdout.contains("\"device 2\""));
}

#[test]
fn a_trace_that_is_cut_is_read_up_to_there() {
    let desk = Desk::new();
    let file = desk.file("load.txt.gz");
    let rows = rows();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(rows.as_bytes()).expect("memory");
    let packed = packed.finish().expect("memory");
    std::fs::write(&file, &packed[..packed.len() / 2]).expect("a file");
    let answer = desk.run(&["observe", "--from", &file, "--columns", COLUMNS, "--json"]);
    let found = answer.json();
    assert!(found.at("cut_short").text().contains("ends within"));
    let read = found.at("devices").items()[0].at("reads").count();
    assert!((4_000..10_000).contains(&read), "{read}");
}

#[test]
fn what_cannot_be_read_is_refused_with_a_hint() {
    let desk = Desk::new();
    let trace = desk.write("load.txt", &rows());
    let two = desk.write("two.txt", "1 a R 0 8\n2 b R 0 8\n3 a R 8 8\n");
    let empty = desk.write("empty.txt", "");
    let of_two = "time=us,device,op=R/W,offset=bytes,size=sectors";
    let missing = desk.file("missing.txt");
    let model = desk.file("load.swmodel");
    for (arguments, words) in [
        (&["--from", &missing][..], "cannot read"),
        (&["--from", &empty], "empty"),
        (&["--from", &trace], "no format that is known"),
        (
            &["--from", &trace, "--columns", "tme=us"],
            "no column has this name",
        ),
        (&["--from", &trace, "--columns", "time=us,op=R/W"], "lack"),
        (
            &["sda", "--from", &two, "--columns", of_two],
            "its devices are: a, b",
        ),
        (
            &["--from", &two, "--columns", of_two, "--model", &model],
            "a model is of one",
        ),
        (
            &["--from", &trace, "--columns", COLUMNS, "-o", "page.doc"],
            "does not give a format",
        ),
        (
            &["--from", &trace, "--duration", "1s"],
            "cannot be used with",
        ),
        (
            &["--from", &trace, "--columns", COLUMNS, "--slow", "0"],
            "longer than no time",
        ),
        (&["--columns", COLUMNS], "--from"),
        (&["--pid", "0"], "0 is not in"),
    ] {
        let line = [&["observe"][..], arguments].concat();
        desk.run(&line).failed(2, &[words, "hint:"]);
    }
    assert!(!std::path::Path::new(&model).exists());
    // One of several devices.
    let one = [
        "observe",
        "b",
        "--from",
        &two,
        "--columns",
        of_two,
        "--json",
    ];
    let found = desk.run(&one).done().json();
    assert_eq!(found.at("devices").items().len(), 1);
    assert_eq!(found.at("devices").items()[0].at("reads").count(), 1);
}

#[test]
fn two_snapshots_of_a_database_s_counters_are_an_observation() {
    let desk = Desk::new();
    let head = "now,backend_type,object,context,reads,read_time,writes,write_time,op_bytes,fsyncs,fsync_time";
    let rows = |now: &str, reads: u64, log: u64| {
        format!(
            "{head}\n{now},client backend,relation,normal,{reads},{},0,0,8192,,\n\
             {now},walwriter,wal,normal,,,{log},{},8192,{log},{}\n",
            2 * reads,
            log / 2,
            4 * log
        )
    };
    let first = desk.write("a.csv", &rows("2026-11-27 09:00:00.25+00", 1_000, 50));
    let later = desk.write("b.csv", &rows("2026-11-27 09:01:40.25+00", 6_000, 550));
    let command = ["observe", "--from", &first, "--from", &later];
    let found = desk.json(&command);
    assert_eq!(found.at("observed_s").number(), 100.0);
    assert_eq!(found.at("source.format").text(), "counters of PostgreSQL");
    let database = &found.at("devices").items()[0];
    assert_eq!(database.at("reads").count(), 5_000);
    assert_eq!(database.at("flushes").count(), 500);
    // 10 s of reads, 0.25 s of writes and 2 s of flushes in 100 s.
    assert!((database.at("depth_mean").number() - 0.1225).abs() < 1e-9);
    let file = &database.at("by_file").items()[0];
    assert_eq!(file.at("path").text(), "client backend/relation/normal");
    assert_eq!(file.at("latency_ns_mean.read").number(), 2e6);
    let roles = database.at("by_role").items();
    assert_eq!(
        [&roles[0], &roles[1]].map(|one| one.at("role").text()),
        ["data", "log"]
    );
    desk.run(&command).done().printed(&[
        "1 m 40 s",
        "counters of PostgreSQL",
        "60.0 IOPS",
        "walwriter/wal/normal",
        "500 µs",
    ]);
    // What is no pair is refused.
    let trace = desk.write("load.txt", "1 R 0 8\n2 R 8 8\n");
    for (files, says) in [
        (vec!["--from", &first], "are no observation"),
        (vec!["--from", &later, "--from", &first], "not later"),
        (vec!["--from", &first, "--from", &trace], "neither of"),
        (vec!["--from", &trace, "--from", &trace], "one trace"),
        (
            vec!["--from", &first, "--from", &later, "--slow", "5ms"],
            "no single operations",
        ),
    ] {
        let line = [vec!["observe"], files].concat();
        desk.run(&line).failed(2, &[says, "hint:"]);
    }
}

/// Whether events can be recorded here.
fn can_record(desk: &Desk, test: &str) -> bool {
    let cleaned = desk.process(&["observe", "--clean", "--json"]);
    if cleaned.code != Some(0) {
        skip(test, "root and tracefs");
    }
    cleaned.code == Some(0)
}

#[test]
fn operations_of_this_machine_are_counted_to_the_last_one_and_nothing_is_left() {
    const TEST: &str = "operations_of_this_machine_are_counted_to_the_last_one_and_nothing_is_left";
    let desk = Desk::new();
    if !can_record(&desk, TEST) {
        return;
    }
    if !can_run(TEST, &["losetup"]) {
        return;
    }
    let device = Loop::dense(64 * MIB, &["--direct-io=on"]);
    let mut observer = desk.start(&["observe", &device.device, "--duration", "10m", "--json"]);
    observer.until("Observing");
    let counted = || {
        let path = format!("/sys/block/{}/stat", device.name());
        let text = std::fs::read_to_string(path).expect("counters");
        let reads = text.split_whitespace().next().expect("reads");
        reads.parse::<u64>().expect("a number")
    };
    let before = counted();
    let run = ["run", &device.device, "--busy-ok", "--block", "8K"];
    let run = [&run[..], &["--duration", "300ms"]].concat();
    let outcome = desk.job(&run).at("outcome");
    let done = outcome.at("operations").count();
    let counted = counted() - before;
    assert!(done > 0 && counted >= done, "{counted} {done}");
    observer.signal(rustix::process::Signal::TERM);
    let seen = ended(observer, 143);
    let name = device.device.trim_start_matches("/dev/").to_owned();
    let devices = seen.at("devices").items();
    assert_eq!(devices.len(), 1);
    assert_eq!(devices[0].at("name").text(), name);
    // What the kernel counted, and nothing twice.
    let reads = devices[0].at("reads").count();
    assert!(
        (counted..counted + 100).contains(&reads),
        "{reads} {counted}"
    );
    assert_eq!(seen.at("cut_short").text(), "interrupted");
    assert_eq!(seen.at("lost_events").count(), 0);
    desk.process(&["observe", "--clean"]).done();
}

fn ended(observer: Running, code: i32) -> crate::support::Json {
    observer.wait().ended(code).json()
}

/// What is set for the recording of others, in a mount of our own that no path leads to.
fn recording_of_others() -> String {
    const LOOK: &str = "mount -t tracefs none /mnt && cd /mnt && \
        cat trace_clock tracing_on set_event set_event_pid buffer_size_kb trace_options \
        events/block/enable events/block/block_rq_issue/filter events/syscalls/enable";
    let looked = Command::new("unshare")
        .args(["--mount", "sh", "-c", LOOK])
        .output()
        .expect("a shell");
    let errors = String::from_utf8_lossy(&looked.stderr).into_owned();
    assert!(looked.status.success(), "{errors}");
    String::from_utf8_lossy(&looked.stdout).into_owned()
}

#[test]
fn two_observers_see_the_same_and_the_recording_of_others_stays_as_it_is() {
    const TEST: &str = "two_observers_see_the_same_and_the_recording_of_others_stays_as_it_is";
    let desk = Desk::new();
    if !can_record(&desk, TEST) || !can_run(TEST, &["losetup", "unshare"]) {
        return;
    }
    let device = Loop::dense(64 * MIB, &["--direct-io=on"]);
    let before = recording_of_others();
    let own = std::process::id().to_string();
    let words = ["observe", &device.device, "--duration", "10m", "--json"];
    let mut observers = [
        desk.start(&words),
        desk.start(&[&words[..], &["--pid", &own]].concat()),
    ];
    for observer in &mut observers {
        observer.until("Observing");
    }
    assert_eq!(recording_of_others(), before);
    let run = ["run", &device.device, "--busy-ok", "--duration", "200ms"];
    let done = desk.job(&run).at("outcome").at("operations").count();
    for observer in observers {
        observer.signal(rustix::process::Signal::TERM);
        let seen = ended(observer, 143);
        let reads = seen.at("devices").items()[0].at("reads").count();
        assert!(done > 0 && reads >= done, "{reads} {done}");
        assert_eq!(seen.at("lost_events").count(), 0);
    }
    assert_eq!(recording_of_others(), before);
}

#[test]
fn what_a_killed_observer_leaves_is_removed() {
    const TEST: &str = "what_a_killed_observer_leaves_is_removed";
    let desk = Desk::new();
    if !can_record(&desk, TEST) || !can_run(TEST, &["losetup"]) {
        return;
    }
    let device = Loop::dense(16 * MIB, &["--direct-io=on"]);
    let mut killed = Vec::new();
    for k in 0..4 {
        let mut observer = desk.start(&["observe", &device.device, "--duration", "10m"]);
        // Before it records, perhaps, and while it does.
        if k % 2 == 1 {
            observer.until("Observing");
        }
        killed.push(format!("stripewise-{}-", observer.pid()));
        observer.signal(rustix::process::Signal::KILL);
        observer.wait();
    }
    desk.process(&["observe", "--clean"]).done();
    let again = desk
        .process(&["observe", "--clean", "--json"])
        .done()
        .json();
    for list in ["removed", "in_use"] {
        for name in again.at(list).items() {
            let name = name.text();
            assert!(!killed.iter().any(|one| name.starts_with(one)), "{name}");
        }
    }
}
