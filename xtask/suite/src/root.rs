//! The workspace's own folder.

use std::path::{Path, PathBuf};

/// Where the workspace's `Cargo.toml` is.
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate is two folders down")
        .to_owned()
}

/// Where Cargo puts what it builds.
pub fn target_directory() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(directory) => path().join(directory),
        None => path().join("target"),
    }
}
