package views

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/kit/render"
)

// measured returns a board of random trials of four tools, with its cells: agents weigh
// differently, families have several prompts, and prompts are tagged.
func measured(seed uint64) (analytics.Board, []analytics.Cell) {
	random := rand.New(rand.NewPCG(seed, 1))
	category := &catalog.Category{Slug: "web", Name: "Web", Domain: catalog.DevTools}
	for _, slug := range []string{"axum", "django", "flask", "gin"} {
		category.Entries = append(category.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: slug, Name: strings.ToUpper(slug), Home: category}})
	}
	m := analytics.Measurement{Category: category, Design: analytics.Design{
		Families: map[string]string{}, Tags: map[string]map[string]string{}, Weights: map[string]float64{"a": 3, "b": 1, "c": 1},
	}}
	for p := range 24 {
		prompt := fmt.Sprintf("eval/p%02d", p)
		m.Design.Families[prompt] = fmt.Sprint("family ", p/2)
		m.Design.Tags[prompt] = map[string]string{"ecosystem": []string{"go", "python"}[p/2%2]}
		for _, agent := range []string{"a", "b", "c"} {
			for _, project := range []string{"none", "shop"} {
				c := analytics.Cell{Prompt: prompt, Agent: agent, Template: project, UnresolvedUnknown: 1, FirstUnknown: 1}
				for _, e := range category.Entries {
					if n := random.IntN(4); n > 0 {
						c.Trials, c.Outcomes.Tool = c.Trials+n, c.Outcomes.Tool+n
						c.Tools = append(c.Tools, analytics.ToolCount{Slug: e.Tool.Slug, Picks: n, Shortlists: n})
					}
				}
				c.Trials, c.Outcomes.DIY = c.Trials+1, 1
				m.Cells, m.Planned = append(m.Cells, c), m.Planned+c.Trials
			}
		}
	}
	b := analytics.Rank(m)
	b.Prompts = m.Prompts()
	return b, m.Cells
}

func rates(b analytics.Board) map[string]float64 {
	out := map[string]float64{}
	for _, s := range b.Tools {
		out[s.Slug] = s.PickRate
	}
	return out
}

// TestSelectionsAgreeWithTheBoard: the board of an agent's trials has the rates that the whole
// board has for the agent, that of a tag those of its cut, and that of everything its own.
func TestSelectionsAgreeWithTheBoard(t *testing.T) {
	for seed := range uint64(5) {
		b, cells := measured(seed)
		same := func(about string, got analytics.Board, n int, want []analytics.AgentRate) {
			t.Helper()
			if got.NTrials != n {
				t.Errorf("%s: %d trials, want %d", about, got.NTrials, n)
			}
			has := rates(got)
			for _, w := range want {
				if math.Abs(has[w.Slug]-w.PickRate) > 2e-6 {
					t.Errorf("%s: %s has %v, want %v", about, w.Slug, has[w.Slug], w.PickRate)
				}
			}
			for _, err := range analytics.Check(got) {
				t.Errorf("%s: %v", about, err)
			}
		}
		var all []analytics.AgentRate
		for slug, rate := range rates(b) {
			all = append(all, analytics.AgentRate{Slug: slug, PickRate: rate})
		}
		same("everything", rankPart(&b, Filter{}, cells), b.NTrials, all)
		for _, a := range b.Agents {
			same("agent "+a.Agent, rankPart(&b, Filter{Agent: a.Agent}, cells), a.NTrials, a.Tools)
		}
		for _, c := range b.Cuts {
			same("tag "+c.Value, rankPart(&b, Filter{Tag: c.Tag + ":" + c.Value}, cells), c.NTrials, c.Tools)
		}
		with, without := rankPart(&b, Filter{Template: "shop", Agent: "b"}, cells), rankPart(&b, Filter{Agent: "b"}, cells)
		if with.NTrials == 0 || with.NTrials >= without.NTrials {
			t.Errorf("a project has %d of %d trials", with.NTrials, without.NTrials)
		}
	}
}

// TestSelectionPage: it says what it shows, leads back, is not indexed, and its address is that
// of the whole board; small ones are early; values that are not there are named.
func TestSelectionPage(t *testing.T) {
	b, cells := measured(1)
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Boards: []analytics.Board{b}, Trials: true})
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Selection("web", Filter{Agent: "b", Tag: "ecosystem:go"}, cells)
	if err != nil {
		t.Fatal(err)
	}
	page := string(p.HTML)
	for _, part := range []string{
		"Only B, prompts with ecosystem go:", `<a href="/leaderboards/web">Show the whole board</a>`, `<meta name="robots" content="noindex">`,
		`<link rel="canonical" href="https://x.example/leaderboards/web">`, `href="/leaderboards/web.md?agent=b&amp;tag=ecosystem%3Ago"`, "Early result.",
		`href="/leaderboards/web?agent=b&amp;tag=ecosystem%3Apython"`, `href="/leaderboards/web?tag=ecosystem%3Ago"`, `href="/leaderboards/web?agent=b&amp;tag=ecosystem%3Ago&amp;template=shop"`,
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	if text := string(p.Markdown); !strings.Contains(text, "Only B, prompts with ecosystem go:") || strings.Contains(text, "Shortlist |") || strings.Contains(page, "Coverage") {
		t.Errorf("markdown:\n%s", text)
	}
	for _, f := range []Filter{{Agent: "z"}, {Tag: "ecosystem:z"}, {Tag: "z"}, {Template: "z"}, {Sort: "z"}} {
		var unknown *UnknownValueError
		if _, err := r.Selection("web", f, cells); !errors.As(err, &unknown) || len(unknown.Known) == 0 {
			t.Errorf("%v: %v", f, err)
		}
	}
	for by, first := range map[string]string{"name": "AXUM", "picks": b.Tools[0].Tool, "shortlist": "", "default": ""} {
		p, err := r.Selection("web", Filter{Sort: by}, nil)
		if _, after, _ := strings.Cut(string(p.Markdown), "| --- | --- |"); err != nil || first != "" && strings.Index(after, first) > strings.Index(after, "GIN") {
			t.Errorf("sorted by %s: %v", by, err)
		}
	}
}
