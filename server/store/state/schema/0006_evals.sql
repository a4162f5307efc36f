-- Evals that workspaces run, and what lets them.

create table eval (
  id           text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  name         text not null,
  version      bigint not null, -- the latest
  created_at   bigint not null,
  updated_at   bigint not null,
  unique (workspace_id, name)
);

create table eval_version (
  eval_id    text not null references eval (id) on delete cascade,
  version    bigint not null, -- 1, 2, 3
  source     bytea not null, -- as it was sent
  digest     text not null, -- of what it means
  summary    text not null, -- JSON
  created_at bigint not null,
  created_by text not null,
  primary key (eval_id, version)
);

create table eval_run ( -- is also the job: workers take rows that have not ended
  id              text primary key,
  workspace_id    text not null references workspace (id) on delete cascade,
  eval_id         text not null references eval (id) on delete cascade,
  version         bigint not null,
  status          text not null, -- queued, running, done, failed, cancelled
  budget_micros   bigint not null, -- millionths of a US dollar, as all *_micros
  idempotency_key text not null, -- empty for none
  request_hash    bytea not null,
  created_at      bigint not null,
  created_by      text not null,
  started_at      bigint not null, -- by the first worker
  ended_at        bigint not null,
  lease_owner     text not null, -- the worker that had it last
  lease_until     bigint not null, -- another worker may take it from then on
  attempt         bigint not null, -- how often a worker took it
  turn            bigint not null, -- when a worker took it last, in the order of eval_turn
  cancel_asked    bigint not null, -- when somebody asked to cancel it
  planned         bigint not null, -- trials
  valid           bigint not null,
  excluded        bigint not null,
  spent_micros    bigint not null,
  at_most_micros  bigint not null, -- spent, and what trials in flight may still cost
  last_event      bigint not null, -- the last seq that was given in eval_run_event
  bundle          text not null,
  failure         text not null
);
create index eval_run_by_workspace on eval_run (workspace_id, created_at, id);
create index eval_run_by_eval on eval_run (eval_id);
create index eval_run_by_turn on eval_run (workspace_id, turn);
create index eval_run_open on eval_run (workspace_id, created_at, id) where ended_at = 0;
create unique index eval_run_by_key on eval_run (workspace_id, idempotency_key) where idempotency_key <> '';

create table eval_turn ( -- counts how often a run was taken, and lets one worker take at a time
  id bigint primary key,
  n  bigint not null
);
insert into eval_turn (id, n) values (1, 0);

create table eval_run_event (
  run_id      text not null references eval_run (id) on delete cascade,
  seq         bigint not null, -- 1, 2, 3
  happened_at bigint not null,
  body        bytea not null,
  primary key (run_id, seq)
);
create index eval_run_event_by_time on eval_run_event (happened_at);

create table eval_key (
  id           text primary key,
  hash         bytea not null unique,
  workspace_id text not null references workspace (id) on delete cascade,
  label        text not null,
  shown        text not null, -- prefix and last four characters
  scopes       text not null, -- JSON
  created_at   bigint not null,
  created_by   text not null,
  last_used_at bigint not null,
  revoked_at   bigint not null
);
create index eval_key_by_workspace on eval_key (workspace_id);

create table provider_key ( -- of model providers, for the workspace's runs
  workspace_id text not null references workspace (id) on delete cascade,
  name         text not null,
  value_sealed bytea not null,
  shown        text not null,
  created_at   bigint not null,
  updated_at   bigint not null,
  primary key (workspace_id, name)
);

create table billing_event ( -- what a billing system told, so that it counts once
  id          text primary key,
  kind        text not null,
  happened_at bigint not null
);
create index billing_event_by_time on billing_event (happened_at);
