-- What a billing system sells, and what an operator says of plans.

create table billing_subscription (
  id         text primary key, -- the billing system's
  named_id   text not null, -- the workspace that it names itself; empty for none
  bought_id  text not null, -- the workspace that its checkout was for; empty for none
  status     text not null, -- in the billing system's words; empty until it told
  pays       bigint not null, -- 1 while its workspace is paid for
  told_at    bigint not null, -- of the event that told status: the newest
  told_rank  bigint not null, -- orders events of one second
  told_event text not null -- orders events of one rank
);
create index billing_subscription_by_name on billing_subscription (named_id) where named_id <> '';
create index billing_subscription_by_checkout on billing_subscription (bought_id) where bought_id <> '';

alter table workspace add column plan_said text not null default ''; -- the plan that an operator set; empty where billing decides
alter table workspace add column plan_said_at bigint not null default 0;
update workspace set plan_said = 'paid' where plan = 'paid'; -- nobody else could until now
