//! Contemporary scripts parsed SQLIO's output in their own ways. These are rewrites of what each
//! relied on; Stripewise's output must satisfy them.

use stripewise_compat::sqlio::{
    Command, Counted, Prepared, Report, mib_hundredths, param_file, rate_hundredths, setup,
};

/// What our `sqlio` would print of a command: 90,000 operations in 60 s.
pub fn output(words: &str, parameters: Option<&str>) -> String {
    let words: Vec<&str> = words.split_whitespace().collect();
    let command = Command::parse(&words).unwrap_or_else(|error| panic!("{error}"));
    let targets =
        parameters.map(|text| param_file::read(text.as_bytes(), "param.txt", &command).unwrap());
    let setup = setup(&command, targets.as_deref()).unwrap();
    let mut report: Report = setup.report(&command, 1_000_000_000);
    for file in &setup.files {
        report.prepared.push(Prepared {
            file: file.name.clone(),
            growth: None,
            specified: file.specified_bytes.is_some(),
            megabytes: file.specified_bytes.unwrap_or(256 << 20) >> 20,
        });
    }
    let mut counted = Counted::default();
    counted.add(300_000, 60_000);
    counted.add(4_800_000, 30_000);
    report.iops_hundredths = rate_hundredths(90_000, 60_000_000_000);
    report.mib_hundredths = mib_hundredths(report.iops_hundredths, report.block_kib);
    if command.latency.is_some() {
        report.latency_ms = Some(counted.latency_ms());
        report.histogram_percent = Some(counted.histogram_percent());
    }
    report.to_string()
}

const COMMAND: &str = "-kW -t8 -s60 -frandom -o4 -b8 -BH -LS -dL testfile.dat";

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

/// Splits at the first line and looks for pieces with blanks and a tab in fixed
/// places, as a much copied PowerShell script did with regular expressions.
#[test]
fn the_script_with_regular_expressions_finds_its_pieces() {
    let text = [output(COMMAND, None), output(COMMAND, None)].concat();
    let results: Vec<&str> = text.split("sqlio v1.5.SG").skip(1).collect();
    assert_eq!(results.len(), 2);
    for result in results {
        let threads = result.split(" threads writing").next().unwrap();
        assert!(threads.ends_with('8'));
        let seconds = result.split(" secs").next().unwrap();
        assert!(seconds.ends_with("for 60"), "{seconds}");
        let using = between(result, "\tusing ", " IOs").unwrap();
        assert_eq!(using.split_once("KB "), Some(("8", "random")));
        assert_eq!(between(result, "with ", " outstanding"), Some("4"));
        let size = result.split(" MB for file").next().unwrap();
        assert!(size.ends_with(" 256"));
        let rate = between(result, "IOs/sec:", "\n").unwrap();
        assert!(rate.starts_with(' '), "white space must follow the colon");
        assert_eq!(rate.trim(), "1500.00");
        assert_eq!(between(result, "MBs/sec:", "\n").unwrap().trim(), "11.71");
        for (name, value) in [("Min", "0"), ("Avg", "1"), ("Max", "4")] {
            let line = result.lines().find(|line| line.starts_with(name)).unwrap();
            assert_eq!(line.split_once(": ").unwrap().1, value, "exactly one blank");
        }
    }
}

/// Splits lines at single blanks and takes words by number.
#[test]
fn the_script_that_counts_words_finds_them_in_their_places() {
    let text = output(
        "-kR -t4 -s30 -fsequential -o16 -b64 -BH -LS -Fparam.txt",
        Some("c:\\t.dat 4 0x0 512\n"),
    );
    let line = |begin: &str| -> Vec<&str> {
        let line = text
            .lines()
            .find(|line| line.trim_start().starts_with(begin));
        line.unwrap_or_else(|| panic!("no {begin}"))
            .split(' ')
            .collect()
    };
    assert_eq!(line("enabling")[6], "16");
    assert_eq!(line("using specified size:")[3], "512");
    let using = text
        .lines()
        .find(|line| line.starts_with("\tusing"))
        .unwrap();
    let using: Vec<&str> = using.split(' ').collect();
    assert_eq!((using[1], using[2]), ("64KB", "sequential"));
    assert_eq!(line("Min_Latency")[1], "0");
    assert_eq!(line("Avg_Latency")[1], "1");
}

/// Counts the words of `... to files A, B and C` to know how many there are.
#[test]
fn the_number_of_files_follows_from_the_number_of_words() {
    let text = output("-kW -t4 -s60 -frandom -dDEF t.dat", None);
    let line = text
        .lines()
        .find(|line| line.contains(" to files "))
        .unwrap();
    assert_eq!(
        line,
        "4 threads writing for 60 secs to files D:t.dat, E:t.dat and F:t.dat"
    );
    let words = line.split(' ').count();
    // 4 threads writing for 60 secs to files A, B and C: twelve words.
    assert_eq!(words - 9, 3);
}

/// Cuts fixed numbers of characters off the lines with the rates and the mean.
#[test]
fn the_script_that_cuts_characters_off_finds_numbers() {
    let text = output(COMMAND, None);
    let line = |begin: &str| text.lines().find(|line| line.starts_with(begin)).unwrap();
    assert_eq!(line("IOs/sec:")[8..].trim().parse(), Ok(1500.0));
    assert_eq!(line("Avg_Latency(ms): ")[17..].parse(), Ok(1));
}

/// Looks for a line with threads, seconds and file, and takes the next one as
/// that with the block size; a result ends with its histogram.
#[test]
fn the_line_with_the_block_size_follows_that_with_the_threads() {
    for (words, parameters) in [
        (COMMAND, None),
        (
            "-kR -s5 -frandom -LS -Fp.txt",
            Some("a.dat 2 0x0 10\nb.dat 2 0x3 10\n"),
        ),
        ("-kR -t2 -f8 -i4 -LS a.dat", None),
    ] {
        let text = output(words, parameters);
        let lines: Vec<&str> = text.lines().collect();
        let at = lines
            .iter()
            .position(|line| line.contains(" secs "))
            .unwrap();
        let tokens: Vec<&str> = lines[at].split(' ').collect();
        assert!(
            tokens[0].parse::<u32>().is_ok() && tokens[1] == "threads",
            "{}",
            lines[at]
        );
        assert!(matches!(
            (tokens[2], tokens[3]),
            ("reading" | "writing", "for")
        ));
        assert!(tokens[4].parse::<u32>().is_ok() && tokens[5] == "secs");
        assert!(matches!(tokens[6], "from" | "to"));
        assert!(lines[at + 1].starts_with("\tusing "), "{}", lines[at + 1]);
        assert!(lines.contains(&"histogram:"));
    }
}

/// Takes the last line as the histogram.
#[test]
fn the_last_line_is_the_histogram() {
    let text = output(COMMAND, None);
    let last = text.lines().last().unwrap();
    assert!(text.ends_with('\n') && last.starts_with("%:"));
    let shares: Vec<u32> = last[2..]
        .split_whitespace()
        .map(|share| share.parse().unwrap())
        .collect();
    assert_eq!(shares.len(), 25);
    assert_eq!((shares[0], shares[4]), (67, 33));
    let heading = text.lines().rev().nth(1).unwrap();
    assert_eq!(
        heading,
        "ms: 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24+"
    );
    // Each percentage is below the last digit of its milliseconds.
    assert_eq!(heading.len(), last.len() + 1);
}

#[test]
fn one_thread_is_singular_and_lines_come_only_where_they_were_asked_for() {
    let text = output("-kR -frandom -b8 a.dat", None);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "sqlio v1.5.SG",
            "1 thread reading for 30 secs from file a.dat",
            "\tusing 8KB random IOs",
            "using current size: 256 MB for file: a.dat",
            "initialization done",
            "CUMULATIVE DATA:",
            "throughput metrics:",
            "IOs/sec:  1500.00",
            "MBs/sec:    11.71",
        ]
    );
}

#[test]
fn our_own_output_is_read_back_by_our_own_reader() {
    for (words, parameters) in [
        (COMMAND, None),
        (
            "-kR -s5 -frandom -BN -LS -Fp.txt",
            Some("a.dat 2 0x0 10\nb.dat 1 0x3 10\n"),
        ),
        ("-kR -t2 -f8 -i4 -o1 -LS -BS a.dat", None),
        ("-kW -t2 -fsequential -BY -p1 a.dat b.dat", None),
    ] {
        let text = output(words, parameters);
        let file = stripewise_compat::import(text.as_bytes(), "own.txt").unwrap();
        let report = stripewise_compat::sqlio::report_of(&file.runs[0]).unwrap();
        assert_eq!(report.to_string(), text, "{words}");
    }
}
