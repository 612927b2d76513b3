-- Documents that are not runs: experiments, baselines, facts that the user gave.
CREATE TABLE documents (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    -- RFC 3339, UTC.
    kept_at TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT;
