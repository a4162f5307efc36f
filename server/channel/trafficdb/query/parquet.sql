select @event
from traffic.event
where @window
order by seq
