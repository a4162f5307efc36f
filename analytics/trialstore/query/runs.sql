select run.run_id, run.eval, run.category, run.created_at, run.planned, run.synthetic, run.imported, run.shard,
       margin.run_id is not null, coalesce(margin.valid, 0), coalesce(margin.excluded, 0), margin.unresolved, margin.last_at
from run
left join margin on margin.run_id = run.run_id and margin.format = $1
order by run.created_at, run.run_id
