drop table trial;
create view trial as
select category || '/' || eval as run_id, *
from (
    from read_parquet('@path')
    union all by name -- columns that older files lack: null
    select ''::varchar as category, ''::varchar as eval, null::varchar as method, null::boolean as unresolved, null::varchar as first_named, null::varchar as judges
    where false
);
insert into run
select category || '/' || eval, eval, category, timestamp '1970-01-01', 0, bool_or(synthetic), false, '', '', ''
from read_parquet('@path')
group by all;
