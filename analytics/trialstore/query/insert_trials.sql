insert into trial
select *
from appended_data as new
where not exists (
    from trial as old
    where old.run_id = new.col1 and old.trial_id = new.col2
)
