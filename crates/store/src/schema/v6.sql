-- The 99 % of discards, beside those of reads and writes. Of runs that were stored before,
-- only their records say it: lists read it there.
ALTER TABLE jobs ADD COLUMN discard_latency_ns_p99 INTEGER;
-- Of a run of several: time that is still to come after it, at most, as known when it
-- began. Absent where nobody knows.
ALTER TABLE runs ADD COLUMN left_after_ns INTEGER;
