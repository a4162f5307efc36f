package dashboard

import (
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A count is a number as people read it.
type count int64

// String implements fmt.Stringer.
func (c count) String() string { return chart.Whole(int64(c)) }

// A term is a word of ours and what it means.
type term struct{ Key, Name, Means string }

// classes returns the classes of agents that a headline counts, in the order in
// which they are stacked: first those by which a person asks.
func classes() []term {
	return []term{
		{string(agentid.UserFetch), "Fetches for people", "A person asked an assistant just now, and it fetched the page."},
		{string(agentid.CodingAgent), "Coding agents", "They work in a developer’s editor or terminal."},
		{string(agentid.AgenticBrowser), "Agents’ browsers", "Browsers that an agent drives."},
		{string(agentid.SearchIndex), "Search indexes", "They index pages for an assistant’s search."},
		{string(agentid.TrainingCrawler), "Training crawlers", "They collect pages to train models."},
		{string(agentid.DataProvider), "Data providers", "They fetch for other people’s agents."},
	}
}

// others returns the classes that no headline counts.
func others() []term {
	return []term{
		{trafficdb.Spoofed, "Spoofed", "They claim to be an agent whose operator says that it comes from elsewhere."},
		{string(agentid.ScannerProbe), "Scanners and probes", "They look for holes, such as /wp-login or /.env."},
		{string(agentid.HTTPLibrary), "Programs", "curl, scripts, headless browsers, your own tests: whose they are is not said."},
		{string(agentid.Monitor), "Monitors", "They look whether the site is up."},
		{string(agentid.LinkPreview), "Link previews", "They draw a card for a link that somebody shared."},
		{string(agentid.AdsReview), "Reviewers of ads", "They check the pages that ads lead to."},
		{string(agentid.SearchEngine), "Search engines", "Classic ones, whose visits say nothing of agents."},
		{string(agentid.UnknownBot), "Other bots", "Bots of no class that is counted: SEO, archives, feeds, and the nameless."},
	}
}

// verdicts returns how sure it is who came, the surest first.
func verdicts() []term {
	return []term{
		{"verified", "Verified", "By a signature, by an address that its operator publishes, or by the name of its address."},
		{"spoofed", "Spoofed", "It claims to be this agent and came from an address that its operator does not publish. Counted as noise, nowhere else."},
		{"unverifiable", "Unverifiable", "Its operator publishes nothing to check it by, or not all of its addresses. Agents on people’s own machines are always so."},
		{"stale", "List too old", "What is known of its operator’s addresses or keys is too old to call it spoofed."},
		{"noip", "No address", "It could be checked by its address, but your site passed on none, or that of its CDN or of a private network. Send the client’s address."},
		{"unclaimed", "Nothing to check", "It claims nothing that could be checked, or signed as somebody we do not know."},
	}
}

// evidences returns by what a touch may be credited, the strongest first.
func evidences() []term {
	return []term{
		{attribution.SignedLink, "signed link", "A link that carries our signature."},
		{attribution.Signature, "agent’s call", "The visitor was met in the call of an agent."},
		{attribution.Tag, "tag", "The address has via or utm_source of an assistant."},
		{attribution.Referrer, "referrer", "The browser says that it comes from an assistant."},
		{attribution.Declared, "declared", "Your site says so."},
	}
}

// gapKinds returns the kinds of gaps, in the order of the page.
func gapKinds() []term {
	return []term{
		{trafficdb.MissingText, "Missing as text", "They asked for a .md page or llms.txt, and got 404 or 410."},
		{trafficdb.NotFound, "Not found", "They asked for a page and got 404 or 410. Assistants make such addresses up, or follow old ones."},
		{trafficdb.Blocked, "Blocked", "They got 401, 403 or 429."},
		{trafficdb.Failed, "Failed", "They got an error of the server, 500 or above."},
		{"robots_conflict", "Against robots.txt", "Agents read these pages though your robots.txt forbids it to them."},
		{"no_llms_txt", "No llms.txt", "Your site has none. Agents look for it to find their way."},
		{"no_markdown", "No pages as text", "Your pages are not there as Markdown, which agents read best."},
		{"never_read", "Never read", "They are in your sitemap, and no agent read them in this window."},
	}
}

// models returns the models, the default first.
func models() []term {
	return []term{
		{string(attribution.First), "First touch", "The earliest touch gets all of it."},
		{string(attribution.Last), "Last touch", "The latest touch before the conversion gets all of it."},
		{string(attribution.Linear), "Linear", "All touches share it alike."},
		{string(attribution.Position), "Position", "The first and the last touch get 40 % each, and those between share 20 %."},
	}
}

// reasons returns why a touch counted or not.
func reasons() []term {
	return []term{
		{string(attribution.Counted), "Counted", "It has a share of the conversion."},
		{string(attribution.NotByModel), "Not by this model", "It competed, but the model credits another touch."},
		{string(attribution.NoEvidence), "No evidence", "Nothing says that an agent was part of it."},
		{string(attribution.OnlyReach), "Reach only", "Crawlers and previews read pages and bring nobody."},
		{string(attribution.Impostor), "Spoofed", "It claims to be an agent that it is not."},
		{string(attribution.TooEarly), "Before the lookback", "It is longer ago than the lookback reaches."},
		{string(attribution.TooLate), "Afterwards", "It came after the conversion."},
		{string(attribution.SharedDevice), "Shared device", "More than five people used this visitor; it stands for none of them."},
		{string(attribution.OldBinding), "Identified too long ago", "The visitor was last known as this person before the lookback."},
		{string(attribution.LeftOut), "Left out", "There were more than 200 touches, and this is one of the middle."},
	}
}

// problems returns why a refund did not simply take back its order.
func problems() []term {
	return []term{
		{string(attribution.NoOrder), "No order", "The order that it takes back is not known; it counts as nobody’s."},
		{string(attribution.OtherCurrency), "Other currency", "Its currency is not that of its order; it counts as nobody’s."},
		{string(attribution.ExceedsOrder), "More than the order", "More than was left of its order; the excess is not counted."},
		{string(attribution.NotNegative), "Not negative", "Its value is not below zero, so that nothing was taken back."},
		{string(attribution.NothingToRefund), "Nothing to refund", "Its order had no value."},
	}
}

// of returns the term of a key; one that is not known stands for itself.
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

// many counts things: 1 page, 2 pages.
func many(n int64, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return chart.Whole(n) + " " + more
}

// share writes a number of conversions that may be divided: 12, 3.4.
func share(v float64) string {
	text := strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0")
	return grouped(strings.TrimSuffix(text, "."))
}

// sum writes money with its currency behind it: 1,225.00 USD.
func sum(m *traffic.Money) string {
	if m == nil {
		return ""
	}
	return grouped(m.Amount) + "\u00a0" + m.Currency
}

// grouped parts the thousands of a decimal number.
func grouped(amount string) string {
	whole, part, point := strings.Cut(amount, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return amount
	}
	text := chart.Whole(n)
	if n == 0 && strings.HasPrefix(whole, "-") {
		text = "-" + text
	}
	if point {
		text += "." + part
	}
	return text
}

// moment writes a time of RFC 3339 as people of a zone read it.
func moment(stamp string, tz *time.Location) string {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return stamp
	}
	return t.In(tz).Format("2 Jan 2006, 15:04")
}

// ago writes how long ago something was.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return many(int64(d/time.Minute), "minute", "minutes") + " ago"
	case d < 48*time.Hour:
		return many(int64(d/time.Hour), "hour", "hours") + " ago"
	default:
		return many(int64(d/(24*time.Hour)), "day", "days") + " ago"
	}
}
