-- The family and tags of each trial's prompt, for counts by group. A tag that the prompt
-- lacks is empty.
alter table trial add column family varchar default '';
alter table trial add column ecosystem varchar default '';
alter table trial add column intent varchar default '';
alter table trial add column persona varchar default '';

-- Journals that are already loaded name no families: each prompt is its own.
update trial set family = prompt_id;
