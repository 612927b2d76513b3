//! Syncs: Windows flushes a file only in a blocking call, so a helper thread makes it and posts its
//! completion to the port like any other.
//!
//! One thread, started with the first sync: syncs of one engine are serialised, and run
//! concurrently with its reads and writes.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use windows_sys::Win32::Foundation::ERROR_GEN_FAILURE;

use super::port::Port;

/// The helper. Once dropped, it ends after the flush in progress.
pub(super) struct Flusher(Sender<(Arc<File>, usize)>);

impl Flusher {
    pub(super) fn start(port: Port) -> io::Result<Self> {
        let (sender, wanted) = channel::<(Arc<File>, usize)>();
        let help = move || {
            for (file, address) in wanted {
                let code = match file.sync_data() {
                    Ok(()) => 0,
                    Err(error) => error
                        .raw_os_error()
                        .map_or(ERROR_GEN_FAILURE, i32::cast_unsigned),
                };
                // Before completion is reported: the receiver may be the last to close the file,
                // and expects it to be closed then.
                drop(file);
                port.post(code, std::ptr::without_provenance(address));
            }
        };
        std::thread::Builder::new()
            .name("flusher".to_owned())
            .spawn(help)?;
        Ok(Flusher(sender))
    }

    /// Flushes `file`; the packet will carry the address of the structure.
    pub(super) fn flush(&self, file: Arc<File>, address: usize) {
        // The thread receives until we are gone.
        let _ = self.0.send((file, address));
    }
}
