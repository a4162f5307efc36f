-- Distributed runs. Deleting a run deletes its rows everywhere.
create table queued_run (
    run_id     text        primary key,
    eval       text        not null, -- JSON
    catalog    text        not null, -- version
    manifests  text        not null, -- JSON: id of the manifest by agent
    created_at timestamptz not null default now()
);

-- Results of attempts. The primary key makes them exactly once.
create table trial_answer (
    run_id     text        not null references queued_run on delete cascade,
    trial_id   text        not null,
    attempt    integer     not null,
    answered   boolean     not null, -- false: the attempt failed
    payload    bytea       not null, -- JSON, zstd
    raw        bytea,                -- the raw answer, zstd
    worker     text        not null,
    created_at timestamptz not null default now(),
    primary key (run_id, trial_id, attempt)
);

-- Workers and their last heartbeats.
create table queue_worker (
    worker  text        primary key,
    beat_at timestamptz not null default now()
);

-- Agents that a worker cannot run: no key, no program, another version.
create table queue_unable (
    worker text not null references queue_worker on delete cascade,
    run_id text not null references queued_run on delete cascade,
    agent  text not null,
    reason text not null,
    primary key (worker, run_id, agent)
);
