select @event
from traffic.event
where @window and seq > $4 and seq <= $5
order by seq
limit $6
