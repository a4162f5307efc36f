select coalesce(sum(
    strlen(trial_id) + strlen(category) + strlen(eval) + strlen(prompt_id) + strlen(agent) + strlen(template) + strlen(outcome) + strlen(picked)
    + strlen(shortlist) + coalesce(strlen(method), 0) + coalesce(strlen(first_named), 0) + coalesce(strlen(judges), 0)
), 0)::bigint
from trial
