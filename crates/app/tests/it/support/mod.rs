//! A desk to work at: a directory, a store, and the program. Guards for loop
//! devices, mounts and control groups are in `machine`, reading JSON in `json`.

pub mod json;
pub mod machine;
pub mod served;
pub mod shared;
pub mod slow_array;
pub mod streams;
pub mod windows;

pub use json::Json;
pub use machine::{
    Cgroup, Loop, Mount, as_unprivileged, can_run, directory, run, skip, text, try_run, wait_until,
};
pub use windows::{long_enough, read_by_another, until_measured, written_by_another};

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use stripewise_cli::{FileSystemSize, Output, Surroundings};
use tempfile::TempDir;

pub const MIB: u64 = 1 << 20;

/// The longest that anything here may take before it counts as hung: more than what takes
/// three seconds needs beside thirty busy processes.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// The plan of two named jobs on two arrays.
pub const TWO_JOBS: &str = r#"
    [defaults]
    duration = "2s"
    [[job]]
    name = "log"
    target = "sim:sata-ssd"
    write = true
    sequential = true
    cache = "direct-sync"
    [[job]]
    name = "data"
    target = "sim:raid10-10k"
    read-percent = 70
    threads = 2
    outstanding = 8
"#;

/// Commands that open what they are given as a target.
const MEASURE: [&str; 10] = [
    "run", "bench", "align", "verify", "probe", "profile", "advise", "sqlio", "check", "lab",
];

/// Words that write to a file that others can open, or make one.
const KEEP: [&str; 5] = [
    "prepare",
    "--keep",
    "--power-cut",
    "--overwrite",
    "--destroy",
];

/// Words before the name of a file that is made.
const OUTPUT: [&str; 4] = ["-o", "--report", "--save", "init"];

/// Text that a command printed in this process.
#[derive(Clone, Default)]
struct Written(Rc<RefCell<Vec<u8>>>);

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.take()).expect("a command prints text")
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A directory with a store in it.
pub struct Desk {
    directory: TempDir,
}

impl Desk {
    pub fn new() -> Desk {
        Desk {
            directory: tempfile::Builder::new()
                .prefix("stripewise-app-")
                .tempdir()
                .expect("a temporary directory"),
        }
    }

    /// Where tests may make files.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn store(&self) -> PathBuf {
        self.path().join("results.db")
    }

    /// A directory to measure, apart from the store.
    pub fn volume(&self) -> String {
        let path = self.path().join("volume");
        std::fs::create_dir_all(&path).expect("a directory");
        text(&path).to_owned()
    }

    /// The path of a file in this directory, as text.
    pub fn file(&self, name: &str) -> String {
        text(&self.path().join(name)).to_owned()
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: &str) -> String {
        let path = self.file(name);
        std::fs::write(&path, content).expect("a file");
        path
    }

    /// The program with arguments and the store of this desk.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(arguments)
            .arg("--store")
            .arg(self.store())
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs a command line to its end: in this process, or in one of its own where that
    /// matters.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        match self.needs_a_process(arguments) {
            true => self.process(arguments),
            false => self.here(arguments),
        }
    }

    /// Runs the program to its end in a process of its own.
    pub fn process(&self, arguments: &[&str]) -> Answer {
        Answer::of(&mut self.command(arguments))
    }

    /// Whether a command line cannot be run in this process. One reason is a file that is
    /// named from the current directory, which this process has for all tests. The other is
    /// a file or device that is judged by who has it open, now or in the next command: a
    /// child that a test beside this one forks holds all that this process has open until
    /// the child becomes its program.
    fn needs_a_process(&self, arguments: &[&str]) -> bool {
        let is_relative = |name: &str| !name.starts_with(['/', '-']);
        // Also glued to its switch: `--plan=a.toml`, and SQLIO's `-Fparam.txt`.
        let glued = |word: &str| {
            let behind = word.split_once('=').map(|pair| pair.1).or(word.get(2..));
            behind.is_some_and(|name| !name.is_empty() && self.path().join(name).exists())
        };
        let is_there = |name: &str| match is_relative(name) {
            true => self.path().join(name).exists(),
            false => name.starts_with('-') && glued(name),
        };
        let is_made = |pair: &[&str]| OUTPUT.contains(&pair[0]) && is_relative(pair[1]);
        let is_judged = |name: &str| {
            let is_text = [".toml", ".json", ".jsonl"].iter();
            std::fs::metadata(name).is_ok_and(|found| !found.is_dir())
                && !is_text.into_iter().any(|end| name.ends_with(end))
        };
        let measures = arguments
            .first()
            .is_some_and(|first| MEASURE.contains(first));
        arguments.windows(2).any(is_made)
            || arguments
                .iter()
                .any(|word| is_there(word) || KEEP.contains(word) || measures && is_judged(word))
    }

    /// Runs a command line to its end in this process.
    fn here(&self, arguments: &[&str]) -> Answer {
        let store = self.store();
        here(&[arguments, &["--store", text(&store)]].concat())
    }

    /// Runs it with `--json`; it must succeed, but its numbers may be void.
    pub fn json(&self, arguments: &[&str]) -> Json {
        self.run(&with_json(arguments)).done().json()
    }

    /// The only job of the only run of a `run --json` that must succeed.
    pub fn job(&self, arguments: &[&str]) -> Json {
        only_job(&self.json(arguments))
    }

    /// `run` on a test file of this desk's volume, which may be busy with other tests.
    pub fn job_on_file(&self, arguments: &[&str]) -> Json {
        let volume = self.volume();
        let mut all = vec!["run", &volume, "--busy-ok"];
        all.extend(arguments);
        for (switch, value) in [("--size", "8M"), ("--duration", "100ms")] {
            if !arguments.contains(&switch) {
                all.extend([switch, value]);
            }
        }
        self.job(&all)
    }

    /// Starts the program and leaves it running.
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments))
    }

    /// Ids that `history` lists, newest first; none where nothing made a store yet.
    pub fn ids(&self) -> Vec<String> {
        if !self.store().exists() {
            return Vec::new();
        }
        let listed = self.json(&["history"]);
        let rows = listed.at("history").items();
        rows.iter().map(|row| row.at("id").text()).collect()
    }
}

/// Runs a command line to its end in this process, with no variable set and nothing on stdin.
pub fn here(arguments: &[&str]) -> Answer {
    here_among(arguments, Rc::new(|_| None))
}

/// The same on a terminal of so many columns.
pub fn here_at(columns: usize, arguments: &[&str]) -> Answer {
    let columns = OsString::from(columns.to_string());
    let variable = move |name: &str| (name == "COLUMNS").then(|| columns.clone());
    here_among(arguments, Rc::new(variable))
}

fn here_among(arguments: &[&str], variable: stripewise_cli::Variable) -> Answer {
    let (stdout, stderr) = (Written::default(), Written::default());
    let output = Output::new(Box::new(stdout.clone()), Box::new(stderr.clone()));
    let words = ["stripewise"].iter().chain(arguments);
    let surroundings = Surroundings {
        serve: stripewise_server::serve,
        file_system_size: FileSystemSize::AtMost { bytes: 4 << 30 },
        variable,
        ..Surroundings::default()
    };
    let exit = stripewise_cli::run(words.map(OsString::from).collect(), surroundings, output);
    Answer {
        code: Some(i32::from(exit.code())),
        stdout: stdout.text(),
        stderr: stderr.text(),
        line: format!("stripewise {}", arguments.join(" ")),
    }
}

/// The program that tests start: what users have, but where that would make no test file for
/// want of free space (see `examples/stripewise.rs`).
pub fn program() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let users = env!("CARGO_BIN_EXE_stripewise");
        if !is_nearly_full(&std::env::temp_dir()) {
            return users.to_owned();
        }
        let program = Path::new(users).with_file_name("examples/stripewise");
        let found = program.exists();
        assert!(
            found,
            "{} is missing: cargo build --examples",
            text(&program)
        );
        text(&program).to_owned()
    });
    &PROGRAM
}

/// Whether less is free than a tenth, or 2 GiB, and what the tests have in files at any time
/// (246 MiB were measured).
fn is_nearly_full(folder: &Path) -> bool {
    let space = rustix::fs::statvfs(folder).expect("a folder");
    let available_bytes = space.f_bavail * space.f_frsize;
    let total_bytes = space.f_blocks * space.f_frsize;
    available_bytes < (total_bytes / 10).max(2 << 30) + (512 << 20)
}

pub fn with_json<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    arguments.iter().copied().chain(["--json"]).collect()
}

/// The only job of the only run of a document.
pub fn only_job(document: &Json) -> Json {
    let runs = document.at("runs").items();
    assert_eq!(runs.len(), 1, "one run");
    let jobs = runs[0].at("jobs").items();
    assert_eq!(jobs.len(), 1, "one job");
    jobs[0].clone()
}

/// Codes of all warnings of a document or job, with those of its runs and jobs.
pub fn codes(value: &Json) -> Vec<String> {
    let mut codes: Vec<String> = value
        .all("warnings")
        .iter()
        .flat_map(Json::items)
        .map(|warning| warning.at("code").text())
        .collect();
    codes.sort();
    codes.dedup();
    codes
}

/// How a command ended.
pub struct Answer {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// What was run, for messages.
    pub line: String,
}

impl Answer {
    pub fn of(command: &mut Command) -> Answer {
        Running::of(command).wait()
    }

    /// However it ended, it was not by a panic or an abort: the number of one and
    /// the signal of the other, and the words of both.
    #[track_caller]
    fn unbroken(self) -> Answer {
        let broke = matches!(self.code, Some(101 | 134)) || self.stderr.contains("panicked at");
        assert!(!broke, "{}: {:?}\n{}", self.line, self.code, self.stderr);
        self
    }

    /// It ended with this code.
    #[track_caller]
    pub fn ended(self, code: i32) -> Answer {
        assert_eq!(
            self.code,
            Some(code),
            "{}\nstdout: {}\nstderr: {}",
            self.line,
            self.stdout.chars().take(2_000).collect::<String>(),
            self.stderr
        );
        self
    }

    /// It ended well, or its numbers are void and nothing else is the matter: what a test
    /// can measure on is mostly no disk, and whether that shows depends on what else runs.
    #[track_caller]
    pub fn done(self) -> Answer {
        let is_void = |text: &str| text.contains("VOID") || text.contains("\"severity\": \"void\"");
        match is_void(&self.stdout) || is_void(&self.stderr) {
            true if self.code == Some(1) => self,
            _ => self.ended(0),
        }
    }

    /// It failed with this code, printed nothing, and said what is wrong and what
    /// to do: every text of `says` is in what it said.
    #[track_caller]
    pub fn failed(self, code: i32, says: &[&str]) -> Answer {
        let answer = self.ended(code);
        assert_eq!(answer.stdout, "", "{}", answer.line);
        answer.said(says)
    }

    /// stderr has an error, a hint, and these words.
    #[track_caller]
    pub fn said(self, words: &[&str]) -> Answer {
        self.warned(&["error: ", "hint: "]).warned(words)
    }

    /// stderr has these words, whatever the code was.
    #[track_caller]
    pub fn warned(self, words: &[&str]) -> Answer {
        self.has(&self.stderr, words);
        self
    }

    /// stdout has these words, whatever the code was.
    #[track_caller]
    pub fn printed(self, words: &[&str]) -> Answer {
        self.has(&self.stdout, words);
        self
    }

    #[track_caller]
    fn has(&self, text: &str, words: &[&str]) {
        for word in words {
            let line = &self.line;
            assert!(text.contains(word), "{line}: `{word}` is not in\n{text}");
        }
    }

    /// The one JSON document on stdout: nothing before it, nothing after it.
    #[track_caller]
    pub fn json(&self) -> Json {
        Json::parse(&self.stdout).unwrap_or_else(|error| {
            panic!("{}: {error}\n{}\n{}", self.line, self.stdout, self.stderr)
        })
    }
}

/// A text with its words in one line: lines end where the terminal does.
pub fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The exit code; 128 and its number for a signal, as a shell has it.
pub fn code_of(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt;
    status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
}

/// The program while it runs. Killed if the test ends before it does.
pub struct Running {
    child: Option<Child>,
    line: String,
    /// Lines of stderr read so far.
    seen: String,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Running {
    pub fn start(mut command: Command) -> Running {
        Running::of(&mut command)
    }

    fn of(command: &mut Command) -> Running {
        let line = format!("{command:?}");
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
        Running {
            child: Some(child),
            line,
            seen: String::new(),
            stderr,
        }
    }

    pub fn pid(&self) -> i32 {
        let child = self.child.as_ref().expect("it runs");
        i32::try_from(child.id()).expect("a process id")
    }

    /// Reads stderr until a line contains `word`.
    pub fn until(&mut self, word: &str) {
        loop {
            let mut line = String::new();
            let read = self.stderr.read_line(&mut line).expect("stderr is text");
            assert!(read > 0, "{}: no `{word}` in\n{}", self.line, self.seen);
            self.seen.push_str(&line);
            if line.contains(word) {
                return;
            }
        }
    }

    /// What was read of stderr so far.
    pub fn said(&self) -> &str {
        &self.seen
    }

    /// Waits until a question is answered with yes. A program that ends before says why.
    #[track_caller]
    pub fn until_true(&mut self, what: &str, mut question: impl FnMut() -> bool) {
        let began = Instant::now();
        while !question() {
            assert!(began.elapsed() < PATIENCE, "{}: never {what}", self.line);
            let child = self.child.as_mut().expect("it runs");
            if let Some(status) = child.try_wait().expect("a status") {
                if question() {
                    return;
                }
                let mut out = child.stdout.take().expect("a pipe");
                let message = format!("{}{}", self.seen, read_all(&mut self.stderr));
                let (line, out) = (&self.line, read_all(&mut out));
                panic!("{line} ended before {what}: {status}\n{out}\n{message}");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.pid()).expect("a process id");
        rustix::process::kill_process(pid, signal).expect("a signal");
    }

    /// Waits for the end, which must come within `PATIENCE`.
    pub fn wait(mut self) -> Answer {
        let mut child = self.child.take().expect("it runs");
        let mut out = child.stdout.take().expect("a pipe");
        let began = Instant::now();
        let (line, seen) = (self.line.clone(), self.seen.clone());
        let stderr = &mut self.stderr;
        std::thread::scope(|scope| {
            let stdout = scope.spawn(move || read_all(&mut out));
            let stderr = scope.spawn(move || read_all(stderr));
            let status = loop {
                match child.try_wait().expect("a status") {
                    Some(status) => break status,
                    None if began.elapsed() > PATIENCE => {
                        let _ = child.kill();
                        let _ = child.wait();
                        panic!("{line} hangs");
                    }
                    None => std::thread::sleep(Duration::from_millis(5)),
                }
            };
            let answer = Answer {
                code: code_of(status),
                stdout: stdout.join().expect("the reader"),
                stderr: seen + &stderr.join().expect("the reader"),
                line,
            };
            answer.unbroken()
        })
    }
}

fn read_all(from: &mut impl std::io::Read) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text)
        .expect("the program prints text");
    text
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Names in a directory, sorted.
pub fn names(directory: impl AsRef<Path>) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("readable");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name != "lost+found")
        .collect();
    names.sort();
    names
}

/// A user's own file: written in full with noise, the same each time. A process that is gone
/// wrote it: what this one had open, a child of another test may hold until it is a program.
pub fn users_file(path: &str, bytes: u64) -> Vec<u8> {
    let mut state = 42_u64;
    let mut data = Vec::with_capacity(usize::try_from(bytes).expect("a small file") + 8);
    while (data.len() as u64) < bytes {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        data.extend_from_slice(&(word ^ (word >> 31)).to_le_bytes());
    }
    data.truncate(usize::try_from(bytes).expect("a small file"));
    written_by_another(path, &data);
    data
}
