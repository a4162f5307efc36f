with
worked as (
    select category, shortlist, installed, builds, if(outcome = 'tool', picked, '') as picked
    from trial
    where run_id in (select unnest(string_split($1, ',')))
      and installed is not null
),
named as (
    select category, picked, installed, builds, unnest(string_split(shortlist, ',')) as tool
    from worked
)
select category, '' as tool, count(*), count(*) filter (picked <> ''), count(*) filter (picked <> '' and installed),
       count(*) filter (picked <> '' and installed and builds is not null), count(*) filter (picked <> '' and installed and builds)
from worked
group by category
union all
select category, tool, count(*), count(*) filter (picked = tool), count(*) filter (picked = tool and installed),
       count(*) filter (picked = tool and installed and builds is not null), count(*) filter (picked = tool and installed and builds)
from named
where tool <> ''
group by category, tool
order by 1, 4 desc, 3 desc, 2
