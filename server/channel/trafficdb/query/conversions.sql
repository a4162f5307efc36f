-- The conversions of the window, or the one with the id $4, the orders that
-- refunds among them take back, and all refunds of these orders.
with inside as (
    select seq, kind, order_id, refund_of
    from traffic.event
    where @window and type = 'convert' and ($4 = '' or id = $4)
),
orders as (
    select distinct coalesce(nullif(refund_of, ''), order_id) as order_id
    from inside
    where kind = 'refund' and (refund_of <> '' or order_id <> '')
)
select id, kind, visitor, identity, happened_at, value, currency, order_id, refund_of
from traffic.event
where workspace = $1 and type = 'convert'
  and (@window and ($4 = '' or id = $4)
       or case when kind = 'refund' then coalesce(nullif(refund_of, ''), order_id) else order_id end in (from orders))
order by happened_at, seq
limit $5
