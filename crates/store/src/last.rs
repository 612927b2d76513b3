//! The last thing that was done here: a run of its own, or all the runs that one
//! command made together (a bench, a grid, repetitions, an experiment, a check).

use crate::error::Result;
use crate::open::Store;
use crate::owner::Owner;
use crate::rows::owner_at;

/// Groups by what was done, the newest first, with whether they are series and who wrote
/// their newest run. What has a run under way is not done yet, and imported results were
/// not measured here.
const DONE: &str = "\
SELECT coalesce(series, id) AS name, max(run_number) AS newest, series IS NOT NULL, \
owner_pid, owner_process_start, owner_boot_id, owner_pid_namespace, owner_host \
FROM runs WHERE tool IS NULL \
GROUP BY name HAVING sum(status = 'running') = 0 ORDER BY newest DESC";

impl Store {
    /// What `name` stands for where it is `last` (the last thing that was done
    /// here), `last~1` (the one before it) and so on: the id of a series or
    /// experiment, or of a run that belongs to none. Any other name is given back
    /// as it is. The last single run is `last-run`, see [`Store::resolve`].
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] where less was done here, or the failure of
    /// the store.
    pub fn full_name(&self, name: &str) -> Result<String> {
        let Some(before) = steps_back(name, "last") else {
            return Ok(name.to_owned());
        };
        self.done_before(before)
            .map_err(|error| self.sqlite_error("find what was done last", error))?
            .ok_or_else(|| self.not_found(name))
    }

    /// Between two runs of a series none is under way; it is done when its process is.
    fn done_before(&self, before: u32) -> rusqlite::Result<Option<String>> {
        let here = Owner::of_this_process("");
        let mut statement = self.connection.prepare_cached(DONE)?;
        let mut rows = statement.query(())?;
        let mut left = before;
        while let Some(row) = rows.next()? {
            let owner = owner_at(row, 3)?;
            let is_here = (owner.pid, &owner.process_start) == (here.pid, &here.process_start);
            if row.get::<_, bool>(2)? && !is_here && here.sees_alive(&owner) {
                continue;
            }
            if left == 0 {
                return row.get(0).map(Some);
            }
            left -= 1;
        }
        Ok(None)
    }
}

/// 0 for `WORD`, 2 for `WORD~2`; none for anything else.
pub(crate) fn steps_back(name: &str, word: &str) -> Option<u32> {
    match name.strip_prefix(word)? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}
