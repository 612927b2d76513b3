//! The HTML report in a real browser: nothing to complain about on the console,
//! charts drawn, values under the mouse those of the records, tables equal to
//! charts; light and dark, on a phone and in print.

use crate::support::browser::Browser;
use crate::support::{Desk, text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The label of all runs here: it must stay text.
const LABEL: &str = "<script>alert(1)</script>";

/// Every kind of page, with the charts that it must have.
fn pages(desk: &Desk) -> Vec<(PathBuf, &'static [&'static str])> {
    let run = |arguments: &[&str]| {
        let mut all = arguments.to_vec();
        all.extend(["--label", LABEL, "--quiet"]);
        desk.run(&all).done();
    };
    let report = |name: &str, subjects: &[&str]| {
        let path = desk.path().join(name);
        let mut all = vec!["report", "-o", text(&path)];
        all.extend(subjects);
        desk.run(&all).done();
        path
    };
    run(&[
        "bench",
        "sim:raid10-10k",
        "--series",
        "random-read,log",
        "--report",
        &desk.file("bench.html"),
    ]);
    run(&[
        "run",
        "sim:raid10-10k",
        "--outstanding",
        "16",
        "--duration",
        "40s",
    ]);
    let single = report("single.html", &["last"]);
    run(&[
        "run",
        "sim:raid10-10k",
        "--threads",
        "1,2",
        "--outstanding",
        "1,4",
        "--duration",
        "5s",
    ]);
    let grid = report("grid.html", &["last~3", "last~2", "last~1", "last"]);
    let dataset = report("dataset.html", &["dataset:oja-nisula-2007-offset"]);
    vec![
        (
            PathBuf::from(desk.file("bench.html")),
            &["random-read-load", "latency-against-iops", "percentiles"],
        ),
        (
            single,
            &[
                "percentiles",
                "random-read-time",
                "random-read-latency-over-time",
            ],
        ),
        (grid, &["against-load"]),
        (
            dataset,
            &[
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

fn figures(browser: &mut Browser) -> Vec<String> {
    let names = browser
        .value("[...document.querySelectorAll('figure')].map(f => f.id.replace('figure-', ''))");
    let names = names.as_array().expect("a list").iter();
    names
        .map(|name| name.as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn every_kind_of_page_is_drawn_without_complaint_and_equals_its_tables() {
    let test = "every_kind_of_page_is_drawn_without_complaint_and_equals_its_tables";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    for (path, wanted) in pages(&desk) {
        let page = path.display().to_string();
        for (width, dark) in [(1280, false), (375, true)] {
            browser.open(&path, width, dark);
            assert_eq!(browser.value(FAULTS), json!([]), "{page} at {width}");
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
    let seen = browser.value(
        "[...document.querySelectorAll('figure')].every(f => f.querySelector('.plot').offsetHeight === 0 && \
         f.querySelector('.picture').offsetHeight > 100)",
    );
    assert_eq!(seen, true, "{page}: pictures in print");
    let pdf = browser.ask("Page.printToPDF", json!({"preferCSSPageSize": true}));
    let bytes = pdf["data"].as_str().map_or(0, str::len);
    assert!(bytes > 20_000, "{page}: {bytes}");
}

#[test]
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
    let data = browser
        .value("JSON.parse(document.getElementById('record-data').textContent).runs[0].label");
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
