package tools

import (
	"net/url"

	"github.com/firstpick/firstpick/analytics/explain"
)

// The entries of inner lists of an explanation.
const (
	explainedQuotes = 3
	explainedSites  = 10
)

type ownExplanation struct {
	RunID     string `json:"runId"`
	Category  string `json:"category"`
	Tool      string `json:"tool"`
	Slug      string `json:"slug"`
	Synthetic bool   `json:"synthetic"`
	explain.Counts
	Reasons  []ownReason      `json:"reasons"`
	Switches []explain.Switch `json:"switches"`
	Agents   []ownCut         `json:"agents"`
	Tags     []ownCut         `json:"tags"`
	Sources  []ownSite        `json:"sources"`
	NSites   int              `json:"nSites"`
	URL      string           `json:"url"`
}

type ownReason struct {
	explain.Group
	Quotes []ownQuote `json:"quotes"`
}

// An ownQuote is a quote without its run, which is that of the explanation.
type ownQuote struct {
	explain.Quote
	Run hidden `json:"run,omitempty"`
}

type ownCut struct {
	explain.Cut
	NSwitches hidden `json:"nSwitches,omitempty"`
}

type ownSite struct {
	explain.Site
	NPages hidden `json:"nPages,omitempty"`
}

// Explanation is the answer of explainLoss. Its quotes and addresses are texts of the agents
// under test.
func (w Workspace) Explanation(q RunQuery, e *explain.Report) Answer {
	out := ownExplanation{
		RunID: q.RunID, Category: e.Category, Tool: e.Tool, Slug: e.Slug, Synthetic: e.Synthetic, Counts: e.Counts, Reasons: []ownReason{}, Switches: first(e.Switches, most),
		Agents: cuts(e.Agents), Tags: cuts(e.Tags), Sources: []ownSite{}, NSites: e.NSites, URL: w.page("/runs/" + url.PathEscape(q.RunID) + "/explain?tool=" + url.QueryEscape(e.Slug)),
	}
	for _, g := range e.Reasons {
		r := ownReason{Group: g, Quotes: []ownQuote{}}
		for _, quote := range first(g.Quotes, explainedQuotes) {
			r.Quotes = append(r.Quotes, ownQuote{Quote: quote})
		}
		out.Reasons = append(out.Reasons, r)
	}
	for _, s := range first(e.Sources, explainedSites) {
		s.Pages = first(s.Pages, topTools)
		out.Sources = append(out.Sources, ownSite{Site: s})
	}
	return Reply(out)
}

func cuts(list []explain.Cut) []ownCut {
	out := []ownCut{}
	for _, c := range first(list, most) {
		c.Switches, c.Reasons = first(c.Switches, topTools), first(c.Reasons, topTools)
		out = append(out, ownCut{Cut: c})
	}
	return out
}
