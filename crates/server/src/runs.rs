//! Runs started from the page: on simulated arrays, and on the files and devices that the
//! user allowed with `--allow-runs`. They only read, and one runs at a time. Each is a
//! child process that stores its results itself, as if started from a terminal.

use crate::system;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stripewise_campaign::live::{AllowedTarget, Started, StartedHere, View, Wish};
use stripewise_campaign::{Exit, Failure, Outcome, canonical};
use stripewise_units::{NameText, sim_array};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

/// Maximum characters of a value from a page.
const VALUE_MAX: usize = 120;
/// A longer line of events contains a record, which the store has too.
const LINE_MAX: u64 = 64 << 10;
/// Time limit for a child to stop: it waits for operations in flight.
const STOP_LIMIT: Duration = Duration::from_secs(40);

/// A file or device that runs may be started on.
#[derive(Clone, Debug)]
pub(crate) struct AllowedPath {
    /// As typed.
    name: String,
    path: PathBuf,
}

/// Checks the files and devices the user allowed. All must exist: none is made.
pub(crate) fn allowed(names: &[PathBuf]) -> Outcome<Vec<AllowedPath>> {
    let each = names.iter().map(|path| {
        let name = path.as_text();
        let refused = |why: String| {
            Failure::new(
                Exit::Target,
                format!("--allow-runs {name}: {why}"),
                "name a file or block device that exists; `stripewise prepare` makes a test file",
            )
        };
        let facts = path
            .metadata()
            .map_err(|error| refused(error.to_string()))?;
        if !facts.is_file() && !system::is_device(&facts) {
            return Err(refused(
                "this is neither a file nor a block device".to_owned(),
            ));
        }
        let path = canonical(path).map_err(|error| refused(error.to_string()))?;
        Ok(AllowedPath { name, path })
    });
    each.collect()
}

/// Maximum number of notes kept of a run.
const NOTES_MAX: usize = 20;

pub(crate) struct Runs {
    allowed: Vec<AllowedPath>,
    /// The user allowed runs next to other work.
    busy_ok: bool,
    last: Mutex<Option<(Started, Option<u32>)>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runs {
    pub(crate) fn new(allowed: Vec<AllowedPath>, busy_ok: bool) -> Runs {
        Runs {
            allowed,
            busy_ok,
            last: Mutex::new(None),
        }
    }

    /// What may be started here, and the last run started.
    pub(crate) fn here(&self) -> StartedHere {
        let allowed = self.allowed.iter().map(|one| AllowedTarget {
            name: one.name.clone(),
        });
        let last = locked(&self.last);
        StartedHere {
            allowed: allowed.collect(),
            last: last.as_ref().map(|(started, _)| started.clone()),
        }
    }

    /// Asks the run to stop; returns whether there was one.
    pub(crate) fn stop(&self) -> bool {
        let pid = locked(&self.last).as_ref().and_then(|(_, pid)| *pid);
        if let Some(pid) = pid {
            system::interrupt(pid);
        }
        pid.is_some()
    }

    /// Stops the run, and waits until its results are stored.
    pub(crate) async fn end(&self) {
        self.stop();
        let ended = async {
            while locked(&self.last)
                .as_ref()
                .is_some_and(|(_, pid)| pid.is_some())
            {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let _ = timeout(STOP_LIMIT, ended).await;
    }

    fn change(&self, change: impl FnOnce(&mut Started)) {
        if let Some((started, _)) = &mut *locked(&self.last) {
            change(started);
        }
    }
}

/// Starts the requested run.
///
/// # Errors
/// A message for people: not allowed, invalid, or another run is in progress.
pub(crate) fn start(
    runs: &Arc<Runs>,
    program: &Path,
    view: &View,
    options: &Wish,
) -> Result<(), String> {
    let words = words(&runs.allowed, options)?;
    let busy_flag = runs.busy_ok.then_some("--busy-ok");
    let mut last = locked(&runs.last);
    if last.as_ref().is_some_and(|(started, _)| !started.has_ended) {
        return Err("a run is in progress; stop it first, or wait until it ends".to_owned());
    }
    let mut child = Command::new(program)
        .arg("--store")
        .arg(&view.store)
        // Before the end of the switches, which `words` marks.
        .args(words.first())
        .args(busy_flag)
        .args(words.get(1..).unwrap_or_default())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", options.what))?;
    let started = Started {
        what: options.what.clone(),
        target: options.target.clone(),
        started_at: view.clock.timestamp(),
        ..Started::default()
    };
    let out = child.stdout.take();
    *last = Some((started, child.id()));
    drop(last);
    tokio::spawn(follow(Arc::clone(runs), child, out));
    Ok(())
}

/// The command-line arguments. Values follow `=`, so that none is taken for a switch.
fn words(allowed: &[AllowedPath], options: &Wish) -> Result<Vec<String>, String> {
    let mut words = match options.what.as_str() {
        "bench" => vec![
            "bench".to_owned(),
            "--read-only".to_owned(),
            "--no-report".to_owned(),
        ],
        "run" => vec!["run".to_owned(), "--read-percent=100".to_owned()],
        other => {
            return Err(format!(
                "`{other}` cannot be started here, only bench and run"
            ));
        }
    };
    words.push("--events".to_owned());
    let of_run = options.what == "run";
    for (switch, value, is_known) in [
        ("--label", &options.label, true),
        ("--block", &options.block, true),
        ("--threads", &options.threads, of_run),
        ("--outstanding", &options.outstanding, of_run),
        ("--duration", &options.duration, of_run),
        ("--time", &options.time, !of_run),
    ] {
        let Some(value) = value.as_deref().filter(|value| !value.is_empty()) else {
            continue;
        };
        if !is_known || value.len() > VALUE_MAX || value.chars().any(char::is_control) {
            return Err(format!("{switch} does not fit `{}`", options.what));
        }
        words.push(format!("{switch}={value}"));
    }
    words.push("--".to_owned());
    words.push(target(allowed, &options.target)?);
    Ok(words)
}

fn target(allowed: &[AllowedPath], name: &str) -> Result<String, String> {
    if let Some(array) = sim_array(name) {
        // A name, never a file.
        let of_name = |letter: char| letter.is_ascii_alphanumeric() || "-?=&._".contains(letter);
        let is_file = array
            .split('?')
            .next()
            .is_some_and(|name| name.contains('.'));
        if array.len() > VALUE_MAX || !array.chars().all(of_name) || is_file {
            return Err(format!("{name} is not the name of a simulated array"));
        }
        return Ok(name.to_owned());
    }
    let one = allowed.iter().find(|allowed| allowed.name == name);
    let one = one.ok_or_else(|| {
        format!("{name} was not given to --allow-runs when `stripewise serve` started")
    })?;
    same_place(&one.path)?;
    Ok(one.path.as_text())
}

/// Checks that the name still refers to a file or device at that place.
fn same_place(path: &Path) -> Result<(), String> {
    let facts = path
        .symlink_metadata()
        .map_err(|error| format!("{}: {error}", path.as_text()))?;
    match facts.is_file() || system::is_device(&facts) {
        true => Ok(()),
        false => Err(format!(
            "{} is no longer the same file or device",
            path.as_text()
        )),
    }
}

/// Processes the output of a child until it ends.
async fn follow(runs: Arc<Runs>, mut child: Child, out: Option<ChildStdout>) {
    let error_output = tokio::spawn(error_output(child.stderr.take()));
    if let Some(out) = out {
        let mut lines = BufReader::new(out);
        while let Some(line) = line(&mut lines).await {
            runs.change(|started| apply_event(started, &line));
        }
    }
    let error_output = error_output.await.ok().flatten();
    let code = child.wait().await.ok().and_then(|status| status.code());
    runs.change(|started| started.notes.extend(error_output));
    if let Some((started, pid)) = &mut *locked(&runs.last) {
        started.has_ended = true;
        started.exit_code = code;
        started.left_ns = None;
        *pid = None;
    }
}

/// The child's error message: the last line on stderr that contains `error:`. Reads all lines, so
/// that the child never blocks on the pipe.
async fn error_output(from: Option<ChildStderr>) -> Option<String> {
    let mut lines = BufReader::new(from?);
    let mut last = None;
    while let Some(line) = line(&mut lines).await {
        let line = String::from_utf8_lossy(&line);
        last = match line.trim().strip_prefix("error: ") {
            Some(words) => Some(words.to_owned()),
            None => last,
        };
    }
    last
}

/// The next line; empty if it was too long. `None` at the end.
async fn line<S: AsyncRead + Unpin>(lines: &mut BufReader<S>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = (&mut *lines)
        .take(LINE_MAX)
        .read_until(b'\n', &mut bytes)
        .await;
    if read.ok()? == 0 {
        return None;
    }
    let mut is_whole = bytes.ends_with(b"\n");
    let too_long = !is_whole;
    while !is_whole {
        bytes.clear();
        let read = (&mut *lines)
            .take(LINE_MAX)
            .read_until(b'\n', &mut bytes)
            .await;
        is_whole = read.ok()? == 0 || bytes.ends_with(b"\n");
    }
    if too_long {
        bytes.clear();
    }
    Some(bytes)
}

fn apply_event(started: &mut Started, line: &[u8]) {
    #[derive(Deserialize)]
    struct Event {
        event: String,
        title: Option<String>,
        left_ns: Option<u64>,
        text: Option<String>,
    }
    let Ok(event) = serde_json::from_slice::<Event>(line) else {
        return;
    };
    match event.event.as_str() {
        "progress" => {
            started.title = event.title;
            started.left_ns = event.left_ns;
        }
        "note" | "warning" | "failure" => {
            if let Some(text) = event.text.filter(|text| !started.notes.contains(text)) {
                if started.notes.len() >= NOTES_MAX {
                    started.notes.remove(0);
                }
                started.notes.push(text);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: &str) -> Wish {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn only_what_was_named_is_started_and_only_to_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("data");
        std::fs::write(&file, b"x").unwrap();
        let allowed = allowed(std::slice::from_ref(&file)).unwrap();
        let name = file.as_text();
        let bench = words(
            &allowed,
            &options(&format!("{{\"what\":\"bench\",\"target\":\"{name}\"}}")),
        );
        let bench = bench.unwrap();
        assert!(bench.contains(&"--read-only".to_owned()), "{bench:?}");
        assert_eq!(bench.last(), Some(&file.canonicalize().unwrap().as_text()));
        let run = words(
            &allowed,
            &options(r#"{"what":"run","target":"sim:nvme","block":"8K"}"#),
        )
        .unwrap();
        assert!(
            run.contains(&"--read-percent=100".to_owned())
                && run.contains(&"--block=8K".to_owned())
        );
        for json in [
            r#"{"what":"run","target":"/etc/passwd"}"#.to_owned(),
            format!("{{\"what\":\"lab\",\"target\":\"{name}\"}}"),
            format!("{{\"what\":\"run\",\"target\":\"{name}/../data\"}}"),
            r#"{"what":"run","target":"sim:/etc/array.toml"}"#.to_owned(),
            r#"{"what":"run","target":"sim:array.toml"}"#.to_owned(),
            r#"{"what":"run","target":"--overwrite"}"#.to_owned(),
            r#"{"what":"bench","target":"sim:nvme","duration":"1s"}"#.to_owned(),
            "{\"what\":\"run\",\"target\":\"sim:nvme\",\"label\":\"a\\nb\"}".to_owned(),
        ] {
            assert!(words(&allowed, &options(&json)).is_err(), "{json}");
        }
        assert!(
            serde_json::from_str::<Wish>(r#"{"what":"run","target":"x","destroy":"sda"}"#).is_err()
        );
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(target(&allowed, &name).is_err(), "a directory by now");
    }

    #[test]
    fn a_directory_or_what_is_not_there_cannot_be_named() {
        let directory = tempfile::tempdir().unwrap();
        for path in [
            directory.path().to_owned(),
            directory.path().join("missing"),
        ] {
            assert_eq!(allowed(&[path]).unwrap_err().exit, Exit::Target);
        }
    }

    #[test]
    fn progress_and_notes_are_heard() {
        let mut started = Started::default();
        apply_event(
            &mut started,
            br#"{"event":"progress","title":"random read","position":1,"left_ns":5}"#,
        );
        apply_event(
            &mut started,
            br#"{"event":"warning","code":"x","text":"page cache"}"#,
        );
        apply_event(&mut started, b"not JSON");
        assert_eq!(started.title.as_deref(), Some("random read"));
        assert_eq!((started.left_ns, started.notes.len()), (Some(5), 1));
    }
}
