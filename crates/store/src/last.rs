//! The most recent activity: a single run, all runs of one command (a bench, a grid, repetitions,
//! an experiment, a check), or a measurement stored as a document (a profile, a verification).

use crate::error::{ErrorKind, Result};
use crate::open::Store;
use crate::owner::Owner;
use crate::rows::owner_at;
use std::collections::HashSet;

/// Runs with the names of their groups, newest first, whether those are series, and who wrote the
/// run. Groups with a run in progress are not included, nor are imported results, which were not
/// measured here. Rows come in the order of the table: whoever wants the last one reads one.
const DONE: &str = "\
SELECT coalesce(series, id), series IS NOT NULL, \
owner_pid, owner_process_start, owner_boot_id, owner_pid_namespace, owner_host, started_at \
FROM runs WHERE tool IS NULL AND coalesce(series, id) NOT IN \
(SELECT coalesce(series, id) FROM runs WHERE status = 'running' AND tool IS NULL) \
ORDER BY run_number DESC";

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
        // A group is where its newest run is.
        let mut seen = HashSet::new();
        while let Some(row) = rows.next()? {
            let name: String = row.get(0)?;
            let is_series: bool = row.get(1)?;
            if is_series && !seen.insert(name.clone()) {
                continue;
            }
            let owner = owner_at(row, 2)?;
            if is_series && here.sees_alive_elsewhere(&owner) {
                continue;
            }
            let started_at: String = row.get(7)?;
            while let Some((_, name)) = documents.next_if(|(stored_at, _)| *stored_at > started_at)
            {
                if left == 0 {
                    return Ok(Some(name.clone()));
                }
                left -= 1;
            }
            if left == 0 {
                return Ok(Some(name));
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

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// With 50,000 runs, sorting them to take the last one took longer than all else.
    #[test]
    fn the_last_one_is_found_without_sorting_the_runs() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::schema::migrate(&mut connection, std::path::Path::new("memory")).unwrap();
        let mut plan = (connection.prepare(&format!("EXPLAIN QUERY PLAN {DONE}"))).unwrap();
        let steps = plan.query_map((), |row| row.get(3)).unwrap();
        let steps: Vec<String> = steps.collect::<rusqlite::Result<_>>().unwrap();
        assert_eq!(steps[0], "SCAN runs", "{steps:?}");
        assert!(steps.iter().any(|step| step.contains("runs_under_way")));
        assert!(
            !steps
                .iter()
                .any(|step| step.contains("ORDER BY") || step.contains("GROUP BY"))
        );
    }
}
