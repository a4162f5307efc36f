select coalesce(sum(planned), 0)::bigint, coalesce(bool_or(synthetic), false)
from run
where category = $1 and run_id in (select unnest(string_split($2, ',')))
