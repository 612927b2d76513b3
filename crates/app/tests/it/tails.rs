//! Percentiles to choose, p95 in limits, think time, and processor time, as a user sees
//! them.

use crate::report::schema;
use crate::support::Desk;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../docs/schema/document-1.schema.json");

const SIM: [&str; 8] = [
    "run",
    "sim:nvme",
    "--outstanding",
    "4",
    "--read-percent",
    "70",
    "--duration",
    "2s",
];

#[test]
fn percentiles_that_are_asked_for_are_shown_and_in_the_document() {
    let desk = Desk::new();
    let requested = ["--percentiles", "95,p99.99,99.9999"];
    let shown = desk.run(&[&SIM[..], &requested].concat()).done();
    for part in [
        "p95",
        "p99.99",
        "p99.9999",
        "n<10,000,000",
        ": reads",
        ": writes",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
    }
    let json = desk.run(&[
        "history",
        "show",
        "last",
        "--percentiles",
        "95,99.9999",
        "--json",
    ]);
    let document: Value = serde_json::from_str(&json.done().stdout).unwrap();
    let read = &document["runs"][0]["jobs"][0]["outcome"]["read"];
    // The same number as the summary's, from the latencies that the store keeps.
    assert_eq!(
        read["latency_ns_percentiles"]["p95"],
        read["latency_ns"]["p95"]
    );
    assert_eq!(read["latency_ns_percentiles"].as_object().unwrap().len(), 1);
    let wrong = desk.run(&[&SIM[..], &["--percentiles", "100"]].concat());
    wrong.failed(2, &["is not a valid percentile", "50, 95, 99.99"]);
}

#[test]
fn limits_and_requirements_may_speak_of_p95() {
    let desk = Desk::new();
    let met = [&SIM[..], &["--require", "p95<1s"]].concat();
    assert!(desk.run(&met).done().stdout.contains("met: p95<1s"));
    let missed = [&SIM[..], &["--require", "read_p95<1ns"]].concat();
    desk.run(&missed).ended(1);
    let bench = [
        "bench",
        "sim:raid10-10k",
        "--series",
        "random-read",
        "--slo",
        "p95<30ms",
        "--step",
        "1s",
    ];
    let shown = desk.run(&bench).done().stdout;
    assert!(shown.contains("p95 < 30 ms"), "{shown}");
}

#[test]
fn a_think_time_is_kept_with_the_run_and_excludes_a_rate() {
    let desk = Desk::new();
    let thinks = [&SIM[..], &["--think-time", "5ms:4"]].concat();
    let shown = desk.run(&thinks).done();
    let words = "think time: each thread pauses for 5 ms after every 4 operations";
    assert!(shown.stdout.contains(words), "{}", shown.stdout);
    // Depth and stalls are as asked: nothing is warned of.
    assert!(!shown.stdout.contains("outstanding-below-asked"));
    let json = desk
        .run(&["history", "show", "last", "--json"])
        .done()
        .stdout;
    let document: Value = serde_json::from_str(&json).unwrap();
    let workload = &document["runs"][0]["jobs"][0]["workload"];
    assert_eq!(workload["think_time"]["pause_ns"], 5_000_000);
    assert_eq!(workload["think_time"]["every"], 4);
    let both = [&SIM[..], &["--think-time", "5ms", "--rate", "10"]].concat();
    desk.run(&both)
        .failed(2, &["think-time", "open loop", "leave out --rate"]);
}

#[test]
fn processor_time_is_recorded_thread_by_thread_and_explained_on_request() {
    let desk = Desk::new();
    let run = [
        "run",
        "FILE",
        "--engine",
        "null",
        "--threads",
        "3",
        "--duration",
        "200ms",
        "--explain",
    ];
    let target = desk.write(
        "t.dat",
        &"read only by an engine that reads nothing\n".repeat(9_999),
    );
    let run: Vec<&str> = run
        .iter()
        .map(|word| {
            if *word == "FILE" {
                target.as_str()
            } else {
                word
            }
        })
        .collect();
    let shown = desk.run(&run).done().stdout;
    assert!(shown.contains("Processor time of each thread"), "{shown}");
    // What was given is not offered once more.
    assert!(!shown.contains("(--explain)"), "{shown}");
    let json = desk
        .run(&["history", "show", "last", "--json"])
        .done()
        .stdout;
    let faults = schema::faults_of(&json, SCHEMA);
    assert!(faults.is_empty(), "{faults:#?}");
    let document: Value = serde_json::from_str(&json).unwrap();
    let outcome = &document["runs"][0]["jobs"][0]["outcome"];
    let threads = outcome["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 3);
    let sum: u64 = threads
        .iter()
        .map(|thread| thread["operations"].as_u64().unwrap())
        .sum();
    assert_eq!(Some(sum), outcome["operations"].as_u64());
    let processors = document["runs"][0]["processors"].as_array().unwrap();
    assert!(!processors.is_empty());
}
