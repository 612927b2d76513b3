//! Packages for the Debian and Red Hat families, with the same static binary as the archive: man
//! pages and completions in place, no scripts, no dependencies.
//!
//! `crates/app/Cargo.toml` (`package.metadata`) determines the paths, which `cargo deb` and
//! `cargo generate-rpm` read; the files are in `target/dist/stage`, created here.

use super::archive::{Entry, TIME};
use super::system::{System, VERSION};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use suite::shell::{self, cargo};

/// Builds both packages from the files of the archive; a missing tool is a named skip.
pub fn make(root: &Path, out: &Path, system: System, entries: &[Entry]) -> Result<()> {
    let Some((debian, rpm)) = system.package_architectures() else {
        return Ok(());
    };
    if !shell::has("cargo-deb") || !shell::has("cargo-generate-rpm") {
        return shell::skip(
            &format!("packages for {debian}"),
            "cargo-deb and cargo-generate-rpm (cargo install --locked)",
        );
    }
    stage(root, entries)?;
    let time = TIME.to_string();
    let path = out.join(format!("stripewise_{VERSION}_{debian}.deb"));
    let mut deb = cargo(root, &["deb", "--package", "stripewise-app"]);
    deb.args(["--no-build", "--no-strip", "--quiet", "--target"])
        .arg(system.triple())
        .args(["--deb-version", VERSION, "--output"])
        .arg(&path)
        .env("SOURCE_DATE_EPOCH", &time);
    shell::run(&mut deb)?;
    println!("{}", path.display());
    let path = out.join(format!("stripewise-{VERSION}-1.{rpm}.rpm"));
    let mut command = cargo(root, &["generate-rpm", "--package", "crates/app"]);
    command
        .args([
            "--arch",
            rpm,
            "--source-date",
            &time,
            "--auto-req",
            "disabled",
        ])
        .arg("--output")
        .arg(&path);
    shell::run(&mut command)?;
    println!("{}", path.display());
    Ok(())
}

/// Places the archive's files where the manifests of the packages expect them, independent of
/// `CARGO_TARGET_DIR`, which does not change the paths in the manifests.
fn stage(root: &Path, entries: &[Entry]) -> Result<()> {
    let folder = root.join("target/dist/stage");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).context("the stage of the packages")?;
    }
    for entry in entries {
        let path: PathBuf = folder.join(&entry.path);
        let parent = path.parent().context("an entry has a folder")?;
        std::fs::create_dir_all(parent)?;
        std::fs::write(&path, &entry.bytes)?;
    }
    if !folder.join("stripewise").exists() {
        bail!("the stage of the packages has no program");
    }
    Ok(())
}
