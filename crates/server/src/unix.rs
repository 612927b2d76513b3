//! Unix sockets, and the signal that stops a run gracefully.

use crate::connection::Listener;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use stripewise_campaign::{Exit, Failure, Outcome};
use stripewise_units::NameText;
use tokio::net::UnixStream;

/// A socket made by this process.
pub(crate) struct UnixListener {
    inner: tokio::net::UnixListener,
    path: PathBuf,
    inode: Option<u64>,
}

/// Makes a socket that only this user may use. Replaces one that a server left behind,
/// but not one that answers.
pub(crate) fn listen(path: &Path) -> Outcome<Listener> {
    let failed = |what: &str| {
        Failure::new(
            Exit::Target,
            format!("cannot listen on {}: {what}", path.as_text()),
            "name a path that is free, in a directory that only you can write to",
        )
    };
    if let Ok(facts) = path.symlink_metadata() {
        if !facts.file_type().is_socket() {
            return Err(failed("something that is not a socket has that name"));
        }
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(failed("another server answers there"));
        }
        std::fs::remove_file(path).map_err(|error| failed(&error.to_string()))?;
    }
    let inner = tokio::net::UnixListener::bind(path).map_err(|error| failed(&error.to_string()))?;
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path, private).map_err(|error| failed(&error.to_string()))?;
    let inode = path.symlink_metadata().ok().map(|facts| facts.ino());
    Ok(Listener::Unix(UnixListener {
        inner,
        path: path.to_owned(),
        inode,
    }))
}

impl UnixListener {
    pub(crate) async fn accept(&self) -> std::io::Result<UnixStream> {
        self.inner.accept().await.map(|(stream, _)| stream)
    }

    /// Removes the socket, unless another server has replaced it.
    pub(crate) fn forget(self) {
        let now = self.path.symlink_metadata().ok().map(|facts| facts.ino());
        if now.is_some() && now == self.inode {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Asks a child to stop as Ctrl-C does: results are stored.
pub(crate) fn interrupt(pid: u32) {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
    }
}

/// Whether it is a block device.
pub(crate) fn is_device(facts: &std::fs::Metadata) -> bool {
    facts.file_type().is_block_device()
}
