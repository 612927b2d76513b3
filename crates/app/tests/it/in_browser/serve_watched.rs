//! A bench of a real file, watched in a real browser from its start to its end: what the
//! page said on the way are the numbers of the records.

use super::browser::Browser;
use super::serve_pages::sign_in;
use crate::support::served::Served;
use crate::support::{Desk, users_file, wait_until};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What the page says now: of the run that goes on its id, rate and p99, and the points
/// of the ladder so far; whether it says that nothing runs.
const LOOK: &str = r"(function () {
  var run = document.querySelector('section.run'), said = { nothing: !!document.querySelector('h1') && !document.querySelector('section.run'), ladder: [] };
  if (!run) return said;
  said.title = run.querySelector('h2').textContent;
  said.id = (/\d{8}-\d{6}-\w{4}/.exec(run.querySelector('p').textContent) || [''])[0];
  Array.prototype.forEach.call(run.querySelectorAll('.tiles li'), function (tile) { said[tile.querySelector('span').textContent] = tile.querySelector('b').textContent; });
  Array.prototype.forEach.call(run.querySelectorAll('figure'), function (figure) {
    if (figure.querySelector('figcaption').textContent === 'The ladder so far: IOPS')
      said.ladder = Array.prototype.map.call(figure.querySelectorAll('circle title'), function (title) { return title.textContent; });
  });
  return said;
})()";

/// IOPS as the page writes them.
fn rate(iops: f64) -> String {
    match iops < 99.95 {
        true => format!("{iops:.1}"),
        false => stripewise_units::format_count(iops.round() as u64),
    }
}

/// A time below a minute as the page writes it.
fn time(ns: f64) -> String {
    // JavaScript rounds halves up.
    let up = |n: f64, ten: f64| (n * ten + 0.5).floor() / ten;
    let three = |n: f64| match n {
        n if n >= 99.95 => format!("{:.0}", up(n, 1.0)),
        n if n >= 9.995 => format!("{:.1}", up(n, 10.0)),
        n => format!("{:.2}", up(n, 100.0)),
    };
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 999.5e3 => format!("{} \u{b5}s", three(ns / 1e3)),
        ns if ns < 999.5e6 => format!("{} ms", three(ns / 1e6)),
        ns => format!("{} s", three(ns / 1e9)),
    }
}

/// Rates and p99 of all intervals of a record, as the page writes them. One in which nothing
/// completed, as on a starved machine, has no p99.
fn shown_text(run: &Value) -> BTreeSet<(String, String)> {
    let intervals = run["jobs"][0]["outcome"]["intervals"].as_array();
    let each = intervals.into_iter().flatten().filter_map(|interval| {
        let number = |name: &str| interval[name].as_f64();
        let iops = number("read_operations")? / (number("duration_ns")? / 1e9);
        Some((rate(iops), time(number("latency_ns_p99")?)))
    });
    each.collect()
}

/// A finished run as a point of the ladder.
fn step(run: &Value) -> String {
    let job = &run["jobs"][0];
    let number = |name: &str| job["workload"][name].as_u64().expect("a number");
    let iops = job["outcome"]["iops"].as_f64().expect("a rate");
    format!(
        "{}, {}",
        number("threads") * number("outstanding"),
        rate(iops)
    )
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn a_bench_is_watched_to_its_end_and_the_page_said_what_the_records_say() {
    let Some(mut browser) = Browser::start("serve_watched::a_bench_is_watched") else {
        return;
    };
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 64 << 20);
    let served = Served::start(&desk, &[]);
    sign_in(&mut browser, &served);
    let switches = "--series random-read --read-only --step 3s --time 30s --busy-ok --no-report --label watched --quiet";
    let arguments: Vec<&str> = ["bench", &file]
        .into_iter()
        .chain(switches.split(' '))
        .collect();
    let running = desk.start(&arguments);
    let mut seen: Vec<Value> = Vec::new();
    // The page says so a moment after the program has ended.
    wait_until("watched to its end", || {
        let message = browser.value(LOOK);
        if message["id"].is_string() {
            seen.push(message);
            return false;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        !seen.is_empty() && message["nothing"] == true
    });
    let answer = running.wait();
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    // What is printed would fill the pipe before anybody reads it: the records are asked for.
    let series = served.json("/api/runs")["series"].clone();
    let series = series.as_str().expect("a series").to_owned();
    let records = served.get(&format!("/api/records?id={series}")).body;
    let each = records
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let runs: Vec<Value> = each.collect();
    assert!(
        seen[0]["title"]
            .as_str()
            .is_some_and(|title| title.starts_with("watched: "))
    );
    let mut compared = BTreeSet::new();
    for message in &seen {
        let id = message["id"].as_str().expect("an id");
        let (Some(iops), Some(p99)) = (message["IOPS"].as_str(), message["p99 read"].as_str())
        else {
            continue;
        };
        let run = runs.iter().find(|run| run["id"] == id).expect("its record");
        let pair = (iops.to_owned(), p99.to_owned());
        assert!(
            shown_text(run).contains(&pair),
            "{id}: {pair:?} of {:?}",
            shown_text(run)
        );
        compared.insert((id.to_owned(), pair));
    }
    assert!(compared.len() >= 3, "{compared:?}");
    // The ladder grew, and each of its points is a run.
    let steps: Vec<String> = runs.iter().map(step).collect();
    let ladders: Vec<&Vec<Value>> = seen
        .iter()
        .filter_map(|message| message["ladder"].as_array())
        .collect();
    let lengths: BTreeSet<usize> = ladders.iter().map(|ladder| ladder.len()).collect();
    assert!(lengths.len() >= 3, "it grew: {lengths:?}");
    for point in ladders.iter().copied().flatten() {
        let point = point.as_str().expect("text");
        assert!(steps.iter().any(|step| step == point), "{point}: {steps:?}");
    }
    the_history_has_the_rates(&mut browser, &served, &runs);
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// The row of the bench has the rate of its records at each load that can be chosen: the
/// median where a load was measured more than once.
fn the_history_has_the_rates(browser: &mut Browser, served: &Served, runs: &[Value]) {
    let mut rates: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for run in runs {
        let job = &run["jobs"][0];
        let number = |name: &str| job["workload"][name].as_u64().expect("a number");
        let in_flight = number("threads") * number("outstanding");
        let of_load = rates.entry(in_flight).or_default();
        of_load.extend(job["outcome"]["iops"].as_f64());
    }
    browser.open_url(&format!("http://{}/history", served.address), 1_400, false);
    for (in_flight, mut of_load) in rates {
        of_load.sort_by(f64::total_cmp);
        let (low, high) = (of_load[(of_load.len() - 1) / 2], of_load[of_load.len() / 2]);
        let expected = rate((low + high) / 2.0);
        let load = format!(", {} in flight ", stripewise_units::format_count(in_flight));
        let choose = format!(
            r"(function () {{
  var pick = Array.prototype.find.call(document.querySelectorAll('select'), function (select) {{ return select.textContent.indexOf(' in flight ') >= 0; }});
  var load = pick && Array.prototype.find.call(pick.options, function (option) {{ return option.text.indexOf('{load}') >= 0; }});
  if (!load) return '';
  if (pick.value !== load.value) {{ pick.value = load.value; pick.dispatchEvent(new Event('change')); }}
  return document.querySelector('tbody tr').innerText;
}})()"
        );
        let began = std::time::Instant::now();
        while !browser.is_true(&format!("{choose}.indexOf('{expected}') >= 0")) {
            let text = browser.value(&choose);
            assert!(
                began.elapsed() < crate::support::PATIENCE,
                "{load}: {expected}: {text}"
            );
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}
