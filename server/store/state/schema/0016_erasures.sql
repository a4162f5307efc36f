-- Erasures: requested, under way, and done. A row that is done names nothing: mark is a
-- keyed hash of kind and id. The same marks are in the erasure list, outside of backups.
create table erasure (
  mark         text primary key,
  kind         text not null, -- account, workspace, eval, run, bundle
  subject      text not null, -- the id, until the rows are deleted; then empty
  requested_at bigint not null,
  erased_at    bigint not null, -- the rows are deleted
  scrubbed_at  bigint not null -- the bytes have left the file of the store
);
create index erasure_open on erasure (requested_at) where scrubbed_at = 0;
