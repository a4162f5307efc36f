package ranges

// A Source is where an operator publishes the addresses of its agents, or a CDN
// those of its edge.
type Source struct {
	List   string // our name of it
	URL    string
	Format Format
	// Shared marks addresses from which other people's programs fetch as well: they
	// prove the agents of this list only, no other agent of the operator.
	Shared bool
	CDN    bool // the edge of a CDN, not an operator's agents
}

// Sources returns the lists. Meta does not publish one: it documents that its crawlers
// use its network AS32934, whose prefixes RIPE's route collectors list.
func Sources() []Source {
	const (
		google = "https://developers.google.com/static/crawling/ipranges/"
		amazon = "https://developer.amazon.com/amazonbot/"
	)
	return []Source{
		{List: "amazon-bot", URL: amazon + "ip-addresses/", Format: Page},
		{List: "amazon-searchbot", URL: amazon + "searchbot-ip-addresses/", Format: Page},
		{List: "amazon-user", URL: amazon + "live-ip-addresses/", Format: Page},
		{List: "anthropic", URL: "https://claude.com/crawling/bots.json"},
		{List: "apple", URL: "https://search.developer.apple.com/applebot.json"},
		{List: "bing", URL: "https://www.bing.com/toolbox/bingbot.json"},
		{List: "cdn-cloudflare", URL: "https://api.cloudflare.com/client/v4/ips", Format: Cloudflare, CDN: true},
		{List: "cdn-cloudfront", URL: "https://ip-ranges.amazonaws.com/ip-ranges.json", Format: CloudFront, CDN: true},
		{List: "cdn-fastly", URL: "https://api.fastly.com/public-ip-list", Format: Fastly, CDN: true},
		{List: "commoncrawl", URL: "https://index.commoncrawl.org/ccbot.json"},
		{List: "duckassist", URL: "https://duckduckgo.com/duckassistbot.json"},
		{List: "duckduckbot", URL: "https://duckduckgo.com/duckduckbot.json"},
		{List: "google-agents", URL: google + "user-triggered-agents.json", Shared: true},
		{List: "google-common", URL: google + "common-crawlers.json"},
		{List: "google-special", URL: google + "special-crawlers.json"},
		{List: "google-user", URL: google + "user-triggered-fetchers.json", Shared: true},
		{List: "google-user-google", URL: google + "user-triggered-fetchers-google.json", Shared: true},
		{List: "meta", URL: "https://stat.ripe.net/data/announced-prefixes/data.json?resource=AS32934", Format: RIPEstat},
		{List: "mistral-index", URL: "https://mistral.ai/mistralai-index-ips.json"},
		{List: "mistral-user", URL: "https://mistral.ai/mistralai-user-ips.json"},
		{List: "openai-adsbot", URL: "https://openai.com/adsbot.json"},
		{List: "openai-chatgpt-user", URL: "https://openai.com/chatgpt-user.json"},
		{List: "openai-gptbot", URL: "https://openai.com/gptbot.json"},
		{List: "openai-searchbot", URL: "https://openai.com/searchbot.json"},
		{List: "perplexity-bot", URL: "https://www.perplexity.com/perplexitybot.json"},
		{List: "perplexity-user", URL: "https://www.perplexity.com/perplexity-user.json"},
	}
}
