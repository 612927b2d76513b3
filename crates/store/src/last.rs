//! The most recent activity: a single run, all runs of one command (a bench, a grid, repetitions,
//! an experiment, a check), or a measurement stored as a document (a profile, a verification).

use crate::error::{ErrorKind, Result};
use crate::open::Store;
use crate::owner::Owner;
use crate::rows::owner_at;

/// Groups of runs, newest first, with whether they are series and who wrote their newest run.
/// Groups with a run in progress are not included, nor are imported results, which were not
/// measured here.
const DONE: &str = "\
SELECT coalesce(series, id) AS name, max(run_number) AS newest, series IS NOT NULL, \
owner_pid, owner_process_start, owner_boot_id, owner_pid_namespace, owner_host, started_at \
FROM runs WHERE tool IS NULL \
GROUP BY name HAVING sum(status = 'running') = 0 ORDER BY newest DESC";

impl Store {
    /// Resolves `last` (the most recent activity), `last~1` (the one before it) and so on: to the
    /// id of a series or experiment, or of a run that belongs to none. Any other name is returned
    /// unchanged. The last single run is `last-run`, see [`Store::resolve`].
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if there was less activity, or the failure of the store.
    pub fn full_name(&self, name: &str) -> Result<String> {
        self.full_name_among(name, &[])
    }

    /// As [`Store::full_name`], with documents of these kinds included as activities; their names
    /// are ids.
    pub fn full_name_among(&self, name: &str, kinds: &[&str]) -> Result<String> {
        let Some(before) = steps_back(name, "last") else {
            return self.full_name_of_end(name);
        };
        const DOING: &str = "find what was done last";
        self.at_one_moment(DOING, |_| {
            self.documents_of(kinds)
                .and_then(|documents| self.done_before(before, &documents))
                .map_err(|error| self.sqlite_error(DOING, error))?
                .ok_or_else(|| self.not_found(name))
        })
    }

    /// The last four letters of an id, if unique among stored ids; otherwise the id.
    pub fn short_name(&self, id: &str) -> String {
        let end = id.rsplit_once('-').map_or(id, |(_, end)| end);
        match self.ending_with(end) {
            Ok(found) if is_end(end) && found == [id] => end.to_owned(),
            _ => id.to_owned(),
        }
    }

    /// The id with this ending; any other name is returned unchanged.
    fn full_name_of_end(&self, name: &str) -> Result<String> {
        if !is_end(name) {
            return Ok(name.to_owned());
        }
        let found = self.ending_with(name);
        let mut found = found.map_err(|error| self.sqlite_error("find an id by its end", error))?;
        match found.len() {
            0 => Ok(name.to_owned()),
            1 => Ok(found.swap_remove(0)),
            _ => {
                let (name, matches) = (name.to_owned(), found);
                Err(self.error(
                    "find an id by its end",
                    ErrorKind::Ambiguous { name, matches },
                ))
            }
        }
    }

    /// Ids of runs, series and documents that end with `-` and this; at most five.
    fn ending_with(&self, end: &str) -> rusqlite::Result<Vec<String>> {
        let sql = "SELECT id FROM runs WHERE id LIKE '%-' || ?1 \
                   UNION SELECT series FROM runs WHERE series LIKE '%-' || ?1 \
                   UNION SELECT name FROM documents WHERE name LIKE '%-' || ?1 LIMIT 5";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([end], |row| row.get(0))?;
        rows.collect()
    }

    /// Times and names of documents of these kinds, newest first.
    fn documents_of(&self, kinds: &[&str]) -> rusqlite::Result<Vec<(String, String)>> {
        let sql = "SELECT kept_at, name FROM documents WHERE kind = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut all = Vec::new();
        for kind in kinds {
            let rows = statement.query_map([kind], |row| Ok((row.get(0)?, row.get(1)?)))?;
            all.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
        }
        all.sort_unstable();
        all.reverse();
        Ok(all)
    }

    /// Between two runs of a series none is in progress; it ends with its process.
    fn done_before(
        &self,
        before: u32,
        documents: &[(String, String)],
    ) -> rusqlite::Result<Option<String>> {
        let here = Owner::of_this_process("");
        let mut documents = documents.iter().peekable();
        let mut statement = self.connection.prepare_cached(DONE)?;
        let mut rows = statement.query(())?;
        let mut left = before;
        while let Some(row) = rows.next()? {
            let owner = owner_at(row, 3)?;
            let is_here = (owner.pid, &owner.process_start) == (here.pid, &here.process_start);
            if row.get::<_, bool>(2)? && !is_here && here.sees_alive(&owner) {
                continue;
            }
            let started_at: String = row.get(8)?;
            while let Some((_, name)) = documents.next_if(|(stored_at, _)| *stored_at > started_at)
            {
                if left == 0 {
                    return Ok(Some(name.clone()));
                }
                left -= 1;
            }
            if left == 0 {
                return row.get(0).map(Some);
            }
            left -= 1;
        }
        Ok(documents.nth(left as usize).map(|(_, name)| name.clone()))
    }
}

/// The random end of an id has four letters, none of them special in a pattern.
fn is_end(name: &str) -> bool {
    name.len() == 4 && name.bytes().all(|letter| letter.is_ascii_alphanumeric())
}

/// 0 for `WORD`, 2 for `WORD~2`; `None` for anything else.
pub(crate) fn steps_back(name: &str, word: &str) -> Option<u32> {
    match name.strip_prefix(word)? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}
