select host, path, count(*) as landings, count(distinct visitor) filter (visitor <> ''),
       coalesce(array_to_string(list_slice(list_sort(list(distinct @sender)), 1, 20), chr(10)), '')
from traffic.event
where @window and @only and type = 'touch' and @person and @genuine
  and @evident
group by host, path
order by landings desc, host, path
limit $8 offset $9
