-- Times are microseconds since 1970 UTC; 0 is "not yet". Columns named *_hash are
-- SHA-256 of random tokens, *_mac keyed hashes, *_sealed AES-256-GCM. The same
-- file runs on SQLite and PostgreSQL.

create table account (
  id           text primary key,
  email_mac    bytea not null,
  email_sealed bytea not null,
  verified_at  bigint not null, -- the owner of the address signed in, or completed a ceremony
  asserted_by  text not null,   -- issuer that vouched for the address, for accounts made on its word
  phone_sealed bytea not null,
  admin        bigint not null,
  created_at   bigint not null,
  disabled_at  bigint not null
);
create unique index account_by_verified_email on account (email_mac) where verified_at > 0;
create index account_by_email on account (email_mac);

create table workspace (
  id           text primary key,
  slug         text not null unique,
  owner_id     text not null, -- account; empty while unclaimed
  plan         text not null,
  created_at   bigint not null,
  claimed_at   bigint not null,
  claim_expires bigint not null -- end of the claim window; after it an unclaimed workspace is closed
);
create index workspace_by_owner on workspace (owner_id);
create index workspace_unclaimed on workspace (claim_expires) where claimed_at = 0;

create table registration (
  id            text primary key,
  kind          text not null,
  workspace_id  text not null,
  account_id    text not null,
  email_mac     bytea not null,
  email_sealed  bytea not null,
  iss           text not null,
  sub_mac       bytea not null,
  sub_sealed    bytea not null,
  aud           text not null,
  client_id     text not null,
  amr           text not null, -- JSON
  platform      text not null,
  context       text not null,
  generation    bigint not null,
  claim_hash    bytea not null, -- of a claim token; a placeholder no token hashes to, when there is none
  created_at    bigint not null,
  claim_expires bigint not null,
  claimed_at    bigint not null,
  denied_at     bigint not null,
  revoked_at    bigint not null,
  refused_sealed bytea not null,
  codes         bigint not null,
  locks         bigint not null,
  paused_until  bigint not null,
  poll_interval bigint not null, -- microseconds
  poll_ok_at    bigint not null,
  poll_penalised bigint not null,
  redeem_at     bigint not null,
  redeem_count  bigint not null,
  redeem_token  bytea not null,
  created_ip    text not null,
  user_agent    text not null,
  expired_noted bigint not null -- the audit log has its expiry
);
create unique index registration_by_claim on registration (claim_hash);
create unique index registration_by_subject on registration (iss, sub_mac, aud) where iss <> '';
create index registration_unclaimed on registration (claim_expires) where claimed_at = 0;
create index registration_by_account on registration (account_id);
create index registration_by_email on registration (email_mac);
create index registration_by_workspace on registration (workspace_id);

create table attempt (
  id              text primary key,
  registration_id text not null references registration (id) on delete cascade,
  view_hash       bytea not null unique,
  code_mac        bytea not null,
  created_at      bigint not null,
  expires_at      bigint not null,
  wrong           bigint not null,
  state           text not null,
  ip              text not null,
  user_agent      text not null
);
create unique index attempt_active on attempt (registration_id) where state = 'active';
create index attempt_by_registration on attempt (registration_id, created_at);

create table access_token (
  hash            bytea primary key,
  registration_id text not null references registration (id) on delete cascade,
  generation      bigint not null,
  scope           text not null,
  created_at      bigint not null,
  expires_at      bigint not null,
  revoked_at      bigint not null,
  ip              text not null
);
create index access_token_by_registration on access_token (registration_id, created_at);
create index access_token_by_expiry on access_token (expires_at);

create table delegation ( -- an issuer's subject acts for an account
  iss         text not null,
  sub_mac     bytea not null,
  account_id  text not null,
  created_at  bigint not null,
  revoked_at  bigint not null,
  reviewed_at bigint not null, -- the account's owner has seen it
  primary key (iss, sub_mac)
);
create index delegation_by_account on delegation (account_id);

create table replay ( -- tokens that may be used once
  usage      text not null,
  iss        text not null,
  jti_mac    bytea not null,
  expires_at bigint not null,
  primary key (usage, iss, jti_mac)
);
create index replay_by_expiry on replay (expires_at);

create table subject_revocation (
  iss        text not null,
  sub_mac    bytea not null,
  revoked_at bigint not null, -- assertions issued until then are void
  primary key (iss, sub_mac)
);

create table collector_key (
  id           text primary key,
  hash         bytea not null unique,
  workspace_id text not null references workspace (id) on delete cascade,
  kind         text not null,
  label        text not null,
  shown        text not null, -- prefix and last four characters
  origins      text not null, -- JSON: of the pages that a publishable key is for
  created_at   bigint not null,
  last_used_at bigint not null,
  revoked_at   bigint not null
);
create index collector_key_by_workspace on collector_key (workspace_id);

create table session (
  hash             bytea primary key,
  account_id       text not null references account (id) on delete cascade,
  form_token       text not null,
  created_at       bigint not null,
  seen_at          bigint not null,
  authenticated_at bigint not null
);
create index session_by_account on session (account_id);
create index session_by_age on session (created_at);

create table sign_in ( -- a link that signs a person in
  hash         bytea primary key,
  browser_hash bytea not null, -- of the cookie of the browser that asked; empty: any browser
  email_sealed bytea not null,
  created_at   bigint not null,
  expires_at   bigint not null,
  used_at      bigint not null
);
create index sign_in_by_expiry on sign_in (expires_at);

create table issuer (
  iss        text primary key,
  entry      text not null, -- JSON
  created_at bigint not null
);

create table signing_key (
  kid         text primary key,
  key_sealed  bytea not null,
  created_at  bigint not null,
  active_from bigint not null
);

create table outbox ( -- mail that is still to be sent
  id           text primary key,
  mail_sealed  bytea not null,
  created_at   bigint not null,
  next_at      bigint not null,
  tries        bigint not null
);
create index outbox_by_time on outbox (next_at);

create table audit (
  id              text primary key,
  happened_at     bigint not null,
  event           text not null,
  registration_id text not null,
  workspace_id    text not null,
  account_id      text not null,
  ip              text not null,
  iss             text not null,
  detail          text not null -- JSON
);
create index audit_by_time on audit (happened_at, id);

create table counter ( -- of rate limits
  name       bytea not null,
  slot       bigint not null,
  n          bigint not null,
  expires_at bigint not null,
  primary key (name, slot)
);
create index counter_by_expiry on counter (expires_at);

create table setting (
  name  text primary key,
  value bytea not null
);
