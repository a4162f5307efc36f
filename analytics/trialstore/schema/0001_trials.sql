-- One line per run, as its run.json says.
create table run (
    run_id     varchar   not null,
    eval       varchar   not null,
    category   varchar   not null,
    created_at timestamp not null,
    planned    bigint    not null,
    synthetic  boolean   not null,
    imported   boolean   not null,
    catalog    varchar   not null,
    extractor  varchar   not null
);

-- How far each run's journal is in here; moved in the transaction that loads.
create table loaded (
    run_id  varchar not null,
    segment bigint  not null,
    byte    bigint  not null
);

-- One line per valid trial. No keys: they would halve the loading rate and
-- quintuple the file, and loading drops what is already here.
create table trial (
    run_id      varchar   not null,
    trial_id    varchar   not null,
    eval        varchar   not null,
    category    varchar   not null,
    prompt_id   varchar   not null,
    agent       varchar   not null,
    template    varchar   not null,
    repeat      integer   not null,
    outcome     varchar   not null,
    picked      varchar   not null,
    shortlist   varchar   not null, -- sorted slugs, joined by commas
    mismatch    boolean   not null,
    method      varchar   not null,
    level       integer   not null,
    model       varchar   not null, -- as the provider reported it
    in_tokens   bigint    not null,
    out_tokens  bigint    not null,
    cost_usd    double,             -- null where the price is not known
    wall_ms     bigint    not null,
    finished_at timestamp not null,
    answer      varchar   not null using compression zstd,
    result      varchar   not null using compression zstd
);

-- Attempts that ended for reasons outside the agent.
create table excluded (
    run_id   varchar   not null,
    trial_id varchar   not null,
    reason   varchar   not null,
    ended_at timestamp not null
);

-- The latest run of each eval in each category.
create view current_run as
select run_id
from run
where run_id in (select run_id from trial) -- a run without any answer supersedes nothing
qualify row_number() over (partition by eval, category order by created_at desc, run_id desc) = 1;
