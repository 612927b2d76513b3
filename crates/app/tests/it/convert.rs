//! `convert`: the plan that comes out is one that `run` takes.

use crate::support::Desk;

#[test]
fn a_batch_file_becomes_a_plan_that_runs() {
    let desk = Desk::new();
    let batch = "sqlio -kR -t2 -s2 -frandom -o4 -b64 -BH -LS -dL t.dat > log.txt\ntimeout /T 5\n\
                 sqlio -kR -t2 -s2 -f64 -i16 -o4 -b8 -BH -LS -dL t.dat\n";
    desk.write("night.bat", batch);
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
    let converted = desk.run(&words).done();
    assert_eq!(converted.stdout, "");
    let message = "pauses between calls are left out";
    assert!(converted.stderr.contains(message), "{}", converted.stderr);
    let json = desk.json(&["run", "--plan", "plan.toml"]);
    assert_eq!(json.at("runs").items().len(), 2);
    let cursor = json.at("runs.1.jobs.0.workload.cursor").text();
    assert_eq!(cursor, "columns");
    // A plan that exists is left as it is.
    desk.run(&words).failed(2, &["already exists"]);
}

#[test]
fn a_plan_may_be_made_for_drives_of_another_machine() {
    let desk = Desk::new();
    let batch = "\"C:\\Program Files\\SQLIO\\sqlio.exe\" -kR -frandom -b8 -LS -dL t.dat\r\n";
    desk.write("night.bat", batch);
    let words = ["convert", "--from", "sqlio", "night.bat"];
    let known = [&words[..], &["--drive", "L=/srv/not/here"]].concat();
    let known = desk.run(&known).done();
    let target = "target = \"/srv/not/here/t.dat\"";
    assert!(known.stdout.contains(target), "{}", known.stdout);
    let unknown = desk.run(&words).done();
    let message = "L:t.dat: map it to a path here";
    assert!(unknown.stderr.contains(message), "{}", unknown.stderr);
}

#[test]
fn lines_that_cannot_be_carried_over_stop_it() {
    let desk = Desk::new();
    desk.write("jobs.fio", "[a]\nrw=trim\n");
    let from = |tool| desk.run(&["convert", "--from", tool, "jobs.fio"]);
    from("fio").failed(2, &["jobs.fio: line 1: "]);
    let unknown = from("bonnie").ended(2);
    assert!(unknown.stderr.contains("sqlio, diskspd, fio"));
}
