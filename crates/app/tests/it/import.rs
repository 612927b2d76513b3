//! `import`: all or nothing, whoever wrote the files.

use crate::support::{Answer, Desk, can_run, unwrapped};
use std::process::Command;

fn import(desk: &Desk, files: &[&str]) -> Answer {
    let words: Vec<&str> = ["import"].iter().chain(files).copied().collect();
    desk.run(&words)
}

const GOOD: &str = "sqlio v1.5.SG\n2 threads reading for 9 secs from file a.dat\n\tusing 8KB random IOs\n\
    using current size: 64 MB for file: a.dat\ninitialization done\nCUMULATIVE DATA:\nthroughput metrics:\n\
    IOs/sec:   812.50\nMBs/sec:     6.34\n";

#[test]
fn a_file_that_cannot_be_read_keeps_all_from_being_stored() {
    let desk = Desk::new();
    desk.write("good.txt", GOOD);
    desk.write("bad.txt", &GOOD.replace("812.50", "none"));
    let bad = "nothing was stored: bad.txt: line 8: has no number";
    import(&desk, &["bad.txt"]).failed(2, &[bad, "--whole-results"]);
    // Each file has a line, also where nothing is stored.
    desk.write("other.txt", "nothing\n");
    import(&desk, &["bad.txt", "good.txt", "other.txt"]).failed(
        2,
        &[
            "error: nothing was stored: 2 of 3 files cannot be read",
            "\n  bad.txt: line 8: has no number",
            "\n  good.txt: SQLIO output, 1 result\n",
            "\n  other.txt: was not written by a known tool\n",
        ],
    );
    import(&desk, &["gone.txt", "bad.txt"]).failed(
        2,
        &["2 of 2 files", "cannot read gone.txt", "bad.txt: line 8"],
    );
    desk.run(&["history"]).failed(5, &["there is no store at"]);
    let json = desk.json(&["import", "good.txt"]);
    assert_eq!(json.at("imported").items().len(), 1);
    assert_eq!(json.at("files.0.results").count(), 1);
    assert_eq!(json.at("runs.0.jobs.0.outcome.iops").number(), 812.5);
    json.at("schema_version");
}

#[test]
fn a_directory_gives_the_results_in_it() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path().join("results")).unwrap();
    desk.write("results/a.txt", GOOD);
    let other = GOOD.replace("812.50", "999.99").replace("6.34", "7.81");
    desk.write("results/b.txt", &other);
    desk.write("results/notes.md", "nothing here");
    std::fs::create_dir_all(desk.path().join("results/older/still")).unwrap();
    let older = GOOD.replace("812.50", "750.00").replace("6.34", "5.85");
    desk.write("results/older/still/c.txt", &older);
    // A link that leads back is not followed.
    #[cfg(unix)]
    std::os::unix::fs::symlink(
        desk.path().join("results"),
        desk.path().join("results/older/back"),
    )
    .unwrap();
    let answer = import(&desk, &["results"]).done();
    assert!(
        answer.stdout.contains("3 results saved"),
        "{}",
        answer.stdout
    );
    let message = "notes.md: was not written by a known tool; skipped";
    assert!(answer.stderr.contains(message), "{}", answer.stderr);
}

#[test]
fn results_that_are_whole_are_taken_where_that_is_asked_for() {
    let desk = Desk::new();
    let broken = GOOD.replace("MBs/sec:     6.34", "MBs/sec:   999.99");
    let slower = GOOD.replace("812.50", "750.00").replace("6.34", "5.85");
    desk.write("three.txt", &[GOOD, broken.as_str(), &slower].concat());
    let refused = import(&desk, &["three.txt"]);
    refused.failed(
        2,
        &["999.99", "hint:", "--whole-results imports the others"],
    );
    desk.run(&["history"]).failed(5, &["there is no store at"]);
    let taken = import(&desk, &["three.txt", "--whole-results"]).done();
    assert!(taken.stdout.contains("2 results saved"), "{}", taken.stdout);
    for message in ["line 10", "is left out", "999.99"] {
        assert!(
            taken.stderr.contains(message),
            "{message}: {}",
            taken.stderr
        );
    }
    desk.write("bad.txt", &broken);
    import(&desk, &["bad.txt", "--whole-results"]).failed(2, &["999.99"]);
    // Beside others it is only skipped, wherever it is; what is not there was mistyped.
    std::fs::create_dir(desk.path().join("more")).unwrap();
    desk.write("more/bad.txt", &broken);
    desk.write("more/notes.md", "nothing");
    let other = GOOD.replace("812.50", "700.00").replace("6.34", "5.46");
    desk.write("other.txt", &other);
    let all = ["bad.txt", "more", "other.txt", "--whole-results"];
    let taken = import(&desk, &[&all[..], &["--json"]].concat());
    let document = taken.ended(1).json();
    assert_eq!(document.at("imported").items().len(), 1);
    let skipped = document.at("skipped").items();
    let names: Vec<String> = skipped.iter().map(|one| one.at("source").text()).collect();
    assert_eq!(names, ["bad.txt", "more/bad.txt"]);
    let taken = import(&desk, &all).ended(1);
    assert!(
        taken.stdout.contains("2 files were skipped"),
        "{}",
        taken.stdout
    );
    let skipped = taken.stdout.matches("999.99").count();
    assert!(skipped >= 2, "{}", taken.stdout);
    // A line for each file and one for all.
    let quiet = import(&desk, &[&all[..], &["-q"]].concat()).ended(1);
    let lines: Vec<&str> = quiet.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with("bad.txt: ") && lines[0].ends_with("; skipped"));
    assert!(lines[1].starts_with("more/bad.txt: "), "{lines:?}");
    assert_eq!(lines[2], "other.txt: SQLIO output, 1 result");
    assert!(lines[3].starts_with("0 results saved; 1 was already there"));
    import(&desk, &["mistyped.txt", "other.txt", "--whole-results"]).failed(2, &["mistyped.txt"]);
    import(&desk, &["-"]).failed(2, &["- is not a file", "/dev/stdin"]);
}

#[test]
fn results_of_every_tool_that_is_read_are_kept_shown_and_compared() {
    let desk = Desk::new();
    for (name, text, results) in [
        (
            "normal.txt",
            include_str!("../../../compat/tests/data/fio-normal.txt"),
            3,
        ),
        (
            "terse.txt",
            include_str!("../../../compat/tests/data/fio-terse-3.txt"),
            3,
        ),
        (
            "client.json",
            include_str!("../../../compat/tests/data/fio-client.json"),
            1,
        ),
        (
            "iometer.csv",
            include_str!("../../../compat/tests/data/iometer.csv"),
            2,
        ),
        (
            "flatfile.html",
            include_str!("../../../compat/tests/data/vdbench-flatfile.html"),
            2,
        ),
        (
            "summary.html",
            include_str!("../../../compat/tests/data/vdbench-summary.html"),
            2,
        ),
        (
            "elbencho.csv",
            include_str!("../../../compat/tests/data/elbencho.csv"),
            3,
        ),
        (
            "elbencho.json",
            include_str!("../../../compat/tests/data/elbencho.json"),
            3,
        ),
        (
            "cdm.txt",
            include_str!("../../../compat/tests/data/crystaldiskmark.txt"),
            12,
        ),
        (
            "kdm.txt",
            include_str!("../../../compat/tests/data/kdiskmark.txt"),
            8,
        ),
    ] {
        desk.write(name, text);
        let json = desk.json(&["import", name]);
        assert_eq!(json.at("files.0.results").count(), results, "{name}");
        assert_eq!(json.at("imported").items().len() as u64, results, "{name}");
        let shown = desk.run(&["report", name, "--format", "md"]).done();
        assert!(shown.stdout.contains("IOPS"), "{name}: {}", shown.stdout);
        // Of itself nothing differs, and nothing is invented on the way.
        let exported = desk.run(&["export", name]).done();
        assert_eq!(exported.stdout.lines().count() as u64, results, "{name}");
    }
    desk.run(&["compare", "iometer.csv", "iometer.csv"]).done();
}

/// Lines of fio's terse output have rates of reads and writes, and no counts.
#[test]
fn rates_of_reads_and_writes_are_in_csv_without_counts() {
    let desk = Desk::new();
    let terse = include_str!("../../../compat/tests/data/fio-terse-3.txt");
    desk.write("terse.txt", terse);
    let csv = desk.run(&["export", "terse.txt", "--format", "csv"]);
    let csv = csv.done().stdout;
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let (heading, first) = (lines.next().unwrap(), lines.next().unwrap());
    let cell = |name: &str| {
        let at = heading.iter().position(|column| *column == name);
        first[at.unwrap()]
    };
    assert_eq!((cell("read_iops"), cell("write_iops")), ("6948", "2961"));
    assert_eq!(cell("read_operations"), "");
}

/// Flatfile, summary and totals have the same results, with more or fewer digits.
#[test]
fn a_folder_of_vdbenchs_output_has_each_run_once() {
    let desk = Desk::new();
    std::fs::create_dir(desk.path().join("output")).unwrap();
    let summary = include_str!("../../../compat/tests/data/vdbench-summary.html");
    desk.write(
        "output/flatfile.html",
        include_str!("../../../compat/tests/data/vdbench-flatfile.html"),
    );
    desk.write("output/summary.html", summary);
    desk.write("output/logfile.html", summary);
    let host = format!("<pre>\nHost summary report(s) for host=hd1\n\n{summary}");
    desk.write("output/hd1.html", &host);
    let taken = import(&desk, &["output"]).done();
    assert!(taken.stdout.contains("2 results saved"), "{}", taken.stdout);
    let told = unwrapped(&taken.stderr);
    for words in ["only flatfile.html is read", "one host, disk or workload"] {
        assert!(told.contains(words), "{told}");
    }
    // Commands that take files directly read it so, too.
    let exported = desk.run(&["export", "output"]).done();
    assert_eq!(exported.stdout.lines().count(), 2);
}

#[test]
fn copies_of_a_result_are_one_when_they_are_imported_and_compared() {
    let desk = Desk::new();
    let faster = GOOD.replace("812.50", "893.75").replace("6.34", "6.98");
    for side in ["a", "b"] {
        std::fs::create_dir(desk.path().join(side)).unwrap();
        for copy in 1..=7 {
            let text = if side == "a" { GOOD } else { &faster };
            desk.write(&format!("{side}/{copy}.txt"), text);
        }
    }
    desk.write("many.txt", &GOOD.repeat(30));
    let many = import(&desk, &["many.txt"]).done();
    let left_out = "29 results are copies of others in this file";
    assert!(many.stderr.contains(left_out), "{}", many.stderr);
    assert!(many.stdout.contains("1 result saved"), "{}", many.stdout);
    let compared = desk.json(&["compare", "a", "b"]);
    let table = compared.at("comparisons.0");
    assert_eq!(table.at("verdict").text(), "undecided");
    assert_eq!(table.at("a.from").items().len(), 1);
    // The same in reports and exports, in one directory and in two names of it.
    let report = desk.run(&["report", "a", "--format", "json"]).done();
    assert_eq!(report.json().at("runs").items().len(), 1);
    let page = desk
        .run(&["report", "a", "b", "a", "--format", "md"])
        .done();
    assert!(
        page.stdout
            .contains("6 runs of a are copies of others and left out."),
        "{}",
        page.stdout
    );
    let export = desk.run(&["export", "a", "b", "./a"]).done();
    assert_eq!(export.stdout.lines().count(), 2);
    assert!(
        export.stderr.contains("7 runs of ./a are copies"),
        "{}",
        export.stderr
    );
    let text = desk.run(&["compare", "a", "b"]).done();
    assert!(
        text.stdout.contains("6 of 7 results are copies"),
        "{}",
        text.stdout
    );
}

#[test]
fn the_list_of_results_says_nothing_that_they_do_not_say() {
    let desk = Desk::new();
    // fio before 2.12 does not print its options.
    desk.write(
        "old.json",
        include_str!("../../../compat/tests/data/fio-2.2.10.json"),
    );
    let imported = import(&desk, &["old.json"]).done();
    assert!(imported.stdout.contains("8,000"), "{}", imported.stdout);
    let job = desk.json(&["history"]);
    let job = job.at("history.0.jobs.0");
    for unknown in ["pattern", "block_size_bytes", "threads", "outstanding"] {
        assert!(job.at(unknown).is_null(), "{unknown}");
    }
    assert_eq!(job.at("iops").number(), 8_000.0);
    let list = desk.run(&["history"]).done().stdout;
    assert!(
        list.contains(" read  ") && !list.contains("in flight"),
        "{list}"
    );
    assert!(!list.contains("random") && !list.contains("8K"), "{list}");
    let refused = desk.run(&["compare", "old.json", "old.json"]);
    refused.failed(2, &["neither side states whether it read or wrote"]);
    // A job that only trims has no rate, not one of 0.
    let side = |operations: u64| {
        serde_json::json!({"io_bytes": 4096 * operations, "total_ios": operations, "iops": 0.0,
            "bw": 0, "runtime": 0, "clat_ns": {"N": operations}})
    };
    let trims = serde_json::json!({"fio version": "fio-3.33", "jobs": [{"jobname": "a",
        "error": 0, "read": side(0), "write": side(0), "trim": side(10)}]});
    let desk = Desk::new();
    desk.write("trims.json", &trims.to_string());
    import(&desk, &["trims.json"]).done();
    let list = desk.run(&["history"]).done().stdout;
    assert!(list.contains("fio") && !list.contains(" 0.0"), "{list}");
}

#[test]
fn every_target_of_a_result_is_shown() {
    let desk = Desk::new();
    desk.write(
        "two.txt",
        include_str!("../../../compat/tests/data/diskspd-2.0.21.txt"),
    );
    let json = desk.json(&["import", "two.txt"]);
    let job = json.at("runs.0.jobs.0");
    let further = job.at("further_targets.0");
    assert_eq!(further.at("name").text(), "F:\\b.dat");
    let keys = serde_json::json!({"name": "F:\\b.dat"}).to_string();
    assert!(
        desk.run(&["import", "two.txt", "--json"])
            .stdout
            .replace([' ', '\n'], "")
            .contains(&keys)
    );
    let list = desk.run(&["history"]).done().stdout;
    assert!(list.contains("and F:\\b.dat"), "{list}");
    let csv = desk.run(&["export", "--format", "csv"]).done().stdout;
    assert!(csv.contains("E:\\a.dat; F:\\b.dat"), "{csv}");
}

#[test]
fn reads_and_writes_of_a_mixed_job_are_shown_apart() {
    let desk = Desk::new();
    desk.write(
        "mixed.json",
        include_str!("../../../compat/tests/data/fio-same-run.json"),
    );
    let json = desk.json(&["import", "mixed.json"]);
    let outcome = json.at("runs.0.jobs.0.outcome");
    assert_eq!(outcome.at("read.latency_ns.p50").count(), 48_896);
    assert_eq!(outcome.at("write.latency_ns.p50").count(), 3_632);
    let id = json.at("runs.0.id").text();
    for words in [
        &["import", "mixed.json"][..],
        &["history", "show", id.as_str()],
        &["report", "mixed.json", "--format", "md"],
    ] {
        let shown = desk.run(words).done().stdout;
        let row = |of: &str| {
            let of = format!("random 70 % read: {of}");
            let found = shown.lines().find(|line| line.contains(&of));
            found.unwrap_or_else(|| panic!("{of}: {shown}"))
        };
        assert!(row("reads").contains("48.9 µs"), "{shown}");
        assert!(row("writes").contains("3.63 µs"), "{shown}");
        let both = row("both");
        assert!(both.contains("9,540") && !both.contains("µs"), "{shown}");
    }
    // Syncs are neither.
    let json = include_str!("../../../compat/tests/data/fio-same-run.json");
    let syncs = "\"sync\": {\"total_ios\": 20, \"lat_ns\": {\"min\": 1000, \"max\": 9000000, \
                 \"mean\": 2000000.0, \"N\": 20}}, \"read\": {";
    desk.write("synced.json", &json.replacen("\"read\": {", syncs, 1));
    let shown = desk.run(&["import", "synced.json"]).done().stdout;
    let row = shown.lines().find(|line| line.contains("read: syncs"));
    let row = row.unwrap_or_else(|| panic!("{shown}"));
    assert!(row.contains(" 124 ") && row.contains("9 ms"), "{shown}");
    // A source that gives nothing of its reads and writes apart has one row.
    desk.write(
        "cdm.txt",
        include_str!("../../../compat/tests/data/crystaldiskmark.txt"),
    );
    let shown = desk.run(&["import", "cdm.txt"]).done().stdout;
    assert!(!shown.contains("70 % read:"), "{shown}");
}

#[test]
fn results_survive_what_shells_mail_and_web_pages_do_to_them() {
    let desk = Desk::new();
    let id = |name: &str| {
        let json = desk.json(&["import", name]);
        json.at("runs.0.id").text()
    };
    desk.write("plain.txt", GOOD);
    let plain = id("plain.txt");
    // As PowerShell's `>` writes it.
    let wide = GOOD.replace('\n', "\r\n");
    let wide: Vec<u8> = std::iter::once(0xfeff)
        .chain(wide.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    std::fs::write(desk.path().join("wide.txt"), wide).unwrap();
    desk.write("mail.txt", &GOOD.replace('\t', "").replace("   ", "\u{a0}"));
    let prompt = "C:\\SQLIO>sqlio -kR -t2 -s9 -frandom -b8 a.dat\r\n";
    desk.write("log.txt", &["Night run.\r\n\r\n", prompt, GOOD].concat());
    for name in ["wide.txt", "mail.txt", "log.txt"] {
        assert_eq!(id(name), plain, "{name}");
    }
    desk.write(
        "two.txt",
        &[GOOD, &GOOD.replace("812.50", "813.50")].concat(),
    );
    let two = import(&desk, &["two.txt"]).done();
    let kept = "1 result saved; 1 was already there";
    assert!(two.stdout.contains(kept), "{}", two.stdout);
}

#[test]
fn what_fio_measured_here_is_imported_and_compared_with_ours() {
    let test = "what_fio_measured_here_is_imported_and_compared_with_ours";
    if !can_run(test, &["fio"]) {
        return;
    }
    let desk = Desk::new();
    let file = desk.file("test.dat");
    let filename = format!("--filename={file}");
    for (format, jobs) in [("json", "1"), ("json+", "2")] {
        let output = Command::new("fio")
            .args([
                "--name=reads",
                &filename,
                "--rw=randread",
                "--bs=8k",
                "--size=8m",
                "--iodepth=4",
                "--numjobs",
                jobs,
                "--group_reporting",
            ])
            .args([
                "--ioengine=libaio",
                "--runtime=1",
                "--time_based",
                "--direct=0",
            ])
            .arg(format!("--output-format={format}"))
            .output()
            .expect("fio runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{message}");
        // fio prints warnings into the same stream.
        let text = String::from_utf8_lossy(&output.stdout);
        desk.write("fio.json", &format!("note: something about clocks\n{text}"));
        let json = desk.json(&["import", "fio.json"]);
        let fio: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (job, theirs) = (json.at("runs.0.jobs.0"), &fio["jobs"][0]["read"]);
        let number = |path: &str| theirs.pointer(path).and_then(serde_json::Value::as_f64);
        for (ours, theirs) in [
            ("outcome.iops", "/iops"),
            ("outcome.operations", "/total_ios"),
            ("outcome.bytes", "/io_bytes"),
            (
                "outcome.read.latency_ns.p99",
                "/clat_ns/percentile/99.000000",
            ),
            ("outcome.read.latency_ns.mean", "/clat_ns/mean"),
            ("outcome.read.latency_ns.max", "/clat_ns/max"),
        ] {
            assert_eq!(Some(job.at(ours).number()), number(theirs), "{ours}");
        }
        assert_eq!(job.at("workload.block_size_bytes").count(), 8192);
        assert_eq!(job.at("workload.outstanding").count(), 4);
        let threads = job.at("workload.threads").count();
        assert_eq!(threads.to_string(), jobs);
    }
    let words = "--read --random --block 8k --threads 2 --outstanding 4 --duration 1s \
                 --cache buffered --busy-ok";
    let words: Vec<&str> = ["run", &file].into_iter().chain(words.split(' ')).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let ours = desk.json(&words).at("runs.0.id").text();
    let compared = desk.run(&["compare", "fio.json", &ours]);
    assert!(matches!(compared.code, Some(0 | 1)), "{}", compared.stderr);
    let table = &compared.stdout;
    assert!(table.contains("fio") && table.contains('%'), "{table}");
}
