package views

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/render"
)

// TestToolsOfAnAgentCard: the card of an agent names three tools, a fourth that is within a point of the third, and
// always the first tool of the board, here Ash.
func TestToolsOfAnAgentCard(t *testing.T) {
	b := asked(map[string]int{"ash": 9})
	for want, rates := range map[string]map[string]float64{
		"ash birch cedar":     {"ash": .4, "birch": .3, "cedar": .2, "elm": .1},
		"ash birch cedar elm": {"ash": .4, "birch": .3, "cedar": .12, "elm": .118},
		"birch cedar elm ash": {"birch": .4, "cedar": .3, "elm": .2, "fir": .1, "ash": .01},
		"birch cedar":         {"birch": .4, "cedar": .3},
	} {
		var tools []analytics.AgentRate
		for slug, rate := range rates {
			tools = append(tools, analytics.AgentRate{Slug: slug, PickRate: rate, Picks: int(1000 * rate)})
		}
		slices.SortFunc(tools, func(x, y analytics.AgentRate) int { return cmp.Compare(y.PickRate, x.PickRate) })
		var got []string
		for _, tool := range namedFirst(b, tools) {
			got = append(got, tool.Slug)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestBadgeOfOneRepository: where one repository decides a rate, the badge has no figure.
func TestBadgeOfOneRepository(t *testing.T) {
	at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	for want, c := range map[string]struct {
		low      float64
		warnings []string
	}{
		"used in 60.0% (observed) · HTTP clients · Feb 2026":                        {.4, []string{observed.OneRepository}},
		"observed, one repository decides · HTTP clients · Feb 2026":                {.01, []string{observed.OneRepository}},
		"observed, too few repositories to say how often · HTTP clients · Feb 2026": {.01, nil},
	} {
		b := seenBoard(at, c.low)
		b.Warnings = c.warnings
		r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Observed: []observed.Board{b}})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, got, ok := r.Badge("ash"); !ok || got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestColumnsOfABoard: a column of rates that are next to nothing is left out, and a sentence says which tool is
// first on the shortlist where that is another.
func TestColumnsOfABoard(t *testing.T) {
	b := asked(map[string]int{"ash": 5, "birch": 4}, map[string]int{"ash": 4, "birch": 4})
	b.URL, b.Domain = "https://x.example/leaderboards/web", "dev-tools"
	for i := range b.Tools {
		b.Tools[i].Rank, b.Tools[i].ShortlistRate, b.Tools[i].DefaultRate = i+1, []float64{.6, .7, .1, 0}[i], []float64{.003, .001, 0, 0}[i]
	}
	const first = "On the shortlist Birch is first: in 70.0% of answers, Ash in 60.0%. Not tested."
	page := func() string {
		return pageOf(t, Input{Site: render.Site{BaseURL: "https://x.example", SnapshotID: "abc"}, Boards: []analytics.Board{*b}}, "/leaderboards/web")
	}
	if got := page(); strings.Contains(got, ">Default<") || strings.Contains(got, "Default: picked") || !strings.Contains(got, ">Shortlist<") || !strings.Contains(got, first) {
		t.Errorf("%s", got)
	}
	b.Tools[0].DefaultRate, b.Tools[0].ShortlistRate = .01, .8
	if got := page(); !strings.Contains(got, ">Default<") || !strings.Contains(got, "Default: picked") || strings.Contains(got, "On the shortlist") {
		t.Errorf("%s", got)
	}
}

// TestIntervalsByAgent: the intervals of the table by agent can be read without a pointer.
func TestIntervalsByAgent(t *testing.T) {
	b := asked(map[string]int{"ash": 5, "birch": 4}, map[string]int{"ash": 4, "birch": 4})
	b.URL = "https://x.example/leaderboards/web"
	for i := range b.Tools {
		b.Tools[i].ShortlistRate = b.Tools[i].PickRate
	}
	b.Agents[0].Tools[0].Interval = &analytics.Interval{CILow: .314, CIHigh: .687}
	if got := pageOf(t, Input{Site: render.Site{BaseURL: "https://x.example"}, Boards: []analytics.Board{*b}}, "/leaderboards/web"); !strings.Contains(got, "<small>31–69%</small>") || !strings.Contains(got, "; below it the 95% CI.") {
		t.Errorf("%s", got)
	}
}

// TestReadingDoubt: the page of a trial says how surely its answer is read, unless nothing was read.
func TestReadingDoubt(t *testing.T) {
	unlabelled, labelled := asked(map[string]int{"ash": 5}), asked(map[string]int{"ash": 5})
	unlabelled.Warnings, labelled.ExtractionError = []string{analytics.Unlabelled}, &analytics.ExtractionError{Rate: .05, CILow: .01, CIHigh: .1, NLabels: 60}
	read := &trialset.Trace{Result: &trialset.Result{}}
	for name, c := range map[string]struct {
		board  *analytics.Board
		trace  *trialset.Trace
		listed bool
		want   string
	}{
		"unlabelled": {unlabelled, read, false, "Rules read the answers, and some are read wrong: check the answer before you cite it."},
		"labelled":   {labelled, read, false, "Rules read the answers: on this board 5% of outcomes are read wrong (95% CI 1%–10%, 60 labels)."},
		"imports":    {unlabelled, read, true, ""},
		"no answer":  {unlabelled, &trialset.Trace{}, false, ""},
		"judged":     {unlabelled, &trialset.Trace{Result: &trialset.Result{Method: "judge"}}, false, ""},
		"given":      {unlabelled, &trialset.Trace{Result: &trialset.Result{Method: "given"}}, false, ""},
		"no warning": {asked(map[string]int{"ash": 5}), read, false, ""},
	} {
		if got := readingDoubt(c.board, c.trace, c.listed); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestLeaderBeginsWithItsLargestLoss: the next step of the first tool of a board is where it loses most.
func TestLeaderBeginsWithItsLargestLoss(t *testing.T) {
	b := asked(map[string]int{"ash": 9, "birch": 0}, map[string]int{"ash": 1, "birch": 8})
	var d toolPlace
	d.summarize(b, b.Tools[0], true)
	agent := b.Agents[1].Agent
	if got := d.Summary[len(d.Summary)-1]; got.Name != whatNext || got.Text != "Begin with the largest loss: read what "+render.AgentName(agent)+" picks." || got.Link != TrialsPath("web", "agent", agent, "tool", "birch") {
		t.Errorf("%+v", got)
	}
	if got := d.Summary[1]; got.Name != "Largest loss" || got.Text != render.AgentName(agent)+": Birch 80.0%, Ash 10.0% of 10 answers." {
		t.Errorf("%+v", got)
	}
	d.Summary = nil
	d.summarize(b, b.Tools[1], true)
	if got := d.Summary[len(d.Summary)-1]; strings.Contains(got.Text, "largest loss") {
		t.Errorf("a tool behind: %+v", got)
	}
}
