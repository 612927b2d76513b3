//! Judges and opens an existing file that is to be extended. The rules treat it as writing: a
//! foreign file needs `--overwrite`, and what no flag allows stays forbidden.

use super::access::{failed, find, reopen, reopen_quietly, storage_of};
use super::fill::write_at;
use super::identity::Status;
use super::space::{judge_growth, judge_loops_below};
use super::{database, file_rules, mark, surroundings};
use crate::grow::Growth;
use crate::{Error, ErrorKind, Intent, MadeFile, PlanContext, Progress, Result};
use rustix::fs::{Advice, FileType, OFlags};
use std::path::Path;
use stripewise_units::NameText;

pub(crate) fn expand(
    path: &Path,
    to_bytes: u64,
    intent: &Intent,
    knowledge: &PlanContext<'_>,
    progress: &mut dyn Progress,
) -> Result<Option<MadeFile>> {
    let name = &path.as_text();
    let found = find(path)?;
    surroundings::refuse_pseudo(&found.handle, name)?;
    let identity = found.status.identity;
    if identity.kind != FileType::RegularFile {
        return Err(Error::new(
            ErrorKind::Unusable,
            name,
            "is not a file, so it cannot grow",
        )
        .with_hint("Name a file, or a size that it has."));
    }
    let read = OFlags::RDONLY | OFlags::NONBLOCK;
    file_rules::never_the_store(&found.status, name, knowledge)?;
    let guard = reopen_quietly(&found.handle, &identity, read, name)?;
    file_rules::judge_write(&guard, name, intent, knowledge)?;
    let storage = storage_of(&guard);
    let file_system = storage.file_system.as_ref();
    if !intent.busy_ok {
        let mount_point = file_system.map(|found| found.mount_point.as_path());
        let sign = database::inspect_file(&found.path, mount_point);
        surroundings::refuse_if_busy(name, sign, &storage.devices, knowledge)?;
    }
    let from_bytes = found.status.size_bytes;
    let by_bytes = to_bytes.saturating_sub(from_bytes);
    let in_memory = file_system.is_some_and(|found| found.in_memory);
    let size = intent.file_system_size;
    judge_growth(&guard, in_memory, by_bytes, size, name, "is to grow")?;
    judge_loops_below(&storage, by_bytes, size, name)?;
    let status = Status::of(&guard).map_err(|os| failed(name, "cannot be examined", os))?;
    let ours = mark::made_by_stripewise(&guard, &status, knowledge);
    drop(guard);
    let file = reopen(&found.handle, &identity, OFlags::WRONLY, name)?;
    let growth = Growth {
        file: &file,
        name,
        from_bytes,
        to_bytes,
        write_at,
        failed: |name, what, os| failed(name, what, os),
    };
    growth.run(intent, progress)?;
    // Only advice: what was just written must not be served from the cache.
    let _ = rustix::fs::fadvise(&file, 0, None, Advice::DontNeed);
    // The mark holds the size; without a new one the file would no longer be recognised.
    let Some(id) = ours else {
        return Ok(None);
    };
    mark::rewrite(&file, &id, to_bytes)
        .map_err(|os| failed(name, "has grown, but its mark could not be renewed", os))?;
    let status = Status::of(&file).map_err(|os| failed(name, "cannot be examined", os))?;
    Ok(Some(mark::made_file(&status, &id)))
}
