-- Version 1. Never edited once released; changes are new files.
-- Units are in the names. Counters are signed 64-bit integers.

CREATE TABLE runs (
    -- Order of storing; never used twice.
    run_number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    started_at TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'partial')),
    label TEXT,
    series TEXT,
    series_part TEXT,
    host TEXT NOT NULL,
    warnings INTEGER NOT NULL,
    -- The process that writes the run; of interest while it is running.
    owner_pid INTEGER NOT NULL,
    owner_process_start TEXT NOT NULL,
    owner_boot_id TEXT NOT NULL,
    owner_pid_namespace TEXT NOT NULL,
    owner_host TEXT NOT NULL
) STRICT;
CREATE INDEX runs_by_start ON runs (started_at, run_number);
CREATE INDEX runs_by_series ON runs (series) WHERE series IS NOT NULL;
CREATE INDEX runs_under_way ON runs (run_number) WHERE status = 'running';

-- What a list of runs shows. Everything else stands in the record.
CREATE TABLE jobs (
    run_number INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    job_index INTEGER NOT NULL,
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    read_percent INTEGER NOT NULL,
    pattern TEXT NOT NULL,
    block_size_bytes INTEGER NOT NULL,
    threads INTEGER NOT NULL,
    outstanding INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    operations INTEGER NOT NULL,
    iops REAL NOT NULL,
    mib_per_s REAL NOT NULL,
    read_latency_ns_p99 INTEGER,
    write_latency_ns_p99 INTEGER,
    errors INTEGER NOT NULL,
    PRIMARY KEY (run_number, job_index)
) STRICT, WITHOUT ROWID;

-- The whole record as JSON. A table of its own: lists never read it.
CREATE TABLE records (
    run_number INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
    json TEXT NOT NULL
) STRICT;

-- All latencies of a job, a row for each kind of operation that occurred.
CREATE TABLE histograms (
    run_number INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    job_index INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('read', 'write', 'sync')),
    latency_ns_v2 BLOB NOT NULL,
    PRIMARY KEY (run_number, job_index, kind)
) STRICT;

-- Written while the run is under way; at most 4,096 a job once it is finished.
CREATE TABLE intervals (
    run_number INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    job_index INTEGER NOT NULL,
    interval_index INTEGER NOT NULL,
    start_ns INTEGER NOT NULL,
    duration_ns INTEGER NOT NULL,
    read_operations INTEGER NOT NULL,
    write_operations INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    latency_ns_mean REAL NOT NULL,
    latency_ns_p99 INTEGER,
    latency_ns_p99_is_bound INTEGER NOT NULL,
    latency_ns_max INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    read_latency_ns_v2 BLOB,
    write_latency_ns_v2 BLOB,
    sync_latency_ns_v2 BLOB,
    PRIMARY KEY (run_number, job_index, interval_index)
) STRICT;

-- Summaries of series, each as JSON. They follow from their runs.
CREATE TABLE series (
    id TEXT PRIMARY KEY,
    json TEXT NOT NULL
) STRICT;

-- Test files that were kept.
CREATE TABLE made_files (
    id TEXT PRIMARY KEY,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    birth_ns INTEGER,
    path TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    made_at TEXT NOT NULL
) STRICT;
