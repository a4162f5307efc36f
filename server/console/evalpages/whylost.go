package evalpages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/explain"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

// How much the page shows; the API has more.
const (
	quotesShown = 5 // of a reason, with different texts
	sitesShown  = 15
	pagesShown  = 5 // of a site
)

// A whyLost is why a tool was not picked.
type whyLost struct {
	Heading              string
	Tool, Sentence, Rate string
	explain.Counts
	NotPicked    int
	Unnamed      string     // the answers that never name it, with their share; empty if absent
	Steps        []nextStep // what to do about the reasons
	Reasons      []reasonGroup
	Switches     []switchRow
	Agents, Tags cutTable
	Few          cutTable // tags with few answers
	Sites        []siteRow
	SitesLeft    int
}

// A reasonGroup is the answers that give a reason.
type reasonGroup struct {
	traceview.Term
	N, Share string
	Quotes   []quoteRow
	More     string // quotes that are not listed
}

type quoteRow struct{ Text, Agent, Took, Link string }

// A switchRow is what answers took instead.
type switchRow struct {
	Name, Means, Link string
	Considered, Rest  int
}

// A cutTable is the counts of all agents, or of all tags.
type cutTable struct {
	Head string
	Rows []cutRow
}

// A cutRow is the counts of an agent, or of a value of a tag.
type cutRow struct {
	Tag, Value, Link, Rate, Reason, Took string
	explain.Counts
}

type siteRow struct {
	Domain, Count string // Count is of the pages
	Own           bool
	explain.Reads
	Pages []pageRow
	Left  int // pages that are not listed
}

type pageRow struct{ URL, Reads string }

func (v *visit) newWhyLost(run string, all *evals.Explanations, e *evals.Explanation, lost []picks.Lost) *whyLost {
	// took names what answers took: a tool, an outcome, or what no list has.
	took := func(slug string) string {
		for _, t := range all.Tools() {
			if t.Slug == slug {
				return t.Name
			}
		}
		return traceview.Visible(traceview.Of(traceview.Outcomes(), slug).Name)
	}
	w := &whyLost{Tool: e.Tool, Counts: e.Counts, NotPicked: e.NTrials - e.Picked, Rate: rejectedRate(&e.Counts), Sentence: sentence(e, took), Steps: nextSteps(e, lost)}
	for _, g := range e.Reasons {
		if g.Reason == explain.NotConsidered { // no reason that an answer gives
			w.Unnamed = chart.Count(g.NTrials, "answer", "answers") + " (" + chart.Percent(g.Share) + ")"
			continue
		}
		row := reasonGroup{Term: traceview.Of(lostReasons(), string(g.Reason)), N: chart.Count(g.NTrials, "answer", "answers"), Share: chart.Percent(g.Share)}
		seen := map[string]bool{}
		for _, q := range g.Quotes {
			if !seen[q.Text] && len(row.Quotes) < quotesShown {
				row.Quotes = append(row.Quotes, quoteRow{traceview.Visible(q.Text), traceview.Visible(q.Agent), took(q.Picked), v.at("runs", run, "traces", q.Trial)})
			}
			seen[q.Text] = true
		}
		if left := g.NQuotes - len(row.Quotes); left > 0 && len(row.Quotes) > 0 {
			row.More = chart.Count(left, "more sentence", "more sentences")
		}
		w.Reasons = append(w.Reasons, row)
	}
	for _, s := range e.Switches {
		row := switchRow{Name: took(s.To), Considered: s.Considered, Rest: s.Rest, Link: v.chosen(run, "outcome", s.Outcome)}
		switch s.Outcome {
		case "tool":
			row.Link = v.chosen(run, "outcome", s.Outcome, "picked", s.To)
		case "other":
			row.Means = "outside the category"
		}
		w.Switches = append(w.Switches, row)
	}
	cuts := func(head string, list []explain.Cut, link func(c *explain.Cut) string) cutTable {
		out := cutTable{Head: head}
		for i := range list {
			c := &list[i]
			row := cutRow{Tag: c.Tag, Value: traceview.Visible(c.Value), Link: link(c), Rate: rejectedRate(&c.Counts), Reason: "–", Took: "–", Counts: c.Counts}
			if i := slices.IndexFunc(c.Reasons, func(r explain.Count) bool { return r.Reason != explain.NotConsidered }); i >= 0 {
				row.Reason = traceview.Of(lostReasons(), string(c.Reasons[i].Reason)).Name
			}
			most := 0
			for _, s := range c.Switches {
				if n := s.Considered + s.Rest; n > most {
					row.Took, most = took(s.To), n
				}
			}
			out.Rows = append(out.Rows, row)
		}
		return out
	}
	w.Agents = cuts("Agent", e.Agents, func(c *explain.Cut) string { return v.chosen(run, "agent", c.Value) })
	w.Tags = cuts("Tag", e.Tags, func(*explain.Cut) string { return "" })
	w.Few = cutTable{Head: w.Tags.Head}
	w.Tags.Rows = slices.DeleteFunc(w.Tags.Rows, func(r cutRow) bool {
		if r.NTrials < picks.FewAnswers {
			w.Few.Rows = append(w.Few.Rows, r)
		}
		return r.NTrials < picks.FewAnswers
	})
	for _, s := range e.Sources[:min(sitesShown, len(e.Sources))] {
		row := siteRow{Domain: traceview.Visible(s.Domain), Count: chart.Count(s.NPages, "page", "pages"), Own: s.Own, Reads: s.Reads}
		for _, p := range s.Pages[:min(pagesShown, len(s.Pages))] {
			row.Pages = append(row.Pages, pageRow{traceview.Visible(p.URL), chart.Count(p.NTrials, "answer", "answers") + ", " + chart.Whole(int64(p.Opened)) + " opened"})
		}
		row.Left = s.NPages - len(row.Pages)
		w.Sites = append(w.Sites, row)
	}
	w.SitesLeft = e.NSites - len(w.Sites)
	return w
}

func rejectedRate(c *explain.Counts) string {
	if c.RejectedRate == nil {
		return "–"
	}
	return chart.Percent(*c.RejectedRate)
}

// heading is the title of the page of a tool. The most picked one does not lose.
func heading(all *evals.Explanations, e *evals.Explanation) string {
	if e.Picked > 0 && !slices.ContainsFunc(all.Reports(), func(o evals.Explanation) bool { return o.Slug != e.Slug && o.Picked >= e.Picked }) {
		return "Where " + e.Tool + " is not picked"
	}
	return "Why " + e.Tool + " loses"
}

// sentence says in words what the counts say.
func sentence(e *evals.Explanation, took func(slug string) string) string {
	answers := chart.Count(e.NTrials, "answer", "answers")
	switch {
	case e.NTrials == 0:
		return "The run has no valid answer."
	case e.Picked == e.NTrials:
		return fmt.Sprintf("All %s pick %s.", answers, e.Tool)
	}
	var counts []string
	if e.NotConsidered > 0 {
		counts = append(counts, "never named in "+chart.Whole(int64(e.NotConsidered)))
	}
	if e.Lost > 0 {
		counts = append(counts, "considered or rejected in "+chart.Whole(int64(e.Lost)))
	}
	parts := []string{fmt.Sprintf("Not picked in %s of %s: %s.", chart.Whole(int64(e.NTrials-e.Picked)), answers, strings.Join(counts, ", "))}
	if e.Lost > 0 {
		if s := rival(e); s != nil {
			parts = append(parts, fmt.Sprintf("Of the %s, %s %s.", chart.Count(e.Lost, "answer that considers it and does not pick it", "answers that consider it and do not pick it"), verb(s.Considered, "takes", "take"), took(s.To)))
		}
		if g := statedReason(e); g != nil {
			parts = append(parts, fmt.Sprintf("The reason given most often is %s (%s).", traceview.Of(lostReasons(), string(g.Reason)).Look, chart.Count(g.NTrials, "answer", "answers")))
		} else {
			parts = append(parts, "No recognised reason is given.")
		}
	}
	return strings.Join(parts, " ")
}

// verb counts answers that do something: none picks, 1 picks, 2 pick.
func verb(n int, one, more string) string {
	switch n {
	case 0:
		return "none " + one
	case 1:
		return "1 " + one
	}
	return chart.Whole(int64(n)) + " " + more
}

// rival is the tool that most lost answers take; nil where they take none.
func rival(e *evals.Explanation) *explain.Switch {
	for i := range e.Switches { // the most frequent first
		if s := &e.Switches[i]; s.Outcome == "tool" && s.Considered > 0 {
			return s
		}
	}
	return nil
}

// statedReason is the most frequent reason in words; nil without one.
func statedReason(e *evals.Explanation) *explain.Group {
	for i := range e.Reasons { // the most frequent first
		switch g := &e.Reasons[i]; g.Reason {
		case explain.NoReason, explain.NotConsidered, "other":
		default:
			return g
		}
	}
	return nil
}

// mainReason names the most frequent reason in words.
func mainReason(e *evals.Explanation) string {
	if g := statedReason(e); g != nil {
		return traceview.Of(lostReasons(), string(g.Reason)).Name
	}
	if e.Lost > 0 {
		return "none stated"
	}
	return "–"
}

// lostReasons returns why an answer does not pick a tool. Look is the reason in a sentence.
func lostReasons() []traceview.Term {
	return []traceview.Term{
		{Key: "price", Name: "Price", Means: "It costs too much, or something else is cheaper.", Look: "the price"},
		{Key: "missing_feature", Name: "Missing feature", Means: "It lacks something that the task needs.", Look: "a missing feature"},
		{Key: "lock_in", Name: "Lock-in", Means: "It is hard to leave.", Look: "lock-in"},
		{Key: "complexity", Name: "Complexity", Means: "It is hard to set up or to use.", Look: "complexity"},
		{Key: "maturity", Name: "Maturity", Means: "It is too new, or not maintained.", Look: "maturity"},
		{Key: "unknown", Name: "Unknown to the agent", Means: "The answer says that the agent does not know it.", Look: "that the agent does not know it"},
		{Key: "other", Name: "Another reason", Means: "Turned down, for none of the reasons above."},
		{Key: "no_reason", Name: "No reason", Means: "Considered, and nothing said against it."},
		{Key: "not_considered", Name: "Never named", Means: "The answer does not name it."},
	}
}
