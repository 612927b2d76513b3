//! `import`: all or nothing, whoever wrote the files.

use crate::support::machine::{can_run, text};
use std::process::Command;

fn import(directory: &std::path::Path, words: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_stripewise"))
        .current_dir(directory)
        .args(words)
        .args(["--store", "store.db"])
        .output()
        .expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

const GOOD: &str = "sqlio v1.5.SG\n2 threads reading for 9 secs from file a.dat\n\tusing 8KB random IOs\n\
    using current size: 64 MB for file: a.dat\ninitialization done\nCUMULATIVE DATA:\nthroughput metrics:\n\
    IOs/sec:   812.50\nMBs/sec:     6.34\n";

#[test]
fn a_file_that_cannot_be_read_keeps_all_from_being_stored() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("good.txt"), GOOD).unwrap();
    std::fs::write(at.join("bad.txt"), GOOD.replace("812.50", "none")).unwrap();
    let (code, _, err) = import(at, &["import", "good.txt", "bad.txt"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("bad.txt: line 8: has no number") && err.contains("hint: "),
        "{err}"
    );
    let (code, _, err) = import(at, &["history"]);
    assert!(code == 5 && err.contains("there is no store at"), "{err}");
    let (code, out, err) = import(at, &["import", "good.txt", "--json"]);
    assert_eq!(code, 0, "{err}");
    for field in [
        "schema_version",
        "imported",
        "already_there",
        "\"results\": 1",
        "\"iops\": 812.5",
    ] {
        assert!(out.contains(field), "{field}: {out}");
    }
}

#[test]
fn a_directory_gives_the_results_in_it() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::create_dir(at.join("results")).unwrap();
    std::fs::write(at.join("results/a.txt"), GOOD).unwrap();
    std::fs::write(at.join("results/b.txt"), GOOD.replace("812.50", "999.99")).unwrap();
    std::fs::write(at.join("results/notes.md"), "nothing here").unwrap();
    let (code, out, err) = import(at, &["import", "results"]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("2 results kept") && err.contains("notes.md is no result"),
        "{out}{err}"
    );
}

#[test]
fn what_fio_measured_here_is_imported() {
    if !can_run("what_fio_measured_here_is_imported", &["fio"]) {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let file = at.join("test.dat");
    let filename = format!("--filename={}", text(&file));
    for format in ["json", "json+"] {
        let output = Command::new("fio")
            .args([
                "--name=reads",
                &filename,
                "--rw=randread",
                "--bs=8k",
                "--size=8m",
                "--iodepth=4",
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
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        std::fs::write(at.join("fio.json"), &output.stdout).unwrap();
        let (code, out, err) = import(at, &["import", "fio.json", "--json"]);
        assert_eq!(code, 0, "{err}");
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        let fio: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let (job, theirs) = (&json["runs"][0]["jobs"][0], &fio["jobs"][0]["read"]);
        assert_eq!(job["outcome"]["iops"], theirs["iops"]);
        assert_eq!(job["outcome"]["operations"], theirs["total_ios"]);
        let latency = &job["outcome"]["read"]["latency_ns"];
        assert_eq!(latency["p99"], theirs["clat_ns"]["percentile"]["99.000000"]);
        assert_eq!(latency["max"], theirs["clat_ns"]["max"]);
        assert_eq!(job["workload"]["block_size_bytes"], 8192);
        assert_eq!(job["workload"]["outstanding"], 4);
    }
}
