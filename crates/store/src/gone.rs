//! Runs that another process deletes while this one reads them.

use crate::columns;
use crate::error::Error;
use crate::open::Store;

impl Store {
    /// The failure to read a run that was found before. What another process deletes in
    /// between is not damaged but [`ErrorKind::NotFound`].
    pub(crate) fn gone_or_damaged(
        &self,
        doing: &'static str,
        run_number: i64,
        id: &str,
        error: rusqlite::Error,
    ) -> Error {
        // Gone is only what neither the table nor the index of ids has: with a page lost,
        // one of them still knows it.
        let is_missing = |query: &str, value: &dyn rusqlite::ToSql| {
            let counted = self
                .connection
                .query_row(query, [value], |row| row.get::<_, i64>(0));
            counted.is_ok_and(|count| count == 0)
        };
        let of_number = "SELECT count(*) FROM runs WHERE run_number = ?1";
        let of_id = "SELECT count(*) FROM runs INDEXED BY sqlite_autoindex_runs_1 WHERE id = ?1";
        if columns::is_damage(&error)
            && is_missing(of_number, &run_number)
            && is_missing(of_id, &id)
        {
            return self.not_found(id);
        }
        self.damaged_run(doing, id, error)
    }
}

#[cfg(test)]
mod tests {
    use crate::{ErrorKind, Owner, Store};
    use stripewise_results::RunRecord;

    #[test]
    fn a_run_deleted_between_finding_and_reading_it_is_not_found_and_not_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        let mut store = Store::open(&path, Owner::of_this_process("here")).unwrap();
        for id in ["first", "second"] {
            let record = RunRecord {
                id: id.to_owned(),
                ..RunRecord::empty()
            };
            store.save_run(&record).unwrap();
        }
        let (number, id) = store.find("first").unwrap();
        let (other_number, other_id) = store.find("second").unwrap();
        let mut elsewhere = rusqlite::Connection::open(&path).unwrap();
        elsewhere.pragma_update(None, "foreign_keys", true).unwrap();
        let transaction = elsewhere.transaction().unwrap();
        transaction
            .execute("DELETE FROM runs WHERE id = 'first'", ())
            .unwrap();
        // That one is there, and has lost its record.
        let lost = "DELETE FROM records WHERE run_number = ?1";
        transaction.execute(lost, [other_number]).unwrap();
        transaction.commit().unwrap();

        let gone = store.load_found(number, &id).unwrap_err();
        assert!(
            matches!(gone.kind(), ErrorKind::NotFound { name } if *name == id),
            "{gone:?}"
        );
        let damaged = store.load_found(other_number, &other_id).unwrap_err();
        assert!(
            matches!(damaged.kind(), ErrorKind::DamagedRun { run, .. } if *run == other_id),
            "{damaged:?}"
        );
    }
}
