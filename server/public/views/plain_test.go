package views

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/render"
)

// closeBoard is a board whose first two tools do not differ significantly.
func closeBoard() *analytics.Board {
	b := asked(map[string]int{"ash": 5, "birch": 4}, map[string]int{"ash": 4, "birch": 4})
	b.Tools[1].BeatenBy = []analytics.Rival{{Slug: "ash"}}
	return b
}

// TestCitations: a citation has the figures of a board, and an order only where one leads clearly.
func TestCitations(t *testing.T) {
	in := Input{Site: render.Site{BaseURL: "https://x.example", SnapshotID: "abc"}}
	level, clear, single := asked(map[string]int{"ash": 5, "birch": 5}), closeBoard(), asked(map[string]int{"ash": 9, "birch": 1}, map[string]int{"ash": 9, "birch": 1})
	clear.Tools[1].BeatenBy[0].Significant = true
	single.Warnings, single.Tools[1].BeatenBy = []string{analytics.SinglePrompt}, closeBoard().Tools[1].BeatenBy
	for want, b := range map[string]*analytics.Board{
		"pick: no tool leads clearly: Ash 45.0% of 20 answers, Birch 40.0% of 20 answers. Data of": closeBoard(),
		"pick: no tool leads clearly: Ash 50.0% of 10 answers, Birch 50.0% of 10 answers. Data of": level,
		"pick: Ash first with 45.0% of 20 answers":                                                 clear,
		"pick: Ash first with 90.0% of 20 answers to one prompt":                                   single,
	} {
		if got := cite(in, b); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	in.Observed = []observed.Board{seenBoard(at, .4)}
	const want = "HTTP clients, what agents used: Ash 60.0% (95% CI 40.0%–80.0%), Birch 20.0% (95% CI 10.0%–30.0%) of the 100 pull requests that use a listed tool. Data of 1 February 2026"
	if got := pageOf(t, in, "/observed/http"); !strings.Contains(got, want) {
		t.Errorf("lacks %q:\n%s", want, got)
	}
}

func pageOf(t *testing.T, in Input, path string) string {
	t.Helper()
	r, err := New(in)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Page(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(p.HTML)
}

// TestEndsNearZero: an end of an interval has one decimal, and its sign agrees with the test.
func TestEndsNearZero(t *testing.T) {
	for want, m := range map[string]Move{
		"−8.2 to −0.0": {Low: -.082, High: -.000001},
		"+0.0 to +8.2": {Low: .000001, High: .082},
		"0.0 to +8.2":  {Low: 1e-12, High: .082},
		"−1.5 to +2.0": {Low: -.015, High: .02},
	} {
		if got := moveOf(m).Interval; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestWhyATool is not picked: the answers that name it are counted, and one is quoted.
func TestWhyATool(t *testing.T) {
	b := closeBoard()
	b.URL = "https://x.example/leaderboards/web"
	prompt := func(shortlists, others int) []analytics.Prompt {
		return []analytics.Prompt{{Prompt: "e/p", NTrials: 20, Tools: []analytics.PromptTool{{Slug: "birch", Picks: 8, Shortlists: shortlists}, {Slug: "ash", Picks: 9, Shortlists: 9 + others}}}}
	}
	quoted := &analytics.Breakdown{Examples: []analytics.Example{{Trial: "t1", Agent: "gpt-4o", Prompt: "e/p", Picked: "ash", Quote: "Birch needs a server"}}}
	for _, tt := range []struct {
		prompts   []analytics.Prompt
		breakdown *analytics.Breakdown
		want      string
	}{
		{nil, nil, ""},
		{prompt(8, 0), quoted, ""},
		{prompt(8, 1), quoted, "Birch counts as an option in no answer that picks another tool. /leaderboards/web/trials?tool=ash"},
		{prompt(9, 0), nil, "Birch is an option in 1 answer that picks something else. /leaderboards/web/trials?tool=ash"},
		{prompt(13, 2), quoted, "Birch is an option in 5 answers that pick something else. GPT-4o, which picked Ash: “Birch needs a server” /trials/t1"},
	} {
		b.Prompts, b.Tools[1].Breakdown = tt.prompts, tt.breakdown
		r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Boards: []analytics.Board{*b}, Trials: true})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, g := range r.toolPlace(place{&r.in.Boards[0], r.in.Boards[0].Tools[1]}).Summary {
			if g.Name == "Why" {
				got = g.Text + " " + g.Link
			}
		}
		if got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestPromptColumns: shortlist rates are left out where all are the pick rates.
func TestPromptColumns(t *testing.T) {
	b := closeBoard()
	for i := range b.Tools {
		b.Tools[i].ShortlistRate = b.Tools[i].PickRate
	}
	if f := promptForest(b); strings.Join(f.Metrics, " ") != "Picks" || strings.Join(f.Rows[0].Metrics, " ") != "9" {
		t.Errorf("the same rates: %q, %q", f.Metrics, f.Rows[0].Metrics)
	}
	b.Tools[1].ShortlistRate = .6
	if f := promptForest(b); strings.Join(f.Metrics, " ") != "Shortlist Picks" || strings.Join(f.Rows[1].Metrics, " ") != "60.0% 8" {
		t.Errorf("other rates: %q, %q", f.Metrics, f.Rows[1].Metrics)
	}
}

// TestEmbedOfUnlabelledBoards: an embedded plot has the warning of its board.
func TestEmbedOfUnlabelledBoards(t *testing.T) {
	b := closeBoard()
	for _, warnings := range [][]string{nil, {analytics.Unlabelled}} {
		b.Warnings = warnings
		r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Boards: []analytics.Board{*b}})
		if err != nil {
			t.Fatal(err)
		}
		html, _, err := r.Embed("web")
		if err != nil || strings.Contains(string(html), "Unlabelled: ") != (warnings != nil) {
			t.Errorf("%v: %v, %s", warnings, err, html)
		}
	}
}
