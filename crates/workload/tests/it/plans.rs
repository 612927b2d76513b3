//! Plan files: the documented example, what they mean, and what is refused.

use proptest::prelude::*;
use stripewise_workload::{
    CacheMode, CursorKind, Pattern, Plan, PlanOrder, Workload, WorkloadOptions,
};

/// The example in the documentation of the module, as a file.
fn documented_example() -> String {
    let source = include_str!("../../src/plan.rs");
    let after = source.split_once("//! ```toml\n").unwrap().1;
    let example = after.split_once("//! ```").unwrap().0;
    example
        .lines()
        .map(|line| line.trim_start_matches("//!").to_owned() + "\n")
        .collect()
}

#[test]
fn the_documented_example_is_a_plan() {
    let plan: Plan = documented_example().parse().unwrap();
    assert_eq!(plan.label.as_deref(), Some("new volume, RAID 10"));
    assert_eq!(plan.order, PlanOrder::Together);
    let [log, data, backup] = &plan.jobs[..] else {
        panic!("three jobs");
    };
    assert_eq!(
        (log.name.as_str(), log.workload.cache),
        ("log", CacheMode::DirectSync)
    );
    assert_eq!(log.workload.duration_ns, 60_000_000_000);
    assert_eq!(log.options.size, None);
    assert_eq!(data.targets, ["/data/d1", "/data/d2"]);
    assert_eq!((data.workload.read_percent, data.workload.seed), (70, 7));
    assert_eq!(data.workload.base_offset_bytes, 32_256);
    assert_eq!(data.workload.rate.unwrap().iops, 5000.0);
    let shared = Pattern::Sequential {
        cursor: CursorKind::Shared,
    };
    assert_eq!(backup.workload.pattern, shared);
    assert_eq!(backup.engine.as_deref(), Some("uring"));
    assert_eq!(backup.cpus.as_ref().unwrap().to_string(), "0-3,8");
    assert_eq!(backup.workload.data.dedupable_percent, 10);
}

#[test]
fn the_documented_example_shows_every_key() {
    let example = documented_example();
    for name in WorkloadOptions::NAMES {
        let shown = example
            .lines()
            .any(|line| line.contains(&format!("{name} = ")));
        assert!(shown, "{name}");
    }
}

#[test]
fn jobs_have_seeds_of_their_own_unless_they_say_one() {
    let text = "[defaults]\nseed = 100\n\
                [[job]]\nname = \"a\"\ntarget = \"a\"\n\
                [[job]]\nname = \"b\"\ntarget = \"b\"\nseed = 5\n\
                [[job]]\nname = \"c\"\ntarget = \"c\"\n";
    let plan: Plan = text.parse().unwrap();
    let seeds: Vec<u64> = plan.jobs.iter().map(|job| job.workload.seed).collect();
    assert_eq!(seeds, [100, 5, 102]);
    let text = "[[job]]\nname = \"a\"\ntarget = \"a\"";
    assert_eq!(
        text.parse::<Plan>().unwrap().jobs[0].workload,
        Workload::default()
    );
}

const JOB: &str = "[[job]]\nname = \"a\"\ntarget = \"t\"\n";

#[test]
fn what_no_job_can_take_is_refused() {
    for (default, needs, taken) in [
        ("sync = \"fdatasync\"", "writes", "write = true"),
        ("atomic = true", "writes", "write = true"),
        ("dsync = true", "writes", "write = true"),
        ("arrivals = \"poisson\"", "a rate", "rate = 50"),
        (
            "distribution = \"covering\"",
            "random positions",
            "random = true",
        ),
        ("cursor = \"shared\"", "sequential", "sequential = true"),
        ("in-turn = true", "several targets", ""),
    ] {
        let other = match default.starts_with("dist") {
            true => "sequential = true",
            false => "random = true",
        };
        let plan = format!("[defaults]\n{default}\n{JOB}{other}\n");
        let error = plan.parse::<Plan>().unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("line 2: "), "{text}");
        assert!(text.contains("applies to none of the jobs"), "{text}");
        assert!(text.contains(needs), "{text}");
        let second = JOB.replace("\"a\"", "\"b\"");
        let second = second.replace("\"t\"", "[\"t\", \"u\"]");
        let both = format!("{plan}{second}{taken}\n");
        assert!(both.parse::<Plan>().is_ok(), "{both}");
    }
    let error = format!("{JOB}in-turn = true").parse::<Plan>().unwrap_err();
    assert!(error.to_string().contains("several targets"), "{error}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn mistakes_are_named_with_line_key_and_hint() {
    for (text, message, hint) in [
        ("", "line 1: the plan has no job", "[[job]]"),
        (
            "jobs = 1",
            "line 1: `jobs` is not a key of a plan",
            "did you mean `job`?",
        ),
        (
            "job = 1",
            "line 1: `job` is not a list of tables",
            "[[job]]",
        ),
        ("job = [1]", "line 1: a table is needed here", "[[job]]"),
        (
            "defaults = 1",
            "line 1: a table is needed here",
            "[defaults]",
        ),
        (
            "\n\n[defaults]\nblok = \"8K\"",
            "line 4: `blok` is not a key of the defaults",
            "did you mean `block`?",
        ),
        (
            "[defaults]\nname = \"x\"",
            "line 2: `name` is not a key of the defaults",
            "the keys are",
        ),
        (
            "[[job]]\ntarget = \"t\"",
            "line 1: a job has no name",
            "target =",
        ),
        (
            "\n[[job]]\nname = \"t\"",
            "line 2: a job has no target",
            "target =",
        ),
        (
            "[[job]]\nname = \"\"\ntarget = \"t\"",
            "line 2: `` is not a valid name for a job",
            "1 to 64 bytes",
        ),
        (
            "[[job]]\nname = \"t\"\ntarget = []",
            "line 3: `target` is empty",
            "a file, directory or device",
        ),
        ("[[job]]\nname = 5", "line 2: `name` is not text", "quotes"),
        (
            "run = \"both at once\"",
            "line 1: run = `both at once` is unknown",
            "together",
        ),
        (
            "[[job]]\noverwrite = true",
            "line 2: `overwrite` is not a key of a job",
            "on the command line, each time: --overwrite",
        ),
        (
            "[[job]]\nblock = [\"8K\", \"64K\"]",
            "line 2: `block` takes one value, not a list",
            "no grids",
        ),
        (
            "[[job]]\nblock = \"8Q\"",
            "line 2: block: `8Q` has an unknown unit (at `Q`)",
            "8K",
        ),
        (
            "[[job]]\nengine = \"libaio\"",
            "line 2: engine = `libaio` is unknown",
            "auto, uring, nvme, iocp, threads, null",
        ),
        (
            "[[job]]\ncpus = \"3-1\"",
            "line 2: cpus: `3-1` runs backwards",
            "0-3,8",
        ),
    ] {
        let error = text.parse::<Plan>().expect_err(message);
        assert_eq!(error.to_string(), message);
        assert!(error.hint().contains(hint), "{message}: {}", error.hint());
    }
}

#[test]
fn jobs_that_break_the_rules_are_named() {
    for (text, message) in [
        (
            format!("{JOB}read = true\nwrite = true"),
            "line 4: job `a`: read and write exclude each other",
        ),
        (
            format!("{JOB}threads = 5000"),
            "line 4: job `a`: threads 5000 is outside of 1 to 4096",
        ),
        (
            format!("[defaults]\nthreads = 5000\n{JOB}block = \"8K\"\nread = true"),
            "line 2: job `a`: threads 5000 is outside of 1 to 4096",
        ),
        (
            format!("{JOB}{JOB}"),
            "line 5: there are two jobs named `a`",
        ),
        (
            format!("{JOB}[[job]]\nname = \"b\"\ntarget = \"t\"\nduration = 5"),
            "line 7: jobs that run together have one duration and ramp, but `a` and `b` differ",
        ),
    ] {
        let error = text.parse::<Plan>().expect_err(message);
        assert_eq!(error.to_string(), message);
        assert!(!error.hint().is_empty());
    }
    let alone =
        format!("run = \"alone\"\n{JOB}[[job]]\nname = \"b\"\ntarget = \"t\"\nduration = 5");
    assert_eq!(alone.parse::<Plan>().unwrap().order, PlanOrder::Alone);
}

#[test]
fn broken_toml_says_where() {
    let error = "[[job]]\nname = \"a\nblock = 1"
        .parse::<Plan>()
        .unwrap_err();
    assert_eq!(error.line(), 2, "{error}");
    let error = "[[job]]\nblock = 1\nblock = 2".parse::<Plan>().unwrap_err();
    assert_eq!(error.line(), 3, "{error}");
    let pasted = "[[job]]\nname = \u{201c}a\u{201d}\n";
    let error = pasted.parse::<Plan>().unwrap_err();
    assert!(error.hint().contains("U+201C"), "{error}");
}

proptest! {
    #![proptest_config(crate::fixed_seed(1_000))]

    #[test]
    fn no_text_makes_the_reader_panic(
        text in "\\PC{0,40}",
        key in "[a-z-]{1,12}",
        value in "[-0-9a-zA-Z.:/\"\\[\\]{}]{0,12}",
        cut in 0_usize..2_000,
    ) {
        let _ = text.parse::<Plan>();
        let _ = format!("{JOB}{key} = {value}\n").parse::<Plan>();
        let mut damaged = documented_example();
        let at = cut % damaged.len();
        if damaged.is_char_boundary(at) {
            damaged.insert_str(at, &value);
        }
        if let Err(error) = damaged.parse::<Plan>() {
            prop_assert!(error.line() >= 1 && !error.hint().is_empty());
        }
    }
}

#[test]
fn plans_may_be_written_in_any_form_of_toml_but_not_without_end() {
    let inline = "defaults.block = \"64K\"\njob = [{ name = \"a\", target = \"t\", write = true }]";
    let plan: Plan = inline.parse().unwrap();
    assert_eq!(plan.jobs[0].workload.block_size_bytes, 65_536);
    let deep = format!("label = {}", "[".repeat(100_000));
    assert!(deep.parse::<Plan>().is_err());
    let tables = format!("[{}]", vec!["a"; 100_000].join("."));
    assert!(tables.parse::<Plan>().is_err());
    let many = (0..1_025).map(|number| format!("[[job]]\nname = \"{number}\"\ntarget = \"t\"\n"));
    let error = many.collect::<String>().parse::<Plan>().unwrap_err();
    assert!(
        error.to_string().contains("1025 jobs; the limit is 1024"),
        "{error}"
    );
}
