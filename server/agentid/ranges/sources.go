package ranges

// A Source is where an operator publishes the addresses of its agents.
type Source struct {
	List string // our name of it
	URL  string
}

// Sources returns the lists that are kept. All are JSON of the form that Google
// began with; operators who publish prose or HTML are not among them.
func Sources() []Source {
	const google = "https://developers.google.com/static/crawling/ipranges/"
	return []Source{
		{"anthropic", "https://claude.com/crawling/bots.json"},
		{"apple", "https://search.developer.apple.com/applebot.json"},
		{"bing", "https://www.bing.com/toolbox/bingbot.json"},
		{"commoncrawl", "https://index.commoncrawl.org/ccbot.json"},
		{"duckassist", "https://duckduckgo.com/duckassistbot.json"},
		{"duckduckbot", "https://duckduckgo.com/duckduckbot.json"},
		{"google-agents", google + "user-triggered-agents.json"},
		{"google-common", google + "common-crawlers.json"},
		{"google-special", google + "special-crawlers.json"},
		{"google-user", google + "user-triggered-fetchers.json"},
		{"google-user-google", google + "user-triggered-fetchers-google.json"},
		{"mistral-index", "https://mistral.ai/mistralai-index-ips.json"},
		{"mistral-user", "https://mistral.ai/mistralai-user-ips.json"},
		{"openai-adsbot", "https://openai.com/adsbot.json"},
		{"openai-chatgpt-user", "https://openai.com/chatgpt-user.json"},
		{"openai-gptbot", "https://openai.com/gptbot.json"},
		{"openai-searchbot", "https://openai.com/searchbot.json"},
		{"perplexity-bot", "https://www.perplexity.com/perplexitybot.json"},
		{"perplexity-user", "https://www.perplexity.com/perplexity-user.json"},
	}
}
