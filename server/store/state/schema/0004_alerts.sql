-- What owners of workspaces are told without asking, and where to.

alter table collected_day add column live bigint not null default 0; -- of the accepted, those that were not backfilled
alter table collected_day add column live_at bigint not null default 0; -- when the last of them came
update collected_day set live = accepted, live_at = last_at;
create index collected_day_by_day on collected_day (day);

create table alert_watch ( -- a workspace whose traffic is looked at
  workspace_id text primary key references workspace (id) on delete cascade,
  first_at     bigint not null, -- its first live event, to a few minutes
  since        bigint not null, -- from when on it was looked at without a longer pause
  looked_at    bigint not null,
  next_at      bigint not null
);

create table alert ( -- what was found
  id           text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  what         text not null,
  found_at     bigint not null,
  summary      text not null,
  body         text not null -- JSON, as webhooks get it
);
create index alert_by_workspace on alert (workspace_id, found_at);

create table alert_told ( -- what is not told again for now
  workspace_id text not null references workspace (id) on delete cascade,
  what         text not null,
  subject      text not null,
  told_at      bigint not null,
  seen_at      bigint not null, -- when it was last so
  primary key (workspace_id, what, subject)
);

create table alert_channel ( -- a webhook
  id            text primary key,
  workspace_id  text not null references workspace (id) on delete cascade,
  url_sealed    bytea not null, -- such addresses often hold a token
  secret_sealed bytea not null,
  old_sealed    bytea not null, -- the secret before, which signs too until old_until
  old_until     bigint not null,
  created_at    bigint not null,
  failing_since bigint not null,
  paused_at     bigint not null,
  busy_until    bigint not null -- somebody is sending to it
);
create index alert_channel_by_workspace on alert_channel (workspace_id, created_at);

create table alert_mail_off ( -- workspaces whose owner wants no mail
  workspace_id text primary key references workspace (id) on delete cascade,
  since        bigint not null
);

create table alert_delivery (
  id           text primary key, -- the webhook-id
  workspace_id text not null references workspace (id) on delete cascade,
  alert_id     text not null, -- empty for a test
  channel_id   text not null,
  what         text not null,
  body         text not null,
  state        text not null, -- pending, delivered, failed
  created_at   bigint not null,
  next_at      bigint not null,
  done_at      bigint not null,
  tries        bigint not null,
  status       bigint not null, -- of the last answer; 0 for none
  failure      text not null,
  took         bigint not null -- microseconds until the last answer
);
create index alert_delivery_due on alert_delivery (next_at) where state = 'pending';
create index alert_delivery_by_workspace on alert_delivery (workspace_id, created_at);
