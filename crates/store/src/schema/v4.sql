-- CRC-32 of what a finished run keeps, by part: 'summary' (its row and those of its
-- jobs), 'record', 'latencies', and 'intervals N' of job N. What earlier versions
-- stored has none, and nothing is claimed of it.
CREATE TABLE checksums (
    run_number INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    part TEXT NOT NULL,
    crc32 INTEGER NOT NULL,
    PRIMARY KEY (run_number, part)
) STRICT, WITHOUT ROWID;
-- Of the document's kind, name, time and JSON.
ALTER TABLE documents ADD COLUMN crc32 INTEGER;
