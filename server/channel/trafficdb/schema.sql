-- One row: which layout this file has, and whose events it holds.
create table traffic.layout (
  version integer not null,
  store   varchar not null -- the id of the state store; empty until Claim
);

-- One row: how far events are loaded.
create table traffic.mark (
  seq     bigint not null,    -- all events up to this number are in table event
  through timestamp not null  -- latest received_at among them, UTC
);

-- event.Record and where it came from. No text is null. Times are UTC.
create table traffic.event (
  seq          bigint not null, -- of the state store
  workspace    varchar not null,
  id           varchar not null, -- unique in the workspace, which the state store sees to
  type         varchar not null, -- touch, identify, convert
  happened_at  timestamp not null,
  received_at  timestamp not null,
  backfill     boolean not null,
  visitor      varchar not null,
  identity     varchar not null,
  host         varchar not null,
  path         varchar not null,
  method       varchar not null,
  status       integer not null, -- 0: unknown
  content_type varchar not null,
  duration_ms  bigint not null,
  bytes        bigint not null,
  markdown     boolean not null,
  user_agent   varchar not null,
  network      varchar not null,
  referrer     varchar not null,
  via          varchar not null,
  utm_source   varchar not null,
  source       varchar not null,
  claimed      varchar not null,
  self_report  varchar not null,
  mcp_method   varchar not null,
  mcp_tool     varchar not null,
  mcp_client   varchar not null,
  mcp_version  varchar not null,
  agent        varchar not null,
  family       varchar not null,
  operator     varchar not null,
  class        varchar not null,
  verdict      varchar not null,
  evidence     varchar not null,
  kind         varchar not null,
  value        bigint not null, -- minor units of currency
  currency     varchar not null,
  order_id     varchar not null,
  refund_of    varchar not null,
  sorted       boolean not null  -- lies in a run that sort.sql made; else where it came
);
