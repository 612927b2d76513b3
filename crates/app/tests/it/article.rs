//! The command lines of MSSQLTips tip 2127, from the outstanding totals of its
//! table: 4 random writes, 11 random reads, 11 sequential reads and 11 sequential
//! writes (of which the table has 7), each on drive L:. How the article split a
//! total is not in the table; here threads go up to 8, then outstanding does.
//!
//! They run against a directory with `-s1`, and against the simulated array of
//! the article, where waiting costs nothing; then what was printed is imported,
//! and reported as the article's four charts.

use crate::support::{Desk, Json};

const PUBLISHED: &str = include_str!("../../../../datasets/mssqltips-2127.csv");

/// A series: its name, `-k` and `-f` of its lines, KB, and its greatest total.
const SERIES: [(&str, &str, u32, u32); 4] = [
    ("random write", "-kW -frandom", 64, 8),
    ("random read", "-kR -frandom", 64, 1024),
    ("sequential read", "-kR -fsequential", 64, 1024),
    ("sequential write", "-kW -fsequential", 8, 1024),
];

fn lines(series: usize, seconds: u32) -> Vec<String> {
    let (_, switches, kib, most) = SERIES[series];
    let totals = std::iter::successors(Some(1), |total| Some(total * 2));
    totals
        .take_while(|total| *total <= most)
        .map(|total| {
            let threads = total.min(8);
            format!(
                "-dL -BH {switches} -t{threads} -o{} -s{seconds} -b{kib} testfile.dat",
                total / threads
            )
        })
        .collect()
}

/// Runs the lines one after the other, as a batch file does, and gives its log.
fn log_of(desk: &Desk, lines: &[String], drive: &str) -> String {
    let mut log = String::new();
    for line in lines {
        let mapping = format!("L={drive}");
        let mut words = vec!["sqlio"];
        words.extend(line.split(' '));
        words.extend(["--drive", &mapping, "--busy-ok", "--quiet"]);
        let printed = desk.run(&words).done().stdout;
        log.push_str(&format!("C:\\SQLIO>sqlio {line}\r\n"));
        log.push_str(&printed.replace('\n', "\r\n"));
    }
    log
}

/// Imports the four logs, and draws each as a chart of its own.
fn import_and_draw(desk: &Desk, logs: &[String]) -> Vec<f64> {
    let names: Vec<String> = (0..4).map(|series| format!("log{series}.txt")).collect();
    for (name, log) in names.iter().zip(logs) {
        desk.write(name, log);
    }
    let mut words = vec!["import"];
    words.extend(names.iter().map(String::as_str));
    let imported = desk.json(&words);
    assert_eq!(imported.at("imported").items().len(), 37);
    for (name, (title, ..)) in names.iter().zip(SERIES) {
        let chart = name.replace("txt", "svg");
        desk.run(&["report", name, "--chart", "against-load", "-o", &chart])
            .done();
        let drawn = std::fs::read_to_string(desk.file(&chart)).unwrap();
        let title = format!("{}{}", title[..1].to_uppercase(), &title[1..]);
        assert!(drawn.contains(&title), "{title} is not in {chart}");
    }
    let rate = |run: &Json| run.at("jobs.0.outcome.iops").number();
    imported.at("runs").items().iter().map(rate).collect()
}

#[test]
fn the_command_lines_of_the_article_run_on_its_array() {
    let desk = Desk::new();
    let logs: Vec<String> = (0..4)
        .map(|series| {
            let seconds = if series < 2 { 90 } else { 20 };
            log_of(&desk, &lines(series, seconds), "sim:mssqltips-2127")
        })
        .collect();
    let rates = import_and_draw(&Desk::new(), &logs);
    let published = PUBLISHED.lines().skip(1);
    let published: Vec<f64> = published
        .map(|row| row.split(',').nth(4).unwrap().parse().unwrap())
        .collect();
    let off = |rate: f64, published: f64| (rate / published - 1.0).abs() * 100.0;
    // Writes: the first 2,048 fill the cache (128 MiB), which begins empty.
    for (rate, published) in rates[..4].iter().zip(&published[..4]) {
        let settled = rate - 2_048.0 / 90.0;
        assert!(off(settled, *published) < 7.0, "{settled} {published}");
    }
    for (rate, published) in rates[4..15].iter().zip(&published[4..15]) {
        assert!(off(*rate, *published) < 5.0, "{rate} {published}");
    }
    // The first sequential read is not explained, see ARRAY_MODEL.md; of the writes
    // the table has those up to 64 outstanding.
    assert!(off(rates[15], published[15]) < 20.0, "{}", rates[15]);
    for (rate, published) in rates[16..33].iter().zip(&published[16..33]) {
        assert!(off(*rate, *published) < 5.0, "{rate} {published}");
    }
}

/// What takes long stands behind the other tests in CI.
mod at_length {
    use super::*;

    #[test]
    #[ignore = "12 s of processor time: cargo xtask ci long"]
    fn the_command_lines_of_the_article_run_on_a_directory() {
        let prepare = |desk: &Desk| {
            // The article made its file through a parameter file, too.
            desk.write("param.txt", "l:\\testfile.dat 2 0x0 16\r\n");
            let volume = desk.volume();
            let drive = format!("L={volume}");
            let words = "sqlio -kW -s1 -fsequential -o4 -b64 -Fparam.txt --busy-ok --quiet --drive";
            let words: Vec<&str> = words.split(' ').chain([drive.as_str()]).collect();
            let made = desk.run(&words).done().stdout;
            assert!(made.contains("expanding l:\\testfile.dat ... done.\n"));
            volume
        };
        // The four series side by side, each with a drive of its own.
        let logs: Vec<String> = std::thread::scope(|scope| {
            let run = |series: usize| {
                let desk = Desk::new();
                let volume = prepare(&desk);
                log_of(&desk, &lines(series, 1), &volume)
            };
            let started: Vec<_> = (0..4)
                .map(|series| scope.spawn(move || run(series)))
                .collect();
            started
                .into_iter()
                .map(|series| series.join().expect("a series"))
                .collect()
        });
        let rates = import_and_draw(&Desk::new(), &logs);
        assert!(rates.iter().all(|rate| *rate > 0.0), "{rates:?}");
    }
}
