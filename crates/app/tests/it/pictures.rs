//! Pictures and Markdown of answers, which are passed on without the page and the store that
//! they come from.

use crate::support::Desk;

/// Operations of 8 KiB, one in 2 ms, each taking 1 ms.
fn trace() -> String {
    let row = |k: u64| format!("{} R {} 16 1000\n", k * 2_000, k * 8_192);
    (0..5_000).map(row).collect()
}

#[test]
fn an_answer_says_its_verdict_and_what_was_measured_where_and_when() {
    let desk = Desk::new();
    let trace = desk.write("load.txt", &trace());
    let columns = "time=us,op=R/W,offset=bytes,size=sectors,latency=us";
    let commands = [
        ("limits sim:raid10-10k", "sim:raid10-10k", "No cap shows"),
        (
            "headroom sim:raid10-10k --load postgresql --rate 60 --slo p99<50ms",
            "sim:raid10-10k",
            "More users: 4.",
        ),
        ("qualify sim:disk-7k2 --for etcd", "sim:disk-7k2", "Missed"),
        (
            "qualify sim:disk-7k2 --commit",
            "sim:disk-7k2",
            "Commit methods",
        ),
        (
            &format!("observe --from {trace} --columns {columns}"),
            "load.txt",
            "were not slow",
        ),
    ];
    for (number, (line, target, verdict)) in commands.into_iter().enumerate() {
        let files = ["svg", "md", "json"].map(|end| desk.file(&format!("{number}.{end}")));
        let mut words: Vec<&str> = line.split(' ').collect();
        words.extend(files.iter().flat_map(|file| ["-o", file]));
        let answer = desk.run(&words);
        assert!(
            matches!(answer.code, Some(0 | 1)),
            "{line}: {}",
            answer.stderr
        );
        let [picture, markdown, json] = files.map(|file| std::fs::read_to_string(file).unwrap());
        let json = crate::support::Json::parse(&json).unwrap();
        let id = json.at("id").text();
        // What is drawn, without what the file says of itself.
        let (_, drawn) = picture.split_once("</metadata>").unwrap();
        let (day, time) = id.split_once('-').unwrap();
        let day = format!(
            "{}-{}-{} {}:{}",
            &day[..4],
            &day[4..6],
            &day[6..],
            &time[..2],
            &time[2..4]
        );
        let host = format!("host {}", json.at("host").text());
        for text in [drawn, &markdown] {
            for wanted in [target, verdict, &id, &day, &host] {
                assert!(text.contains(wanted), "{line}: {wanted}: {text}");
            }
        }
        // The same again from the store.
        let again = desk.file(&format!("{number}-again.svg"));
        desk.run(&["report", &id, "-o", &again]).ended(0);
        assert_eq!(std::fs::read_to_string(again).unwrap(), picture, "{line}");
    }
}
