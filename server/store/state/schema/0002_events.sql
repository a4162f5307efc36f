-- Events that sites sent. What was acknowledged stands here; everything that is
-- counted of it is made from here.

create table collected_event (
  seq          bigint primary key, -- in the order of commits, without a reader's ever missing one
  workspace_id text not null,
  event_id     text not null,
  received_at  bigint not null,
  body         bytea not null -- event.Record as JSON
);
create unique index collected_event_by_id on collected_event (workspace_id, event_id);

create table collected_order ( -- an order counts once, for ever
  workspace_id text not null,
  order_key    text not null,
  seq          bigint not null,
  primary key (workspace_id, order_key)
);

create table collected_day ( -- for quotas and health
  workspace_id text not null,
  day          bigint not null, -- since 1970 UTC
  accepted     bigint not null,
  last_at      bigint not null,
  primary key (workspace_id, day)
);

create table collected_seq (
  id bigint primary key,
  n  bigint not null
);
insert into collected_seq (id, n) values (1, 0);
