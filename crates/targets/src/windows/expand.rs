//! Judges and opens an existing file that is to be extended. The rules treat it as writing: a
//! foreign file needs `--overwrite`, and what no flag allows stays forbidden. The system keeps
//! others from opening it while it grows. Its new part is written from the old end on, never
//! declared valid (`SetFileValidData` exposes what was deleted there before).

use super::access::{Status, failed, find};
use super::{calls, database, file_rules, mark};
use crate::grow::Growth;
use crate::{Error, ErrorKind, Intent, MadeFile, PlanContext, Progress, Result};
use std::fs::OpenOptions;
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
    if found.status.is_directory {
        let what = "is not a file, so it cannot grow";
        return Err(Error::new(ErrorKind::Unusable, name, what)
            .with_hint("Name a file, or a size that it has."));
    }
    file_rules::judge_write(&found, name, intent, knowledge)?;
    if !intent.busy_ok {
        let root = calls::volume_root(&found.path).ok();
        if let Some(sign) = database::inspect_file(&found.path, root.as_deref()) {
            return Err(sign.refusal(name));
        }
    }
    let from_bytes = found.status.size_bytes;
    let by_bytes = to_bytes.saturating_sub(from_bytes);
    file_rules::room_for(
        &found,
        name,
        by_bytes,
        intent.file_system_size,
        "is to grow",
    )?;
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let file = file_rules::open_alone(&found, name, &mut options)?;
    // No one else can open it any more: a file of ours stays ours.
    let status = Status::of(&file).map_err(|os| failed(name, "cannot be examined", os))?;
    let ours = mark::made_by_stripewise(&file, &found.path, &status, knowledge);
    let growth = Growth {
        file: &file,
        name,
        from_bytes,
        to_bytes,
        write_at: calls::write_at,
        failed: |name, what, os| failed(name, what, os),
    };
    growth.run(intent, progress)?;
    // The mark holds the size; without a new one the file would no longer be recognised.
    let Some(id) = ours else {
        return Ok(None);
    };
    let status = Status::of(&file).map_err(|os| failed(name, "cannot be examined", os))?;
    let made_file = mark::rewrite(&file, &found.path, &status, &id)
        .map_err(|os| failed(name, "has grown, but its mark could not be renewed", os))?;
    Ok(Some(made_file))
}
