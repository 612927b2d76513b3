//! The workspace's own folder.

use std::path::{Path, PathBuf};

/// The folder of the workspace's `Cargo.toml`.
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate is two folders down")
        .to_owned()
}

/// Cargo's build folder.
pub fn target_directory() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(directory) => path().join(directory),
        None => path().join("target"),
    }
}
