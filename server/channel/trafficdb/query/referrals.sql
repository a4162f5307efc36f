select @sender as sender, count(*) as landings,
       count(distinct visitor) filter (visitor <> ''),
       count(*) filter (evidence = 'signed_link'), count(*) filter (evidence = 'signature'), count(*) filter (evidence = 'tag'),
       count(*) filter (evidence = 'referrer'), count(*) filter (evidence = 'declared'),
       max(happened_at)
from traffic.event
where @window and @only and type = 'touch' and @person and @genuine
  and @evident
group by sender
order by landings desc, sender
limit $8 offset $9
