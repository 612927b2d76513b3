//! What the documentation shows is what the program does.
//!
//! Blocks marked `console` in docs and docs/book are run, page by page, each page in a home of
//! its own; below each command stands what it prints on stdout. `STRIPEWISE_WRITE_TABLES=1`
//! writes what is printed now into the pages. All other lines that call the program, in
//! any page, name commands and switches that exist.

use crate::support::{Desk, here, program, text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of pages");
    let mut pages: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.sort();
    pages
}

/// What a command prints on stdout, its lines without blanks at their ends.
fn printed(home: &Path, command: &str) -> Vec<String> {
    let folder = Path::new(program()).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(home)
        .env("PATH", format!("{}:{path}", text(folder)))
        .env("HOME", home)
        .env("NO_COLOR", "1")
        .env_remove("XDG_DATA_HOME")
        .output()
        .expect("a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    // Findings are answers; mistakes in use and refusals are none.
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{command}: {:?} {stderr}",
        output.status
    );
    let stdout = String::from_utf8_lossy(&output.stdout);
    stdout
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// Ids, days and times differ from run to run, and with them where lines are broken.
fn masked(lines: &[String]) -> String {
    let words: Vec<&str> = lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .collect();
    let masked = words.iter().enumerate().map(|(at, &word)| {
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let is_id_or_day = word.contains("20") && digits >= 8 && word.contains('-');
        let is_time = words.get(at + 1) == Some(&"UTC");
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let is_end_of_id = ["show", "resume", "report"].contains(&before) && word.len() == 4;
        match is_id_or_day || is_time || is_end_of_id {
            true => "#",
            false => word,
        }
    });
    let masked = masked.collect::<Vec<_>>().join(" ");
    // Around midnight.
    masked.replace("# # UTC to # # UTC", "# # UTC")
}

/// A page with the output of its examples as it is now, and where it differs.
fn run_page(page: &str) -> (String, Vec<String>) {
    let home = tempfile::Builder::new()
        .prefix("stripewise-book-")
        .tempdir()
        .expect("a directory");
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut now = String::new();
    let mut wrong = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        now.push_str(line);
        now.push('\n');
        if line != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let command = line.strip_prefix("$ ").expect("a command");
            let mut shown = Vec::new();
            let is_output = |line: &&str| *line != "```" && !line.starts_with("$ ");
            while let Some(line) = lines.next_if(is_output) {
                shown.push(line.to_owned());
            }
            let printed = printed(home.path(), command);
            // The load of a bench grows with the processors; the page has two.
            let same_load = processors == 2 || !command.starts_with("stripewise bench");
            if same_load && masked(&shown) != masked(&printed) {
                wrong.push(format!("$ {command}\n{}", printed.join("\n")));
            }
            now.push_str(&format!("$ {command}\n"));
            for line in printed {
                now.push_str(&line);
                now.push('\n');
            }
        }
    }
    (now, wrong)
}

/// Runs the examples of all pages of a folder.
#[track_caller]
fn run_pages(folder: &str) {
    let mut wrong = Vec::new();
    for path in pages(&root().join(folder)) {
        let page = std::fs::read_to_string(&path).expect("a page");
        let (now, differs) = run_page(&page);
        if std::env::var("STRIPEWISE_WRITE_TABLES").is_ok() {
            std::fs::write(&path, now).expect("the page");
        } else {
            let named = |one| format!("{}: {one}", text(&path));
            wrong.extend(differs.into_iter().map(named));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn examples_of_the_book_print_what_its_pages_show() {
    run_pages("docs/book");
}

#[test]
fn examples_of_the_reference_print_what_its_pages_show() {
    run_pages("docs");
}

/// The command of a line: `stripewise lab run x.toml --time 1h` is `lab run`.
fn words_of(line: &str) -> Option<(Vec<&str>, Vec<&str>)> {
    let line = line.trim().trim_start_matches("$ ");
    let call = line.strip_prefix("stripewise ")?;
    // Comments begin behind two blanks.
    let call = call.split("  #").next().unwrap_or(call);
    let words: Vec<&str> = call.split_whitespace().collect();
    let is_name = |word: &&&str| {
        let mut signs = word.chars();
        !word.starts_with('-') && signs.all(|sign| sign.is_ascii_lowercase() || sign == '-')
    };
    let names = words.iter().take(2).take_while(is_name).copied().collect();
    let switches = words
        .iter()
        .filter(|word| word.starts_with("--"))
        .map(|word| word.split('=').next().unwrap_or(word))
        .collect();
    Some((names, switches))
}

/// `--help` of a command; of the first word alone where the second is none of its commands.
fn help(known: &mut BTreeMap<String, Option<String>>, names: &[&str]) -> Option<String> {
    let key = names.join(" ");
    if let Some(help) = known.get(&key) {
        return help.clone();
    }
    let answer = here(&[names, &["--help"]].concat());
    let found = (answer.code == Some(0)).then_some(answer.stdout);
    known.insert(key, found.clone());
    found
}

#[test]
fn examples_everywhere_name_commands_and_switches_that_exist() {
    let root = root();
    let mut all = vec![root.join("README.md")];
    all.extend(pages(&root.join("docs")));
    all.extend(pages(&root.join("docs/book")));
    let mut known = BTreeMap::new();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for path in all {
        let page = std::fs::read_to_string(&path).expect("a page");
        let mut in_code = false;
        for line in page.lines() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            }
            let Some((names, switches)) = words_of(line).filter(|_| in_code) else {
                continue;
            };
            // SQLIO's own switches follow.
            if names.first() == Some(&"sqlio") || names.is_empty() {
                continue;
            }
            seen += 1;
            let nested = matches!(names[0], "lab" | "probe" | "baseline" | "history" | "sim");
            let names = if nested { &names[..] } else { &names[..1] };
            let Some(help) = help(&mut known, names) else {
                wrong.push(format!("{}: no such command: {line}", text(&path)));
                continue;
            };
            for switch in switches {
                let is_there = help.lines().any(|line| {
                    let mut words = line.split([' ', ',', '=', '[']);
                    words.any(|word| word == switch)
                });
                if !is_there {
                    wrong.push(format!("{}: no {switch}: {line}", text(&path)));
                }
            }
        }
    }
    assert!(seen > 100, "{seen} examples");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_readmes_figures_of_a_simulated_array_are_those_of_this_version() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let desk = Desk::new();
    let holds = |output: &str, starts: &[&str], count: usize| {
        let is_figure = |line: &&str| starts.iter().any(|start| line.starts_with(start));
        let lines: Vec<&str> = output.lines().filter(is_figure).collect();
        assert_eq!(lines.len(), count, "{output}");
        for line in lines {
            assert!(readme.contains(line), "README.md has not: {line}");
        }
    };
    let repeated = "run sim:raid10-10k --outstanding 16 --repeat 6";
    let repeated: Vec<&str> = repeated.split(' ').collect();
    desk.run(&repeated).done();
    desk.run(&["baseline", "set", "last"]).done();
    let check = "check sim:raid10-10k?offset=63s --require iops>=700 --require p99<150ms";
    let check: Vec<&str> = check.split(' ').collect();
    let found = desk.run(&check).ended(1).stdout;
    let starts = ["1 of 2 requirements", "  Worse: ", "  MISSED: ", "  met: "];
    holds(&found, &starts, 4);
    // The lines of `align` are those of a page whose examples are run.
    let page = std::fs::read_to_string(root().join("docs/LAYOUTS.md")).expect("a page");
    let line = readme
        .lines()
        .find(|line| line.starts_with("  Starting at 31.5K "));
    let line = line.expect("a line of align");
    assert!(page.contains(line), "docs/LAYOUTS.md has not: {line}");
}
