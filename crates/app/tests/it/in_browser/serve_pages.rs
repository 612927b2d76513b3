//! The pages of `serve` in a real browser.

use super::browser::Browser;
use crate::support::served::Served;
use crate::support::{Desk, PATIENCE};
use serde_json::json;
use std::time::{Duration, Instant};

const LABEL: &str = "<img src=x onerror=alert(1)>";

/// Waits until an expression of the page is true.
fn until(browser: &mut Browser, expression: &str) {
    let began = Instant::now();
    while !browser.is_true(expression) {
        if began.elapsed() > PATIENCE {
            let text = browser.value("(document.body || {}).innerText || ''");
            panic!("never {expression}: {text}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

pub fn sign_in(browser: &mut Browser, served: &Served) {
    browser.open_url(&served.url, 1_400, false);
    until(
        browser,
        "location.pathname === '/' && !!document.querySelector('h1')",
    );
    assert_eq!(
        browser.value("document.cookie"),
        "",
        "no script sees the cookie"
    );
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn every_page_works_wide_and_narrow_light_and_dark_and_asks_nobody_else() {
    let Some(mut browser) = Browser::start("serve_pages::every_page") else {
        return;
    };
    let desk = Desk::new();
    for _ in 0..2 {
        desk.run(&[
            "run",
            "sim:raid10-10k",
            "--outstanding",
            "1,8",
            "--duration",
            "100ms",
            "--label",
            LABEL,
            "--quiet",
        ])
        .done();
    }
    let ids = desk.ids();
    let served = Served::start(&desk, &[]);
    sign_in(&mut browser, &served);
    let compare = format!("/compare?id={}&id={}", ids[0], ids[1]);
    for (path, ready) in [
        (
            "/",
            "((document.body || {}).innerText || '').indexOf('Runs on simulated arrays can be started here') >= 0",
        ),
        (
            "/history",
            "document.querySelectorAll('tbody tr').length >= 1 && !!document.querySelector('svg.chart, h2 ~ p')",
        ),
        (
            compare.as_str(),
            "!!document.querySelector('table, .bad, section p')",
        ),
        (
            "/machine",
            "!!document.querySelector('main p + *, svg.chart, table') || !!document.querySelector('#status').textContent",
        ),
        ("/try", "document.querySelectorAll('svg.chart').length >= 3"),
    ] {
        for (width, dark) in [(1_400, false), (1_400, true), (390, false), (390, true)] {
            browser.open_url(&format!("http://{}{path}", served.address), width, dark);
            until(&mut browser, ready);
            let faults = browser.value(FAULTS);
            assert_eq!(faults, json!([]), "{path} at {width}");
            let serious = browser.serious_findings();
            assert_eq!(serious, json!([]), "{path} at {width}");
        }
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// Answers of benches have units of their own and no load; whatever is chosen for the
/// steps, and however long the labels are, the differences can be seen.
#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn two_benches_are_compared_with_the_units_of_their_answers_in_one_window() {
    let test = "two_benches_are_compared_with_the_units_of_their_answers_in_one_window";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    let mut ids = Vec::new();
    for target in ["sim:raid10-10k", "sim:sata-ssd"] {
        let label = format!("before the move of {target} to the cabinet that nobody remembers");
        let bench = ["bench", target, "--series", "random-read,sequential-read"];
        let more = ["--no-report", "--quiet", "--label", &label];
        let document = desk.json(&[&bench[..], &more].concat());
        ids.push(document.at("runs.0.series").text());
    }
    let served = Served::start(&desk, &[]);
    sign_in(&mut browser, &served);
    let address = format!(
        "http://{}/compare?id={}&id={}",
        served.address, ids[0], ids[1]
    );
    browser.open_url(&address, 1_400, false);
    until(
        &mut browser,
        "document.querySelectorAll('table').length >= 2",
    );
    let rows = "[...document.querySelector('table').querySelectorAll('tbody tr')].map(row => row.innerText)";
    let heads = "[...document.querySelector('table').querySelectorAll('th')].map(head => head.textContent).join()";
    let wide = "[...document.querySelectorAll('table')].some(one => one.getBoundingClientRect().right > innerWidth)";
    let found = browser.value(rows);
    let row = |at: usize| found[at].as_str().expect("words").to_owned();
    assert!(row(0).contains(" IOPS"), "{found}");
    assert!(row(1).contains(" MiB/s"), "{found}");
    let heads = browser.value(heads);
    assert!(
        !heads.as_str().expect("words").contains("In flight"),
        "{heads}"
    );
    assert_eq!(browser.value(wide), false, "wider than the window");
    browser.value(
        "(() => { const chosen = document.querySelector('select'); chosen.value = 'latency_p99'; \
         chosen.dispatchEvent(new Event('change')); })()",
    );
    until(
        &mut browser,
        "document.querySelectorAll('table').length === 1 && / [µm]?s\\t/.test(document.querySelector('tbody tr').innerText)",
    );
    assert_eq!(browser.value(wide), false, "wider than the window");
}

/// A disk beside flash: each bar can be seen, longer ones are of higher rates, and the page
/// says what they stand for.
#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn bars_can_be_seen_beside_one_giant_result_and_say_their_scale() {
    let test = "bars_can_be_seen_beside_one_giant_result_and_say_their_scale";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    // One load: rates of different ones have no bars beside each other.
    for target in ["sim:disk-7k2", "sim:raid10-10k", "sim:nvme"] {
        let run = ["run", target, "--outstanding", "8"];
        desk.run(&[&run[..], &["--duration", "100ms", "--quiet"]].concat())
            .done();
    }
    let served = Served::start(&desk, &[]);
    sign_in(&mut browser, &served);
    browser.open_url(&format!("http://{}/history", served.address), 1_400, false);
    until(
        &mut browser,
        "document.querySelectorAll('td rect').length === 3",
    );
    let found = browser.value(
        "[...document.querySelectorAll('tbody tr')].map(row => [row.querySelector('rect').width.baseVal.value, \
         row.querySelector('svg').parentNode.textContent])",
    );
    let mut bars: Vec<(f64, f64)> = found
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            let rate = row[1].as_str().expect("a rate").replace(',', "");
            (
                rate.parse().expect("a rate"),
                row[0].as_f64().expect("a width"),
            )
        })
        .collect();
    bars.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(bars[2].0 > 50.0 * bars[0].0, "the rates lie apart: {found}");
    assert!(bars[0].1 > 5.0 && bars[2].1 > 99.0, "{found}");
    assert!(bars.is_sorted_by(|a, b| a.1 < b.1), "{found}");
    let message = "document.body.innerText.indexOf('Bars are logarithmic, from ') >= 0";
    assert!(browser.is_true(message));
    // A gain of thousands of per cent is cut, with a gap; one of less is whole.
    let ids = desk.ids();
    let address = format!(
        "http://{}/compare?id={}&id={}",
        served.address, ids[1], ids[0]
    );
    browser.open_url(&address, 1_400, false);
    until(
        &mut browser,
        "document.querySelectorAll('td rect').length >= 1",
    );
    assert_eq!(
        browser.value("document.querySelectorAll('td rect').length"),
        2
    );
}

/// What is wrong with a page, in words.
const FAULTS: &str = r"(function () {
  var faults = [];
  if (document.documentElement.scrollWidth > innerWidth + 1) faults.push('wider than the window');
  // On a phone each value stands behind its name; a wide window shows all columns of the history.
  document.querySelectorAll('.scroll').forEach(function (e) {
    if ((innerWidth < 600 || e.getAttribute('aria-label') === 'Runs and benches') && e.scrollWidth > e.clientWidth + 1) faults.push('cut: ' + e.getAttribute('aria-label'));
  });
  if (document.querySelectorAll('h1').length !== 1) faults.push('not one h1');
  if (document.querySelector('img, script:not([src]), [style], [onclick]')) faults.push('something inline');
  if (document.title.indexOf('Stripewise') < 0) faults.push('no title');
  document.querySelectorAll('input, select').forEach(function (e) {
    if (!e.labels.length && !e.getAttribute('aria-label')) faults.push('no label: ' + e.outerHTML);
  });
  document.querySelectorAll('button, a').forEach(function (e) { if (!e.textContent.trim()) faults.push('no name: ' + e.outerHTML); });
  document.querySelectorAll('svg').forEach(function (e) {
    if (e.getAttribute('role') !== 'img' && e.getAttribute('aria-hidden') !== 'true') faults.push('a drawing without words');
  });
  performance.getEntriesByType('resource').forEach(function (e) {
    if (e.name.indexOf(location.origin + '/') !== 0) faults.push('asked ' + e.name);
  });
  return faults;
})()";

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn a_run_is_started_and_watched_with_the_keyboard_alone_and_the_history_has_its_numbers() {
    let Some(mut browser) = Browser::start("serve_pages::a_run_is_started") else {
        return;
    };
    let desk = Desk::new();
    let served = Served::start(&desk, &[]);
    sign_in(&mut browser, &served);
    until(
        &mut browser,
        "!!document.querySelector('form select option[value=\"sim:nvme\"]')",
    );
    // Tab goes through everything in its order, and what has it is seen.
    let mut order = Vec::new();
    for _ in 0..14 {
        for kind in ["keyDown", "keyUp"] {
            let tab =
                json!({"type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9});
            browser.ask("Input.dispatchKeyEvent", tab);
        }
        let name = browser.value(
            "(function (e) { return e.tagName + ' ' + (e.labels && e.labels.length ? e.labels[0].firstChild.textContent : e.textContent).trim().slice(0, 20) + ' ' + getComputedStyle(e).outlineStyle; })(document.activeElement)",
        );
        order.push(name.as_str().unwrap_or_default().to_owned());
        if order
            .last()
            .is_some_and(|name| name.starts_with("BUTTON Start"))
        {
            break;
        }
    }
    assert!(
        order.iter().any(|name| name.starts_with("A History")),
        "{order:?}"
    );
    assert!(
        order.last().unwrap().starts_with("BUTTON Start solid"),
        "{order:?}"
    );
    browser.value("document.querySelectorAll('form select')[0].value = 'run'; document.querySelectorAll('form select')[1].value = 'sim:nvme'; document.querySelectorAll('form input')[1].value = 'by hand'; 0");
    for kind in ["keyDown", "keyUp"] {
        let enter = json!({"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"});
        browser.ask("Input.dispatchKeyEvent", enter);
    }
    until(
        &mut browser,
        "(document.querySelector('#started') || {}).textContent.indexOf('has ended') >= 0",
    );
    browser.open_url(&format!("http://{}/history", served.address), 1_400, false);
    until(
        &mut browser,
        "document.querySelectorAll('tbody tr').length === 1",
    );
    let row = browser.value("document.querySelector('tbody tr').innerText");
    let record = desk.json(&["history", "show", "last"]);
    let iops = record.all("iops")[0].json().parse::<f64>().unwrap();
    let shown = stripewise_units::format_count(iops.round() as u64);
    let row = row.as_str().unwrap();
    assert!(
        row.contains(&shown) && row.contains("by hand"),
        "{shown}: {row}"
    );
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// A page of another origin in the same browser, which is signed in.
#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn another_page_in_the_same_browser_gets_nothing() {
    let Some(mut browser) = Browser::start("serve_pages::another_page") else {
        return;
    };
    let desk = Desk::new();
    desk.run(&["run", "sim:nvme", "--duration", "1ms", "--quiet"])
        .done();
    let served = Served::start(&desk, &[]);
    sign_in(&mut browser, &served);
    let page = desk.write("evil.html", "<!doctype html><title>x</title><p>x");
    browser.open(page.as_ref(), 800, false);
    for (path, how) in [
        ("/api/now", "{credentials: 'include'}"),
        ("/api/now", "{credentials: 'include', mode: 'no-cors'}"),
        (
            "/api/stop",
            "{method: 'POST', credentials: 'include', mode: 'no-cors', body: '{}'}",
        ),
    ] {
        let got = browser.value(&format!(
            "fetch('http://{}{path}', {how}).then(function (a) {{ return a.text(); }}).catch(function () {{ return ''; }})",
            served.address
        ));
        assert_eq!(got, "", "{path} {how}");
    }
    let framed = browser.value(&format!(
        "new Promise(function (done) {{ var f = document.createElement('iframe'); f.onload = function () {{ var text; try {{ text = f.contentDocument && f.contentDocument.body.innerText; }} catch (e) {{ text = 'closed'; }} done(text || 'closed'); }}; f.src = 'http://{}/history'; document.body.appendChild(f); }})",
        served.address
    ));
    assert_eq!(framed, "closed");
}

/// What `disks` says of a made-up machine, in a line, for the page in place of this one.
fn made_up(desk: &Desk, name: &str) -> String {
    let root = crate::disks::machine(desk, name);
    let root = root.to_str().expect("UTF-8");
    let message = desk.run(&["disks", "--sysroot", root, "--json"]);
    let document: serde_json::Value = serde_json::from_str(&message.stdout).expect("JSON");
    document.to_string()
}

/// Stripe units as the page draws them around the start of a volume: on which disk, with
/// what; and every word of the picture.
const LAYOUTS: &str = r"Array.prototype.map.call(document.querySelectorAll('figure.layout'), function (f) {
  return { name: f.querySelector('figcaption').textContent,
    units: Array.prototype.map.call(f.querySelectorAll('rect.pale title'), function (t) { return t.textContent; }),
    words: Array.prototype.map.call(f.querySelectorAll('svg text'), function (t) { return t.textContent; }),
    start: Number(f.querySelector('line.start').getAttribute('x1')), unit: Number(f.querySelector('rect.pale').getAttribute('width')) };
})";

/// Where the array's own arithmetic puts stripe units is what the verdicts are made of:
/// the drawing must not say anything else.
#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn arrays_are_drawn_with_the_disks_of_their_stripes_and_where_partitions_start() {
    let test = "arrays_are_drawn_with_the_disks_of_their_stripes_and_where_partitions_start";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    let served = Served::start(&desk, &[]);
    sign_in(&mut browser, &served);
    // Near copies; left-symmetric parity: its disk moves on with each stripe.
    let raid10 = ["sda1, copy sdb1", "sdc1, copy sdd1"].repeat(4);
    let raid5 = [
        "sda1, parity sdd1",
        "sdb1, parity sdd1",
        "sdc1, parity sdd1",
        "sdd1, parity sdc1",
        "sda1, parity sdc1",
        "sdb1, parity sdc1",
        "sdc1, parity sdb1",
        "sdd1, parity sdb1",
    ];
    for (name, units) in [("md-raid10", &raid10[..]), ("md-raid5", &raid5[..])] {
        let document = made_up(&desk, name);
        let instead = format!(
            "(function () {{ var real = window.fetch, disks = {};
               window.fetch = function (path, how) {{ return path === '/api/disks' ? Promise.resolve(new Response(JSON.stringify(disks))) : real(path, how); }}; }})();",
            document
        );
        let added = browser.ask(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": instead}),
        );
        for (width, dark) in [(390, false), (390, true), (1_400, true), (1_400, false)] {
            let page = format!("http://{}/machine", served.address);
            browser.open_url(&page, width, dark);
            until(&mut browser, "!!document.querySelector('figure.layout')");
            assert_eq!(browser.value(FAULTS), json!([]), "{name} at {width}");
            assert_eq!(browser.serious_findings(), json!([]), "{name} at {width}");
        }
        let drawn = browser.value(LAYOUTS);
        let first = &drawn[0];
        assert_eq!(
            first["name"],
            "md0p1 on md0: starts 32,256 bytes into a stripe unit of 64K"
        );
        assert_eq!(first["units"], json!(units), "{name}");
        let part =
            first["start"].as_f64().expect("a number") / first["unit"].as_f64().expect("a number");
        assert!((part - 32_256.0 / 65_536.0).abs() < 0.01, "{name}: {part}");
        let words = first["words"].to_string();
        for word in [
            "md0p1 starts at byte 32,256",
            "Blocks of 8K: ",
            "Blocks of 64K: ",
        ] {
            assert!(words.contains(word), "{word}: {words}");
        }
        agree_with_the_places(name, &document, &drawn);
        let legends = browser.value("document.body.innerText");
        assert!(
            legends
                .to_string()
                .contains("md0p1 from byte 32,256 on, 8 GiB"),
            "{legends}"
        );
        browser.ask(
            "Page.removeScriptToEvaluateOnNewDocument",
            json!({"identifier": added["identifier"]}),
        );
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// The disk on which a volume begins earliest is that of its first stripe unit, by the
/// arithmetic that the verdicts are made of.
fn agree_with_the_places(name: &str, document: &str, drawn: &serde_json::Value) {
    let document: serde_json::Value = serde_json::from_str(document).expect("JSON");
    let volumes = document["volumes"].as_array().expect("volumes");
    let drawn = drawn.as_array().expect("drawings");
    assert_eq!(volumes.len(), drawn.len(), "{name}");
    for (volume, drawn) in volumes.iter().zip(drawn) {
        let places = volume["places"].as_array().expect("places");
        let start = |place: &serde_json::Value| place["offset_bytes"].as_u64().expect("bytes");
        let into = volume["offset_bytes"].as_u64().expect("bytes") % 65_536;
        // In whole units: the first disk begins inside of one.
        let units = places
            .iter()
            .map(|place| start(place) - start(place) % 65_536);
        let unit = drawn["units"][0].as_str().expect("a unit");
        let disk = unit.split("1,").next().expect("a disk");
        let of_disk = places.iter().find(|place| place["disk"] == disk);
        let of_disk = start(of_disk.expect("its place"));
        assert_eq!(
            Some(of_disk - of_disk % 65_536),
            units.min(),
            "{name}: {unit}"
        );
        assert_eq!(of_disk % 65_536, into, "{name}: {unit}");
    }
}
