-- What two judges came to: agree, disagree; '' without two judgements. Null in older results.
alter table trial add column judges varchar;
