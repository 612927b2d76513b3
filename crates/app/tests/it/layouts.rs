//! Plans with several factors: `lab plan`, `lab run`, what is refused before anything is
//! measured, and going on.

use crate::support::Desk;

const PLAN: &str = r#"
target = "sim:raid10-10k?offset=63s"
passes = 8
[factors]
offset = ["63s", "1M"]
stripe-unit = ["64K", "128K"]
allocation-unit = ["4K", "64K"]
[[cell]]
name = "random read"
read = true
outstanding = 32
share = 80
[[cell]]
name = "random write"
write = true
outstanding = 16
share = 20
"#;

#[test]
fn a_plan_is_shown_before_it_is_carried_out_and_its_answer_can_be_gone_on_with() {
    let desk = Desk::new();
    let plan = desk.write("plan.toml", PLAN);
    let shown = desk.run(&["lab", "plan", &plan]).done();
    for words in [
        "4 layouts",
        "offset 1M, stripe unit 128K",
        "Destroyed: nothing",
        "to a verdict",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    assert!(desk.ids().is_empty(), "nothing was measured");
    let forecast = desk.json(&["lab", "plan", &plan]);
    assert_eq!(forecast.at("layouts").items().len(), 4);
    assert_eq!(forecast.at("bytes_written").count(), 0);
    let document = desk.run(&["lab", "run", &plan, "--json"]).ended(1).json();
    assert_eq!(document.at("recommendation.layout.offset").text(), "1M");
    let effects = document.at("effects").items();
    let unit = effects
        .iter()
        .find(|effect| effect.at("factors.0").text() == "allocation-unit");
    assert!(unit.expect("it is named").at("by_arithmetic").truth());
    let id = document.at("id").text();
    let again = desk.run(&["lab", "resume", &id, "--json"]).ended(1).json();
    assert_eq!(
        again.at("layouts.0.score").number(),
        document.at("layouts.0.score").number()
    );
    let gone = desk.run(&["lab", "clean", &id, "--yes"]).done();
    assert!(
        gone.stdout.contains("Removed experiment"),
        "{}",
        gone.stdout
    );
}

#[test]
fn slips_in_a_plan_are_told_with_what_to_write_instead() {
    let desk = Desk::new();
    let cell = "[[cell]]\nread = true\n";
    let head = "target = \"sim:raid10-10k\"\n";
    let cases = [
        (
            format!("{head}[factors]\noffset = [\"1M\"]\n{cell}"),
            "one level only",
        ),
        (
            format!("{head}[factors]\nofset = [\"1M\", \"2M\"]\n{cell}"),
            "did you mean `offset`",
        ),
        (
            format!("{head}[factors]\nallocation-unit = [\"4K\", \"64K\"]\n{cell}"),
            "make no difference",
        ),
        (
            format!("{head}[factors]\noffset = [\"64K\", \"65536\"]\n{cell}"),
            "make no difference",
        ),
        (
            format!("{head}profil = \"x\"\n[factors]\noffset = [\"1M\", \"2M\"]\n{cell}"),
            "`profile`",
        ),
        (
            format!("{head}profile = \"oltp\"\n[factors]\noffset = [\"1M\", \"2M\"]\n"),
            "is not a profile",
        ),
        (
            format!("{head}[factors]\noffset = [\"1M\", \"2M\"]\n"),
            "no cell and no profile",
        ),
        (
            format!("{head}destroy = \"sdb\"\n[factors]\noffset = [\"1M\", \"2M\"]\n{cell}"),
            "command line",
        ),
        (
            format!(
                "{head}[factors]\noffset = [\"1M\", \"2M\"]\n[[cell]]\nread = true\nshare = 0\n"
            ),
            "nothing to rank",
        ),
    ];
    for (number, (text, words)) in cases.iter().enumerate() {
        let plan = desk.write(&format!("plan{number}.toml"), text);
        for action in ["plan", "run"] {
            let answer = desk.run(&["lab", action, &plan]).ended(2);
            assert!(answer.stderr.contains(words), "{words}: {}", answer.stderr);
            assert!(answer.stderr.contains("hint: "), "{}", answer.stderr);
        }
    }
    assert!(desk.ids().is_empty());
}

#[test]
fn a_profile_is_a_plan_of_jobs_that_run_at_once() {
    let desk = Desk::new();
    let shown = desk.run(&[
        "run",
        "sim:raid10-10k",
        "--profile",
        "postgresql",
        "--show-request",
    ]);
    let request = shown.done().json();
    let names: Vec<String> = request
        .at("jobs")
        .items()
        .iter()
        .map(|job| job.at("name").text())
        .collect();
    assert_eq!(names, ["random read", "scan", "checkpoint", "wal"]);
    assert_eq!(request.at("order").text(), "together");
    let run = [
        "run",
        "sim:nvme",
        "--mix",
        "random-read=70,log=30",
        "--duration",
        "100ms",
    ];
    let document = desk.json(&run);
    assert_eq!(document.at("runs.0.jobs").items().len(), 2);
    let wrong = desk
        .run(&["run", "sim:nvme", "--profile", "postgress"])
        .ended(2);
    assert!(wrong.stderr.contains("`postgresql`"), "{}", wrong.stderr);
}

#[test]
fn several_block_sizes_in_one_run_are_kept_with_it() {
    let desk = Desk::new();
    let run = [
        "run",
        "sim:nvme",
        "--block",
        "4K:60,64K:40",
        "--duration",
        "100ms",
    ];
    let document = desk.json(&run);
    let workload = document.at("runs.0.jobs.0.workload");
    assert_eq!(workload.at("block_sizes").text(), "4K:60,64K:40");
    let outcome = document.at("runs.0.jobs.0.outcome");
    let mean = outcome.at("bytes").number() / outcome.at("operations").number();
    // 0.6 x 4K + 0.4 x 64K = 28K.
    assert!((27_000.0..31_000.0).contains(&mean), "{mean}");
    let shares = desk
        .run(&["run", "sim:nvme", "--block", "4K:60,64K:30"])
        .ended(2);
    assert!(shares.stderr.contains("90 %, not 100"), "{}", shares.stderr);
}

#[test]
fn a_published_study_is_laid_beside_own_figures() {
    let desk = Desk::new();
    let arguments = ["lab", "run", "study:van-dyke-2009"];
    let document = desk.json(&arguments);
    assert_eq!(document.at("study").text(), "van-dyke-2009");
    assert_eq!(document.at("target").text(), "sim:van-dyke-2009");
    let rows = document.at("tables.0.rows").items();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].at("published_gain_percent").number(), 11.0);
    for row in &rows {
        // Nothing is fitted to it: crossings give at most 12.5 %.
        let own = row.at("own_gain_percent").number();
        assert!((4.0..14.0).contains(&own), "{own}");
    }
    assert!(document.at("unexplained.0").text().contains("128K"));
    assert_eq!(desk.ids().len(), 4, "each cell is kept once");
    // The levels take the place of an offset that the target names itself.
    let other_store = [&arguments[..], &["--target", "sim:raid10-10k?offset=63s"]].concat();
    let document = desk.json(&other_store);
    let gain = document.at("tables.0.rows.0.own_gain_percent").number();
    assert!(gain > 3.0, "{gain}");
    let nowhere = [&arguments[..], &["--target", "sim:raid10-10k?disks=3"]].concat();
    desk.run(&nowhere).failed(2, &["disks"]);
    for (arguments, says) in [
        (
            &["lab", "run", "study:van-dike-2009"][..],
            "study:van-dyke-2009?",
        ),
        (&["lab", "run", "study:shea-2007", "--readers"], "--readers"),
        (
            &["lab", "run", "study:shea-2007", "--blocks", "20"],
            "--blocks",
        ),
    ] {
        desk.run(arguments).failed(2, &[says]);
    }
    let plan = desk.write("plan.toml", PLAN);
    desk.run(&["lab", "run", &plan, "--target", "sim:nvme"])
        .failed(2, &["apply to studies only"]);
}

#[test]
fn on_a_directory_only_base_offsets_and_workloads_differ() {
    let desk = Desk::new();
    let volume = desk.volume();
    let plan = |factors: &str| {
        let text = format!(
            "target = \"{volume}\"\nsize = \"16M\"\npasses = 6\n[factors]\n{factors}\n\
             [defaults]\nduration = \"200ms\"\nramp = \"0s\"\n[[cell]]\nname = \"read\"\nread = true\n"
        );
        desk.write(&format!("plan-{}.toml", factors.len()), &text)
    };
    let file_system = plan("file-system = [\"ext4\", \"xfs\"]");
    desk.run(&["lab", "run", &file_system])
        .failed(2, &["cannot be varied on a target that is there"]);
    desk.run(&["lab", "plan", &file_system])
        .failed(2, &["cannot be varied on a target that is there"]);
    let depth = plan("outstanding = [\"1\", \"4\"]");
    desk.run(&["lab", "plan", &depth]).done().printed(&[
        "2 layouts",
        "outstanding 4",
        "16 MiB",
        "No layouts are made on an existing target",
    ]);
    assert!(desk.ids().is_empty(), "nothing was measured");
    let answer = desk.run(&["lab", "run", &depth, "--busy-ok"]).done();
    answer.printed(&["\nOutstanding ", "Mix IOPS", "\n1 ", "\n4 ", "6 passes"]);
}

#[test]
fn fragments_give_the_allocation_unit_an_effect_and_without_them_there_is_none() {
    let desk = Desk::new();
    let plan = |target: &str| {
        let text = PLAN
            .replace("sim:raid10-10k?offset=63s", target)
            .replace("stripe-unit = [\"64K\", \"128K\"]", "")
            .replace("offset = [\"63s\", \"1M\"]", "");
        desk.write(&format!("plan-{}.toml", target.len()), &text)
    };
    let whole = plan("sim:raid10-10k?offset=1M");
    desk.run(&["lab", "run", &whole])
        .failed(2, &["no fragments", "fragments=1000"]);
    let pieces = plan("sim:raid10-10k?offset=1M&size=40G&fragments=5000");
    let document = desk.run(&["lab", "run", &pieces, "--json"]).json();
    let effect = document.at("effects.0");
    assert_eq!(effect.at("factors.0").text(), "allocation-unit");
    // Half of the pieces begin off 8K, where 1 in 8 operations crosses a unit of 64K.
    let percent = effect.at("percent").number();
    assert!((1.0..12.5).contains(&percent), "{percent}");
}

#[test]
fn an_experiment_does_not_go_on_with_an_array_that_has_changed() {
    let desk = Desk::new();
    let array = "level = \"10\"\ndisks = 4\noffset = \"63s\"\n";
    let file = desk.write("array.toml", array);
    let text = PLAN.replace("sim:raid10-10k?offset=63s", &format!("sim:{file}"));
    let text = text.replace("allocation-unit = [\"4K\", \"64K\"]", "");
    let plan = desk.write("plan.toml", &text);
    let document = desk.run(&["lab", "run", &plan, "--json"]).json();
    let id = document.at("id").text();
    desk.write("array.toml", &array.replace("63s", "1M").replace('4', "6"));
    desk.run(&["lab", "resume", &id, "--blocks", "9"])
        .failed(2, &["is not the array that it was"]);
}
