//! Pages that are drawn when they are written: advice on layouts, experiments over layouts,
//! surfaces, verifications. No script is in them, so what is asked is that they can be
//! read: wide and narrow, light and dark, by eye and by machine.

use super::browser::Browser;
use crate::support::{Desk, text};
use serde_json::json;
use std::path::PathBuf;

fn advice(desk: &Desk) -> PathBuf {
    let page = desk.path().join("advice.html");
    let more = ["--vary", "offset=63s,1M", "--vary", "stripe-unit=64K,256K"];
    let all = [
        "advise",
        "sim:raid10-10k",
        "--mix",
        "random-read=70,random-write=30",
        "--report",
    ];
    let answer = desk.run(&[&all[..], &[text(&page)], &more].concat());
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    page
}

fn experiment(desk: &Desk) -> PathBuf {
    const PLAN: &str = r#"
target = "sim:raid10-10k?offset=63s"
passes = 8
[factors]
offset = ["63s", "1M"]
stripe-unit = ["64K", "128K"]
[[cell]]
name = "random read"
read = true
outstanding = 32
"#;
    let page = desk.path().join("lab.html");
    let plan = desk.write("plan.toml", PLAN);
    let answer = desk.run(&["lab", "run", &plan, "--report", text(&page)]);
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    page
}

fn surface(desk: &Desk) -> PathBuf {
    let page = desk.path().join("surface.html");
    let disk = "sim:disk-15k?disk.zones=4&offset=0";
    desk.run(&["profile", disk, "-o", text(&page)]).done();
    page
}

fn fill(desk: &Desk) -> PathBuf {
    let page = desk.path().join("fill.html");
    let disk = "sim:nvme-consumer?ssd.size=16G&ssd.fast=4G";
    desk.run(&["profile", disk, "--fill", "--idle", "3s", "-o", text(&page)])
        .done();
    page
}

/// One that found faults, so that all of the page is there.
fn verification(desk: &Desk) -> PathBuf {
    let page = desk.path().join("verification.html");
    let volume = desk.volume();
    let switches = "--busy-ok --size 16M --duration 2s --json --inject";
    let burn_in: Vec<&str> = ["verify", &volume]
        .into_iter()
        .chain(switches.split(' '))
        .chain(["torn=4096@every=20 write"])
        .collect();
    let found = desk.run(&burn_in).ended(1).json();
    let id = found.at("id").text();
    desk.run(&["report", &id, "-o", text(&page)]).done();
    page
}

#[test]
#[ignore = "in a browser: cargo xtask ci long"]
fn pages_without_script_can_be_read_wide_and_narrow_light_and_dark() {
    let test = "pages_without_script_can_be_read_wide_and_narrow_light_and_dark";
    let Some(mut browser) = Browser::start(test) else {
        return;
    };
    let desk = Desk::new();
    for make in [advice, experiment, surface, fill, verification] {
        let path = make(&desk);
        let page = path.display().to_string();
        for (width, dark) in [(390, false), (390, true), (1400, false), (1400, true)] {
            let what = format!("{page} at {width}, dark: {dark}");
            browser.open(&path, width, dark);
            assert_eq!(browser.serious_findings(), json!([]), "{what}");
            let overflow = browser.value(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            assert_eq!(overflow, 0, "{what}: wider than the window");
            let pictures = browser.value(
                "[...document.querySelectorAll('svg')].filter(one => one.getBoundingClientRect().height > 100).length",
            );
            assert!(pictures.as_u64() > Some(0), "{what}: no picture is seen");
            let remote = browser.value("performance.getEntriesByType('resource').length");
            assert_eq!(remote, 0, "{what}: loaded something");
        }
        assert_eq!(browser.complaints, Vec::<String>::new(), "{page}");
    }
}
