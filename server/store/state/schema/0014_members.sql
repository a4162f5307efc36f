-- The people of a workspace. workspace.owner_id stays: it is the owner who gets the mail
-- of the workspace, always one of the members who are owners.
create table member (
  workspace_id text not null references workspace (id) on delete cascade,
  account_id   text not null,
  role         text not null, -- owner, editor, viewer
  since        bigint not null,
  primary key (workspace_id, account_id)
);
create index member_by_account on member (account_id);
insert into member (workspace_id, account_id, role, since)
  select id, owner_id, 'owner', case when claimed_at > 0 then claimed_at else created_at end from workspace where owner_id <> '';

create table invitation ( -- that may still be accepted, or expired lately
  id           text primary key,
  hash         bytea not null unique,
  workspace_id text not null references workspace (id) on delete cascade,
  email_mac    bytea not null,
  email_sealed bytea not null,
  role         text not null,
  invited_by   text not null, -- account
  sent_at      bigint not null,
  expires_at   bigint not null
);
create unique index invitation_by_email on invitation (workspace_id, email_mac);
create index invitation_by_expiry on invitation (expires_at);

-- Who made a key: an account. Until now only the owner could.
alter table collector_key add column created_by text not null default '';
update collector_key set created_by = (select owner_id from workspace w where w.id = workspace_id);

create index audit_by_workspace on audit (workspace_id, happened_at, id);
