-- A run that its worker gives back in order has met no trouble: such claims do not count
-- towards those after which it fails. Its workers share one time limit.
alter table eval_run add column given_back bigint not null default 0; -- how many claims ended so
alter table eval_run add column worked bigint not null default 0; -- µs, by all workers
