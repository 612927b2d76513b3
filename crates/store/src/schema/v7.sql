-- Version 7. The intervals of a finished job, a row in place of theirs; see packed.rs.
-- Jobs of runs that earlier versions finished have theirs in `intervals`.
CREATE TABLE packed_intervals (
    run_number INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    job_index INTEGER NOT NULL,
    -- The record's JSON leaves its intervals out, as these are the same.
    are_of_record INTEGER NOT NULL,
    numbers BLOB NOT NULL,
    latencies BLOB NOT NULL,
    PRIMARY KEY (run_number, job_index)
) STRICT;
