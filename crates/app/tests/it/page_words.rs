//! The HTML report as a file: what stands in it by name.

use crate::support::Desk;
use serde_json::Value;

#[test]
fn ladders_of_several_targets_are_lines_and_rows_of_their_own_by_what_differs() {
    let desk = Desk::new();
    let bench = |target: &str| {
        let all = [
            "bench",
            target,
            "--series",
            "random-read",
            "--step",
            "1s",
            "--no-report",
        ];
        let document = desk.json(&[&all[..], &["--quiet"]].concat());
        document.at("runs.0.series").text()
    };
    let (one, other) = (
        bench("sim:raid10-10k?offset=63s"),
        bench("sim:raid10-10k?offset=64K"),
    );
    let page = desk.file("two.html");
    desk.run(&["report", "-o", &page, &one, &other]).done();
    let page = std::fs::read_to_string(page).expect("the page");
    let data = page.split("id=\"chart-data\">").nth(1).expect("data");
    let data: Value =
        serde_json::from_str(data.split("</script>").next().expect("an end")).expect("JSON");
    let charts = data["charts"].as_array().expect("charts");
    let load = charts
        .iter()
        .find(|chart| chart["name"] == "random-read-load")
        .expect("the chart of the ladders");
    let names: Vec<&str> = load["panels"][0]["series"]
        .as_array()
        .expect("lines")
        .iter()
        .filter_map(|line| line["name"].as_str())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(
        names[0].contains("63s") && names[1].contains("64K"),
        "{names:?}"
    );
    // Page one has a line for each.
    for name in &names {
        assert!(page.contains(&format!(">{name}</td>")), "{name}");
    }
    let markdown = ["report", &one, &other, "--format", "md"];
    let markdown = desk.run(&markdown).done().stdout;
    for name in &names {
        assert!(
            markdown.contains(&format!("### Random read, {}", name.replace('_', "\\_"))),
            "{markdown}"
        );
    }
    // Both begin as `compare` does.
    let compared = desk.run(&["compare", &one, &other, "-q"]).ended(1).stdout;
    assert!(compared.contains("Better: random read: "), "{compared}");
    assert!(markdown.contains("**Better**: random read: "), "{markdown}");
    let lead = "Better:</span> random read: ";
    assert!(page.find(lead) < page.find("<table"), "{lead}");
    assert!(page.contains(lead));
}

#[test]
fn requirements_are_told_as_met_or_missed_on_page_one_and_in_every_text() {
    let desk = Desk::new();
    let run = ["run", "sim:sata-ssd", "--duration", "1s", "--quiet"];
    desk.run(&[&run[..], &["--require", "iops>=1"]].concat())
        .done();
    desk.run(&[&run[..], &["--require", "iops>=99000000"]].concat())
        .ended(1);
    let html = desk.file("required.html");
    let required = ["--require", "iops>=1", "--require", "p99<1us"];
    desk.run(&[&["report", "last", "-o", &html], &required[..]].concat())
        .ended(1);
    let page = std::fs::read_to_string(&html).expect("the page");
    for words in [
        "1 of 2 requirements missed",
        "\u{2717} missed</span> p99&lt;1us: ",
        "\u{2713} met</span> iops&gt;=1: ",
    ] {
        assert!(page.contains(words), "{words}");
    }
    let checked = desk.file("checked.html");
    let check = [
        "check",
        "--baseline",
        "none",
        "--run",
        "last",
        "--require",
        "iops>=1",
    ];
    desk.run(&[&check[..], &["--report", &checked]].concat())
        .done();
    let page = std::fs::read_to_string(&checked).expect("the page");
    assert!(page.contains("1 requirement met"));
    let text = desk.run(&[&["report", "last", "--format", "md"], &required[..]].concat());
    let text = text.ended(1).stdout;
    assert!(text.contains("**missed**: p99<1us"), "{text}");
    let json = desk.run(&[&["report", "last", "--format", "json"], &required[..]].concat());
    let document = json.ended(1).json();
    assert!(!document.at("requirements.1.met").truth());
}
