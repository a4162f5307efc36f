insert into excluded
select *
from appended_data as new
where not exists (
    from excluded as old
    where old.run_id = new.col1 and old.trial_id = new.col2 and old.ended_at = new.col4
)
