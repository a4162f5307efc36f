-- The name that people gave a workspace; empty until they do.
alter table workspace add column name text not null default '';
