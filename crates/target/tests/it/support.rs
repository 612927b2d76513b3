//! Guards for loop devices and mounts, skips, and shorthands.

use std::fs::File;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use stripewise_target::{
    Error, FillProgress, Intent, Knowledge, Plan, Progress, Result, Size, Target, TargetName,
};
use tempfile::TempDir;

pub const MIB: u64 = 1 << 20;

/// Says that a test cannot run here. Fails instead where everything is required.
pub fn skip(test: &str, needs: &str) {
    assert!(
        std::env::var_os("STRIPEWISE_REQUIRE_TOOLS").is_none_or(|value| value != "1"),
        "{test} needs {needs}"
    );
    eprintln!("skipped: {test}: needs {needs}");
}

/// Says that a test cannot run on this kernel, which nobody can install.
pub fn skip_kernel(test: &str, needs: &str) {
    eprintln!("skipped: {test}: needs {needs} in the kernel");
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether a test can run that needs root and these tools; says so if not.
pub fn can_run(test: &str, tools: &[&str]) -> bool {
    if !is_root() {
        skip(test, "root");
        return false;
    }
    for tool in tools {
        let found = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]
            .iter()
            .any(|directory| Path::new(directory).join(tool).exists());
        if !found {
            skip(test, tool);
            return false;
        }
    }
    true
}

/// Runs a tool that must work; its standard output.
pub fn run(command: &str, arguments: &[&str]) -> String {
    let output = Command::new(command).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{command}: {error}"));
    assert!(
        output.status.success(),
        "{command} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Runs a tool that may fail; whether it worked.
pub fn try_run(command: &str, arguments: &[&str]) -> bool {
    let output = Command::new(command).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("paths of tests are text")
}

/// A directory on the file system of temporary files.
pub fn directory() -> TempDir {
    tempfile::Builder::new()
        .prefix("stripewise-it-")
        .tempdir()
        .expect("a temporary directory")
}

/// Writes a file of a user's own: recognisable, dense.
pub fn users_file(directory: &Path, name: &str, bytes: u64) -> PathBuf {
    let path = directory.join(name);
    let word = b"precious";
    let data: Vec<u8> = word.iter().copied().cycle().take(bytes as usize).collect();
    std::fs::write(&path, data).expect("a user's file");
    File::open(&path)
        .and_then(|file| file.sync_all())
        .expect("synced");
    path
}

/// The user's file is as it was.
pub fn assert_untouched(path: &Path, bytes: u64) {
    let data = std::fs::read(path).expect("still there");
    assert_eq!(data.len() as u64, bytes, "{}", path.display());
    assert!(
        data.chunks(8)
            .all(|chunk| chunk == &b"precious"[..chunk.len()]),
        "{} was changed",
        path.display()
    );
}

/// A loop device over a sparse file of its own.
pub struct Loop {
    pub device: PathBuf,
    pub backing: PathBuf,
    _directory: TempDir,
}

impl Loop {
    pub fn new(bytes: u64) -> Loop {
        Loop::with(bytes, &[])
    }

    pub fn with(bytes: u64, options: &[&str]) -> Loop {
        let directory = directory();
        let backing = directory.path().join("backing");
        let file = File::create_new(&backing).expect("a backing file");
        file.set_len(bytes).expect("its size");
        Loop::over(&backing, options, directory)
    }

    fn over(backing: &Path, options: &[&str], directory: TempDir) -> Loop {
        let mut arguments = vec!["-f", "--show"];
        arguments.extend(options);
        arguments.push(text(backing));
        let device = run("losetup", &arguments);
        Loop {
            device: PathBuf::from(device),
            backing: backing.to_owned(),
            _directory: directory,
        }
    }

    /// Another loop device over a file or device that somebody else looks after.
    pub fn stacked(over: &Path) -> Loop {
        Loop::over(over, &[], directory())
    }

    /// The kernel's name.
    pub fn name(&self) -> &str {
        text(self.device.strip_prefix("/dev").expect("it is under /dev"))
    }

    /// It still stands on our backing file.
    pub fn is_in_use(&self) -> bool {
        let path = format!("/sys/block/{}/loop/backing_file", self.name());
        std::fs::read_to_string(path).is_ok_and(|found| found.contains(text(&self.backing)))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("-d").arg(&self.device).output();
        // The kernel waits for everybody who just looks at the device.
        for _ in 0..200 {
            if !self.is_in_use() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// A mounted file system.
pub struct Mount {
    pub path: PathBuf,
    _directory: TempDir,
}

impl Mount {
    pub fn new(arguments: &[&str]) -> Mount {
        let directory = directory();
        let path = directory.path().join("volume");
        std::fs::create_dir(&path).expect("a mount point");
        let mut all = arguments.to_vec();
        all.push(text(&path));
        run("mount", &all);
        Mount {
            path,
            _directory: directory,
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        unmount(&self.path);
    }
}

/// Unmounts for certain. Another test that starts a program holds our files for
/// a moment, between fork and exec.
pub fn unmount(path: &Path) {
    for _ in 0..40 {
        if try_run("umount", &[text(path)]) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    try_run("umount", &["--lazy", text(path)]);
}

/// Runs something when the test ends, however it ends.
pub struct Cleanup<F: FnMut()>(pub F);

impl<F: FnMut()> Drop for Cleanup<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A process that has a file open as its standard input.
pub struct Holder(Child);

impl Holder {
    pub fn of(path: &Path) -> Holder {
        let input = File::open(path).expect("it opens");
        let child = Command::new("sleep").arg("120").stdin(input).spawn();
        Holder(child.expect("sleep starts"))
    }

    pub fn running(mut command: Command) -> Holder {
        let child = command.stdin(Stdio::null()).spawn();
        Holder(child.expect("it starts"))
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `work` as an ordinary user: in a thread of its own whose effective user
/// is `nobody`, when the tests run as root.
pub fn as_ordinary_user<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    const NOBODY: u32 = 65_534;
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if is_root() {
                let (user, group) = (
                    rustix::process::Uid::from_raw(NOBODY),
                    rustix::process::Gid::from_raw(NOBODY),
                );
                rustix::thread::set_thread_groups(&[]).expect("no more groups");
                rustix::thread::set_thread_res_gid(group, group, group).expect("a group");
                rustix::thread::set_thread_res_uid(user, user, user).expect("a user");
            }
            work()
        });
        match thread.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The wish that most tests start from: the device under `/tmp` may be busy.
pub fn reading() -> Intent {
    Intent {
        busy_ok: true,
        ..Intent::default()
    }
}

pub fn writing() -> Intent {
    Intent {
        writes: true,
        ..reading()
    }
}

pub fn overwriting() -> Intent {
    Intent {
        overwrite: true,
        ..writing()
    }
}

pub fn destroying(name: &str) -> Intent {
    Intent {
        destroy: Some(name.to_owned()),
        ..writing()
    }
}

/// A test file of some MiB.
pub fn filling(mib: u64) -> Intent {
    Intent {
        size: Size::Exactly(mib * MIB),
        ..writing()
    }
}

pub fn plan(path: &Path, intent: &Intent) -> Result<Plan> {
    plan_knowing(path, intent, &Knowledge::none())
}

pub fn plan_knowing(path: &Path, intent: &Intent, knowledge: &Knowledge<'_>) -> Result<Plan> {
    stripewise_target::plan(&TargetName::Path(path.to_owned()), intent, knowledge)
}

/// A clock that stands still, and an ear that is content.
pub struct Quiet;

impl Progress for Quiet {
    fn now_ns(&mut self) -> u64 {
        0
    }
    fn report(&mut self, _: FillProgress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Calls a function at every report; the clock advances by a second each time
/// it is read.
pub struct Watching<F: FnMut(FillProgress) -> ControlFlow<()>> {
    pub seconds: u64,
    pub at_report: F,
}

impl<F: FnMut(FillProgress) -> ControlFlow<()>> Watching<F> {
    pub fn new(at_report: F) -> Self {
        Watching {
            seconds: 0,
            at_report,
        }
    }
}

impl<F: FnMut(FillProgress) -> ControlFlow<()>> Progress for Watching<F> {
    fn now_ns(&mut self) -> u64 {
        self.seconds += 1;
        self.seconds * 1_000_000_000
    }
    fn report(&mut self, progress: FillProgress) -> ControlFlow<()> {
        (self.at_report)(progress)
    }
}

pub fn prepare(plan: Plan) -> Result<Target> {
    stripewise_target::prepare(plan, &Knowledge::none(), &mut Quiet)
}

pub fn target(path: &Path, intent: &Intent) -> Target {
    match plan(path, intent).and_then(prepare) {
        Ok(target) => target,
        Err(error) => panic!("{error}; hint: {}", error.hint),
    }
}

/// An error that a tired person can work with.
pub fn refused(
    result: Result<impl Sized>,
    kind: stripewise_target::ErrorKind,
    says: &str,
) -> Error {
    let Err(error) = result else {
        panic!("it was not refused ({kind:?}: {says})");
    };
    assert_eq!(error.kind, kind, "{error}");
    let all = format!("{error}; {}", error.hint);
    assert!(all.contains(says), "`{says}` is not in `{all}`");
    assert!(!error.hint.is_empty(), "{error}: no hint");
    error
}

/// One aligned block, full of `byte`.
pub fn write_block(file: &File, offset: u64, byte: u8) -> std::io::Result<usize> {
    let mut memory = vec![byte; 2 * 4096];
    let start = memory.as_ptr().align_offset(4096);
    file.write_at(&memory[start..start + 4096], offset)
        .inspect(|_| memory.clear())
}

/// Names in a directory.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("readable");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.retain(|name| name != "lost+found");
    names.sort();
    names
}
