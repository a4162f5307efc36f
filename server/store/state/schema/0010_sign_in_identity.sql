-- A user of an identity provider signs in to one account; an account has one user of
-- each provider.
create table sign_in_identity (
  iss        text not null,
  sub_mac    bytea not null,
  account_id text not null references account (id) on delete cascade,
  created_at bigint not null,
  primary key (iss, sub_mac)
);
create unique index sign_in_identity_by_account on sign_in_identity (account_id, iss);
