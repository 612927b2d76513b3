use super::*;

fn plan(text: &str) -> LabPlan {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

const CELL: &str = "[[cell]]\nname = \"a\"\n";

#[test]
fn the_template_is_a_plan() {
    let plan = plan(TEMPLATE);
    assert_eq!(plan.factor, OFFSET_FACTOR);
    assert_eq!(plan.offsets_bytes, [32_256, 1 << 20]);
    assert_eq!(plan.cells.len(), 2);
    assert_eq!(plan.primary, Some(1));
    assert_eq!(plan.cells[0].workload.outstanding, 4);
    assert!(!plan.duration_given);
    // Commented-out lines are valid, too.
    let all: String = TEMPLATE
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest)
                if rest
                    .split_once(" = ")
                    .is_some_and(|(key, _)| !key.contains(' ')) =>
            {
                format!("{rest}\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let all = self::plan(&all);
    assert_eq!(all.time_ns, Some(600_000_000_000));
    assert!(all.duration_given);
}

#[test]
fn any_option_of_a_workload_is_a_factor() {
    let cases = [
        ("block", "[\"8K\", \"64K\"]"),
        ("cache", "[\"direct\", \"direct-sync\"]"),
        ("distribution", "[\"uniform\", \"zipf:0.99\"]"),
        ("read-percent", "[0, 70, 100]"),
    ];
    for (factor, levels) in cases {
        let text =
            format!("target = \"sim:nvme\"\nfactor = \"{factor}\"\nlevels = {levels}\n{CELL}");
        let plan = plan(&text);
        assert!(plan.levels.len() >= 2, "{factor}");
        let first = plan.levels[0].apply(&plan.cells[0].workload, 1);
        let last = plan
            .levels
            .last()
            .unwrap()
            .apply(&plan.cells[0].workload, 1);
        assert_ne!(first, last, "{factor}");
    }
}

#[test]
fn mistakes_are_told_with_their_line_and_what_to_do() {
    let head = "target = \"sim:nvme\"\nfactor = \"block\"\nlevels = [\"8K\", \"64K\"]\n";
    let cases = [
        (String::new(), 1, "no target"),
        (format!("{head}destroy = true\n{CELL}"), 4, "`destroy`"),
        (
            format!("{head}baseline = \"4K\"\n{CELL}"),
            4,
            "not one of the levels",
        ),
        (
            format!("{head}precision = 0\n{CELL}"),
            4,
            "not a valid percentage",
        ),
        (
            format!("{head}metric = \"speed\"\n{CELL}"),
            4,
            "not a metric",
        ),
        (format!("{head}{CELL}bloc = 1\n"), 6, "`bloc`"),
        (format!("{head}{CELL}seed = 1\n"), 6, "no seed"),
        (format!("{head}{CELL}{CELL}"), 7, "two cells"),
        (
            format!("{head}{CELL}block = \"8K\"\nthreads = 5000\n"),
            7,
            "cell `a`: threads 5000",
        ),
        (head.to_owned(), 1, "no cell"),
        (
            format!("target = \"x\"\nfactor = \"seed\"\nlevels = [1, 2]\n{CELL}"),
            2,
            "not a factor",
        ),
        (
            format!("target = \"x\"\nfactor = \"block\"\nlevels = [\"8K\"]\n{CELL}"),
            2,
            "two levels",
        ),
    ];
    for (text, line, words) in cases {
        let error = text.parse::<LabPlan>().unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert!(
            error.to_string().starts_with(&format!("line {line}:")),
            "{error}"
        );
        assert!(!error.hint().is_empty());
    }
    let error = format!("{head}destroy = true\n{CELL}")
        .parse::<LabPlan>()
        .unwrap_err();
    assert!(error.hint().contains("command line"));
}
