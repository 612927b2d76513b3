//! Every kind of answer fits the terminal. Tables are printed as they are made, so that a row
//! that does not fit is a line that is too long.

use crate::support::{Desk, here_at};

const WIDTHS: [usize; 4] = [60, 80, 100, 200];

/// A name that no table has room for.
const LONG: &str = "sim:raid10-10k?offset=63s&stripe_unit=64K&disks=8&seed=123456789";

/// Commands that measure, in an order in which each finds what it needs, then what shows what
/// they made.
const COMMANDS: [&str; 28] = [
    "run LONG --duration 1s --label before-the-change",
    "run LONG --duration 1s --label after-the-change --threads 1,2",
    "run LONG --duration 1s --repeat 6 --label six",
    "bench sim:raid10-10k --series random-read --step 1s --no-report",
    "bench sim:raid10-10k --like crystaldiskmark --no-report",
    "profile sim:raid10-10k --places 16",
    "probe stripe sim:raid10-10k",
    "align LONG --blocks 10 --step 1s --threads 1 --read",
    "advise sim:raid10-10k --mix random-read=100 --vary offset=63s,1M --passes 6",
    "limits sim:raid10-10k",
    "headroom sim:raid10-10k --load postgresql --rate 60 --slo p99<50ms",
    "qualify LONG --for etcd --quick",
    "qualify LONG --for postgresql --quick",
    "qualify LONG --commit",
    "lab run study:van-dyke-2009",
    "compare before-the-change six",
    "compare dataset:oja-nisula-2007-offset",
    "baseline set six --replace",
    "baseline",
    "check",
    "history",
    "history show last",
    "history show last --explain --ladders",
    "doctor .",
    "sim list",
    "qualify --list",
    "verify --size 1T --plan",
    "disks",
];

/// Those that `-q` answers in one line, whatever the width.
const ANSWERS: [&str; 4] = ["run", "align", "qualify sim:", "compare"];

/// Commands that measure for longer than others.
const LONGEST: [&str; 5] = ["advise", "bench", "headroom", "limits", "qualify"];

/// What is too wide, but for words that cannot be broken: names of files, commands of one word.
fn too_wide(text: &str, width: usize) -> Vec<String> {
    let is_too_wide = |line: &&str| {
        let indent = line.len() - line.trim_start().len();
        let longest = line.split(' ').map(|word| word.chars().count()).max();
        line.chars().count() > width && longest.unwrap_or(0) + indent <= width
    };
    text.lines()
        .filter(is_too_wide)
        .map(str::to_owned)
        .collect()
}

#[test]
fn no_line_of_any_command_is_wider_than_the_terminal() {
    let desk = Desk::new();
    let store = desk.file("results.db");
    let mut wide = Vec::new();
    for line in COMMANDS {
        let line = line.replace("LONG", LONG);
        let kept = ["--store", &store];
        let words: Vec<&str> = line.split(' ').chain(kept).collect();
        for width in WIDTHS {
            // What was measured at the first width is shown again at the others.
            let again = ["history", "show", "last", kept[0], kept[1]];
            let is_shown_again = width != WIDTHS[0] && LONGEST.contains(&words[0]);
            let answer = here_at(width, if is_shown_again { &again } else { &words });
            assert!(
                matches!(answer.code, Some(0 | 1)),
                "{line}: {}",
                answer.stderr
            );
            for text in [&answer.stdout, &answer.stderr] {
                let found = too_wide(text, width);
                wide.extend(
                    found
                        .into_iter()
                        .map(|found| format!("{width}: {line}: {found}")),
                );
            }
        }
        // Lists stay lists.
        if ANSWERS.iter().any(|begin| line.starts_with(begin)) {
            let quiet = here_at(60, &[&words[..], &["-q"]].concat());
            assert_eq!(quiet.stdout.lines().count(), 1, "{}", quiet.stdout);
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// A script, a plan or a request whose lines are broken is another one, or none.
#[test]
fn what_other_programs_read_is_not_wrapped() {
    let desk = Desk::new();
    let job = "[a]\nfilename=/data/a-name-that-is-longer-than-forty-columns\nrw=randread\n";
    let job = desk.write("job.fio", job);
    let label = "a label of more words than forty columns have room for";
    for words in [
        &["completions", "bash"][..],
        &["sim", "show", "raid10-10k"],
        &["convert", "--from", "fio", &job],
        &["run", "sim:nvme", "--label", label, "--show-request"],
    ] {
        let narrow = here_at(40, words).done();
        assert_eq!(narrow.stdout, here_at(200, words).stdout, "{words:?}");
    }
}

#[test]
fn the_list_of_commands_fits_a_narrow_terminal() {
    for width in [40, 53, 80] {
        let answer = here_at(width, &["-h"]);
        assert_eq!(
            too_wide(&answer.stdout, width),
            [""; 0],
            "{}",
            answer.stdout
        );
    }
}

#[test]
fn what_is_wrong_with_a_command_line_fits_as_well() {
    for words in [
        ["run", "sim:nvme", "--ramdom"],
        ["run", "sim:nvme", "--block=8Q"],
        ["advise", "sim:nvme", "sim:sata-ssd"],
        ["history", "show", "nothing-of-this-name-and-that-is-long"],
    ] {
        for width in WIDTHS {
            let answer = here_at(width, &words);
            assert!(answer.stderr.contains("hint:"), "{}", answer.stderr);
            assert_eq!(
                too_wide(&answer.stderr, width),
                [""; 0],
                "{}",
                answer.stderr
            );
        }
    }
}
