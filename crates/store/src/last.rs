//! The last thing that was done here: a run of its own, or all the runs that one
//! command made together (a bench, a grid, repetitions, an experiment, a check).

use crate::error::Result;
use crate::open::Store;
use rusqlite::OptionalExtension;

/// Groups by what was done. What has a run under way is not done yet, and imported
/// results were not measured here.
const DONE: &str = "\
SELECT coalesce(series, id) AS name FROM runs WHERE tool IS NULL \
GROUP BY name HAVING sum(status = 'running') = 0 \
ORDER BY max(run_number) DESC LIMIT 1 OFFSET ?1";

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
        self.connection
            .query_row(DONE, [before], |row| row.get(0))
            .optional()
            .map_err(|error| self.sqlite_error("find what was done last", error))?
            .ok_or_else(|| self.not_found(name))
    }
}

/// 0 for `WORD`, 2 for `WORD~2`; none for anything else.
pub(crate) fn steps_back(name: &str, word: &str) -> Option<u32> {
    match name.strip_prefix(word)? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}
