//! `convert`: the plan that comes out is one that `run` takes.

use std::process::Command;

fn stripewise(directory: &std::path::Path, words: &[&str]) -> (i32, String, String) {
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

#[test]
fn a_batch_file_becomes_a_plan_that_runs() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let batch = "sqlio -kR -t2 -s2 -frandom -o4 -b64 -BH -LS -dL t.dat > log.txt\ntimeout /T 5\n\
                 sqlio -kR -t2 -s2 -f64 -i16 -o4 -b8 -BH -LS -dL t.dat\n";
    std::fs::write(at.join("night.bat"), batch).unwrap();
    let words = [
        "convert",
        "--from",
        "sqlio",
        "night.bat",
        "--drive",
        "L=sim:disk-7k2",
        "-o",
        "plan.toml",
    ];
    let (code, out, err) = stripewise(at, &words);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.is_empty() && err.contains("pauses between calls are left out"),
        "{err}"
    );
    let (code, out, err) = stripewise(at, &["run", "--plan", "plan.toml", "--json"]);
    assert_eq!(code, 0, "{err}");
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["runs"].as_array().unwrap().len(), 2);
    assert_eq!(json["runs"][1]["jobs"][0]["workload"]["cursor"], "columns");
    // A plan that exists is left as it is.
    let (code, _, err) = stripewise(at, &words);
    assert_eq!(code, 2);
    assert!(err.contains("exists already"), "{err}");
}

#[test]
fn lines_that_cannot_be_carried_over_stop_it() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("jobs.fio"), "[a]\nrw=trim\n").unwrap();
    let (code, _, err) = stripewise(at, &["convert", "--from", "fio", "jobs.fio"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("jobs.fio: line 1: ") && err.contains("hint: "),
        "{err}"
    );
    let (code, _, err) = stripewise(at, &["convert", "--from", "bonnie", "jobs.fio"]);
    assert!(code == 2 && err.contains("sqlio, diskspd, fio"), "{err}");
}
