//! Examples of the documentation that need an image, a device or another program: what
//! `book.rs` cannot run as it stands. The command is taken from the page; so is what is
//! expected, word by word, but for names, times and ids.

use crate::partition::Partitions;
use crate::support::{Answer, Desk, Loop, MIB, can_run, text};
use std::path::Path;
use std::process::Command;

/// A command of a page with what is shown below it.
struct Example {
    command: String,
    shown: Vec<String>,
}

/// The example of a page whose command begins like this.
#[track_caller]
fn example(page: &str, begins: &str) -> Example {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(page);
    let page = std::fs::read_to_string(path).expect("a page");
    let mut lines = page.lines();
    let start = lines.find_map(|line| line.strip_prefix("$ ").filter(|it| it.starts_with(begins)));
    let mut command = start.expect("an example").to_owned();
    while command.ends_with('\\') {
        command.pop();
        command.push_str(lines.next().expect("the rest of a command").trim_start());
    }
    let is_output = |line: &&str| *line != "```" && !line.starts_with("$ ");
    let shown = lines.take_while(is_output).map(str::to_owned).collect();
    Example { command, shown }
}

/// Runs a command as a shell does, in the desk's directory.
fn shell(desk: &Desk, command: &str) -> Answer {
    let program = Path::new(crate::support::program());
    let path = std::env::var("PATH").unwrap_or_default();
    let folder = text(program.parent().expect("a folder"));
    Answer::of(
        Command::new("sh")
            .args(["-c", command])
            .current_dir(desk.path())
            .env("PATH", format!("{folder}:{path}"))
            .env("HOME", desk.path())
            .env("NO_COLOR", "1")
            .env_remove("XDG_DATA_HOME"),
    )
}

/// The words of lines; ids, and paths of saved tables, are `#`.
fn words(lines: &[String]) -> String {
    let words = lines.iter().flat_map(|line| line.split_whitespace());
    let masked = words.map(|word| {
        let signs = || word.chars().filter(|sign| *sign == '-');
        let is_uuid = word.len() == 36 && signs().count() == 4;
        let is_id = word.len() > 20 && signs().count() == 2 && word.contains("\"20");
        if is_uuid || is_id || word.contains("/partition-tables/") {
            return "#";
        }
        word
    });
    masked.collect::<Vec<_>>().join(" ")
}

/// What was printed has what is shown, in this order; `...` stands for anything.
#[track_caller]
fn holds(example: &Example, printed: &str) {
    let printed: Vec<String> = printed.lines().map(str::to_owned).collect();
    let printed = words(&printed);
    let mut rest = printed.as_str();
    for piece in example.shown.split(|line| line.trim() == "...") {
        let piece = words(piece);
        let Some(at) = rest.find(&piece) else {
            panic!("{}: not printed: {piece}\nin: {printed}", example.command);
        };
        rest = &rest[at + piece.len()..];
    }
}

#[test]
fn the_old_image_of_the_page_on_disks_is_judged_as_shown() {
    if !can_run("the_old_image_of_the_page", &["sfdisk", "mkfs.ext4"]) {
        return;
    }
    let desk = Desk::new();
    let image = std::fs::File::create_new(desk.file("old.img")).expect("an image");
    image.set_len(512 * MIB).expect("its size");
    // As an installer of 2005 left it.
    let table = "label: dos\\nlabel-id: 0xc027a0b0\\nstart=63, size=800000, type=83\\n";
    let made = format!("printf '{table}' | sfdisk --quiet old.img");
    shell(&desk, &made).done();
    shell(
        &desk,
        "mkfs.ext4 -q -F -b 4096 -E offset=32256 old.img 100000",
    )
    .done();
    let example = example("DISKS.md", "stripewise disks old.img");
    let found = shell(&desk, &format!("{} 2>&1", example.command)).ended(1);
    holds(&example, &found.stdout);
}

#[test]
fn events_go_through_jq_as_the_page_on_loads_shows() {
    if !can_run("events_go_through_jq", &["jq"]) {
        return;
    }
    let desk = Desk::new();
    let example = example("WORKLOADS.md", "stripewise run sim:nvme");
    assert!(example.command.contains("--events"), "{}", example.command);
    let found = shell(&desk, &example.command).done();
    assert_eq!(found.stdout.lines().count(), example.shown.len());
    holds(&example, &found.stdout);
}

/// Names of the page in place of those of a test.
fn as_on_the_page(printed: &str, device: &Loop) -> String {
    printed
        .replace(text(&device.backing), "/tmp/example/disk.img")
        .replace(device.name(), "loop0")
}

#[test]
fn the_page_on_layouts_makes_a_partition_and_a_file_system() {
    own_process!();
    let tools = ["root", "losetup", "partx", "mkfs.xfs"];
    if !can_run("the_page_on_layouts_makes_a_partition", &tools) {
        return;
    }
    let (desk, device) = (Desk::new(), Loop::new(2048 * MIB));
    let run_it = |begins: &str| {
        let example = example("LAYOUTS.md", begins);
        // The plan of what is done stands on stderr.
        let command = format!("{} 2>&1", example.command).replace("loop0", device.name());
        let found = shell(&desk, &command).done();
        holds(&example, &as_on_the_page(&found.stdout, &device));
    };
    run_it("stripewise partition /dev/loop0 --align 64K --stripe-unit 64K");
    let partitions = Partitions(&device);
    run_it("stripewise partition /dev/loop0 --align 64K --stripe-unit 64K --quiet");
    run_it("stripewise format /dev/loop0p1");
    drop(partitions);
}
