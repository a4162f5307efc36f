select run.run_id, run.category, run.planned, run.synthetic, margin.cells
from run
left join margin on margin.run_id = run.run_id and margin.format = $2
where run.run_id in (select unnest(string_split($1, ',')))
order by run.category, run.created_at, run.run_id
