package explain_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics/explain"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/pick/reason"
	"github.com/firstpick/firstpick/runner/transcript"
)

func against(reasons ...reason.Reason) (out []reason.Statement) {
	for _, r := range reasons {
		out = append(out, reason.Statement{Tool: "a", Reason: r, Quote: "A: " + string(r)})
	}
	return out
}

func trials() []explain.Trial {
	node, python := eval.Tags{Ecosystem: "node"}, eval.Tags{Ecosystem: "python"}
	return []explain.Trial{
		{Run: "r", ID: "1", Agent: "x", Tags: node, Outcome: "tool", Picked: "a", Considered: true, Against: against(reason.Price),
			Sources: []transcript.Source{{URL: "https://docs.a.dev/start", Opened: true}, {URL: "https://www.b.dev/"}}},
		{Run: "r", ID: "2", Agent: "x", Tags: node, Outcome: "tool", Picked: "b", Considered: true, Rejected: true, Against: against(reason.Price, reason.Other, reason.Price, reason.LockIn),
			Sources: []transcript.Source{{URL: "https://b.dev/pricing"}, {URL: "https://b.dev/pricing", Opened: true}, {URL: "https://b.dev/docs"}, {URL: "file:///etc/hosts"}, {URL: ":"}}},
		{Run: "r", ID: "3", Agent: "y", Tags: python, Outcome: "tool", Picked: "b"},
		{Run: "s", ID: "4", Agent: "y", Tags: python, Outcome: "diy", Considered: true},
		{Run: "s", ID: "5", Agent: "y", Outcome: "tool", Picked: "c", Considered: true, Rejected: true},
		{Run: "s", ID: "6", Agent: "y", Outcome: "other", Picked: "a", Considered: false},
	}
}

func TestNew(t *testing.T) {
	r := explain.New("a", []string{"a.dev"}, trials())
	rate := 0.75
	want := explain.Counts{NTrials: 6, Picked: 1, Considered: 4, Lost: 3, NotConsidered: 2, Rejected: 2, RejectedRate: &rate}
	if d := cmp.Diff(want, r.Counts); d != "" {
		t.Error(d)
	}
	quote := func(text string) explain.Quote {
		return explain.Quote{Run: "r", Trial: "2", Agent: "x", Picked: "b", Text: text}
	}
	none := []explain.Quote{}
	if d := cmp.Diff([]explain.Group{
		{Reason: explain.NotConsidered, NTrials: 2, Share: .4, Quotes: none},
		{Reason: reason.Price, NTrials: 1, Share: .2, Quotes: []explain.Quote{quote("A: price"), quote("A: price")}, NQuotes: 2},
		{Reason: reason.LockIn, NTrials: 1, Share: .2, Quotes: []explain.Quote{quote("A: lock_in")}, NQuotes: 1},
		{Reason: reason.Other, NTrials: 1, Share: .2, Quotes: none},
		{Reason: explain.NoReason, NTrials: 1, Share: .2, Quotes: none},
	}, r.Reasons); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]explain.Switch{
		{To: "b", Outcome: "tool", Considered: 1, Rest: 1},
		{To: "c", Outcome: "tool", Considered: 1},
		{To: "diy", Outcome: "diy", Considered: 1},
		{To: "a", Outcome: "other", Rest: 1},
	}, r.Switches); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]explain.Site{
		{Domain: "b.dev", Reads: explain.Reads{NTrials: 2, Opened: 1, Picked: 1}, Pages: []explain.Page{
			{URL: "https://b.dev/pricing", Reads: explain.Reads{NTrials: 1, Opened: 1}},
			{URL: "https://b.dev/docs", Reads: explain.Reads{NTrials: 1}},
			{URL: "https://www.b.dev/", Reads: explain.Reads{NTrials: 1, Picked: 1}},
		}, NPages: 3},
		{Domain: "docs.a.dev", Own: true, Reads: explain.Reads{NTrials: 1, Opened: 1, Picked: 1}, Pages: []explain.Page{
			{URL: "https://docs.a.dev/start", Reads: explain.Reads{NTrials: 1, Opened: 1, Picked: 1}},
		}, NPages: 1},
	}, r.Sources); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"r", "s"}, r.Runs); d != "" {
		t.Error(d)
	}
}

// TestCuts: agents make up all answers, a tag only those whose prompts have it.
func TestCuts(t *testing.T) {
	r := explain.New("a", nil, trials())
	sum := 0
	for _, c := range r.Agents {
		sum += c.NTrials
		if c.Picked+c.Lost+c.NotConsidered != c.NTrials {
			t.Errorf("%+v", c)
		}
	}
	if sum != r.NTrials || len(r.Agents) != 2 || r.Agents[0].Value != "x" {
		t.Errorf("%d answers of %+v", sum, r.Agents)
	}
	if len(r.Tags) != 2 || r.Tags[0].Tag != "ecosystem" || r.Tags[0].Value != "node" || r.Tags[0].NTrials != 2 || r.Tags[1].NTrials != 2 {
		t.Errorf("%+v", r.Tags)
	}
}

// TestLimit: lists are short, and their whole numbers stay.
func TestLimit(t *testing.T) {
	r := explain.New("a", nil, trials())
	r.Limit(explain.Limits{Quotes: 1, Sites: 1, Pages: 2, Switches: 1, Taken: 3, Cuts: 2})
	if g := r.Reasons[1]; len(g.Quotes) != 1 || g.NQuotes != 2 || g.NTrials != 1 {
		t.Errorf("%+v", g)
	}
	different := explain.Report{Reasons: []explain.Group{{Quotes: []explain.Quote{{Trial: "1", Text: "x"}, {Trial: "2", Text: "x"}, {Trial: "3", Text: "y"}}}}}
	different.Limit(explain.Limits{Quotes: 2})
	if q := different.Reasons[0].Quotes; q[0].Trial != "1" || q[1].Trial != "3" {
		t.Errorf("%+v", q)
	}
	if r.NSites != 2 || len(r.Sources) != 1 || len(r.Sources[0].Pages) != 2 || r.Sources[0].NPages != 3 {
		t.Errorf("%d sites, %+v", r.NSites, r.Sources)
	}
	if y := r.Agents[1]; len(y.Switches) != 1 || y.NSwitches != 4 || len(r.Switches) != 3 || len(r.Agents) != 2 || len(r.Tags) > 2 {
		t.Errorf("%+v, in all %+v", y, r.Switches)
	}
	r.Limit(explain.Limits{})
	if len(r.Sources)+len(r.Reasons[1].Quotes)+len(r.Agents)+len(r.Tags)+len(r.Switches) != 0 || r.NTrials != 6 {
		t.Errorf("%+v", r)
	}
}

func TestNoTrials(t *testing.T) {
	if r := explain.New("a", nil, nil); r.RejectedRate != nil || r.NTrials != 0 || r.Reasons == nil || r.Sources == nil {
		t.Errorf("%+v", r)
	}
}
