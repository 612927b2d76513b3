//! What can be done with the charts of a page, in a real browser: the wheel, zoom,
//! scales, panels, saved pictures, labels of axes, legends, tables.

use super::browser::Browser;
use crate::support::{Desk, TWO_JOBS, text, wait_until};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const LOAD: &str = "random-read-load";

/// A bench of spinning disks as a page.
fn bench(desk: &Desk) -> PathBuf {
    let path = desk.path().join("controls.html");
    let series = ["--series", "random-read,random-write"];
    let all = [
        "bench",
        "sim:raid10-10k",
        "--report",
        text(&path),
        "--quiet",
    ];
    desk.run(&[&all[..], &series].concat()).done();
    path
}

/// Presses a button of a figure by its words.
fn press(browser: &mut Browser, figure: &str, words: &str) {
    let pressed = browser.value(&format!(
        "(() => {{ const all = [...document.querySelectorAll('#figure-{figure} button')]; \
         const one = all.find(b => b.textContent === '{words}'); one && one.click(); return !!one; }})()"
    ));
    assert_eq!(pressed, true, "{figure}: {words}");
}

/// The ends of an axis of a chart as ECharts draws them.
fn ends(browser: &mut Browser, figure: &str, axis: &str) -> [f64; 2] {
    let ends = browser.value(&format!(
        "echarts.getInstanceByDom(document.querySelector('#figure-{figure} .plot')).getModel()\
         .getComponent('{axis}', 0).axis.scale.getExtent()"
    ));
    [0, 1].map(|index| ends[index].as_f64().expect("an end"))
}

/// Turns the wheel over the middle of a chart; how far the page went.
fn wheel(browser: &mut Browser, figure: &str, modifiers: u32) -> f64 {
    let middle = browser.value(&format!(
        "(() => {{ const plot = document.querySelector('#figure-{figure} .plot'); \
         plot.scrollIntoView({{block: 'center'}}); const box = plot.getBoundingClientRect(); \
         return [box.left + box.width / 2, box.top + box.height / 2, window.scrollY]; }})()"
    ));
    let of = |index: usize| middle[index].as_f64().expect("a number");
    let (x, y) = (of(0), of(1));
    browser.point_at(x, y);
    browser.ask(
        "Input.dispatchMouseEvent",
        json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -120, "modifiers": modifiers}),
    );
    // Scrolling may take some frames; it is over when two frames agree.
    let after = browser.value(
        "new Promise(done => { let last = NaN, same = 0; const look = left => { \
           same = window.scrollY === last ? same + 1 : 0; last = window.scrollY; \
           same > 20 || left === 0 ? done(last) : requestAnimationFrame(() => look(left - 1)); }; look(300); })",
    );
    after.as_f64().expect("a number") - of(2)
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn the_wheel_scrolls_the_page_and_zooms_with_ctrl_only() {
    let test = "the_wheel_scrolls_the_page_and_zooms_with_ctrl_only";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    browser.open(&bench(&desk), 1280, false);
    for figure in [LOAD, "percentiles", "random-read-time"] {
        let whole = ends(&mut browser, figure, "xAxis");
        assert!(wheel(&mut browser, figure, 0) < 0.0, "{figure} is stuck");
        assert_eq!(ends(&mut browser, figure, "xAxis"), whole, "{figure}");
        const CTRL: u32 = 2;
        assert_eq!(wheel(&mut browser, figure, CTRL), 0.0, "{figure}");
        let zoomed = ends(&mut browser, figure, "xAxis");
        assert!(zoomed[1] - zoomed[0] < whole[1] - whole[0], "{figure}");
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// The answer, and behind it titles: the first charts are open, the others are drawn when
/// somebody opens them, by the keyboard as well.
#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn a_page_of_many_charts_is_short_and_each_opens_by_its_title() {
    let test = "a_page_of_many_charts_is_short_and_each_opens_by_its_title";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    browser.open_folded(&bench(&desk), 1280, false);
    let open = "[...document.querySelectorAll('#charts details.fold')].map(one => one.open)";
    let folds = browser.value(open);
    let folds = folds.as_array().expect("a list");
    assert!(folds.len() > 6, "{folds:?}");
    assert_eq!(folds.iter().filter(|one| **one == json!(true)).count(), 3);
    assert!(
        folds[..3].iter().all(|one| *one == json!(true)),
        "{folds:?}"
    );
    let high = browser.value("document.documentElement.scrollHeight");
    assert!(high.as_u64() < Some(6_000), "{high}");
    let last = "[...document.querySelectorAll('#charts details.fold')].pop()";
    let drawn = format!("!!{last}.querySelector('canvas')");
    assert!(!browser.is_true(&drawn));
    browser.value(&format!("{last}.querySelector('summary').focus()"));
    for kind in ["keyDown", "keyUp"] {
        let enter = json!({"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"});
        browser.ask("Input.dispatchKeyEvent", enter);
    }
    wait_until("open", || browser.is_true(&drawn));
    for (words, all) in [("Open all", true), ("Close all", false)] {
        browser.value(&format!(
            "[...document.querySelectorAll('button')].find(one => one.textContent === '{words}').click()"
        ));
        let folds = browser.value(open);
        let folds = folds.as_array().expect("a list");
        assert!(
            folds.iter().all(|one| *one == json!(all)),
            "{words}: {folds:?}"
        );
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn zooming_an_axis_of_powers_keeps_half_of_its_doublings_and_the_y_axis_follows() {
    let test = "zooming_an_axis_of_powers_keeps_half_of_its_doublings_and_the_y_axis_follows";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    browser.open(&bench(&desk), 1280, false);
    let highest = ends(&mut browser, LOAD, "yAxis")[1];
    press(&mut browser, LOAD, "+");
    // 1 to 256 in flight, as powers of two: 0 to 8.
    let [low, high] = ends(&mut browser, LOAD, "xAxis").map(|end| end.round());
    assert!(
        (low, high) == (2.0, 6.0) || (low, high) == (4.0, 64.0),
        "{low} to {high}"
    );
    assert!(ends(&mut browser, LOAD, "yAxis")[1] <= highest);
    press(&mut browser, LOAD, "Reset");
    assert_eq!(ends(&mut browser, LOAD, "yAxis")[1], highest);
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn one_scale_is_pressed_at_most_and_a_panel_without_lines_makes_room() {
    let test = "one_scale_is_pressed_at_most_and_a_panel_without_lines_makes_room";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    browser.open(&bench(&desk), 1280, false);
    let pressed = |browser: &mut Browser| {
        browser.value(&format!(
            "[...document.querySelectorAll('#figure-{LOAD} .scale')].filter(b => b.getAttribute('aria-pressed') === 'true')\
             .map(b => b.textContent)"
        ))
    };
    for (words, wanted) in [
        ("Log axes", json!(["Log axes"])),
        ("Axes from 0", json!(["Axes from 0"])),
        ("Axes from 0", json!([])),
    ] {
        press(&mut browser, LOAD, words);
        assert_eq!(pressed(&mut browser), wanted);
    }
    let grids = |browser: &mut Browser| {
        let plot = format!("document.querySelector('#figure-{LOAD} .plot')");
        browser.value(&format!(
            "echarts.getInstanceByDom({plot}).getOption().grid.map(g => g.height)"
        ))
    };
    let both = grids(&mut browser);
    press(&mut browser, LOAD, "Throughput");
    let one = grids(&mut browser);
    let height = |of: &Value| of[0].as_f64().expect("a height");
    assert_eq!(one.as_array().map(Vec::len), Some(1));
    assert!(height(&one) > 1.8 * height(&both), "{one} {both}");
    press(&mut browser, LOAD, "Throughput");
    assert_eq!(grids(&mut browser), both);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

/// The labels of the y axes of a figure that are cut at its left edge, and whether
/// any says less than 0.
const LABELS: &str = "((name) => {
  const drawn = echarts.getInstanceByDom(document.querySelector('#figure-' + name + ' .plot'));
  const texts = [];
  for (const one of drawn.getZr().storage.getDisplayList(true)) {
    if (one.type !== 'tspan' || !one.style.text) continue;
    const box = one.getBoundingRect().clone();
    if (one.transform) box.applyTransform(one.transform);
    texts.push([one.style.text, box.x]);
  }
  return [texts.filter(one => one[1] < 0).map(one => one[0]), texts.some(one => one[0].startsWith('\\u2212'))];
})";

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn labels_of_axes_keep_their_signs() {
    let test = "labels_of_axes_keep_their_signs";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    let path = desk.path().join("align.html");
    let align = [
        "align",
        "sim:raid10-10k",
        "--read",
        "--threads",
        "8",
        "--blocks",
        "10",
    ];
    let answer = desk.run(&[&align[..], &["--quiet", "--report", text(&path)]].concat());
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    browser.open(&path, 1280, false);
    let seen = browser.value(&format!("{LABELS}('baseline-drift')"));
    assert_eq!(seen, json!([[], true]));
    // What the reserved room is for: labels are shorter than it at every size.
    let figures = browser
        .value("[...document.querySelectorAll('figure')].map(f => f.id.replace('figure-', ''))");
    for figure in figures.as_array().expect("figures") {
        let figure = figure.as_str().expect("a name");
        let seen = browser.value(&format!("{LABELS}('{figure}')"));
        assert_eq!(seen[0], json!([]), "{figure}");
    }
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn a_saved_picture_has_title_target_and_legend_above_the_chart() {
    let test = "a_saved_picture_has_title_target_and_legend_above_the_chart";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    browser.open(&bench(&desk), 1280, false);
    // Words are pixels in a picture: what is written is listened to.
    let saved = browser.value(&format!(
        "(() => {{
           const said = [], write = CanvasRenderingContext2D.prototype.fillText;
           CanvasRenderingContext2D.prototype.fillText = function (text) {{ said.push(text); return write.apply(this, arguments); }};
           let url = null;
           HTMLAnchorElement.prototype.click = function () {{ url = this.href; }};
           [...document.querySelectorAll('#figure-{LOAD} button')].find(b => b.textContent === 'PNG').click();
           const plot = document.querySelector('#figure-{LOAD} canvas');
           return new Promise(done => {{ const image = new Image();
             image.onload = () => done([said.join('|'), image.width - plot.width * 2 / devicePixelRatio, image.height - plot.height * 2 / devicePixelRatio,
               (raw => [...raw.matchAll(/iTXt(\\w+)\\0{{5}}/g)].map(found => found[1] + '=' + decodeURIComponent(escape(raw.substr(found.index + found[0].length, raw.charCodeAt(found.index - 1) + raw.charCodeAt(found.index - 2) * 256 - found[0].length + 4)))))(atob(url.split(',')[1]))]);
             image.src = url; }});
         }})()"
    ));
    let words = saved[0].as_str().expect("words");
    for wanted in [
        "Random read: throughput",
        "sim:raid10-10k",
        "UTC",
        "Throughput",
        "p99.9",
    ] {
        assert!(words.contains(wanted), "{wanted}: {words}");
    }
    for index in [1, 2] {
        assert!(
            saved[index].as_f64().is_some_and(|more| more > 0.0),
            "{saved}"
        );
    }
    // In the file's metadata, too.
    let facts = saved[3].as_array().expect("facts");
    for wanted in [
        "Title=Random read: throughput",
        "Description=",
        "Software=Stripewise",
    ] {
        let fact = facts.iter().filter_map(Value::as_str);
        assert!(
            fact.clone().any(|fact| fact.starts_with(wanted)),
            "{facts:?}"
        );
    }
    let about = facts[1].as_str().expect("words");
    assert!(
        about.contains("sim:raid10-10k") && about.contains("UTC"),
        "{about}"
    );
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn heat_maps_say_what_their_shades_mean_on_the_page_too() {
    let test = "heat_maps_say_what_their_shades_mean_on_the_page_too";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    browser.open(&bench(&desk), 1280, false);
    for map in [
        "random-write-latency-over-time",
        "random-read-latency-over-time",
    ] {
        let legend = browser.value(&format!(
            "document.querySelector('#figure-{map} .shades').textContent"
        ));
        let legend = legend.as_str().expect("a legend").to_owned();
        assert!(
            legend.starts_with('0') && legend.ends_with(" operations"),
            "{legend}"
        );
    }
    let middle = browser.value(
        "document.querySelectorAll('#figure-random-read-latency-over-time .shades span').length",
    );
    assert_eq!(middle, 3);
    assert_eq!(browser.complaints, Vec::<String>::new());
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn the_answer_of_jobs_has_numbers_on_a_phone_and_wide_tables_use_the_window() {
    let test = "the_answer_of_jobs_has_numbers_on_a_phone_and_wide_tables_use_the_window";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    let plan = desk.write("jobs.toml", TWO_JOBS);
    desk.run(&["run", "--plan", &plan, "--alone", "--quiet"])
        .done();
    let path = desk.file("jobs.html");
    let id = desk.ids()[0].clone();
    desk.run(&["report", &id, "-o", &path]).done();
    let numbers = "(() => { const all = [...document.querySelectorAll('#answer td[data-of=IOPS]')]; \
                   return [all.length > 0, all.every(cell => { const box = cell.getBoundingClientRect(); \
                   return box.width > 0 && box.right <= innerWidth && /[0-9]/.test(cell.textContent); })]; })()";
    browser.open(Path::new(&path), 375, false);
    assert_eq!(browser.value(numbers), json!([true, true]));
    browser.open(Path::new(&path), 1400, false);
    let sides = browser.value(
        "(() => { const all = [...document.querySelectorAll('.scroll')].filter(one => one.offsetWidth > 0); \
         return all.every(one => one.scrollWidth <= one.clientWidth + 1 || one.getBoundingClientRect().width > document.body.clientWidth) \
         && document.documentElement.scrollWidth <= document.documentElement.clientWidth; })()",
    );
    assert_eq!(sides, true);
}
