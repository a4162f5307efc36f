package dashboard

import (
	"strings"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/traffic"
)

// A term is a label with its meaning.
type term struct{ Key, Name, Means string }

// classes returns the classes of agents that a headline counts, in the order in
// which they are stacked: first those by which a person asks.
func classes() []term {
	return []term{
		{string(agentid.UserFetch), "User fetches", "An assistant fetched the page for a user."},
		{string(agentid.CodingAgent), "Coding agents", "Agents in a developer’s editor or terminal."},
		{string(agentid.AgenticBrowser), "Agentic browsers", "Browsers driven by an agent."},
		{string(agentid.SearchIndex), "Search indexes", "Index pages for the search of an assistant."},
		{string(agentid.TrainingCrawler), "Training crawlers", "Collect pages to train models."},
		{string(agentid.DataProvider), "Data providers", "Fetch pages for other agents."},
	}
}

// others returns the classes that no headline counts.
func others() []term {
	return []term{
		{traffic.NoiseSpoofed, "Spoofed", "Use the name of an agent, from an address outside its operator’s ranges."},
		{string(agentid.ScannerProbe), "Scanners and probes", "Search for vulnerabilities, such as /wp-login or /.env."},
		{string(agentid.HTTPLibrary), "Programs", "curl, scripts, headless browsers, your own tests."},
		{string(agentid.Monitor), "Monitors", "Check whether the site is up."},
		{string(agentid.LinkPreview), "Link previews", "Render a card for a shared link."},
		{string(agentid.AdsReview), "Ad reviewers", "Check the landing pages of ads."},
		{string(agentid.SearchEngine), "Search engines", "Classic web search, unrelated to agents."},
		{string(agentid.UnknownBot), "Other bots", "SEO, archives, feeds and unnamed bots."},
	}
}

// verdicts returns the results of verification, in the order of bars.
func verdicts() []term {
	return []term{
		{"verified", "Verified", "By a signature, a published IP range of its operator, or reverse DNS."},
		{"unverified", "Unverified", "Nothing proves or refutes the name."},
		{"spoofed", "Spoofed", "The address is outside its operator’s ranges. Counted as noise only."},
	}
}

// doubts returns why a visit is unverified.
func doubts() []term {
	return []term{
		{"unverifiable", "No published ranges", "Its operator publishes no IP ranges, or not all of them. Agents on users’ machines have none."},
		{"stale", "IP list outdated", "The IP list or keys of its operator are too old to report it as spoofed."},
		{"noip", "No client address", "Your site sent no client IP address, or the address of its CDN or of a private network."},
		{"unclaimed", "No claim", "It claims no identity that can be verified, or its signature is of an unknown signer."},
	}
}

// evidences returns the kinds of evidence of a visit, strongest first.
func evidences() []term {
	return []term{
		{attribution.SignedLink, "signed link", "A link with our signature."},
		{attribution.Signature, "agent’s call", "The visitor appeared in the call of an agent."},
		{attribution.Tag, "tag", "The URL has via or utm_source of an assistant."},
		{attribution.Referrer, "referrer", "The referrer is an assistant."},
		{attribution.Declared, "declared", "Declared by your site."},
	}
}

// gapKinds returns the kinds of gaps, in the order of the page.
func gapKinds() []term {
	return []term{
		{traffic.GapMissingText, "Missing Markdown", "Requests for a .md page or llms.txt that got 404 or 410."},
		{traffic.GapNotFound, "Not found", "Requests that got 404 or 410. Assistants invent such URLs or follow old ones."},
		{traffic.GapBlocked, "Blocked", "Requests that got 401, 403 or 429."},
		{traffic.GapFailed, "Failed", "Requests that got a server error, 500 or above."},
		{"robots_conflict", "robots.txt conflict", "Agents read these pages although your robots.txt disallows it."},
		{"no_llms_txt", "No llms.txt", "Your site has no llms.txt. Agents use it to find pages."},
		{"no_markdown", "No Markdown pages", "Your site serves no Markdown versions, which agents read best."},
		{"never_read", "Never read", "Pages in your sitemap that no agent read in this window."},
	}
}

// models returns the models, the default first.
func models() []term {
	return []term{
		{string(attribution.First), "First touch", "The earliest visit gets all credit."},
		{string(attribution.Last), "Last touch", "The latest visit before the conversion gets all credit."},
		{string(attribution.Linear), "Linear", "All visits share the credit equally."},
		{string(attribution.Position), "Position", "The first and the last visit get 40 % each; those between share 20 %."},
	}
}

// reasons returns why a touch counted or not.
func reasons() []term {
	return []term{
		{string(attribution.Counted), "Counted", "It gets a share of the conversion."},
		{string(attribution.NotByModel), "Not by this model", "The model credits another visit."},
		{string(attribution.NoEvidence), "No evidence", "No evidence of an agent."},
		{string(attribution.OnlyReach), "Reach only", "Crawlers and previews refer no users."},
		{string(attribution.Impostor), "Spoofed", "The visit used the name of another agent."},
		{string(attribution.TooEarly), "Before the lookback", "The visit is older than the lookback."},
		{string(attribution.TooLate), "Too late", "The visit came after the conversion."},
		{string(attribution.SharedDevice), "Shared device", "More than five people used this visitor; it is attributed to none."},
		{string(attribution.OldBinding), "Identified too long ago", "The visitor was last identified as this person before the lookback."},
		{string(attribution.LeftOut), "Left out", "More than 200 visits; the middle ones are not considered."},
	}
}

// problems returns why a refund did not simply take back its order.
func problems() []term {
	return []term{
		{string(attribution.NoOrder), "No order", "The refunded order is unknown; the refund is credited to no agent."},
		{string(attribution.OtherCurrency), "Other currency", "Its currency differs from the order; the refund is credited to no agent."},
		{string(attribution.ExceedsOrder), "More than the order", "The refund exceeds the rest of its order; the excess is not counted."},
		{string(attribution.NotNegative), "Not negative", "Its value is not negative, so nothing was deducted."},
		{string(attribution.NothingToRefund), "Nothing to refund", "Its order had no value."},
	}
}

// of returns the term of a key; an unknown key is its own name.
func of(terms []term, key string) term {
	for _, t := range terms {
		if t.Key == key {
			return t
		}
	}
	return term{Key: key, Name: strings.ReplaceAll(key, "_", " ")}
}

// class returns the term of any class.
func class(key string) term { return of(append(classes(), others()...), key) }

// describe renders a change of a window as a sentence.
func describe(c *traffic.Change, q *query) string {
	kind, ok := change.KindOfReport(c.What)
	if !ok {
		return c.What
	}
	return kind.Sentence(&change.Row{Agent: c.Agent, Folder: c.Folder, Now: c.Now, Before: c.Before}, change.Baseline(q.To.Sub(q.From)))
}
