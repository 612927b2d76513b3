//! `advise` on simulated arrays whose truth is known: the choice, what it gains, what
//! matters, exit codes, pages; and what is refused before anything is measured.

use crate::support::{Answer, Desk, text};

/// Reads and writes that a unit of 64K splits, and nothing else.
const MIX: [&str; 2] = ["--mix", "random-read=70,random-write=30"];

fn advise(desk: &Desk, target: &str, more: &[&str]) -> Answer {
    desk.run(&[&["advise", target][..], more].concat())
}

#[test]
fn a_misaligned_array_is_told_to_move_and_what_that_gains() {
    let desk = Desk::new();
    let more = [
        "--vary",
        "offset=63s,1M",
        "--vary",
        "stripe-unit=64K,128K",
        "--json",
    ];
    let target = "sim:raid10-10k?offset=63s";
    let document = advise(&desk, target, &[&MIX[..], &more].concat())
        .ended(1)
        .json();
    let choice = document.at("recommendation");
    assert_eq!(choice.at("layout.offset").text(), "1M");
    let (low, high) = (
        choice.at("gain_percent_low").number(),
        choice.at("gain_percent_high").number(),
    );
    let gain = choice.at("gain_percent").number();
    // The law of crossings: at most 12.5 % for 8K on 64K, and something for a larger unit.
    assert!(
        low > 5.0 && low <= gain && gain <= high && high < 25.0,
        "{low} {gain} {high}"
    );
    assert_eq!(document.at("present.offset").text(), "63s");
    let layouts = document.at("layouts").items();
    assert_eq!(layouts.len(), 4);
    let scores: Vec<f64> = layouts.iter().map(|one| one.at("score").number()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    for layout in &layouts {
        assert!(layout.at("low").number() <= layout.at("score").number());
        assert!(layout.at("high").number() >= layout.at("score").number());
    }
    let effects = document.at("effects").items();
    let offset = effects
        .iter()
        .find(|effect| effect.at("factors").items().len() == 1)
        .expect("main effects");
    assert_eq!(offset.at("factors.0").text(), "offset");
    assert!((5.0..13.0).contains(&offset.at("percent").number()));
    // Nothing is invented of what the model does not have.
    let unit = effects
        .iter()
        .find(|effect| effect.at("factors.0").text() == "allocation-unit");
    assert_eq!(unit.expect("named").at("percent").number(), 0.0);
    assert!(!document.at("not_tried").items().is_empty());
    assert!(
        document
            .at("commands.0.line")
            .text()
            .starts_with("mdadm --create")
    );
}

#[test]
fn what_is_as_good_as_any_is_kept() {
    let desk = Desk::new();
    let more = [
        "--vary",
        "offset=64K,1M",
        "--vary",
        "stripe-unit=64K,64K ",
        "--json",
    ];
    // A level that is the same as another is refused; without it the offsets are equal.
    advise(&desk, "sim:raid10-10k", &[&MIX[..], &more].concat()).ended(2);
    let more = [
        "--vary",
        "offset=1M,2M",
        "--vary",
        "disk.rpm=10000,10001",
        "--json",
    ];
    let document = advise(&desk, "sim:raid10-10k", &[&MIX[..], &more].concat())
        .ended(0)
        .json();
    assert!(document.at("recommendation.is_present").truth());
    assert_eq!(document.at("recommendation.gain_percent").number(), 0.0);
}

#[test]
fn bad_input_is_refused_with_a_hint_before_anything_is_measured() {
    let desk = Desk::new();
    let cases: [(&[&str], &str); 9] = [
        (
            &["--for", "sqlserver-oltb"],
            "did you mean `sqlserver-oltp`",
        ),
        (&["--mix", "random-raed=3"], "did you mean `random-read`"),
        (
            &["--for", "stream", "--vary", "offset=1M"],
            "one level only",
        ),
        (
            &["--for", "stream", "--vary", "ofset=1M,2M"],
            "did you mean `offset`",
        ),
        (
            &["--for", "stream", "--vary", "offset=64K,65536"],
            "make no difference",
        ),
        (
            &["--for", "stream", "--vary", "file-system=ext4,xfs"],
            "no file system is simulated",
        ),
        (
            &["--for", "stream", "--vary", "raid=raid10,raid7"],
            "is not a RAID level",
        ),
        (&["--for", "stream", "--passes", "3"], "too few"),
        (
            &["--for", "stream", "--vary", "stripe-unit"],
            "has no levels",
        ),
    ];
    for (more, words) in cases {
        let answer = advise(&desk, "sim:raid10-10k", more).ended(2);
        assert!(answer.stderr.contains(words), "{more:?}: {}", answer.stderr);
        assert!(answer.stderr.contains("hint: "), "{}", answer.stderr);
    }
}

#[test]
fn layouts_that_cannot_exist_are_left_out_and_named() {
    let desk = Desk::new();
    let more = [
        "--vary",
        "raid=raid10:4,single:1",
        "--vary",
        "stripe-unit=64K,256K",
        "--vary",
        "offset=1M,2M",
        "--json",
    ];
    let document = advise(&desk, "sim:raid10-10k", &[&MIX[..], &more].concat()).json();
    assert_eq!(document.at("layouts").items().len(), 4);
    let not_tried = document.at("not_tried").items();
    let named = |words: &str| not_tried.iter().any(|line| line.text().contains(words));
    assert!(named(
        "a single disk, stripe unit 64K, offset 1M: nothing is striped"
    ));
}

#[test]
fn a_page_and_pictures_are_written_and_an_answer_can_be_shown_again() {
    let desk = Desk::new();
    let page = desk.path().join("advice.html");
    let page_text = page.to_string_lossy().into_owned();
    let more = [
        "--vary",
        "offset=63s,1M",
        "--vary",
        "stripe-unit=64K,256K",
        "--report",
    ];
    let all = [&MIX[..], &more, &[page_text.as_str()]].concat();
    let answer = advise(&desk, "sim:raid10-10k", &all);
    let html = std::fs::read_to_string(&page).expect("a page");
    for part in [
        "figure-ranking",
        "figure-effects",
        "figure-interaction-offset-stripe-unit",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("<script"));
    assert!(
        answer
            .stdout
            .contains("What matters, with the other factors as recommended\n"),
        "{}",
        answer.stdout
    );
    // What is behind the answer is on the page, and on request.
    let behind = ["Not tried: "];
    let lines = answer.stdout.lines().count();
    assert!(lines <= 20, "{}", answer.stdout);
    let shown = desk.run(&["history", "show", "last", "--explain"]).done();
    for part in behind {
        assert!(!answer.stdout.contains(part), "{}", answer.stdout);
        assert!(html.contains(part), "{part}");
    }
    shown.printed(&["Not tried: ", "Cells\n"]);
    let again = desk.run(&["lab", "resume", "last"]);
    let first_table = |text: &str| text.lines().take(8).collect::<Vec<_>>().join("\n");
    assert_eq!(first_table(&again.stdout), first_table(&answer.stdout));
    let listed = desk.run(&["lab", "plans"]).done();
    assert!(listed.stdout.contains("advise"), "{}", listed.stdout);
    // A report on it is the same answer, and not one layout held against another.
    let reported = desk.path().join("last.html");
    let reported_text = reported.to_string_lossy().into_owned();
    desk.run(&["report", "last", "-o", &reported_text]).done();
    assert_eq!(std::fs::read_to_string(&reported).expect("a page"), html);
    pictures_are_drawn(&desk);
    let short = desk.run(&["report", "last", "--format", "md"]).done();
    assert!(short.stdout.contains("stripe unit"), "{}", short.stdout);
    assert!(
        short.stdout.starts_with("## Layout of "),
        "{}",
        short.stdout
    );
    desk.run(&["report", "last", "--require", "p99<5ms", "--format", "md"])
        .failed(2, &["compares layouts", "--require"]);
}

/// Pictures of the last answer.
fn pictures_are_drawn(desk: &Desk) {
    let picture = desk.path().join("ranking.png");
    let look = ["--theme", "dark", "--size", "1200x630", "--title", "Ours"];
    let drawn = ["report", "last", "-o", text(&picture)];
    desk.run(&[&drawn[..], &look].concat()).done();
    let png = std::fs::read(&picture).expect("a picture");
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four"));
    assert_eq!((side(16), side(20)), (1_200, 630));
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a host");
    let host = host.trim();
    let words = String::from_utf8_lossy(&png);
    for fact in ["Title\0\0\0\0\0Ours", "Target\0\0\0\0\0sim:raid10-10k"] {
        assert!(words.contains(fact), "{fact}");
    }
    assert!(words.contains(&format!("Host\0\0\0\0\0{host}")), "{host}");
    desk.run(&["report", "last", "-o", text(&picture), "--chart", "x"])
        .failed(2, &["no chart `x`", "ranking, effects"]);
}

/// Too little time for an answer is said as JSON, on the terminal and on a page, with the code
/// of a finding: whoever asked for a choice has none.
#[test]
fn too_few_passes_are_told_with_what_they_measured() {
    let desk = Desk::new();
    let vary = ["--vary", "offset=63s,1M", "--vary", "stripe-unit=64K,256K"];
    let page = desk.file("advice.html");
    let more = [&MIX[..], &vary, &["--time", "1s", "--report", &page]].concat();
    let answer = advise(&desk, "sim:raid10-10k", &[&more[..], &["--json"]].concat()).ended(1);
    let document = answer.json();
    assert_eq!(document.at("status").text(), "partial");
    assert_eq!(document.at("passes").count(), 1);
    assert!(document.at("recommendation").is_null());
    assert!(document.at("layouts").items().is_empty());
    let measured = document.at("unjudged").items();
    assert_eq!(measured.len(), 4);
    for layout in &measured {
        assert!(!layout.at("layout.stripe-unit").text().is_empty());
        assert_eq!(layout.at("iops").items().len(), 2);
        assert!(layout.at("iops.0").number() > 0.0);
    }
    let why = "1 pass is finished: layouts cannot be judged before two are.";
    assert_eq!(document.at("sentences.0").text(), why);
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains(why), "{html}");
    let id = document.at("id").text();
    let picture = desk.file("advice.svg");
    desk.run(&["report", &id, "-o", &picture])
        .ended(2)
        .warned(&["nothing to draw before layouts can be judged", "lab resume"]);
    let again = desk.run(&["lab", "resume", &id]).ended(1);
    again.printed(&["no answer yet", "1 pass is finished", "--time TIME"]);
    desk.run(&["report", &id, "--format", "md"])
        .done()
        .printed(&[why.trim_end_matches('.')]);
    let resumed = desk.run(&["lab", "resume", &id, "--time", "10m", "--json"]);
    assert!(resumed.json().maybe("recommendation.layout").is_some());
}
