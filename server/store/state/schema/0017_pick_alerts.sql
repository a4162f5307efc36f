-- The tool whose picks a workspace follows, and when its alerts and digests are due.
create table pick_watch (
  workspace_id text primary key references workspace (id) on delete cascade,
  tool         text not null, -- a slug; empty until chosen
  since        bigint not null, -- when it was chosen
  next_at      bigint not null,
  digest_off   bigint not null, -- 1 without weekly mails
  digest_at    bigint not null -- when the next one is due
);

-- How a webhook wants its requests: empty for Standard Webhooks, slack for {"text": ...}.
alter table alert_channel add column format text not null default '';
