//! Documents made by a child process: reports, comparisons, the list of disks. This
//! process stays small, and a hanging child is killed.

use crate::state::Shared;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::timeout;

/// Output limit: reports are below 2 MiB; records of a long series may be larger.
const BYTES_MAX: u64 = 32 << 20;
/// Maximum bytes kept of its stderr.
const COMPLAINT_MAX: u64 = 4 << 10;
/// Time limit for one document.
const LIMIT: Duration = Duration::from_secs(60);

/// Why there is no document.
pub(crate) enum NoDocument {
    /// The child's error message, for people.
    Refused(String),
    /// It could not be started, took too long or printed too much.
    Failed(String),
}

/// The output of a child with these arguments.
pub(crate) async fn document(shared: &Shared, words: &[&str]) -> Result<Vec<u8>, NoDocument> {
    let failed = |what: String| NoDocument::Failed(what);
    let permit = shared.children.acquire().await;
    let _permit = permit.map_err(|error| failed(error.to_string()))?;
    let mut child = Command::new(&shared.program)
        .arg("--store")
        .arg(&shared.view.store)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed(format!("cannot start {}: {error}", words[0])))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let error_output = tokio::spawn(read(err, COMPLAINT_MAX));
    let made = timeout(LIMIT, async {
        let bytes = read(out, BYTES_MAX + 1).await;
        (bytes, child.wait().await)
    });
    let (bytes, _) = made
        .await
        .map_err(|_| failed(format!("`{}` took longer than a minute", words[0])))?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(failed(format!("`{}` printed too much", words[0])));
    }
    if bytes.is_empty() {
        let message = error_output.await.unwrap_or_default();
        return Err(NoDocument::Refused(
            String::from_utf8_lossy(&message).trim().to_owned(),
        ));
    }
    Ok(bytes)
}

/// Reads a stream up to a limit.
async fn read<S: AsyncRead + Unpin>(stream: Option<S>, bytes_max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // Use what was read before an error.
        let _ = stream.take(bytes_max).read_to_end(&mut bytes).await;
    }
    bytes
}
