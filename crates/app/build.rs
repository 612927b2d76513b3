//! Names the commit that the program is built from, where the sources are a clone.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=STRIPEWISE_COMMIT");
    let given = std::env::var("STRIPEWISE_COMMIT").ok();
    let commit = given.or_else(of_the_clone);
    if let Some(commit) = commit.filter(|commit| !commit.is_empty()) {
        println!("cargo::rustc-env=STRIPEWISE_COMMIT={commit}");
    }
}

/// A commit moves the log of HEAD; without that file cargo would run this each time.
fn of_the_clone() -> Option<String> {
    let git = Path::new("../../.git");
    for name in ["HEAD", "logs/HEAD"] {
        if git.join(name).is_file() {
            println!("cargo::rerun-if-changed=../../.git/{name}");
        }
    }
    if !git.exists() {
        println!("cargo::rerun-if-changed=build.rs");
        return None;
    }
    let output = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
