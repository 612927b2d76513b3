-- Of an imported result the tool that made it; NULL for what was measured here.
ALTER TABLE runs ADD COLUMN tool TEXT;
UPDATE runs SET tool = (
    SELECT json_extract(records.json, '$.imported.tool')
    FROM records WHERE records.run_number = runs.run_number
);
