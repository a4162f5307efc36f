-- Own catalogues of workspaces, on top of the operator's. A version never changes.
create table workspace_catalog (
  workspace_id text not null references workspace (id) on delete cascade,
  version      bigint not null, -- 1, 2, 3
  source       bytea not null, -- as it was sent; empty for none from then on
  digest       text not null, -- SHA-256 of source
  created_at   bigint not null,
  created_by   text not null,
  primary key (workspace_id, version)
);

-- The digest of the own catalogue that an eval was validated with; empty without one.
alter table eval_version add column catalog text not null default '';

-- The version of the own catalogue when a run was started; 0 without one.
alter table eval_run add column catalog bigint not null default 0;
