//! The HTML report in a real browser: nothing to complain about on the console,
//! charts drawn, values under the mouse those of the records, tables equal to
//! charts; light and dark, on a phone and in print.

use super::browser::Browser;
use crate::support::{Desk, TWO_JOBS, text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The label of all runs here: it must stay text.
const LABEL: &str = "<script>alert(1)</script>";

/// A page with the charts that it must have.
type Page = (PathBuf, &'static [&'static str]);

/// A report on what is stored or published.
fn report(desk: &Desk, name: &str, subjects: &[&str]) -> PathBuf {
    let path = desk.path().join(name);
    let mut all = vec!["report", "-o", text(&path)];
    all.extend(subjects);
    desk.run(&all).done();
    path
}

/// Measures with the label that must stay text; the id of the series.
fn measured(desk: &Desk, arguments: &[&str]) -> String {
    let mut all = arguments.to_vec();
    all.extend(["--label", LABEL, "--quiet"]);
    let document = desk.json(&all);
    document.at("runs.0.series").text()
}

/// Ladders, one run over time, a grid, jobs alone and together.
fn pages_of_runs(desk: &Desk) -> Vec<Page> {
    let bench = |target: &str, more: &[&str]| {
        let mut all = vec!["bench", target, "--series", "random-read,log"];
        all.extend(more);
        measured(desk, &all)
    };
    let one = bench("sim:raid10-10k", &["--report", &desk.file("bench.html")]);
    let other = bench("sim:sata-ssd", &["--no-report"]);
    let single = [
        "run",
        "sim:raid10-10k",
        "--outstanding",
        "16",
        "--duration",
        "40s",
    ];
    desk.run(&[&single[..], &["--label", LABEL, "--quiet"]].concat())
        .done();
    let single = report(desk, "single.html", &["last"]);
    let grid = [
        "run",
        "sim:raid10-10k",
        "--threads",
        "1,2",
        "--outstanding",
        "1,4",
    ];
    let grid = measured(desk, &[&grid[..], &["--duration", "5s"]].concat());
    let plan = desk.write("jobs.toml", TWO_JOBS);
    let jobs = measured(desk, &["run", "--plan", &plan, "--alone"]);
    vec![
        (
            PathBuf::from(desk.file("bench.html")),
            &[
                "random-read-load",
                "latency-against-iops",
                "timeline",
                "percentiles",
                "latency-distribution",
            ],
        ),
        (
            report(desk, "two.html", &[&one, &other]),
            &["random-read-load", "latency-against-iops", "percentiles"],
        ),
        (
            single,
            &[
                "percentiles",
                "latency-distribution",
                "random-read-time",
                "random-read-latency-over-time",
            ],
        ),
        (
            report(desk, "grid.html", &[&grid]),
            &["random-read-grid", "against-load"],
        ),
        (report(desk, "jobs.html", &[&jobs]), &["jobs"]),
    ]
}

/// The same load three times, as over months: what is chosen of all that is stored.
fn pages_of_history(desk: &Desk) -> Vec<Page> {
    for target in [
        "sim:disk-15k",
        "sim:sata-ssd",
        "sim:sata-ssd",
        "sim:sata-ssd",
    ] {
        let load = ["run", target, "--duration", "1s", "--outstanding", "4"];
        desk.run(&[&load[..], &["--label", LABEL, "--quiet"]].concat())
            .done();
        // A date tells seconds.
        std::thread::sleep(std::time::Duration::from_millis(1_100));
    }
    let page = report(desk, "history.html", &["--all", "--target", "sata"]);
    let held = std::fs::read_to_string(&page).expect("a page");
    assert!(!held.contains("disk-15k"));
    let picture = desk.file("trend.png");
    let drawn = ["report", "--all", "--target", "sata", "-o", &picture];
    desk.run(&[&drawn[..], &["--chart", "trend"]].concat())
        .done();
    assert!(std::fs::metadata(&picture).expect("drawn").len() > 10_000);
    vec![(page, &["trend"])]
}

/// An experiment, runs against runs, a baseline, a published table.
fn pages_of_comparisons(desk: &Desk) -> Vec<Page> {
    let written = |name: &str, arguments: &[&str]| {
        let path = desk.path().join(name);
        let answer = desk.run(&[arguments, &["--quiet", "--report", text(&path)]].concat());
        assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
        path
    };
    let repeated = |target: &str| {
        let all = ["run", target, "--outstanding", "16", "--duration", "2s"];
        measured(desk, &[&all[..], &["--repeat", "6"]].concat())
    };
    let align = [
        "align",
        "sim:raid10-10k",
        "--offsets",
        "1M,63s,64K",
        "--read",
    ];
    let align = written(
        "align.html",
        &[&align[..], &["--threads", "8,2", "--blocks", "10"]].concat(),
    );
    let (before, after) = (
        repeated("sim:raid10-10k?offset=63s"),
        repeated("sim:raid10-10k?offset=64K"),
    );
    let compare = written("compare.html", &["compare", &before, &after]);
    desk.run(&["baseline", "set", &before]).done();
    let check = written(
        "check.html",
        &["check", "--require", "iops>=1", "--require", "p99<1us"],
    );
    vec![
        (
            align,
            &[
                "forest-iops",
                "difference-iops",
                "random-read-levels",
                "baseline-drift",
            ],
        ),
        (compare, &["difference-iops"]),
        (check, &["difference-iops"]),
        (
            report(desk, "dataset.html", &["dataset:oja-nisula-2007-offset"]),
            &[
                "forest-iops",
                "difference-iops",
                "random-read-levels",
                "sequential-write-levels",
            ],
        ),
    ]
}

/// What differs between the chart's data, what ECharts holds and the table; names
/// of figures that are missing or empty.
const FAULTS: &str = "(() => {
  const faults = [], data = JSON.parse(document.getElementById('chart-data').textContent);
  for (const chart of data.charts) {
    const figure = document.getElementById('figure-' + chart.name), plot = figure.querySelector('.plot');
    const drawn = echarts.getInstanceByDom(plot);
    if (!drawn) { faults.push(chart.name + ' is not drawn'); continue; }
    const canvas = plot.querySelector('canvas');
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let inked = 0;
    for (let i = 3; i < pixels.length; i += 4) if (pixels[i] > 0) inked++;
    if (inked < 2000) faults.push(chart.name + ' is blank: ' + inked);
    let points = 0;
    chart.panels.forEach((panel, p) => panel.series.forEach((series, s) => {
      points += series.points.length;
      const held = drawn.getOption().series.find(one => one.id === 'v' + p + '-' + s);
      if (!held || held.data.length !== series.points.length) { faults.push(chart.name + ': ' + series.name); return; }
      series.points.forEach((point, k) => {
        const cell = series.form.cells && !point.span ? 0.5 : 0;
        if (held.data[k][0] !== point.x - cell || held.data[k][1] !== point.y - cell) faults.push(chart.name + ': point ' + k);
      });
    }));
    const cells = [...figure.querySelectorAll('tbody td:not(:first-child)')].filter(cell => cell.textContent !== '').length;
    if (cells !== points) faults.push(chart.name + ': ' + cells + ' cells and ' + points + ' points');
    if (!plot.getAttribute('aria-label') || !figure.querySelector('.picture svg')) faults.push(chart.name + ' lacks words or picture');
  }
  return faults;
})()";

/// Places of a chart to point at, each with what its table says there: the first,
/// middle and last point of each series; of a bar its middle, of a heat map the
/// cells that are large enough. Points that lie on those of another series are left
/// out, as either may be meant.
const PLACES: &str = "((name) => {
  const data = JSON.parse(document.getElementById('chart-data').textContent);
  const chart = data.charts.find(one => one.name === name), figure = document.getElementById('figure-' + name);
  const plot = figure.querySelector('.plot'), drawn = echarts.getInstanceByDom(plot);
  plot.scrollIntoView({block: 'center'});
  const box = plot.getBoundingClientRect(), rows = figure.querySelectorAll('tbody tr');
  const sorted = all => [...new Set(all)].sort((a, b) => a - b);
  const points = chart.panels.flatMap(panel => panel.series.flatMap(series => series.points));
  const xs = sorted(points.map(point => point.x)), ys = sorted(points.map(point => point.y));
  const turns = x => Math.max(...chart.panels.flatMap(panel => panel.series.map(series => series.points.filter(point => point.x === x).length)));
  const rowOf = (series, point) => xs.filter(x => x < point.x).reduce((sum, x) => sum + turns(x), 0)
    + series.points.filter(one => one.x === point.x).indexOf(point);
  const pixel = (panel, x, y) => drawn.convertToPixel({xAxisIndex: panel, yAxisIndex: panel}, [x, y]);
  const found = [];
  let column = 0;
  chart.panels.forEach((panel, p) => panel.series.forEach((series, s) => {
    column++;
    const of = series.points, picked = sorted([0, of.length >> 1, of.length - 1]).filter(k => k >= 0);
    for (const k of picked) {
      const point = of[k], form = series.form;
      let at, cell;
      if (form.cells) {
        const end = point.span || [point.x + 0.5, point.y + 0.5], start = point.span ? [point.x, point.y] : [point.x - 0.5, point.y - 0.5];
        const a = pixel(p, ...start), b = pixel(p, ...end);
        if (Math.abs(a[0] - b[0]) < 4 || Math.abs(a[1] - b[1]) < 4) continue;
        at = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
        cell = rows[xs.indexOf(point.x)].children[1 + ys.indexOf(point.y)];
      } else if (form.bars) {
        const left = point.x - 0.38 + 0.76 / form.bars.slots * (form.bars.slot + 0.5);
        const top = pixel(p, left, point.y), foot = pixel(p, left, 0);
        if (Math.abs(top[1] - foot[1]) < 4) continue;
        at = [top[0], (top[1] + foot[1]) / 2];
        cell = rows[rowOf(series, point)].children[column];
      } else {
        at = pixel(p, point.x, point.y);
        const near = panel.series.some((other, o) => o !== s && other.points.some(one => {
          const there = pixel(p, one.x, one.y);
          return Math.hypot(there[0] - at[0], there[1] - at[1]) < 10;
        }));
        if (near) continue;
        cell = form === 'intervals' ? rows[ys.length - 1 - ys.indexOf(point.y)].children[column] : rows[rowOf(series, point)].children[column];
      }
      found.push([box.left + at[0], box.top + at[1], cell.textContent.split(/ [([]/)[0]]);
    }
  }));
  return found;
})";

/// Points at places of every chart; what is shown there is in the chart's table at
/// the same x, y and series. How many places there were.
fn point_at_values(browser: &mut Browser, page: &str) -> usize {
    let mut count = 0;
    for name in figures(browser) {
        let places = browser.value(&format!("{PLACES}('{name}')"));
        for place in places.as_array().expect("places") {
            let pixel = |index: usize| place[index].as_f64().expect("a place");
            let wanted = place[2].as_str().expect("a cell");
            assert!(!wanted.is_empty(), "{page}, {name}: an empty cell");
            browser.point_at(pixel(0), pixel(1));
            let shown = browser.value(&format!(
                "new Promise(done => {{ const look = left => {{ \
                   const tip = document.querySelector('#figure-{name} .tip'); \
                   const values = tip && tip.offsetHeight ? [...tip.querySelectorAll('.value')].map(one => one.textContent) : []; \
                   values.some(one => one === '{wanted}' || one.startsWith('{wanted} ')) || left === 0 ? done(values) : setTimeout(look, 20, left - 1); \
                 }}; look(50); }})"
            ));
            let is_there = shown.as_array().expect("values").iter().any(|value| {
                let value = value.as_str().expect("text");
                value == wanted || value.starts_with(&format!("{wanted} "))
            });
            assert!(
                is_there,
                "{page}, {name}: {wanted} is not under the mouse: {shown}"
            );
            count += 1;
        }
    }
    count
}

fn figures(browser: &mut Browser) -> Vec<String> {
    let names = browser
        .value("[...document.querySelectorAll('figure')].map(f => f.id.replace('figure-', ''))");
    let names = names.as_array().expect("a list").iter();
    names
        .map(|name| name.as_str().expect("a name").to_owned())
        .collect()
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn pages_of_runs_are_drawn_without_complaint_and_equal_their_tables() {
    let test = "pages_of_runs_are_drawn_without_complaint_and_equal_their_tables";
    check_pages(test, pages_of_runs);
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn pages_of_history_are_drawn_without_complaint_and_equal_their_tables() {
    let test = "pages_of_history_are_drawn_without_complaint_and_equal_their_tables";
    check_pages(test, pages_of_history);
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn pages_of_comparisons_are_drawn_without_complaint_and_equal_their_tables() {
    let test = "pages_of_comparisons_are_drawn_without_complaint_and_equal_their_tables";
    check_pages(test, pages_of_comparisons);
}

fn check_pages(test: &str, pages: fn(&Desk) -> Vec<Page>) {
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    for (path, wanted) in pages(&desk) {
        let page = path.display().to_string();
        // The wide one last: it is the one that is pointed at and printed.
        for (width, dark) in [(390, false), (390, true), (1400, true), (1400, false)] {
            browser.open(&path, width, dark);
            assert_eq!(browser.value(FAULTS), json!([]), "{page} at {width}");
            let serious = browser.serious_findings();
            assert_eq!(serious, json!([]), "{page} at {width}");
            let figures = figures(&mut browser);
            for name in wanted {
                assert!(
                    figures.iter().any(|figure| figure == name),
                    "{page}: {name} in {figures:?}"
                );
            }
            let overflow = browser.value(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            assert_eq!(overflow, 0, "{page} is wider than {width} pixels");
            let ground = browser.value("getComputedStyle(document.body).backgroundColor");
            assert_eq!(
                ground,
                if dark {
                    "rgb(20, 23, 26)"
                } else {
                    "rgb(255, 255, 255)"
                },
                "{page}"
            );
            assert_eq!(
                browser.value("document.querySelectorAll('script').length"),
                scripts(&mut browser),
                "{page}"
            );
            let remote = browser.value("performance.getEntriesByType('resource').length");
            assert_eq!(remote, 0, "{page} loaded something");
        }
        let pointed_at = point_at_values(&mut browser, &page);
        assert!(pointed_at >= 2 * wanted.len(), "{page}: {pointed_at}");
        in_print(&mut browser, &page);
        assert_eq!(browser.complaints, Vec::<String>::new(), "{page}");
    }
}

/// Chart data, ECharts and ours; records where they are in the page.
fn scripts(browser: &mut Browser) -> Value {
    browser.value("document.getElementById('record-data') ? 4 : 3")
}

fn in_print(browser: &mut Browser, page: &str) {
    browser.ask("Emulation.setEmulatedMedia", json!({"media": "print"}));
    // The first charts are printed, as pictures; the rest is for the screen.
    let seen = browser.value(
        "(() => { const all = [...document.querySelectorAll('figure')]; \
         const printed = all.filter(f => !f.closest('.noprint')); \
         return printed.length >= Math.min(all.length, 1) && \
         printed.every(f => f.querySelector('.plot').offsetHeight === 0 && f.querySelector('.picture').offsetHeight > 100) && \
         all.filter(f => f.closest('.noprint')).every(f => f.offsetHeight === 0); })()",
    );
    assert_eq!(seen, true, "{page}: pictures in print");
    let pdf = browser.ask("Page.printToPDF", json!({"preferCSSPageSize": true}));
    let bytes = pdf["data"].as_str().map_or(0, str::len);
    assert!(bytes > 20_000, "{page}: {bytes}");
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn the_value_under_the_mouse_is_that_of_the_record() {
    let test = "the_value_under_the_mouse_is_that_of_the_record";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    let path = desk.file("bench.html");
    let arguments = [
        "bench",
        "sim:raid10-10k",
        "--series",
        "random-read",
        "--report",
        &path,
        "--label",
        LABEL,
    ];
    let document = desk.json(&arguments);
    let steps = document.at("series.0.steps").items();
    browser.open(Path::new(&path), 1280, false);
    for (index, step) in steps.iter().enumerate() {
        let place = browser.value(&format!(
            "(() => {{
               const plot = document.querySelector('#figure-random-read-load .plot');
               plot.scrollIntoView({{block: 'center'}});
               const chart = JSON.parse(document.getElementById('chart-data').textContent).charts.find(c => c.name === 'random-read-load');
               const point = chart.panels[0].series[0].points[{index}];
               const at = echarts.getInstanceByDom(plot).convertToPixel({{xAxisIndex: 0, yAxisIndex: 0}}, [point.x, point.y]);
               const box = plot.getBoundingClientRect();
               return [box.left + at[0], box.top + at[1]];
             }})()"
        ));
        let pixel = |index: usize| place[index].as_f64().expect("a place");
        browser.point_at(pixel(0), pixel(1));
        let tip = browser.value(
            "new Promise(done => { const look = left => { const tip = document.querySelector('#figure-random-read-load .tip'); \
             tip && tip.offsetHeight || left === 0 ? done(tip ? tip.innerText : 'none') : setTimeout(look, 20, left - 1); }; look(50); })",
        );
        let tip = tip.as_str().expect("text").to_owned();
        let iops = step.at("iops").number();
        let row = browser.value(&format!(
            "document.querySelectorAll('#figure-random-read-load tbody tr')[{index}].children[1].textContent"
        ));
        let row = row.as_str().expect("text").to_owned();
        assert_eq!(row, written(iops));
        assert!(
            tip.contains(&format!("{row} IOPS")),
            "step {index}: {row} in {tip}"
        );
    }
    // What somebody called the run is text, in the page as in its data.
    let data = browser.value(
        "new Response(new Blob([Uint8Array.from(atob(document.getElementById('record-data').textContent), c => c.charCodeAt(0))])\
         .stream().pipeThrough(new DecompressionStream('gzip'))).json().then(document => document.runs[0].label)",
    );
    assert_eq!(data, LABEL);
    let html = std::fs::read_to_string(&path).expect("the page");
    assert!(!html.contains(LABEL));
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// IOPS as tables have them.
fn written(iops: f64) -> String {
    if iops < 99.95 {
        return format!("{iops:.1}");
    }
    let digits = format!("{:.0}", iops.round());
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
