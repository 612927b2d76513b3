-- Discards, a kind of operation of its own. Rows of earlier versions have none, and their
-- sums hold as they are: these columns are summed only where there were discards.
ALTER TABLE intervals ADD COLUMN discard_operations INTEGER NOT NULL DEFAULT 0;
ALTER TABLE intervals ADD COLUMN discard_latency_ns_v2 BLOB;
ALTER TABLE jobs ADD COLUMN discard_percent INTEGER NOT NULL DEFAULT 0;
-- As `histograms`, whose kinds are fixed.
CREATE TABLE discard_histograms (
    run_number INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    job_index INTEGER NOT NULL,
    latency_ns_v2 BLOB NOT NULL,
    PRIMARY KEY (run_number, job_index)
) STRICT;
