-- What is counted of each run, so that ranks do not read its trials. One line per run
-- whose loading went to the end of its journal; it is written with the trials it counts.
create table margin (
    run_id     varchar not null,
    format     integer not null, -- of cells; another one is counted again
    valid      bigint  not null,
    excluded   bigint  not null,
    unresolved bigint,           -- null without a trial, and where one does not report it
    last_at    timestamp,        -- null without a trial
    extracted  bigint  not null, -- whose outcome was extracted from an answer
    cells      blob    not null  -- see encode.go
);
