//! Pictures that leave their page: their attribution, in the picture and in
//! the file.

use super::skips::skip;
use super::{ladder, material, run};
use stripewise_report::{
    Attribution, Look, Material, Picture, SIZE, Theme, letters_without_font, pictures, png,
    svg_picture,
};
use stripewise_results::{
    AnswerBound, DeviceFacts, FileSystemFacts, RequirementRecord, RequirementVerdict, RunRecord,
    SeriesRecord, SeriesVerdict,
};

const SCRIPT: &str = "</text><script>alert(1)</script>";

/// A run on a device with all facts known.
fn known() -> RunRecord {
    let mut run = run("before the move");
    run.id = "run-1".to_owned();
    run.series = Some("series".to_owned());
    run.host.name = "db7".to_owned();
    let target = &mut run.jobs[0].target;
    target.size_bytes = 16 << 30;
    target.file_system = Some(FileSystemFacts {
        kind: "xfs".to_owned(),
        ..FileSystemFacts::default()
    });
    target.device = Some(DeviceFacts {
        name: "sdb1".to_owned(),
        model: Some("ST3300657SS".to_owned()),
        rotational: Some(true),
        ..DeviceFacts::default()
    });
    run
}

fn missed() -> SeriesRecord {
    SeriesRecord {
        slo: "p99<10us".to_owned(),
        within_limit: None,
        ..ladder()
    }
}

fn drawn(picture: &Picture, about: &Attribution, look: &Look) -> String {
    svg_picture(picture, about, look)
}

#[test]
fn every_picture_says_what_was_measured_in_itself_and_in_its_file() {
    let material = material(vec![known()], vec![ladder()], Vec::new());
    let about = Attribution::of(&material)
        .titled("Our array")
        .sourced("a forum");
    let all = pictures(&material);
    assert_eq!(all[0].name(), "summary", "the card is the first");
    assert!(all.len() > 2);
    for picture in &all {
        let svg = drawn(picture, &about, &Look::default());
        let (_, shown) = svg.split_once("</style>").expect("a style");
        for words in [
            "Our array",
            "before the move",
            "/data",
            "ST3300657SS (sdb1), spins",
            "16 GiB",
            "xfs",
            "8K",
            "direct",
            "host db7",
            "2026-11-21 20:15 UTC",
            "Stripewise 0.1.0",
            "series",
            "Source: a forum",
        ] {
            assert!(shown.contains(words), "{words} in {}", picture.name());
        }
        assert!(svg.contains("name=\"Label\">before the move<"));
    }
    let png = png(&drawn(&all[0], &about, &Look::default()), 1.0, &about).expect("a picture");
    assert_eq!(size_of(&png), SIZE);
    let texts = texts_of(&png);
    for (name, value) in [
        ("Title", "Our array"),
        ("Label", "before the move"),
        ("Model", "ST3300657SS (sdb1), spins"),
        ("Id", "series"),
        ("Source", "a forum"),
        ("Software", "Stripewise"),
    ] {
        let found = texts.iter().find(|(keyword, _)| keyword == name);
        assert_eq!(found.map(|(_, text)| text.as_str()), Some(value), "{name}");
    }
}

#[test]
fn a_card_has_numbers_where_the_limit_is_missed_and_reasons_where_there_are_none() {
    let void = SeriesRecord {
        no_answer: Some("all steps are VOID (zero-data)".to_owned()),
        name: "sequential-read".to_owned(),
        ..missed()
    };
    let rising = SeriesRecord {
        ceiling_bound: Some(AnswerBound::AtLeast),
        ..missed()
    };
    let material = material(vec![known()], vec![rising, void], Vec::new());
    let about = Attribution::of(&material);
    let all = pictures(&material);
    let svg = drawn(&all[0], &about, &Look::default());
    for words in [
        "ceiling \u{2265} 10,",
        ">9,810<",
        "16 in flight (knee)",
        "missed p99 &lt; 10 \u{b5}s",
        "1 ms: none",
        "20 ms: 10,450 IOPS",
        "No answer",
        "all steps are VOID (zero-data)",
    ] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    assert!(!svg.contains(">\u{2013}<") && !svg.contains(">-<"));
    // The legend has the signs that are there.
    let legend =
        "red: limit or requirement missed; pale: up to the ceiling; ring: answer on the curve.";
    assert!(svg.contains(legend) && !svg.contains("bracket"), "{svg}");
}

/// A bar is in the colour of the verdict, beside its word; a load that only lacks what was
/// required of it is not shown as good.
#[test]
fn a_missed_requirement_is_in_the_row_of_its_load() {
    let mut material = material(vec![known()], vec![ladder()], Vec::new());
    let bar = "fill=\"#b42318\"";
    let card = |material: &Material| {
        let about = Attribution::of(material);
        let svg = drawn(&pictures(material)[0], &about, &Look::default());
        let mut rectangles = svg.split("<rect").filter_map(|one| one.split("/>").next());
        (rectangles.any(|one| one.contains(bar)), svg)
    };
    let (is_red, svg) = card(&material);
    assert!(!is_red && svg.contains(">ok, p99 &lt; 5 ms<"), "{svg}");
    let required = |requirement: &str, name: &str| RequirementRecord {
        requirement: requirement.to_owned(),
        measured: Some(9_812.0),
        measured_words: "9,812 IOPS".to_owned(),
        of: "random read at p99<5ms; one run".to_owned(),
        repetitions: 0,
        met: false,
        interval: None,
        undecided: false,
        series: vec![SeriesVerdict {
            id: ladder().id,
            name: name.to_owned(),
            verdict: RequirementVerdict::Missed,
        }],
    };
    for text in ["random-read iops>=20000", "iops>=20000"] {
        material.document.requirements = vec![required(text, "random-read")];
        let (is_red, svg) = card(&material);
        assert!(is_red && svg.contains("MISSED: iops&gt;=20000"), "{svg}");
    }
    let text = "random-write iops>=20000";
    material.document.requirements = vec![required(text, "random-write")];
    material.document.series.push(SeriesRecord {
        name: "random-write".to_owned(),
        ..ladder()
    });
    let (_, svg) = card(&material);
    let rows: Vec<&str> = svg.split("Random write").collect();
    let [before, after] = &rows[rows.len() - 2..] else {
        panic!("{svg}");
    };
    let word = ">MISSED: iops";
    assert!(!before.contains(word) && after.contains(word), "{svg}");
}

#[test]
fn pictures_have_the_size_and_the_ground_that_are_asked_for() {
    let material = material(vec![known()], vec![ladder()], Vec::new());
    let about = Attribution::of(&material);
    for size in [[320, 320], [1_200, 630], [1_080, 1_920], [2_000, 500]] {
        for picture in &pictures(&material) {
            let look = Look {
                theme: Theme::Dark,
                size,
            };
            let svg = drawn(picture, &about, &look);
            assert!(svg.contains("fill=\"#14171a\"") && !svg.contains("fill=\"#ffffff\""));
            let png = png(&svg, 1.0, &about).expect("a picture");
            assert_eq!(size_of(&png), size, "{}", picture.name());
        }
    }
}

/// Every text has an explicit width, and stays in the picture, whatever the font.
#[test]
fn no_text_of_a_picture_leaves_it_and_text_of_users_stays_text() {
    let mut run = known();
    run.label = Some(SCRIPT.repeat(8));
    run.jobs[0].target.name = "/a very long name".repeat(20);
    let mut material = material(vec![run], vec![ladder()], Vec::new());
    material.title = SCRIPT.repeat(8);
    let about = Attribution::of(&material);
    for picture in &pictures(&material) {
        let svg = drawn(picture, &about, &Look::default());
        assert!(!svg.contains("<script"), "{}", picture.name());
        let viewed = svg.split("viewBox=\"0 0 ").nth(1).expect("a view");
        let width: f64 = viewed.split(' ').next().unwrap().parse().unwrap();
        for text in svg.split("<text ").skip(1) {
            let value = |name: &str| -> Option<f64> {
                let rest = text.split_once(&format!("{name}=\""))?.1;
                rest.split_once('"')?.0.parse().ok()
            };
            let (x, long) = (value("x").unwrap(), value("textLength").unwrap_or(0.0));
            // A three-digit number in large letters would push its unit in another font.
            let size = value("font-size").unwrap();
            assert!(size < 20.0 || long > 0.0, "{text}");
            let [left, right] = match text {
                _ if text.contains("text-anchor=\"middle\"") => [x - long / 2.0, x + long / 2.0],
                _ if text.contains("text-anchor=\"end\"") => [x - long, x],
                _ => [x, x + long],
            };
            assert!(left > -1.0 && right < width + 1.0, "{text}");
        }
    }
}

/// Eight kinds of I/O by threads and outstanding.
fn grid() -> Material {
    let mut runs = Vec::new();
    for (place, kib) in [4, 8, 16, 32, 64, 128, 256, 512].into_iter().enumerate() {
        for (threads, outstanding) in [(1, 1), (1, 8), (4, 1), (4, 8)] {
            let mut run = run("a grid");
            run.id = format!("run-{kib}-{threads}-{outstanding}");
            let job = &mut run.jobs[0];
            job.workload.block_size_bytes = kib << 10;
            (job.workload.threads, job.workload.outstanding) = (threads, outstanding);
            let load = f64::from(threads * outstanding);
            job.outcome.iops = 1_000.0 * load - 50.0 * place as f64;
            runs.push(run);
        }
    }
    material(runs, Vec::new(), Vec::new())
}

#[test]
fn maps_of_many_kinds_are_in_one_picture_on_one_scale() {
    let material = grid();
    let about = Attribution::of(&material);
    let all = pictures(&material);
    assert_eq!(all[0].name(), "small-multiples");
    let svg = drawn(&all[0], &about, &Look::default());
    for words in [
        ">Random read 4K<",
        ">Random read 512K<",
        "8 kinds of I/O",
        ">32,000<",
        ">31,650<",
        "a grid",
        "Across: threads. Up: outstanding per thread.",
    ] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    // One legend of shades for all.
    assert_eq!(svg.matches(">32,000 IOPS<").count(), 1);
    assert!(
        all.iter()
            .filter(|one| one.name().ends_with("grid"))
            .count()
            == 8
    );
}

#[test]
fn bars_have_their_values_and_names_no_more_than_tells_them_apart() {
    let runs = ["before", "after"].map(|label| {
        let mut run = known();
        (run.label, run.series) = (Some(label.to_owned()), None);
        run.id = label.to_owned();
        run.jobs[0].target.name = format!("/a/long/way/to/{label}/the/data");
        run
    });
    let material = material(runs.to_vec(), Vec::new(), Vec::new());
    let all = pictures(&material);
    let bars = all.iter().find(|one| one.name() == "side-by-side");
    let svg = drawn(
        bars.expect("bars"),
        &Attribution::default(),
        &Look::default(),
    );
    assert!(svg.contains(">before<") && svg.contains(">after<"), "{svg}");
    assert!(!svg.contains("the/data"), "{svg}");
    let rate = stripewise_results::JobRow::of(&material.document.runs).next();
    let iops = rate.and_then(|row| row.iops()).expect("a rate");
    let value = format!(">{}<", stripewise_units::format_iops(iops));
    assert_eq!(svg.matches(&value).count(), 2, "{value}: {svg}");
}

/// Further runs for the interval of an answer have no bars and curves of their own.
#[test]
fn runs_for_the_interval_of_an_answer_are_in_the_answer() {
    let mut runs = Vec::new();
    for outstanding in [1, 16, 32] {
        let mut run = known();
        (run.id, run.series_part) = (format!("run-{outstanding}"), Some("random-read".to_owned()));
        runs.push(run);
    }
    for number in 0..8 {
        let mut run = runs[1].clone();
        run.id = format!("again-{number}");
        runs.push(run);
    }
    let all = pictures(&material(runs, vec![ladder()], Vec::new()));
    let names: Vec<&str> = all.iter().map(Picture::name).collect();
    assert!(names.contains(&"random-read-load"), "{names:?}");
    assert!(
        !names.iter().any(|name| name.starts_with("side-by-side")),
        "{names:?}"
    );
}

fn words_alone(words: &str) -> Vec<u8> {
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"300\" height=\"40\">\n\
         <text x=\"4\" y=\"28\" font-size=\"24\" fill=\"#000000\">{words}</text>\n</svg>"
    );
    png(&svg, 1.0, &Attribution::default()).expect("a picture")
}

/// A letter without a font, and one whose shape depends on its neighbours.
#[test]
fn what_cannot_be_drawn_is_a_box_and_is_named() {
    let (nobody, joined) = ("\u{10fffd}", "\u{633}");
    for letter in [nobody, joined] {
        assert_eq!(letters_without_font(&format!("disk {letter}")), letter);
    }
    assert_eq!(words_alone(nobody), words_alone(joined));
    assert_ne!(words_alone(nobody), words_alone(" "));
    assert_eq!(letters_without_font("disk \u{b5} \u{41f}\n"), "");
}

#[test]
fn what_is_not_seen_is_no_box() {
    for sign in ["\u{fe0f}", "\u{200b}", "\u{200d}", "\u{feff}"] {
        assert_eq!(letters_without_font(sign), "");
        assert_eq!(words_alone(&format!("a{sign}b")), words_alone("ab"));
    }
    assert_eq!(words_alone("a\u{7f}b"), words_alone("a b"));
}

#[test]
fn letters_that_the_embedded_font_lacks_are_those_of_the_system() {
    let test = "letters_that_the_embedded_font_lacks_are_those_of_the_system";
    // DejaVu has it.
    let star = "\u{2605}";
    if !letters_without_font(star).is_empty() {
        return skip(test, "a font with a star (fonts-dejavu-core)");
    }
    assert_ne!(words_alone(star), words_alone("\u{10fffd}"));
}

#[test]
fn other_svgs_than_ours_are_refused() {
    let svg = |inside: &str| format!("<svg width=\"10\" height=\"10\">{inside}</svg>");
    let refused = |svg: &str| {
        let drawn = png(svg, 1.0, &Attribution::default());
        drawn.expect_err(svg).to_string()
    };
    for (svg, why) in [
        (svg("<path d=\"M0 0\"/>"), "the element `path`"),
        (svg("<g></g>"), "the element `g`"),
        (
            svg("<circle r=\"1\" fill=\"red\"/>"),
            "`red` is not a colour",
        ),
        (svg("<circle r=\"x\"/>"), "`r` is not a number"),
        ("<svg width=\"10\"/>".to_owned(), "its first element is not"),
        ("<svg></svg>".to_owned(), "it has no size"),
        (String::new(), "it is no SVG"),
        (svg("</svg"), "ill-formed"),
    ] {
        assert!(refused(&svg).contains(why), "{svg}: {}", refused(&svg));
    }
}

fn size_of(png: &[u8]) -> [u32; 2] {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    [number(16), number(20)]
}

/// The text chunks of a PNG, each with a valid CRC.
fn texts_of(png: &[u8]) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    let mut at = 8;
    while at + 8 <= png.len() {
        let length = u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
        let body = &png[at + 4..at + 8 + length];
        let sum = u32::from_be_bytes(png[at + 8 + length..at + 12 + length].try_into().unwrap());
        assert_eq!(crc32fast::hash(body), sum);
        if let Some(text) = body.strip_prefix(b"iTXt") {
            let end = text.iter().position(|byte| *byte == 0).unwrap();
            let keyword = String::from_utf8(text[..end].to_vec()).unwrap();
            texts.push((
                keyword,
                String::from_utf8(text[end + 5..].to_vec()).unwrap(),
            ));
        }
        at += 12 + length;
    }
    texts
}
