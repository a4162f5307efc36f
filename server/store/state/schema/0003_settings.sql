-- What an owner says about a workspace.

alter table workspace add column site text not null default ''; -- https://acme.dev; empty while not said
alter table workspace add column retention_days bigint not null default 395; -- how long events are kept
alter table workspace add column currency text not null default ''; -- of values that come without one
