//! `/api/...` of `serve` against its published schema, line by line.

use super::report::schema;
use super::support::served::{Reply, Served};
use super::support::{Desk, wait_until};

/// A result of SQLIO.
const SQLIO: &str = include_str!("../../../compat/tests/data/sqlio-plain.txt");
const SCHEMA: &str = include_str!("../../../../docs/schema/api-1.schema.json");

/// Every line of an answer is what the schema says of this address; how many there are.
#[track_caller]
pub fn holds_to(name: &str, reply: &Reply) -> usize {
    let one = schema::definition(SCHEMA, name);
    let one = one.unwrap_or_else(|| panic!("the schema says nothing of {name}"));
    for line in reply.body.lines() {
        let faults = schema::faults_of(line, &one);
        assert_eq!(faults, Vec::<String>::new(), "{name}: {line:.2000}");
    }
    reply.body.lines().count()
}

#[test]
fn every_address_answers_as_its_schema_says() {
    let desk = Desk::new();
    for label in ["one", "two"] {
        let run = ["run", "sim:raid10-10k", "--outstanding", "1,8"];
        let more = ["--duration", "100ms", "--label", label, "--quiet"];
        desk.run(&[&run[..], &more].concat()).done();
    }
    desk.run(&["profile", "sim:raid10-10k", "--quiet"]).done();
    // It says less than a run of ours.
    let sqlio = desk.write("old.txt", SQLIO);
    desk.run(&["import", &sqlio]).done();
    let ids = desk.ids();
    let served = Served::start(&desk, &[]);
    let id = |place: usize| ids[place].as_str();
    let (records, imported) = (
        format!("/api/records?id={}", id(1)),
        format!("/api/records?id={}", id(0)),
    );
    let compare = format!("/api/compare?a={}&b={}", id(1), id(3));
    for (path, name, least) in [
        ("/api/now", "now", 1),
        ("/api/runs", "runs", 5),
        ("/api/measurements", "measurements", 1),
        (records.as_str(), "records", 1),
        (imported.as_str(), "records", 1),
        ("/api/trends", "trends", 1),
        (compare.as_str(), "compare", 1),
        ("/api/disks", "disks", 1),
        ("/api/arrays", "arrays", 5),
        ("/api/try?array=raid10-10k&offset=63s", "try", 1),
        ("/api/started", "started", 1),
    ] {
        let reply = served.get(path);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        assert!(holds_to(name, &reply) >= least, "{path}: {reply:?}");
    }
    // A profile has a page, as a run has.
    let measured = served.json("/api/measurements");
    let page = served.get(&format!("/run/{}", measured["id"].as_str().unwrap()));
    assert!(page.status == 200 && page.body.contains("sim:raid10-10k"));
    assert!(served.json("/api/trends")["trends"][0]["points"][1].is_object());
    holds_to("login", &served.post("/api/login", "{}"));
    holds_to("done", &served.post("/api/stop", "{}"));
}

/// Grids and experiments are runs of many loads: a trend has the same load again only.
#[test]
fn a_trend_is_of_one_load_and_of_a_mix_the_slower_latency() {
    let desk = Desk::new();
    let grid = |reads: &str| {
        let run = [
            "run",
            "sim:nvme",
            "--outstanding",
            "1,8",
            "--read-percent",
            reads,
        ];
        desk.run(&[&run[..], &["--duration", "100ms", "--quiet"]].concat())
            .done();
    };
    grid("100");
    grid("70");
    let served = Served::start(&desk, &[]);
    let trends = served.json("/api/trends");
    assert_eq!(
        trends["trends"].as_array().map(Vec::len),
        Some(0),
        "{trends}"
    );
    grid("70");
    let trends = served.json("/api/trends");
    let found = trends["trends"].as_array().expect("trends");
    assert_eq!(found.len(), 2, "{trends}");
    for trend in found {
        let load = trend["load"].as_str().expect("a load");
        assert!(load.starts_with("random 70 % read, 8K, 1 x "), "{load}");
    }
    let id = found[0]["points"][0]["id"].as_str().expect("an id");
    let at = found[0]["load"]
        .as_str()
        .map(|load| load.rsplit(' ').next() == Some("1"));
    let outstanding = if at == Some(true) { 1 } else { 8 };
    let records = served.get(&format!("/api/records?id={id}")).body;
    let run = records
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
        .find(|run| run["jobs"][0]["workload"]["outstanding"] == outstanding)
        .expect("its run");
    let p99 = |kind: &str| run["jobs"][0]["outcome"][kind]["latency_ns"]["p99"].as_u64();
    let shown = found[0]["points"][0]["latency_ns_p99"].as_u64();
    assert_eq!(shown, p99("read").max(p99("write")));
}

/// What is asked for otherwise is another load, and is called so.
#[test]
fn a_trend_is_not_continued_by_a_run_of_another_size_distribution_or_sync() {
    let desk = Desk::new();
    let requested: [(&[&str], &str); 6] = [
        (&[], ""),
        (&["--size", "1G"], ", 1G of it"),
        (&["--distribution", "zipf:0.99"], ", zipf:0.99"),
        (&["--base-offset", "63s"], ", @31.5K"),
        (&["--think-time", "1ms"], ", think 1ms"),
        (&["--rate", "1000", "--outstanding", "1"], ", 1000 a second"),
    ];
    let run = |more: &[&str]| {
        let load = ["run", "sim:nvme", "--duration", "50ms", "--quiet"];
        desk.run(&[&load[..], more].concat()).done();
    };
    for (more, _) in requested {
        run(more);
        // Another seed and another length are no other load.
        run(&[more, &["--seed", "7", "--ramp", "10ms"]].concat());
    }
    let served = Served::start(&desk, &[]);
    let answer = served.json("/api/trends");
    let found = answer["trends"].as_array().expect("trends");
    let mut loads: Vec<&str> = found
        .iter()
        .map(|trend| trend["load"].as_str().expect("words"))
        .collect();
    loads.sort_unstable();
    let mut expected = requested.map(|(_, words)| format!("random read, 8K, 1 x 1{words}"));
    expected.sort_unstable();
    assert_eq!(loads, expected);
    for trend in found {
        assert_eq!(trend["points"].as_array().map(Vec::len), Some(2), "{trend}");
    }
}

#[test]
fn refusals_are_lines_that_the_schema_has_and_so_is_what_is_wished() {
    let desk = Desk::new();
    let served = Served::start(&desk, &[]);
    let bearer = format!("Authorization: Bearer {}", served.bearer);
    let foreign = served.ask("GET", "/api/now", &[&bearer, "Origin: http://x"], "");
    for (reply, status) in [
        (served.ask("GET", "/api/now", &[], ""), 401),
        (foreign, 403),
        (served.get("/api/nonesuch"), 404),
        (served.get("/api/records?id=--help"), 400),
        (served.get("/api/records?id=20261122-000000-aaaa"), 404),
        (served.get("/api/try?array=x"), 400),
        (served.get("/api/try?array=nvme&offst=1M"), 400),
        (served.get("/api/runs?limt=5"), 400),
        (served.post("/api/runs", "{}"), 400),
        (
            served.post("/api/runs", r#"{"what":"lab","target":"sim:nvme"}"#),
            409,
        ),
    ] {
        assert_eq!(reply.status, status, "{reply:?}");
        assert_eq!(holds_to("error", &reply), 1, "{reply:?}");
    }
    let options = r#"{"what":"run","target":"sim:nvme","label":"x","duration":"10ms"}"#;
    let one = schema::definition(SCHEMA, "wish").expect("a definition");
    assert_eq!(schema::faults_of(options, &one), Vec::<String>::new());
    holds_to("done", &served.post("/api/runs", options));
    wait_until("ended", || {
        served.json("/api/started")["last"]["has_ended"] == true
    });
    assert_eq!(holds_to("started", &served.get("/api/started")), 1);
}
