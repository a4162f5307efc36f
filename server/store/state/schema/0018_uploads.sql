-- Runs that were made elsewhere and pushed here. An upload has the id of the run that it
-- becomes; its files are in the folder of the workspace.

create table eval_upload (
  id           text primary key,
  workspace_id text not null references workspace (id) on delete cascade,
  eval_id      text not null references eval (id) on delete cascade,
  version      bigint not null,
  local_run    text not null, -- the id of the run where it was made
  digest       text not null, -- of the list of files
  files        text not null, -- JSON
  size         bigint not null, -- of all files, in bytes
  created_at   bigint not null,
  created_by   text not null,
  expires_at   bigint not null, -- unless it is complete
  completed_at bigint not null,
  unique (workspace_id, eval_id, local_run)
);
create index eval_upload_open on eval_upload (expires_at) where completed_at = 0;

alter table eval_run add column origin text not null default ''; -- pushed, or empty for a run of the server
