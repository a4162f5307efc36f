select @event
from traffic.event
where @window and seq > $4 and seq <= $5
  and (visitor <> '' and visitor in (select unnest($7::varchar[])) or identity <> '' and identity in (select unnest($8::varchar[])))
order by seq
limit $6
