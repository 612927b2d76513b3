//! `import`: all or nothing, whoever wrote the files.

use crate::support::{Answer, Desk, can_run};
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
    import(&desk, &["good.txt", "bad.txt"]).failed(2, &["bad.txt: line 8: has no number"]);
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
    desk.write("results/b.txt", &GOOD.replace("812.50", "999.99"));
    desk.write("results/notes.md", "nothing here");
    let answer = import(&desk, &["results"]).done();
    assert!(answer.stdout.contains("2 results kept"));
    assert!(answer.stderr.contains("notes.md is no result"));
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
    let kept = "1 result kept; 1 was already there";
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
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
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
