select min(happened_at), max(happened_at), max(received_at), count(*) filter (received_at > $2 and received_at <= $3)
from traffic.event
where workspace = $1
