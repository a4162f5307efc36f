-- Schedules start runs of evals. A tick is one time of a schedule; its row is unique, so
-- that servers which share a store start one run for it.

create table eval_schedule (
  id            text primary key,
  workspace_id  text not null references workspace (id) on delete cascade,
  eval_id       text not null unique references eval (id) on delete cascade,
  cron          text not null,
  zone          text not null, -- IANA name
  budget_micros bigint not null, -- of each run
  month_micros  bigint not null, -- of all runs of a calendar month
  created_at    bigint not null,
  created_by    text not null,
  updated_at    bigint not null,
  next_at       bigint not null, -- the next tick; 0 while paused
  paused_at     bigint not null,
  pause_reason  text not null,
  pause_note    text not null,
  open_run      text not null, -- the last started run, until its end is counted
  failures      bigint not null -- in a row
);
create index eval_schedule_by_workspace on eval_schedule (workspace_id);
create index eval_schedule_due on eval_schedule (next_at) where next_at > 0;
create index eval_schedule_open on eval_schedule (open_run) where open_run <> '';

create table eval_schedule_tick (
  schedule_id   text not null references eval_schedule (id) on delete cascade,
  tick_at       bigint not null,
  manual        bigint not null, -- 1 for a run that a person or program asked for
  outcome       text not null, -- started, skipped, failed, missed
  run_id        text not null,
  budget_micros bigint not null, -- of its run
  note          text not null,
  primary key (schedule_id, tick_at)
);
create index eval_schedule_tick_by_time on eval_schedule_tick (tick_at);
