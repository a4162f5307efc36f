-- What the sites of workspaces look like to agents.

create table site_check (
  workspace_id text primary key references workspace (id) on delete cascade,
  site         text not null, -- that was looked at
  taken_at     bigint not null, -- by the server that looks, or looked
  result       bytea not null -- sitecheck.Result as JSON; empty while there is none
);
