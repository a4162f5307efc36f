-- A run knows what it ran: lists need no look into the version.

alter table eval_run add column eval_name text not null default '';
alter table eval_run add column category text not null default '';
