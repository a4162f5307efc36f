insert into traffic.event
with dice as (
    select i,
           (hash(i, @seed, 1) % 1000000) / 1e6 as a, (hash(i, @seed, 2) % 1000000) / 1e6 as b, (hash(i, @seed, 3) % 1000000) / 1e6 as c,
           (hash(i, @seed, 4) % 1000000) / 1e6 as d, (hash(i, @seed, 5) % 1000000) / 1e6 as e, (hash(i, @seed, 6) % 1000000) / 1e6 as f,
           (hash(i, @seed, 7) % 1000000) / 1e6 as g
    from range(@from, @to) as t (i)
),
kind as (
    select *, case when a < 0.025 then 'identify' when a < 0.045 then 'convert' else 'touch' end as type,
           a >= 0.045 and a < 0.075 as landing,
           case when b < 0.16 then 1 when b < 0.25 then 2 when b < 0.32 then 3 when b < 0.37 then 4 when b < 0.51 then 5 when b < 0.56 then 6
                when b < 0.60 then 7 when b < 0.62 then 8 when b < 0.67 then 9 when b < 0.70 then 10 when b < 0.75 then 11 when b < 0.78 then 12
                when b < 0.80 then 13 when b < 0.86 then 14 else 15 end as who,
           floor(300 * pow(c, 2.5))::int as page, floor(@events / 250 * g)::int as person,
           @end - @length + (@length::double * (i + 1) / @events)::bigint as received
    from dice
),
made as (
    select *,
           ['GPTBot', 'ClaudeBot', 'OAI-SearchBot', 'PerplexityBot', 'ChatGPT-User', 'Claude-User', 'Perplexity-User', 'ChatGPT agent', 'Claude Code', 'Cursor', '', 'curl', 'Slackbot', 'Googlebot', ''][who] as agent0,
           ['GPTBot', 'ClaudeBot', 'OAI-SearchBot', 'PerplexityBot', 'ChatGPT', 'Claude', 'Perplexity', 'ChatGPT', 'Claude Code', 'Cursor', '', '', '', 'Googlebot', ''][who] as family0,
           ['OpenAI', 'Anthropic', 'OpenAI', 'Perplexity', 'OpenAI', 'Anthropic', 'Perplexity', 'OpenAI', 'Anthropic', 'Anysphere', '', '', 'Slack', 'Google', ''][who] as operator0,
           ['training_crawler', 'training_crawler', 'search_index', 'search_index', 'user_fetch', 'user_fetch', 'user_fetch', 'agentic_browser', 'coding_agent', 'coding_agent', 'scanner_probe', 'http_library', 'link_preview', 'search_engine', 'browser'][who] as class0,
           type = 'touch' and not landing and d < 0.2 as missing
    from kind
)
select i + 1, 'ws_' || lpad(floor(@workspaces * f * f)::int::varchar, 2, '0'), 'e' || i, type,
       make_timestamp((received - (e * 3000000)::bigint - case when d > 0.96 then (f * 259200000000)::bigint else 0 end)::bigint),
       make_timestamp(received::bigint), d > 0.98,
       case when type <> 'touch' or landing or (who = 15 and d < 0.6) or who in (8, 9, 10) then 'v' || person else '' end,
       case when type = 'identify' or type = 'convert' and e < 0.6 then 'ref:p' || (person * 2 // 3) else '' end,
       case when type = 'touch' then 'example.com' else '' end,
       case when type <> 'touch' then '' when missing then case when page = 0 then '/llms-full.txt' else '/v' || (page % 8) || '/gone' || page end
            when page = 0 then '/' else '/docs/part' || (page % 9) || '/page' || page || case when page % 7 = 0 then '.md' else '' end end,
       'GET', case when type <> 'touch' then 0 when missing then 404 when d < 0.25 then 403 when d < 0.26 then 500 else 200 end,
       'text/html', (e * 400)::bigint, (c * 90000)::bigint, who in (9, 10),
       case when type = 'touch' then 'Mozilla/5.0 (compatible; ' || agent0 || '/1.' || (person % 40) || ')' else '' end,
       '203.0.' || (person % 250) || '.0/24', case when landing and e < 0.5 then 'chatgpt.com' when who = 15 and e < 0.5 then 'www.google.com' else '' end,
       '', '', 'node', '', '', '', '', '', '',
       case when type <> 'touch' or landing then '' else agent0 end,
       case when type <> 'touch' then '' when landing then ['ChatGPT', 'Perplexity', 'Claude', 'Gemini'][floor(4 * c * c)::int + 1] else family0 end,
       case when type <> 'touch' or landing then '' else operator0 end,
       case when type <> 'touch' then '' when landing then 'browser' else class0 end,
       case when type <> 'touch' or landing or agent0 = '' then '' when who in (9, 10, 12) then 'unverifiable' when e < 0.9 then 'verified_ip' when e < 0.95 then 'ip_mismatch' else 'no_ip' end,
       case when landing then case when e < 0.5 then 'referrer' else 'tag' end when type = 'touch' and who in (8, 9, 10) then 'signature' else '' end,
       case when type <> 'convert' then '' when b < 0.5 then 'signup' when b < 0.9 then 'paid' else 'refund' end,
       case when type <> 'convert' or b < 0.5 then 0 when b < 0.9 then 900 + (c * 9000)::bigint else -(c * 3000)::bigint end,
       case when type = 'convert' and b >= 0.5 then 'USD' else '' end,
       case when type = 'convert' and b >= 0.5 and b < 0.9 then 'o' || i else '' end,
       case when type = 'convert' and b >= 0.9 then 'o' || (hash(i, 9) % i) else '' end,
       false
from made
