-- A provider key goes to the hosts that it is bound to, and nowhere else. Keys that are
-- there are bound to the hosts of the provider that their name belongs to; others to
-- none, until an owner binds them.

alter table provider_key add column hosts text not null default '[]'; -- JSON
update provider_key set hosts = '["api.openai.com"]' where name in ('OPENAI_API_KEY', 'CODEX_API_KEY');
update provider_key set hosts = '["api.anthropic.com"]' where name = 'ANTHROPIC_API_KEY';
update provider_key set hosts = '["generativelanguage.googleapis.com"]' where name in ('GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY');
update provider_key set hosts = '["openrouter.ai"]' where name = 'OPENROUTER_API_KEY';
update provider_key set hosts = '["api.githubcopilot.com"]' where name in ('COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN');
update provider_key set hosts = '["api2.cursor.sh"]' where name = 'CURSOR_API_KEY';
update provider_key set hosts = '["api.mistral.ai"]' where name = 'MISTRAL_API_KEY';
update provider_key set hosts = '["api.groq.com"]' where name = 'GROQ_API_KEY';
update provider_key set hosts = '["api.deepseek.com"]' where name = 'DEEPSEEK_API_KEY';
update provider_key set hosts = '["api.x.ai"]' where name = 'XAI_API_KEY';
