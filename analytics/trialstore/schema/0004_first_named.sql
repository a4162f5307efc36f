-- Null where the result does not report it: imports, and extractors before these fields.
alter table trial add column unresolved boolean;
alter table trial add column first_named varchar; -- slug; '' for none
