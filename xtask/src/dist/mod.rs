//! The downloads for users: a zip with the .exe for Windows; static binaries for Linux on two
//! processors, each as a tar.gz, a .deb and a .rpm; licences and documents in each; manifests for
//! package managers; and the SHA-256 of all.
//!
//! The same sources give the same files: names have the version, files are in order, times are
//! fixed, symbols and paths of this machine are left out of the binaries. Missing build tools are
//! named and counted as skipped; a binary that would need a library at run time is an error.

mod archive;
mod binary;
mod licences;
mod manifests;
mod packages;
mod system;

use anyhow::{Context, Result, bail};
use archive::{Entry, crlf};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use suite::arguments::Arguments;
use suite::shell::{self, cargo};
use system::{PROFILE, System, VERSION};

pub fn run(mut arguments: Arguments) -> Result<()> {
    let root = suite::root::path();
    let only: Option<String> = arguments.value("--only")?;
    let out: Option<PathBuf> = arguments.value("--out")?;
    let built: Option<PathBuf> = arguments.value("--binary")?;
    arguments.finish()?;
    let systems = match only.as_deref() {
        None => System::ALL.to_vec(),
        Some(name) => match System::ALL.iter().find(|system| system.short() == name) {
            Some(system) => vec![*system],
            None => {
                let names = System::ALL.map(System::short).join("`, `");
                bail!("--only is one of `{names}`, not `{name}`")
            }
        },
    };
    if built.is_some() && systems.len() > 1 {
        bail!("--binary is one program: say with --only for which system");
    }
    let out = out.unwrap_or_else(|| suite::root::target_directory().join("dist"));
    std::fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    // The packagers run in the workspace's folder, not in the caller's.
    let out = std::path::absolute(&out)?;
    let mut made = Vec::new();
    // This build's program for this machine, for the output of the program itself.
    let mut runs_here = None;
    for system in systems {
        remove_old(&out, system)?;
        if built.is_none() && !shell::has(system.compiler()) {
            shell::skip(&system.name(), system.compiler())?;
            continue;
        }
        let binary = match &built {
            Some(binary) => std::path::absolute(binary)?,
            None => build(&root, system)?,
        };
        if system == System::Linux {
            runs_here = Some(binary.clone());
        }
        let printer = match &runs_here {
            Some(program) => program.clone(),
            // Its output depends on the sources, not on the optimisation.
            None => shell::debug_binary(&root)?,
        };
        made.push(pack(&root, &out, system, &binary, &printer)?);
        runs_here = Some(printer);
    }
    if made.is_empty() {
        bail!("nothing could be made");
    }
    manifests::make(&out)?;
    sums(&out)
}

/// Removes an earlier run's files for this system: if one was not built this time, the checksums
/// would include an old file next to new ones.
fn remove_old(out: &Path, system: System) -> Result<()> {
    for name in system.downloads() {
        let path = out.join(name);
        if path.exists() {
            std::fs::remove_file(&path).with_context(|| format!("{}", path.display()))?;
        }
    }
    Ok(())
}

/// Packs `binary`; `printer` is a program from the same sources that runs on this machine.
fn pack(root: &Path, out: &Path, system: System, binary: &Path, printer: &Path) -> Result<PathBuf> {
    let bytes = std::fs::read(binary)?;
    match system.elf_machine() {
        None => binary::needs_only_windows(binary)?,
        Some(machine) => binary::is_static(&bytes, machine)?,
    }
    binary::names_no_path(&bytes, &paths_of_this_machine(root))?;
    if system == System::Linux {
        container(out, binary)?;
    }
    let mut entries = vec![Entry::program(system.binary(), bytes)];
    entries.extend(documents(root)?);
    entries.push(Entry::text(
        "THIRD-PARTY-LICENCES.txt",
        licences::collect(root, system.triple())?,
    ));
    entries.extend(made_by_program(printer, system)?);
    if system == System::Windows {
        entries.push(Entry::text("READ-ME-FIRST.txt", FIRST.to_owned()));
        for entry in &mut entries {
            crlf(entry);
        }
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let folder = system.name();
    let path = match system {
        System::Windows => archive::zip(out, &folder, &entries)?,
        System::Linux | System::LinuxArm => archive::tar_gz(out, &folder, &entries)?,
    };
    packages::make(root, out, system, &entries)?;
    println!("{}: {} files", path.display(), entries.len());
    Ok(path)
}

/// Input of the container file: only the program, executable.
fn container(out: &Path, program: &Path) -> Result<()> {
    let path = out.join("container/stripewise");
    std::fs::create_dir_all(path.parent().context("a folder")?)?;
    // Including its permissions.
    std::fs::copy(program, &path)?;
    Ok(())
}

const FIRST: &str = "\
Stripewise for Windows 10, Windows Server 2016 and later, 64 bit.

There is nothing to install: put stripewise.exe into any folder, preferably one on
the PATH, and run it in a console:

    stripewise doctor
    stripewise bench D:\\

With the name sqlio.exe it takes SQLIO's command line. To give it that name, use

    mklink /H sqlio.exe stripewise.exe

or copy the file. `stripewise sqlio ...` does the same.

Completions for PowerShell:

    . .\\completions\\stripewise.ps1

(put this line, with the full path, into the file that $PROFILE names).

docs\\WINDOWS.md lists what has been tested, and what has not been run on Windows
itself yet.
";

/// Builds without paths of this machine.
fn build(root: &Path, system: System) -> Result<PathBuf> {
    let triple = system.triple();
    if shell::has("rustup") {
        shell::run(
            Command::new("rustup")
                .current_dir(root)
                .args(["target", "add", triple]),
        )?;
    }
    let remapped = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![remapped(root, "stripewise")];
    if let Some(home) = home("CARGO_HOME", ".cargo") {
        flags.push(remapped(&home, "cargo"));
    }
    // Last, as the last match wins: in the sources or elsewhere.
    flags.push(remapped(&suite::root::target_directory(), "target"));
    flags.push(standard_library(root)?);
    let arguments = [
        system.build_command(),
        "--profile",
        PROFILE,
        "--locked",
        "--package",
        "stripewise-app",
        "--target",
        triple,
    ];
    let mut command = cargo(root, &arguments);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    shell::run(&mut command)?;
    Ok(system.built())
}

/// Where the sources of the standard library are installed, the compiler writes their path into the
/// binary; otherwise it writes this one.
fn standard_library(root: &Path) -> Result<String> {
    let rustc = |argument: &[&str]| {
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        shell::read(command.current_dir(root).args(argument)).map(|output| output.stdout)
    };
    let sysroot = rustc(&["--print", "sysroot"])?;
    let version = rustc(&["--version", "--verbose"])?;
    let commit = version
        .lines()
        .find_map(|line| line.strip_prefix("commit-hash: "))
        .context("rustc --version --verbose names no commit")?;
    let sources = Path::new(sysroot.trim()).join("lib/rustlib/src/rust");
    Ok(format!(
        "--remap-path-prefix={}=/rustc/{commit}",
        sources.display()
    ))
}

/// Folders whose paths differ between machines and must not be in the binaries: the sources, the
/// build folder, cargo's home, the toolchains'.
fn paths_of_this_machine(root: &Path) -> Vec<PathBuf> {
    let mut paths = vec![root.to_owned(), suite::root::target_directory()];
    paths.extend(home("CARGO_HOME", ".cargo"));
    paths.extend(home("RUSTUP_HOME", ".rustup"));
    paths
}

/// The value of a variable, or a folder in the home directory.
fn home(variable: &str, folder: &str) -> Option<PathBuf> {
    let given = std::env::var_os(variable).map(PathBuf::from);
    given.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(folder)))
}

/// Files of the top folder to pack; the documents link to some of them.
const OF_THE_TOP: [&str; 5] = [
    "README.md",
    "CHANGELOG.md",
    "NOTICE",
    "SECURITY.md",
    "Containerfile",
];

/// Our own licences and documents, and those of vendored files.
fn documents(root: &Path) -> Result<Vec<Entry>> {
    let tracked = shell::read(
        Command::new("git")
            .current_dir(root)
            .args(["ls-files", "-z"]),
    )?;
    let wanted = |path: &&str| {
        let is_asset_licence = path.starts_with("crates/report/assets/")
            && path.to_ascii_uppercase().contains("LICENSE");
        let is_top =
            OF_THE_TOP.contains(path) || (path.starts_with("LICENSE") && !path.contains('/'));
        is_top
            || is_asset_licence
            || (path.starts_with("docs/") && path.ends_with(".md"))
            || path.starts_with("docs/schema/")
    };
    let mut entries = Vec::new();
    for path in tracked.stdout.split('\0').filter(wanted) {
        let text = std::fs::read_to_string(root.join(path))
            .with_context(|| format!("{path} is not text"))?;
        let name = match path.strip_prefix("crates/report/assets/") {
            Some(rest) => format!("licences/{rest}"),
            None => path.to_owned(),
        };
        entries.push(Entry::text(name, text));
    }
    if !entries
        .iter()
        .any(|entry| entry.path.starts_with("LICENSE"))
    {
        bail!("no licence of the project was found");
    }
    Ok(entries)
}

/// Completions, and man pages for Linux.
fn made_by_program(binary: &Path, system: System) -> Result<Vec<Entry>> {
    let shells: &[(&str, &str)] = match system {
        System::Windows => &[("powershell", "stripewise.ps1")],
        System::Linux | System::LinuxArm => &[
            ("bash", "stripewise.bash"),
            ("zsh", "_stripewise"),
            ("fish", "stripewise.fish"),
            ("elvish", "stripewise.elv"),
            ("powershell", "stripewise.ps1"),
        ],
    };
    let mut entries = Vec::new();
    for (shell_name, file) in shells {
        let script = shell::read(Command::new(binary).args(["completions", shell_name]))?;
        entries.push(Entry::text(format!("completions/{file}"), script.stdout));
    }
    if system != System::Windows {
        let pages = tempfile::tempdir()?;
        shell::read(Command::new(binary).arg("man").arg(pages.path()))?;
        for page in std::fs::read_dir(pages.path())? {
            let page = page?;
            let name = page.file_name().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(page.path())?;
            entries.push(Entry::text(format!("man/{name}"), text));
        }
    }
    Ok(entries)
}

fn sums_name() -> String {
    format!("stripewise-{VERSION}-SHA256SUMS")
}

/// Checksums of all downloads of this version that exist, including earlier builds.
/// `sha256sum --check` reads it.
fn sums(out: &Path) -> Result<()> {
    let mut text = String::new();
    for name in System::ALL.into_iter().flat_map(System::downloads) {
        let path = out.join(&name);
        if path.exists() {
            let _ = writeln!(text, "{}  {name}", manifests::sum_of(&path)?);
        }
    }
    let path = out.join(sums_name());
    std::fs::write(&path, &text)?;
    print!("{}:\n{text}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_again_is_removed_first_and_nothing_else() {
        let out = tempfile::tempdir().unwrap();
        let all = || System::ALL.into_iter().flat_map(System::downloads);
        for name in all() {
            std::fs::write(out.path().join(name), "old").unwrap();
        }
        remove_old(out.path(), System::LinuxArm).unwrap();
        let gone = System::LinuxArm.downloads();
        assert_eq!(gone.len(), 3);
        for name in all() {
            assert_eq!(out.path().join(&name).exists(), !gone.contains(&name));
        }
        remove_old(out.path(), System::LinuxArm).unwrap();
    }

    #[test]
    fn what_packed_documents_link_to_is_packed() {
        let root = suite::root::path();
        let entries = documents(&root).unwrap();
        let is_there = |path: &str| entries.iter().any(|entry| entry.path == path);
        for name in OF_THE_TOP {
            assert!(is_there(name), "{name}");
        }
        let install = std::fs::read_to_string(root.join("docs/INSTALL.md")).unwrap();
        assert!(install.contains("(../Containerfile)"));
    }

    #[test]
    fn the_sum_of_an_archive_stays_when_the_other_is_made_alone() {
        let out = tempfile::tempdir().unwrap();
        let listed = || {
            let path = out.path().join(sums_name());
            sums(out.path()).unwrap();
            std::fs::read_to_string(path).unwrap()
        };
        let [linux, windows] = [System::Linux, System::Windows].map(System::archive);
        std::fs::write(out.path().join(&linux), "abc").unwrap();
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(listed(), format!("{sum}  {linux}\n"));
        std::fs::write(out.path().join(&windows), "abc").unwrap();
        assert_eq!(listed(), format!("{sum}  {linux}\n{sum}  {windows}\n"));
    }
}
