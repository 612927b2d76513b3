//! Several named jobs at once, from a file.

use crate::support::{Desk, Json, TWO_JOBS};

fn names_of(run: &Json) -> Vec<String> {
    let jobs = run.at("jobs").items();
    jobs.iter().map(|job| job.at("name").text()).collect()
}

/// Names of jobs, run by run.
type Jobs = &'static [&'static [&'static str]];

#[test]
fn jobs_run_together_alone_or_both() {
    let desk = Desk::new();
    const TOGETHER: &[&str] = &["log", "data"];
    let cases: [(&str, &[&str], Jobs); 5] = [
        ("", &[], &[TOGETHER]),
        ("run = \"together\"", &[], &[TOGETHER]),
        ("run = \"alone\"", &[], &[&["log"], &["data"]]),
        ("run = \"both\"", &[], &[&["log"], &["data"], TOGETHER]),
        ("", &["--alone"], &[&["log"], &["data"], TOGETHER]),
    ];
    for (order, switches, expected) in cases {
        let plan = desk.write(
            "plan.toml",
            &format!("label = \"two\"\n{order}\n{TWO_JOBS}"),
        );
        let mut all = vec!["run", "--plan", &plan];
        all.extend(switches);
        let document = desk.json(&all);
        let runs = document.at("runs").items();
        let names: Vec<Vec<String>> = runs.iter().map(names_of).collect();
        assert_eq!(names, expected, "{order} {switches:?}");
        for run in runs {
            assert_eq!(run.at("label").text(), "two");
            for job in run.at("jobs").items() {
                assert!(job.at("outcome.operations").count() > 0);
                assert_eq!(job.at("outcome.duration_ns").count(), 2_000_000_000);
            }
        }
    }
}

#[test]
fn jobs_that_share_an_array_slow_each_other_down() {
    let desk = Desk::new();
    let plan = desk.write(
        "plan.toml",
        r#"
        run = "both"
        [defaults]
        duration = "20s"
        target = "sim:disk-7k2"
        [[job]]
        name = "stream"
        sequential = true
        block = "64K"
        [[job]]
        name = "random"
        "#,
    );
    let answer = desk.run(&["run", "--plan", &plan, "--json"]);
    let plan = std::fs::read_to_string(&plan).expect("a plan");
    let document = if answer.code == Some(2) {
        // A target belongs to a job.
        let each = plan
            .replace("target = \"sim:disk-7k2\"\n", "")
            .replace("name = ", "target = \"sim:disk-7k2\"\n        name = ");
        let plan = desk.write("plan.toml", &each);
        desk.json(&["run", "--plan", &plan])
    } else {
        answer.done().json()
    };
    let iops = |run: usize, job: usize| {
        document
            .at(&format!("runs.{run}.jobs.{job}.outcome.iops"))
            .number()
    };
    let (alone, beside) = (iops(0, 0), iops(2, 0));
    assert!(
        beside < alone / 2.0,
        "{alone} alone, {beside} beside random reads"
    );
}

#[test]
fn several_targets_of_a_job_share_its_work() {
    let desk = Desk::new();
    let (one, two) = (desk.volume(), desk.file("second"));
    std::fs::create_dir(&two).expect("a directory");
    let plan = desk.write(
        "plan.toml",
        &format!(
            r#"
            [[job]]
            name = "data"
            target = ["{one}", "{two}"]
            duration = "200ms"
            size = "4M"
            outstanding = 4
            "#
        ),
    );
    let document = desk.json(&["run", "--plan", &plan, "--busy-ok"]);
    let job = crate::support::only_job(&document);
    assert_eq!(job.at("target.name").text(), one);
    assert_eq!(job.at("further_targets.0.name").text(), two);
    // Four operations of each thread on each target.
    assert!(job.at("outcome.outstanding_mean").number() > 4.0);
    assert!(crate::support::names(&one).is_empty() && crate::support::names(&two).is_empty());
}

#[test]
fn jobs_share_a_file_that_both_name() {
    let desk = Desk::new();
    let file = desk.file("shared");
    desk.run(&["prepare", &file, "--size", "8M", "--busy-ok"])
        .done();
    let plan = desk.write(
        "plan.toml",
        &format!(
            r#"
            [defaults]
            duration = "200ms"
            [[job]]
            name = "reader"
            target = "{file}"
            [[job]]
            name = "writer"
            target = "{file}"
            write = true
            "#
        ),
    );
    let document = desk.json(&["run", "--plan", &plan, "--busy-ok"]);
    for (index, kind) in [(0, "read"), (1, "write")] {
        let job = document.at(&format!("runs.0.jobs.{index}"));
        assert_eq!(job.at("target.name").text(), file);
        let all = job.at("outcome.operations").count();
        assert!(all > 0);
        assert_eq!(job.at("outcome").at(kind).at("operations").count(), all);
    }
}

#[test]
fn simulated_and_real_targets_do_not_mix() {
    let desk = Desk::new();
    let volume = desk.volume();
    let plan = desk.write(
        "plan.toml",
        &format!(
            "[[job]]\nname = \"a\"\ntarget = \"sim:nvme\"\nduration = \"100ms\"\nsize = \"4M\"\n\
             [[job]]\nname = \"b\"\ntarget = \"{volume}\"\nduration = \"100ms\"\nsize = \"4M\"\n"
        ),
    );
    let answer = desk.run(&["run", "--plan", &plan, "--busy-ok"]);
    assert!(!answer.stderr.contains("Filling"), "{}", answer.stderr);
    answer.failed(2, &["different clocks"]);
    assert!(crate::support::names(&volume).is_empty());
}

#[test]
fn mistakes_in_a_plan_are_told_with_their_line() {
    let desk = Desk::new();
    let cases = [
        (
            "[[job]]\nblok = \"8K\"",
            &["line 2", "`blok`", "`block`"][..],
        ),
        (
            "[[job]]\nname = \"a\"\ntarget = \"sim:nvme\"\nblock = \"8Q\"",
            &["line 4"],
        ),
        ("[[job]]\nname = \"a\"", &["target"]),
        ("label = \"x\"", &["job"]),
        ("[[job]\n", &["line 1", "TOML"]),
        (
            "[[job]]\nname = \"a\"\ntarget = \"sim:nvme\"\n[[job]]\nname = \"a\"\ntarget = \"sim:nvme\"",
            &["`a`"],
        ),
        (
            "[[job]]\nname = \"a\"\ntarget = \"sim:nvme\"\noverwrite = true",
            &["line 4", "overwrite"],
        ),
        (
            "[[job]]\nname = \"a\"\ntarget = \"sim:nvme\"\nthreads = 4097",
            &["`a`", "4097"],
        ),
    ];
    for (text, says) in cases {
        let plan = desk.write("plan.toml", text);
        desk.run(&["run", "--plan", &plan]).failed(2, says);
    }
    desk.run(&["run", "--plan", "missing.toml"])
        .failed(2, &["missing.toml"]);
    assert!(desk.ids().is_empty());
}
