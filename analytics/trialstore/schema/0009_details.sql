-- The details of an outcome, joined by commas. Null where the journal was loaded before.
alter table trial add column details varchar;
