select category,
       count(*) filter (list_contains(string_split(details, ','), 'asked_user')),
       count(*) filter (list_contains(string_split(details, ','), 'followed_incumbent'))
from trial
where run_id in (select unnest(string_split($1, ',')))
group by category
