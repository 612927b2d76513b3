//! `-q` prints an answer as one line, whatever the command.

use crate::support::Desk;

/// Commands that answer, in an order in which each finds what it needs; lists stay lists.
const ANSWERS: [&str; 23] = [
    "run sim:raid10-10k --duration 1s",
    "run sim:nvme --duration 10ms --threads 1,2",
    "bench sim:raid10-10k --series random-read --step 1s --no-report",
    "history show last",
    "profile sim:raid10-10k --places 16",
    "history show last",
    "probe flash sim:nvme",
    "align sim:raid10-10k --blocks 10 --step 1s --threads 1 --read",
    "advise sim:raid10-10k --mix random-read=100 --vary offset=63s,1M --passes 6",
    "run sim:raid10-10k --duration 1s --label now",
    "run sim:raid10-10k --duration 1s --label then",
    "compare now then",
    "compare dataset:oja-nisula-2007-offset",
    "baseline set last-run",
    "qualify sim:raid10-10k --for etcd --quick",
    "history show last",
    "limits sim:ebs-gp3 --cloud aws",
    "history show last",
    "compare last last",
    "headroom sim:raid10-10k --load postgresql --rate 60 --slo p99<50ms --confirm 10s",
    "compare last last",
    "doctor .",
    "lab clean",
];

#[test]
fn a_quiet_answer_is_one_line() {
    let desk = Desk::new();
    for line in ANSWERS {
        let mut words: Vec<&str> = line.split(' ').collect();
        words.push("--quiet");
        let answer = desk.run(&words);
        assert!(
            matches!(answer.code, Some(0 | 1)),
            "{line}: {}",
            answer.stderr
        );
        assert_eq!(
            answer.stdout.lines().count(),
            1,
            "{line}: {}",
            answer.stdout
        );
        // Who sees only this line has to know what it is about.
        let message = &answer.stdout;
        let named = [
            "align", "advise", "run", "bench", "headroom", "limits", "qualify",
        ];
        if named.contains(&words[0]) {
            assert!(message.contains(words[1]), "{line}: {message}");
        }
        for (command, named) in [
            ("headroom", " at p99 < 50 ms: "),
            ("limits", " As a gp3 of 3,000 IOPS and 125 MiB/s"),
            ("compare last", " on sim:"),
        ] {
            let is_named = !line.starts_with(command) || message.contains(named);
            assert!(is_named, "{line}: {message}");
        }
        let is_empty = answer.stdout.trim().is_empty();
        assert!(!is_empty, "{line} prints an empty line");
    }
}

#[test]
fn switches_that_a_simulated_array_has_no_use_for_are_named() {
    let desk = Desk::new();
    let run = ["run", "sim:nvme", "--duration", "10ms"];
    let more = ["--engine", "threads", "--keep", "--busy-ok"];
    let all = [&run[..], &more].concat();
    desk.run(&all)
        .done()
        .warned(&["note: no effect on a simulated array: --keep, --engine\n"]);
    assert_eq!(desk.run(&[&all[..], &["-q"]].concat()).stderr, "");
    assert!(!desk.run(&run).stderr.contains("no effect"));
    // What names a device that is no target is a mistake everywhere.
    for line in [
        "align sim:nvme",
        "profile sim:nvme --fill",
        "probe flash sim:nvme --write 1G",
        "run sim:nvme",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--destroy", "sdb"]).collect();
        desk.run(&words).failed(2, &["no target is one", "hint:"]);
    }
}
